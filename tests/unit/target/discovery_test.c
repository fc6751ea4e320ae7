/* SPDX-License-Identifier: Apache-2.0 */
/* The discovery log: any number of records in any pieces, who sees what, GENCTR, events. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

static struct tgt_subsys *add_subsys(struct fake *f, const char *nqn)
{
	struct tgt_subsys *subsys = tgt_add_subsys(&f->tgt, nqn, 1);

	assert_non_null(subsys);
	assert_int_equal(tgt_subsys_add_port(&f->tgt, subsys, f->port), 0);
	subsys->allow_any_host = true;
	return subsys;
}

static struct tgt_port *add_port(struct fake *f, const char *text)
{
	union tgt_sockaddr addr;
	struct tgt_port *port;

	assert_int_equal(tgt_addr_parse(text, 4420, &addr, NULL), 0);
	port = tgt_add_port(&f->tgt, &addr);
	assert_non_null(port);
	port->is_bound = true;
	return port;
}

static tgt_status_t get_log(struct fake *f, uint64_t offset, uint8_t *out, uint32_t bytes)
{
	struct tgt_req req;

	fake_req(&req, &f->admin, nvme_admin_get_log_page, out, bytes);
	req.cmd.cdw10 = NVME_LOG_LID_DISCOVER | (bytes / 4 - 1) << 16;
	req.cmd.cdw11 = (bytes / 4 - 1) >> 16;
	req.cmd.cdw12 = (uint32_t)offset;
	req.cmd.cdw13 = (uint32_t)(offset >> 32);
	return fake_exec(&req);
}

/* The whole log in one piece; the caller frees it. */
static struct nvmf_discovery_log *whole_log(struct fake *f)
{
	uint8_t header[1024];
	uint64_t n;
	uint8_t *log;

	assert_int_equal(get_log(f, 0, header, sizeof(header)), 0);
	n = util_get_le64(header + 8);
	log = malloc(1024 + n * 1024);
	assert_non_null(log);
	assert_int_equal(get_log(f, 0, log, (uint32_t)(1024 + n * 1024)), 0);
	return (struct nvmf_discovery_log *)log;
}

static void one_record(void **state)
{
	const struct nvmf_disc_log_entry *e;
	struct nvmf_discovery_log *log;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 2);
	assert_int_equal(log->recfmt, 0);
	e = &log->entries[0]; /* the discovery subsystem itself (U49) */
	assert_int_equal(e->subtype, NVME_NQN_CURR);
	assert_string_equal(e->subnqn, NVME_DISC_SUBSYS_NAME);
	e = &log->entries[1];
	assert_int_equal(e->trtype, NVMF_TRTYPE_RDMA);
	assert_int_equal(e->adrfam, NVMF_ADDR_FAMILY_IP4);
	assert_int_equal(e->subtype, NVME_NQN_NVME);
	assert_int_equal(le16toh(e->portid), 1);
	assert_int_equal(le16toh(e->cntlid), 0xffff);
	assert_int_equal(le16toh(e->asqsz), 32);
	assert_string_equal(e->trsvcid, "4420");
	assert_string_equal(e->traddr, "10.0.0.1");
	assert_string_equal(e->subnqn, FAKE_NQN);
	assert_int_equal(e->tsas.rdma.qptype, NVMF_RDMA_QPTYPE_CONNECTED);
	assert_int_equal(e->tsas.rdma.prtype, NVMF_RDMA_PRTYPE_ROCEV2);
	assert_int_equal(e->tsas.rdma.cms, NVMF_RDMA_CMS_RDMA_CM);
	free(log);
	fake_fini(&f);
}

/* Pieces of @step bytes give the same as one read (U45). */
static void check_pieces(struct fake *f, const uint8_t *whole, size_t bytes, uint32_t step)
{
	uint8_t piece[4096];
	size_t at, n;

	for (at = 0; at < bytes; at += step) {
		assert_int_equal(get_log(f, at, piece, step), 0);
		n = bytes - at < step ? bytes - at : step;
		assert_memory_equal(piece, whole + at, n);
	}
}

