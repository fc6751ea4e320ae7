/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from EUs to the thread of a context: one a doca_pe_progress(), so that a context with
 * much to tell does not keep the others of its progress engine from theirs.
 */
#include "sta/io.h"

#include <time.h>

#define SETTLE_NS 10000

bool sta_inbox_run_one(struct sta_inbox *inbox, void *owner)
{
	struct sta_msg *msg;

	if (!inbox->todo)
		inbox->todo = sta_mbox_take(&inbox->box);
	msg = inbox->todo;
	if (!msg)
		return false;
	inbox->todo = msg->next;
	msg->fn(owner, msg);
	return true;
}

/*
 * An owner that polls takes the message before it is woken, and if that was the last one it waited
 * for, it may end the context. So whoever posts is counted until it has let go of the context.
 */
static void post(struct sta_inbox *inbox, struct doca_ctx *ctx, struct sta_msg *msg)
{
	atomic_fetch_add(&inbox->num_posting, 1);
	sta_mbox_post(&inbox->box, msg);
	doca_priv_ctx_wake(ctx);
	atomic_fetch_sub(&inbox->num_posting, 1);
}

void sta_inbox_settle(struct sta_inbox *inbox)
{
	const struct timespec ts = {0, SETTLE_NS};

	/* Asleep, for the poster may have a lower priority. It needs a few instructions. */
	while (atomic_load(&inbox->num_posting))
		(void)nanosleep(&ts, NULL);
}

void sta_post(struct doca_sta *sta, struct sta_msg *msg)
{
	post(&sta->inbox, &sta->ctx, msg);
}

void sta_io_post(struct doca_sta_io *io, struct sta_msg *msg)
{
	post(&io->inbox, &io->ctx, msg);
}
