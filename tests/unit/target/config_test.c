/* SPDX-License-Identifier: Apache-2.0 */
/* SPDK configuration files, good and bad, and the command line. Nothing is opened. */
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/config.h"
#include "target/options.h"

static int warnings;
static char last_warning[512];

static void warn(const char *line)
{
	warnings++;
	snprintf(last_warning, sizeof(last_warning), "%s", line);
}

static int load(struct tgt_config *config, const char *name, struct tgt_err *err)
{
	char path[512];
	int rc;

	warnings = 0;
	err->text[0] = '\0';
	snprintf(path, sizeof(path), TEST_DATA "/config/%s.json", name);
	tgt_config_init(config);
	rc = tgt_config_load_json(config, path, warn, err);
	return rc ? rc : tgt_config_check(config, err);
}

static void good_bdevs(void **state)
{
	const struct tgt_bdev_conf *b;
	struct tgt_config config;
	struct tgt_err err;

	(void)state;
	assert_int_equal(load(&config, "good-spdk", &err), 0);
	assert_int_equal(config.n_bdevs, 4);
	b = &config.bdevs[0];
	assert_string_equal(b->name, "disk0");
	assert_int_equal(b->kind, TGT_BDEV_FILE);
	assert_string_equal(b->path, "/tmp/disk0.img");
	assert_int_equal(b->block_bytes, 4096);
	assert_true(b->read_only);
	b = &config.bdevs[1];
	assert_int_equal(b->block_bytes, 0); /* what the device has */
	assert_false(b->read_only);
	b = &config.bdevs[2];
	assert_int_equal(b->kind, TGT_BDEV_RAM);
	assert_true(b->size_bytes == 64 << 20);
	assert_true(b->has_uuid);
	assert_int_equal(b->uuid[0], 0xac);
	b = &config.bdevs[3];
	assert_int_equal(b->kind, TGT_BDEV_NULL);
	assert_true(b->size_bytes == 4 << 20);
	tgt_config_fini(&config);
}

static void good_subsystem(void **state)
{
	const struct tgt_subsys_conf *s;
	struct tgt_config config;
	struct tgt_err err;
	char addr[TGT_ADDR_TEXT];

	(void)state;
	assert_int_equal(load(&config, "good-spdk", &err), 0);
	assert_int_equal(config.io_queue_entries, 64);
	assert_int_equal(config.max_io_queues, 8);
	assert_int_equal(config.max_io_bytes, 131072);
	assert_true(config.has_in_capsule_bytes); /* and its value is 0 (U28) */
	assert_int_equal(config.in_capsule_bytes, 0);
	assert_int_equal(config.n_subsystems, 1);
	s = &config.subsystems[0];
	assert_string_equal(s->nqn, "nqn.2016-06.io.spdk:cnode1");
	assert_string_equal(s->serial, "SPDK00000000000001");
	assert_string_equal(s->model, "SPDK bdev Controller");
	assert_false(s->allow_any_host);
	assert_int_equal(s->max_namespaces, 32);
	assert_int_equal(s->max_cntlid, 65519);
	assert_int_equal(s->n_hosts, 1);
	assert_string_equal(s->hosts[0], "nqn.2016-06.io.spdk:host1");
	assert_int_equal(s->n_ns, 2);
	assert_int_equal(s->ns[0].nsid, 3);
	assert_int_equal(s->ns[0].bdev, 0);
	assert_true(s->ns[0].has_uuid && s->ns[0].has_nguid);
	assert_int_equal(s->ns[1].nsid, 1); /* the lowest that is free */
	assert_false(s->ns[1].has_uuid);
	assert_int_equal(s->n_listeners, 2);
	tgt_addr_format(&s->listeners[0].sa, addr);
	assert_string_equal(addr, "192.168.100.8");
	tgt_addr_format(&s->listeners[1].sa, addr);
	assert_string_equal(addr, "fe80::1");
	assert_int_equal(tgt_addr_port(&s->listeners[1].sa), 4421);
	/* iobuf, bdev_set_options, bdev_wait_for_examine, two Malloc parameters,
	 * nvmf_set_max_subsystems, two of the transport, ana_reporting, secure_channel */
	assert_int_equal(warnings, 10);
	assert_non_null(strstr(last_warning, "secure_channel"));
	tgt_config_fini(&config);
}

