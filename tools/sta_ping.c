/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sta-ping: is this NVMe/RDMA target alive? Connects, identifies the controller, reads one block,
 * and reports each step with its time. The steps are a table; the first that fails ends the run
 * and gives the exit status. Reads only, unless --write-lba says where to write.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/ini.h"

#define EXIT_USAGE	1
#define DETAIL_BYTES	400
#define KATO_MS		120000
#define IO_ENTRIES	32
#define BLOCK_BYTES_MAX 65536
#define STEPS_MAX	64

struct options {
	struct ini_params params;
	uint8_t hostid[16];
	uint32_t nsid; /* 0: the first active one */
	uint64_t read_lba;
	uint64_t write_lba;
	unsigned int count;
	bool has_write;
	bool is_json;
};

struct ping {
	struct options opt;
	char subnqn[NVME_NQN_LENGTH];
	uint16_t cntlid;
	struct ini_queue *admin;
	struct ini_queue *io;
	uint32_t nsid;
	uint32_t block_bytes;
	uint64_t blocks;
	uint8_t *block;
	struct json_object *report; /* NULL: plain text */
	struct json_object *steps;
};

struct step {
	const char *name;
	int exit_status;
	/* 0 with one line in @detail, or -errno with the reason in @error. */
	int (*run)(struct ping *ping, char *detail, struct ini_error *error);
	/* How often; NULL: once. */
	unsigned int (*times)(const struct ping *ping);
};

static int failed(struct ini_error *error, int err, const char *text)
{
	memset(error, 0, sizeof(*error));
	error->err = err;
	snprintf(error->text, sizeof(error->text), "%s", text);
	return err;
}

static int connect_admin(struct ping *ping, const char *subnqn, struct ini_error *error)
{
	struct ini_params params = ping->opt.params;

	params.subnqn = subnqn;
	params.kato_ms = KATO_MS;
	return ini_open_connect(&ping->admin, &params, &ping->cntlid, error);
}

static void disconnect(struct ping *ping)
{
	struct ini_error ignored;

	ini_close(ping->io);
	ping->io = NULL;
	if (ping->admin && ini_is_connected(ping->admin))
		(void)ini_shutdown(ping->admin, &ignored);
	ini_close(ping->admin);
	ping->admin = NULL;
}

/* ---- the steps ---- */

/* Ask the discovery controller; take the first NVM subsystem. */
static int run_discover(struct ping *ping, char *detail, struct ini_error *error)
{
	struct nvmf_disc_log_entry *records = NULL;
	uint32_t count = 0, i;
	uint64_t genctr;
	int rc;

	rc = connect_admin(ping, INI_DISCOVERY_NQN, error);
	if (rc)
		return rc;
	rc = ini_enable(ping->admin, error);
	if (rc == 0)
		rc = ini_discover(ping->admin, &records, &count, &genctr, error);
	disconnect(ping);
	if (rc)
		return rc;

	for (i = 0; i < count && !ping->subnqn[0]; i++)
		if (records[i].subtype == NVME_NQN_NVME)
			ini_field_str(ping->subnqn, sizeof(ping->subnqn), records[i].subnqn,
				      sizeof(records[i].subnqn));
	free(records);
	if (!ping->subnqn[0])
		return failed(error, -ENOENT, "the target lists no NVM subsystem for this host");
	snprintf(detail, DETAIL_BYTES, "%u records, %s", count, ping->subnqn);
	return 0;
}

static unsigned int times_discover(const struct ping *ping)
{
	return ping->subnqn[0] ? 0 : 1;
}

static int run_connect(struct ping *ping, char *detail, struct ini_error *error)
{
	int rc = connect_admin(ping, ping->subnqn, error);

	if (rc == 0)
		rc = ini_enable(ping->admin, error);
	if (rc == 0)
		snprintf(detail, DETAIL_BYTES, "%s, controller %u", ini_describe(ping->admin),
			 ping->cntlid);
	return rc;
}

static int run_identify(struct ping *ping, char *detail, struct ini_error *error)
{
	char model[sizeof(((struct nvme_id_ctrl *)0)->mn) + 1];
	char serial[sizeof(((struct nvme_id_ctrl *)0)->sn) + 1];
	struct nvme_id_ctrl ctrl;
	int rc = ini_identify_ctrl(ping->admin, &ctrl, error);

	if (rc)
		return rc;
	ini_field_str(model, sizeof(model), ctrl.mn, sizeof(ctrl.mn));
	ini_field_str(serial, sizeof(serial), ctrl.sn, sizeof(ctrl.sn));
	snprintf(detail, DETAIL_BYTES, "model %s, serial %s", model, serial);
	return 0;
}

