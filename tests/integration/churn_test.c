/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts on four STA IO contexts write, read and compare, while the control thread adds and removes
 * subsystems, namespaces, back-ends and back-end queues under them. What stays is never wrong; what
 * goes answers with the right status, or ends the connection, and never hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "node.h"

#define NQN_STAYS "nqn.2026-01.org.example:stays"
#define NQN_GOES  "nqn.2026-01.org.example:goes"

enum {
	SECONDS = 6,
	NUM_HOSTS = 8, /* two an IO context */
	NUM_VISITORS = 4, /* of the subsystem that comes and goes; one an IO context */
	NUM_QUEUES = 3, /* of the back-end that stays */
	NSID_STAYS = 1,
	NSID_GOES = 2,
	BATCH = 8,
	AREA = 64, /* blocks of a host's own */
	BLOCKS = NUM_HOSTS * AREA,
	MIN_ROUNDS = 3,
	LAST_SECONDS = 60,
};

struct worker {
	pthread_t thread;
	struct node *node;
	atomic_bool *is_over;
	unsigned int idx;
	atomic_ulong good;
	unsigned long refused, unready, connections, ended;
	char error[256]; /* "": none */
};

static void say(struct worker *w, const char *what, const struct ini_error *error)
{
	(void)snprintf(w->error, sizeof(w->error), "host %u: %s: %s: %s", w->idx, what,
		       error->step ? error->step : "?", error->text);
}

static bool rw(struct worker *w, struct ini_queue *queue, uint8_t opcode, uint32_t seed,
	       enum ini_data how, uint32_t blocks)
{
	struct ini_rw rw = {.opcode = opcode,
			    .data = how,
			    .nsid = NSID_STAYS,
			    .lba = w->idx * AREA,
			    .blocks = blocks,
			    .block_bytes = RAMDISK_BLOCK};
	uint8_t data[AREA * RAMDISK_BLOCK];
	size_t bytes = (size_t)blocks * RAMDISK_BLOCK;
	struct ini_error error = {0};

	memset(data, 0, bytes);
	if (opcode == nvme_cmd_write)
		pattern_fill(data, bytes, 0, seed);
	if (ini_rw(queue, &rw, data, &error)) {
		say(w, opcode == nvme_cmd_write ? "write" : "read", &error);
		return false;
	}
	if (!pattern_is(data, bytes, 0, seed)) {
		(void)snprintf(w->error, sizeof(w->error), "host %u: wrong data", w->idx);
		return false;
	}
	w->good++;
	return true;
}

/* Reads of the namespace that comes and goes, several at a time. */
static bool read_what_goes(struct worker *w, struct ini_queue *queue, struct ini_error *error)
{
	struct ini_done done[BATCH];

	for (int i = 0; i < BATCH; i++) {
		struct ini_cmd cmd = {.sqe.opcode = nvme_cmd_read,
				      .sqe.nsid = htole32(NSID_GOES),
				      .tag = INI_TAG_ANY,
				      .data = i % 2 ? INI_DATA_KEYED : INI_DATA_KEYED_INV,
				      .bytes = RAMDISK_BLOCK};

		if (ini_submit(queue, &cmd, error))
			return false;
	}
	while (ini_outstanding(queue)) {
		int n = ini_wait(queue, done, BATCH, NODE_PATIENCE_MS, error);

		if (n < 0)
			return false;
		for (int i = 0; i < n; i++) {
			uint16_t status = le16toh(done[i].cqe.status) >> 1;

			if (status == NVME_SC_SUCCESS)
				w->good++;
			else if (status == GENERIC(NVME_SC_INVALID_NS))
				w->refused++;
			else if (status == (NVME_SCT_PATH << 8 | NVME_SC_ANA_INTERNAL_PATH_ERROR))
				w->unready++;
			else
				(void)snprintf(w->error, sizeof(w->error), "host %u: status 0x%x",
					       w->idx, status);
		}
	}
	return true;
}

/* A host of the subsystem that stays: its connection does, too. */
static void *host_main(void *arg)
{
	static const enum ini_data ways[] = {INI_DATA_KEYED, INI_DATA_KEYED_INV,
					     INI_DATA_INCAPSULE};
	static const uint32_t sizes[] = {1, 8, 9, AREA};
	struct worker *w = arg;
	struct ini_params params = node_params(w->node, w->idx % NODE_IOS, NQN_STAYS);
	struct ini_error error = {0};
	struct ini_queue *queue;

	if (ini_open_connect(&queue, &params, NULL, &error)) {
		say(w, "connect", &error);
		return NULL;
	}
	for (uint32_t seed = 0; !atomic_load(w->is_over) && !w->error[0]; seed++) {
		enum ini_data way = ways[seed % 3], back = way;
		uint32_t blocks = sizes[seed % 4];

		if (way == INI_DATA_INCAPSULE) {
			blocks = 8;
			back = INI_DATA_KEYED;
		}
		if (!rw(w, queue, nvme_cmd_write, seed, way, blocks) ||
		    !rw(w, queue, nvme_cmd_read, seed, back, blocks))
			break;
		if (!read_what_goes(w, queue, &error))
			say(w, "read", &error);
	}
	ini_close(queue);
	return NULL;
}

static bool is_end_of_connection(int rc)
{
	return rc == -ECONNRESET || rc == -ENOTCONN || rc == -EIO;
}

