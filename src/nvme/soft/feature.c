/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get Features and Set Features: NVMe Base 2.0, 5.15 and 5.27. One table says which features exist
 * and which bits of dword 11 they keep; the few that do more have a function.
 */
#include "nvme/soft/priv.h"

#include <stddef.h>

#define TEMPERATURE_OVER_K 343u
#define ANY_BIT		   0xffffffffu

/* Bits of dword 0 when Get Features asks for capabilities (figure 196). */
#define CAP_NS_SPECIFIC 2u
#define CAP_CHANGEABLE	4u

struct feature {
	uint8_t fid;
	size_t member; /* in nv_soft_features */
	uint32_t keep; /* bits that are stored */
	uint32_t initially; /* default */
};

#define FEATURE(id, name, bits, value)                                   \
	{                                                                \
		id, offsetof(struct nv_soft_features, name), bits, value \
	}

static const struct feature features[] = {
	FEATURE(NVME_FEAT_FID_ARBITRATION, arbitration, ANY_BIT, 0),
	FEATURE(NVME_FEAT_FID_ERR_RECOVERY, error_recovery, 0xffff, 0), /* TLER; no DULBE */
	FEATURE(NVME_FEAT_FID_VOLATILE_WC, write_cache, 1, 1),
	FEATURE(NVME_FEAT_FID_IRQ_COALESCE, irq_coalesce, 0xffff, 0),
	FEATURE(NVME_FEAT_FID_WRITE_ATOMIC, write_atomicity, 1, 0),
	FEATURE(NVME_FEAT_FID_ASYNC_EVENT, async_event, ANY_BIT, 0),
};

static const struct feature *find(uint8_t fid)
{
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(features); i++)
		if (features[i].fid == fid)
			return &features[i];
	return NULL;
}

static uint32_t *value_of(struct nv_soft *soft, const struct feature *feature)
{
	return (uint32_t *)((char *)&soft->features + feature->member);
}

void nv_soft_features_reset(struct nv_soft *soft)
{
	for (size_t i = 0; i < UTIL_ARRAY_SIZE(features); i++)
		__atomic_store_n(value_of(soft, &features[i]), features[i].initially,
				 __ATOMIC_RELAXED);
	soft->features.temperature_over = TEMPERATURE_OVER_K;
	soft->features.temperature_under = 0;
}

static uint32_t queue_counts(uint16_t count)
{
	uint32_t zero_based = count - 1u;

	return zero_based | zero_based << 16;
}

/* Dword 11 of the temperature feature: bits 21:20 over or under, bits 19:16 which sensor. */
static uint32_t *temperature(struct nv_soft *soft, uint32_t dw11)
{
	uint32_t sensor = dw11 >> 16 & 0xf;
	uint32_t type = dw11 >> 20 & 3;

	if (sensor != 0 && sensor != 0xf) /* the composite temperature is all we have */
		return NULL;
	if (type > 1)
		return NULL;
	return type ? &soft->features.temperature_under : &soft->features.temperature_over;
}

static bool feature_exists(struct nv_soft *soft, uint8_t fid)
{
	switch (fid) {
	case NVME_FEAT_FID_POWER_MGMT:
	case NVME_FEAT_FID_TEMP_THRESH:
	case NVME_FEAT_FID_NUM_QUEUES:
		return true;
	case NVME_FEAT_FID_VOLATILE_WC:
		return nv_soft_has_write_cache(soft);
	default:
		return find(fid) != NULL;
	}
}

static uint16_t get_current(struct nv_soft *soft, uint8_t fid, uint32_t dw11, bool is_default,
			    uint32_t *dw0)
{
	const struct feature *feature = find(fid);
	const uint32_t *kelvin;

	switch (fid) {
	case NVME_FEAT_FID_POWER_MGMT: /* power state 0 is the only one */
		*dw0 = 0;
		return 0;
	case NVME_FEAT_FID_NUM_QUEUES:
		*dw0 = queue_counts(is_default ? soft->max_io_queues : soft->granted_queues);
		return 0;
	case NVME_FEAT_FID_TEMP_THRESH:
		kelvin = temperature(soft, dw11);
		if (!kelvin)
			return DNR(NVME_SC_INVALID_FIELD);
		*dw0 = *kelvin;
		if (is_default)
			*dw0 = dw11 >> 20 & 3 ? 0 : TEMPERATURE_OVER_K;
		return 0;
	default:
		*dw0 = is_default ? feature->initially : *value_of(soft, feature);
		return 0;
	}
}

