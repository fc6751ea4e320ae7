/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8; see utf8.h. */
#include "util/utf8.h"

static bool begin(struct util_utf8 *utf8, uint8_t byte)
{
	if (byte < 0x80)
		return true;
	if (byte < 0xc2 || byte > 0xf4)
		return false;
	utf8->left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	/* RFC 3629, 4: what may follow the first byte. */
	utf8->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	utf8->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	return true;
}

bool util_utf8_step(struct util_utf8 *utf8, uint8_t byte)
{
	if (!utf8->left)
		return begin(utf8, byte);
	if (byte < utf8->low || byte > utf8->high) {
		utf8->left = 0;
		return false;
	}
	utf8->left--;
	utf8->low = 0x80;
	utf8->high = 0xbf;
	return true;
}

size_t util_utf8_prefix(const char *text)
{
	struct util_utf8 utf8 = {0};
	size_t whole = 0, i;

	for (i = 0; text[i] && util_utf8_step(&utf8, (uint8_t)text[i]); i++)
		if (!utf8.left)
			whole = i + 1;
	return whole;
}
