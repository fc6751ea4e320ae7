/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from EUs to the thread of a context: one a doca_pe_progress(), so that a context with
 * much to tell does not keep the others of its progress engine from theirs.
 */
#include "sta/io.h"

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

void sta_post(struct doca_sta *sta, struct sta_msg *msg)
{
	sta_mbox_post(&sta->inbox.box, msg);
	doca_priv_ctx_wake(&sta->ctx);
}

void sta_io_post(struct doca_sta_io *io, struct sta_msg *msg)
{
	/* The message may be the last one: the context lives until we have left it. */
	atomic_fetch_add(&io->num_posting, 1);
	sta_mbox_post(&io->inbox.box, msg);
	doca_priv_ctx_wake(&io->ctx);
	atomic_fetch_sub(&io->num_posting, 1);
}
