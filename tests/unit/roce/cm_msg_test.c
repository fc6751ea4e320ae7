/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CM messages against what a Linux kernel sends: every CM MAD of the captures goes through decode
 * and encode and comes out as the same 256 bytes; the engine, given the inputs that the kernel
 * had, sends the kernel's own messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_cm.h>

#include "pcap.h"
#include "roce/cm/fsm.h"

enum {
	BTH_UD_SEND_ONLY = 0x64,
	MAD_OFFSET = 20, /* BTH, DETH */
	MAD_PACKET = MAD_OFFSET + ROCE_CM_MAD_BYTES + 4,
	TID_OFFSET = 8,
};

static const uint8_t *mad_of(const struct test_roce_frame *frame)
{
	if (frame->len != MAD_PACKET || frame->payload[0] != BTH_UD_SEND_ONLY)
		return NULL;
	return frame->payload + MAD_OFFSET;
}

/* The n-th message of this kind in a capture, or NULL. */
static const uint8_t *find_mad(const struct test_pcap *pcap, uint16_t attr_id, unsigned int n)
{
	struct roce_cm_msg msg;
	const uint8_t *mad;

	for (size_t i = 0; i < pcap->num_frames; i++) {
		mad = mad_of(&pcap->frames[i]);
		if (mad && roce_cm_decode(mad, ROCE_CM_MAD_BYTES, &msg) == 0 &&
		    msg.hdr.attr_id == attr_id && n-- == 0)
			return mad;
	}
	return NULL;
}

/* --- both ways ----------------------------------------------------------------------------- */

static void check_capture(const char *name, unsigned int expected)
{
	uint8_t again[ROCE_CM_MAD_BYTES];
	struct roce_cm_msg msg;
	struct test_pcap pcap;
	unsigned int found = 0;
	const uint8_t *mad;

	assert_int_equal(test_pcap_load(&pcap, name), 0);
	for (size_t i = 0; i < pcap.num_frames; i++) {
		mad = mad_of(&pcap.frames[i]);
		if (!mad)
			continue;
		assert_int_equal(roce_cm_decode(mad, ROCE_CM_MAD_BYTES, &msg), 0);
		roce_cm_encode(&msg, again);
		assert_memory_equal(again, mad, ROCE_CM_MAD_BYTES);
		found++;
	}
	assert_int_equal(found, expected);
	test_pcap_free(&pcap);
}

static void test_captures_survive_both_ways(void **state)
{
	(void)state;
	check_capture("rxe-refused", 7);
	check_capture("rxe-discover", 5);
	check_capture("rxe-io", 10);
	check_capture("rxe-mtu4096-io", 10);
	check_capture("host-socket", 4);
	check_capture("host-socket-reject", 2);
}

static void test_fields_of_a_kernel_req(void **state)
{
	static const uint8_t host[16] = {[10] = 0xff, 0xff, 10, 99, 0, 3};
	static const uint8_t target[16] = {[10] = 0xff, 0xff, 10, 99, 0, 2};
	struct roce_cm_ip_hdr ip;
	struct roce_cm_msg msg;
	struct roce_cm_req *req = &msg.body.req;
	struct test_pcap pcap;

	(void)state;
	assert_int_equal(test_pcap_load(&pcap, "rxe-refused"), 0);
	assert_int_equal(roce_cm_decode(find_mad(&pcap, UMAD_CM_ATTR_REQ, 0), 256, &msg), 0);
	assert_int_equal(msg.hdr.tid, 0x2b49c6e8d);
	assert_int_equal(req->local_id, 0x8d6e9cb4);
	assert_int_equal(req->service_id, 0x01061145);
	assert_int_equal(req->qpn, 17);
	assert_int_equal(req->starting_psn, 0xa2021f);
	assert_int_equal(req->responder_resources, 128);
	assert_int_equal(req->initiator_depth, 0);
	assert_int_equal(req->remote_timeout, 20);
	assert_int_equal(req->local_timeout, 20);
	assert_int_equal(req->transport, 0);
	assert_int_equal(req->flow_control, 1);
	assert_int_equal(req->retry_count, 7);
	assert_int_equal(req->rnr_retry_count, 7);
	assert_int_equal(req->max_cm_retries, 15);
	assert_int_equal(req->srq, 0);
	assert_int_equal(req->mtu, 3);
	assert_int_equal(req->pkey, 0xffff);
	assert_int_equal(req->local_lid, 0xffff);
	assert_int_equal(req->hop_limit, 64);
	assert_int_equal(req->ack_timeout, 19);
	assert_memory_equal(req->local_gid, host, 16);
	assert_memory_equal(req->remote_gid, target, 16);
	assert_int_equal(roce_cm_ip_hdr_decode(req->private_data, &ip), 0);
	assert_int_equal(ip.version, 4);
	assert_int_equal(ip.src_port, 0x8ba9);
	assert_memory_equal(ip.src, host, 16);
	assert_memory_equal(ip.dst, target, 16);
	test_pcap_free(&pcap);
}

