/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks that fail on purpose. The method and its parameters are SPDK's; the types of error beyond
 * "failure" and "pending" are ours.
 */
#include "target/rpc/methods.h"

#include <errno.h>
#include <string.h>

#include "target/layer.h"
#include "target/server.h"
#include "util/compiler.h"

#define ALL_OPS ((1u << NV_STORE_OPS) - 1)

static const struct {
	const char *name;
	uint32_t ops; /* 0: injection ends */
} io_types[] = {
	{"clear", 0},
	{"all", ALL_OPS},
	{"read", 1u << NV_STORE_READ},
	{"write", 1u << NV_STORE_WRITE},
	{"flush", 1u << NV_STORE_FLUSH},
	{"unmap", 1u << NV_STORE_DISCARD},
	{"write_zeroes", 1u << NV_STORE_ZERO},
};

static const struct {
	const char *name;
	enum tgt_injected what;
} error_types[] = {
	{"failure", TGT_INJECT_FAILURE},
	{"pending", TGT_INJECT_PENDING},
	{"wrong_phase", TGT_INJECT_WRONG_PHASE},
	{"unknown_cid", TGT_INJECT_UNKNOWN_CID},
	{"twice", TGT_INJECT_TWICE},
	{"fatal", TGT_INJECT_FATAL},
	{"gone", TGT_INJECT_GONE},
	{"reset", TGT_INJECT_RESET},
};

static int take_ops(const struct tgt_rpc_call *call, uint32_t *ops)
{
	const char *text;
	int rc = tgt_need_string(&call->call, call->params, "io_type", &text);

	if (rc)
		return rc;
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(io_types); i++) {
		if (!strcmp(io_types[i].name, text)) {
			*ops = io_types[i].ops;
			return 0;
		}
	}
	return tgt_bad(&call->call, -EINVAL, "io_type",
		       "is none of clear, all, read, write, flush, unmap, write_zeroes");
}

static int take_what(const struct tgt_rpc_call *call, enum tgt_injected *what)
{
	const char *text;
	int rc = tgt_need_string(&call->call, call->params, "error_type", &text);

	if (rc)
		return rc;
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(error_types); i++) {
		if (!strcmp(error_types[i].name, text)) {
			*what = error_types[i].what;
			return 0;
		}
	}
	return tgt_bad(&call->call, -EINVAL, "error_type",
		       "is none of failure, pending, wrong_phase, unknown_cid, twice, fatal, gone,"
		       " reset");
}

static int take_injection(const struct tgt_rpc_call *call, struct tgt_injection *injection)
{
	uint64_t times = 1;
	int rc = take_ops(call, &injection->ops);

	if (rc || !injection->ops)
		return rc;
	rc = take_what(call, &injection->what);
	if (rc)
		return rc;
	if (injection->what > TGT_INJECT_PENDING && injection->ops != ALL_OPS)
		return tgt_bad(&call->call, -EINVAL, "io_type",
			       "has to be all: the medium has no part in this error");
	rc = tgt_take_number(&call->call, call->params, "num", UINT32_MAX, &times);
	if (rc < 0)
		return rc;
	if (!times)
		return tgt_bad(&call->call, -EINVAL, "num", "is 0");
	injection->times = (uint32_t)times;
	return 0;
}

int tgt_rpc_bdev_error_inject_error(const struct tgt_rpc_call *call, json_object **result)
{
	const struct tgt_server *server = call->table->server;
	struct tgt_injection injection = {.what = TGT_INJECT_NOTHING};
	const char *name;
	struct tgt_err why;
	long bdev;
	int rc = tgt_need_string(&call->call, call->params, "name", &name);

	if (!rc)
		rc = take_injection(call, &injection);
	if (rc)
		return rc;
	bdev = tgt_config_find_bdev(server->config, name);
	if (bdev < 0)
		return tgt_bad(&call->call, -ENODEV, "name", "there is no bdev \"%.64s\"", name);
	rc = tgt_backend_inject(server->backends[bdev], &injection, &why);
	if (rc)
		return tgt_bad(&call->call, rc, "name", "%s", why.text);
	*result = json_object_new_boolean(true);
	return 0;
}
