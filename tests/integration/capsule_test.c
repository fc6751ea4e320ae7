/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that must fail on an I/O queue, with the exact status that the specification gives, and
 * messages that end the connection. The queue stays usable after the former; the target serves
 * the others after the latter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "host.h"
#include "util/compiler.h"

#define END_MS 5000

static struct host host;
static uint8_t buffer[HOST_SLOT_BYTES];

/* Get Log Page of @bytes into memory of the host's, which need not be there. */
static int long_log(uint32_t bytes, struct ini_error *error)
{
	struct ini_cmd cmd = {.tag = 0,
			      .data = INI_DATA_RAW,
			      .sqe = {.opcode = nvme_admin_get_log_page,
				      .cdw10 = htole32(NVME_LOG_LID_SMART | (bytes / 4 - 1) << 16),
				      .cdw11 = htole32((bytes / 4 - 1) >> 16)}};

	ini_sgl_keyed(cmd.sqe.sgl, (uintptr_t)ini_data(host.admin, 0), bytes, ini_rkey(host.admin),
		      false);
	return ini_exec(host.admin, &cmd, NULL, error);
}

/* A read or write with a descriptor of our own making. */
static int raw_sgl(uint8_t opcode, uint32_t blocks, const uint8_t sgl[16], struct ini_error *error)
{
	struct ini_cmd cmd = {.tag = 0, .data = INI_DATA_RAW};

	ini_sqe_rw(&cmd.sqe, opcode, host.nsid, 0, blocks);
	memcpy(cmd.sqe.sgl, sgl, sizeof(cmd.sqe.sgl));
	return ini_exec(host.io, &cmd, NULL, error);
}

/* As raw_sgl, with a keyed descriptor of @bytes of tag 0's buffer. */
static int keyed(uint8_t opcode, uint32_t blocks, uint32_t bytes, struct ini_error *error)
{
	uint8_t sgl[16];

	ini_sgl_keyed(sgl, (uintptr_t)ini_data(host.io, 0), bytes, ini_rkey(host.io), false);
	return raw_sgl(opcode, blocks, sgl, error);
}

static void assert_queue_works(void)
{
	struct ini_error error = {0};

	assert_ok(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, 0, 1, buffer, &error));
}

