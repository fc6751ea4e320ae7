/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get Log Page: NVMe Base 2.0, 5.16. Each page is built whole and then sent from the offset asked
 * for; what lies behind its end reads as zeroes.
 */
#include "nvme/soft/priv.h"

#include <string.h>

#define LOG_MAX_BYTES 4096u
#define RETAIN_EVENT  (1u << 15)

static_assert(sizeof(struct nvme_smart_log) == 512, "SMART log is 512 bytes");
static_assert(sizeof(struct nvme_cmd_effects_log) == LOG_MAX_BYTES, "effects log is 4096 bytes");
static_assert(NV_SOFT_ERROR_LOG_ENTRIES * sizeof(struct nvme_error_log_page) <= LOG_MAX_BYTES,
	      "error log fits");

/* Newest entry first. */
static size_t error_log(struct nv_soft *soft, void *page)
{
	struct nvme_error_log_page *out = page;
	uint64_t count;

	pthread_mutex_lock(&soft->errors_lock);
	count = soft->error_count;
	for (uint64_t i = 0; i < NV_SOFT_ERROR_LOG_ENTRIES && i < count; i++)
		out[i] = soft->errors[(count - 1 - i) % NV_SOFT_ERROR_LOG_ENTRIES];
	pthread_mutex_unlock(&soft->errors_lock);
	return NV_SOFT_ERROR_LOG_ENTRIES * sizeof(*out);
}

static void put64(uint8_t field[16], uint64_t value)
{
	value = htole64(value);
	memcpy(field, &value, sizeof(value));
}

/* Data units are 1000 times 512 bytes, rounded up. */
static uint64_t data_units(uint64_t bytes)
{
	return (bytes + 511999) / 512000;
}

static size_t smart_log(struct nv_soft *soft, void *page)
{
	struct nvme_smart_log *log = page;
	const uint16_t room_kelvin = htole16(298);
	struct nv_soft_stats stats;

	nv_soft_get_stats(soft, &stats);
	memcpy(log->temperature, &room_kelvin, sizeof(room_kelvin));
	log->avail_spare = 100;
	log->spare_thresh = 10;
	put64(log->data_units_read, data_units(stats.read_bytes));
	put64(log->data_units_written, data_units(stats.written_bytes));
	put64(log->host_reads, stats.read_commands);
	put64(log->host_writes, stats.write_commands);
	put64(log->power_cycles, 1);
	put64(log->power_on_hours, (util_now_ns() - soft->created_ns) / (3600 * UTIL_NS_PER_S));
	put64(log->media_errors, stats.media_errors);
	pthread_mutex_lock(&soft->errors_lock);
	put64(log->num_err_log_entries, soft->error_count);
	pthread_mutex_unlock(&soft->errors_lock);
	return sizeof(*log);
}

static size_t firmware_log(void *page)
{
	struct nvme_firmware_slot *log = page;

	log->afi = 1;
	memset(log->frs[0], ' ', sizeof(log->frs[0]));
	memcpy(log->frs[0], NV_SOFT_FIRMWARE, strlen(NV_SOFT_FIRMWARE));
	return sizeof(*log);
}

static size_t effects_log(void *page)
{
	static const uint8_t admin[] = {
		nvme_admin_delete_sq,	nvme_admin_create_sq,	 nvme_admin_get_log_page,
		nvme_admin_delete_cq,	nvme_admin_create_cq,	 nvme_admin_identify,
		nvme_admin_abort_cmd,	nvme_admin_set_features, nvme_admin_get_features,
		nvme_admin_async_event,
	};
	static const uint8_t reading[] = {nvme_cmd_flush, nvme_cmd_read, nvme_cmd_compare,
					  nvme_cmd_verify};
	static const uint8_t changing[] = {nvme_cmd_write, nvme_cmd_write_zeroes, nvme_cmd_dsm};
	struct nvme_cmd_effects_log *log = page;

	for (size_t i = 0; i < sizeof(admin); i++)
		log->acs[admin[i]] = htole32(NVME_CMD_EFFECTS_CSUPP);
	for (size_t i = 0; i < sizeof(reading); i++)
		log->iocs[reading[i]] = htole32(NVME_CMD_EFFECTS_CSUPP);
	for (size_t i = 0; i < sizeof(changing); i++)
		log->iocs[changing[i]] = htole32(NVME_CMD_EFFECTS_CSUPP | NVME_CMD_EFFECTS_LBCC);
	return sizeof(*log);
}

static size_t changed_ns_log(struct nv_soft *soft, void *page)
{
	uint32_t *list = page;
	size_t count = 0;

	for (uint32_t nsid = 1; nsid <= NV_SOFT_MAX_NS; nsid++)
		if (soft->changed_ns >> (nsid - 1) & 1)
			list[count++] = htole32(nsid);
	return LOG_MAX_BYTES;
}

/* Reading it without Retain Asynchronous Event clears the list and lets the next event through. */
static void changed_ns_was_read(struct nv_soft *soft)
{
	soft->changed_ns = 0;
	soft->ns_event_masked = false;
}

/* Size of the page built at @page, 0 if there is no such page. */
static size_t build(struct nv_soft *soft, uint8_t lid, void *page)
{
	switch (lid) {
	case NVME_LOG_LID_ERROR:
		return error_log(soft, page);
	case NVME_LOG_LID_SMART:
		return smart_log(soft, page);
	case NVME_LOG_LID_FW_SLOT:
		return firmware_log(page);
	case NVME_LOG_LID_CHANGED_NS:
		return changed_ns_log(soft, page);
	case NVME_LOG_LID_CMD_EFFECTS:
		return effects_log(page);
	default:
		return 0;
	}
}

uint16_t nv_soft_get_log_page(struct nv_soft *soft, const struct nv_sqe *sqe)
{
	_Alignas(8) uint8_t page[LOG_MAX_BYTES] = {0};
	uint8_t lid = le32toh(sqe->cdw10) & 0xff;
	uint64_t dwords =
		(le32toh(sqe->cdw10) >> 16 | (uint64_t)(le32toh(sqe->cdw11) & 0xffff) << 16) + 1;
	uint64_t offset = le32toh(sqe->cdw12) | (uint64_t)le32toh(sqe->cdw13) << 32;
	uint32_t nsid = le32toh(sqe->nsid);
	size_t size = build(soft, lid, page);
	uint16_t status;

	if (size == 0)
		return DNR_SPECIFIC(NVME_SC_INVALID_LOG_PAGE);
	/* SMART is one for the whole controller (LPA bit 0 is 0). */
	if (lid == NVME_LOG_LID_SMART && nsid != 0 && nsid != NV_NSID_ALL)
		return DNR(NVME_SC_INVALID_FIELD);
	if (offset & 3 || offset > size || dwords * 4 > NV_SOFT_MDTS_BYTES)
		return DNR(NVME_SC_INVALID_FIELD);
	status = nv_soft_admin_reply(soft, sqe, page + offset, size - offset, dwords * 4);
	if (!status && lid == NVME_LOG_LID_CHANGED_NS && !(le32toh(sqe->cdw10) & RETAIN_EVENT))
		changed_ns_was_read(soft);
	return status;
}
