/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line; see options.h. Options are collected first and applied afterwards, so their
 * order means nothing but for --export, whose n-th is namespace n.
 */
#include "target/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvme/pci.h"
#include "util/compiler.h"

#define DEFAULT_LISTEN "0.0.0.0"
#define DEFAULT_PORT   4420
#define MAX_REPEATS    TGT_MAX_HOSTS_PER_SUBSYSTEM
#define NAME_LETTERS   20 /* the longest option, and a typo's worth */
#define NEAR_LETTERS   3

static const char help[] =
	"Usage: softsta-tgt --export FILE|ram:SIZE|null:SIZE [OPTION]...\n"
	"       softsta-tgt --drive PCI-ADDRESS [OPTION]...\n"
	"       softsta-tgt --config FILE.json\n"
	"Serve disks to NVMe over Fabrics hosts over RDMA.\n"
	"\n"
	"      --export WHAT         a file, a block device, ram:SIZE or null:SIZE; repeat it\n"
	"                            for namespaces 1, 2, ...\n"
	"      --drive PCI-ADDRESS   an NVMe drive bound to vfio-pci (see stactl drive bind), with\n"
	"                            all its namespaces; may be repeated\n"
	"      --size SIZE           create FILE, or let it grow to SIZE (64M, 1G, ...)\n"
	"      --read-only           hosts cannot write to the files\n"
	"      --block-size BYTES    512 (default) or 4096\n"
	"      --nqn NQN             name of the subsystem (made from this machine's id and the\n"
	"                            first disk)\n"
	"      --listen ADDR[:PORT]  address to listen on; may be repeated (0.0.0.0:4420)\n"
	"      --allow-host NQN      let this host connect; may be repeated\n"
	"      --allow-any-host      let every host connect\n"
	"  -c, --config FILE         configuration in SPDK's JSON format\n"
	"      --rpc-socket PATH     control socket, for stactl and SPDK's rpc.py; \"none\" for\n"
	"                            none\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"Until a host is allowed, none may connect. A host's NQN is in its /etc/nvme/hostnqn.\n"
	"Exit status: 0 stopped by a signal, 1 it cannot serve, 2 usage. See softsta-tgt(8).\n";

struct wishes {
	const char *exports[TGT_MAX_NAMESPACES];
	size_t n_exports;
	const char *drives[TGT_MAX_BDEVS];
	size_t n_drives;
	const char *listens[TGT_MAX_PORTS];
	size_t n_listens;
	const char *hosts[MAX_REPEATS];
	size_t n_hosts;
	const char *nqn, *size, *block_size, *config, *rpc_socket;
	bool allow_any_host, read_only;
};

enum {
	OPT_EXPORT = 1000,
	OPT_DRIVE,
	OPT_SIZE,
	OPT_READ_ONLY,
	OPT_BLOCK_SIZE,
	OPT_NQN,
	OPT_LISTEN,
	OPT_ALLOW_HOST,
	OPT_ALLOW_ANY_HOST,
	OPT_RPC_SOCKET,
};

static const struct option options[] = {
	{"export", required_argument, NULL, OPT_EXPORT},
	{"drive", required_argument, NULL, OPT_DRIVE},
	{"size", required_argument, NULL, OPT_SIZE},
	{"read-only", no_argument, NULL, OPT_READ_ONLY},
	{"block-size", required_argument, NULL, OPT_BLOCK_SIZE},
	{"nqn", required_argument, NULL, OPT_NQN},
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"allow-host", required_argument, NULL, OPT_ALLOW_HOST},
	{"allow-any-host", no_argument, NULL, OPT_ALLOW_ANY_HOST},
	{"config", required_argument, NULL, 'c'},
	{"rpc-socket", required_argument, NULL, OPT_RPC_SOCKET},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{0},
};

/* One more value of an option that may be repeated. */
static bool collect(const char **values, size_t *n, size_t max)
{
	if (*n == max)
		return false;
	values[(*n)++] = optarg;
	return true;
}

