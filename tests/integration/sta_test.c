/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdoca_sta as a storage target of one's own uses it (sta_server.c), against a host in another
 * process: offloaded and other commands, removal of the namespace under load, connections that end
 * with commands in flight. The server's end state is part of each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "host.h"
#include "sta_server.h"

#define SERVER_ARG "--server"

enum {
	/* Descriptors of the server; the second is above all that pipes here get. */
	SERVER_IN = STDIN_FILENO,
	SERVER_OUT = 100,
	ENTRIES = 32,
	SLOT_BYTES = 256 * 1024,
	DEADLINE_MS = 20000,
};

struct server_proc {
	pid_t pid;
	int to, from;
	struct server_address where;
};

static int start_server(void **state)
{
	struct server_proc *p = calloc(1, sizeof(*p));
	int to[2], from[2];

	if (!p || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return -1;
	p->pid = fork();
	if (p->pid == 0) {
		/* A program anew: the devices that this one has open are not for two. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(to[0], SERVER_IN) == SERVER_IN && dup2(from[1], SERVER_OUT) == SERVER_OUT)
			execl("/proc/self/exe", "sta_test", SERVER_ARG, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	*state = p;
	return read(p->from, &p->where, sizeof(p->where)) == sizeof(p->where) ? 0 : -1;
}

static void tell(struct server_proc *p, uint8_t command)
{
	assert_int_equal(write(p->to, &command, 1), 1);
}

static uint8_t hear(struct server_proc *p)
{
	struct pollfd fd = {.fd = p->from, .events = POLLIN};
	uint8_t reply;

	assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
	assert_int_equal(read(p->from, &reply, 1), 1);
	return reply;
}

static uint8_t ask(struct server_proc *p, uint8_t command)
{
	tell(p, command);
	return hear(p);
}

/* Asks until the answer is @want. */
static void ask_until(struct server_proc *p, uint8_t command, uint8_t want)
{
	uint8_t got;

	for (int ms = 0; (got = ask(p, command)) != want; ms += 5) {
		if (ms > DEADLINE_MS)
			fail_msg("%c: %u, wanted %u", command, got, want);
		(void)poll(NULL, 0, 5);
	}
}

/* The server lets go of everything, and nothing is leaked when a sanitizer looks. */
static int stop_server(void **state)
{
	struct server_proc *p = *state;
	uint8_t command = SERVER_QUIT;
	int status = -1;

	if (write(p->to, &command, 1) == 1)
		(void)waitpid(p->pid, &status, 0);
	close(p->to);
	close(p->from);
	free(p);
	return status;
}

static struct ini_params params_of(const struct server_proc *p)
{
	return (struct ini_params){.addr = p->where.addr,
				   .port = p->where.port,
				   .subnqn = SERVER_NQN,
				   .qid = 1,
				   .cntlid = 1,
				   .entries = ENTRIES,
				   .slot_bytes = SLOT_BYTES};
}

static struct ini_queue *connect_host(const struct server_proc *p)
{
	struct ini_params params = params_of(p);
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	return queue;
}

static struct ini_rw rw_of(uint8_t opcode, enum ini_data data, uint32_t lba, uint32_t blocks)
{
	return (struct ini_rw){.opcode = opcode,
			       .data = data,
			       .nsid = SERVER_NSID,
			       .lba = lba,
			       .blocks = blocks,
			       .block_bytes = SERVER_BLOCK};
}

/* ---- commands ---- */

static void write_and_read(struct ini_queue *queue, enum ini_data how, uint32_t blocks,
			   uint32_t seed)
{
	struct ini_rw rw = rw_of(nvme_cmd_write, how, seed * 8, blocks);
	size_t bytes = (size_t)blocks * SERVER_BLOCK;
	uint8_t *data = malloc(bytes);
	struct ini_error error = {0};

	assert_non_null(data);
	pattern_fill(data, bytes, 0, seed);
	assert_ok(ini_rw(queue, &rw, data, &error));
	memset(data, 0, bytes);
	rw.opcode = nvme_cmd_read;
	rw.data = INI_DATA_KEYED_INV;
	assert_ok(ini_rw(queue, &rw, data, &error));
	assert_true(pattern_is(data, bytes, 0, seed));
	free(data);
}

static void offloaded(void **state)
{
	static const uint32_t blocks[] = {1, 8, 9, 16, 17, 256, 512};
	struct ini_queue *queue = connect_host(*state);
	struct ini_error error = {0};
	struct ini_rw rw;

	for (uint32_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (blocks[i] <= 8)
			write_and_read(queue, INI_DATA_INCAPSULE, blocks[i], i + 1);
		write_and_read(queue, INI_DATA_KEYED, blocks[i], i + 2);
		write_and_read(queue, INI_DATA_KEYED_INV, blocks[i], i + 3);
	}
	assert_ok(ini_flush(queue, SERVER_NSID, &error));
	rw = rw_of(nvme_cmd_read, INI_DATA_KEYED_INV, SERVER_BLOCKS, 1);
	assert_status(ini_rw(queue, &rw, (uint8_t[SERVER_BLOCK]){0}, &error),
		      GENERIC(NVME_SC_LBA_RANGE));
	rw.nsid = SERVER_NSID + 1;
	assert_status(ini_rw(queue, &rw, (uint8_t[SERVER_BLOCK]){0}, &error),
		      GENERIC(NVME_SC_INVALID_NS));
	ini_close(queue);
	ask_until(*state, SERVER_COUNT, 0);
}

static void not_offloaded(void **state)
{
	struct ini_queue *queue = connect_host(*state);
	struct ini_cmd cmd = {.sqe.opcode = SERVER_OP_SUM, .data = INI_DATA_KEYED_INV};
	struct ini_error error = {0};
	struct ini_done done;
	uint8_t *data;

	for (cmd.bytes = 4; cmd.bytes <= SLOT_BYTES; cmd.bytes *= 4) {
		uint32_t sum = 0;

		data = ini_data(queue, 0);
		cmd.sqe.opcode = SERVER_OP_SUM;
		for (uint32_t i = 0; i < cmd.bytes; i++)
			sum += data[i] = (uint8_t)(i * 7 + 1);
		assert_ok(ini_exec(queue, &cmd, &done, &error));
		assert_int_equal(le32toh(done.cqe.dw0), sum);
		assert_true(done.has_invalidated);
		assert_int_equal(done.invalidated_rkey, done.expected_rkey);
		memset(data, 0xff, cmd.bytes);
		cmd.sqe.opcode = SERVER_OP_COUNT;
		assert_ok(ini_exec(queue, &cmd, &done, &error));
		for (uint32_t i = 0; i < cmd.bytes; i++)
			assert_int_equal(data[i], (uint8_t)i);
	}
	cmd = (struct ini_cmd){.sqe.opcode = 0xc0};
	assert_status(ini_exec(queue, &cmd, &done, &error), GENERIC(NVME_SC_INVALID_OPCODE));
	assert_false(done.has_invalidated);
	ini_close(queue);
	ask_until(*state, SERVER_COUNT, 0);
}

/* ---- with commands in flight ---- */

static void submit_read(struct ini_queue *queue)
{
	struct ini_cmd cmd = {.sqe.opcode = nvme_cmd_read,
			      .sqe.nsid = htole32(SERVER_NSID),
			      .tag = INI_TAG_ANY,
			      .data = INI_DATA_KEYED,
			      .bytes = SERVER_BLOCK};
	struct ini_error error = {0};

	assert_ok(ini_submit(queue, &cmd, &error));
}

static void submit_write(struct ini_queue *queue, enum ini_data how)
{
	struct ini_cmd cmd = {.sqe.opcode = nvme_cmd_write,
			      .sqe.nsid = htole32(SERVER_NSID),
			      .tag = INI_TAG_ANY,
			      .data = how,
			      .bytes = SERVER_BLOCK};
	struct ini_error error = {0};

	assert_ok(ini_submit(queue, &cmd, &error));
}

/* Takes what is done; counts success, and the one error that may be. */
static void take(struct ini_queue *queue, unsigned int *good, unsigned int *refused)
{
	struct ini_done done[ENTRIES];
	struct ini_error error = {0};
	int n = ini_wait(queue, done, ENTRIES, DEADLINE_MS, &error);

	if (n < 0)
		fail_msg("%s: %s", error.step, error.text);
	for (int i = 0; i < n; i++) {
		uint16_t status = le16toh(done[i].cqe.status) >> 1;

		if (status == NVME_SC_SUCCESS)
			++*good;
		else if (status == GENERIC(NVME_SC_INVALID_NS))
			++*refused;
		else
			fail_msg("status 0x%x", status);
	}
}

static void remove_namespace_under_load(void **state)
{
	struct ini_queue *a = connect_host(*state), *b = connect_host(*state);
	unsigned int good = 0, refused = 0;

	for (int round = 0; round < 5; round++) {
		bool is_told = false;

		good = refused = 0;
		while (refused < 100) {
			while (ini_outstanding(a) < ENTRIES / 2)
				submit_read(a);
			while (ini_outstanding(b) < ENTRIES / 2)
				submit_read(b);
			take(a, &good, &refused);
			take(b, &good, &refused);
			if (good > 100 && !is_told) {
				is_told = true;
				tell(*state, SERVER_REMOVE_NS);
			}
			assert_true(is_told || !refused);
		}
		assert_int_equal(hear(*state), SERVER_REMOVE_NS);
		while (ini_outstanding(a))
			take(a, &good, &refused);
		while (ini_outstanding(b))
			take(b, &good, &refused);
		/* Gone for good, and no trace of it when it comes back. */
		good = refused = 0;
		submit_read(a);
		take(a, &good, &refused);
		assert_int_equal(refused, 1);
		assert_int_equal(ask(*state, SERVER_ADD_NS), SERVER_ADD_NS);
		submit_read(b);
		take(b, &good, &refused);
		assert_int_equal(good, 1);
	}
	ini_close(a);
	ini_close(b);
	ask_until(*state, SERVER_COUNT, 0);
}

/* The namespace leaves only when the disk has given back what it holds. */
static void removal_waits_for_the_disk(void **state)
{
	struct ini_queue *queue = connect_host(*state);
	struct server_proc *p = *state;
	struct pollfd fd = {.fd = p->from, .events = POLLIN};
	unsigned int good = 0, refused = 0;

	ask(p, SERVER_HOLD);
	for (int i = 0; i < 4; i++)
		submit_read(queue);
	ask_until(p, SERVER_FETCHED, 4);
	tell(p, SERVER_REMOVE_NS);
	assert_int_equal(poll(&fd, 1, 100), 0);
	assert_int_equal(ini_outstanding(queue), 4);
	tell(p, SERVER_RELEASE);
	/* Two answers in whichever order: the removal's, and the release's. */
	assert_int_equal(hear(p) + hear(p), SERVER_RELEASE + SERVER_REMOVE_NS);
	while (ini_outstanding(queue))
		take(queue, &good, &refused);
	assert_int_equal(good, 4);
	assert_int_equal(ask(p, SERVER_ADD_NS), SERVER_ADD_NS);
	ini_close(queue);
	ask_until(p, SERVER_COUNT, 0);
}

static void load(struct ini_queue *queue)
{
	for (int i = 0; i < 8; i++) {
		submit_read(queue);
		submit_write(queue, INI_DATA_INCAPSULE);
		submit_write(queue, INI_DATA_KEYED);
	}
}

/* The host goes, politely or not, while the disk holds its commands. */
static void disconnect_in_flight(void **state)
{
	struct server_proc *p = *state;

	for (int round = 0; round < 4; round++) {
		struct ini_queue *queue = connect_host(p);

		ask(p, SERVER_HOLD);
		load(queue);
		ask_until(p, SERVER_FETCHED, 24);
		if (round % 2)
			ini_abandon(queue);
		else
			ini_close(queue);
		(void)poll(NULL, 0, 50);
		/* Their memory is the disk's: the connection waits for it. */
		assert_int_equal(ask(p, SERVER_COUNT), 1);
		ask(p, SERVER_RELEASE);
		ask_until(p, SERVER_COUNT, 0);
	}
	/* The next host is served. */
	offloaded(state);
}

static void disconnect_under_load(void **state)
{
	struct server_proc *p = *state;

	for (int round = 0; round < 20; round++) {
		struct ini_queue *a = connect_host(p), *b = connect_host(p);

		load(a);
		load(b);
		if (round % 2)
			ini_abandon(a);
		else
			ini_close(a);
		ini_close(b);
	}
	ask_until(p, SERVER_COUNT, 0);
}

/* The end of the server ends connections with commands in flight. */
static void quit_in_flight(void **state)
{
	struct ini_queue *queue = connect_host(*state);
	struct ini_error error = {0};
	int status = -1;

	load(queue);
	status = stop_server(state);
	assert_int_equal(status, 0);
	assert_ok(ini_wait_disconnect(queue, DEADLINE_MS, &error));
	ini_close(queue);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_server, stop_server)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(offloaded),
		TEST(not_offloaded),
		TEST(remove_namespace_under_load),
		TEST(removal_waits_for_the_disk),
		TEST(disconnect_in_flight),
		TEST(disconnect_under_load),
		cmocka_unit_test_setup(quit_in_flight, start_server),
	};

	if (argc == 2 && !strcmp(argv[1], SERVER_ARG))
		return server_main(SERVER_IN, SERVER_OUT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
