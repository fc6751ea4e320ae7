/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get Log Page (NVMe Base 2.0, 5.16). A page is a size and a function that renders any part of it,
 * so that every page can be read in pieces. Reading behind the end is an error, at the end is not.
 */
#include "target/ctrlr.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum {
	RAE = 1U << 15, /* dword 10: retain the asynchronous event */
	CHANGED_NS_BYTES = 4096,
	MS_PER_HOUR = 3600 * 1000,
	ROOM_KELVIN = 300, /* a temperature has to be reported; there is no sensor */
};

static_assert(sizeof(struct nvme_smart_log) == 512, "SMART log");
static_assert(sizeof(struct nvme_firmware_slot) == 512, "firmware log");
static_assert(sizeof(struct nvme_cmd_effects_log) == 4096, "effects log");
static_assert(sizeof(struct nvme_error_log_page) == 64, "error log entry");

/* A log of the controller, not of one namespace. */
static bool names_no_ns(uint32_t nsid)
{
	return nsid == NVME_NSID_NONE || nsid == NVME_NSID_ALL;
}

/* Copy the part of a whole page that was asked for; @out is zeroed already. */
static void part(const void *page, size_t page_bytes, uint64_t offset, uint8_t *out, size_t bytes)
{
	if (offset >= page_bytes)
		return;
	if (bytes > page_bytes - offset)
		bytes = page_bytes - offset;
	memcpy(out, (const uint8_t *)page + offset, bytes);
}

/* Newest entry first. */
static void read_errors(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
			size_t bytes)
{
	struct nvme_error_log_page page[TGT_ERROR_LOG_ENTRIES];
	uint64_t i, kept = ctrlr->n_errors;

	(void)nsid;
	if (kept > TGT_ERROR_LOG_ENTRIES)
		kept = TGT_ERROR_LOG_ENTRIES;
	memset(page, 0, sizeof(page));
	for (i = 0; i < kept; i++) {
		const struct tgt_error_entry *e =
			&ctrlr->errors[(ctrlr->n_errors - 1 - i) % TGT_ERROR_LOG_ENTRIES];

		page[i].error_count = htole64(e->number);
		page[i].sqid = htole16(e->sqid);
		page[i].cmdid = htole16(e->cid);
		page[i].status_field = htole16((uint16_t)(e->status << 1));
		page[i].parm_error_location = htole16(e->location);
		page[i].lba = htole64(e->lba);
		page[i].nsid = htole32(e->nsid);
		page[i].trtype = NVMF_TRTYPE_RDMA;
	}
	part(page, sizeof(page), offset, out, bytes);
}

static void add_usage(const struct tgt_ctrlr *ctrlr, const struct tgt_ns *ns, struct tgt_usage *sum)
{
	struct tgt_usage usage;

	ctrlr->tgt->ns_usage(ctrlr->subsys, ns, &usage);
	sum->read_commands += usage.read_commands;
	sum->write_commands += usage.write_commands;
	sum->read_bytes += usage.read_bytes;
	sum->written_bytes += usage.written_bytes;
	sum->media_errors += usage.media_errors;
}

/* A counter of 16 bytes; ours have 8. */
static void put_counter(uint8_t field[16], uint64_t value)
{
	value = htole64(value);
	memcpy(field, &value, sizeof(value));
}

/* Data units are 1000 times 512 bytes, rounded up. */
static uint64_t data_units(uint64_t bytes)
{
	const uint64_t unit = 512 * 1000;

	return bytes / unit + (bytes % unit != 0);
}

