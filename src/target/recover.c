/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose controller has to be brought up anew, or is gone.
 *
 *   SERVING -> HALTING -> DETACHING -> STARTING -> SERVING
 *                                         '-> LOST -> STARTING
 *
 * HALTING   its DMA ends; hosts get Internal Path Error for what it had, and come again
 * DETACHING DOCA STA lets go of the queues
 * STARTING  the controller comes up, with new queues
 * LOST      it did not, or the kernel took it: hosts see its namespaces no more, until somebody
 *           asks for a reset that succeeds
 *
 * What waits for hardware runs on a thread of its own, one at a time for a disk. It touches what it
 * was given and nothing else: `old`, the controller that was, and `fresh`, the one that will be.
 * Everything else is the main thread's. Other disks go on.
 */
#include "target/backend.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_error.h>

#include "nvme/vfio/vfio.h"
#include "target/layer.h"
#include "target/log.h"

enum {
	/* A drive that fails again so soon after a restart is given up. */
	AGAIN_MS = 60 * 1000,
};

enum state {
	SERVING,
	HALTING,
	DETACHING,
	STARTING,
	LOST,
};

struct hidden_ns {
	struct tgt_subsys *subsys;
	struct tgt_ns *ns;
};

struct tgt_recovery {
	struct tgt_backend *be;
	enum state state;
	bool is_given_up; /* once detached it is let go, not started */
	uint64_t began_ms;
	uint64_t last_ms; /* when it was restarted without being asked; 0: never */
	struct tgt_loop_source events[NV_DRIVE_EVENTS];

	/* The thread: what it does, and what came of it. */
	pthread_t thread;
	bool has_thread;
	void (*job)(struct tgt_recovery *r);
	struct tgt_loop_source done;
	bool is_halted;
	int rc;
	struct nv_err why;
	struct tgt_disk old, fresh;

	struct hidden_ns *hidden;
	size_t n_hidden;
};

static const char *name_of(const struct tgt_backend *be)
{
	return be->disk.conf->name;
}

/* ---- namespaces that hosts do not see ----------------------------------------------------- */

static void hide(struct tgt_recovery *r, struct tgt_subsys *subsys, uint32_t nsid)
{
	struct tgt *tgt = &r->be->server->tgt;
	struct hidden_ns *more;

	more = reallocarray(r->hidden, r->n_hidden + 1, sizeof(*more));
	if (!more) {
		tgt_log_error("disk \"%s\": out of memory", name_of(r->be));
		return;
	}
	r->hidden = more;
	more[r->n_hidden].subsys = subsys;
	more[r->n_hidden].ns = tgt_subsys_take_ns(tgt, subsys, nsid);
	tgt_datapath_rm_ns(subsys, more[r->n_hidden].ns);
	r->n_hidden++;
}

/* A function for each namespace of the disk that hosts see. */
static void for_each_ns(struct tgt_recovery *r,
			void (*fn)(struct tgt_recovery *r, struct tgt_subsys *subsys,
				   uint32_t nsid))
{
	struct tgt *tgt = &r->be->server->tgt;

	for (size_t s = 0; s < tgt->n_subsystems; s++) {
		struct tgt_subsys *subsys = tgt->subsystems[s];

		for (uint32_t n = 0; n < subsys->nn; n++)
			if (subsys->ns[n] && subsys->ns[n]->backend == r->be)
				fn(r, subsys, n + 1);
	}
}

/* The disk may have another size now, or without the namespace. */
static void refresh(struct tgt_recovery *r, struct tgt_subsys *subsys, uint32_t nsid)
{
	struct tgt_ns *ns = tgt_ns_get(subsys, nsid);
	struct tgt_ns now = *ns;
	struct tgt_err why = {"its block size has changed"};

	if (tgt_backend_describe(r->be, ns->be_nsid, &now, &why) ||
	    now.block_bytes != ns->block_bytes) {
		tgt_log_warning("%s namespace %u is withdrawn: %s", subsys->nqn, nsid, why.text);
		hide(r, subsys, nsid);
		return;
	}
	if (now.blocks == ns->blocks && now.is_read_only == ns->is_read_only)
		return;
	tgt_log("%s namespace %u: now %llu blocks%s", subsys->nqn, nsid,
		(unsigned long long)now.blocks, now.is_read_only ? ", read only" : "");
	ns->blocks = now.blocks;
	ns->is_read_only = now.is_read_only;
	tgt_subsys_ns_changed(&r->be->server->tgt, subsys, nsid);
}