static void test_fields_of_a_kernel_rej_and_rep(void **state)
{
	struct roce_cm_msg msg;
	struct test_pcap pcap;

	(void)state;
	assert_int_equal(test_pcap_load(&pcap, "rxe-refused"), 0);
	assert_int_equal(roce_cm_decode(find_mad(&pcap, UMAD_CM_ATTR_REJ, 0), 256, &msg), 0);
	assert_int_equal(msg.body.rej.local_id, 0);
	assert_int_equal(msg.body.rej.remote_id, 0x8d6e9cb4);
	assert_int_equal(msg.body.rej.about, ROCE_CM_ABOUT_REQ);
	assert_int_equal(msg.body.rej.reason, ROCE_CM_REJ_INVALID_SERVICE_ID);

	assert_int_equal(roce_cm_decode(find_mad(&pcap, UMAD_CM_ATTR_REP, 0), 256, &msg), 0);
	assert_int_equal(msg.body.rep.local_id, 0x6632d753);
	assert_int_equal(msg.body.rep.remote_id, 0x8c6e9cb4);
	assert_int_equal(msg.body.rep.qpn, 17);
	assert_int_equal(msg.body.rep.starting_psn, 0x7fc0fe);
	assert_int_equal(msg.body.rep.responder_resources, 0);
	assert_int_equal(msg.body.rep.initiator_depth, 128);
	assert_int_equal(msg.body.rep.target_ack_delay, 15);
	assert_int_equal(msg.body.rep.flow_control, 1);
	assert_int_equal(msg.body.rep.rnr_retry_count, 7);
	test_pcap_free(&pcap);
}

static void test_ip_header_round_trip(void **state)
{
	struct roce_cm_ip_hdr six = {.version = 6,
				     .src_port = 0xabcd,
				     .src = {0xfe, 0x80, [15] = 1}};
	struct roce_cm_ip_hdr back;
	uint8_t data[ROCE_CM_REQ_PRIVATE] = {0};

	(void)state;
	memset(six.dst, 0x5a, sizeof(six.dst));
	roce_cm_ip_hdr_encode(&six, data);
	assert_int_equal(roce_cm_ip_hdr_decode(data, &back), 0);
	assert_int_equal(back.version, 6);
	assert_int_equal(back.src_port, 0xabcd);
	assert_memory_equal(back.src, six.src, 16);
	assert_memory_equal(back.dst, six.dst, 16);
	data[1] = 0x50;
	assert_int_equal(roce_cm_ip_hdr_decode(data, &back), -EPROTO);
	data[1] = 0x40;
	data[0] = 0x10;
	assert_int_equal(roce_cm_ip_hdr_decode(data, &back), -EPROTO);
}

static void test_what_is_no_cm_message(void **state)
{
	struct roce_cm_msg msg = {.hdr.attr_id = UMAD_CM_ATTR_RTU};
	uint8_t mad[ROCE_CM_MAD_BYTES];

	(void)state;
	roce_cm_encode(&msg, mad);
	assert_int_equal(roce_cm_decode(mad, 256, &msg), 0);
	assert_int_equal(roce_cm_decode(mad, 255, &msg), -EBADMSG);
	assert_int_equal(roce_cm_decode(mad, 0, &msg), -EBADMSG);
	for (unsigned int i = 0; i < 4; i++) {
		mad[i] ^= 1;
		assert_int_equal(roce_cm_decode(mad, 256, &msg), -EBADMSG);
		mad[i] ^= 1;
	}
	mad[17] = UMAD_CM_ATTR_SIDR_REQ;
	assert_int_equal(roce_cm_decode(mad, 256, &msg), -EOPNOTSUPP);
}

