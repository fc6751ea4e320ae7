/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softsta-tgt: command line, signals, exit status. The first SIGTERM, SIGINT or SIGHUP ends the
 * target in an orderly way within a bound, the second at once.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_error.h>
#include <doca_log.h>

#include "target/await.h"
#include "target/log.h"
#include "target/notify.h"
#include "target/options.h"
#include "target/server.h"

enum {
	EXIT_USAGE = 2,
};

struct stopper {
	int fd;
	unsigned int signals;
	struct tgt_loop_source source;
};

static void warn(const char *line)
{
	tgt_log_warning("%s", line);
}

static void on_signal(void *arg)
{
	struct stopper *stopper = arg;
	struct signalfd_siginfo info;

	if (read(stopper->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (++stopper->signals > 1) {
		tgt_log("stopping at once");
		_exit(EXIT_FAILURE);
	}
	tgt_log("stopping");
}

static int signals_take(sigset_t *set)
{
	struct sigaction hup;

	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	/* Its terminal is gone, unless nohup said that this is nothing to it. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
	(void)signal(SIGPIPE, SIG_IGN);
	/* Before any thread is made, so that none of them takes these. */
	return sigprocmask(SIG_BLOCK, set, NULL) ? -errno : 0;
}

static void sdk_log_to_stderr(void)
{
	struct doca_log_backend *sdk;

	(void)doca_log_backend_create_with_file_sdk(stderr, &sdk);
}

/* Let hosts go and what they have in flight end, but not for ever. */
static void shut_down(struct tgt_server *server)
{
	uint64_t until = tgt_loop_now_ms() + TGT_SHUTDOWN_TIMEOUT_MS;

	uint64_t io_until = tgt_loop_now_ms() + TGT_SHUTDOWN_IO_TIMEOUT_MS;

	tgt_server_close_hosts(server);
	while (tgt_server_has_io_queues(server) && tgt_loop_now_ms() < io_until)
		if (tgt_server_turn(server, io_until))
			break;
	if (tgt_server_has_io_queues(server))
		tgt_server_abandon_disks(server);
	while (tgt_server_has_io_queues(server) && tgt_loop_now_ms() < until)
		if (tgt_server_turn(server, until))
			break;
	tgt_server_close_controllers(server);
	while (tgt_server_has_queues(server) && tgt_loop_now_ms() < until)
		if (tgt_server_turn(server, until))
			break;
	if (tgt_server_has_queues(server))
		tgt_log("some connections did not end in time and are cut");
}

static int serve(const struct tgt_config *config, const sigset_t *set)
{
	static struct tgt_server server;
	struct stopper stopper = {.fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK)};
	struct tgt_err err;
	int status = EXIT_SUCCESS;

	if (stopper.fd < 0) {
		tgt_log_error("signalfd: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	(void)tgt_notify("STATUS=waiting for addresses, opening disks");
	if (config->waits_for_addresses &&
	    !tgt_await_addresses(config, stopper.fd, TGT_ADDRESS_GRACE_MS)) {
		tgt_log("stopped");
		close(stopper.fd);
		return EXIT_SUCCESS;
	}
	if (tgt_server_start(&server, config, &err)) {
		tgt_log_error("%s", err.text);
		close(stopper.fd);
		return EXIT_FAILURE;
	}
	stopper.source = (struct tgt_loop_source){stopper.fd, on_signal, &stopper};
	if (tgt_loop_add(&server.loop, &stopper.source))
		status = EXIT_FAILURE;
	else
		(void)tgt_notify("READY=1\nSTATUS=serving");
	while (status == EXIT_SUCCESS && !stopper.signals) {
		if (tgt_server_turn(&server, UINT64_MAX) || server.is_failed)
			status = EXIT_FAILURE;
	}
	(void)tgt_notify("STOPPING=1\nSTATUS=letting hosts go");
	shut_down(&server);
	tgt_loop_remove(&server.loop, &stopper.source);
	tgt_server_stop(&server);
	close(stopper.fd);
	if (status == EXIT_SUCCESS)
		tgt_log("stopped");
	return status;
}

int main(int argc, char **argv)
{
	struct tgt_config config;
	struct tgt_err err = {""};
	char machine[256];
	sigset_t set;
	int status = EXIT_FAILURE;

	tgt_config_init(&config);
	tgt_machine_identity(machine, sizeof(machine));
	switch (tgt_options_parse(argc, argv, machine, warn, &config, &err)) {
	case TGT_OPTIONS_RUN:
		if (signals_take(&set)) {
			tgt_log_error("sigprocmask: %s", strerror(errno));
			break;
		}
		sdk_log_to_stderr();
		status = serve(&config, &set);
		break;
	case TGT_OPTIONS_EXIT:
		status = EXIT_SUCCESS;
		break;
	case TGT_OPTIONS_USAGE:
		tgt_log_error("%s", err.text);
		status = EXIT_USAGE;
		break;
	case TGT_OPTIONS_FAIL:
		tgt_log_error("%s", err.text);
		break;
	}
	tgt_config_fini(&config);
	return status;
}
