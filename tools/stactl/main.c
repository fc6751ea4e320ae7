/* SPDX-License-Identifier: Apache-2.0 */
/* stactl: what an administrator types. The command line; the commands are in the other files. */
#include "stactl.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "util/compiler.h"

#define EXIT_USAGE	  2
#define DEFAULT_TIMEOUT_S 60

static const char usage[] =
	"Usage: stactl [OPTION]... COMMAND\n"
	"Manage NVMe drives for softsta, and a running softsta-tgt.\n"
	"\n"
	"  drive list            NVMe drives of this machine: who uses them, are they free\n"
	"  drive bind ADDRESS    give the drive at a PCI address to vfio-pci, for softsta\n"
	"  drive unbind ADDRESS  give it back to the kernel\n"
	"  drive reset NAME      reset the controller of a disk of the target\n"
	"  bdev list             disks of the target\n"
	"  subsystem list        its subsystems, addresses, hosts and namespaces\n"
	"  stats                 counters; --eu, --queue or --ns for some of them\n"
	"  log [LEVEL]           what is logged: ERROR, WARNING, INFO, DEBUG, ...\n"
	"  rpc METHOD [JSON]     call any method of the control socket\n"
	"\n"
	"  -s, --socket PATH     of the target (/run/softsta/tgt.sock, or for a user\n"
	"                        softsta-tgt.sock in $XDG_RUNTIME_DIR)\n"
	"  -t, --timeout SECONDS for an answer (60)\n"
	"      --json            print JSON\n"
	"      --user NAME       drive bind: let this user open the drive\n"
	"      --force           drive bind: though some program has it open; never if it is\n"
	"                        mounted, swap, or part of another device\n"
	"      --eu, --queue, --ns\n"
	"                        stats: of execution units, of disks' queues, of namespaces\n"
	"      --world WORLD     log: app, the target itself, or sdk, the libraries\n"
	"      --root DIR        drive: look at the machine whose /sys, /proc and /dev are there\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"Exit status: 0 done, 1 it cannot be done, 2 usage. See stactl(8).\n";

enum {
	OPT_JSON = 256,
	OPT_USER,
	OPT_FORCE,
	OPT_EU,
	OPT_QUEUE,
	OPT_NS,
	OPT_WORLD,
	OPT_ROOT,
};

static const struct option options[] = {
	{"socket", required_argument, NULL, 's'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, OPT_JSON},
	{"user", required_argument, NULL, OPT_USER},
	{"force", no_argument, NULL, OPT_FORCE},
	{"eu", no_argument, NULL, OPT_EU},
	{"queue", no_argument, NULL, OPT_QUEUE},
	{"ns", no_argument, NULL, OPT_NS},
	{"world", required_argument, NULL, OPT_WORLD},
	{"root", required_argument, NULL, OPT_ROOT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{0},
};

static const struct command {
	const char *words[2];
	int min_args, max_args;
	int (*run)(struct stactl *ctl);
} commands[] = {
	{{"drive", "list"}, 0, 0, stactl_drive_list},
	{{"drive", "bind"}, 1, 1, stactl_drive_bind},
	{{"drive", "unbind"}, 1, 1, stactl_drive_unbind},
	{{"drive", "reset"}, 1, 1, stactl_drive_reset},
	{{"bdev", "list"}, 0, 0, stactl_bdev_list},
	{{"subsystem", "list"}, 0, 0, stactl_subsystem_list},
	{{"stats", NULL}, 0, 0, stactl_stats},
	{{"log", NULL}, 0, 1, stactl_log},
	{{"rpc", NULL}, 1, 2, stactl_rpc},
};

int stactl_fail(struct stactl *ctl, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctl->error, sizeof(ctl->error), fmt, ap);
	va_end(ap);
	return -1;
}

/* What is not printed has failed. */
static __attribute__((noreturn)) void finish(int status)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "stactl: standard output: %s\n", strerror(errno ? errno : EIO));
		status = EXIT_FAILURE;
	}
	exit(status);
}

static __attribute__((noreturn)) void bad_usage(const char *what, const char *arg)
{
	if (what)
		fprintf(stderr, "stactl: %s%s%s\n", arg ? arg : "", arg ? ": " : "", what);
	fputs("Try 'stactl --help'.\n", stderr);
	exit(EXIT_USAGE);
}

static void take_timeout(struct stactl *ctl)
{
	char *end;
	unsigned long seconds = strtoul(optarg, &end, 10);

	if (optarg[0] < '0' || optarg[0] > '9' || *end || !seconds || seconds > 86400)
		bad_usage("is not a number of seconds", optarg);
	ctl->timeout_s = (unsigned int)seconds;
}

static void take_kind(struct stactl *ctl, const char *kind)
{
	if (ctl->kind && strcmp(ctl->kind, kind))
		bad_usage("one of --eu, --queue and --ns", NULL);
	ctl->kind = kind;
}

static void take_option(struct stactl *ctl, int opt)
{
	switch (opt) {
	case 's':
		ctl->socket = optarg;
		break;
	case 't':
		take_timeout(ctl);
		break;
	case OPT_JSON:
		ctl->is_json = true;
		break;
	case OPT_USER:
		ctl->user = optarg;
		break;
	case OPT_FORCE:
		ctl->is_forced = true;
		break;
	case OPT_EU:
		take_kind(ctl, "eu");
		break;
	case OPT_QUEUE:
		take_kind(ctl, "queue");
		break;
	case OPT_NS:
		take_kind(ctl, "ns");
		break;
	case OPT_WORLD:
		if (strcmp(optarg, "app") && strcmp(optarg, "sdk"))
			bad_usage("is not app or sdk", optarg);
		ctl->world = optarg;
		break;
	case OPT_ROOT:
		machine_set_root(optarg);
		break;
	case 'h':
		fputs(usage, stdout);
		finish(EXIT_SUCCESS);
	case 'V':
		puts("stactl " SOFTSTA_VERSION);
		finish(EXIT_SUCCESS);
	default:
		bad_usage(NULL, NULL); /* getopt has said why */
	}
}

static const struct command *find_command(struct stactl *ctl, int argc, char **argv)
{
	const struct command *c;
	int words;

	if (!argc)
		bad_usage("a command is missing", NULL);
	for (c = commands; c < commands + UTIL_ARRAY_SIZE(commands); c++) {
		words = c->words[1] ? 2 : 1;
		if (argc < words || strcmp(argv[0], c->words[0]) ||
		    (c->words[1] && strcmp(argv[1], c->words[1])))
			continue;
		ctl->args = argv + words;
		ctl->n_args = argc - words;
		if (ctl->n_args < c->min_args)
			bad_usage("an argument is missing", argv[words - 1]);
		if (ctl->n_args > c->max_args)
			bad_usage("is one argument too many", ctl->args[c->max_args]);
		return c;
	}
	bad_usage("no such command", argv[0]);
}

int main(int argc, char **argv)
{
	struct stactl ctl = {.timeout_s = DEFAULT_TIMEOUT_S};
	const struct command *command;
	int opt, rc;

	while ((opt = getopt_long(argc, argv, "s:t:hV", options, NULL)) != -1)
		take_option(&ctl, opt);
	command = find_command(&ctl, argc - optind, argv + optind);
	rc = command->run(&ctl);
	if (rc)
		fprintf(stderr, "stactl: %s\n", ctl.error);
	finish(rc ? EXIT_FAILURE : EXIT_SUCCESS);
}
