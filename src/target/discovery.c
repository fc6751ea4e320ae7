/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The discovery log (NVMe Base 2.0, 5.16.1.23): one record for each subsystem that the host may use
 * on each port that leads to it, and one for the discovery subsystem itself on the port the host
 * came in on. Nothing is cached: a record is rendered when bytes of it are read, so any offset and
 * any length is right.
 */
#include "target/ctrlr.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 1024
#define RECORD_BYTES 1024

static_assert(sizeof(struct nvmf_discovery_log) == HEADER_BYTES, "discovery log header");
static_assert(sizeof(struct nvmf_disc_log_entry) == RECORD_BYTES, "discovery log record");

struct record {
	const struct tgt_subsys *subsys;
	const struct tgt_port *port;
};

static bool is_visible(const struct tgt_ctrlr *ctrlr, const struct tgt_subsys *subsys,
		       const struct tgt_port *port)
{
	if (subsys->is_discovery)
		return port == ctrlr->queues[0]->port;
	return port->is_bound && tgt_subsys_on_port(subsys, port) &&
	       tgt_subsys_allows(subsys, ctrlr->hostnqn);
}

/*
 * Record number @n, or if there are fewer their count: both come from the one walk that defines
 * the order.
 */
static uint64_t record_walk(const struct tgt_ctrlr *ctrlr, uint64_t n, struct record *found)
{
	const struct tgt *tgt = ctrlr->tgt;
	uint64_t count = 0;
	size_t s, p;

	for (s = 0; s < tgt->n_subsystems; s++)
		for (p = 0; p < tgt->n_ports; p++) {
			if (!is_visible(ctrlr, tgt->subsystems[s], tgt->ports[p]))
				continue;
			if (count++ == n) {
				found->subsys = tgt->subsystems[s];
				found->port = tgt->ports[p];
				return count;
			}
		}
	return count;
}

static uint64_t record_count(const struct tgt_ctrlr *ctrlr)
{
	struct record none;

	return record_walk(ctrlr, UINT64_MAX, &none);
}

/* ASCII address fields: padded with zeroes, as every known host and target has it. */
static void record_render(const struct tgt_ctrlr *ctrlr, const struct record *r,
			  struct nvmf_disc_log_entry *e)
{
	const struct sockaddr *sa = &r->port->addr.sa;
	char addr[TGT_ADDR_TEXT];

	memset(e, 0, sizeof(*e));
	e->trtype = NVMF_TRTYPE_RDMA;
	e->adrfam = sa->sa_family == AF_INET6 ? NVMF_ADDR_FAMILY_IP6 : NVMF_ADDR_FAMILY_IP4;
	e->subtype = r->subsys->is_discovery ? NVME_NQN_CURR : NVME_NQN_NVME;
	e->treq = NVMF_TREQ_NOT_SPECIFIED | NVMF_TREQ_DISABLE_SQFLOW;
	e->portid = htole16(r->port->id);
	e->cntlid = htole16(0xffff); /* dynamic */
	e->asqsz = htole16(TGT_ADMIN_QUEUE_ENTRIES);
	if (r->subsys->is_discovery)
		e->eflags = htole16(NVMF_DISC_EFLAGS_EPCSD);
	snprintf(e->trsvcid, sizeof(e->trsvcid), "%u", tgt_addr_port(sa));
	snprintf(e->subnqn, sizeof(e->subnqn), "%s", r->subsys->nqn);
	/* A host cannot connect to a wildcard: tell it the address that it reached us at. */
	if (tgt_addr_is_any(sa))
		snprintf(addr, sizeof(addr), "%s", ctrlr->queues[0]->local_addr);
	else
		tgt_addr_format(sa, addr);
	if (tgt_addr_is_any(sa) && strchr(addr, ':'))
		e->adrfam = NVMF_ADDR_FAMILY_IP6;
	snprintf(e->traddr, sizeof(e->traddr), "%s", addr);
	e->tsas.rdma.qptype = NVMF_RDMA_QPTYPE_CONNECTED;
	e->tsas.rdma.prtype = NVMF_RDMA_PRTYPE_ROCEV2;
	e->tsas.rdma.cms = NVMF_RDMA_CMS_RDMA_CM;
}

uint64_t tgt_discovery_log_bytes(const struct tgt_ctrlr *ctrlr)
{
	return HEADER_BYTES + record_count(ctrlr) * RECORD_BYTES;
}

void tgt_discovery_log_read(const struct tgt_ctrlr *ctrlr, uint64_t offset, uint8_t *out,
			    size_t bytes)
{
	union {
		struct nvmf_discovery_log header;
		struct nvmf_disc_log_entry record;
		uint8_t bytes[RECORD_BYTES];
	} block;
	uint64_t n_records = record_count(ctrlr);
	struct record r;
	size_t skip, n;

	while (bytes && offset / RECORD_BYTES <= n_records) {
		memset(&block, 0, sizeof(block));
		if (offset < HEADER_BYTES) {
			block.header.genctr = htole64(ctrlr->tgt->genctr);
			block.header.numrec = htole64(n_records);
		} else {
			record_walk(ctrlr, offset / RECORD_BYTES - 1, &r);
			record_render(ctrlr, &r, &block.record);
		}
		skip = offset % RECORD_BYTES;
		n = bytes < RECORD_BYTES - skip ? bytes : RECORD_BYTES - skip;
		memcpy(out, block.bytes + skip, n);
		out += n;
		offset += n;
		bytes -= n;
	}
	memset(out, 0, bytes);
}

void tgt_discovery_changed(struct tgt *tgt)
{
	size_t i;

	tgt->genctr++;
	for (i = 0; i < tgt->n_ctrlrs; i++)
		if (tgt->ctrlrs[i]->subsys->is_discovery)
			tgt_aer_raise(tgt->ctrlrs[i], TGT_EVENT_DISCOVERY_CHANGED);
}