/* A drive is a bdev; what stands in a subsystem are its namespaces. */
static void good_drives(void **state)
{
	const struct tgt_subsys_conf *s;
	struct tgt_config config;
	struct tgt_err err;

	(void)state;
	assert_int_equal(load(&config, "good-drives", &err), 0);
	assert_int_equal(warnings, 0);
	assert_int_equal(config.n_bdevs, 2);
	assert_int_equal(config.bdevs[1].kind, TGT_BDEV_DRIVE);
	assert_string_equal(config.bdevs[1].path, "0000:82:00.1");
	s = &config.subsystems[0];
	assert_int_equal(s->n_ns, 3);
	assert_int_equal(s->ns[0].nsid, 7);
	assert_int_equal(s->ns[0].bdev, 0);
	assert_int_equal(s->ns[0].be_nsid, 2);
	assert_int_equal(s->ns[1].nsid, 1);
	assert_int_equal(s->ns[1].bdev, 1);
	assert_int_equal(s->ns[1].be_nsid, 1);
	assert_int_equal(s->ns[2].nsid, 2);
	assert_int_equal(s->ns[2].be_nsid, 1);
	tgt_config_fini(&config);
}

/* What is for another transport is skipped with one warning each, the rest works. */
static void other_transports(void **state)
{
	struct tgt_config config;
	struct tgt_err err;
	char addr[TGT_ADDR_TEXT];

	(void)state;
	assert_int_equal(load(&config, "good-tcp-too", &err), 0);
	assert_int_equal(config.io_queue_entries, 64);
	assert_int_equal(config.subsystems[0].n_listeners, 1);
	tgt_addr_format(&config.subsystems[0].listeners[0].sa, addr);
	assert_string_equal(addr, "10.0.0.2");
	assert_int_equal(warnings, 2);
	assert_non_null(strstr(last_warning, "nvmf_subsystem_add_listener: trtype \"TCP\""));
	tgt_config_fini(&config);
}

/* Each bad file: what its message has to name. */
static const struct {
	const char *file, *names, *names_too;
} bad[] = {
	{"bad-syntax", "line 3", "bad-syntax.json"},
	{"bad-not-an-object", "subsystems", ""},
	{"bad-two-objects", "line 1", "text behind the end"},
	{"bad-cut-off", "line 1", "unexpected end"},
	{"bad-no-method", "method", ""},
	{"bad-no-params", "bdev_null_create", "params"},
	{"bad-block-size", "bdev_null_create", "520"},
	{"bad-drive-address", "bdev_nvme_attach_controller", "0000:01:00.0"},
	{"bad-drive-remote", "bdev_nvme_attach_controller", "only PCIe"},
	{"bad-drive-twice", "bdev_nvme_attach_controller", "Nvme0"},
	{"bad-drive-whole", "nvmf_subsystem_add_ns", "no bdev \"Nvme0\""},
	{"bad-drive-n0", "nvmf_subsystem_add_ns", "no bdev \"Nvme0n0\""},
	{"bad-drive-ns-twice", "nvmf_subsystem_add_ns", "namespace already"},
	{"bad-num-blocks-text", "bdev_null_create", "num_blocks"},
	{"bad-no-filename", "bdev_aio_create", "filename"},
	{"bad-bdev-twice", "bdev_null_create", "\"n\""},
	{"bad-only-tcp", "listener", ""},
	{"bad-bad-nqn", "nvmf_create_subsystem", "nqn"},
	{"bad-no-such-subsystem", "nvmf_subsystem_add_ns", "nqn"},
	{"bad-no-such-bdev", "nvmf_subsystem_add_ns", "bdev_name"},
	{"bad-nsid-range", "nvmf_subsystem_add_ns", "nsid"},
	{"bad-bad-uuid", "nvmf_subsystem_add_ns", "uuid"},
	{"bad-bdev-used-twice", "nvmf_subsystem_add_ns", "namespace already"},
	{"bad-bad-address", "nvmf_subsystem_add_listener", "listen_address"},
	{"bad-bad-port", "nvmf_subsystem_add_listener", "port"},
	{"bad-host-with-key", "nvmf_subsystem_add_host", "dhchap_key"},
	{"bad-no-listener", "listener", ""},
	{"bad-serial-too-long", "nvmf_create_subsystem", "serial_number"},
	{"bad-serial-accent", "nvmf_create_subsystem", "printable ASCII"},
	{"bad-nul-in-nqn", "nqn", "NUL"},
	{"bad-nul-in-filename", "filename", "NUL"},
	{"no-such-file", "No such file", ""},
};

