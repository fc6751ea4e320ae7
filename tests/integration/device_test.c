/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Soft devices and verbs objects of one process: what listing opens, which 127.0.0.x is taken, what
 * is refused and how. Runs in a network namespace of its own, whose loopback it changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROCE_PORT    4791
#define NUM_LOOPBACK 254

struct objects {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static struct ibv_qp_init_attr qp_attr(const struct objects *o)
{
	return (struct ibv_qp_init_attr){
		.send_cq = o->cq,
		.recv_cq = o->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	};
}

static struct ibv_context *open_loopback(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	assert_non_null(list);
	for (int i = 0; list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), "sr_lo") == 0)
			ctx = ibv_open_device(list[i]);
	}
	ibv_free_device_list(list);
	assert_non_null(ctx);
	return ctx;
}

static int set_up(void **state)
{
	struct objects *o = calloc(1, sizeof(*o));

	o->ctx = open_loopback();
	o->pd = ibv_alloc_pd(o->ctx);
	o->cq = ibv_create_cq(o->ctx, 16, NULL, NULL, 0);
	*state = o;
	return o->pd && o->cq ? 0 : -1;
}

static int tear_down(void **state)
{
	struct objects *o = *state;
	int bad = ibv_destroy_cq(o->cq) | ibv_dealloc_pd(o->pd) | ibv_close_device(o->ctx);

	free(o);
	return bad;
}

/* A socket on 127.0.0.last:4791, or -errno. */
static int take_port(unsigned int last)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons(ROCE_PORT),
				   .sin_addr.s_addr = htonl(0x7f000000u + last)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	close(fd);
	return -errno;
}

static bool is_port_free(unsigned int last)
{
	int fd = take_port(last);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static unsigned int gid_last_byte(struct ibv_context *ctx)
{
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(ctx, 1, 0, &gid), 0);
	assert_int_equal(gid.raw[10], 0xff);
	assert_int_equal(gid.raw[12], 127);
	return gid.raw[15];
}

/* --- sockets ------------------------------------------------------------------------------- */

static void test_only_use_opens(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr attr = qp_attr(o);
	struct ibv_qp *qp;

	/* Device, PD and CQ are there already. */
	assert_true(is_port_free(1));
	qp = ibv_create_qp(o->pd, &attr);
	assert_non_null(qp);
	assert_false(is_port_free(1));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_true(is_port_free(1));
}

static void test_first_free_loopback_address(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr attr = qp_attr(o);
	int taken[] = {take_port(1), take_port(2)};
	struct ibv_qp *qp = ibv_create_qp(o->pd, &attr);

	assert_true(taken[0] >= 0 && taken[1] >= 0);
	assert_non_null(qp);
	assert_int_equal(gid_last_byte(o->ctx), 3);
	assert_false(is_port_free(3));
	close(taken[0]);
	close(taken[1]);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Reads what was written to stderr between begin and end. */
static int capture_begin(int *saved)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	fflush(stderr);
	*saved = dup(STDERR_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	return dup(fileno(file));
}

static void capture_end(int fd, int saved, char *text, size_t size)
{
	ssize_t len;

	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = pread(fd, text, size - 1, 0);
	assert_true(len >= 0);
	text[len] = '\0';
	close(fd);
}

static void test_all_loopback_addresses_taken(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr attr = qp_attr(o);
	int fds[NUM_LOOPBACK];
	char text[512];
	int saved, log;

	for (unsigned int i = 0; i < NUM_LOOPBACK; i++) {
		fds[i] = take_port(i + 1);
		assert_true(fds[i] >= 0);
	}
	setenv("SOFTSTA_LOG", "debug", 1);
	log = capture_begin(&saved);
	errno = 0;
	assert_null(ibv_create_qp(o->pd, &attr));
	assert_int_equal(errno, EADDRINUSE);
	capture_end(log, saved, text, sizeof(text));
	unsetenv("SOFTSTA_LOG");
	assert_non_null(strstr(text, "sr_lo: UDP port 4791 on 127.0.0.254: "));
	for (unsigned int i = 0; i < NUM_LOOPBACK; i++)
		close(fds[i]);
}

/* --- device and port ----------------------------------------------------------------------- */

static void test_attributes(void **state)
{
	struct objects *o = *state;
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	assert_int_equal(ibv_query_device(o->ctx, &attr), 0);
	assert_true(attr.max_qp >= 4096);
	assert_true(attr.max_sge >= 16);
	assert_int_equal(attr.max_qp_rd_atom, 16);
	assert_int_equal(attr.max_qp_init_rd_atom, 16);
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	assert_int_equal(attr.atomic_cap, IBV_ATOMIC_NONE);
	assert_int_equal(attr.node_guid, ibv_get_device_guid(o->ctx->device));
	assert_int_not_equal(attr.node_guid, 0);
	assert_int_equal(ibv_query_device_ex(o->ctx, NULL, &ex), 0);
	assert_int_equal(ex.orig_attr.max_qp, attr.max_qp);
}

static void test_tables(void **state)
{
	struct objects *o = *state;
	struct ibv_gid_entry entries[16];
	union ibv_gid gid;
	__be16 pkey;

	assert_int_equal(ibv_query_pkey(o->ctx, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(ibv_query_pkey(o->ctx, 1, 1, &pkey), -1);
	assert_int_equal(ibv_query_gid_table(o->ctx, entries, 16, 0), 1);
	assert_int_equal(entries[0].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(entries[0].ndev_ifindex, if_nametoindex("lo"));
	assert_int_equal(ibv_query_gid_ex(o->ctx, 1, 1, entries, 0), ENODATA);
	assert_int_equal(ibv_query_gid(o->ctx, 1, 1, &gid), 0);
	assert_int_equal(gid.global.interface_id, 0);
	assert_int_equal(ibv_query_gid(o->ctx, 2, 0, &gid), -1);
}

static void set_loopback_mtu(int mtu)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_mtu = mtu};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(ioctl(fd, SIOCSIFMTU, &ifr), 0);
	close(fd);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
			 0);
}

static int to_rtr(struct ibv_qp *qp, enum ibv_mtu mtu, int sgid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu,
		.dest_qp_num = 17,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid.raw = {[10] = 0xff, 0xff, 127, 0, 0, 9},
				    .sgid_index = (uint8_t)sgid_index}},
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

