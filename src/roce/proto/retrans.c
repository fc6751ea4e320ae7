/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to send again, and how much may be in flight. Everything goes back to una (go-back-N, IBTA
 * 9.7.5, 9.7.6).
 *
 * Time-out: the local ACK timeout T that both ends agreed on is seconds long on Linux hosts (code
 * 19), too slow to repair a lost packet. So a probe goes out after the measured round trip and its
 * variation, then after twice that, and so on up to T. Probes are not retries: the request fails
 * only when nothing has moved for T * (retry_cnt + 1), as it would with T alone.
 *
 * Window: halved once a flight on loss, small after a time-out, grows by an eighth each time a
 * whole window is acknowledged. RNR is no loss.
 */
#include "roce/proto/rc_priv.h"

#include "util/compiler.h"

#define NEVER UINT64_MAX

uint64_t roce_ack_timeout_ns(uint8_t code)
{
	return code & 31 ? 4096ull << (code & 31) : 0;
}

uint64_t roce_rnr_timer_ns(uint8_t code)
{
	/* IBTA table 46, in units of 10 microseconds. */
	static const uint32_t table[32] = {
		65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
		48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return table[code & ROCE_AETH_VALUE_MASK] * 10000ull;
}

/*
 * T, but not so short that a peer which waits for a processor is taken for dead: the time-out may
 * come as late as 4 T (IBTA 9.7.6.1.3).
 */
static uint64_t ack_timeout_ns(const struct roce_requester *req)
{
	uint64_t timeout_ns = req->timeout_ns;

	if (timeout_ns < ROCE_RC_PATIENCE_NS)
		timeout_ns = util_min(4 * timeout_ns, (uint64_t)ROCE_RC_PATIENCE_NS);
	return util_max(timeout_ns, (uint64_t)ROCE_RC_RTO_MIN_NS);
}

static uint64_t probe_interval_ns(const struct roce_requester *req)
{
	uint64_t limit = ack_timeout_ns(req);
	uint64_t rto = req->srtt_ns ? req->srtt_ns + 4 * req->rttvar_ns : ROCE_RC_RTO_START_NS;

	if (rto < ROCE_RC_RTO_MIN_NS)
		rto = ROCE_RC_RTO_MIN_NS;
	for (unsigned int i = 0; i < req->probes && rto < limit; i++)
		rto *= 2;
	return rto < limit ? rto : limit;
}

static void arm(struct roce_requester *req, uint64_t now_ns)
{
	req->timer_ns = req->timeout_ns ? now_ns + probe_interval_ns(req) : 0;
}

/* RFC 6298's estimator. */
static void measure(struct roce_requester *req, uint64_t rtt_ns)
{
	uint64_t off;

	if (!req->srtt_ns) {
		req->srtt_ns = rtt_ns + 1;
		req->rttvar_ns = rtt_ns / 2;
		return;
	}
	off = rtt_ns > req->srtt_ns ? rtt_ns - req->srtt_ns : req->srtt_ns - rtt_ns;
	req->rttvar_ns += off / 4 - req->rttvar_ns / 4;
	req->srtt_ns += rtt_ns / 8 - req->srtt_ns / 8;
}

void roce_retrans_sent(struct roce_rc *rc, roce_psn psn, bool is_timed, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	bool is_again = roce_psn_diff(psn, req->max) < 0;

	rc->counters.retransmits += is_again;
	if (is_timed && !is_again && !req->rtt_sent_ns) {
		req->rtt_sent_ns = now_ns;
		req->rtt_psn = psn;
	}
	if (!req->timer_ns) {
		req->progress_ns = now_ns;
		arm(req, now_ns);
	}
}

static void grow_window(struct roce_requester *req, uint32_t psns)
{
	req->window_credit += psns;
	if (req->window_credit < req->window)
		return;
	req->window_credit = 0;
	req->window += req->window / 8 + 1;
	if (req->window > req->window_max)
		req->window = req->window_max;
}

void roce_retrans_progress(struct roce_rc *rc, uint32_t psns, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	if (req->rtt_sent_ns && roce_psn_diff(req->una, req->rtt_psn) > 0) {
		measure(req, now_ns - req->rtt_sent_ns);
		req->rtt_sent_ns = 0;
	}
	grow_window(req, psns);
	req->probes = 0;
	req->went_back_ns = 0;
	req->rnr_until_ns = 0;
	req->rnr_left = req->rnr_retry;
	req->progress_ns = now_ns;
	if (roce_psn_eq(req->una, req->max))
		req->timer_ns = 0;
	else
		arm(req, now_ns);
}

static void go_back(struct roce_rc *rc, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	req->went_back_ns = now_ns;
	req->has_gap = false;
	req->rtt_sent_ns = 0; /* what is sent twice measures nothing */
	roce_requester_rewind(rc);
}

static void shrink_window(struct roce_requester *req, uint32_t to)
{
	req->window = to > ROCE_RC_WINDOW_MIN ? to : ROCE_RC_WINDOW_MIN;
	if (req->window > req->window_max)
		req->window = req->window_max;
	req->window_credit = 0;
	req->recover = req->max;
}

void roce_retrans_loss(struct roce_rc *rc, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	if (roce_psn_eq(req->una, req->max) || req->rnr_until_ns)
		return;
	if (roce_psn_diff(req->una, req->recover) >= 0)
		shrink_window(req, req->window / 2);
	go_back(rc, now_ns);
}

/*
 * Once we have gone back, responses to the first asking keep coming for a while: not a second loss
 * unless una has moved, PSNs begin again from lower down, or enough time has passed.
 */
void roce_retrans_gap(struct roce_rc *rc, roce_psn psn, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;
	bool is_again = req->has_gap && roce_psn_diff(psn, req->gap_psn) <= 0;
	bool is_new = !req->went_back_ns || is_again ||
		      now_ns - req->went_back_ns >= probe_interval_ns(req);

	if (is_new) {
		rc->counters.implied_naks++;
		roce_retrans_loss(rc, now_ns);
	}
	req->has_gap = true;
	req->gap_psn = psn;
}

void roce_retrans_rnr(struct roce_rc *rc, uint8_t code, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	if (req->rnr_until_ns || roce_psn_eq(req->una, req->max))
		return;
	if (req->rnr_retry != ROCE_RC_RNR_RETRY_INFINITE && !req->rnr_left--) {
		roce_requester_fail(rc, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	go_back(rc, now_ns);
	req->timer_ns = 0; /* the peer lives */
	req->rnr_until_ns = now_ns + roce_rnr_timer_ns(code);
}

void roce_retrans_stop(struct roce_rc *rc)
{
	rc->req.timer_ns = 0;
	rc->req.rnr_until_ns = 0;
}

uint64_t roce_rc_deadline(const struct roce_rc *rc)
{
	const struct roce_requester *req = &rc->req;

	if (req->rnr_until_ns)
		return req->rnr_until_ns;
	return req->timer_ns ? req->timer_ns : NEVER;
}

void roce_rc_timer(struct roce_rc *rc, uint64_t now_ns)
{
	struct roce_requester *req = &rc->req;

	if (req->rnr_until_ns && now_ns >= req->rnr_until_ns)
		req->rnr_until_ns = 0;
	if (!req->timer_ns || now_ns < req->timer_ns)
		return;
	rc->counters.timeouts++;
	if (now_ns - req->progress_ns >= ack_timeout_ns(req) * (req->retry_cnt + 1ull)) {
		roce_requester_fail(rc, IBV_WC_RETRY_EXC_ERR);
		return;
	}
	if (req->probes < UINT8_MAX)
		req->probes++;
	arm(req, now_ns);
	shrink_window(req, ROCE_RC_WINDOW_MIN);
	go_back(rc, now_ns);
}
