/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVMe qualified names and the identifiers that are derived from configuration: the default
 * subsystem NQN, serial numbers, namespace UUID and NGUID. Derived means the same after a restart
 * and on no other machine, without a state file.
 */
#ifndef TGT_NQN_H
#define TGT_NQN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer for a name and its terminator: 223 bytes at most (NVMe Base 2.0, 4.5). */
#define TGT_NQN_TEXT 224
/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" and its terminator. */
#define TGT_UUID_TEXT 37

/**
 * tgt_nqn_check() - is @nqn a name that an operator may configure?
 *
 * Return: NULL if it is, else the reason, fit to stand behind "NQN ...: ".
 */
const char *tgt_nqn_check(const char *nqn);

/** tgt_nqn_is_discovery() - the well-known name of every discovery subsystem. */
bool tgt_nqn_is_discovery(const char *nqn);

/**
 * tgt_nqn_default() - a name from this machine's identity and what is exported.
 * @machine: the machine's identity, e.g. the text of /etc/machine-id or the host name
 * @export:  what is exported first
 */
void tgt_nqn_default(const char *machine, const char *export, char nqn[TGT_NQN_TEXT]);

/** tgt_machine_identity() - /etc/machine-id, else the host name. */
void tgt_machine_identity(char *text, size_t size);

/**
 * tgt_uuid_derive() - a version 8 UUID (RFC 9562, 5.8) from a text.
 * Never all zero: a host that finds a zero identifier lists no namespace.
 */
void tgt_uuid_derive(const char *text, uint8_t uuid[16]);

/** tgt_uuid_format() - lower case with dashes. */
void tgt_uuid_format(const uint8_t uuid[16], char text[TGT_UUID_TEXT]);

#endif
