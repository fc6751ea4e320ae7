/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the captures of tests/data/captures: classic pcap, Ethernet, RoCEv2 over IPv4. Enough for
 * tests; not a general reader.
 */
#ifndef TESTS_LIB_PCAP_H
#define TESTS_LIB_PCAP_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* One RoCEv2 packet (UDP to 4791); other frames are left out. */
struct test_roce_frame {
	uint64_t time_ns;
	struct in_addr src, dst;
	in_port_t sport, dport; /* network order */
	uint16_t ip_id;
	uint16_t frag_off; /* flags and fragment offset */
	const uint8_t *payload; /* of UDP: BTH .. ICRC */
	size_t len;
};

struct test_pcap {
	uint8_t *bytes; /* the file */
	struct test_roce_frame *frames;
	size_t num_frames;
};

/*
 * Loads tests/data/captures/<name>.pcap; the folder comes from the environment variable
 * TEST_CAPTURES or, without it, from the build. 0 or -errno; -EBADMSG: not such a file.
 */
int test_pcap_load(struct test_pcap *pcap, const char *name);
void test_pcap_free(struct test_pcap *pcap);

#endif
