/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doca_caps: which devices are there, and what can the libraries do with them? Over the public API,
 * so it says what a program would be told.
 */
#include "caps.h"

#include <doca_log.h>
#include <doca_version.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

struct options {
	bool has_version, has_list, is_json;
	const char *device; /* of --caps, or NULL */
};

static const char usage[] =
	"usage: doca_caps [--json] [--version] [--list-devs] [--caps DEV]\n"
	"Print the version of the libraries, the devices, what STA can do with a device.\n"
	"\n"
	"      --list-devs      each device: names, addresses, link, does STA support it\n"
	"      --caps DEV       the limits of STA on a device, with their units; DEV is its\n"
	"                       ibdev name, its network interface or its PCI address\n"
	"      --json           print one JSON document\n"
	"  -h, --help\n"
	"  -V, --version        of the libraries that are in use, and of the headers\n"
	"\n"
	"Exit status: 0 all was printed, 1 there is no such device or an error, 2 usage.\n";

enum {
	OPT_LIST_DEVS = 256,
	OPT_CAPS,
	OPT_JSON,
};

static const struct option long_options[] = {
	{"list-devs", no_argument, NULL, OPT_LIST_DEVS},
	{"caps", required_argument, NULL, OPT_CAPS},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static __attribute__((noreturn)) void try_help(void)
{
	fputs("Try 'doca_caps --help'.\n", stderr);
	exit(EXIT_USAGE);
}

static void take_option(struct options *opt, int option)
{
	switch (option) {
	case OPT_LIST_DEVS:
		opt->has_list = true;
		break;
	case OPT_CAPS:
		if (opt->device) {
			fputs("doca_caps: --caps is given twice\n", stderr);
			try_help();
		}
		opt->device = optarg;
		break;
	case OPT_JSON:
		opt->is_json = true;
		break;
	case 'V':
		opt->has_version = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default: /* getopt has said what is wrong */
		try_help();
	}
}

static void parse(struct options *opt, int argc, char **argv)
{
	static char name[] = "doca_caps";
	int option;

	if (argc < 2) {
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
	argv[0] = name; /* in getopt's messages */
	while ((option = getopt_long(argc, argv, "hV", long_options, NULL)) != -1)
		take_option(opt, option);
	if (optind < argc) {
		fprintf(stderr, "doca_caps: '%.100s' is no option; a device is named by --caps\n",
			argv[optind]);
		try_help();
	}
	if (!opt->has_version && !opt->has_list && !opt->device) {
		fputs("doca_caps: nothing to print: say --version, --list-devs or --caps\n",
		      stderr);
		try_help();
	}
}

static struct json_object *describe_version(void)
{
	struct json_object *version = json_object_new_object();

	json_object_object_add(version, "softsta", json_object_new_string(SOFTSTA_VERSION));
	json_object_object_add(version, "runtime", json_object_new_string(doca_version_runtime()));
	json_object_object_add(version, "headers", json_object_new_string(doca_version()));
	return version;
}

static struct json_object *describe_devices(const struct caps_devs *devs)
{
	struct json_object *devices = json_object_new_array();

	for (uint32_t i = 0; i < devs->count; i++)
		json_object_array_add(devices, caps_devinfo_describe(devs->list[i]));
	return devices;
}

/* Into @document; 0, or -1 with the reason in @error. What was found out before stays. */
static int collect(const struct options *opt, struct json_object *document,
		   struct caps_error *error)
{
	struct doca_devinfo *devinfo;
	struct caps_devs devs;

	if (opt->has_version)
		json_object_object_add(document, "version", describe_version());
	if (!opt->has_list && !opt->device)
		return 0;
	if (caps_devs_get(&devs, error))
		return -1;
	if (opt->has_list)
		json_object_object_add(document, "devices", describe_devices(&devs));
	devinfo = opt->device ? caps_devs_find(&devs, opt->device, error) : NULL;
	if (devinfo)
		json_object_object_add(document, "caps", caps_sta_describe(devinfo));
	caps_devs_put(&devs);
	return opt->device && !devinfo ? -1 : 0;
}

static void print(const struct options *opt, struct json_object *document)
{
	if (opt->is_json)
		puts(json_object_to_json_string_ext(
			document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		caps_print_text(document);
}

/* In the document too: who asked for JSON gets a whole document in any case. What the user typed
 * stays on its line, and is no broken UTF-8.
 */
static void report(struct json_object *document, struct caps_error *error)
{
	struct json_object *object = json_object_new_object();
	char *c;

	for (c = error->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	json_object_object_add(object, "code",
			       json_object_new_string(doca_error_get_name(error->code)));
	json_object_object_add(object, "text", json_object_new_string(error->text));
	json_object_object_add(document, "error", object);
	fprintf(stderr, "doca_caps: %s\n", error->text);
}

int main(int argc, char **argv)
{
	struct caps_error error = {0};
	struct json_object *document;
	struct doca_log_backend *sdk;
	struct options opt = {0};
	int status = EXIT_SUCCESS;

	parse(&opt, argc, argv);
	document = json_object_new_object();
	(void)doca_log_backend_create_with_file_sdk(stderr, &sdk);
	if (collect(&opt, document, &error)) {
		report(document, &error);
		status = EXIT_FAILURE;
	}
	print(&opt, document);
	json_object_put(document);
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "doca_caps: standard output: %s\n", strerror(errno ? errno : EIO));
		return EXIT_FAILURE;
	}
	return status;
}