static bool show(struct tgt_recovery *r, struct hidden_ns *h)
{
	struct tgt_server *server = r->be->server;
	struct tgt_err why = {""};
	int rc = tgt_backend_describe(r->be, h->ns->be_nsid, h->ns, &why);

	if (!rc)
		rc = tgt_datapath_add_ns(h->subsys, h->ns, &why);
	if (!rc)
		rc = tgt_subsys_add_ns(&server->tgt, h->subsys, h->ns);
	if (rc)
		tgt_log_warning("%s namespace %u stays withdrawn: %s", h->subsys->nqn, h->ns->nsid,
				why.text);
	return !rc;
}

static void show_all(struct tgt_recovery *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_hidden; i++)
		if (!show(r, &r->hidden[i]))
			r->hidden[kept++] = r->hidden[i];
	r->n_hidden = kept;
}

/* DOCA STA has not let go of all of them yet. */
static bool is_hiding(const struct tgt_recovery *r)
{
	for (size_t i = 0; i < r->n_hidden; i++)
		if (r->hidden[i].ns->sta)
			return true;
	return false;
}

bool tgt_backend_is_watched(const struct tgt_backend *be)
{
	return be->disk.is_watched && be->recovery->state == SERVING;
}

void tgt_backend_check(struct tgt_backend *be)
{
	struct tgt_recovery *r = be->recovery;
	struct nv_err why = {""};
	int rc;

	if (!tgt_backend_is_watched(be))
		return;
	rc = tgt_disk_check(&be->disk, &why);
	if (rc < 0)
		tgt_log_warning("disk \"%s\": %s: hosts will not be told when it changes",
				name_of(be), why.text);
	if (rc <= 0)
		return;
	for_each_ns(r, refresh);
	if (!is_hiding(r))
		show_all(r);
}

/* ---- the thread --------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct tgt_recovery *r = arg;
	const uint64_t one = 1;

	r->job(r);
	/* Cannot fail: the counter of an eventfd is far from full. */
	if (write(r->done.fd, &one, sizeof(one)) != sizeof(one))
		abort();
	return NULL;
}

static int run(struct tgt_recovery *r, enum state state, void (*job)(struct tgt_recovery *r))
{
	int rc;

	r->job = job;
	rc = pthread_create(&r->thread, NULL, thread_main, r);
	if (rc)
		return -rc;
	r->has_thread = true;
	r->state = state;
	return 0;
}

static void job_halt(struct tgt_recovery *r)
{
	r->is_halted = tgt_disk_halt(&r->old);
}

static void job_start(struct tgt_recovery *r)
{
	struct tgt_backend *be = r->be;

	r->why.text[0] = '\0';
	r->rc = tgt_disk_restart(&r->old, &r->fresh, tgt_beq_wanted(be), &r->why);
	if (!r->rc)
		r->rc = tgt_beq_create(be, r->fresh.ctrl, &r->why);
}

static void job_let_go(struct tgt_recovery *r)
{
	tgt_disk_shut(&r->old);
	r->rc = nv_err(&r->why, -ENODEV, "was let go");
}

/* ---- steps -------------------------------------------------------------------------------- */

static void unwatch(struct tgt_recovery *r)
{
	for (int i = 0; i < NV_DRIVE_EVENTS; i++) {
		if (r->events[i].ready)
			tgt_loop_remove(&r->be->server->loop, &r->events[i]);
		r->events[i].ready = NULL;
	}
}

static void give_up(struct tgt_recovery *r)
{
	struct tgt_backend *be = r->be;

	tgt_beq_forget(be);
	/* A soft controller and its store stay with the disk. */
	r->fresh.soft = NULL;
	tgt_disk_close(&r->fresh);
	r->state = LOST;
	for_each_ns(r, hide);
	tgt_log_error("disk \"%s\": %s: hosts do not see it until \"stactl drive reset %s\""
		      " succeeds",
		      name_of(be), r->why.text, name_of(be));
}

/* The controller is the thread's until there is a fresh one; a soft one is looked at meanwhile. */
static int hand_over(struct tgt_recovery *r, enum state state, void (*job)(struct tgt_recovery *r))
{
	int rc;

	r->old = r->be->disk;
	rc = run(r, state, job);
	if (rc)
		return rc;
	r->be->disk.ctrl = NULL;
	r->be->disk.drive = NULL;
	return 0;
}