/* Of one namespace, or of all that the subsystem has: any controller of it leads to the same. */
static void put_usage(const struct tgt_ctrlr *ctrlr, uint32_t nsid, struct nvme_smart_log *page)
{
	const struct tgt_subsys *subsys = ctrlr->subsys;
	struct tgt_usage sum = {0};
	uint32_t n;

	for (n = 1; n <= subsys->nn; n++)
		if (subsys->ns[n - 1] && (names_no_ns(nsid) || n == nsid))
			add_usage(ctrlr, subsys->ns[n - 1], &sum);
	put_counter(page->data_units_read, data_units(sum.read_bytes));
	put_counter(page->data_units_written, data_units(sum.written_bytes));
	put_counter(page->host_reads, sum.read_commands);
	put_counter(page->host_writes, sum.write_commands);
	put_counter(page->media_errors, sum.media_errors);
}

static void read_smart(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
		       size_t bytes)
{
	struct nvme_smart_log page;
	uint16_t kelvin = htole16(ROOM_KELVIN);

	memset(&page, 0, sizeof(page));
	memcpy(page.temperature, &kelvin, sizeof(kelvin));
	page.avail_spare = 100;
	page.spare_thresh = 10;
	put_usage(ctrlr, nsid, &page);
	put_counter(page.power_on_hours, (ctrlr->tgt->now_ms - ctrlr->created_ms) / MS_PER_HOUR);
	put_counter(page.num_err_log_entries, ctrlr->n_errors);
	part(&page, sizeof(page), offset, out, bytes);
}

static void read_firmware(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
			  size_t bytes)
{
	struct nvme_firmware_slot page;
	size_t len = strlen(SOFTSTA_VERSION);

	(void)ctrlr;
	(void)nsid;
	memset(&page, 0, sizeof(page));
	page.afi = 1; /* slot 1 is active */
	memset(page.frs[0], ' ', sizeof(page.frs[0]));
	memcpy(page.frs[0], SOFTSTA_VERSION, len < sizeof(page.frs[0]) ? len : sizeof(page.frs[0]));
	part(&page, sizeof(page), offset, out, bytes);
}

static void read_changed_ns(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
			    size_t bytes)
{
	uint32_t page[CHANGED_NS_BYTES / 4] = {0};
	size_t i;

	(void)nsid;
	static_assert(TGT_MAX_CHANGED_NS == CHANGED_NS_BYTES / 4, "one page of ids");
	if (ctrlr->n_changed_ns > TGT_MAX_CHANGED_NS)
		page[0] = htole32(NVME_NSID_ALL);
	else
		for (i = 0; i < ctrlr->n_changed_ns; i++)
			page[i] = htole32(ctrlr->changed_ns[i]);
	part(page, sizeof(page), offset, out, bytes);
}

static void read_effects(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
			 size_t bytes)
{
	static const uint8_t admin[] = {nvme_admin_get_log_page, nvme_admin_identify,
					nvme_admin_abort_cmd,	 nvme_admin_set_features,
					nvme_admin_get_features, nvme_admin_async_event,
					nvme_admin_keep_alive};
	const uint32_t supported = htole32(NVME_CMD_EFFECTS_CSUPP);
	const uint32_t changes_data = htole32(NVME_CMD_EFFECTS_CSUPP | NVME_CMD_EFFECTS_LBCC);
	uint16_t oncs = ctrlr->subsys->oncs;
	struct nvme_cmd_effects_log page;
	size_t i;

	(void)nsid;
	memset(&page, 0, sizeof(page));
	for (i = 0; i < sizeof(admin); i++)
		page.acs[admin[i]] = supported;
	page.iocs[nvme_cmd_flush] = supported;
	page.iocs[nvme_cmd_read] = supported;
	page.iocs[nvme_cmd_write] = changes_data;
	if (oncs & NVME_CTRL_ONCS_COMPARE)
		page.iocs[nvme_cmd_compare] = supported;
	if (oncs & NVME_CTRL_ONCS_WRITE_ZEROES)
		page.iocs[nvme_cmd_write_zeroes] = changes_data;
	if (oncs & NVME_CTRL_ONCS_DSM)
		page.iocs[nvme_cmd_dsm] = changes_data;
	if (oncs & NVME_CTRL_ONCS_VERIFY)
		page.iocs[nvme_cmd_verify] = supported;
	part(&page, sizeof(page), offset, out, bytes);
}