static void test_field_outside_is_skipped(void **state)
{
	static const struct roce_mad_field fields[] = {
		{252, 0, 64, 0, 8},
		{250, 0, 0, 0, 8},
		{255, 1, 8, 0, 1},
	};
	uint8_t mad[ROCE_CM_MAD_BYTES] = {0}, none[ROCE_CM_MAD_BYTES] = {0};
	uint64_t value = 0x1122334455667788;

	(void)state;
	roce_mad_put_fields(mad, fields, 3, &value);
	assert_memory_equal(mad, none, sizeof(mad));
	roce_mad_get_fields(mad, fields, 3, &value);
	assert_int_equal(value, 0x1122334455667788);
}

/* --- the engine in the kernel's place ------------------------------------------------------ */

struct side {
	struct roce_cm cm;
	struct roce_cm_conn conn;
	struct roce_cm_listener listener;
	struct roce_cm_path path;
	uint8_t sent[ROCE_CM_MAD_BYTES];
	unsigned int num_sent;
	enum roce_cm_event_type last_event;
};

static void keep_sent(void *arg, const struct roce_cm_path *path, const uint8_t *mad)
{
	struct side *side = arg;

	(void)path;
	memcpy(side->sent, mad, sizeof(side->sent));
	side->num_sent++;
}

static uint16_t give_conn(void *arg, struct roce_cm_listener *l, const struct roce_cm_path *path,
			  const struct roce_cm_req *req, struct roce_cm_conn **ret_conn)
{
	struct side *side = arg;

	(void)l;
	(void)path;
	(void)req;
	*ret_conn = &side->conn;
	return 0;
}

static void keep_event(void *arg, struct roce_cm_conn *conn, const struct roce_cm_event *event)
{
	struct side *side = arg;

	(void)conn;
	side->last_event = event->type;
}

static const struct roce_cm_ops ops = {keep_sent, give_conn, keep_event};

/* A side that will give its first conn this id. */
static struct side *new_side(uint32_t id, uint64_t guid, const struct roce_cm_req *req,
			     bool is_active)
{
	struct side *side = calloc(1, sizeof(*side));

	assert_non_null(side);
	roce_cm_init(&side->cm, &ops, side, id);
	side->path.port = side;
	side->path.ca_guid = guid;
	side->path.mtu = 5;
	memcpy(side->path.local_gid, is_active ? req->local_gid : req->remote_gid, 16);
	memcpy(side->path.remote_gid, is_active ? req->remote_gid : req->local_gid, 16);
	return side;
}

/* The kernel forms transaction ids of its own; all other bytes are the same. */
static void assert_same_mad(const struct side *side, const uint8_t *theirs, bool with_tid)
{
	uint8_t ours[ROCE_CM_MAD_BYTES];

	memcpy(ours, side->sent, sizeof(ours));
	if (!with_tid)
		memcpy(ours + TID_OFFSET, theirs + TID_OFFSET, 8);
	assert_memory_equal(ours, theirs, sizeof(ours));
}

static void test_active_side_says_what_the_kernel_says(void **state)
{
	const uint8_t *req_mad, *rep_mad, *dreq_mad;
	struct roce_cm_msg req, rep;
	struct test_pcap pcap;
	struct side *host;
	uint8_t tid[8];

	(void)state;
	assert_int_equal(test_pcap_load(&pcap, "rxe-discover"), 0);
	req_mad = find_mad(&pcap, UMAD_CM_ATTR_REQ, 0);
	rep_mad = find_mad(&pcap, UMAD_CM_ATTR_REP, 0);
	dreq_mad = find_mad(&pcap, UMAD_CM_ATTR_DREQ, 0);
	assert_int_equal(roce_cm_decode(req_mad, 256, &req), 0);
	assert_int_equal(roce_cm_decode(rep_mad, 256, &rep), 0);

	host = new_side(req.body.req.local_id, req.body.req.ca_guid, &req.body.req, true);
	assert_int_equal(roce_cm_connect(&host->cm, &host->conn, &host->path, &req.body.req, 0), 0);
	assert_same_mad(host, req_mad, false);
	memcpy(tid, host->sent + TID_OFFSET, 8);

	roce_cm_recv(&host->cm, &host->path, rep_mad, 256, 1);
	assert_int_equal(host->last_event, ROCE_CM_EV_REP);
	assert_int_equal(host->conn.qp.sq_psn, rep.body.rep.starting_psn);
	assert_int_equal(host->conn.qp.rq_psn, req.body.req.starting_psn);
	assert_int_equal(host->conn.qp.remote_qpn, rep.body.rep.qpn);
	assert_int_equal(host->conn.qp.max_dest_rd_atomic, 128);
	assert_int_equal(host->conn.qp.max_rd_atomic, 0);

	assert_int_equal(roce_cm_ready(&host->cm, &host->conn), 0);
	assert_same_mad(host, find_mad(&pcap, UMAD_CM_ATTR_RTU, 0), false);
	assert_memory_equal(host->sent + TID_OFFSET, tid, 8);

	assert_int_equal(roce_cm_disconnect(&host->cm, &host->conn, 2), 0);
	assert_same_mad(host, dreq_mad, false);
	roce_cm_recv(&host->cm, &host->path, find_mad(&pcap, UMAD_CM_ATTR_DREP, 0), 256, 3);
	assert_int_equal(host->last_event, ROCE_CM_EV_DISCONNECTED);
	free(host);
	test_pcap_free(&pcap);
}

