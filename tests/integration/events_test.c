/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each event of the API from what it is about: a host that is killed, one that offers keys which
 * are none, a back-end that nobody serves, capsules that are wrong, a disk that fails, an EU whose
 * fds somebody closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_sta_stats.h>
#include <infiniband/verbs.h>

#include "host.h"
#include "jump_clock.h"
#include "node.h"

#define NQN	 "nqn.2026-01.org.example:events"
#define HOST_ARG "--host"

enum {
	NSID = 5,
	BLOCKS = 64,
	BE_TIMEOUT_S = 30,
	MEDIA_ERROR = NVME_SCT_MEDIA << NVME_SCT_SHIFT | NVME_SC_READ_ERROR,
	DEADLINE_MS = 20000,
	MAX_EPOLLS = 32,
};

struct fixture {
	struct node node;
	struct ramdisk disk;
	struct doca_sta_be_handle *be;
	struct node_queue queue;
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns;
};

static struct fixture *start(bool is_served)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	assert_int_equal(node_start(&f.node, 2), 0);
	assert_int_equal(ramdisk_init(&f.disk, BLOCKS), DOCA_SUCCESS);
	f.be = node_add_backend(&f.node);
	node_add_queue(&f.node, f.be, is_served ? &f.disk : NULL, &f.queue);
	f.subsys = node_add_subsys(&f.node, NQN);
	f.ns = node_add_ns(&f.node, f.subsys, NSID, f.be);
	return &f;
}

static int setup(void **state)
{
	*state = start(true);
	return 0;
}

static int setup_null(void **state)
{
	*state = start(false);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	node_remove_ns(&f->node, f->subsys, f->ns);
	node_remove_queue(&f->node, &f->queue);
	node_remove_backend(&f->node, f->be);
	node_remove_subsys(&f->node, f->subsys);
	ramdisk_fini(&f->disk);
	return node_stop(&f->node);
}

static struct ini_queue *connect_host(struct fixture *f)
{
	struct ini_params params = node_params(&f->node, 1, NQN);
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	return queue;
}

static void submit(struct ini_queue *queue, struct ini_cmd *cmd)
{
	struct ini_error error = {0};

	cmd->tag = INI_TAG_ANY;
	assert_ok(ini_submit(queue, cmd, &error));
}

static struct ini_cmd read_cmd(void)
{
	return (struct ini_cmd){.sqe.opcode = nvme_cmd_read,
				.sqe.nsid = htole32(NSID),
				.data = INI_DATA_KEYED,
				.bytes = RAMDISK_BLOCK};
}

/* Progress until one of the counters of events has come to @want. */
static struct node_events await(struct fixture *f, size_t offset, unsigned int want)
{
	struct node_events events = node_events(&f->node);
	unsigned int num = 0;

	for (int ms = 0; ms < DEADLINE_MS; ms += 5) {
		memcpy(&num, (const char *)&events + offset, sizeof(num));
		if (num >= want)
			break;
		node_run(&f->node, 5);
		events = node_events(&f->node);
	}
	assert_int_equal(num, want);
	return events;
}

#define AWAIT(f, counter, want) await(f, offsetof(struct node_events, counter), want)

static void await_gone(struct fixture *f)
{
	for (int ms = 0; node_num_conns(&f->node) && ms < DEADLINE_MS; ms += 5)
		node_run(&f->node, 5);
	assert_int_equal(node_num_conns(&f->node), 0);
}

/* ---- transport errors ---- */

/* The host in a process of its own: it sends one command and never hears of it. */
static int host_main(const char *addr, const char *port, const char *opcode)
{
	struct ini_params params = {.addr = addr,
				    .port = (uint16_t)strtoul(port, NULL, 10),
				    .subnqn = NQN,
				    .qid = 1,
				    .cntlid = 1,
				    .entries = NODE_DEPTH};
	struct ini_cmd cmd = read_cmd();
	struct ini_error error = {0};
	struct ini_queue *queue;

	cmd.sqe.opcode = (uint8_t)strtoul(opcode, NULL, 10);
	if (ini_open_connect(&queue, &params, NULL, &error) || ini_submit(queue, &cmd, &error)) {
		fprintf(stderr, "host: %s: %s\n", error.step, error.text);
		return 1;
	}
	for (;;)
		(void)pause();
}