/* How many letters have to be changed, added or left out (Levenshtein) to get from @a to @b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_LETTERS + 1], i, j;

	if (strlen(a) > NAME_LETTERS || strlen(b) > NAME_LETTERS)
		return SIZE_MAX;
	for (j = 0; j <= strlen(b); j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (j = 0; b[j]; j++) {
			size_t change = diagonal + (a[i] != b[j]);
			size_t other = util_min(row[j], row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = util_min(change, other);
		}
	}
	return row[strlen(b)];
}

/* getopt calls it unknown: no such thing, the start of several, or with a value it does not take.
 */
static void unknown_option(const char *arg, struct tgt_err *err)
{
	size_t len = strcspn(arg, "="), nearest = SIZE_MAX, starts = 0, i;
	const char *suggestion = NULL;
	char name[NAME_LETTERS + 3];

	snprintf(name, sizeof(name), "%.*s", (int)util_min(len, sizeof(name)), arg);
	for (i = 0; options[i].name && !strncmp(name, "--", 2); i++) {
		size_t away = distance(name + 2, options[i].name);

		starts += !strncmp(options[i].name, name + 2, strlen(name + 2));
		if (away < nearest) {
			nearest = away;
			suggestion = options[i].name;
		}
	}
	if (!nearest)
		tgt_err_set(err, -EINVAL, "--%s takes no value (see --help)", suggestion);
	else if (starts > 1)
		tgt_err_set(err, -EINVAL, "%.100s: could be several options (see --help)", arg);
	else if (nearest <= NEAR_LETTERS)
		tgt_err_set(err, -EINVAL, "%.100s: no such option, did you mean --%s? (see --help)",
			    arg, suggestion);
	else
		tgt_err_set(err, -EINVAL, "%.100s: no such option (see --help)", arg);
}

static enum tgt_options_result take_option(int opt, const char *arg, struct wishes *w,
					   struct tgt_err *err)
{
	bool fits = true;

	switch (opt) {
	case OPT_EXPORT:
		fits = collect(w->exports, &w->n_exports, TGT_MAX_NAMESPACES);
		break;
	case OPT_DRIVE:
		fits = collect(w->drives, &w->n_drives, TGT_MAX_BDEVS);
		break;
	case OPT_LISTEN:
		fits = collect(w->listens, &w->n_listens, TGT_MAX_PORTS);
		break;
	case OPT_ALLOW_HOST:
		fits = collect(w->hosts, &w->n_hosts, MAX_REPEATS);
		break;
	case OPT_SIZE:
		w->size = optarg;
		break;
	case OPT_BLOCK_SIZE:
		w->block_size = optarg;
		break;
	case OPT_NQN:
		w->nqn = optarg;
		break;
	case 'c':
		fits = !w->config; /* not the last of them: it would be taken for both */
		w->config = optarg;
		break;
	case OPT_RPC_SOCKET:
		fits = !w->rpc_socket;
		w->rpc_socket = optarg;
		break;
	case OPT_READ_ONLY:
		w->read_only = true;
		break;
	case OPT_ALLOW_ANY_HOST:
		w->allow_any_host = true;
		break;
	case 'h':
		fputs(help, stdout);
		return TGT_OPTIONS_EXIT;
	case 'V':
		puts("softsta-tgt " SOFTSTA_VERSION);
		return TGT_OPTIONS_EXIT;
	case ':':
		tgt_err_set(err, -EINVAL, "%.100s: a value is missing (see --help)", arg);
		return TGT_OPTIONS_USAGE;
	default:
		unknown_option(arg, err);
		return TGT_OPTIONS_USAGE;
	}
	if (fits)
		return TGT_OPTIONS_RUN;
	tgt_err_set(err, -EINVAL, "%.100s is given too often", arg);
	return TGT_OPTIONS_USAGE;
}

static bool has_disk(const struct wishes *w)
{
	return w->n_exports || w->n_drives;
}

static enum tgt_options_result collect_options(int argc, char **argv, struct wishes *w,
					       struct tgt_err *err)
{
	enum tgt_options_result result = TGT_OPTIONS_RUN;
	int opt, at = 1;