static void bad_files(void **state)
{
	struct tgt_config config;
	struct tgt_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(load(&config, bad[i].file, &err) < 0);
		if (!strstr(err.text, bad[i].names) || !strstr(err.text, bad[i].names_too))
			fail_msg("%s: the message is: %s", bad[i].file, err.text);
		tgt_config_fini(&config);
	}
}

static void assert_refused(const char *path, const char *why)
{
	struct tgt_config config;
	struct tgt_err err = {""};
	char line[sizeof(err.text)];

	tgt_config_init(&config);
	assert_int_equal(tgt_config_load_json(&config, path, warn, &err), -EINVAL);
	snprintf(line, sizeof(line), "%s: %s", path, why);
	assert_string_equal(err.text, line);
	tgt_config_fini(&config);
}

/* Nobody writes into the FIFO, and the file has no blocks on the disk. */
static void no_files_and_a_large_one(void **state)
{
	char dir[] = "/tmp/config_test.XXXXXX", path[64];
	int fd;

	(void)state;
	assert_refused(TEST_DATA, "is not a file");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, "is not a file");
	unlink(path);
	snprintf(path, sizeof(path), "%s/large", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, TGT_CONFIG_FILE_BYTES), 0);
	assert_refused(path, "line 1: a NUL character");
	assert_int_equal(ftruncate(fd, TGT_CONFIG_FILE_BYTES + 1), 0);
	assert_refused(path, "is larger than 16777216 bytes");
	close(fd);
	unlink(path);
	rmdir(dir);
}

/* Only a device has a block size by itself: 0, or nothing, leaves it at that. */
static void block_size_of_the_device(void **state)
{
	static const char text[] =
		"{\"subsystems\": [{\"subsystem\": \"bdev\", \"config\": ["
		"{\"method\": \"bdev_aio_create\","
		" \"params\": {\"name\": \"a\", \"filename\": \"/a\", \"block_size\": 0}},"
		"{\"method\": \"bdev_uring_create\","
		" \"params\": {\"name\": \"b\", \"filename\": \"/b\"}},"
		"{\"method\": \"bdev_malloc_create\","
		" \"params\": {\"name\": \"c\", \"num_blocks\": 8, \"block_size\": 0}}]}]}";
	struct tgt_bdev_conf none = {.kind = TGT_BDEV_RAM, .size_bytes = 4096, .name = "d"};
	struct tgt_config c;
	struct tgt_err err;

	(void)state;
	tgt_config_init(&c);
	assert_int_equal(tgt_config_parse_json(&c, "f", text, sizeof(text) - 1, warn, &err), 0);
	assert_int_equal(c.bdevs[0].block_bytes, 0);
	assert_int_equal(c.bdevs[1].block_bytes, 0);
	assert_int_equal(c.bdevs[2].block_bytes, 512);
	assert_int_equal(c.bdevs[2].size_bytes, 4096);
	assert_int_equal(tgt_config_add_bdev(&c, &none, &err), -EINVAL);
	tgt_config_fini(&c);
}

