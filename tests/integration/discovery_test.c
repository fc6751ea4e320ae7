/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host learns before its first read: the discovery log, Identify, properties, log pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "host.h"

#define ALLOWED_HOST "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-000000000001"
#define OTHER_HOST   "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-000000000002"

static struct ini_queue *connect_discovery_as(const struct tgtproc *target, const char *hostnqn)
{
	const struct ini_params params = {.addr = target->addr,
					  .port = target->port,
					  .hostnqn = hostnqn};
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	assert_ok(ini_enable(queue, &error));
	return queue;
}

static struct ini_queue *connect_discovery(void)
{
	return connect_discovery_as(&tgt, NULL);
}

static bool is_padded(const char *field, size_t bytes, const char *text)
{
	size_t len = strlen(text), i;

	if (len > bytes || memcmp(field, text, len))
		return false;
	for (i = len; i < bytes; i++)
		if (field[i] != '\0' && field[i] != ' ')
			return false;
	return true;
}

static void discovery_record(void **state)
{
	struct ini_queue *queue = connect_discovery();
	struct nvmf_disc_log_entry *records, *found = NULL;
	struct ini_error error = {0};
	uint64_t genctr;
	uint32_t count, i;
	char port[8];

	(void)state;
	assert_ok(ini_discover(queue, &records, &count, &genctr, &error));
	for (i = 0; i < count; i++)
		if (records[i].subtype == NVME_NQN_NVME)
			found = &records[i];
	assert_non_null(found);
	assert_int_equal(found->trtype, NVMF_TRTYPE_RDMA);
	assert_int_equal(found->adrfam, NVMF_ADDR_FAMILY_IP4);
	assert_int_equal(le16toh(found->cntlid), 0xffff);
	assert_true(le16toh(found->asqsz) >= 32);
	snprintf(port, sizeof(port), "%u", tgt.port);
	assert_true(is_padded(found->trsvcid, sizeof(found->trsvcid), port));
	assert_true(is_padded(found->traddr, sizeof(found->traddr), tgt.addr));
	assert_string_equal(found->subnqn, TGTPROC_NQN);
	assert_int_equal(found->tsas.rdma.cms, NVMF_RDMA_CMS_RDMA_CM);
	assert_int_equal(found->tsas.rdma.qptype, NVMF_RDMA_QPTYPE_CONNECTED);
	free(records);
	ini_close(queue);
}

static unsigned int subsystems_seen(const struct tgtproc *target, const char *hostnqn)
{
	struct ini_queue *queue = connect_discovery_as(target, hostnqn);
	struct nvmf_disc_log_entry *records;
	struct ini_error error = {0};
	unsigned int seen = 0;
	uint64_t genctr;
	uint32_t count;

	assert_ok(ini_discover(queue, &records, &count, &genctr, &error));
	while (count > 0)
		seen += records[--count].subtype == NVME_NQN_NVME;
	free(records);
	ini_close(queue);
	return seen;
}

/* A host sees what it may connect to and nothing else. */
static void discovery_of_the_allowed(void **state)
{
	static const char *const args[] = {"--export",	   "ram:1M",	 "--nqn", TGTPROC_NQN,
					   "--allow-host", ALLOWED_HOST, NULL};
	struct tgtproc closed;

	(void)state;
	assert_int_equal(tgtproc_init(&closed, 0), 0);
	assert_int_equal(tgtproc_start(&closed, args), 0);
	assert_int_equal(subsystems_seen(&closed, ALLOWED_HOST), 1);
	assert_int_equal(subsystems_seen(&closed, OTHER_HOST), 0);
	assert_int_equal(tgtproc_stop(&closed, SIGTERM, TGTPROC_STOP_MS), 0);
	tgtproc_fini(&closed);
}

/* The same bytes in any portion (U45). */
static void discovery_in_portions(void **state)
{
	struct ini_queue *queue = connect_discovery();
	struct ini_error error = {0};
	uint8_t whole[2048], parts[2048];
	uint32_t step, at;

	(void)state;
	assert_ok(ini_get_log(queue, NVME_LOG_LID_DISCOVER, 0, 0, whole, sizeof(whole), &error));
	for (step = 16; step <= 1024; step *= 8) {
		memset(parts, 0xaa, sizeof(parts));
		for (at = 0; at < sizeof(parts); at += step)
			assert_ok(ini_get_log(queue, NVME_LOG_LID_DISCOVER, 0, at, parts + at, step,
					      &error));
		assert_memory_equal(whole, parts, sizeof(whole));
	}
	ini_close(queue);
}

/* What Linux checks before it uses a controller (U34), and what we announce (U31, U60, U62). */
static void identify_controller(void **state)
{
	struct ini_error error = {0};
	struct host host;
	char text[41];
	uint64_t cap;

	(void)state;
	host_connect_admin(&host, &tgt);
	assert_ok(ini_property_get(host.admin, NVME_REG_CAP, true, &cap, &error));
	assert_int_equal(le16toh(host.ctrl.icdoff), 0);
	assert_int_equal(le32toh(host.ctrl.iorcsz), 1);
	assert_true(le32toh(host.ctrl.sgls) & NVME_CTRL_SGLS_KEYED);
	assert_true(le32toh(host.ctrl.sgls) & NVME_CTRL_SGLS_SUPPORTED);
	assert_true(le32toh(host.ctrl.sgls) & NVME_CTRL_SGLS_OFFSET);
	assert_true(host.incapsule_bytes >= 4096);
	assert_true(host.max_io_bytes >= MIB);
	assert_true(host.ctrl.msdbd >= 1);
	assert_int_equal(host.ctrl.cntrltype, NVME_CTRL_CNTRLTYPE_IO);
	assert_int_equal(le16toh(host.ctrl.cntlid), host.cntlid);
	assert_true(le32toh(host.ctrl.nn) >= host.nsid && host.nsid > 0);
	assert_true((cap & 0xffff) + 1 >= 128); /* MQES, U22 */
	assert_true(le16toh(host.ctrl.maxcmd) >= 128);
	assert_string_equal(host.ctrl.subnqn, TGTPROC_NQN);
	ini_field_str(text, sizeof(text), host.ctrl.mn, sizeof(host.ctrl.mn));
	assert_true(strlen(text) > 0);
	ini_field_str(text, sizeof(text), host.ctrl.sn, sizeof(host.ctrl.sn));
	assert_true(strlen(text) > 0);
	host_disconnect(&host);
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return n == 0;
}

