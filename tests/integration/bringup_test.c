/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bring-up and tear-down in the documented order, over and over in one process: nothing is left of
 * a round, whether a host came in it, stayed to its end, or none was there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "node.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1 /* memory is its runtime's, which maps more and more */
#else
#define IS_SANITIZED 0
#endif

/* Blocks that a thread keeps for itself would count as used; mallinfo2() shows one arena. */
#define TUNABLES "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"

#define NQN "nqn.2026-01.org.example:bringup"

enum {
	ROUNDS = IS_SANITIZED ? 100 : 1000,
	WARM_UP = ROUNDS / 10,
	NUM_IOS = 2,
	NUM_QUEUES = 2,
	BLOCKS = 256,
	NSID = 1,
	/* A round whose number is a multiple has a host. */
	EVERY = 4,
};

struct usage {
	unsigned int fds, threads, maps;
	size_t heap;
};

static unsigned int num_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static unsigned int num_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int n = 0;
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	(void)fclose(f);
	return n;
}

static struct usage usage_now(void)
{
	struct usage u = {.fds = num_entries("/proc/self/fd"),
			  .threads = num_entries("/proc/self/task")};
	struct mallinfo2 info;

	(void)malloc_trim(0);
	info = mallinfo2();
	u.maps = num_maps();
	u.heap = info.uordblks + info.hblkhd;
	return u;
}

static struct ini_queue *host_io(const struct node *node, unsigned int io)
{
	struct ini_params params = node_params(node, io, NQN);
	struct ini_rw rw = {.opcode = nvme_cmd_write,
			    .data = INI_DATA_KEYED,
			    .nsid = NSID,
			    .lba = 8 * io,
			    .blocks = 8,
			    .block_bytes = RAMDISK_BLOCK};
	uint8_t data[8 * RAMDISK_BLOCK];
	struct ini_error error = {0};
	struct ini_queue *queue;

	assert_ok(ini_open_connect(&queue, &params, NULL, &error));
	pattern_fill(data, sizeof(data), 0, io);
	assert_ok(ini_rw(queue, &rw, data, &error));
	memset(data, 0, sizeof(data));
	rw.opcode = nvme_cmd_read;
	assert_ok(ini_rw(queue, &rw, data, &error));
	assert_true(pattern_is(data, sizeof(data), 0, io));
	return queue;
}

static void one_round(unsigned int round)
{
	struct node_queue queues[NUM_QUEUES];
	struct ini_queue *host = NULL;
	struct doca_sta_subs_handle *subsys;
	struct doca_sta_ns_handle *ns;
	struct doca_sta_be_handle *be;
	struct ini_error error = {0};
	static struct node node;
	struct ramdisk disk;

	assert_int_equal(node_start(&node, NUM_IOS), 0);
	subsys = node_add_subsys(&node, NQN);
	be = node_add_backend(&node);
	assert_int_equal(ramdisk_init(&disk, BLOCKS), DOCA_SUCCESS);
	for (int i = 0; i < NUM_QUEUES; i++)
		node_add_queue(&node, be, &disk, &queues[i]);
	ns = node_add_ns(&node, subsys, NSID, be);
	if (round % EVERY == 0) {
		ini_close(host_io(&node, 0));
		host = host_io(&node, 1);
	}
	/* Every other host is there to the end. */
	if (host && round % (2 * EVERY)) {
		ini_close(host);
		host = NULL;
	}
	node_remove_ns(&node, subsys, ns);
	for (int i = 0; i < NUM_QUEUES; i++)
		node_remove_queue(&node, &queues[i]);
	node_remove_backend(&node, be);
	node_remove_subsys(&node, subsys);
	assert_int_equal(node_stop(&node), 0);
	if (host) {
		assert_ok(ini_wait_disconnect(host, NODE_PATIENCE_MS, &error));
		ini_close(host);
	}
	ramdisk_fini(&disk);
}

static void nothing_is_left_of_a_round(void **state)
{
	uint64_t start_ns = ini_now_ns(), ns, slowest_ns = 0;
	struct usage before = {0}, after;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ns = ini_now_ns();
		one_round(round);
		ns = ini_now_ns() - ns;
		if (ns > slowest_ns)
			slowest_ns = ns;
		if (round == WARM_UP)
			before = usage_now();
	}
	after = usage_now();
	print_message("%d rounds of %.1f ms, the slowest %.1f ms; %u fds, %u threads, "
		      "%u -> %u maps, heap %zu -> %zu\n",
		      ROUNDS, (double)(ini_now_ns() - start_ns) / 1e6 / ROUNDS,
		      (double)slowest_ns / 1e6, after.fds, after.threads, before.maps, after.maps,
		      before.heap, after.heap);
	assert_int_equal(after.fds, before.fds);
	assert_int_equal(after.threads, before.threads);
	if (IS_SANITIZED)
		return;
	assert_int_equal(after.maps, before.maps);
	assert_int_equal(after.heap, before.heap);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_of_a_round),
	};

	(void)argc;
	/* Read before main(). */
	if (!getenv("GLIBC_TUNABLES") && !setenv("GLIBC_TUNABLES", TUNABLES, 1))
		execv("/proc/self/exe", argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
