/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters against the I/O that was done: hosts on two EUs, a back-end with a queue on each and one
 * with a queue on the first only. Every command is counted here, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <doca_sta_stats.h>

#include "host.h"
#include "node.h"

#define NQN "nqn.2026-01.org.example:counters"

enum {
	NUM_EUS = 2, /* SOFTSTA_EUS */
	NUM_HOSTS = 3, /* the first and the last meet on the first EU */
	NUM_NS = 2, /* NSID n is on back-end n */
	BLOCKS = 1024,
	OP_VENDOR = 0xc0, /* is not offloaded */
};

/* What is to be found in the counters; sums of unsigned 64-bit integers. */
struct ns_sum {
	uint64_t reads, writes, other, read_bytes, written_bytes, errors;
};

struct eu_sum {
	uint64_t capsules, non_offloaded, from_host, to_host, invalid, backend_errors, crossed;
};

struct fixture {
	struct node node;
	struct ramdisk disks[NUM_NS];
	struct doca_sta_be_handle *be[NUM_NS];
	struct node_queue both[NUM_EUS], one; /* of the first, and of the second back-end */
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns[NUM_NS];
	struct ini_queue *hosts[NUM_HOSTS];
	struct doca_sta_eu_handle *eus[NUM_EUS];
	struct ns_sum of_ns[NUM_NS];
	struct eu_sum of_eu[NUM_EUS];
	uint64_t commands[NUM_NS][NUM_EUS], errors[NUM_NS][NUM_EUS]; /* by the host's EU */
};

static unsigned int eu_of(unsigned int host)
{
	return host % NUM_EUS;
}

static uint64_t value(const struct doca_sta_eu_ctr_entry *entries, uint16_t num, const char *name)
{
	for (uint16_t i = 0; i < num; i++) {
		if (!strcmp(entries[i].name, name))
			return __atomic_load_n(entries[i].val, __ATOMIC_RELAXED);
	}
	fail_msg("no counter %s", name);
	return 0;
}

static uint64_t of_eu(struct doca_sta_eu_handle *eu, const char *name)
{
	const struct doca_sta_eu_ctr_entry *entries;
	uint16_t n;

	assert_int_equal(doca_sta_get_eu_stats(eu, &entries, &n), DOCA_SUCCESS);
	return value(entries, n, name);
}

static uint64_t of_queue(struct doca_sta_be_handle *be, struct doca_sta_be_q_handle *queue,
			 const char *name)
{
	const struct doca_sta_eu_ctr_entry *entries;
	uint16_t n;

	assert_int_equal(doca_sta_get_be_queue_stats(be, queue, &entries, &n), DOCA_SUCCESS);
	return value(entries, n, name);
}

static uint64_t of_ns(struct fixture *f, unsigned int ns, const char *name)
{
	const struct doca_sta_eu_ctr_entry *entries;
	uint16_t n;

	assert_int_equal(doca_sta_get_ns_stats(f->subsys, f->ns[ns], &entries, &n), DOCA_SUCCESS);
	return value(entries, n, name);
}

static int setup(void **state)
{
	static struct fixture f;
	struct ini_error error = {0};
	struct ini_params params;
	uint32_t num = NUM_EUS;

	memset(&f, 0, sizeof(f));
	assert_int_equal(node_start(&f.node, 2), 0);
	f.subsys = node_add_subsys(&f.node, NQN);
	for (unsigned int i = 0; i < NUM_NS; i++) {
		assert_int_equal(ramdisk_init(&f.disks[i], BLOCKS), DOCA_SUCCESS);
		f.be[i] = node_add_backend(&f.node);
		f.ns[i] = node_add_ns(&f.node, f.subsys, i + 1, f.be[i]);
	}
	for (unsigned int i = 0; i < NUM_EUS; i++)
		node_add_queue(&f.node, f.be[0], &f.disks[0], &f.both[i]);
	node_add_queue(&f.node, f.be[1], &f.disks[1], &f.one);
	for (unsigned int i = 0; i < NUM_HOSTS; i++) {
		params = node_params(&f.node, i % 2, NQN);
		assert_ok(ini_open_connect(&f.hosts[i], &params, NULL, &error));
		f.of_eu[eu_of(i)].capsules++;
		f.of_eu[eu_of(i)].non_offloaded++;
	}
	assert_int_equal(doca_sta_get_eu_handle(f.node.sta, f.eus, &num), DOCA_SUCCESS);
	assert_int_equal(num, NUM_EUS);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < NUM_HOSTS; i++)
		ini_close(f->hosts[i]);
	for (unsigned int i = 0; i < NUM_NS; i++)
		node_remove_ns(&f->node, f->subsys, f->ns[i]);
	for (unsigned int i = 0; i < NUM_EUS; i++)
		node_remove_queue(&f->node, &f->both[i]);
	node_remove_queue(&f->node, &f->one);
	for (unsigned int i = 0; i < NUM_NS; i++)
		node_remove_backend(&f->node, f->be[i]);
	node_remove_subsys(&f->node, f->subsys);
	for (unsigned int i = 0; i < NUM_NS; i++)
		ramdisk_fini(&f->disks[i]);
	return node_stop(&f->node);
}

