/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the RC engine that are ours to choose. Device limits that a program may ask for are
 * in roce/limits.h. Owns no code.
 */
#ifndef ROCE_PROTO_LIMITS_H
#define ROCE_PROTO_LIMITS_H

#include "roce/limits.h"

/* Requester: PSNs in flight. The window starts small, grows while all goes well, halves on loss. */
#define ROCE_RC_WINDOW_MIN   4
#define ROCE_RC_WINDOW_START 64
#define ROCE_RC_WINDOW_MAX   1024

/* A READ is asked for in pieces of at most this many response packets. */
#define ROCE_RC_READ_CHUNK_MAX 128

/* An ACK is asked for at least every so many packets of a long message. */
#define ROCE_RC_ACK_EVERY 32

/* Responder: READ requests that came again and wait, on top of ROCE_MAX_RD_ATOM. */
#define ROCE_RC_DUP_READS  16
#define ROCE_RC_READ_QUEUE (ROCE_MAX_RD_ATOM + ROCE_RC_DUP_READS)

/* How many packets one role may emit before the other has its turn. */
#define ROCE_RC_TURN 32

/* Retransmission: between these a probe follows the measured round trip (see retrans.c). */
#define ROCE_RC_RTO_MIN_NS   10000000ull
#define ROCE_RC_RTO_START_NS 200000000ull

/* Local ACK timeouts shorter than this are stretched as far as IBTA allows. */
#define ROCE_RC_PATIENCE_NS 250000000ull

/* Values for callers that have no better one. */
#define ROCE_RC_DEFAULT_RNR_TIMER  12 /* 0.64 ms (IBTA table 46) */
#define ROCE_RC_DEFAULT_RETRY	   7
#define ROCE_RC_RNR_RETRY_INFINITE 7 /* IBTA 9.7.5.2.8 */
#define ROCE_RC_DEFAULT_TIMEOUT	   19 /* 2.15 s, what Linux asks for */

/* iovecs that one packet may need: header, one for each SGE, pad and ICRC. */
#define ROCE_RC_PKT_IOV_MAX (ROCE_MAX_SGE + 2)

#endif
