/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softsta-tgt as a child process. See tgt.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tgt.h"

#define LISTENING "listening on "

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void sleep_ms(int ms)
{
	const struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

/* ---- directory ---- */

static int make_disk(const struct tgtproc *tgt, uint64_t bytes)
{
	int fd = open(tgt->disk, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes))
		rc = -errno;
	close(fd);
	return rc;
}

int tgtproc_init(struct tgtproc *tgt, uint64_t disk_bytes)
{
	const char *tmp = getenv("TMPDIR");

	memset(tgt, 0, sizeof(*tgt));
	/* Room for the names below. */
	if (snprintf(tgt->dir, sizeof(tgt->dir) - 16, "%s/softsta-test.XXXXXX",
		     tmp ? tmp : "/tmp") >= (int)sizeof(tgt->dir) - 16)
		return -ENAMETOOLONG;
	if (!mkdtemp(tgt->dir))
		return -errno;
	(void)stpcpy(stpcpy(tgt->disk, tgt->dir), "/disk.img");
	(void)stpcpy(stpcpy(tgt->log_path, tgt->dir), "/log");
	(void)stpcpy(stpcpy(tgt->rpc_path, tgt->dir), "/rpc.sock");
	return disk_bytes ? make_disk(tgt, disk_bytes) : 0;
}

void tgtproc_fini(struct tgtproc *tgt)
{
	struct dirent *entry;
	DIR *dir;

	if (tgt->pid)
		(void)tgtproc_stop(tgt, SIGKILL, TGTPROC_STOP_MS);
	dir = tgt->dir[0] ? opendir(tgt->dir) : NULL;
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	(void)rmdir(tgt->dir);
	tgt->dir[0] = '\0';
}

/* ---- process ---- */

static bool names_a_socket(const char *const *args)
{
	size_t i;

	for (i = 0; args[i]; i++)
		if (!strcmp(args[i], "--rpc-socket"))
			return true;
	return false;
}

