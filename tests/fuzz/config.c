/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of configuration files under arbitrary text. What it accepts has to hold together:
 * every index and name in range and ended, and nothing that it refuses goes without a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "target/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static void check_text(const char *text, size_t room)
{
	require(strnlen(text, room) < room);
}

static void on_warning(const char *line)
{
	require(line[0] && !strchr(line, '\n'));
}

static void check_subsys(const struct tgt_config *config, const struct tgt_subsys_conf *subsys)
{
	char addr[TGT_ADDR_TEXT];
	size_t i, other;

	check_text(subsys->nqn, sizeof(subsys->nqn));
	check_text(subsys->serial, sizeof(subsys->serial));
	check_text(subsys->model, sizeof(subsys->model));
	require(tgt_config_find_subsys(config, subsys->nqn) == subsys);
	require(subsys->n_hosts <= TGT_MAX_HOSTS_PER_SUBSYSTEM);
	for (i = 0; i < subsys->n_hosts; i++)
		check_text(subsys->hosts[i], sizeof(subsys->hosts[i]));
	for (i = 0; i < subsys->n_ns; i++) {
		require(subsys->ns[i].bdev < config->n_bdevs);
		require(subsys->ns[i].be_nsid == TGT_ONLY_NAMESPACE ||
			config->bdevs[subsys->ns[i].bdev].kind == TGT_BDEV_DRIVE);
		require(subsys->ns[i].nsid >= 1 && subsys->ns[i].nsid <= TGT_MAX_NAMESPACES);
		for (other = 0; other < i; other++)
			require(subsys->ns[other].nsid != subsys->ns[i].nsid);
	}
	for (i = 0; i < subsys->n_listeners; i++) {
		tgt_addr_format(&subsys->listeners[i].sa, addr);
		require(addr[0] && tgt_addr_port(&subsys->listeners[i].sa));
	}
}

static void check(const struct tgt_config *config)
{
	size_t i;

	require(config->n_bdevs <= TGT_MAX_BDEVS);
	require(config->n_subsystems < TGT_MAX_SUBSYSTEMS);
	for (i = 0; i < config->n_bdevs; i++) {
		const struct tgt_bdev_conf *bdev = &config->bdevs[i];

		check_text(bdev->name, sizeof(bdev->name));
		require(tgt_config_find_bdev(config, bdev->name) == (long)i);
		require((bdev->kind == TGT_BDEV_FILE || bdev->kind == TGT_BDEV_DRIVE) ==
			(bdev->path != NULL));
		if (bdev->kind == TGT_BDEV_DRIVE) {
			require(!bdev->block_bytes && !bdev->size_bytes);
			continue;
		}
		if (bdev->kind == TGT_BDEV_FILE && !bdev->block_bytes)
			continue;
		require(bdev->block_bytes == 512 || bdev->block_bytes == 4096);
		require(bdev->size_bytes % bdev->block_bytes == 0);
	}
	for (i = 0; i < config->n_subsystems; i++)
		check_subsys(config, &config->subsystems[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tgt_config config;
	struct tgt_err err = {""};
	/* On the heap and not ended, so that a sanitizer sees a look behind its end. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	tgt_config_init(&config);
	if (tgt_config_parse_json(&config, "input", text, size, on_warning, &err))
		require(err.text[0] && !strchr(err.text, '\n'));
	else if (tgt_config_check(&config, &err))
		require(err.text[0]);
	check(&config);
	tgt_config_fini(&config);
	free(text);
	return 0;
}
