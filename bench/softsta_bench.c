/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softsta-bench: one load after the other against softsta-tgt over the loopback device, for each
 * storage engine; or against a target that runs already. Prints a table, and JSON on demand. The
 * loads are the table below; what one run of a load does is in load.c.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cost.h"
#include "initiator/ini.h"
#include "load.h"
#include "tgt.h"

#define MIB	   (1024u * 1024u)
#define DISK_BYTES (256u * MIB)
#define DISK_SIZE  "256M" /* the same, for the command line */
#define ENTRIES	   129 /* one stays empty, as NVMe has it */
#define SLOT_BYTES (128u * 1024u)
#define NS_PER_S   1000000000.0

static const struct load loads[] = {
	{"randread", false, true, 4096, 1},	   {"randread", false, true, 4096, 32},
	{"randread", false, true, 4096, 128},	   {"randwrite", true, true, 4096, 1},
	{"randwrite", true, true, 4096, 32},	   {"randwrite", true, true, 4096, 128},
	{"seqread", false, false, 128 * 1024, 32}, {"seqwrite", true, false, 128 * 1024, 32},
};

#define NUM_LOADS (sizeof(loads) / sizeof(loads[0]))

static const struct engine {
	const char *name;
	const char *export; /* NULL: the file in the target's directory */
} engines[] = {{"ram", "ram:" DISK_SIZE}, {"file", NULL}, {"null", "null:" DISK_SIZE}};

#define NUM_ENGINES (sizeof(engines) / sizeof(engines[0]))

struct bench {
	double seconds;
	const char *engines; /* comma separated */
	const char *only; /* "LOAD@DEPTH", or NULL for all */
	const char *json_path;
	struct ini_params params; /* addr set: a target that runs already */
	pid_t target_pid;
	struct json_object *rows;
	bool has_told; /* that there are no instruction counts */
	struct cost_meter target, self;
};

struct session {
	struct ini_queue *admin, *io;
	struct load_disk disk;
};

/* ---- connection ---- */

static int find_disk(struct session *s, struct ini_error *error)
{
	__le32 list[NVME_IDENTIFY_DATA_SIZE / sizeof(__le32)];
	struct nvme_id_ctrl ctrl;
	struct nvme_id_ns ns;
	int rc = ini_enable(s->admin, error);

	if (rc == 0)
		rc = ini_identify_ctrl(s->admin, &ctrl, error);
	if (rc == 0)
		rc = ini_identify(s->admin, 0, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, list, error);
	if (rc == 0)
		rc = ini_identify_ns(s->admin, le32toh(list[0]), &ns, error);
	if (rc)
		return rc;
	s->disk.nsid = le32toh(list[0]);
	s->disk.block_bytes = 1u << ns.lbaf[ns.flbas & 0xf].ds;
	s->disk.blocks = le64toh(ns.nsze);
	s->disk.incapsule_bytes = le32toh(ctrl.ioccsz) * 16 - sizeof(struct ini_sqe);
	if (s->disk.blocks * s->disk.block_bytes < SLOT_BYTES) {
		snprintf(error->text, sizeof(error->text), "the namespace is too small");
		error->step = "namespace";
		return -EINVAL;
	}
	return 0;
}

static void session_close(struct session *s)
{
	ini_close(s->io);
	ini_close(s->admin);
}

/* What is open after a failure is session_close's as well. */
static int session_open(struct session *s, const struct ini_params *params, struct ini_error *error)
{
	struct ini_params io = *params;
	int rc;

	memset(s, 0, sizeof(*s));
	rc = ini_open_connect(&s->admin, params, &io.cntlid, error);
	if (rc == 0)
		rc = find_disk(s, error);
	if (rc)
		return rc;
	io.qid = 1;
	io.entries = ENTRIES;
	io.slot_bytes = SLOT_BYTES;
	/* The controller's limit is asked for by trying: most have 128 entries, some more. */
	rc = ini_open_connect(&s->io, &io, NULL, error);
	if (rc == -EREMOTEIO || rc == -ECONNREFUSED) {
		io.entries = ENTRIES - 1;
		rc = ini_open_connect(&s->io, &io, NULL, error);
	}
	return rc;
}

