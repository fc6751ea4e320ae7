/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs objects behind DOCA ones.
 */
#include <doca_rdma_bridge.h>

#include "core/dev.h"
#include "core/mmap.h"

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	if (!dev || !pd)
		return DOCA_ERROR_INVALID_VALUE;
	*pd = doca_priv_dev_get_pd(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	if (!pd || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_priv_dev_open_from_pd(pd, dev);
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev,
					   uint32_t *mkey)
{
	/* Nothing here makes a struct doca_buf. */
	return buf && dev && mkey ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd,
						    uint32_t *mkey)
{
	if (!mmap || !pd || !mkey)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_priv_mmap_get_mkey(mmap, pd, mkey);
}