/* In the child: never returns. */
static void child(const struct tgtproc *tgt, const char *const *args, pid_t parent)
{
	const char *program = getenv("SOFTSTA_TGT");
	const char *argv[TGTPROC_ARGS_MAX + 4];
	size_t n = 0, i;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Also when the tests run under nohup, which softsta-tgt would respect. */
	(void)signal(SIGHUP, SIG_DFL);
	if (getppid() != parent)
		_exit(127); /* it died before we asked to die with it */
	fd = open(tgt->log_path, O_CREAT | O_WRONLY | O_APPEND, 0644);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(127);
	argv[n++] = program ? program : "softsta-tgt";
	if (!tgt->nqn && !names_a_socket(args)) {
		argv[n++] = "--rpc-socket";
		argv[n++] = tgt->rpc_path;
	}
	for (i = 0; args[i] && i < TGTPROC_ARGS_MAX; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int spawn(struct tgtproc *tgt, const char *const *args)
{
	pid_t parent = getpid(), pid;

	(void)unlink(tgt->log_path); /* what an earlier one said is not said by this one */
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child(tgt, args, parent);
	tgt->pid = pid;
	return 0;
}

/* Exit status or 128 + signal once it has ended; -EAGAIN while it runs. */
static int try_reap(struct tgtproc *tgt)
{
	int status;
	pid_t pid = waitpid(tgt->pid, &status, WNOHANG);

	if (pid == 0)
		return -EAGAIN;
	tgt->pid = 0;
	if (pid < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_exit(struct tgtproc *tgt, int timeout_ms)
{
	uint64_t deadline = now_ms() + (uint64_t)timeout_ms;
	int rc;

	while ((rc = try_reap(tgt)) == -EAGAIN) {
		if (now_ms() >= deadline) {
			(void)kill(tgt->pid, SIGKILL);
			while (try_reap(tgt) == -EAGAIN)
				sleep_ms(1);
			return -ETIMEDOUT;
		}
		sleep_ms(2);
	}
	return rc;
}

void tgtproc_read_log(struct tgtproc *tgt)
{
	int fd = open(tgt->log_path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, tgt->log, sizeof(tgt->log) - 1);

	tgt->log[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

int tgtproc_wait_log(struct tgtproc *tgt, const char *text, int timeout_ms)
{
	uint64_t deadline = now_ms() + (uint64_t)timeout_ms;

	for (;;) {
		bool is_running = tgtproc_is_running(tgt);

		tgtproc_read_log(tgt);
		if (strstr(tgt->log, text))
			return 0;
		if (!is_running)
			return -ECHILD;
		if (now_ms() >= deadline)
			return -ETIMEDOUT;
		sleep_ms(5);
	}
}

/*
 * "listening on 127.0.0.1:4420" or "listening on 0.0.0.0:4420, 127.0.0.2 on sr_lo": the port stands
 * behind the first address, and the last address is one that can be reached.
 */
static bool find_address(struct tgtproc *tgt)
{
	char *line = strstr(tgt->log, LISTENING);
	char *end = line ? strchr(line, '\n') : NULL;
	char *colon, *last;
	size_t len;

	if (!end)
		return false;
	line += strlen(LISTENING);
	colon = memrchr(line, ':', strcspn(line, ",\n"));
	if (!colon)
		return false;
	tgt->port = (uint16_t)strtoul(colon + 1, NULL, 10);
	last = memrchr(line, ',', (size_t)(end - line));
	last = last ? last + strspn(last, ", ") : line;
	len = strcspn(last, last == line ? ":\n" : " \n");
	if (len >= TGTPROC_ADDR_BYTES)
		return false;
	memcpy(tgt->addr, last, len);
	tgt->addr[len] = '\0';
	return tgt->port != 0;
}

int tgtproc_start(struct tgtproc *tgt, const char *const *args)
{
	uint64_t deadline = now_ms() + TGTPROC_START_MS;
	int rc = spawn(tgt, args);

	if (rc)
		return rc;
	for (;;) {
		int status = try_reap(tgt);

		tgtproc_read_log(tgt);
		if (status != -EAGAIN) {
			fprintf(stderr, "the target ended with %d: %s\n", status, tgt->log);
			return -ECHILD;
		}
		if (find_address(tgt))
			return 0;
		if (now_ms() >= deadline) {
			fprintf(stderr, "the target does not listen: %s\n", tgt->log);
			(void)tgtproc_stop(tgt, SIGKILL, TGTPROC_STOP_MS);
			return -ETIMEDOUT;
		}
		sleep_ms(5);
	}
}

int tgtproc_start_default(struct tgtproc *tgt)
{
	const char *args[] = {"--export",  tgt->disk,	       "--nqn",
			      TGTPROC_NQN, "--allow-any-host", NULL};

	return tgtproc_start(tgt, args);
}

int tgtproc_run(struct tgtproc *tgt, const char *const *args, int timeout_ms)
{
	int rc = spawn(tgt, args);

	if (rc)
		return rc;
	rc = wait_exit(tgt, timeout_ms);
	tgtproc_read_log(tgt);
	return rc;
}

int tgtproc_stop(struct tgtproc *tgt, int signal, int timeout_ms)
{
	int rc;

	if (!tgt->pid)
		return -ESRCH;
	if (kill(tgt->pid, signal))
		return -errno;
	rc = wait_exit(tgt, timeout_ms);
	tgtproc_read_log(tgt);
	return rc;
}

bool tgtproc_is_running(struct tgtproc *tgt)
{
	return tgt->pid && try_reap(tgt) == -EAGAIN;
}

uint64_t tgtproc_cpu_ns(const struct tgtproc *tgt)
{
	struct timespec ts;
	clockid_t clock;

	if (!tgt->pid || clock_getcpuclockid(tgt->pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