/* ---- rows ---- */

static double per_io(uint64_t before, uint64_t after, uint64_t ios)
{
	return ios ? (double)(after - before) / (double)ios : 0;
}

static void print_head(void)
{
	printf("%-6s %-9s %7s %5s %9s %9s %8s %8s %8s %9s %9s %10s\n", "engine", "load", "bytes",
	       "depth", "IOPS", "MiB/s", "p50 us", "p99 us", "p99.9 us", "tgt us/IO", "ini us/IO",
	       "tgt ins/IO");
}

struct row {
	const char *engine;
	const struct load *load;
	unsigned int depth;
	struct load_result warm_up, result;
	struct cost target[2], self[2]; /* before and after */
};

static void print_row(struct bench *bench, const struct row *row)
{
	const struct load_result *r = &row->result;
	double seconds = (double)r->ns / NS_PER_S, iops = (double)r->ios / seconds;
	double target_us = per_io(row->target[0].cpu_ns, row->target[1].cpu_ns, r->ios) / 1000;
	double self_us = per_io(row->self[0].cpu_ns, row->self[1].cpu_ns, r->ios) / 1000;
	double instructions =
		per_io(row->target[0].instructions, row->target[1].instructions, r->ios);
	double mibs = iops * row->load->bytes / MIB;
	static const unsigned int per_mille[3] = {500, 990, 999};
	static const char *const keys[3] = {"p50_us", "p99_us", "p999_us"};
	struct json_object *json = json_object_new_object();
	double us[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		us[i] = (double)hist_percentile(&r->latency, per_mille[i]) / 1000;
		json_object_object_add(json, keys[i], json_object_new_double(us[i]));
	}
	printf("%-6s %-9s %7u %5u %9.0f %9.1f %8.1f %8.1f %8.1f ", row->engine, row->load->name,
	       row->load->bytes, row->depth, iops, mibs, us[0], us[1], us[2]);
	if (bench->target.pid)
		printf("%9.2f ", target_us);
	else
		printf("%9s ", "-");
	printf("%9.2f ", self_us);
	if (cost_has_instructions(&bench->target))
		printf("%10.0f\n", instructions);
	else
		printf("%10s\n", "-");

	json_object_object_add(json, "engine", json_object_new_string(row->engine));
	json_object_object_add(json, "load", json_object_new_string(row->load->name));
	json_object_object_add(json, "bytes", json_object_new_int((int)row->load->bytes));
	json_object_object_add(json, "depth", json_object_new_int((int)row->depth));
	json_object_object_add(json, "ios", json_object_new_int64((int64_t)r->ios));
	json_object_object_add(json, "warm_up_ios",
			       json_object_new_int64((int64_t)row->warm_up.ios));
	json_object_object_add(json, "iops", json_object_new_double(iops));
	json_object_object_add(json, "mib_per_s", json_object_new_double(mibs));
	json_object_object_add(json, "initiator_cpu_us_per_io", json_object_new_double(self_us));
	if (bench->target.pid)
		json_object_object_add(json, "target_cpu_us_per_io",
				       json_object_new_double(target_us));
	if (cost_has_instructions(&bench->target))
		json_object_object_add(json, "target_instructions_per_io",
				       json_object_new_double(instructions));
	json_object_array_add(bench->rows, json);
}

static int run_row(struct bench *bench, struct session *s, const char *engine,
		   const struct load *load, struct ini_error *error)
{
	static struct row row;
	struct load fitting = *load;
	int rc;

	if (fitting.depth >= ini_entries(s->io))
		fitting.depth = (uint16_t)(ini_entries(s->io) - 1);
	row.engine = engine;
	row.load = load;
	row.depth = fitting.depth;
	/* A tenth of the time for caches, windows and page faults to settle. */
	rc = load_run(s->io, &s->disk, &fitting, (uint64_t)(bench->seconds * NS_PER_S / 10),
		      &row.warm_up, error);
	if (rc)
		return rc;
	row.target[0] = cost_read(&bench->target);
	row.self[0] = cost_read(&bench->self);
	rc = load_run(s->io, &s->disk, &fitting, (uint64_t)(bench->seconds * NS_PER_S), &row.result,
		      error);
	row.target[1] = cost_read(&bench->target);
	row.self[1] = cost_read(&bench->self);
	if (rc == 0)
		print_row(bench, &row);
	return rc;
}