static int first_nsid(struct ping *ping, struct ini_error *error)
{
	__le32 list[NVME_IDENTIFY_DATA_SIZE / sizeof(__le32)];
	int rc;

	if (ping->opt.nsid) {
		ping->nsid = ping->opt.nsid;
		return 0;
	}
	rc = ini_identify(ping->admin, 0, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST, list, error);
	if (rc)
		return rc;
	ping->nsid = le32toh(list[0]);
	if (!ping->nsid)
		return failed(error, -ENOENT, "the subsystem has no active namespace");
	return 0;
}

static int run_namespace(struct ping *ping, char *detail, struct ini_error *error)
{
	struct nvme_id_ns ns;
	unsigned int shift;
	int rc = first_nsid(ping, error);

	if (rc == 0)
		rc = ini_identify_ns(ping->admin, ping->nsid, &ns, error);
	if (rc)
		return rc;
	if (ns.nsze == 0) {
		char text[64];

		snprintf(text, sizeof(text), "namespace %u is not active", ping->nsid);
		return failed(error, -EPROTO, text);
	}
	shift = ns.lbaf[ns.flbas & 0xf].ds;
	if (shift < 9 || (1u << shift) > BLOCK_BYTES_MAX)
		return failed(error, -EPROTO, "the namespace has no usable size or block size");
	ping->block_bytes = 1u << shift;
	ping->blocks = le64toh(ns.nsze);
	snprintf(detail, DETAIL_BYTES, "nsid %u, %" PRIu64 " blocks of %u B", ping->nsid,
		 ping->blocks, ping->block_bytes);
	return 0;
}

static int run_connect_io(struct ping *ping, char *detail, struct ini_error *error)
{
	struct ini_params params = ping->opt.params;
	int rc;

	params.subnqn = ping->subnqn;
	params.qid = 1;
	params.cntlid = ping->cntlid;
	params.entries = IO_ENTRIES;
	params.slot_bytes = ping->block_bytes;
	rc = ini_open_connect(&ping->io, &params, NULL, error);
	if (rc)
		return rc;
	ping->block = calloc(2, ping->block_bytes);
	if (!ping->block)
		return failed(error, -ENOMEM, "out of memory");
	snprintf(detail, DETAIL_BYTES, "queue 1, %u entries", ini_entries(ping->io));
	return 0;
}

static int transfer(struct ping *ping, uint8_t opcode, uint64_t lba, uint8_t *block,
		    struct ini_error *error)
{
	const struct ini_rw rw = {
		.opcode = opcode,
		.data = INI_DATA_KEYED,
		.nsid = ping->nsid,
		.lba = lba,
		.blocks = 1,
		.block_bytes = ping->block_bytes,
	};

	return ini_rw(ping->io, &rw, block, error);
}

static int run_read(struct ping *ping, char *detail, struct ini_error *error)
{
	snprintf(detail, DETAIL_BYTES, "lba %" PRIu64 " %u B", ping->opt.read_lba,
		 ping->block_bytes);
	return transfer(ping, nvme_cmd_read, ping->opt.read_lba, ping->block, error);
}

static unsigned int times_read(const struct ping *ping)
{
	return ping->opt.count;
}

/* Write a pattern that tells its place and time, flush, read it back. */
static int run_write(struct ping *ping, char *detail, struct ini_error *error)
{
	uint64_t stamp[2] = {ping->opt.write_lba, ini_now_ns()};
	uint8_t *back = ping->block + ping->block_bytes;
	uint64_t lba = ping->opt.write_lba;
	size_t i;
	int rc;

	for (i = 0; i < ping->block_bytes; i += sizeof(stamp))
		memcpy(ping->block + i, stamp, sizeof(stamp));
	rc = transfer(ping, nvme_cmd_write, lba, ping->block, error);
	if (rc == 0)
		rc = ini_flush(ping->io, ping->nsid, error);
	if (rc == 0)
		rc = transfer(ping, nvme_cmd_read, lba, back, error);
	if (rc)
		return rc;
	if (memcmp(ping->block, back, ping->block_bytes))
		return failed(error, -EIO, "what was read back is not what was written");
	snprintf(detail, DETAIL_BYTES, "lba %" PRIu64 " %u B, flushed, read back", lba,
		 ping->block_bytes);
	return 0;
}

static unsigned int times_write(const struct ping *ping)
{
	return ping->opt.has_write ? 1 : 0;
}