/* ---- I/O that is counted ---- */

static void count(struct fixture *f, unsigned int host, uint32_t nsid)
{
	unsigned int eu = eu_of(host);

	f->of_eu[eu].capsules++;
	f->commands[nsid - 1][eu]++;
	/* The second back-end's queue is the first EU's. */
	if (nsid == 2 && eu != 0)
		f->of_eu[eu].crossed++;
}

static void do_rw(struct fixture *f, unsigned int host, uint32_t nsid, uint8_t opcode,
		  enum ini_data way, uint32_t blocks)
{
	static uint8_t data[BLOCKS * RAMDISK_BLOCK];
	const struct ini_rw rw = {.opcode = opcode,
				  .data = way,
				  .nsid = nsid,
				  .lba = 256 * host,
				  .blocks = blocks,
				  .block_bytes = RAMDISK_BLOCK};
	uint64_t bytes = (uint64_t)blocks * RAMDISK_BLOCK;
	struct ns_sum *ns = &f->of_ns[nsid - 1];
	struct eu_sum *eu = &f->of_eu[eu_of(host)];
	struct ini_error error = {0};

	assert_ok(ini_rw(f->hosts[host], &rw, data, &error));
	count(f, host, nsid);
	if (opcode == nvme_cmd_read) {
		ns->reads++;
		ns->read_bytes += bytes;
		eu->to_host += bytes;
	} else {
		ns->writes++;
		ns->written_bytes += bytes;
		eu->from_host += way == INI_DATA_INCAPSULE ? 0 : bytes;
	}
}

/* Past the end: the disk answers with an error, and no data moves. */
static void do_failing_read(struct fixture *f, unsigned int host, uint32_t nsid)
{
	const struct ini_rw rw = {.opcode = nvme_cmd_read,
				  .data = INI_DATA_KEYED,
				  .nsid = nsid,
				  .lba = BLOCKS,
				  .blocks = 1,
				  .block_bytes = RAMDISK_BLOCK};
	uint8_t data[RAMDISK_BLOCK];
	struct ini_error error = {0};

	assert_status(ini_rw(f->hosts[host], &rw, data, &error), GENERIC(NVME_SC_LBA_RANGE));
	count(f, host, nsid);
	f->of_ns[nsid - 1].reads++;
	f->of_ns[nsid - 1].errors++;
	f->of_eu[eu_of(host)].backend_errors++;
	f->errors[nsid - 1][eu_of(host)]++;
}

static void do_others(struct fixture *f, unsigned int host)
{
	struct eu_sum *eu = &f->of_eu[eu_of(host)];
	struct ini_cmd cmd = {.sqe.opcode = OP_VENDOR};
	struct ini_error error = {0};
	struct ini_done done;

	for (uint32_t nsid = 1; nsid <= NUM_NS; nsid++) {
		assert_ok(ini_flush(f->hosts[host], nsid, &error));
		count(f, host, nsid);
		f->of_ns[nsid - 1].other++;
	}
	/* No back-end sees these two. */
	assert_status(ini_flush(f->hosts[host], NUM_NS + 1, &error), GENERIC(NVME_SC_INVALID_NS));
	eu->capsules++;
	eu->invalid++;
	assert_status(ini_exec(f->hosts[host], &cmd, &done, &error),
		      GENERIC(NVME_SC_INVALID_OPCODE));
	eu->capsules++;
	eu->non_offloaded++;
}

