/* SPDX-License-Identifier: Apache-2.0 */
/* Text parsing and formatting for the target; see parse.h. No NVMe knowledge here. */
#include "target/parse.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tgt_err_set(struct tgt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

/* Binary unit exponent of a suffix letter, -1 if it is none. */
static int unit_shift(char c)
{
	switch (toupper((unsigned char)c)) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	case 'T':
		return 40;
	default:
		return -1;
	}
}

int tgt_size_parse(const char *text, uint64_t *bytes)
{
	unsigned long long n;
	int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (unit_shift(*end) >= 0) {
		shift = unit_shift(*end++);
		if (*end == 'i')
			end++;
	}
	if (*end == 'B')
		end++;
	if (*end || !n)
		return -EINVAL;
	if (n > (unsigned long long)INT64_MAX >> shift)
		return -ERANGE;
	*bytes = (uint64_t)n << shift;
	return 0;
}

/* Split "host:port" forms; a text with several colons and no bracket is a bare IPv6 address. */
static int addr_split(const char *text, char host[TGT_ADDR_TEXT], const char **port)
{
	const char *start = text, *end, *colon = strrchr(text, ':');

	*port = NULL;
	if (text[0] == '[') {
		start = text + 1;
		end = strchr(start, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		if (end[1])
			*port = end + 2;
	} else if (colon && strchr(text, ':') == colon) {
		end = colon;
		*port = colon + 1;
	} else {
		end = text + strlen(text);
	}
	if (end == start || end - start >= TGT_ADDR_TEXT)
		return -EINVAL;
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return 0;
}

static int port_parse(const char *text, uint16_t *port)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end || n == 0 || n > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)n;
	return 0;
}

int tgt_addr_parse(const char *text, uint16_t default_port, union tgt_sockaddr *addr,
		   struct tgt_err *err)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char host[TGT_ADDR_TEXT];
	uint16_t port = default_port;
	const char *port_text;

	if (addr_split(text, host, &port_text))
		return tgt_err_set(err, -EINVAL,
				   "\"%.80s\" is no ADDRESS[:PORT]; every address is 0.0.0.0 or"
				   " [::]",
				   text);
	if (port_text && port_parse(port_text, &port))
		return tgt_err_set(err, -EINVAL, "\"%.80s\": the port is a number from 1 to 65535",
				   text);
	if (getaddrinfo(host, NULL, &hints, &found) || !found)
		return tgt_err_set(err, -EINVAL, "\"%.80s\" is no numeric IPv4 or IPv6 address",
				   host);
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
	return 0;
}

void tgt_addr_format(const struct sockaddr *sa, char text[TGT_ADDR_TEXT])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
	char name[IF_NAMESIZE];
	size_t len;

	text[0] = '\0';
	if (sa->sa_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, text, TGT_ADDR_TEXT);
	} else if (sa->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &in6->sin6_addr, text, TGT_ADDR_TEXT);
		len = strlen(text);
		if (in6->sin6_scope_id && if_indextoname(in6->sin6_scope_id, name))
			snprintf(text + len, TGT_ADDR_TEXT - len, "%%%s", name);
	}
}

uint16_t tgt_addr_port(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)sa)->sin_port);
	if (sa->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
	return 0;
}

bool tgt_addr_is_any(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == htonl(INADDR_ANY);
	if (sa->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)sa)->sin6_addr);
	return false;
}

bool tgt_addr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

	if (a->sa_family != b->sa_family || tgt_addr_port(a) != tgt_addr_port(b))
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && a6->sin6_scope_id == b6->sin6_scope_id &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

int tgt_hex_parse(const char *text, uint8_t *out, size_t n)
{
	unsigned int byte;
	size_t i;

	for (i = 0; i < n; i++) {
		if (*text == '-' && i)
			text++;
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return -EINVAL;
		sscanf(text, "%2x", &byte);
		out[i] = (uint8_t)byte;
		text += 2;
	}
	return *text ? -EINVAL : 0;
}

const char *tgt_quote(const char *s, size_t max, char out[TGT_QUOTE_TEXT])
{
	const size_t room = TGT_QUOTE_TEXT - sizeof("...");
	size_t len = strnlen(s, max), i;

	for (i = 0; i < len && i < room; i++) {
		unsigned char c = (unsigned char)s[i];

		out[i] = (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') ? '?' : (char)c;
	}
	out[i] = '\0';
	if (i < len)
		memcpy(out + i, "...", sizeof("..."));
	return out;
}
