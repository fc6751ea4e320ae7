/* SPDX-License-Identifier: Apache-2.0 */
/* Capture reader, see pcap.h. */
#include "pcap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_HEADER_BYTES  24
#define FRAME_HEADER_BYTES 16
#define MAGIC_US	   0xa1b2c3d4u
#define LINK_ETHERNET	   1
#define ETHERNET_BYTES	   14
#define IPV4_BYTES	   20
#define UDP_BYTES	   8
#define ROCE_PORT	   4791

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int read_file(const char *path, uint8_t **bytes, size_t *len)
{
	FILE *f = fopen(path, "rb");
	long size;
	int err = -EIO;

	if (!f)
		return -errno;
	if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		goto out_close;
	*bytes = malloc((size_t)size + 1);
	err = -ENOMEM;
	if (!*bytes)
		goto out_close;
	err = 0;
	*len = fread(*bytes, 1, (size_t)size, f);
	if (*len != (size_t)size) {
		free(*bytes);
		err = -EIO;
	}
out_close:
	fclose(f);
	return err;
}

/* 0 when the frame is no RoCEv2 packet. */
static int parse_frame(struct test_roce_frame *frame, const uint8_t *p, size_t len)
{
	const uint8_t *ip = p + ETHERNET_BYTES, *udp = ip + IPV4_BYTES;

	if (len < ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES || be16(p + 12) != 0x0800)
		return 0;
	if (ip[0] != 0x45 || ip[9] != IPPROTO_UDP || be16(udp + 2) != ROCE_PORT)
		return 0;
	frame->len = be16(udp + 4) - (size_t)UDP_BYTES;
	if (frame->len > len - ETHERNET_BYTES - IPV4_BYTES - UDP_BYTES)
		return 0;
	frame->ip_id = be16(ip + 4);
	frame->frag_off = be16(ip + 6);
	memcpy(&frame->src, ip + 12, 4);
	memcpy(&frame->dst, ip + 16, 4);
	memcpy(&frame->sport, udp, 2);
	memcpy(&frame->dport, udp + 2, 2);
	frame->payload = udp + UDP_BYTES;
	return 1;
}

static int parse_file(struct test_pcap *pcap, size_t len)
{
	const uint8_t *p = pcap->bytes, *end = p + len;

	if (len < FILE_HEADER_BYTES || le32(p) != MAGIC_US || le32(p + 20) != LINK_ETHERNET)
		return -EBADMSG;
	p += FILE_HEADER_BYTES;
	while ((size_t)(end - p) >= FRAME_HEADER_BYTES) {
		uint32_t captured = le32(p + 8);
		struct test_roce_frame *frame = &pcap->frames[pcap->num_frames];

		frame->time_ns = le32(p) * 1000000000ull + le32(p + 4) * 1000ull;
		p += FRAME_HEADER_BYTES;
		if (captured > (size_t)(end - p))
			return -EBADMSG;
		pcap->num_frames += (size_t)parse_frame(frame, p, captured);
		p += captured;
	}
	return 0;
}

int test_pcap_load(struct test_pcap *pcap, const char *name)
{
	const char *dir = getenv("TEST_CAPTURES");
	char path[1024];
	size_t len = 0;
	int err;

	memset(pcap, 0, sizeof(*pcap));
	snprintf(path, sizeof(path), "%s/%s.pcap", dir ? dir : TEST_CAPTURES_DIR, name);
	err = read_file(path, &pcap->bytes, &len);
	if (err)
		return err;
	pcap->frames = calloc(len / FRAME_HEADER_BYTES + 1, sizeof(*pcap->frames));
	err = pcap->frames ? parse_file(pcap, len) : -ENOMEM;
	if (err)
		test_pcap_free(pcap);
	return err;
}

void test_pcap_free(struct test_pcap *pcap)
{
	free(pcap->frames);
	free(pcap->bytes);
	memset(pcap, 0, sizeof(*pcap));
}