static void do_io(struct fixture *f)
{
	static const uint32_t sizes[] = {1, 3, 8, 9, 17, 100, 256};

	for (unsigned int host = 0; host < NUM_HOSTS; host++) {
		for (uint32_t nsid = 1; nsid <= NUM_NS; nsid++) {
			for (unsigned int i = 0; i <= host; i++)
				do_failing_read(f, host, nsid);
			for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
				uint32_t n = sizes[i];

				if (n <= 8)
					do_rw(f, host, nsid, nvme_cmd_write, INI_DATA_INCAPSULE, n);
				do_rw(f, host, nsid, nvme_cmd_write, INI_DATA_KEYED, n);
				do_rw(f, host, nsid, nvme_cmd_read, INI_DATA_KEYED_INV, n);
				do_rw(f, host, nsid, nvme_cmd_read, INI_DATA_KEYED, n);
			}
		}
		do_others(f, host);
	}
}

/* ---- the sums ---- */

static void check_namespaces(struct fixture *f)
{
	for (unsigned int i = 0; i < NUM_NS; i++) {
		const struct ns_sum *want = &f->of_ns[i];

		assert_int_equal(of_ns(f, i, "reads"), want->reads);
		assert_int_equal(of_ns(f, i, "writes"), want->writes);
		assert_int_equal(of_ns(f, i, "compares"), 0);
		assert_int_equal(of_ns(f, i, "other_commands"), want->other);
		assert_int_equal(of_ns(f, i, "read_bytes"), want->read_bytes);
		assert_int_equal(of_ns(f, i, "written_bytes"), want->written_bytes);
		assert_int_equal(of_ns(f, i, "errors"), want->errors);
	}
}

static void check_queue(struct doca_sta_be_handle *be, struct doca_sta_be_q_handle *queue,
			uint64_t commands, uint64_t errors)
{
	assert_int_equal(of_queue(be, queue, "commands"), commands);
	assert_int_equal(of_queue(be, queue, "completions"), commands);
	assert_int_equal(of_queue(be, queue, "errors"), errors);
	assert_int_equal(of_queue(be, queue, "timeouts"), 0);
	assert_int_equal(of_queue(be, queue, "bad_completions"), 0);
}

static void check_queues(struct fixture *f)
{
	for (unsigned int i = 0; i < NUM_EUS; i++) {
		const struct doca_sta_eu_ctr_entry *entries;
		uint16_t n;

		assert_int_equal(doca_sta_get_be_queue_mapping_info(f->both[i].handle, &entries,
								    &n),
				 DOCA_SUCCESS);
		assert_int_equal(value(entries, n, "eu_id"), i);
		check_queue(f->be[0], f->both[i].handle, f->commands[0][i], f->errors[0][i]);
	}
	check_queue(f->be[1], f->one.handle, f->commands[1][0] + f->commands[1][1],
		    f->errors[1][0] + f->errors[1][1]);
}

static void check_eus(struct fixture *f)
{
	for (unsigned int i = 0; i < NUM_EUS; i++) {
		const struct eu_sum *want = &f->of_eu[i];
		struct doca_sta_eu_handle *eu = f->eus[i];

		assert_int_equal(of_eu(eu, "capsules"), want->capsules);
		assert_int_equal(of_eu(eu, "responses"), want->capsules);
		assert_int_equal(of_eu(eu, "non_offloaded"), want->non_offloaded);
		assert_int_equal(of_eu(eu, "bytes_from_host"), want->from_host);
		assert_int_equal(of_eu(eu, "bytes_to_host"), want->to_host);
		assert_int_equal(of_eu(eu, "invalid_capsules"), want->invalid);
		assert_int_equal(of_eu(eu, "backend_errors"), want->backend_errors);
		assert_int_equal(of_eu(eu, "crossed"), want->crossed);
		assert_int_equal(of_eu(eu, "backend_timeouts"), 0);
		assert_int_equal(of_eu(eu, "transport_errors"), 0);
		assert_int_equal(of_eu(eu, "dropped"), 0);
		/* The control thread was not there to take the events in time: told by the last. */
		assert_true(of_eu(eu, "lost_events") <= want->invalid + want->backend_errors);
	}
}

