/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc_pcap NAME: every RoCEv2 packet of $TEST_CAPTURES/NAME.pcap must have the ICRC that its IP
 * header asks for, and among them must be segments of GSO trains (identification above 0).
 */
#include <stdio.h>
#include <string.h>

#include "pcap.h"
#include "roce/proto/icrc.h"

#define ENOUGH 100

int main(int argc, char **argv)
{
	size_t wrong = 0, counted = 0;
	struct test_pcap pcap;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: icrc_pcap NAME\n");
		return 2;
	}
	rc = test_pcap_load(&pcap, argv[1]);
	if (rc) {
		fprintf(stderr, "icrc_pcap: %s: %s\n", argv[1], strerror(-rc));
		return 2;
	}
	for (size_t i = 0; i < pcap.num_frames; i++) {
		const struct test_roce_frame *f = &pcap.frames[i];
		struct roce_icrc_flow flow;

		roce_icrc_flow_v4(&flow, f->src, f->dst, f->sport, f->dport);
		if (!roce_icrc_check_full(&flow, f->payload, f->len, f->ip_id, f->frag_off))
			wrong++;
		if (f->ip_id > 0)
			counted++;
	}
	printf("%zu packets, %zu of them later ones of a train, %zu with a wrong ICRC\n",
	       pcap.num_frames, counted, wrong);
	rc = wrong || pcap.num_frames < ENOUGH || !counted;
	test_pcap_free(&pcap);
	return rc;
}