static bool is_wanted(const struct bench *bench, const struct load *load)
{
	char name[32];

	snprintf(name, sizeof(name), "%s@%u", load->name, load->depth);
	return !bench->only || !strcmp(bench->only, name);
}

static int run_engine(struct bench *bench, const char *engine, const struct ini_params *params,
		      pid_t pid)
{
	struct ini_error error = {0};
	struct session session;
	size_t i;
	int rc;

	rc = session_open(&session, params, &error);
	cost_open(&bench->target, pid);
	cost_open(&bench->self, getpid());
	if (rc == 0 && pid && !cost_has_instructions(&bench->target) && !bench->has_told) {
		printf("(no instruction counts: %s)\n", strerror(bench->target.error));
		bench->has_told = true;
	}
	for (i = 0; i < NUM_LOADS && rc == 0; i++) {
		if (is_wanted(bench, &loads[i]))
			rc = run_row(bench, &session, engine, &loads[i], &error);
	}
	if (rc)
		fprintf(stderr, "softsta-bench: %s: %s: %s\n", engine,
			error.step ? error.step : "?", error.text);
	cost_close(&bench->target);
	cost_close(&bench->self);
	session_close(&session);
	return rc;
}

/* ---- targets ---- */

/* The target of this program's own build tree, unless another is named. */
static void find_target(void)
{
	static const char beside[] = "/../src/target/softsta-tgt";
	char path[PATH_MAX + sizeof(beside)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (len <= 0)
		return;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	(void)stpcpy(slash, beside);
	if (access(path, X_OK) == 0)
		(void)setenv("SOFTSTA_TGT", path, false);
}

static int run_own_target(struct bench *bench, const struct engine *engine)
{
	struct tgtproc tgt;
	const char *args[] = {"--export",  engine->export,     "--nqn",
			      TGTPROC_NQN, "--allow-any-host", NULL};
	struct ini_params params = bench->params;
	int rc;

	rc = tgtproc_init(&tgt, engine->export ? 0 : DISK_BYTES);
	if (rc) {
		fprintf(stderr, "softsta-bench: no directory for a disk: %s\n", strerror(-rc));
		return rc;
	}
	if (!engine->export)
		args[1] = tgt.disk;
	rc = tgtproc_start(&tgt, args);
	if (rc == 0) {
		params.addr = tgt.addr;
		params.port = tgt.port;
		params.subnqn = TGTPROC_NQN;
		rc = run_engine(bench, engine->name, &params, tgt.pid);
		if (tgtproc_stop(&tgt, SIGTERM, TGTPROC_STOP_MS) && rc == 0)
			rc = -ECHILD;
	}
	tgtproc_fini(&tgt);
	return rc;
}

static int run_engines(struct bench *bench)
{
	char *list = strdup(bench->engines), *save = NULL, *name;
	int rc = list ? 0 : -ENOMEM;
	size_t i;

	/* Both programs are on this machine. */
	(void)setenv("SOFTROCE_DEVICES", "sr_lo", false);
	find_target();
	for (name = list ? strtok_r(list, ",", &save) : NULL; name && rc == 0;
	     name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < NUM_ENGINES && strcmp(engines[i].name, name); i++)
			;
		if (i == NUM_ENGINES) {
			fprintf(stderr, "softsta-bench: no engine '%s'\n", name);
			rc = -EINVAL;
		} else {
			rc = run_own_target(bench, &engines[i]);
		}
	}
	free(list);
	return rc;
}

/* ---- options ---- */