static void test_passive_side_says_what_the_kernel_says(void **state)
{
	const uint8_t *req_mad, *rep_mad;
	struct roce_cm_msg req, rep;
	struct test_pcap pcap;
	struct side *target;

	(void)state;
	assert_int_equal(test_pcap_load(&pcap, "rxe-discover"), 0);
	req_mad = find_mad(&pcap, UMAD_CM_ATTR_REQ, 0);
	rep_mad = find_mad(&pcap, UMAD_CM_ATTR_REP, 0);
	assert_int_equal(roce_cm_decode(req_mad, 256, &req), 0);
	assert_int_equal(roce_cm_decode(rep_mad, 256, &rep), 0);

	target = new_side(rep.body.rep.local_id, rep.body.rep.ca_guid, &req.body.req, false);
	target->listener.service_id = req.body.req.service_id;
	target->listener.any_address = true;
	assert_int_equal(roce_cm_listen(&target->cm, &target->listener), 0);
	roce_cm_recv(&target->cm, &target->path, req_mad, 256, 0);
	assert_int_equal(target->last_event, ROCE_CM_EV_REQ);
	assert_int_equal(roce_cm_accept(&target->cm, &target->conn, &rep.body.rep, 1), 0);
	assert_same_mad(target, rep_mad, true);
	assert_int_equal(target->conn.qp.sq_psn, req.body.req.starting_psn);
	assert_int_equal(target->conn.qp.rq_psn, rep.body.rep.starting_psn);
	assert_int_equal(target->conn.qp.ack_timeout, 19);

	roce_cm_recv(&target->cm, &target->path, find_mad(&pcap, UMAD_CM_ATTR_RTU, 0), 256, 2);
	assert_int_equal(target->last_event, ROCE_CM_EV_ESTABLISHED);
	roce_cm_recv(&target->cm, &target->path, find_mad(&pcap, UMAD_CM_ATTR_DREQ, 0), 256, 3);
	assert_int_equal(target->last_event, ROCE_CM_EV_DISCONNECTED);
	assert_same_mad(target, find_mad(&pcap, UMAD_CM_ATTR_DREP, 0), true);
	free(target);
	test_pcap_free(&pcap);
}

static void test_nobody_listens_says_what_the_kernel_says(void **state)
{
	struct roce_cm_msg req;
	struct test_pcap pcap;
	struct side *target;
	const uint8_t *mad;

	(void)state;
	assert_int_equal(test_pcap_load(&pcap, "rxe-refused"), 0);
	mad = find_mad(&pcap, UMAD_CM_ATTR_REQ, 0);
	assert_int_equal(roce_cm_decode(mad, 256, &req), 0);
	target = new_side(1, 2, &req.body.req, false);
	roce_cm_recv(&target->cm, &target->path, mad, 256, 0);
	assert_same_mad(target, find_mad(&pcap, UMAD_CM_ATTR_REJ, 0), true);
	free(target);
	test_pcap_free(&pcap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures_survive_both_ways),
		cmocka_unit_test(test_fields_of_a_kernel_req),
		cmocka_unit_test(test_fields_of_a_kernel_rej_and_rep),
		cmocka_unit_test(test_ip_header_round_trip),
		cmocka_unit_test(test_what_is_no_cm_message),
		cmocka_unit_test(test_field_outside_is_skipped),
		cmocka_unit_test(test_active_side_says_what_the_kernel_says),
		cmocka_unit_test(test_passive_side_says_what_the_kernel_says),
		cmocka_unit_test(test_nobody_listens_says_what_the_kernel_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
