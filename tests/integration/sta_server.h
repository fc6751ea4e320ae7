/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storage target of some hundred lines, straight on the doca_* API: one subsystem, one namespace,
 * one back-end queue whose controller is a RAM disk in the same process that can be told to hold
 * what it has. It runs until a command byte says otherwise; each byte is answered with one.
 */
#ifndef TESTS_INTEGRATION_STA_SERVER_H
#define TESTS_INTEGRATION_STA_SERVER_H

#include <stdint.h>

#define SERVER_NQN "nqn.2026-01.org.example:direct"

enum {
	SERVER_NSID = 3,
	SERVER_BLOCK = 512,
	SERVER_BLOCKS = 4096,
	/* Commands of a vendor that the application serves itself. */
	SERVER_OP_SUM = 0xc1, /* dword 0 of the answer: sum of the data */
	SERVER_OP_COUNT = 0xc2, /* data: 0, 1, 2, ... */
};

enum server_command {
	SERVER_HOLD = 'h', /* the disk completes nothing */
	SERVER_RELEASE = 'r',
	SERVER_REMOVE_NS = 'n', /* answered when it has left */
	SERVER_ADD_NS = 'a',
	SERVER_COUNT = 'c', /* answer: connections */
	SERVER_FETCHED = 'f', /* answer: commands that the disk holds */
	SERVER_QUIT = 'q',
};

/* Before the first command: where hosts connect to. */
struct server_address {
	char addr[16];
	uint16_t port;
};

/* Runs until SERVER_QUIT; 0 when everything could be let go of. */
int server_main(int command_fd, int answer_fd);

#endif
