/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest: one process inside the environment that carries out every operation there.
 *
 * One thread runs an event loop over the connection, the keepers, the pipes of commands and their
 * deadlines. Requests become calls; each is bound to a handler by the operation table. Short file
 * operations run in the loop; long ones in worker threads, which never fork and report back through
 * an eventfd. When the connection ends, so does the guest; its keepers notice and end every process
 * before they go.
 *
 * Files: main.c start and end; calls.c requests to answers; bind.c which handler; workers.c
 * threads; memory.c when there is no more; setup.c what it serves and what it says of itself; confine.c the sandbox around it; tmp.c the scratch directory.
 */
#ifndef CV_GUEST_GUEST_H
#define CV_GUEST_GUEST_H

#include "base/loop.h"
#include "changes/changes.h"
#include "files/observe.h"
#include "files/streams.h"
#include "ops/reply.h"
#include "ports/ports.h"
#include "process/procs.h"
#include "wire/conn.h"

#include <pthread.h>

struct cv_guest;

/* A request under way. */
struct cv_guest_call {
	struct cv_guest_call *next;	/* in guest->calls */
	struct cv_guest_call *next_job; /* in a queue of workers, or held */
	struct cv_guest *guest;
	uint64_t id;
	const struct cv_op *op;
	struct cv_arena *arena;
	void *req;
	struct cv_buf body;
	json_t *args;
	bool want_body;
	bool stdin_flag;
	struct cv_buf early; /* stdin that came before there was anybody to take it */
	bool stdin_ended;    /* and its end */
	bool dispatched;
	struct cv_reply reply;
	atomic_bool cancel;
	void *res; /* of file operations */
	int rc;
	struct cove_error *err;
};

struct cv_workers {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct cv_guest_call *jobs; /* oldest first */
	struct cv_guest_call *done;
	int threads;
	int idle;
	int eventfd;
	struct cv_watch watch;
};

struct cv_guest {
	struct cv_loop loop;
	struct cv_conn conn;
	struct cv_watch in;
	struct cv_watch out; /* watches a separate output descriptor, or nothing */
	bool out_blocked;
	struct cv_guest_call *calls;
	struct cv_guest_call *held; /* came before setup was done, oldest first */
	struct cv_space space;
	struct cv_procs procs;
	struct cv_streams streams;
	struct cv_observers observers;
	struct cv_workers workers;
	bool setting_up;
	bool ready;
	struct cv_guest_setup *setup; /* as it was given; lives with its call's arena */
	struct cv_arena *setup_arena;
	struct cove_error *setup_error; /* why there is nothing to serve */
	bool has_tmp;			/* the scratch directory was made */
	bool sandboxed; /* started in namespaces, to be built before anything else */
	const char *const
		*isolation; /* what is active, once it was built; NULL: as the set-up says */
	int tmp_lock;
	struct cv_origin origin; /* of the workspace */
};

/* calls.c */
void cv_guest_on_frame(struct cv_guest *g, const struct cv_frame *f);
void cv_guest_call_done(struct cv_guest_call *call); /* a file operation has ended */
/* Set-up has ended: calls that came before go on, or fail as it did. */
void cv_guest_release_held(struct cv_guest *g);
void cv_guest_break(struct cv_guest *g, const char *why);

/* memory.c */
void cv_guest_watch_memory(void);
bool cv_guest_memory_failed(void); /* since it was last asked */

/* bind.c */
void cv_guest_dispatch(struct cv_guest_call *call);
/* Runs the file operation or the set-up of a call; in any thread. */
void cv_guest_run_job(struct cv_guest_call *call);

/* workers.c */
int cv_workers_init(struct cv_guest *g);
void cv_workers_add(struct cv_guest *g, struct cv_guest_call *call);

/* setup.c */
int cv_guest_prepare(struct cv_guest_call *call, struct cove_error *err);
void cv_guest_setup_done(struct cv_guest_call *call);
void cv_guest_describe(struct cv_guest *g, struct cv_reply *reply);

/*
 * confine.c: what a sandboxed guest starts with; then it builds the sandbox and goes in, in the
 * loop's thread, before there are others.
 */
int cv_guest_begin_confined(struct cv_guest *g);
int cv_guest_confine(struct cv_guest_call *call, struct cove_error *err);

/* tmp.c */
int cv_guest_tmp(struct cv_guest *g, struct cove_error *err);
void cv_guest_make_temp(struct cv_guest *g, const void *req, struct cv_reply *reply);
void cv_guest_resolve_tmp(struct cv_guest *g, const void *req, struct cv_reply *reply);

#endif