	optind = 0; /* start over: tests parse more than once */
	opterr = 0;
	/* '+': argv keeps its order, so that argv[at] is what getopt looks at. */
	while (result == TGT_OPTIONS_RUN &&
	       (opt = getopt_long(argc, argv, "+:c:hV", options, NULL)) != -1) {
		result = take_option(opt, argv[at], w, err);
		at = optind;
	}
	if (result == TGT_OPTIONS_RUN && optind < argc) {
		tgt_err_set(err, -EINVAL, "%.100s: is no option; to serve it, say --export %.100s",
			    argv[optind], argv[optind]);
		return TGT_OPTIONS_USAGE;
	}
	if (result == TGT_OPTIONS_RUN && !has_disk(w) && !w->config) {
		tgt_err_set(err, -EINVAL,
			    "nothing to export: give --export, --drive or --config, as in"
			    " \"softsta-tgt --export disk.img --size 1G\" (see --help)");
		return TGT_OPTIONS_USAGE;
	}
	if (result == TGT_OPTIONS_RUN && !has_disk(w) &&
	    (w->size || w->read_only || w->block_size || w->nqn || w->n_hosts ||
	     w->allow_any_host || w->n_listens)) {
		tgt_err_set(err, -EINVAL, "options beside --config need an --export or a --drive");
		return TGT_OPTIONS_USAGE;
	}
	return result;
}

static int size_parse(const char *option, const char *text, uint64_t *bytes, struct tgt_err *err)
{
	int rc = tgt_size_parse(text, bytes);

	if (rc)
		return tgt_err_set(err, rc, "%s \"%.40s\": %s", option, text,
				   rc == -ERANGE ? "is too large"
						 : "a size is a number and K, M, G or T");
	return 0;
}

/* "ram:SIZE", "null:SIZE", else a file name. */
static int export_parse(const char *what, bool read_only, struct tgt_bdev_conf *bdev,
			struct tgt_err *err)
{
	const char *size = NULL;

	if (!strncmp(what, "ram:", 4)) {
		bdev->kind = TGT_BDEV_RAM;
		size = what + 4;
	} else if (!strncmp(what, "null:", 5)) {
		bdev->kind = TGT_BDEV_NULL;
		size = what + 5;
	}
	if (size)
		return size_parse("--export", size, &bdev->size_bytes, err);
	bdev->kind = TGT_BDEV_FILE;
	bdev->read_only = read_only;
	bdev->path = (char *)what; /* copied by tgt_config_add_bdev(), read only here */
	return 0;
}

static bool has_file(const struct wishes *w)
{
	size_t i;

	for (i = 0; i < w->n_exports; i++)
		if (strncmp(w->exports[i], "ram:", 4) && strncmp(w->exports[i], "null:", 5))
			return true;
	return false;
}

static int export_add(const struct wishes *w, size_t i, struct tgt_config *config,
		      struct tgt_subsys_conf *subsys, struct tgt_err *err)
{
	struct tgt_bdev_conf bdev = {.block_bytes = 512};
	struct tgt_ns_conf ns = {.nsid = (uint32_t)i + 1, .be_nsid = TGT_ONLY_NAMESPACE};
	uint64_t block_bytes;
	int rc = export_parse(w->exports[i], w->read_only, &bdev, err);

	if (rc)
		return rc;
	if (w->block_size) {
		rc = size_parse("--block-size", w->block_size, &block_bytes, err);
		if (rc)
			return rc;
		if (block_bytes != 512 && block_bytes != 4096)
			return tgt_err_set(err, -EINVAL, "--block-size %s: it is 512 or 4096",
					   w->block_size);
		bdev.block_bytes = (uint32_t)block_bytes;
	}
	if (w->size && bdev.kind == TGT_BDEV_FILE)
		rc = size_parse("--size", w->size, &bdev.size_bytes, err);
	if (rc)
		return rc;
	if (bdev.size_bytes % bdev.block_bytes)
		return tgt_err_set(err, -EINVAL,
				   "%.100s: %llu bytes are no multiple of the block"
				   " size %u",
				   w->exports[i], (unsigned long long)bdev.size_bytes,
				   bdev.block_bytes);
	snprintf(bdev.name, sizeof(bdev.name), "export%zu", i + 1);
	rc = tgt_config_add_bdev(config, &bdev, err);
	if (rc)
		return rc;
	ns.bdev = config->n_bdevs - 1;
	return tgt_config_add_ns(config, subsys, &ns, err);
}

