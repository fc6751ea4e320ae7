/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs objects behind DOCA ones.
 */
#include <doca_rdma_bridge.h>

#include "core/dev.h"

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	if (!dev || !pd)
		return DOCA_ERROR_INVALID_VALUE;
	*pd = doca_priv_dev_get_pd(dev);
	return DOCA_SUCCESS;
}
