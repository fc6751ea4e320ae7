/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared library that was linked with verbs_dep, for verbs_link_test.c.
 */
#include <infiniband/verbs.h>

#include "verbs_link_probe.h"

__attribute__((visibility("default"))) void *probe_get_device_list(void)
{
	return (void *)(uintptr_t)ibv_get_device_list;
}