static void check_records(size_t n_ports, size_t n_subsystems)
{
	struct nvmf_discovery_log *log;
	size_t bytes, i;
	struct fake f;
	char text[64];

	fake_init(&f);
	f.subsys->n_hosts = 0; /* not visible: the others are counted */
	for (i = 0; i < n_subsystems; i++) {
		snprintf(text, sizeof(text), "nqn.2024-01.test:many-%zu", i);
		add_subsys(&f, text);
	}
	for (i = 1; i < n_ports; i++) {
		size_t s;

		snprintf(text, sizeof(text), "10.0.1.%zu", i);
		f.port = add_port(&f, text);
		for (s = 2; s < f.tgt.n_subsystems; s++)
			assert_int_equal(tgt_subsys_add_port(&f.tgt, f.tgt.subsystems[s], f.port),
					 0);
	}
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 1 + n_ports * n_subsystems);
	for (i = 0; i < n_ports * n_subsystems; i++) {
		snprintf(text, sizeof(text), "nqn.2024-01.test:many-%zu", i / n_ports);
		assert_string_equal(log->entries[1 + i].subnqn, text);
		assert_int_equal(le16toh(log->entries[1 + i].portid), 1 + i % n_ports);
	}
	bytes = 1024 * (2 + n_ports * n_subsystems);
	check_pieces(&f, (uint8_t *)log, bytes, 16);
	check_pieces(&f, (uint8_t *)log, bytes, 1024);
	check_pieces(&f, (uint8_t *)log, bytes, 4096);
	check_pieces(&f, (uint8_t *)log, bytes, 1020);
	assert_int_equal(get_log(&f, bytes, (uint8_t *)log, 16), 0);
	assert_int_equal(get_log(&f, bytes + 4, (uint8_t *)log, 16),
			 TGT_SC_DNR(GENERIC, INVALID_FIELD));
	free(log);
	fake_fini(&f);
}

static void many_records(void **state)
{
	(void)state;
	check_records(1, 1);
	check_records(1, 3);
	check_records(2, 2);
	check_records(5, 1);
	check_records(3, 4);
	check_records(5, 60);
}

/* A wildcard listener shows the address that the host came in on (U46). */
static void wildcard(void **state)
{
	struct nvmf_discovery_log *log;
	struct fake f;

	(void)state;
	fake_init(&f);
	f.subsys->n_ports = 0;
	f.port = add_port(&f, "0.0.0.0");
	assert_int_equal(tgt_subsys_add_port(&f.tgt, f.subsys, f.port), 0);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 2);
	assert_string_equal(log->entries[0].traddr, "10.0.0.99");
	assert_string_equal(log->entries[1].traddr, "10.0.0.99");
	free(log);
	fake_queue_end(&f.admin);
	f.port = add_port(&f, "[::]:4421");
	assert_int_equal(tgt_subsys_add_port(&f.tgt, f.subsys, f.port), 0);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	snprintf(f.admin.queue.local_addr, sizeof(f.admin.queue.local_addr), "%s", "fe80::1%eth0");
	log = whole_log(&f);
	assert_int_equal(log->entries[0].adrfam, NVMF_ADDR_FAMILY_IP6);
	assert_string_equal(log->entries[0].traddr, "fe80::1%eth0");
	assert_string_equal(log->entries[0].trsvcid, "4421");
	free(log);
	fake_fini(&f);
}

static void who_sees_what(void **state)
{
	struct nvmf_discovery_log *log;
	struct tgt_subsys *other;
	struct fake f;

	(void)state;
	fake_init(&f);
	other = add_subsys(&f, "nqn.2024-01.test:other");
	other->allow_any_host = false;
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 2); /* not the other one */
	free(log);
	assert_int_equal(tgt_subsys_add_host(&f.tgt, other, FAKE_HOST), 0);
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 3);
	free(log);
	f.port->is_bound = false; /* its address is not there */
	log = whole_log(&f);
	assert_int_equal(le64toh(log->numrec), 1);
	free(log);
	fake_fini(&f);
}

static void generation_and_event(void **state)
{
	struct nvmf_discovery_log *log;
	struct tgt_req aer;
	struct fake f;
	uint64_t gen;
	int before;

	(void)state;
	fake_init(&f);
	fake_connect(&f, NVME_DISC_SUBSYS_NAME);
	f.admin.queue.ctrlr->event_config = (uint32_t)NVME_CTRL_OAES_DL;
	log = whole_log(&f);
	gen = le64toh(log->genctr);
	free(log);
	log = whole_log(&f);
	assert_true(le64toh(log->genctr) == gen);
	free(log);
	fake_req(&aer, &f.admin, nvme_admin_async_event, NULL, 0);
	tgt_exec(&aer);
	before = f.admin.responses;
	add_subsys(&f, "nqn.2024-01.test:new");
	assert_int_equal(f.admin.responses, before + 1);
	assert_int_equal(fake_result(&f.admin), 0x70f002);
	log = whole_log(&f);
	assert_true(le64toh(log->genctr) > gen);
	assert_int_equal(le64toh(log->numrec), 3);
	free(log);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_record),
		cmocka_unit_test(many_records),
		cmocka_unit_test(wildcard),
		cmocka_unit_test(who_sees_what),
		cmocka_unit_test(generation_and_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