static void identify_namespace(void **state)
{
	struct ini_error error = {0};
	uint8_t list[4096];
	struct nvme_id_ns ns;
	struct host host;

	(void)state;
	host_connect_admin(&host, &tgt);
	assert_int_equal(host.blocks * host.block_bytes, HOST_DISK_BYTES);
	assert_ok(ini_identify_ns(host.admin, host.nsid, &ns, &error));
	assert_int_equal(le64toh(ns.ncap), host.blocks);
	assert_false(is_zero(ns.nguid, sizeof(ns.nguid)));

	/* The descriptor list has the UUID. */
	assert_ok(
		ini_identify(host.admin, host.nsid, NVME_IDENTIFY_CNS_NS_DESC_LIST, list, &error));
	assert_true(list[0] == NVME_NIDT_UUID || list[0] == NVME_NIDT_NGUID ||
		    list[0] == NVME_NIDT_EUI64);

	/* Inactive but valid: zeroes. Beyond NN: Invalid Namespace. */
	assert_ok(ini_identify_ns(host.admin, host.nsid + 1, &ns, &error));
	assert_true(is_zero((const uint8_t *)&ns, sizeof(ns)));
	assert_status(ini_identify_ns(host.admin, le32toh(host.ctrl.nn) + 1, &ns, &error),
		      GENERIC(NVME_SC_INVALID_NS));
	host_disconnect(&host);
}

/* A stable identity (U60): the same names on every connection and after a restart. */
static void identity_is_stable(void **state)
{
	struct ini_error error = {0};
	struct nvme_id_ns before, after;
	struct nvme_id_ctrl ctrl;
	struct host host;

	(void)state;
	host_connect_admin(&host, &tgt);
	ctrl = host.ctrl;
	assert_ok(ini_identify_ns(host.admin, host.nsid, &before, &error));
	host_disconnect(&host);

	assert_int_equal(tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS), 0);
	assert_int_equal(tgtproc_start_default(&tgt), 0);
	host_connect_admin(&host, &tgt);
	assert_ok(ini_identify_ns(host.admin, host.nsid, &after, &error));
	assert_memory_equal(before.nguid, after.nguid, sizeof(before.nguid));
	assert_memory_equal(ctrl.sn, host.ctrl.sn, sizeof(ctrl.sn));
	host_disconnect(&host);
}

static void log_pages(void **state)
{
	static const uint8_t lids[] = {NVME_LOG_LID_ERROR, NVME_LOG_LID_SMART, NVME_LOG_LID_FW_SLOT,
				       NVME_LOG_LID_CHANGED_NS, NVME_LOG_LID_CMD_EFFECTS};
	struct ini_error error = {0};
	uint8_t page[512];
	struct host host;
	size_t i;

	(void)state;
	host_connect_admin(&host, &tgt);
	for (i = 0; i < sizeof(lids); i++)
		assert_ok(ini_get_log(host.admin, lids[i], NVME_NSID_ALL, 0, page, sizeof(page),
				      &error));
	assert_status(ini_get_log(host.admin, 0xc7, NVME_NSID_ALL, 0, page, sizeof(page), &error),
		      SPECIFIC(NVME_SC_INVALID_LOG_PAGE));
	/* Discovery is another controller's log (U51). */
	assert_status(ini_get_log(host.admin, NVME_LOG_LID_DISCOVER, 0, 0, page, sizeof(page),
				  &error),
		      SPECIFIC(NVME_SC_INVALID_LOG_PAGE));
	host_disconnect(&host);
}

static void features_and_keep_alive(void **state)
{
	struct ini_error error = {0};
	struct host host;
	uint16_t queues = 4;

	(void)state;
	host_connect_admin(&host, &tgt);
	assert_ok(ini_set_queue_count(host.admin, &queues, &error));
	assert_true(queues >= 4);
	assert_ok(ini_keep_alive(host.admin, &error));
	host_disconnect(&host);
}

/* Each host gets a controller of its own (U53), and shutting down says when it is done. */
static void controllers_and_shutdown(void **state)
{
	struct ini_error error = {0};
	struct host first, second;

	(void)state;
	host_connect_admin(&first, &tgt);
	host_connect_admin(&second, &tgt);
	assert_int_not_equal(first.cntlid, second.cntlid);
	assert_ok(ini_shutdown(first.admin, &error));
	assert_ok(ini_keep_alive(second.admin, &error));
	host_disconnect(&first);
	host_disconnect(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(discovery_record),
		cmocka_unit_test(discovery_of_the_allowed),
		cmocka_unit_test(discovery_in_portions),
		cmocka_unit_test(identify_controller),
		cmocka_unit_test(identify_namespace),
		cmocka_unit_test(log_pages),
		cmocka_unit_test(features_and_keep_alive),
		cmocka_unit_test(controllers_and_shutdown),
		cmocka_unit_test(identity_is_stable),
	};

	return group_run(tests, tgt_setup, tgt_teardown);
}
