/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is logged. There are two worlds, as doca_log.h has it: the application, which is the
 * target's own log (log.h), and the SDK, which is the libraries.
 */
#include "target/rpc/methods.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include <doca_log.h>

#include "target/log.h"
#include "target/rpc/json.h"
#include "util/compiler.h"

/* DOCA's names, and SPDK's where they differ. The first name of a level is the one it is shown by.
 */
static const struct {
	const char *name;
	uint32_t level;
} levels[] = {
	{"DISABLE", DOCA_LOG_LEVEL_DISABLE}, {"DISABLED", DOCA_LOG_LEVEL_DISABLE},
	{"CRIT", DOCA_LOG_LEVEL_CRIT},	     {"ERROR", DOCA_LOG_LEVEL_ERROR},
	{"WARNING", DOCA_LOG_LEVEL_WARNING}, {"INFO", DOCA_LOG_LEVEL_INFO},
	{"NOTICE", DOCA_LOG_LEVEL_INFO},     {"DEBUG", DOCA_LOG_LEVEL_DEBUG},
	{"TRACE", DOCA_LOG_LEVEL_TRACE},
};

enum {
	WORLD_APP = 1,
	WORLD_SDK = 2,
};

static const char *level_name(uint32_t level)
{
	size_t i;

	for (i = 0; i < UTIL_ARRAY_SIZE(levels); i++)
		if (levels[i].level == level)
			return levels[i].name;
	return "unknown";
}

/* The worlds that "world" names, @fallback without it; -EINVAL. */
static int read_world(const struct tgt_rpc_call *call, int fallback)
{
	const char *world = NULL;

	if (tgt_take_string(&call->call, call->params, "world", &world) < 0)
		return -EINVAL;
	if (!world)
		return fallback;
	if (!strcmp(world, "app"))
		return WORLD_APP;
	if (!strcmp(world, "sdk"))
		return WORLD_SDK;
	return tgt_bad(&call->call, -EINVAL, "world", "is not \"app\" or \"sdk\"");
}

static int read_level(const struct tgt_rpc_call *call, uint32_t *level)
{
	const char *name;
	size_t i;
	int rc = tgt_need_string(&call->call, call->params, "level", &name);

	if (rc)
		return rc;
	for (i = 0; i < UTIL_ARRAY_SIZE(levels); i++)
		if (!strcasecmp(levels[i].name, name)) {
			*level = levels[i].level;
			return 0;
		}
	return tgt_bad(&call->call, -EINVAL, "level",
		       "is not DISABLE, CRIT, ERROR, WARNING, INFO, DEBUG or TRACE");
}

int tgt_rpc_log_set_level(const struct tgt_rpc_call *call, json_object **result)
{
	int worlds = read_world(call, WORLD_APP | WORLD_SDK);
	uint32_t level = 0;

	if (worlds < 0 || read_level(call, &level))
		return -EINVAL;
	if (worlds & WORLD_APP)
		tgt_log_set_level((int)level);
	if (worlds & WORLD_SDK)
		(void)doca_log_level_set_global_sdk_limit(level);
	*result = json_object_new_boolean(true);
	return 0;
}

/* SPDK answers with one level: of the libraries, which is the one that people turn up. */
int tgt_rpc_log_get_level(const struct tgt_rpc_call *call, json_object **result)
{
	int world = read_world(call, WORLD_SDK);

	if (world < 0)
		return world;
	*result = tgt_json_text(world == WORLD_APP
					? level_name((uint32_t)tgt_log_get_level())
					: level_name(doca_log_level_get_global_sdk_limit()));
	return 0;
}
