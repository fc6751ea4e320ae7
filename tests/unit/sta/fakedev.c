/* SPDX-License-Identifier: Apache-2.0 */
#include "fakedev.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "sta/buf.h"
#include "util/compiler.h"

#undef ibv_reg_mr

struct fakedev fakedev;

/* Guards everything: the EUs poll and flush while the test makes and destroys. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum {
	MAX_POSTED = 1024,
	MAX_WCS = 4096,
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wcs[MAX_WCS];
	unsigned int head, tail;
};

struct fake_qp {
	struct ibv_qp qp;
	uint64_t recvs[MAX_POSTED];
	unsigned int num_recvs;
};

static int reason(void)
{
	return fakedev.err ? fakedev.err : ENOMEM;
}

static bool is_fault(const char *call)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = ++fakedev.num_calls == fakedev.fail_at;
	is |= fakedev.refused && !strcmp(call, fakedev.refused);
	is |= fakedev.fails && fakedev.fails();
	pthread_mutex_unlock(&lock);
	errno = reason();
	return is;
}

static void count(int n)
{
	pthread_mutex_lock(&lock);
	fakedev.num_live += n;
	pthread_mutex_unlock(&lock);
}

static void *make(const char *call, size_t bytes)
{
	void *p = is_fault(call) ? NULL : calloc(1, bytes);

	if (p)
		count(1);
	return p;
}

static int unmake(void *p)
{
	free(p);
	count(-1);
	return 0;
}

static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = util_container_of(ibqp, struct fake_qp, qp);
	bool is_failing = is_fault(__func__);

	for (; wr; wr = wr->next) {
		*bad = wr;
		/* A fault comes in the middle. */
		if (qp->num_recvs == MAX_POSTED || (is_failing && qp->num_recvs == 1))
			return reason();
		qp->recvs[qp->num_recvs++] = wr->wr_id;
	}
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EINVAL; /* there is no connection */
}

static int poll_cq(struct ibv_cq *ibcq, int max, struct ibv_wc *wcs)
{
	struct fake_cq *cq = util_container_of(ibcq, struct fake_cq, cq);
	int n = 0;

	pthread_mutex_lock(&lock);
	while (n < max && cq->head != cq->tail)
		wcs[n++] = cq->wcs[cq->head++ % MAX_WCS];
	pthread_mutex_unlock(&lock);
	return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = util_container_of(ibqp, struct fake_qp, qp);
	struct fake_cq *cq = util_container_of(ibqp->recv_cq, struct fake_cq, cq);

	(void)attr;
	(void)mask;
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < qp->num_recvs; i++)
		cq->wcs[cq->tail++ % MAX_WCS] =
			(struct ibv_wc){.wr_id = qp->recvs[i], .status = IBV_WC_WR_FLUSH_ERR};
	qp->num_recvs = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* ---- verbs objects ---- */

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	(void)verbs;
	if (is_fault(__func__))
		return reason();
	*attr = fakedev.attr;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list =
		make(__func__, (FAKEDEV_DEVICES + 1) * sizeof(struct ibv_device *));

	for (int i = 0; list && i < FAKEDEV_DEVICES; i++)
		list[i] = &fakedev.devices[i];
	if (num)
		*num = list ? FAKEDEV_DEVICES : 0;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	unmake(list);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (is_fault(__func__))
		return NULL;
	count(1);
	return &fakedev.verbs[device - fakedev.devices];
}

int ibv_close_device(struct ibv_context *verbs)
{
	(void)verbs;
	count(-1);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *verbs)
{
	struct ibv_pd *pd = make(__func__, sizeof(*pd));

	if (pd)
		pd->context = verbs;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (fakedev.is_pd_stuck)
		return EBUSY;
	return unmake(pd);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = make(__func__, sizeof(*mr));

	(void)access;
	if (mr)
		*mr = (struct ibv_mr){.pd = pd, .addr = addr, .length = length};
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return unmake(mr);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
	struct ibv_comp_channel *channel = make(__func__, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->context = verbs;
	channel->fd = eventfd(0, EFD_CLOEXEC);
	if (channel->fd < 0) {
		unmake(channel);
		return NULL;
	}
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	return unmake(channel);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int cqe, void *context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = make(__func__, sizeof(*cq));

	(void)vector;
	if (!cq)
		return NULL;
	cq->cq = (struct ibv_cq){
		.context = verbs, .channel = channel, .cq_context = context, .cqe = cqe};
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return unmake(util_container_of(cq, struct fake_cq, cq));
}

/* ---- connection manager ---- */

struct rdma_cm_id *fakedev_request(void)
{
	struct rdma_cm_id *id = make(__func__, sizeof(*id));

	if (!id)
		return NULL;
	id->verbs = &fakedev.verbs[0];
	id->port_num = 1;
	return id;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	return unmake(id);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_qp *qp = make(__func__, sizeof(*qp));

	(void)pd;
	if (!qp)
		return -1;
	qp->qp = (struct ibv_qp){.context = &fakedev.verbs[0],
				 .qp_num = 17,
				 .send_cq = attr->send_cq,
				 .recv_cq = attr->recv_cq};
	id->qp = &qp->qp;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	unmake(util_container_of(id->qp, struct fake_qp, qp));
	id->qp = NULL;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)id;
	(void)param;
	if (is_fault(__func__))
		return -1;
	fakedev.num_accepted++;
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t bytes)
{
	(void)id;
	(void)data;
	(void)bytes;
	fakedev.num_rejected++;
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	(void)id;
	fakedev.num_disconnected++;
	return 0;
}

/* ---- devices of core ---- */

struct doca_dev *fakedev_open(unsigned int n)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	assert_int_equal(num, FAKEDEV_DEVICES);
	assert_int_equal(doca_dev_open(list[n], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	return dev;
}

struct doca_mmap *fakedev_map(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, addr, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, permissions), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

/* ---- memory ---- */

void *fakedev_zmalloc(size_t size, size_t align, uint64_t *phys)
{
	void *p = is_fault(__func__) ? NULL : sta_mem_default.zmalloc(size, align, phys);

	if (p)
		count(1);
	return p;
}

void fakedev_free(void *buf)
{
	sta_mem_default.free(buf);
	count(-1);
}

uint64_t fakedev_vtophys(const void *buf, uint32_t size)
{
	return sta_mem_default.vtophys(buf, size);
}

void fakedev_reset(void)
{
	memset(&fakedev, 0, sizeof(fakedev));
	for (unsigned int i = 0; i < FAKEDEV_DEVICES; i++) {
		struct ibv_context *verbs = &fakedev.verbs[i];

		verbs->device = &fakedev.devices[i];
		verbs->ops.post_recv = post_recv;
		verbs->ops.post_send = post_send;
		verbs->ops.poll_cq = poll_cq;
		verbs->ops.req_notify_cq = req_notify_cq;
		snprintf(verbs->device->name, sizeof(verbs->device->name), "fake%u", i);
	}
	fakedev.attr = (struct ibv_device_attr){.max_qp = 64,
						.max_qp_wr = 2048,
						.max_sge = 4,
						.max_cqe = 65536,
						.max_qp_init_rd_atom = 16};
}
