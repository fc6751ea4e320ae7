/* SPDX-License-Identifier: Apache-2.0 */
/* Qualified names and derived identifiers; see nqn.h. */
#include "target/nqn.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nvme/types.h>

#include "target/parse.h"

#define UUID_PREFIX "nqn.2014-08.org.nvmexpress:uuid:"

bool tgt_nqn_is_discovery(const char *nqn)
{
	return !strcmp(nqn, NVME_DISC_SUBSYS_NAME);
}

/* "yyyy-mm." behind "nqn." */
static bool has_date(const char *s)
{
	static const char form[] = "dddd-dd.";
	int month;
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != form[i])
			return false;
	month = (s[5] - '0') * 10 + (s[6] - '0');
	return month >= 1 && month <= 12;
}

/* A reversed domain: labels of letters, digits and inner dashes, up to ':' or the end. */
static bool has_domain(const char *s)
{
	size_t label = 0;

	for (; *s && *s != ':'; s++) {
		if (*s == '.') {
			if (!label)
				return false;
			label = 0;
		} else if (isalnum((unsigned char)*s) || (*s == '-' && label)) {
			label++;
		} else {
			return false;
		}
	}
	return label != 0;
}

const char *tgt_nqn_check(const char *nqn)
{
	uint8_t uuid[16];
	size_t i;

	if (strlen(nqn) > NVMF_NQN_SIZE)
		return "longer than 223 bytes";
	if (strncmp(nqn, "nqn.", 4))
		return "does not start with \"nqn.\"";
	for (i = 0; nqn[i]; i++)
		if ((unsigned char)nqn[i] <= ' ' || nqn[i] == 0x7f)
			return "has a blank or a control character in it";
	if (!strncmp(nqn, UUID_PREFIX, strlen(UUID_PREFIX)))
		return tgt_hex_parse(nqn + strlen(UUID_PREFIX), uuid, sizeof(uuid))
			       ? "has no valid UUID behind \"uuid:\""
			       : NULL;
	if (!has_date(nqn + 4))
		return "has no date \"yyyy-mm.\" behind \"nqn.\"";
	if (!has_domain(nqn + 12))
		return "has no reversed domain name behind the date";
	return NULL;
}

/* FNV-1a with 128 bits: spreads well, needs no library; no secret depends on it. */
static unsigned __int128 hash128(const char *text)
{
	const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
	unsigned __int128 h =
		((unsigned __int128)0x6c62272e07bb0142ULL << 64) | 0x62b821756295c58dULL;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * prime;
	return h;
}

void tgt_uuid_derive(const char *text, uint8_t uuid[16])
{
	unsigned __int128 h = hash128(text);
	size_t i;

	for (i = 0; i < 16; i++)
		uuid[i] = (uint8_t)(h >> (8 * (15 - i)));
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80); /* version 8 */
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80); /* the RFC's variant */
}

void tgt_uuid_format(const uint8_t uuid[16], char text[TGT_UUID_TEXT])
{
	size_t i, at = 0;

	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		at += (size_t)snprintf(text + at, TGT_UUID_TEXT - at, "%02x", uuid[i]);
	}
}

void tgt_nqn_default(const char *machine, const char *export, char nqn[TGT_NQN_TEXT])
{
	char text[TGT_UUID_TEXT], seed[4096];
	uint8_t uuid[16];

	snprintf(seed, sizeof(seed), "softsta subsystem\n%s\n%s", machine, export);
	tgt_uuid_derive(seed, uuid);
	tgt_uuid_format(uuid, text);
	snprintf(nqn, TGT_NQN_TEXT, UUID_PREFIX "%s", text);
}

void tgt_machine_identity(char *text, size_t size)
{
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	if (n > 0) {
		text[n] = '\0';
		text[strcspn(text, "\n")] = '\0';
	} else if (gethostname(text, size)) {
		text[0] = '\0';
	}
	text[size - 1] = '\0';
}