/* A drive has no name but its address, by which stactl knows it. */
static int drive_add(const char *text, struct tgt_config *config, struct tgt_subsys_conf *subsys,
		     struct tgt_err *err)
{
	struct tgt_bdev_conf bdev = {.kind = TGT_BDEV_DRIVE};
	struct tgt_ns_conf ns = {.be_nsid = TGT_EVERY_NAMESPACE};
	char bdf[NV_PCI_BDF_TEXT];
	int rc;

	if (!nv_pci_parse(text, bdf))
		return tgt_err_set(err, -EINVAL,
				   "--drive \"%.40s\": is no PCI address such as 0000:01:00.0",
				   text);
	snprintf(bdev.name, sizeof(bdev.name), "%s", bdf);
	bdev.path = bdf;
	rc = tgt_config_add_bdev(config, &bdev, err);
	if (rc)
		return rc;
	ns.bdev = config->n_bdevs - 1;
	return tgt_config_add_ns(config, subsys, &ns, err);
}

static int listen_add(const char *text, struct tgt_subsys_conf *subsys, struct tgt_err *err)
{
	union tgt_sockaddr addr;
	struct tgt_err why;

	if (tgt_addr_parse(text, DEFAULT_PORT, &addr, &why))
		return tgt_err_set(err, -EINVAL, "--listen %.200s", why.text);
	return tgt_config_add_listener(subsys, &addr, err);
}

/* A name that stays the same as long as the first export stays where it is. */
static void default_nqn(const struct wishes *w, const char *machine, char nqn[TGT_NQN_TEXT])
{
	const char *first = w->n_exports ? w->exports[0] : w->drives[0];
	char *path = realpath(first, NULL);

	tgt_nqn_default(machine, path ? path : first, nqn);
	free(path);
}

static int apply(const struct wishes *w, const char *machine, struct tgt_config *config,
		 struct tgt_err *err)
{
	struct tgt_subsys_conf *subsys;
	char nqn[TGT_NQN_TEXT];
	struct tgt_err why;
	size_t i;
	int rc;

	if (!has_disk(w))
		return 0;
	if (w->read_only && w->n_drives)
		return tgt_err_set(err, -EINVAL,
				   "--read-only is for files: a --drive can be"
				   " written by every host that may connect");
	if (w->size && w->read_only)
		return tgt_err_set(err, -EINVAL,
				   "--size creates files or lets them grow,"
				   " --read-only does not");
	if ((w->size || w->read_only) && !has_file(w))
		return tgt_err_set(err, -EINVAL, "%s is for a file, and none is exported",
				   w->size ? "--size" : "--read-only");
	if (!w->nqn)
		default_nqn(w, machine, nqn);
	rc = tgt_config_add_subsys(config, w->nqn ? w->nqn : nqn, &subsys, &why);
	if (rc)
		return tgt_err_set(err, rc, "--nqn: %.240s", why.text);
	subsys->allow_any_host = w->allow_any_host;
	for (i = 0; i < w->n_exports && !rc; i++)
		rc = export_add(w, i, config, subsys, err);
	for (i = 0; i < w->n_drives && !rc; i++)
		rc = drive_add(w->drives[i], config, subsys, err);
	for (i = 0; i < w->n_hosts && !rc; i++)
		rc = tgt_config_add_host(subsys, w->hosts[i], err);
	for (i = 0; i < w->n_listens && !rc; i++)
		rc = listen_add(w->listens[i], subsys, err);
	if (!rc && !w->n_listens)
		rc = listen_add(DEFAULT_LISTEN, subsys, err);
	return rc;
}

enum tgt_options_result tgt_options_parse(int argc, char **argv, const char *machine,
					  void (*warn)(const char *line), struct tgt_config *config,
					  struct tgt_err *err)
{
	struct wishes w = {0};
	enum tgt_options_result result = collect_options(argc, argv, &w, err);

	if (result != TGT_OPTIONS_RUN)
		return result;
	if (w.config && tgt_config_load_json(config, w.config, warn, err))
		return TGT_OPTIONS_FAIL;
	/* Who types an address wants to hear that it is wrong; a file is for starting at boot. */
	config->waits_for_addresses = w.config;
	config->rpc_socket = w.rpc_socket;
	if (apply(&w, machine, config, err) || tgt_config_check(config, err))
		return TGT_OPTIONS_FAIL;
	return TGT_OPTIONS_RUN;
}