/* A host of the subsystem that goes: it comes back as long as there is time. */
static void *visitor_main(void *arg)
{
	struct worker *w = arg;
	struct ini_params params = node_params(w->node, w->idx % NODE_IOS, NQN_GOES);
	struct ini_error error;
	struct ini_queue *queue;

	while (!atomic_load(w->is_over) && !w->error[0]) {
		int rc;

		error = (struct ini_error){0};
		rc = ini_open_connect(&queue, &params, NULL, &error);
		if (rc == -EREMOTEIO &&
		    error.nvme_status == SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM))
			continue;
		if (is_end_of_connection(rc))
			continue;
		if (rc) {
			say(w, "connect", &error);
			break;
		}
		w->connections++;
		while (!atomic_load(w->is_over) && !w->error[0]) {
			if (read_what_goes(w, queue, &error))
				continue;
			if (is_end_of_connection(error.err))
				w->ended++;
			else
				say(w, "read", &error);
			break;
		}
		ini_close(queue);
	}
	return NULL;
}

/* ---- control ---- */

struct churn {
	struct node node;
	struct ramdisk stays, goes;
	struct doca_sta_be_handle *be;
	struct node_queue queues[NUM_QUEUES];
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns;
	unsigned int rounds;
};

/* All that comes and goes, once. */
static void one_round(struct churn *c)
{
	struct node_queue *extra = &c->queues[1 + c->rounds % (NUM_QUEUES - 1)];
	struct node *node = &c->node;
	struct doca_sta_ns_handle *ns[2];
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_be_handle *be;
	struct node_queue queue;

	be = node_add_backend(node);
	node_add_queue(node, be, &c->goes, &queue);
	ns[0] = node_add_ns(node, c->subsys, NSID_GOES, be);
	subsys = node_add_subsys(node, NQN_GOES);
	ns[1] = node_add_ns(node, subsys, NSID_GOES, be);
	node_run(node, 20);
	/* A queue of the back-end that stays: its commands take another. */
	node_remove_queue(node, extra);
	node_run(node, 5);
	node_add_queue(node, c->be, &c->stays, extra);
	/* In every other round the queue goes first: hosts are told to try again. */
	if (c->rounds % 2) {
		node_remove_queue(node, &queue);
		node_run(node, 5);
	}
	node_remove_ns(node, c->subsys, ns[0]);
	node_remove_ns(node, subsys, ns[1]);
	if (c->rounds % 2 == 0)
		node_remove_queue(node, &queue);
	node_run(node, 5);
	node_remove_subsys(node, subsys);
	node_remove_backend(node, be);
	node_run(node, 5);
	c->rounds++;
}

static void start(struct churn *c)
{
	assert_int_equal(node_start(&c->node, NODE_IOS), 0);
	assert_int_equal(ramdisk_init(&c->stays, BLOCKS), DOCA_SUCCESS);
	assert_int_equal(ramdisk_init(&c->goes, BLOCKS), DOCA_SUCCESS);
	c->be = node_add_backend(&c->node);
	for (int i = 0; i < NUM_QUEUES; i++)
		node_add_queue(&c->node, c->be, &c->stays, &c->queues[i]);
	c->subsys = node_add_subsys(&c->node, NQN_STAYS);
	c->ns = node_add_ns(&c->node, c->subsys, NSID_STAYS, c->be);
}

static void stop(struct churn *c)
{
	node_remove_ns(&c->node, c->subsys, c->ns);
	for (int i = 0; i < NUM_QUEUES; i++)
		node_remove_queue(&c->node, &c->queues[i]);
	node_remove_backend(&c->node, c->be);
	node_remove_subsys(&c->node, c->subsys);
	assert_int_equal(node_stop(&c->node), 0);
	ramdisk_fini(&c->stays);
	ramdisk_fini(&c->goes);
}

/* On a busy machine a host may take its time to find its namespace there. */
static bool all_have_read(const struct worker *workers)
{
	for (unsigned int i = 0; i < NUM_HOSTS + NUM_VISITORS; i++)
		if (!atomic_load(&workers[i].good) && !workers[i].error[0])
			return false;
	return true;
}

static void control_under_load(void **state)
{
	static struct worker workers[NUM_HOSTS + NUM_VISITORS];
	uint64_t now_ns = ini_now_ns(), end_ns = now_ns + (uint64_t)SECONDS * 1000000000;
	uint64_t last_ns = now_ns + (uint64_t)LAST_SECONDS * 1000000000;
	struct worker sum = {0};
	static struct churn c;
	atomic_bool is_over = false;

	(void)state;
	start(&c);
	for (unsigned int i = 0; i < NUM_HOSTS + NUM_VISITORS; i++) {
		workers[i] = (struct worker){.node = &c.node, .is_over = &is_over, .idx = i};
		assert_int_equal(pthread_create(&workers[i].thread, NULL,
						i < NUM_HOSTS ? host_main : visitor_main,
						&workers[i]),
				 0);
	}
	while (now_ns < end_ns || c.rounds < MIN_ROUNDS ||
	       (now_ns < last_ns && !all_have_read(workers))) {
		one_round(&c);
		now_ns = ini_now_ns();
	}
	atomic_store(&is_over, true);
	for (unsigned int i = 0; i < NUM_HOSTS + NUM_VISITORS; i++) {
		const struct worker *w = &workers[i];

		(void)pthread_join(w->thread, NULL);
		if (w->error[0])
			fail_msg("%s", w->error);
		assert_true(atomic_load(&w->good) > 0);
		sum.good += atomic_load(&w->good);
		sum.refused += w->refused;
		sum.unready += w->unready;
		sum.connections += w->connections;
		sum.ended += w->ended;
	}
	stop(&c);
	print_message("%u rounds; commands: %lu good, %lu without namespace, %lu without queue; "
		      "%lu visits, %lu ended by the target\n",
		      c.rounds, atomic_load(&sum.good), sum.refused, sum.unready, sum.connections,
		      sum.ended);
	assert_true(sum.refused > 0 && sum.unready > 0);
	assert_true(sum.connections > 0 && sum.ended > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
