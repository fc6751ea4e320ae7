/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of admin queues. These are no business of DOCA STA: each is an ordinary queue pair,
 * here with a thread of its own, which calls nothing of doca_*.
 */
#include <rdma/rdma_verbs.h>
#include <stdlib.h>

#include "example.h"

static struct admin *admins[EXAMPLE_HOSTS]; /* by controller id - 1 */

static void release(struct admin *a)
{
	if (a->id->qp)
		rdma_destroy_qp(a->id);
	if (a->mr)
		(void)rdma_dereg_mr(a->mr);
	free(a);
}

static void admin_close(struct admin *a)
{
	struct rdma_cm_id *id = a->id;

	(void)rdma_disconnect(id); /* which ends the thread's receives with an error */
	if (a->has_thread)
		(void)pthread_join(a->thread, NULL);
	admins[a->ctrl.cntlid - 1] = NULL;
	release(a);
	(void)rdma_destroy_id(id);
}

static void on_event(struct conn *conn, bool is_up)
{
	struct admin *a = (struct admin *)conn;

	if (is_up)
		a->has_thread = !pthread_create(&a->thread, NULL, admin_run, a);
	if (!is_up || !a->has_thread)
		admin_close(a);
}

/* All receives are there before the host can send. */
static bool prepare(struct admin *a)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {2, ADMIN_CAPSULES, 1, 1, 0}};

	if (rdma_create_qp(a->id, NULL, &attr))
		return false;
	a->mr = rdma_reg_msgs(a->id, &a->wire, sizeof(a->wire));
	for (struct sqe *sqe = a->wire.capsules; a->mr && sqe < a->wire.capsules + ADMIN_CAPSULES;
	     sqe++)
		if (rdma_post_recv(a->id, sqe, sqe, sizeof(*sqe), a->mr))
			return false;
	return a->mr;
}

bool admin_accept(struct rdma_cm_id *id, const struct ctrl *like)
{
	const struct accept_record record = {.crqsize = ADMIN_CAPSULES};
	struct rdma_conn_param answer = {.private_data = &record,
					 .private_data_len = sizeof(record),
					 .initiator_depth = 1,
					 .rnr_retry_count = 7};
	uint16_t slot = 0;
	struct admin *a;

	while (slot < EXAMPLE_HOSTS && admins[slot])
		slot++;
	a = slot < EXAMPLE_HOSTS ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return false;
	*a = (struct admin){.conn = {on_event}, .id = id, .ctrl = *like};
	a->ctrl.cntlid = (uint16_t)(slot + 1);
	if (!prepare(a) || rdma_accept(id, &answer)) {
		release(a);
		return false;
	}
	admins[slot] = a;
	id->context = &a->conn;
	return true;
}

bool admin_has(uint16_t cntlid)
{
	return cntlid && cntlid <= EXAMPLE_HOSTS && admins[cntlid - 1];
}

void admin_close_all(void)
{
	for (int i = 0; i < EXAMPLE_HOSTS; i++)
		if (admins[i])
			admin_close(admins[i]);
}