static pid_t start_host(const struct fixture *f, unsigned int opcode)
{
	char port[8], command[8];
	pid_t pid;

	(void)snprintf(port, sizeof(port), "%u", f->node.ios[0].port);
	(void)snprintf(command, sizeof(command), "%u", opcode);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "sta_events_test", HOST_ARG, f->node.addr, port, command,
		      (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static void a_killed_host(void **state)
{
	struct fixture *f = *state;
	struct node_events events;
	pid_t pid;

	atomic_store(&f->disk.is_held, true);
	pid = start_host(f, nvme_cmd_read);
	for (int ms = 0; !atomic_load(&f->queue.ring->num_fetched) && ms < DEADLINE_MS; ms++)
		(void)poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&f->queue.ring->num_fetched), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* The answer has nobody to go to. */
	atomic_store(&f->disk.is_held, false);
	events = AWAIT(f, num_transport_errors, 1);
	assert_int_equal(events.syndrome, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(events.operation, IBV_WC_RDMA_WRITE);
	await_gone(f);
	assert_int_equal(node_events(&f->node).num_transport_errors, 1);
}

/* The application answers a command when its host is no more: the task fails. */
static void an_answer_to_a_killed_host(void **state)
{
	struct fixture *f = *state;
	struct node_events events;
	pid_t pid = start_host(f, NODE_OPCODE_KEPT);

	for (int ms = 0; !atomic_load(&f->node.is_kept) && ms < DEADLINE_MS; ms++)
		(void)poll(NULL, 0, 1);
	assert_true(atomic_load(&f->node.is_kept));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	atomic_store(&f->node.is_kept, false);
	events = AWAIT(f, num_failed, 1);
	assert_int_equal(events.failure, DOCA_ERROR_IO_FAILED);
	AWAIT(f, num_transport_errors, 1);
	await_gone(f);
}

/* Memory that the host has not registered: the transfer fails, and the connection with it. */
static void check_foreign_key(struct fixture *f, uint8_t opcode, uint32_t operation)
{
	unsigned int num = node_events(&f->node).num_transport_errors;
	struct ini_queue *queue = connect_host(f);
	struct ini_cmd cmd = read_cmd();
	struct ini_error error = {0};
	struct node_events events;

	cmd.sqe.opcode = opcode;
	cmd.data = INI_DATA_RAW;
	ini_sgl_keyed(cmd.sqe.sgl, (uintptr_t)ini_data(queue, 0), RAMDISK_BLOCK, ~ini_rkey(queue),
		      false);
	submit(queue, &cmd);
	events = AWAIT(f, num_transport_errors, num + 1);
	assert_int_equal(events.operation, operation);
	assert_int_equal(events.syndrome, IBV_WC_REM_ACCESS_ERR);
	assert_ok(ini_wait_disconnect(queue, DEADLINE_MS, &error));
	ini_close(queue);
	await_gone(f);
}

static void foreign_keys(void **state)
{
	check_foreign_key(*state, nvme_cmd_write, IBV_WC_RDMA_READ);
	check_foreign_key(*state, nvme_cmd_read, IBV_WC_RDMA_WRITE);
}

static void a_short_capsule(void **state)
{
	struct fixture *f = *state;
	struct ini_queue *queue = connect_host(f);
	static const uint8_t capsule[63];
	struct ini_error error = {0};
	struct node_events events;

	assert_ok(ini_send_raw(queue, capsule, sizeof(capsule), &error));
	events = AWAIT(f, num_transport_errors, 1);
	assert_int_equal(events.operation, IBV_WC_RECV);
	assert_int_equal(events.syndrome, IBV_WC_LOC_LEN_ERR);
	assert_ok(ini_wait_disconnect(queue, DEADLINE_MS, &error));
	ini_close(queue);
	await_gone(f);
}

/* A host that goes as it should is no error. */
static void a_polite_host(void **state)
{
	struct fixture *f = *state;

	ini_close(connect_host(f));
	await_gone(f);
	assert_int_equal(node_events(&f->node).num_transport_errors, 0);
}

/* ---- a back-end that does not answer ---- */

static uint64_t num_commands(const struct fixture *f)
{
	const struct doca_sta_eu_ctr_entry *entries;
	uint16_t n;

	assert_int_equal(doca_sta_get_be_queue_stats(f->be, f->queue.handle, &entries, &n),
			 DOCA_SUCCESS);
	for (uint16_t i = 0; i < n; i++) {
		if (!strcmp(entries[i].name, "commands"))
			return __atomic_load_n(entries[i].val, __ATOMIC_RELAXED);
	}
	return 0;
}

static void a_null_back_end(void **state)
{
	struct fixture *f = *state;
	struct ini_queue *queue = connect_host(f);
	struct ini_cmd cmd = read_cmd();
	struct ini_error error = {0};
	struct node_events events;
	struct ini_done done;

	submit(queue, &cmd);
	for (int ms = 0; !num_commands(f); ms++) {
		assert_true(ms < DEADLINE_MS);
		(void)poll(NULL, 0, 1);
	}
	node_run(&f->node, 50);
	assert_int_equal(node_events(&f->node).num_timeouts, 0);
	assert_int_equal(ini_poll(queue, &done, 1, &error), 0);
	jump_clock(BE_TIMEOUT_S + 1);
	events = AWAIT(f, num_timeouts, 1);
	assert_ptr_equal(events.be, f->be);
	assert_ptr_equal(events.beq, f->queue.handle);
	/* The host has its answer; the queue is removed without the back-end's. */
	assert_int_equal(ini_wait(queue, &done, 1, DEADLINE_MS, &error), 1);
	assert_int_equal(le16toh(done.cqe.status) >> 1, NVME_SC_INTERNAL);
	ini_close(queue);
}

/* ---- completions ---- */

static void check_cqe(const struct node_events *e, const struct fixture *f,
		      enum doca_sta_cqe_notify_type type, const struct ini_cmd *cmd,
		      uint16_t status)
{
	assert_int_equal(e->type, type);
	assert_int_equal(le16toh(e->cqe.status) >> 1, status);
	assert_int_equal(le16toh(e->cqe.cid), cmd->tag);
	assert_int_equal(le16toh(e->cqe.sqid), 1);
	assert_ptr_equal(e->subsys, f->subsys);
	assert_int_equal(e->opcode, cmd->sqe.opcode);
	assert_int_equal(e->cid, cmd->tag);
	assert_int_equal(e->nsid, le32toh(cmd->sqe.nsid));
	assert_int_equal(e->lba, le32toh(cmd->sqe.cdw10));
}

/* What the host is answered is what the event says. */
static struct node_events fail_command(struct fixture *f, struct ini_queue *queue,
				       struct ini_cmd *cmd, unsigned int num, uint16_t status)
{
	struct ini_error error = {0};
	struct ini_done done;

	submit(queue, cmd);
	assert_int_equal(ini_wait(queue, &done, 1, DEADLINE_MS, &error), 1);
	assert_int_equal(le16toh(done.cqe.status) >> 1, status);
	return AWAIT(f, num_cqes, num);
}

static void invalid_capsules(void **state)
{
	struct fixture *f = *state;
	struct ini_queue *queue = connect_host(f);
	struct ini_cmd cmd = read_cmd();
	struct node_events events;

	/* No such namespace. */
	cmd.sqe.nsid = htole32(NSID + 1);
	cmd.sqe.cdw10 = htole32(7);
	events = fail_command(f, queue, &cmd, 1, GENERIC(NVME_SC_INVALID_NS));
	check_cqe(&events, f, DOCA_STA_CQE_NOTIF_NVME_OF_VALIDATION_ERR, &cmd,
		  GENERIC(NVME_SC_INVALID_NS));
	assert_int_equal(events.err_byte, offsetof(struct ini_sqe, nsid));
	/* A descriptor of a type that there is not. */
	cmd = read_cmd();
	cmd.data = INI_DATA_RAW;
	memset(&cmd.sqe.sgl, 0xff, sizeof(cmd.sqe.sgl));
	events = fail_command(f, queue, &cmd, 2, GENERIC(NVME_SC_SGL_INVALID_TYPE));
	check_cqe(&events, f, DOCA_STA_CQE_NOTIF_NVME_OF_VALIDATION_ERR, &cmd,
		  GENERIC(NVME_SC_SGL_INVALID_TYPE));
	assert_in_range(events.err_byte, offsetof(struct ini_sqe, sgl),
			offsetof(struct ini_sqe, sgl) + 15);
	/* The connection is as good as before. */
	cmd = read_cmd();
	events = fail_command(f, queue, &cmd, 2, NVME_SC_SUCCESS);
	ini_close(queue);
}

static void a_failing_disk(void **state)
{
	struct fixture *f = *state;
	struct ini_queue *queue = connect_host(f);
	struct ini_cmd cmd = read_cmd();
	struct node_events events;

	atomic_store(&f->disk.failure, MEDIA_ERROR);
	cmd.sqe.cdw10 = htole32(9);
	events = fail_command(f, queue, &cmd, 1, MEDIA_ERROR);
	check_cqe(&events, f, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR, &cmd, MEDIA_ERROR);
	atomic_store(&f->disk.failure, 0);
	/* Past its end. */
	cmd.sqe.cdw10 = htole32(BLOCKS);
	events = fail_command(f, queue, &cmd, 2, GENERIC(NVME_SC_LBA_RANGE));
	check_cqe(&events, f, DOCA_STA_CQE_NOTIF_NVME_COMP_ERR, &cmd, GENERIC(NVME_SC_LBA_RANGE));
	ini_close(queue);
}

/* ---- an EU ---- */

static bool is_epoll(int fd)
{
	char path[32], target[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return strcmp(target, "anon_inode:[eventpoll]") == 0;
}

/* The fds of the EUs are the epoll fds that the IO threads do not have, nor anybody before. */
static int find_epolls(const struct node *node, const bool *before, int fds[MAX_EPOLLS])
{
	int num = 0;

	for (int fd = 0; fd < 1024 && num < MAX_EPOLLS; fd++) {
		bool is_io = false;

		for (unsigned int i = 0; node && i < node->num_ios; i++)
			is_io |= node->ios[i].epoll_fd == fd;
		if (!is_io && is_epoll(fd) && !(before && before[fd]))
			fds[num++] = fd;
	}
	return num;
}

static void an_eu_without_fds(void **state)
{
	static bool before[1024];
	int fds[MAX_EPOLLS], num, other = eventfd(0, EFD_CLOEXEC);
	struct doca_sta_eu_handle *eus[16];
	struct node_events events;
	struct ini_queue *queue;
	struct fixture *f;
	uint32_t num_eus = 16;

	num = find_epolls(NULL, NULL, fds);
	for (int i = 0; i < num; i++)
		before[fds[i]] = true;
	f = start(true);
	*state = f;
	queue = connect_host(f);
	assert_int_equal(doca_sta_get_eu_handle(f->node.sta, eus, &num_eus), DOCA_SUCCESS);
	num = find_epolls(&f->node, before, fds);
	assert_int_equal(num, num_eus);
	/* As by a program that closes what is not its own, and opens something else. */
	for (int i = 0; i < num; i++)
		assert_int_equal(dup2(other, fds[i]), fds[i]);
	/* Awake, they find out when they want to sleep again. */
	assert_int_equal(doca_sta_eu_reset_stats_type(f->node.sta, DOCA_STA_EU_MAX), DOCA_SUCCESS);
	events = AWAIT(f, num_eu_errors, num_eus);
	assert_false(events.is_fatal);
	assert_int_equal(events.eus_seen, (1u << num_eus) - 1);
	/* Hosts do not notice. */
	for (int i = 0; i < 20; i++) {
		struct ini_cmd cmd = read_cmd();

		events = fail_command(f, queue, &cmd, 0, NVME_SC_SUCCESS);
		node_run(&f->node, 1);
	}
	ini_close(queue);
	ini_close(connect_host(f));
	assert_int_equal(node_events(&f->node).num_eu_errors, num_eus);
	close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_killed_host),
		TEST(an_answer_to_a_killed_host),
		TEST(foreign_keys),
		TEST(a_short_capsule),
		TEST(a_polite_host),
		cmocka_unit_test_setup_teardown(a_null_back_end, setup_null, teardown),
		TEST(invalid_capsules),
		TEST(a_failing_disk),
		cmocka_unit_test_teardown(an_eu_without_fds, teardown),
	};

	if (argc == 5 && !strcmp(argv[1], HOST_ARG))
		return host_main(argv[2], argv[3], argv[4]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
