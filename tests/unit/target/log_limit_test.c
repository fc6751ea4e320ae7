/* SPDX-License-Identifier: Apache-2.0 */
/* However many hosts are refused, the log stays short, and says how many there were. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/log.h"
#include "target/queue.h"

static char said[8192];

/* What goes to standard error from here to hear(). */
static int listen_to_log(int *old)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_true(fd >= 0);
	fflush(stderr);
	*old = dup(STDERR_FILENO);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	tgt_log_silence(false);
	return fd;
}

/* Into said[]; the number of lines. */
static unsigned int hear(int fd, int old)
{
	unsigned int lines = 0;
	ssize_t n;

	tgt_log_silence(true);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	n = pread(fd, said, sizeof(said) - 1, 0);
	close(fd);
	assert_true(n >= 0);
	said[n] = '\0';
	for (const char *p = said; (p = strchr(p, '\n')); p++)
		lines++;
	return lines;
}

static void refuse(struct fake *f, unsigned int times)
{
	uint8_t data[1024];
	struct tgt_req req;

	for (unsigned int i = 0; i < times; i++) {
		fake_connect_req(&req, &f->admin, data, "nqn.2024-01.test:none", 0xffff, 31);
		assert_int_not_equal(fake_exec(&req), 0);
	}
}

static void many_make_few_lines(void **state)
{
	struct fake f;
	int fd, old;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	fd = listen_to_log(&old);
	refuse(&f, 1000);
	assert_int_equal(hear(fd, old), TGT_LOG_LIMIT_LINES);
	assert_non_null(strstr(said, "asks for a subsystem nqn.2024-01.test:none that is not"));

	/* The number is told when the time is over, without another refusal. */
	assert_int_equal(tgt_log_limit_deadline(&f.tgt), f.tgt.now_ms + TGT_LOG_LIMIT_MS);
	assert_true(tgt_next_deadline(&f.tgt) <= tgt_log_limit_deadline(&f.tgt));
	f.tgt.now_ms += TGT_LOG_LIMIT_MS - 1;
	fd = listen_to_log(&old);
	tgt_log_limit_tick(&f.tgt);
	assert_int_equal(hear(fd, old), 0);
	f.tgt.now_ms++;
	fd = listen_to_log(&old);
	tgt_log_limit_tick(&f.tgt);
	tgt_log_limit_tick(&f.tgt);
	assert_int_equal(hear(fd, old), 1);
	assert_string_equal(said, "softsta-tgt: 990 more refused in 10 seconds\n");
	assert_int_equal(tgt_log_limit_deadline(&f.tgt), UINT64_MAX);
	fake_queue_end(&f.admin);
	fake_fini(&f);
}

/* Then they are shown again; and what was seldom is shown always. */
static void after_a_while_again(void **state)
{
	struct fake f;
	int fd, old;

	(void)state;
	fake_init(&f);
	fake_queue_init(&f, &f.admin, 0);
	fd = listen_to_log(&old);
	refuse(&f, TGT_LOG_LIMIT_LINES + 1);
	f.tgt.now_ms += TGT_LOG_LIMIT_MS;
	refuse(&f, 1);
	assert_int_equal(hear(fd, old), TGT_LOG_LIMIT_LINES + 2);
	assert_non_null(strstr(said, "softsta-tgt: 1 more refused in"));
	fd = listen_to_log(&old);
	for (int i = 0; i < 3 * TGT_LOG_LIMIT_LINES; i++) {
		f.tgt.now_ms += TGT_LOG_LIMIT_MS;
		refuse(&f, 1);
	}
	assert_int_equal(hear(fd, old), 3 * TGT_LOG_LIMIT_LINES);
	assert_null(strstr(said, "more refused"));
	fake_queue_end(&f.admin);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_make_few_lines),
		cmocka_unit_test(after_a_while_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
