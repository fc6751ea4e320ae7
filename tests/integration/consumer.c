/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody else's, as small as can be. tests/integration/consumer builds it against an
 * installation, by pkg-config alone.
 */
#include <doca_argp.h>
#include <doca_log.h>
#include <doca_pe.h>
#include <doca_rdma_bridge.h>
#include <doca_softsta.h>
#include <doca_sta.h>
#include <doca_version.h>
#include <infiniband/verbs.h>
#include <stdio.h>

DOCA_LOG_REGISTER(CONSUMER);

int main(void)
{
	struct ibv_device **devices;
	struct doca_pe *pe;
	uint32_t max = 0;
	int num = 0;

	if (doca_log_backend_create_standard() != DOCA_SUCCESS ||
	    doca_pe_create(&pe) != DOCA_SUCCESS)
		return 1;
	doca_sta_get_max_qps(&max);
	doca_argp_destroy();
	devices = ibv_get_device_list(&num);
	for (int i = 0; i < num; i++)
		puts(ibv_get_device_name(devices[i]));
	if (devices)
		ibv_free_device_list(devices);
	DOCA_LOG_INFO("library %s", doca_version_runtime());
	return doca_pe_destroy(pe) == DOCA_SUCCESS ? 0 : 1;
}