/* Test engines: a bdev has another name with each, and its own no more. */
static void engines(void **state)
{
	static const struct tgt_layer_conf delay = {TGT_LAYER_DELAY, 1000, 2000},
					   error = {.kind = TGT_LAYER_ERROR};
	struct tgt_bdev_conf bdev = {
		.kind = TGT_BDEV_RAM, .size_bytes = 4096, .block_bytes = 512, .name = "m"};
	struct tgt_bdev_conf drive = {.kind = TGT_BDEV_DRIVE,
				      .path = (char *)"0000:01:00.0",
				      .name = "Nvme0"};
	struct tgt_ns_conf ns = {.nsid = 1, .be_nsid = TGT_ONLY_NAMESPACE};
	char longest[sizeof(bdev.name) + 1] = "";
	struct tgt_subsys_conf *subsys;
	struct tgt_config c;
	struct tgt_err err;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	tgt_config_init(&c);
	assert_int_equal(tgt_config_add_bdev(&c, &bdev, &err), 0);
	assert_int_equal(tgt_config_add_bdev(&c, &drive, &err), 0);
	assert_int_equal(tgt_config_add_layer(&c, "m", "slow", &delay, &err), 0);
	assert_int_equal(tgt_config_find_bdev(&c, "slow"), 0);
	assert_int_equal(tgt_config_find_bdev(&c, "m"), -1);
	assert_int_equal(tgt_config_add_layer(&c, "m", "again", &delay, &err), -ENOENT);
	assert_int_equal(tgt_config_add_layer(&c, "slow", "EE_slow", &error, &err), 0);
	assert_int_equal(tgt_config_add_layer(&c, "EE_slow", "EE", &error, &err), -ENOSPC);
	assert_int_equal(tgt_config_add_layer(&c, "Nvme0n1", "x", &delay, &err), -ENOTSUP);
	assert_int_equal(tgt_config_add_layer(&c, "EE_slow", "Nvme0", &delay, &err), -EEXIST);
	assert_int_equal(tgt_config_add_layer(&c, "EE_slow", "", &delay, &err), -EINVAL);
	assert_int_equal(tgt_config_add_layer(&c, "EE_slow", longest, &delay, &err), -EINVAL);
	assert_int_equal(c.bdevs[0].n_layers, 2);
	assert_int_equal(c.bdevs[0].layers[0].kind, TGT_LAYER_DELAY);
	assert_int_equal(c.bdevs[0].layers[0].write_ns, 2000);
	assert_int_equal(c.bdevs[0].layers[1].kind, TGT_LAYER_ERROR);
	assert_int_equal(tgt_config_add_subsys(&c, "nqn.2024-01.test:a", &subsys, &err), 0);
	assert_int_equal(tgt_config_add_ns(&c, subsys, &ns, &err), 0);
	assert_int_equal(tgt_config_add_layer(&c, "EE_slow", "late", &delay, &err), -EBUSY);
	tgt_config_fini(&c);
}