static const char usage[] =
	"usage: softsta-bench [OPTION]...\n"
	"Measure NVMe/RDMA over the loopback device, or a target that runs already.\n"
	"\n"
	"  --seconds S      for each row (default 2)\n"
	"  --engines LIST   of ram, file, null (default all three)\n"
	"  --load L@DEPTH   this row only, as randread@32\n"
	"  --spin US        poll so long before sleeping for a completion (default 0)\n"
	"  --json FILE      write the rows as JSON too\n"
	"  --timeout S      for a connection and for each command (default 5)\n"
	"  --address ADDR   measure this target instead: its first namespace is OVERWRITTEN\n"
	"  --port PORT      its service (default 4420)\n"
	"  --nqn NQN        its subsystem\n"
	"  --pid PID        its process, to account CPU time\n"
	"\n"
	"Environment: SOFTSTA_TGT, the softsta-tgt to start (default: that of the same build, else\n"
	"the one in $PATH); SOFTROCE_DEVICES, see softroce(7) (default without --address: sr_lo).\n";

enum {
	OPT_SECONDS = 256,
	OPT_ENGINES,
	OPT_LOAD,
	OPT_SPIN,
	OPT_JSON,
	OPT_TIMEOUT,
	OPT_ADDRESS,
	OPT_PORT,
	OPT_NQN,
	OPT_PID,
	OPT_HELP,
};

static const struct option options[] = {
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"engines", required_argument, NULL, OPT_ENGINES},
	{"load", required_argument, NULL, OPT_LOAD},
	{"spin", required_argument, NULL, OPT_SPIN},
	{"json", required_argument, NULL, OPT_JSON},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"address", required_argument, NULL, OPT_ADDRESS},
	{"port", required_argument, NULL, OPT_PORT},
	{"nqn", required_argument, NULL, OPT_NQN},
	{"pid", required_argument, NULL, OPT_PID},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static double number(double min, double max)
{
	char *end;
	double value = strtod(optarg, &end);

	if (end == optarg || *end || !(value >= min && value <= max)) {
		fprintf(stderr, "softsta-bench: '%s' is not a number from %g to %g\n", optarg, min,
			max);
		exit(2);
	}
	return value;
}

static void parse(struct bench *bench, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case OPT_SECONDS:
			bench->seconds = number(0.01, 3600);
			break;
		case OPT_ENGINES:
			bench->engines = optarg;
			break;
		case OPT_LOAD:
			bench->only = optarg;
			break;
		case OPT_SPIN:
			bench->params.spin_us = (unsigned int)number(0, 1e6);
			break;
		case OPT_JSON:
			bench->json_path = optarg;
			break;
		case OPT_TIMEOUT:
			bench->params.timeout_ms = (int)(number(0.001, 3600) * 1000);
			break;
		case OPT_ADDRESS:
			bench->params.addr = optarg;
			break;
		case OPT_PORT:
			bench->params.port = (uint16_t)number(1, UINT16_MAX);
			break;
		case OPT_NQN:
			bench->params.subnqn = optarg;
			break;
		case OPT_PID:
			bench->target_pid = (pid_t)number(1, INT32_MAX);
			break;
		default:
			fputs(usage, option == OPT_HELP ? stdout : stderr);
			exit(option == OPT_HELP ? 0 : 2);
		}
	}
	if (optind != argc || !bench->params.addr != !bench->params.subnqn) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct bench bench = {.seconds = 2, .engines = "ram,file,null"};
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&bench, argc, argv);
	bench.rows = json_object_new_array();
	print_head();
	if (bench.params.addr)
		rc = run_engine(&bench, "given", &bench.params, bench.target_pid);
	else
		rc = run_engines(&bench);
	if (bench.json_path &&
	    json_object_to_file_ext(bench.json_path, bench.rows, JSON_C_TO_STRING_PRETTY)) {
		fprintf(stderr, "softsta-bench: %s: %s\n", bench.json_path, strerror(errno));
		rc = -EIO;
	}
	json_object_put(bench.rows);
	return rc ? 1 : 0;
}
