/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that operators and peers write: sizes, listen addresses, identifiers, qualified names.
 * Pure functions; the only allocation is none.
 */
#ifndef TGT_PARSE_H
#define TGT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "target/err.h"

/* A buffer for any address text: IPv6 with a scope, no port. */
#define TGT_ADDR_TEXT 80
/* A buffer for any peer string in a log line (see tgt_quote()). */
#define TGT_QUOTE_TEXT 256

union tgt_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/**
 * tgt_size_parse() - "4096", "64M", "1.5G" is not one: a whole number and K, M, G or T (powers of
 * 1024, either case, an optional "iB" or "B" behind).
 *
 * Return: 0, -EINVAL (no number, trailing text, zero), -ERANGE (does not fit 63 bits).
 */
int tgt_size_parse(const char *text, uint64_t *bytes);

/**
 * tgt_addr_parse() - "10.0.0.1", "10.0.0.1:4420", "::1", "[::1]:4420", "[fe80::1%eth0]".
 * @text:         numeric address with an optional port
 * @default_port: used when @text names none
 *
 * Return: 0, or -EINVAL with the reason in @err.
 */
int tgt_addr_parse(const char *text, uint16_t default_port, union tgt_sockaddr *addr,
		   struct tgt_err *err);

/** tgt_addr_format() - the address without its port, as the discovery log wants it. */
void tgt_addr_format(const struct sockaddr *sa, char text[TGT_ADDR_TEXT]);

/** tgt_addr_port() - the port in host order, 0 for an unknown family. */
uint16_t tgt_addr_port(const struct sockaddr *sa);

/** tgt_addr_is_any() - 0.0.0.0 or ::. */
bool tgt_addr_is_any(const struct sockaddr *sa);

/** tgt_addr_equal() - same family, address, scope and port. */
bool tgt_addr_equal(const struct sockaddr *a, const struct sockaddr *b);

/**
 * tgt_hex_parse() - @n bytes of hex digits; dashes between bytes are skipped (UUID notation).
 *
 * Return: 0, or -EINVAL when a digit is missing, wrong or too many.
 */
int tgt_hex_parse(const char *text, uint8_t *out, size_t n);

/**
 * tgt_quote() - copy a string of foreign origin so that it may stand in a log line: at most
 * @max bytes are looked at, control characters and quotes become '?', an end that was cut off
 * shows as "...".
 *
 * Return: @out.
 */
const char *tgt_quote(const char *s, size_t max, char out[TGT_QUOTE_TEXT]);

#endif