uint16_t nv_soft_get_features(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0)
{
	uint32_t dw10 = le32toh(sqe->cdw10);
	uint8_t fid = dw10 & 0xff;

	if (!feature_exists(soft, fid))
		return DNR(NVME_SC_INVALID_FIELD);
	switch (dw10 >> 8 & 7) {
	case NVME_GET_FEATURES_SEL_CURRENT:
		return get_current(soft, fid, le32toh(sqe->cdw11), false, dw0);
	case NVME_GET_FEATURES_SEL_DEFAULT:
	case NVME_GET_FEATURES_SEL_SAVED: /* nothing can be saved: the default stands */
		return get_current(soft, fid, le32toh(sqe->cdw11), true, dw0);
	case NVME_GET_FEATURES_SEL_SUPPORTED:
		*dw0 = CAP_CHANGEABLE | (fid == NVME_FEAT_FID_ERR_RECOVERY ? CAP_NS_SPECIFIC : 0);
		return 0;
	default:
		return DNR(NVME_SC_INVALID_FIELD);
	}
}

static uint16_t set_queue_count(struct nv_soft *soft, uint32_t dw11, uint32_t *dw0)
{
	uint32_t sqs = dw11 & 0xffff;
	uint32_t cqs = dw11 >> 16;
	uint32_t pairs = (sqs < cqs ? sqs : cqs) + 1;

	if (sqs == 0xffff || cqs == 0xffff) /* 65536 queues cannot be: 5.27.1.5 */
		return DNR(NVME_SC_INVALID_FIELD);
	for (unsigned int qid = 1; qid <= NV_MAX_IO_QUEUES; qid++)
		if (soft->queues[qid])
			return DNR(NVME_SC_CMD_SEQ_ERROR);
	soft->granted_queues =
		(uint16_t)(pairs < soft->max_io_queues ? pairs : soft->max_io_queues);
	*dw0 = queue_counts(soft->granted_queues);
	return 0;
}

static uint16_t set_temperature(struct nv_soft *soft, uint32_t dw11)
{
	uint32_t *kelvin = temperature(soft, dw11);

	if (!kelvin)
		return DNR(NVME_SC_INVALID_FIELD);
	*kelvin = dw11 & 0xffff;
	return 0;
}

uint16_t nv_soft_set_features(struct nv_soft *soft, const struct nv_sqe *sqe, uint32_t *dw0)
{
	uint32_t dw10 = le32toh(sqe->cdw10);
	uint32_t dw11 = le32toh(sqe->cdw11);
	uint32_t nsid = le32toh(sqe->nsid);
	uint8_t fid = dw10 & 0xff;
	const struct feature *feature = find(fid);

	if (!feature_exists(soft, fid))
		return DNR(NVME_SC_INVALID_FIELD);
	if (dw10 >> 31) /* SV */
		return DNR_SPECIFIC(NVME_SC_FEATURE_NOT_SAVEABLE);
	if (nsid && nsid != NV_NSID_ALL && fid != NVME_FEAT_FID_ERR_RECOVERY)
		return DNR_SPECIFIC(NVME_SC_FEATURE_NOT_PER_NS);
	switch (fid) {
	case NVME_FEAT_FID_POWER_MGMT:
		return dw11 & 0x1f ? DNR(NVME_SC_INVALID_FIELD) : 0;
	case NVME_FEAT_FID_TEMP_THRESH:
		return set_temperature(soft, dw11);
	case NVME_FEAT_FID_NUM_QUEUES:
		return set_queue_count(soft, dw11, dw0);
	case NVME_FEAT_FID_ERR_RECOVERY:
		if (dw11 & 1u << 16) /* DULBE */
			return DNR(NVME_SC_INVALID_FIELD);
		break;
	default:
		break;
	}
	__atomic_store_n(value_of(soft, feature), dw11 & feature->keep, __ATOMIC_RELAXED);
	return 0;
}