static void read_discovery(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
			   size_t bytes)
{
	(void)nsid;
	tgt_discovery_log_read(ctrlr, offset, out, bytes);
}

struct page {
	uint8_t lid;
	bool of_discovery; /* of discovery controllers, else of I/O controllers */
	bool per_ns; /* there is one for each namespace too */
	uint64_t bytes; /* 0: as the log says */
	void (*read)(struct tgt_ctrlr *ctrlr, uint32_t nsid, uint64_t offset, uint8_t *out,
		     size_t bytes);
};

static const struct page pages[] = {
	{NVME_LOG_LID_ERROR, false, false,
	 TGT_ERROR_LOG_ENTRIES * sizeof(struct nvme_error_log_page), read_errors},
	{NVME_LOG_LID_SMART, false, true, sizeof(struct nvme_smart_log), read_smart},
	{NVME_LOG_LID_FW_SLOT, false, false, sizeof(struct nvme_firmware_slot), read_firmware},
	{NVME_LOG_LID_CHANGED_NS, false, false, CHANGED_NS_BYTES, read_changed_ns},
	{NVME_LOG_LID_CMD_EFFECTS, false, false, sizeof(struct nvme_cmd_effects_log), read_effects},
	{NVME_LOG_LID_DISCOVER, true, false, 0, read_discovery},
};

static const struct page *page_find(const struct tgt_ctrlr *ctrlr, uint8_t lid)
{
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (pages[i].lid == lid && pages[i].of_discovery == ctrlr->subsys->is_discovery)
			return &pages[i];
	return NULL;
}

/* The host looked: what it was told about may be told again. */
static void acknowledge(struct tgt_ctrlr *ctrlr, uint8_t lid)
{
	if (lid == NVME_LOG_LID_CHANGED_NS) {
		ctrlr->n_changed_ns = 0;
		ctrlr->event_pending[TGT_EVENT_NS_CHANGED] = false;
		tgt_aer_log_read(ctrlr, TGT_EVENT_NS_CHANGED);
	} else if (lid == NVME_LOG_LID_DISCOVER) {
		tgt_aer_log_read(ctrlr, TGT_EVENT_DISCOVERY_CHANGED);
	}
}

tgt_status_t tgt_log_exec(struct tgt_req *req)
{
	struct tgt_ctrlr *ctrlr = req->queue->ctrlr;
	uint8_t lid = (uint8_t)req->cmd.cdw10;
	const struct page *page = page_find(ctrlr, lid);
	uint64_t dwords = (req->cmd.cdw10 >> 16 | (uint64_t)(req->cmd.cdw11 & 0xffff) << 16) + 1;
	uint64_t offset = req->cmd.cdw12 | (uint64_t)req->cmd.cdw13 << 32, size;
	tgt_status_t status;

	if (!page)
		return TGT_SC_DNR(CMD_SPECIFIC, INVALID_LOG_PAGE);
	if (page->per_ns && !names_no_ns(req->cmd.nsid) &&
	    !tgt_ns_get(ctrlr->subsys, req->cmd.nsid))
		return TGT_SC_DNR(GENERIC, INVALID_NS);
	if (dwords * 4 > UINT32_MAX)
		return TGT_SC_DNR(GENERIC, SGL_INVALID_DATA);
	status = tgt_expect_data(req, (uint32_t)(dwords * 4));
	if (status)
		return status;
	size = page->bytes ? page->bytes : tgt_discovery_log_bytes(ctrlr);
	if (offset & 3 || offset > size)
		return TGT_SC_DNR(GENERIC, INVALID_FIELD);
	page->read(ctrlr, req->cmd.nsid, offset, req->data, req->data_bytes);
	if (!(req->cmd.cdw10 & RAE))
		acknowledge(ctrlr, lid);
	return TGT_SUCCESS;
}