/* NLB and the descriptor disagree (U29). */
static void sgl_length(void **state)
{
	struct ini_error error = {0};
	uint32_t bs = host.block_bytes;

	(void)state;
	assert_status(keyed(nvme_cmd_write, 10, bs, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	assert_status(keyed(nvme_cmd_read, 10, bs, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	/* SGLS bit 18 is 0: no longer than the data either. */
	assert_status(keyed(nvme_cmd_write, 1, 2 * bs, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	assert_status(keyed(nvme_cmd_read, 1, 2 * bs, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	assert_status(keyed(nvme_cmd_read, 1, 0, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	assert_queue_works();
}

static void longer_than_mdts(void **state)
{
	struct ini_error error = {0};
	uint32_t blocks = host.max_io_bytes / host.block_bytes + 1;

	(void)state;
	assert_status(keyed(nvme_cmd_write, blocks, blocks * host.block_bytes, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_status(keyed(nvme_cmd_read, blocks, blocks * host.block_bytes, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_status(long_log(host.max_io_bytes + 4, &error), GENERIC(NVME_SC_INVALID_FIELD));
	assert_ok(ini_keep_alive(host.admin, &error));
	assert_queue_works();
}

/* Data to the host does not fit into a command (U32). */
static void read_in_capsule(void **state)
{
	struct ini_error error = {0};

	(void)state;
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_INCAPSULE, 0, 1, buffer, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_queue_works();
}

/* Data that the descriptor claims and the capsule does not have; an offset that no capsule has. */
static void beyond_the_capsule(void **state)
{
	struct ini_error error = {0};
	uint8_t sgl[16];

	(void)state;
	ini_sgl_incapsule(sgl, 0, host.block_bytes);
	assert_status(raw_sgl(nvme_cmd_write, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_DATA));
	ini_sgl_incapsule(sgl, host.incapsule_bytes, host.block_bytes);
	assert_status(raw_sgl(nvme_cmd_write, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_OFFSET));
	ini_sgl_incapsule(sgl, UINT64_MAX - 10, host.block_bytes);
	assert_status(raw_sgl(nvme_cmd_write, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_OFFSET));
	assert_queue_works();
}

static void descriptor_type(void **state)
{
	struct ini_error error = {0};
	uint8_t sgl[16];

	(void)state;
	ini_sgl_keyed(sgl, (uintptr_t)ini_data(host.io, 0), host.block_bytes, ini_rkey(host.io),
		      false);
	sgl[15] = 0xf0; /* vendor specific */
	assert_status(raw_sgl(nvme_cmd_read, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_TYPE));
	sgl[15] = 0x10; /* bit bucket, SGLS bit 16 is 0 */
	assert_status(raw_sgl(nvme_cmd_read, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_TYPE));
	sgl[15] = 0x47; /* keyed, reserved subtype */
	assert_status(raw_sgl(nvme_cmd_read, 1, sgl, &error), GENERIC(NVME_SC_INVALID_FIELD));
	assert_queue_works();
}

static void lba_out_of_range(void **state)
{
	struct ini_error error = {0};

	(void)state;
	assert_ok(
		host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks - 8, 8, buffer, &error));
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks - 7, 8, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks, 1, buffer, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(&host, nvme_cmd_write, INI_DATA_KEYED, host.blocks - 1, 2, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, UINT64_MAX, 1, buffer, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_status(host_rw(&host, nvme_cmd_write, INI_DATA_INCAPSULE, host.blocks, 1, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	assert_queue_works();
}

static void assert_invalid_opcode(struct ini_queue *queue, uint8_t opcode, uint32_t nsid)
{
	struct ini_cmd cmd = {.tag = INI_TAG_ANY, .sqe = {.opcode = opcode, .nsid = htole32(nsid)}};
	struct ini_error error = {0};

	assert_status(ini_exec(queue, &cmd, NULL, &error), GENERIC(NVME_SC_INVALID_OPCODE));
}

static void unknown_opcode(void **state)
{
	/* Reserved and vendor specific; with the direction bits for no data and for each way. */
	static const uint8_t io[] = {0x7c, 0x7d, 0x7e, 0xc0, 0xff};
	static const uint8_t admin[] = {0x3f, 0x3c, 0x3d, 0xc0, 0xff};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(io); i++)
		assert_invalid_opcode(host.io, io[i], host.nsid);
	for (i = 0; i < sizeof(admin); i++)
		assert_invalid_opcode(host.admin, admin[i], 0);
	/* Commands of PCIe controllers: their queues are made by Connect here. */
	assert_invalid_opcode(host.admin, nvme_admin_create_sq, 0);
	assert_invalid_opcode(host.admin, nvme_admin_delete_cq, 0);
	assert_queue_works();
}

/* A Fabrics command's type stands where others have the namespace. */
static void unknown_fabrics_type(void **state)
{
	struct ini_error error = {0};

	(void)state;
	assert_invalid_opcode(host.admin, nvme_admin_fabrics, 0x7c);
	assert_invalid_opcode(host.admin, nvme_admin_fabrics, 0xff);
	assert_invalid_opcode(host.io, nvme_admin_fabrics, 0x7c);
	/* Properties are the admin queue's. */
	assert_invalid_opcode(host.io, nvme_admin_fabrics, nvme_fabrics_type_property_get);
	assert_queue_works();
	assert_ok(ini_keep_alive(host.admin, &error));
}

static void unknown_namespace(void **state)
{
	const struct ini_rw rw = {.opcode = nvme_cmd_read,
				  .data = INI_DATA_KEYED,
				  .nsid = host.nsid + 41,
				  .blocks = 1,
				  .block_bytes = host.block_bytes};
	struct ini_error error = {0};

	(void)state;
	assert_status(ini_rw(host.io, &rw, buffer, &error), GENERIC(NVME_SC_INVALID_NS));
	assert_queue_works();
}

/* The newest entry of the error log, with how many there have been. */
static struct nvme_error_log_page newest_error(void)
{
	struct nvme_error_log_page entry;
	struct ini_error error = {0};

	assert_ok(ini_get_log(host.admin, NVME_LOG_LID_ERROR, NVME_NSID_ALL, 0, &entry,
			      sizeof(entry), &error));
	return entry;
}

/* Wait until it is about the command that has just failed: STA tells of it after the answer. */
static struct nvme_error_log_page wait_error(uint64_t count)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	uint64_t start_ns = ini_now_ns();
	struct nvme_error_log_page entry;

	while (entry = newest_error(), le64toh(entry.error_count) < count) {
		if (ini_now_ns() - start_ns > 5000000000u)
			fail_msg("no entry %llu", (unsigned long long)count);
		nanosleep(&nap, NULL);
	}
	return entry;
}

/* What failed on I/O queues stands in the controller's log, by whomever it was refused. */
static void errors_are_logged(void **state)
{
	uint64_t count = le64toh(newest_error().error_count);
	struct nvme_error_log_page entry;
	struct ini_error error = {0};
	uint8_t sgl[16];

	(void)state;
	/* by the back-end */
	assert_status(host_rw(&host, nvme_cmd_read, INI_DATA_KEYED, host.blocks + 3, 1, buffer,
			      &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	entry = wait_error(++count);
	assert_int_equal(le64toh(entry.error_count), count);
	assert_int_equal(le16toh(entry.sqid), 1);
	assert_int_equal(le16toh(entry.cmdid), 0);
	assert_int_equal(le16toh(entry.status_field) >> 1, GENERIC(NVME_SC_LBA_RANGE));
	assert_int_equal(le16toh(entry.parm_error_location), 0xffff);
	assert_int_equal(le64toh(entry.lba), host.blocks + 3);
	assert_int_equal(le32toh(entry.nsid), host.nsid);
	/* by the data path */
	ini_sgl_incapsule(sgl, host.incapsule_bytes, host.block_bytes);
	assert_status(raw_sgl(nvme_cmd_write, 1, sgl, &error), GENERIC(NVME_SC_SGL_INVALID_OFFSET));
	entry = wait_error(++count);
	assert_int_equal(le16toh(entry.status_field) >> 1, GENERIC(NVME_SC_SGL_INVALID_OFFSET));
	assert_int_equal(le16toh(entry.parm_error_location) & 0xff, offsetof(struct ini_sqe, sgl));
	/* by the control plane */
	assert_invalid_opcode(host.io, 0xc1, host.nsid);
	entry = wait_error(++count);
	assert_int_equal(le16toh(entry.sqid), 1);
	assert_int_equal(le16toh(entry.status_field) >> 1, GENERIC(NVME_SC_INVALID_OPCODE));
	assert_int_equal(le64toh(entry.error_count), count);
}

static void unknown_property(void **state)
{
	struct ini_error error = {0};
	uint64_t value;

	(void)state;
	assert_status(ini_property_get(host.admin, 0x2000, false, &value, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_status(ini_property_set(host.admin, NVME_REG_CAP, true, 1, &error),
		      GENERIC(NVME_SC_INVALID_FIELD));
	assert_ok(ini_property_get(host.admin, NVME_REG_VS, false, &value, &error));
}

/* ---- what ends a connection ---- */

/* An I/O queue of its own, since it will not survive. */
static struct ini_queue *open_victim(void)
{
	const struct ini_params params = host_io_params(&host, 9, 8, 65536);
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	return queue;
}

/* Less than a command (U36): no sense can be made of it, so there is nobody to answer. */
static void short_capsule(void **state)
{
	static const uint8_t junk[63] = {nvme_cmd_read, INI_SQE_FLAG_SGL};
	static const size_t lengths[] = {0, 1, 16, 63};
	struct ini_error error = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct ini_queue *victim = open_victim();

		assert_ok(ini_send_raw(victim, junk, lengths[i], &error));
		assert_ok(ini_wait_disconnect(victim, END_MS, &error));
		ini_close(victim);
		assert_queue_works();
	}
	host_check_served(&tgt);
}

/* The same on an admin queue, which takes the controller with it, and on a queue without one. */
static void short_admin_capsule(void **state)
{
	static const uint8_t junk[63] = {nvme_admin_fabrics, INI_SQE_FLAG_SGL};
	static const size_t lengths[] = {0, 1, 63};
	struct ini_params params = {.addr = tgt.addr, .port = tgt.port, .subnqn = TGTPROC_NQN};
	struct ini_error error = {0};
	struct ini_queue *unconnected;
	struct host victim;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		host_connect(&victim, &tgt, 8, 4096);
		assert_ok(ini_send_raw(victim.admin, junk, lengths[i], &error));
		assert_ok(ini_wait_disconnect(victim.admin, END_MS, &error));
		assert_ok(ini_wait_disconnect(victim.io, END_MS, &error));
		host_disconnect(&victim);
		for (params.qid = 0; params.qid < 2; params.qid++) {
			assert_ok(ini_open(&unconnected, &params, &error));
			assert_ok(ini_send_raw(unconnected, junk, lengths[i], &error));
			assert_ok(ini_wait_disconnect(unconnected, END_MS, &error));
			ini_close(unconnected);
		}
		assert_queue_works();
	}
	host_check_served(&tgt);
}

/* A message longer than a capsule can be does not fit the receive buffer. */
/*
 * Commands that the target answers itself keep coming on I/O queues while it takes their controller
 * down: it lets go of each queue with callbacks open and events of its connection still to come.
 */
static void commands_while_the_controller_ends(void **state)
{
	static const uint8_t junk[8] = {nvme_admin_identify};
	struct ini_queue *queues[6];
	struct ini_error error = {0};
	struct ini_cmd cmd;
	struct ini_params params;
	struct host dying;
	uint16_t i, round, n;

	(void)state;
	for (round = 0; round < 100; round++) {
		host_connect_admin(&dying, &tgt);
		for (i = 0; i < UTIL_ARRAY_SIZE(queues); i++) {
			params = host_io_params(&dying, (uint16_t)(i + 1), 32, 0);
			assert_ok(ini_open_connect(&queues[i], &params, NULL, &error));
		}
		assert_ok(ini_send_raw(dying.admin, junk, sizeof(junk), &error));
		nanosleep(&(struct timespec){.tv_nsec = round * 4000}, NULL);
		for (n = 0; n < 28; n++) {
			for (i = 0; i < UTIL_ARRAY_SIZE(queues); i++) {
				cmd = (struct ini_cmd){.tag = INI_TAG_ANY,
						       .sqe = {.opcode = 0x7c, .nsid = htole32(1)}};
				(void)ini_submit(queues[i], &cmd, &error); /* till it ends */
			}
		}
		for (i = 0; i < UTIL_ARRAY_SIZE(queues); i++)
			ini_close(queues[i]);
		ini_close(dying.admin);
	}
	assert_true(tgtproc_is_running(&tgt));
	assert_queue_works();
}

static void long_capsule(void **state)
{
	struct ini_queue *victim = open_victim();
	struct ini_error error = {0};

	(void)state;
	memset(buffer, 0, sizeof(buffer));
	assert_ok(ini_send_raw(victim, buffer, host.incapsule_bytes + 64 + 1, &error));
	assert_ok(ini_wait_disconnect(victim, END_MS, &error));
	ini_close(victim);
	assert_queue_works();
	host_check_served(&tgt);
}

/* A key that opens nothing, and an address outside of the region. */
static void foreign_memory(void **state)
{
	struct ini_error error = {0};
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct ini_queue *victim = open_victim();
		struct ini_cmd cmd = {.tag = 0, .data = INI_DATA_RAW};
		uint64_t addr = (uintptr_t)ini_data(victim, 0) + (i & 1 ? 1ull << 40 : 0);
		uint32_t key = ini_rkey(victim) ^ (i & 1 ? 0 : 0x5a5a);

		ini_sqe_rw(&cmd.sqe, i & 2 ? nvme_cmd_read : nvme_cmd_write, host.nsid, 0, 1);
		ini_sgl_keyed(cmd.sqe.sgl, addr, host.block_bytes, key, false);
		assert_int_not_equal(ini_exec(victim, &cmd, NULL, &error), 0);
		ini_close(victim);
		assert_queue_works();
	}
	host_check_served(&tgt);
}

static int setup(void **state)
{
	int rc = tgt_setup(state);

	if (rc == 0)
		host_connect(&host, &tgt, 8, HOST_SLOT_BYTES);
	return rc;
}

static int teardown(void **state)
{
	host_disconnect(&host);
	return tgt_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_logged), /* first: no error is on its way then */
		cmocka_unit_test(sgl_length),
		cmocka_unit_test(longer_than_mdts),
		cmocka_unit_test(read_in_capsule),
		cmocka_unit_test(beyond_the_capsule),
		cmocka_unit_test(descriptor_type),
		cmocka_unit_test(lba_out_of_range),
		cmocka_unit_test(unknown_opcode),
		cmocka_unit_test(unknown_namespace),
		cmocka_unit_test(unknown_fabrics_type),
		cmocka_unit_test(unknown_property),
		cmocka_unit_test(short_capsule),
		cmocka_unit_test(long_capsule),
		cmocka_unit_test(foreign_memory),
		cmocka_unit_test(short_admin_capsule),
		cmocka_unit_test(commands_while_the_controller_ends),
	};

	return group_run(tests, setup, teardown);
}