/* Two namespaces with an identifier in common are one disk to a host. */
static void identifiers_are_unique(void **state)
{
	static const uint8_t id[16] = {1, 2, 3};
	struct tgt_bdev_conf bdev = {.kind = TGT_BDEV_NULL,
				     .size_bytes = 1 << 20,
				     .block_bytes = 512};
	struct tgt_ns_conf ns, first = {.nsid = 5};
	struct tgt_subsys_conf *subsys, *other;
	struct tgt_config c;
	struct tgt_err err;

	(void)state;
	tgt_config_init(&c);
	snprintf(bdev.name, sizeof(bdev.name), "a");
	assert_int_equal(tgt_config_add_bdev(&c, &bdev, &err), 0);
	snprintf(bdev.name, sizeof(bdev.name), "b");
	bdev.has_uuid = true;
	memcpy(bdev.uuid, id, sizeof(id));
	assert_int_equal(tgt_config_add_bdev(&c, &bdev, &err), 0);
	snprintf(bdev.name, sizeof(bdev.name), "c");
	bdev.has_uuid = false;
	assert_int_equal(tgt_config_add_bdev(&c, &bdev, &err), 0);
	assert_int_equal(tgt_config_add_subsys(&c, "nqn.2024-01.test:a", &subsys, &err), 0);
	first.has_uuid = true;
	first.has_nguid = true;
	memcpy(first.uuid, id, sizeof(id));
	memcpy(first.nguid, id, sizeof(id));
	memcpy(first.eui64, id, sizeof(first.eui64));
	assert_int_equal(tgt_config_add_ns(&c, subsys, &first, &err), 0);

	/* What the disk brings counts, too. */
	ns = (struct tgt_ns_conf){.nsid = 6, .bdev = 1};
	assert_int_equal(tgt_config_add_ns(&c, subsys, &ns, &err), -EEXIST);
	assert_string_equal(err.text,
			    "namespaces 5 (bdev \"a\") and 6 (bdev \"b\") have the same uuid");
	ns = (struct tgt_ns_conf){.nsid = 6, .bdev = 2, .has_nguid = true};
	memcpy(ns.nguid, id, sizeof(id));
	assert_int_equal(tgt_config_add_ns(&c, subsys, &ns, &err), -EEXIST);
	assert_non_null(strstr(err.text, "(bdev \"c\") have the same nguid"));
	ns = (struct tgt_ns_conf){.nsid = 6, .bdev = 2};
	memcpy(ns.eui64, id, sizeof(ns.eui64));
	assert_int_equal(tgt_config_add_ns(&c, subsys, &ns, &err), -EEXIST);
	assert_non_null(strstr(err.text, "have the same eui64"));
	assert_int_equal(subsys->n_ns, 1);

	ns = (struct tgt_ns_conf){.nsid = 6, .bdev = 2};
	assert_int_equal(tgt_config_add_ns(&c, subsys, &ns, &err), 0);
	assert_int_equal(tgt_config_add_subsys(&c, "nqn.2024-01.test:b", &other, &err), 0);
	ns = (struct tgt_ns_conf){.nsid = 1, .bdev = 1};
	assert_int_equal(tgt_config_add_ns(&c, other, &ns, &err), 0);
	tgt_config_fini(&c);
}

static enum tgt_options_result parse(struct tgt_config *config, struct tgt_err *err, int argc, ...)
{
	char *argv[32] = {(char *)"softsta-tgt"};
	va_list ap;
	int i;

	va_start(ap, argc);
	for (i = 1; i <= argc; i++)
		argv[i] = va_arg(ap, char *);
	va_end(ap);
	err->text[0] = '\0';
	tgt_config_init(config);
	return tgt_options_parse(argc + 1, argv, "test machine", warn, config, err);
}

static void options_good(void **state)
{
	const struct tgt_subsys_conf *s;
	struct tgt_config c;
	struct tgt_err err;
	char first[TGT_NQN_TEXT];

	(void)state;
	assert_int_equal(parse(&c, &err, 2, "--export", "/tmp/disk.img"), TGT_OPTIONS_RUN);
	s = &c.subsystems[0];
	assert_int_equal(c.n_bdevs, 1);
	assert_int_equal(c.bdevs[0].block_bytes, 512);
	assert_true(c.bdevs[0].size_bytes == 0);
	assert_false(c.bdevs[0].read_only);
	assert_null(tgt_nqn_check(s->nqn));
	assert_int_equal(s->n_listeners, 1);
	assert_true(tgt_addr_is_any(&s->listeners[0].sa));
	assert_int_equal(tgt_addr_port(&s->listeners[0].sa), 4420);
	assert_false(s->allow_any_host);
	assert_int_equal(s->n_hosts, 0);
	snprintf(first, sizeof(first), "%s", s->nqn);
	tgt_config_fini(&c);
	assert_int_equal(parse(&c, &err, 2, "--export", "/tmp/disk.img"), TGT_OPTIONS_RUN);
	assert_string_equal(c.subsystems[0].nqn, first); /* the same after a restart */
	tgt_config_fini(&c);

	assert_int_equal(parse(&c, &err, 18, "--allow-any-host", "--export", "/tmp/a", "--export",
			       "ram:64M", "--export=null:1G", "--size", "1G", "--block-size",
			       "4096", "--nqn", FAKE_NQN, "--listen", "10.0.0.1", "--listen",
			       "[::1]:4421", "--allow-host", FAKE_HOST),
			 TGT_OPTIONS_RUN);
	s = &c.subsystems[0];
	assert_string_equal(s->nqn, FAKE_NQN);
	assert_int_equal(s->n_ns, 3);
	assert_int_equal(s->ns[2].nsid, 3);
	assert_true(c.bdevs[0].size_bytes == 1 << 30);
	assert_int_equal(c.bdevs[1].kind, TGT_BDEV_RAM);
	assert_true(c.bdevs[1].size_bytes == 64 << 20);
	assert_int_equal(c.bdevs[1].block_bytes, 4096);
	assert_int_equal(c.bdevs[2].kind, TGT_BDEV_NULL);
	assert_int_equal(s->n_listeners, 2);
	assert_true(s->allow_any_host);
	assert_string_equal(s->hosts[0], FAKE_HOST);
	tgt_config_fini(&c);
}