static void halt(struct tgt_recovery *r)
{
	int rc = hand_over(r, HALTING, job_halt);

	if (rc)
		tgt_log_error("disk \"%s\": cannot be reset: %s", name_of(r->be), strerror(-rc));
}

static void resume(struct tgt_recovery *r)
{
	struct tgt_backend *be = r->be;
	doca_error_t rc;

	free(be->disk.ns);
	be->disk = r->fresh;
	memset(&r->fresh, 0, sizeof(r->fresh));
	rc = tgt_beq_give(be);
	if (rc != DOCA_SUCCESS) {
		tgt_log_error("disk \"%s\": back-end queue: %s", name_of(be),
			      doca_error_get_descr(rc));
		r->is_given_up = true;
		halt(r);
		return;
	}
	r->state = SERVING;
	tgt_recovery_watch(be);
	for_each_ns(r, refresh);
	show_all(r);
	tgt_log("disk \"%s\": up again after %llu ms", name_of(be),
		(unsigned long long)(tgt_loop_now_ms() - r->began_ms));
}

static void detached(struct tgt_recovery *r)
{
	int rc;

	tgt_beq_forget(r->be);
	rc = run(r, STARTING, r->is_given_up ? job_let_go : job_start);
	if (!rc)
		return;
	nv_err(&r->why, rc, "no thread: %s", strerror(-rc));
	r->old.soft = NULL;
	tgt_disk_shut(&r->old);
	give_up(r);
}

static void halted(struct tgt_recovery *r)
{
	doca_error_t rc;

	if (r->is_halted)
		tgt_beq_halted(r->be);
	r->state = DETACHING;
	rc = tgt_beq_ask_back(r->be);
	if (rc != DOCA_SUCCESS)
		tgt_log_error("disk \"%s\": its queues cannot be taken back: %s", name_of(r->be),
			      doca_error_get_descr(rc));
	else if (tgt_beq_are_gone(r->be))
		detached(r);
}

void tgt_recovery_queue_gone(struct tgt_backend *be)
{
	if (be->recovery && be->recovery->state == DETACHING && tgt_beq_are_gone(be))
		detached(be->recovery);
}

static void on_done(void *arg)
{
	struct tgt_recovery *r = arg;
	uint64_t count;

	if (!r->has_thread || read(r->done.fd, &count, sizeof(count)) != sizeof(count))
		return;
	pthread_join(r->thread, NULL);
	r->has_thread = false;
	if (r->state == HALTING)
		halted(r);
	else if (r->rc)
		give_up(r);
	else
		resume(r);
}

/* ---- what sets it going ------------------------------------------------------------------- */

static int begin(struct tgt_recovery *r, bool is_given_up)
{
	int rc;

	if (r->state != SERVING && r->state != LOST)
		return -EALREADY;
	if (r->state == LOST && is_hiding(r))
		return -EAGAIN;
	unwatch(r);
	r->is_given_up = is_given_up;
	r->began_ms = tgt_loop_now_ms();
	rc = r->state == SERVING ? hand_over(r, HALTING, job_halt)
				 : hand_over(r, STARTING, job_start);
	if (rc && r->state == SERVING)
		tgt_recovery_watch(r->be);
	return rc;
}

int tgt_backend_reset(struct tgt_backend *be, struct tgt_err *err)
{
	int rc = begin(be->recovery, false);

	if (rc == -EALREADY)
		return tgt_err_set(err, rc, "\"%s\" is being reset", name_of(be));
	if (rc == -EAGAIN)
		return tgt_err_set(err, rc, "\"%s\" is being withdrawn from hosts still",
				   name_of(be));
	if (rc)
		return tgt_err_set(err, rc, "\"%s\": %s", name_of(be), strerror(-rc));
	tgt_log("disk \"%s\": reset", name_of(be));
	return 0;
}

int tgt_backend_inject(struct tgt_backend *be, const struct tgt_injection *injection,
		       struct tgt_err *err)
{
	struct nv_err why = {""};
	int rc;