static const struct step steps[] = {
	{"discover", 2, run_discover, times_discover}, {"connect", 3, run_connect, NULL},
	{"identify", 4, run_identify, NULL},	       {"namespace", 5, run_namespace, NULL},
	{"connect-io", 6, run_connect_io, NULL},       {"read", 7, run_read, times_read},
	{"write", 8, run_write, times_write},
};

/* ---- report ---- */

static void report_step(struct ping *ping, const struct step *step, double ms, const char *detail)
{
	struct json_object *entry;

	if (!ping->report) {
		printf("%-10s %8.3f ms  %s\n", step->name, ms, detail);
		return;
	}
	if (json_object_array_length(ping->steps) >= STEPS_MAX)
		return;
	entry = json_object_new_object();
	json_object_object_add(entry, "step", json_object_new_string(step->name));
	json_object_object_add(entry, "ms", json_object_new_double(ms));
	json_object_object_add(entry, "detail", json_object_new_string(detail));
	json_object_array_add(ping->steps, entry);
}

static void report_failure(struct ping *ping, const struct step *step,
			   const struct ini_error *error)
{
	bool is_same = !error->step || strcmp(error->step, step->name) == 0;
	struct json_object *entry;

	if (!ping->report) {
		fprintf(stderr, "sta-ping: %s failed: %s%s%s\n", step->name,
			is_same ? "" : error->step, is_same ? "" : ": ", error->text);
		return;
	}
	entry = json_object_new_object();
	json_object_object_add(entry, "step", json_object_new_string(step->name));
	json_object_object_add(entry, "at",
			       json_object_new_string(is_same ? step->name : error->step));
	json_object_object_add(entry, "text", json_object_new_string(error->text));
	json_object_object_add(entry, "errno", json_object_new_int(-error->err));
	if (error->cm_reason)
		json_object_object_add(entry, "cm_reason", json_object_new_int(error->cm_reason));
	if (error->rdma_status)
		json_object_object_add(entry, "rdma_status",
				       json_object_new_int(error->rdma_status));
	if (error->nvme_status)
		json_object_object_add(entry, "nvme_status",
				       json_object_new_int(error->nvme_status & 0x7ff));
	json_object_object_add(ping->report, "error", entry);
}

static void print_report(struct ping *ping, int status)
{
	json_object_object_add(ping->report, "nqn", json_object_new_string(ping->subnqn));
	json_object_object_add(ping->report, "ok", json_object_new_boolean(status == 0));
	puts(json_object_to_json_string_ext(ping->report, JSON_C_TO_STRING_PRETTY));
}

/* ---- options ---- */

static const char usage[] =
	"usage: sta-ping ADDRESS[:PORT] [-p PORT] [-n NQN] [OPTION]...\n"
	"Connect to an NVMe/RDMA target, identify it, read one block; time each step.\n"
	"\n"
	"  -p, --port PORT      service (default 4420)\n"
	"  -n, --nqn NQN        subsystem (default: the first that discovery lists)\n"
	"      --nsid N         namespace (default: the first active one)\n"
	"      --lba LBA        block to read (default 0)\n"
	"  -c, --count N        read N times (default 1)\n"
	"      --write-lba LBA  also write a test block at LBA and read it back\n"
	"  -q, --hostnqn NQN    say we are this host\n"
	"  -s, --source ADDR    connect from this address\n"
	"  -t, --timeout MS     for each connection and command (default 5000)\n"
	"      --json           report as JSON\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"Exit status: 0 all well, 1 usage; else the step that failed: 2 discover, 3 connect,\n"
	"4 identify, 5 namespace, 6 connect-io, 7 read, 8 write.\n";

enum {
	OPT_NSID = 256,
	OPT_LBA,
	OPT_WRITE_LBA,
	OPT_JSON,
};

static const struct option long_options[] = {
	{"port", required_argument, NULL, 'p'},
	{"nqn", required_argument, NULL, 'n'},
	{"nsid", required_argument, NULL, OPT_NSID},
	{"lba", required_argument, NULL, OPT_LBA},
	{"count", required_argument, NULL, 'c'},
	{"write-lba", required_argument, NULL, OPT_WRITE_LBA},
	{"hostnqn", required_argument, NULL, 'q'},
	{"source", required_argument, NULL, 's'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static __attribute__((noreturn)) void try_help(void)
{
	fputs("Try 'sta-ping --help'.\n", stderr);
	exit(EXIT_USAGE);
}

static uint64_t number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < min || value > max) {
		fprintf(stderr,
			"sta-ping: --%s: '%s' is not a number from %" PRIu64 " to %" PRIu64 "\n",
			name, text, min, max);
		exit(EXIT_USAGE);
	}
	return value;
}

