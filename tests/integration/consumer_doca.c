/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody else's that leaves ibv_* and rdma_* to the DOCA libraries: prints the
 * devices that they find. tests/integration/consumer builds it.
 */
#include <doca_dev.h>
#include <doca_sta.h>
#include <stdio.h>

int main(void)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **devices;
	uint32_t num;
	doca_error_t result = doca_devinfo_create_list(&devices, &num);

	if (result != DOCA_SUCCESS) {
		printf("no devices: %s\n", doca_error_get_descr(result));
		return 1;
	}
	for (uint32_t i = 0; i < num; i++)
		if (doca_devinfo_get_ibdev_name(devices[i], name, sizeof(name)) == DOCA_SUCCESS &&
		    doca_sta_cap_is_supported(devices[i]) == DOCA_SUCCESS)
			puts(name);
	return doca_devinfo_destroy_list(devices) == DOCA_SUCCESS ? 0 : 1;
}