	if (be->recovery->state != SERVING)
		return tgt_err_set(err, -EBUSY, "\"%s\" is not in service", name_of(be));
	rc = tgt_disk_inject(&be->disk, injection, &why);
	if (rc)
		return tgt_err_set(err, rc, "\"%s\": %.160s", name_of(be),
				   why.text[0] ? why.text : strerror(-rc));
	return 0;
}

/* Once it is restarted; if that does not last, it would only go on for ever. */
static void mend(struct tgt_recovery *r, const char *what)
{
	uint64_t now = tgt_loop_now_ms();
	bool is_hopeless = r->last_ms && now - r->last_ms < AGAIN_MS;

	if (r->state != SERVING)
		return;
	tgt_log_error("disk \"%s\": %s%s", name_of(r->be), what,
		      is_hopeless ? ", again: it is given up" : ": reset");
	r->last_ms = now;
	if (begin(r, is_hopeless))
		tgt_log_error("disk \"%s\": cannot be reset", name_of(r->be));
}

void tgt_backend_unanswered(struct tgt_backend *be)
{
	/* A store that is slow, as a network's may be, becomes no faster by a reset. */
	if (be->disk.conf->kind != TGT_BDEV_DRIVE)
		tgt_log_warning("disk \"%s\": does not answer in time", name_of(be));
	else
		mend(be->recovery, "does not answer in time");
}

void tgt_backend_abandon(struct tgt_backend *be)
{
	/* A store may write to memory later still; but that goes after it. */
	if (be->recovery->state == SERVING && (be->disk.soft || tgt_disk_halt(&be->disk)))
		tgt_beq_halted(be);
}

static void on_error(void *arg)
{
	mend(arg, "PCIe reports a fatal error");
}

static void on_wanted(void *arg)
{
	struct tgt_recovery *r = arg;

	if (r->state != SERVING)
		return;
	tgt_log_warning("disk \"%s\": the kernel takes the drive back", name_of(r->be));
	if (begin(r, true))
		tgt_log_error("disk \"%s\": cannot be let go", name_of(r->be));
}

void tgt_recovery_watch(struct tgt_backend *be)
{
	static void (*const ready[NV_DRIVE_EVENTS])(void *arg) = {
		[NV_DRIVE_WANTED] = on_wanted,
		[NV_DRIVE_ERROR] = on_error,
	};
	struct tgt_recovery *r = be->recovery;

	for (int i = 0; i < NV_DRIVE_EVENTS && be->disk.drive; i++) {
		r->events[i] = (struct tgt_loop_source){
			nv_drive_event_fd(be->disk.drive, (enum nv_drive_event)i), ready[i], r};
		if (tgt_loop_add(&be->server->loop, &r->events[i])) {
			r->events[i].ready = NULL;
			tgt_log_warning("disk \"%s\": its errors will not be heard of",
					name_of(be));
		}
	}
}

const char *tgt_backend_state(const struct tgt_backend *be)
{
	switch (be->recovery->state) {
	case SERVING:
		return "enabled";
	case LOST:
		return "failed";
	default:
		return "resetting";
	}
}

/* ---- life --------------------------------------------------------------------------------- */

int tgt_recovery_init(struct tgt_backend *be)
{
	struct tgt_recovery *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	r->be = be;
	r->done = (struct tgt_loop_source){eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), on_done, r};
	rc = r->done.fd < 0 ? -errno : tgt_loop_add(&be->server->loop, &r->done);
	if (rc) {
		if (r->done.fd >= 0)
			close(r->done.fd);
		free(r);
		return rc;
	}
	be->recovery = r;
	return 0;
}

void tgt_recovery_fini(struct tgt_backend *be)
{
	struct tgt_recovery *r = be->recovery;

	if (!r)
		return;
	be->recovery = NULL;
	if (r->has_thread)
		pthread_join(r->thread, NULL);
	unwatch(r);
	tgt_loop_remove(&be->server->loop, &r->done);
	close(r->done.fd);
	if (r->state == HALTING && r->is_halted)
		tgt_beq_halted(be);
	if (r->state == HALTING || r->state == DETACHING)
		be->disk = r->old;
	r->fresh.soft = NULL; /* the disk has it */
	tgt_disk_close(&r->fresh);
	for (size_t i = 0; i < r->n_hidden; i++)
		if (!r->hidden[i].ns->sta) /* else a task has it still */
			free(r->hidden[i].ns);
	free(r->hidden);
	free(r);
}