static const char *nqn(const char *name)
{
	if (!*optarg || strlen(optarg) >= NVME_NQN_LENGTH) {
		fprintf(stderr, "sta-ping: --%s: an NQN has 1 to %d characters\n", name,
			NVME_NQN_LENGTH - 1);
		exit(EXIT_USAGE);
	}
	return optarg;
}

static void take_option(struct ping *ping, int option)
{
	struct options *opt = &ping->opt;

	switch (option) {
	case 'p':
		opt->params.port = (uint16_t)number("port", optarg, 1, UINT16_MAX);
		break;
	case 'n':
		snprintf(ping->subnqn, sizeof(ping->subnqn), "%s", nqn("nqn"));
		break;
	case OPT_NSID:
		opt->nsid = (uint32_t)number("nsid", optarg, 1, UINT32_MAX - 1);
		break;
	case OPT_LBA:
		opt->read_lba = number("lba", optarg, 0, UINT64_MAX);
		break;
	case 'c':
		opt->count = (unsigned int)number("count", optarg, 1, 1000000);
		break;
	case OPT_WRITE_LBA:
		opt->write_lba = number("write-lba", optarg, 0, UINT64_MAX);
		opt->has_write = true;
		break;
	case 'q':
		opt->params.hostnqn = nqn("hostnqn");
		break;
	case 's':
		opt->params.source = optarg;
		break;
	case 't':
		opt->params.timeout_ms = (int)number("timeout", optarg, 1, 3600000);
		break;
	case OPT_JSON:
		opt->is_json = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	case 'V':
		puts("sta-ping " SOFTSTA_VERSION);
		exit(0);
	default: /* getopt has said what is wrong */
		try_help();
	}
}

/* "ADDRESS", "ADDRESS:PORT" or "[ADDRESS]:PORT", as targets log it; cut in place. */
static void take_address(struct ping *ping, char *text)
{
	char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	char *colon = end ? end + 1 : strchr(text, ':');

	/* More colons without a bracket: a bare IPv6 address. */
	if (!end && (!colon || strchr(colon + 1, ':')))
		colon = text + strlen(text);
	if ((text[0] == '[' && !end) || (*colon && *colon != ':')) {
		fprintf(stderr, "sta-ping: '%s' is no ADDRESS[:PORT]\n", text);
		try_help();
	}
	if (*colon) {
		*colon = '\0';
		ping->opt.params.port = (uint16_t)number("port", colon + 1, 1, UINT16_MAX);
	}
	if (end) {
		*end = '\0';
		text++;
	}
	ping->opt.params.addr = text;
}

static void parse(struct ping *ping, int argc, char **argv)
{
	static char name[] = "sta-ping";
	int option;

	if (argc < 2) {
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
	argv[0] = name; /* in getopt's messages */
	ping->opt.count = 1;
	while ((option = getopt_long(argc, argv, "p:n:c:q:s:t:hV", long_options, NULL)) != -1)
		take_option(ping, option);
	if (optind + 1 != argc) {
		fprintf(stderr, "sta-ping: %s address is given\n",
			optind == argc ? "no" : "more than one");
		try_help();
	}
	take_address(ping, argv[optind]);
	if (ping->opt.is_json) {
		ping->report = json_object_new_object();
		ping->steps = json_object_new_array();
		json_object_object_add(ping->report, "address",
				       json_object_new_string(ping->opt.params.addr));
		json_object_object_add(ping->report, "steps", ping->steps);
	}
}

/* ---- */

static int run_step(struct ping *ping, const struct step *step)
{
	char detail[DETAIL_BYTES] = "";
	struct ini_error error = {0};
	uint64_t start_ns = ini_now_ns();

	if (step->run(ping, detail, &error)) {
		report_failure(ping, step, &error);
		return step->exit_status;
	}
	report_step(ping, step, (double)(ini_now_ns() - start_ns) / 1e6, detail);
	return 0;
}

int main(int argc, char **argv)
{
	struct ping ping = {0};
	int status = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&ping, argc, argv);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]) && status == 0; i++) {
		unsigned int times = steps[i].times ? steps[i].times(&ping) : 1;

		while (times-- > 0 && status == 0)
			status = run_step(&ping, &steps[i]);
	}
	disconnect(&ping);
	if (ping.report)
		print_report(&ping, status);
	json_object_put(ping.report);
	free(ping.block);
	return status;
}