static void options_drives(void **state)
{
	const struct tgt_subsys_conf *s;
	struct tgt_config c;
	struct tgt_err err;

	(void)state;
	assert_int_equal(parse(&c, &err, 6, "--drive", "01:00.0", "--export", "ram:1M", "--drive",
			       "0000:AF:00.0"),
			 TGT_OPTIONS_RUN);
	s = &c.subsystems[0];
	assert_int_equal(c.n_bdevs, 3);
	assert_int_equal(s->n_ns, 3);
	assert_int_equal(s->ns[0].nsid, 1); /* the export */
	assert_int_equal(s->ns[1].nsid, 0);
	assert_int_equal(s->ns[1].be_nsid, TGT_EVERY_NAMESPACE);
	assert_int_equal(c.bdevs[1].kind, TGT_BDEV_DRIVE);
	assert_string_equal(c.bdevs[1].name, "0000:01:00.0");
	assert_string_equal(c.bdevs[2].path, "0000:af:00.0");
	tgt_config_fini(&c);
	assert_int_equal(parse(&c, &err, 2, "--drive", "01:00.0"), TGT_OPTIONS_RUN);
	assert_null(tgt_nqn_check(c.subsystems[0].nqn));
	tgt_config_fini(&c);
}

static void options_read_only(void **state)
{
	struct tgt_config c;
	struct tgt_err err;

	(void)state;
	assert_int_equal(parse(&c, &err, 5, "--read-only", "--export", "ram:1M", "--export",
			       "/tmp/disk.img"),
			 TGT_OPTIONS_RUN);
	assert_false(c.bdevs[0].read_only);
	assert_true(c.bdevs[1].read_only);
	tgt_config_fini(&c);
}

#define EXPORT "--export", "/tmp/a"

static void check_bad(enum tgt_options_result expected, const char *names, int argc, const char *a,
		      const char *b, const char *c, const char *d)
{
	struct tgt_config config;
	struct tgt_err err;

	assert_int_equal(parse(&config, &err, argc, a, b, c, d), expected);
	if (!strstr(err.text, names))
		fail_msg("the message is: %s", err.text);
	tgt_config_fini(&config);
}

