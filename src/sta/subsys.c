/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe subsystems: a name, the devices it is reached over, a table of namespaces.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_sta_subsystem.h>

#include "core/dev.h"
#include "sta/log.h"
#include "sta/sta.h"

static bool is_name_taken(struct doca_sta *sta, const char *nqn)
{
	struct doca_sta_subs_handle *s;

	util_list_for_each(&sta->subsystems, s, node) {
		if (strcmp(s->nqn, nqn) == 0)
			return true;
	}
	return false;
}

doca_error_t doca_sta_subsystem_create(struct doca_sta *sta, const char *nqn,
				       struct doca_sta_subs_handle **ret)
{
	struct doca_sta_subs_handle *s;
	size_t len;

	if (!sta || !nqn || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	len = strnlen(nqn, STA_MAX_NQN_BYTES + 1);
	if (len == 0 || len > STA_MAX_NQN_BYTES)
		return DOCA_ERROR_INVALID_VALUE;
	if (is_name_taken(sta, nqn))
		return DOCA_ERROR_ALREADY_EXIST;
	if (sta->num_subsystems == STA_MAX_SUBSYSTEMS)
		return DOCA_ERROR_NO_MEMORY;
	s = calloc(1, sizeof(*s));
	if (!s)
		return DOCA_ERROR_NO_MEMORY;
	s->sta = sta;
	memcpy(s->nqn, nqn, len);
	util_list_add_tail(&sta->subsystems, &s->node);
	sta->num_subsystems++;
	sta_debug("subsystem", "subsystem %s: created", s->nqn);
	*ret = s;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_subsystem_destroy(struct doca_sta_subs_handle *s)
{
	if (!s)
		return DOCA_ERROR_INVALID_VALUE;
	if (s->num_namespaces || atomic_load(&s->num_qps))
		return DOCA_ERROR_IN_USE;
	sta_event_forget_subsystem(s->sta, s);
	util_list_del(&s->node);
	s->sta->num_subsystems--;
	sta_debug("subsystem", "subsystem %s: destroyed", s->nqn);
	free(s);
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_subsystem_add_dev(struct doca_sta_subs_handle *s, const struct doca_dev *dev)
{
	if (!s || !dev || !sta_has_dev(s->sta, dev))
		return DOCA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < s->num_devs; i++) {
		if (s->devs[i] == dev)
			return DOCA_ERROR_ALREADY_EXIST;
	}
	/* There is room: each is one of the context's devices, once. */
	s->devs[s->num_devs++] = dev;
	sta_debug("subsystem", "subsystem %s: device %s added", s->nqn,
		  doca_priv_dev_get_name(dev));
	return DOCA_SUCCESS;
}
