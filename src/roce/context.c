/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open devices: the verbs_context that programs hold, with the table of functions that the inline
 * calls of <infiniband/verbs.h> go through. How a context is told to be ours is decided here.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "roce/level.h"
#include "roce/objects.h"
#include "roce/ops.h"

struct roce_device *roce_device_from_context(const struct ibv_context *ctx)
{
	/* Nobody else's context has our function in its table. */
	if (!ctx || ctx->ops.post_send != roce_op_post_send)
		return NULL;
	return roce_context((struct ibv_context *)(uintptr_t)ctx)->dev;
}

struct ibv_context *roce_context_create(struct roce_device *dev)
{
	struct roce_context *ctx = calloc(1, sizeof(*ctx));
	struct ibv_context *ibctx;

	if (!ctx)
		return NULL;
	ctx->dev = dev;
	atomic_store(&ctx->users, 1);
	STAILQ_INIT(&ctx->events);
	roce_ops_fill(&ctx->vctx);
	ctx->vctx.sz = sizeof(ctx->vctx);
	ibctx = &ctx->vctx.context;
	ibctx->device = &dev->ibdev;
	ibctx->cmd_fd = -1;
	ibctx->num_comp_vectors = 1;
	ibctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ibctx->async_fd = roce_level_open();
	if (ibctx->async_fd < 0) {
		errno = -ibctx->async_fd;
		free(ctx);
		return NULL;
	}
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_mutex_init(&ibctx->mutex, NULL);
	return ibctx;
}

void roce_context_get(struct ibv_context *ibctx)
{
	atomic_fetch_add(&roce_context(ibctx)->users, 1);
}

void roce_context_put(struct ibv_context *ibctx)
{
	struct roce_context *ctx = roce_context(ibctx);

	if (atomic_fetch_sub(&ctx->users, 1) > 1)
		return;
	if (atomic_load(&ctx->has_device))
		roce_device_put(ctx->dev);
	close(ibctx->async_fd);
	pthread_mutex_destroy(&ctx->lock);
	pthread_mutex_destroy(&ibctx->mutex);
	/* Events are about objects, and all of these are gone with theirs. */
	free(ctx);
}

int roce_context_pin_device(struct ibv_context *ibctx)
{
	struct roce_context *ctx = roce_context(ibctx);
	int rc;

	if (atomic_load(&ctx->has_device))
		return 0;
	rc = roce_device_get(ctx->dev);
	if (rc == 0 && atomic_exchange(&ctx->has_device, true))
		roce_device_put(ctx->dev); /* another thread was first */
	return rc;
}