static void options_bad(void **state)
{
	(void)state;
	check_bad(TGT_OPTIONS_USAGE, "nothing to export", 0, 0, 0, 0, 0);
	check_bad(TGT_OPTIONS_USAGE, "--bogus", 1, "--bogus", 0, 0, 0);
	check_bad(TGT_OPTIONS_USAGE, "-x: no such option", 3, EXPORT, "-x", 0);
	check_bad(TGT_OPTIONS_USAGE, "-xy: no such option", 3, EXPORT, "-xy", 0);
	check_bad(TGT_OPTIONS_USAGE, "mean --listen?", 4, EXPORT, "--lisen", "10.0.0.1");
	check_bad(TGT_OPTIONS_USAGE, "mean --allow-any-host?", 3, EXPORT, "--allow-any-hosts", 0);
	check_bad(TGT_OPTIONS_USAGE, "mean --nqn?", 3, EXPORT, "--nqm=x", 0);
	check_bad(TGT_OPTIONS_USAGE, "several", 3, EXPORT, "--allow", 0);
	check_bad(TGT_OPTIONS_USAGE, "--help takes no value", 3, EXPORT, "--help=me", 0);
	check_bad(TGT_OPTIONS_USAGE, "--export: a value", 1, "--export", 0, 0, 0);
	check_bad(TGT_OPTIONS_USAGE, "-c: a value", 3, EXPORT, "-c", 0);
	check_bad(TGT_OPTIONS_USAGE, "--config is given too often", 4, "-c", "/a", "--config",
		  "/b");
	check_bad(TGT_OPTIONS_USAGE, "--export disk.img", 3, EXPORT, "disk.img", 0);
	check_bad(TGT_OPTIONS_USAGE, "--export", 3, "--config", TEST_DATA "/config/good-spdk.json",
		  "--allow-any-host", 0);
	check_bad(TGT_OPTIONS_FAIL, "--size", 4, EXPORT, "--size", "1X");
	check_bad(TGT_OPTIONS_FAIL, "--read-only does not", 4, "--export=/tmp/a", "--size", "1M",
		  "--read-only");
	check_bad(TGT_OPTIONS_FAIL, "--read-only is for a file", 3, "--export", "ram:1M",
		  "--read-only", 0);
	check_bad(TGT_OPTIONS_FAIL, "--size is for a file", 4, "--export", "ram:1M", "--size",
		  "1M");
	check_bad(TGT_OPTIONS_FAIL, "PCI address", 2, "--drive", "/dev/nvme0n1", 0, 0);
	check_bad(TGT_OPTIONS_FAIL, "0000:01:00.0", 4, "--drive", "01:00.0", "--drive",
		  "0000:01:00.0");
	check_bad(TGT_OPTIONS_FAIL, "--read-only is for files", 4, EXPORT, "--read-only",
		  "--drive=01:00.0");
	check_bad(TGT_OPTIONS_FAIL, "too large", 4, EXPORT, "--size", "9999999999999G");
	check_bad(TGT_OPTIONS_FAIL, "multiple", 4, EXPORT, "--size", "1000");
	check_bad(TGT_OPTIONS_FAIL, "--block-size", 4, EXPORT, "--block-size", "1024");
	check_bad(TGT_OPTIONS_FAIL, "--nqn", 4, EXPORT, "--nqn", "disk");
	check_bad(TGT_OPTIONS_FAIL, "host NQN", 4, EXPORT, "--allow-host", "myhost");
	check_bad(TGT_OPTIONS_FAIL, "--listen", 4, EXPORT, "--listen", "somewhere");
	check_bad(TGT_OPTIONS_FAIL, "0.0.0.0", 4, EXPORT, "--listen", ":4420");
	check_bad(TGT_OPTIONS_FAIL, "--listen", 4, EXPORT, "--listen", "1.2.3.4:99999");
	check_bad(TGT_OPTIONS_FAIL, "--export", 2, "--export", "ram:much", 0, 0);
	check_bad(TGT_OPTIONS_FAIL, "nowhere.json", 2, "--config", "/nowhere.json", 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_bdevs),
		cmocka_unit_test(good_drives),
		cmocka_unit_test(good_subsystem),
		cmocka_unit_test(other_transports),
		cmocka_unit_test(block_size_of_the_device),
		cmocka_unit_test(engines),
		cmocka_unit_test(identifiers_are_unique),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(no_files_and_a_large_one),
		cmocka_unit_test(options_good),
		cmocka_unit_test(options_drives),
		cmocka_unit_test(options_bad),
		cmocka_unit_test(options_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