/* A path MTU that the netdev cannot carry is refused, not lost packet by packet. */
static void test_path_mtu(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr init = qp_attr(o);
	struct ibv_qp *qp = ibv_create_qp(o->pd, &init);
	struct ibv_port_attr port;

	to_init(qp);
	assert_int_equal(ibv_query_port(o->ctx, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.active_mtu, IBV_MTU_4096);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	set_loopback_mtu(1500);
	assert_int_equal(ibv_query_port(o->ctx, 1, &port), 0);
	assert_int_equal(port.active_mtu, IBV_MTU_1024);
	assert_int_equal(to_rtr(qp, IBV_MTU_2048, 0), EINVAL);
	assert_int_equal(qp->state, IBV_QPS_INIT);
	assert_int_equal(to_rtr(qp, IBV_MTU_1024, 1), EINVAL); /* no such address */
	assert_int_equal(to_rtr(qp, IBV_MTU_1024, 0), 0);
	set_loopback_mtu(65536);
	assert_int_equal(ibv_query_port(o->ctx, 2, &port), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* --- objects ------------------------------------------------------------------------------- */

static void test_qp_limits(void **state)
{
	struct objects *o = *state;
	struct ibv_device_attr dev;
	struct ibv_qp_init_attr attr = qp_attr(o);
	struct ibv_qp *qp;

	assert_int_equal(ibv_query_device(o->ctx, &dev), 0);
	attr.cap.max_inline_data = 256;
	attr.cap.max_send_wr = (uint32_t)dev.max_qp_wr;
	attr.cap.max_recv_sge = (uint32_t)dev.max_sge;
	qp = ibv_create_qp(o->pd, &attr);
	assert_non_null(qp);
	assert_true(attr.cap.max_inline_data >= 256);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	attr.cap.max_send_wr++;
	assert_null(ibv_create_qp(o->pd, &attr));
	assert_int_equal(errno, EINVAL);
	attr = qp_attr(o);
	attr.qp_type = IBV_QPT_UC;
	assert_null(ibv_create_qp(o->pd, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void test_qp_states(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr init = qp_attr(o);
	struct ibv_qp *qp = ibv_create_qp(o->pd, &init);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_recv_wr recv = {.wr_id = 3}, *bad_recv;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad_send;
	struct ibv_wc wc;

	assert_true(qp->qp_num >= 17 && qp->qp_num < 0xffffff);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	assert_ptr_equal(bad_recv, &recv);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	to_init(qp);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
	assert_ptr_equal(bad_send, &send);
	attr.qp_state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_poll_cq(o->cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 3);
	assert_int_equal(wc.qp_num, qp->qp_num);
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	to_init(qp);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_INIT);
	assert_int_equal(init.cap.max_send_wr, 4);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Completions of a QP that is gone are gone. */
static void test_destroy_cleans_cq(void **state)
{
	struct objects *o = *state;
	struct ibv_qp_init_attr init = qp_attr(o);
	struct ibv_qp *qp = ibv_create_qp(o->pd, &init);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr recv = {.wr_id = 3}, *bad;
	struct ibv_wc wc;

	to_init(qp);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_poll_cq(o->cq, 1, &wc), 0);
}

static bool is_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

/* Events of a CQ that is gone are gone, too: nothing is left that a program would sleep in vain
 * for. */
static void test_destroy_cleans_channel(void **state)
{
	struct objects *o = *state;
	struct ibv_comp_channel *ch = ibv_create_comp_channel(o->ctx);
	struct ibv_cq *small = ibv_create_cq(o->ctx, 1, NULL, ch, 0);
	struct ibv_qp_init_attr init = qp_attr(o);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr recv[2] = {{.next = &recv[1]}}, *bad;
	struct ibv_async_event event;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	void *context;

	init.recv_cq = small;
	qp = ibv_create_qp(o->pd, &init);
	assert_non_null(qp);
	to_init(qp);
	assert_int_equal(ibv_req_notify_cq(small, 0), 0);
	assert_int_equal(ibv_post_recv(qp, recv, &bad), 0);
	assert_false(is_readable(ch->fd));
	assert_false(is_readable(o->ctx->async_fd));
	/* Two flushed receives: an event, and an overrun. */
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_true(is_readable(ch->fd));
	assert_true(is_readable(o->ctx->async_fd));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(small), 0);
	assert_false(is_readable(ch->fd));
	assert_false(is_readable(o->ctx->async_fd));
	assert_int_equal(fcntl(ch->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ibv_get_cq_event(ch, &cq, &context), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(o->ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ibv_get_async_event(o->ctx, &event), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ibv_destroy_comp_channel(ch), 0);
}

static void test_busy_objects(void **state)
{
	struct objects *o = *state;
	struct ibv_comp_channel *ch = ibv_create_comp_channel(o->ctx);
	struct ibv_cq *cq = ibv_create_cq(o->ctx, 1, NULL, ch, 0);
	struct ibv_qp_init_attr init = qp_attr(o);
	struct ibv_qp *qp = ibv_create_qp(o->pd, &init);
	char memory[16];
	struct ibv_mr *mr = ibv_reg_mr(o->pd, memory, sizeof(memory), 0);

	assert_int_equal(ibv_destroy_comp_channel(ch), EBUSY);
	assert_int_equal(ibv_destroy_cq(o->cq), EBUSY);
	assert_int_equal(ibv_dealloc_pd(o->pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(o->pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(ch), 0);
}

static void test_cq_sizes(void **state)
{
	struct objects *o = *state;
	struct ibv_cq *cq;

	assert_null(ibv_create_cq(o->ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(o->ctx, 1, NULL, NULL, 1)); /* one completion vector */
	assert_int_equal(errno, EINVAL);
	cq = ibv_create_cq(o->ctx, 100, NULL, NULL, 0);
	assert_non_null(cq);
	assert_true(cq->cqe >= 100);
	assert_int_equal(ibv_resize_cq(cq, 1000), 0);
	assert_true(cq->cqe >= 1000);
	assert_int_equal(ibv_resize_cq(cq, 0), EINVAL);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void test_what_there_is_not(void **state)
{
	struct objects *o = *state;
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_ah_attr ah = {.port_num = 1};

	errno = 0;
	assert_null(ibv_create_srq(o->pd, &srq));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_create_ah(o->pd, &ah));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_alloc_mw(o->pd, IBV_MW_TYPE_2));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_close_device(open_loopback()), 0);
}

/* A netdev that comes later is found, behind those that are known. Last: it stays. */
static void test_late_netdev(void **state)
{
	struct ibv_device **list;
	int before, after;

	(void)state;
	list = ibv_get_device_list(&before);
	assert_non_null(list);
	ibv_free_device_list(list);
	if (system("ip link add srlate type veth peer name srpeer && ip addr add 10.9.9.9/24 dev srlate && "
		   "ip link set srlate up"))
		skip();
	list = ibv_get_device_list(&after);
	assert_non_null(list);
	assert_int_equal(after, before + 1);
	assert_string_equal(ibv_get_device_name(list[before - 1]), "sr_lo");
	assert_string_equal(ibv_get_device_name(list[before]), "sr_srlate");
	ibv_free_device_list(list);
}

static bool bring_loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = ioctl(fd, SIOCSIFFLAGS, &ifr) == 0;

	close(fd);
	return ok;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_use_opens, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_first_free_loopback_address, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_all_loopback_addresses_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_attributes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_path_mtu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_qp_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_qp_states, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_destroy_cleans_cq, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_destroy_cleans_channel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_busy_objects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cq_sizes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_there_is_not, set_up, tear_down),
		cmocka_unit_test(test_late_netdev),
	};

	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET) ||
	    !bring_loopback_up()) {
		fprintf(stderr, "skipped: no network namespace of our own: %s\n", strerror(errno));
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
