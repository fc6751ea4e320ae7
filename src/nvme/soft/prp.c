/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PRP entries and lists (NVMe Base 2.0, 4.1.1) into an iovec. Addresses come from outside: nothing
 * is read before mem.c has agreed.
 */
#include "nvme/soft/priv.h"

#include <string.h>

#define PAGE_MASK   ((uint64_t)NV_PAGE_SIZE - 1)
#define LIST_STRIDE sizeof(uint64_t)

/* Walks the chain of list pages; `room` counts the entries left in the page at `addr`. */
struct list {
	struct nv_soft_mem *mem;
	unsigned int *hint;
	uint64_t addr;
	uint32_t room;
};

struct pieces {
	struct iovec *iov;
	int count;
};

static void add_piece(struct pieces *pieces, uint64_t addr, uint32_t len)
{
	struct iovec *last = pieces->count ? &pieces->iov[pieces->count - 1] : NULL;

	if (last && (uintptr_t)last->iov_base + last->iov_len == addr) {
		last->iov_len += len;
		return;
	}
	pieces->iov[pieces->count].iov_base = (void *)(uintptr_t)addr;
	pieces->iov[pieces->count].iov_len = len;
	pieces->count++;
}

/* A page-aligned entry. */
static uint16_t add_page(struct list *list, struct pieces *pieces, uint64_t addr, uint32_t len)
{
	if (addr & PAGE_MASK)
		return DNR(NVME_SC_PRP_INVALID_OFFSET);
	if (!nv_soft_mem_check(list->mem, addr, len, list->hint))
		return NVME_SC_DATA_XFER_ERROR;
	add_piece(pieces, addr, len);
	return 0;
}

static uint16_t list_enter(struct list *list, uint64_t addr, uint32_t wanted)
{
	uint32_t room = (uint32_t)((NV_PAGE_SIZE - (addr & PAGE_MASK)) / LIST_STRIDE);
	uint32_t reach = wanted < room ? wanted : room;

	if (!nv_soft_mem_check(list->mem, addr, reach * LIST_STRIDE, list->hint))
		return NVME_SC_DATA_XFER_ERROR;
	list->addr = addr;
	list->room = room;
	return 0;
}

static uint64_t list_next(struct list *list)
{
	uint64_t entry;

	/* The page was checked in list_enter(); the address is 8-byte aligned. */
	memcpy(&entry, (const void *)(uintptr_t)list->addr, sizeof(entry));
	list->addr += LIST_STRIDE;
	list->room--;
	return le64toh(entry);
}

static uint16_t walk_list(struct list *list, struct pieces *pieces, uint64_t first, uint32_t left)
{
	uint32_t pages = (left + NV_PAGE_SIZE - 1) / NV_PAGE_SIZE;
	uint16_t status;

	if (first & (LIST_STRIDE - 1))
		return DNR(NVME_SC_PRP_INVALID_OFFSET);
	status = list_enter(list, first, pages);
	while (!status && pages) {
		uint64_t entry = list_next(list);
		uint32_t len = left < NV_PAGE_SIZE ? left : NV_PAGE_SIZE;

		/* The last slot of a page points to the next one, unless it is all that is left. */
		if (list->room == 0 && pages > 1) {
			if (entry & PAGE_MASK)
				return DNR(NVME_SC_PRP_INVALID_OFFSET);
			status = list_enter(list, entry, pages);
			continue;
		}
		status = add_page(list, pieces, entry, len);
		left -= len;
		pages--;
	}
	return status;
}

uint16_t nv_soft_prp(struct nv_soft_mem *mem, unsigned int *hint, uint64_t prp1, uint64_t prp2,
		     uint32_t len, struct iovec *iov, int *ret_count)
{
	struct list list = {.mem = mem, .hint = hint};
	struct pieces pieces = {.iov = iov};
	uint32_t first = NV_PAGE_SIZE - (uint32_t)(prp1 & PAGE_MASK);
	uint16_t status;

	if (prp1 & 3) /* dword aligned: Base 2.0, figure 86 */
		return DNR(NVME_SC_PRP_INVALID_OFFSET);
	if (first > len)
		first = len;
	if (!nv_soft_mem_check(mem, prp1, first, hint))
		return NVME_SC_DATA_XFER_ERROR;
	add_piece(&pieces, prp1, first);
	len -= first;
	if (len == 0)
		status = 0;
	else if (len <= NV_PAGE_SIZE)
		status = add_page(&list, &pieces, prp2, len);
	else
		status = walk_list(&list, &pieces, prp2, len);
	*ret_count = pieces.count;
	return status;
}
