/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See verbs_link_probe.c.
 */
#ifndef VERBS_LINK_PROBE_H
#define VERBS_LINK_PROBE_H

/* What ibv_get_device_list is in that library. */
void *probe_get_device_list(void);

#endif
