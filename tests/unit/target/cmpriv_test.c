/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA-CM private data: what Linux sends, and every reason to refuse. */
#include "fake.h"

#include "target/cmpriv.h"

static const struct tgt_limits limits = {.io_queue_entries = 128, .max_io_queues = 16};

static enum tgt_cm_status parse(uint16_t recfmt, uint16_t qid, uint16_t hrqsize, uint16_t hsqsize,
				size_t bytes, uint8_t ird)
{
	struct tgt_cm_request req;
	uint8_t record[56] = {0};
	enum tgt_cm_status status;

	util_put_le16(record, recfmt);
	util_put_le16(record + 2, qid);
	util_put_le16(record + 4, hrqsize);
	util_put_le16(record + 6, hsqsize);
	status = tgt_cm_parse(record, bytes, ird, &limits, &req);
	if (!status) {
		assert_int_equal(req.qid, qid);
		assert_int_equal(req.hsqsize_0b, hsqsize);
		assert_int_equal(req.hrqsize, hrqsize);
		assert_int_equal(tgt_cm_entries(&req), hsqsize + 1);
	}
	return status;
}

static void requests(void **state)
{
	struct tgt_cm_request req;

	(void)state;
	/* Linux: admin queue 32/31, I/O queue 128/127; the CM field is longer than the record. */
	assert_int_equal(parse(0, 0, 32, 31, 56, 128), TGT_CM_OK);
	assert_int_equal(parse(0, 1, 128, 127, 56, 128), TGT_CM_OK);
	assert_int_equal(parse(0, 16, 128, 127, 32, 1), TGT_CM_OK);
	assert_int_equal(parse(0, 1, 2, 1, 32, 1), TGT_CM_OK);

	assert_int_equal(parse(0, 0, 32, 31, 31, 128), TGT_CM_INVALID_LENGTH);
	assert_int_equal(parse(0, 0, 32, 31, 0, 128), TGT_CM_INVALID_LENGTH);
	assert_int_equal(tgt_cm_parse(NULL, 56, 1, &limits, &req), TGT_CM_INVALID_LENGTH);
	assert_int_equal(parse(1, 0, 32, 31, 56, 128), TGT_CM_INVALID_RECFMT);
	assert_int_equal(parse(0, 17, 128, 127, 56, 128), TGT_CM_INVALID_QID);
	assert_int_equal(parse(0, 0, 32, 32, 56, 128), TGT_CM_INVALID_HSQSIZE);
	assert_int_equal(parse(0, 0, 32, 0, 56, 128), TGT_CM_INVALID_HSQSIZE);
	assert_int_equal(parse(0, 1, 128, 128, 56, 128), TGT_CM_INVALID_HSQSIZE);
	assert_int_equal(parse(0, 1, 0, 127, 56, 128), TGT_CM_INVALID_HRQSIZE);
	assert_int_equal(parse(0, 0, 32, 31, 56, 0), TGT_CM_INVALID_IRD);
}

static void records(void **state)
{
	static const uint8_t accepted[4] = {0, 0, 128, 0}, rejected[4] = {0, 0, 6, 0};
	uint8_t record[TGT_CM_ACCEPT_BYTES];
	int status;

	(void)state;
	memset(record, 0xff, sizeof(record));
	tgt_cm_accept_fill(record, 128);
	assert_memory_equal(record, accepted, sizeof(accepted));
	assert_int_equal(record[31], 0);
	tgt_cm_reject_fill(record, TGT_CM_NO_RESOURCES);
	assert_memory_equal(record, rejected, sizeof(rejected));
	for (status = 0; status <= TGT_CM_INVALID_IRD; status++)
		assert_string_not_equal(tgt_cm_status_text(status), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
