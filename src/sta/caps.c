/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library can do: limits.h as the API shows it, and whether a device will do.
 */
#include "sta/sta.h"

#include <stdlib.h>
#include <string.h>

#include "core/dev.h"
#include "sta/status.h"

static doca_error_t give32(uint32_t *ret, uint32_t value)
{
	if (!ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = value;
	return DOCA_SUCCESS;
}

static doca_error_t give32_of(const struct doca_sta *sta, uint32_t *ret, uint32_t value)
{
	return sta ? give32(ret, value) : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sta_get_max_devs(uint32_t *max_devs)
{
	return give32(max_devs, STA_MAX_DEVS);
}

doca_error_t doca_sta_get_max_num_eus_available(const struct doca_sta *sta, uint32_t *max_eus)
{
	return give32_of(sta, max_eus, sta_num_eus());
}

doca_error_t doca_sta_get_max_num_connected_qp_per_eu(const struct doca_sta *sta,
						      uint32_t *max_connected_qps)
{
	return give32_of(sta, max_connected_qps, STA_MAX_QPS_PER_EU);
}

doca_error_t doca_sta_get_max_subsys(uint32_t *max_subsys)
{
	return give32(max_subsys, STA_MAX_SUBSYSTEMS);
}

doca_error_t doca_sta_get_max_ns_per_subs(uint32_t *max_ns_per_subsys)
{
	return give32(max_ns_per_subsys, STA_MAX_NS_PER_SUBSYS);
}

doca_error_t doca_sta_get_max_qps(uint32_t *max_qps)
{
	return give32(max_qps, STA_MAX_QPS);
}

doca_error_t doca_sta_get_max_io_threads(uint32_t *max_io_threads)
{
	return give32(max_io_threads, STA_MAX_IO_THREADS);
}

doca_error_t doca_sta_get_max_io_size(uint32_t *max_io_size)
{
	return give32(max_io_size, STA_MAX_IO_BYTES);
}

doca_error_t doca_sta_get_max_io_num_per_dev(const struct doca_sta *sta, uint32_t *max_ios)
{
	return give32_of(sta, max_ios, STA_MAX_IOS_PER_EU);
}

doca_error_t doca_sta_get_max_io_queue_size(const struct doca_sta *sta, uint32_t *max_io_queue_size)
{
	return give32_of(sta, max_io_queue_size, STA_MAX_QUEUE_DEPTH);
}

doca_error_t doca_sta_get_min_ioccsz(uint32_t *ioccsz)
{
	return give32(ioccsz, STA_MIN_IOCCSZ);
}

doca_error_t doca_sta_get_max_ioccsz(uint32_t *ioccsz)
{
	return give32(ioccsz, STA_MAX_IOCCSZ);
}

doca_error_t doca_sta_get_min_iorcsz(uint32_t *iorcsz)
{
	return give32(iorcsz, STA_MIN_IORCSZ);
}

doca_error_t doca_sta_get_max_iorcsz(uint32_t *iorcsz)
{
	return give32(iorcsz, STA_MAX_IORCSZ);
}

doca_error_t doca_sta_get_max_icdoff(uint32_t *icdoff)
{
	return give32(icdoff, STA_MAX_ICDOFF);
}

doca_error_t doca_sta_get_max_be(uint32_t *max_be)
{
	return give32(max_be, STA_MAX_BACKENDS);
}

doca_error_t doca_sta_get_max_qs_per_be(uint32_t *max_qs_per_be)
{
	return give32(max_qs_per_be, STA_MAX_QUEUES_PER_BE);
}

bool doca_sta_is_logical_block_size_supported(uint32_t size)
{
	return size >= STA_MIN_BLOCK_BYTES && size <= STA_MAX_BLOCK_BYTES &&
	       (size & (size - 1)) == 0;
}

doca_error_t sta_check_verbs(struct ibv_context *verbs)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(verbs, &attr);

	if (err)
		return sta_error_from_device(err);
	/* A receive takes command and data apart; a queue of two and a READ are the least. */
	if (attr.max_sge < 2 || attr.max_qp_wr < 2 * (int)STA_MIN_QUEUE_DEPTH || attr.max_qp < 1 ||
	    attr.max_qp_init_rd_atom < 1)
		return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

doca_error_t doca_sta_cap_is_supported(const struct doca_devinfo *devinfo)
{
	struct ibv_device **list;
	struct ibv_context *verbs;
	doca_error_t err = DOCA_ERROR_NOT_SUPPORTED;

	if (!devinfo)
		return DOCA_ERROR_INVALID_VALUE;
	list = ibv_get_device_list(NULL);
	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), doca_priv_devinfo_get_name(devinfo)) != 0)
			continue;
		verbs = ibv_open_device(list[i]);
		if (!verbs)
			break;
		err = sta_check_verbs(verbs);
		(void)ibv_close_device(verbs);
		break;
	}
	if (list)
		ibv_free_device_list(list);
	return err == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}
