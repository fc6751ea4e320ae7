/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See verbs_pair.h.
 */
#include "verbs_pair.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_SECONDS 20
#define QUEUE_DEPTH  64

/* What one side tells the other. */
struct greeting {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint64_t addr;
};

static void exchange(int sock, const void *out, void *in, size_t len)
{
	CHECK(send(sock, out, len, 0) == (ssize_t)len);
	CHECK(recv(sock, in, len, MSG_WAITALL) == (ssize_t)len);
}

/*
 * What the peer reads and writes here, the device's thread does. The other process stands between
 * that and us, where ThreadSanitizer does not look: it sees the lock that both of us take.
 */
static void order_memory(struct verbs_side *side)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init) == 0);
}

void verbs_barrier(struct verbs_side *side)
{
	char in, out = 'b';

	order_memory(side);
	exchange(side->sock, &out, &in, sizeof(out));
	order_memory(side);
}

static struct ibv_context *open_loopback(void)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;

	list = ibv_get_device_list(NULL);
	CHECK(list);
	for (int i = 0; list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), "sr_lo") == 0)
			ctx = ibv_open_device(list[i]);
	}
	ibv_free_device_list(list);
	CHECK(ctx);
	return ctx;
}

static void make_objects(struct verbs_side *side, const struct verbs_opts *opts)
{
	const int everything =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = QUEUE_DEPTH,
			.max_recv_wr = QUEUE_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 256},
	};

	side->ctx = open_loopback();
	side->pd = ibv_alloc_pd(side->ctx);
	CHECK(side->pd);
	if (opts->use_events) {
		side->channel = ibv_create_comp_channel(side->ctx);
		CHECK(side->channel);
	}
	side->cq = ibv_create_cq(side->ctx, 2 * QUEUE_DEPTH, side, side->channel, 0);
	CHECK(side->cq);
	init.send_cq = init.recv_cq = side->cq;
	side->qp = ibv_create_qp(side->pd, &init);
	CHECK(side->qp);
	side->buf = calloc(1, VERBS_BUF_BYTES);
	CHECK(side->buf);
	side->mr = ibv_reg_mr(side->pd, side->buf, VERBS_BUF_BYTES,
			      opts->access ? opts->access : everything);
	CHECK(side->mr);
}

static void to_init(struct verbs_side *side)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	CHECK(ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      0);
}

static void to_rts(struct verbs_side *side, const struct verbs_opts *opts,
		   const struct greeting *mine, const struct greeting *theirs)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;

	CHECK(ibv_query_port(side->ctx, 1, &port) == 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = opts->mtu ? opts->mtu : port.active_mtu,
		.dest_qp_num = theirs->qpn,
		.rq_psn = theirs->psn,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = theirs->gid, .sgid_index = 0, .hop_limit = 64}},
	};
	CHECK(ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = opts->timeout ? opts->timeout : 17,
		.retry_cnt = opts->retry_cnt ? opts->retry_cnt : 7,
		.rnr_retry = opts->no_rnr_retry ? 0 : 7,
		.sq_psn = mine->psn,
		.max_rd_atomic = 16,
	};
	CHECK(ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void connect_sides(struct verbs_side *side, const struct verbs_opts *opts)
{
	struct greeting mine = {
		.qpn = side->qp->qp_num,
		.psn = (uint32_t)getpid() * 7919u & 0xffffff,
		.rkey = side->mr->rkey,
		.addr = (uintptr_t)side->buf,
	};
	struct greeting theirs;

	to_init(side);
	CHECK(ibv_query_gid(side->ctx, 1, 0, &mine.gid) == 0);
	exchange(side->sock, &mine, &theirs, sizeof(mine));
	side->peer_addr = theirs.addr;
	side->peer_rkey = theirs.rkey;
	to_rts(side, opts, &mine, &theirs);
	verbs_barrier(side);
}

static void release(struct verbs_side *side)
{
	CHECK(ibv_destroy_qp(side->qp) == 0);
	CHECK(ibv_dereg_mr(side->mr) == 0);
	CHECK(ibv_destroy_cq(side->cq) == 0);
	if (side->channel)
		CHECK(ibv_destroy_comp_channel(side->channel) == 0);
	CHECK(ibv_dealloc_pd(side->pd) == 0);
	CHECK(ibv_close_device(side->ctx) == 0);
	free(side->buf);
}

static pid_t start_side(int sock, int other_sock, verbs_side_fn fn, const struct verbs_opts *opts)
{
	struct verbs_side side = {.sock = sock};
	pid_t pid = fork();

	if (pid)
		return pid;
	close(other_sock);
	alarm(CASE_SECONDS);
	make_objects(&side, opts);
	connect_sides(&side, opts);
	fn(&side);
	release(&side);
	close(sock);
	exit(0);
}

bool verbs_pair_run(verbs_side_fn first, verbs_side_fn second, const struct verbs_opts *opts)
{
	static const struct verbs_opts defaults;
	int socks[2], status[2];
	pid_t pids[2];

	if (!opts)
		opts = &defaults;
	fflush(NULL);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, socks) == 0);
	pids[0] = start_side(socks[0], socks[1], first, opts);
	pids[1] = start_side(socks[1], socks[0], second, opts);
	close(socks[0]);
	close(socks[1]);
	for (int i = 0; i < 2; i++)
		CHECK(pids[i] > 0 && waitpid(pids[i], &status[i], 0) == pids[i]);
	for (int i = 0; i < 2; i++) {
		if (status[i])
			fprintf(stderr, "side %d: wait status 0x%x\n", i, (unsigned int)status[i]);
	}
	return status[0] == 0 && status[1] == 0;
}

/* --- work ---------------------------------------------------------------------------------- */

void verbs_post_recv(struct verbs_side *side, uint64_t wr_id, size_t offset, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)side->buf + offset,
			      .length = len,
			      .lkey = side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK(ibv_post_recv(side->qp, &wr, &bad) == 0);
}

void verbs_post_send(struct verbs_side *side, enum ibv_wr_opcode opcode, size_t offset,
		     uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)side->buf + offset,
			      .length = len,
			      .lkey = side->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = offset,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = {.remote_addr = side->peer_addr + offset, .rkey = side->peer_rkey},
	};
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = side->peer_rkey;
	CHECK(ibv_post_send(side->qp, &wr, &bad) == 0);
}

void verbs_wait(struct verbs_side *side, struct ibv_wc *wc)
{
	time_t end = time(NULL) + 10;
	int count;

	do {
		count = ibv_poll_cq(side->cq, 1, wc);
		CHECK(count >= 0);
	} while (count == 0 && time(NULL) < end);
	CHECK(count == 1);
}

void verbs_wait_good(struct verbs_side *side, struct ibv_wc *wc)
{
	verbs_wait(side, wc);
	if (wc->status != IBV_WC_SUCCESS)
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc->status));
	CHECK(wc->status == IBV_WC_SUCCESS);
}

static uint8_t byte_at(size_t i, uint8_t seed)
{
	return (uint8_t)(i * 31 + (i >> 8) * 17 + (i >> 16) + seed);
}

void verbs_fill(uint8_t *buf, size_t len, uint8_t seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = byte_at(i, seed);
}

bool verbs_is_filled(const uint8_t *buf, size_t len, uint8_t seed)
{
	for (size_t i = 0; i < len; i++) {
		if (buf[i] != byte_at(i, seed))
			return false;
	}
	return true;
}

uint64_t verbs_cpu_ms(void)
{
	struct rusage usage;

	CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}