static void counters_add_up(void **state)
{
	struct fixture *f = *state;

	do_io(f);
	check_namespaces(f);
	check_queues(f);
	check_eus(f);
}

/* ---- reset ---- */

static void wait_for_zero(struct doca_sta_eu_handle *eu)
{
	int ms = 0;

	while (of_eu(eu, "capsules") && ms++ < NODE_PATIENCE_MS)
		(void)poll(NULL, 0, 1);
	assert_int_equal(of_eu(eu, "capsules"), 0);
	assert_int_equal(of_eu(eu, "responses"), 0);
	assert_int_equal(of_eu(eu, "non_offloaded"), 0);
	assert_int_equal(of_eu(eu, "bytes_from_host"), 0);
	assert_int_equal(of_eu(eu, "bytes_to_host"), 0);
	assert_int_equal(of_eu(eu, "invalid_capsules"), 0);
	assert_int_equal(of_eu(eu, "backend_errors"), 0);
	assert_int_equal(of_eu(eu, "crossed"), 0);
}

static void reset(void **state)
{
	static const enum dpa_sta_eu_type others[] = {DOCA_STA_EU_TX, DOCA_STA_EU_BEQ};
	static const enum dpa_sta_eu_type all[] = {DOCA_STA_EU_COMP, DOCA_STA_EU_MAX};
	struct fixture *f = *state;

	do_io(f);
	/* One EU by its handle: the other keeps its own. */
	assert_int_equal(doca_sta_eu_reset_stats_handle(f->eus[0]), DOCA_SUCCESS);
	wait_for_zero(f->eus[0]);
	memset(&f->of_eu[0], 0, sizeof(f->of_eu[0]));
	check_eus(f);
	/* From zero again. */
	do_io(f);
	check_eus(f);
	/* There are no EUs of the other types. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(doca_sta_eu_reset_stats_type(f->node.sta, others[i]),
				 DOCA_SUCCESS);
	do_io(f);
	check_eus(f);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(doca_sta_eu_reset_stats_type(f->node.sta, all[i]), DOCA_SUCCESS);
		for (int eu = 0; eu < NUM_EUS; eu++) {
			wait_for_zero(f->eus[eu]);
			memset(&f->of_eu[eu], 0, sizeof(f->of_eu[eu]));
		}
		do_io(f);
		check_eus(f);
	}
	/* Namespaces and queues have no reset. */
	check_namespaces(f);
	check_queues(f);
}

static void execution_units(void **state)
{
	static const char *const names[] = {"sta-eu0", "sta-eu1"};
	static const uint16_t num_qps[] = {2, 1};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < NUM_EUS; i++) {
		struct doca_sta_qp_handle *qps[NUM_HOSTS];
		enum dpa_sta_eu_state eu_state;
		enum dpa_sta_eu_type type;
		uint16_t id, port, n = 0;
		const char *name;

		assert_int_equal(doca_sta_get_eu_name(f->eus[i], &name), DOCA_SUCCESS);
		assert_string_equal(name, names[i]);
		assert_int_equal(doca_sta_get_eu_type(f->eus[i], &type), DOCA_SUCCESS);
		assert_int_equal(type, DOCA_STA_EU_COMP);
		assert_int_equal(doca_sta_get_eu_id(f->eus[i], &id), DOCA_SUCCESS);
		assert_int_equal(id, i);
		assert_int_equal(doca_sta_get_eu_port(f->eus[i], &port), DOCA_SUCCESS);
		assert_int_equal(port, 0);
		assert_int_equal(doca_sta_get_eu_state(f->eus[i], &eu_state), DOCA_SUCCESS);
		assert_int_equal(eu_state, DOCA_STA_EU_STATE_STARTED);
		assert_int_equal(doca_sta_get_eu_connect_qp_stats(f->eus[i], NULL, &n),
				 DOCA_SUCCESS);
		assert_int_equal(n, num_qps[i]);
		assert_int_equal(doca_sta_get_eu_connect_qp_stats(f->eus[i], qps, &n),
				 DOCA_SUCCESS);
		assert_int_equal(n, num_qps[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counters_add_up),
		TEST(reset),
		TEST(execution_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
