/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and processes, as the guest runs them.
 *
 * A process begins as a request: it waits for a keeper if none is idle, is started, and runs. Two
 * events move it on, both from its keeper: its leader has ended, and its tree is clean. Deadline,
 * cancellation, kill and reset all do the same thing, cv_process_end(): TERM to the tree, KILL
 * after the grace, until the keeper says clean. Replies hang on those events; nothing ever waits
 * for the end of a pipe.
 *
 * Files: pool.c keepers; spawn.c request to payload; process.c the life of a process; stdio.c,
 * stdin.c and tty.c its pipes; capture.c who else sees its output; exec.c the two operations that
 * start one; session.c what lives from one command to the next; waits.c what looks at or waits for
 * one; records.c which are kept and told; orphans.c what is left when a keeper dies.
 */
#ifndef CV_PROCESS_PROCS_H
#define CV_PROCESS_PROCS_H

#include "base/buf.h"
#include "base/loop.h"
#include "base/resolve.h"
#include "ops/reply.h"
#include "output/spill.h"
#include "output/tape.h"
#include "process/keeper_msg.h"

#include <cove/output.h>
#include <cove/process.h>

#include <linux/filter.h>

/* A keeper, from the guest's side. */
struct cv_worker {
	struct cv_worker *next; /* in procs->workers */
	struct cv_procs *procs;
	pid_t pid;
	int sock;
	struct cv_watch watch;
	struct cv_process *owner; /* whose command it runs; NULL: idle */
	bool is_nursery;
	bool has_spoken; /* it lived long enough to say anything */
	bool checking;	 /* its command is clean, and it looks whether it is as it was born */
};

/* One output pipe and its tape. */
struct cv_pipe {
	struct cv_process *process;
	int stream; /* enum cove_stream */
	struct cv_tape tape;
	int fd; /* -1: closed or never there */
	struct cv_watch watch;
	struct cove_renderer *renderer; /* of output.render; NULL none */
	struct cove_bounder *rendered;
};

struct cv_stdin {
	int fd; /* -1: closed, or the null device */
	struct cv_watch watch;
	size_t queue_at;     /* written bytes at the front of queue */
	struct cv_buf queue; /* what the pipe did not take yet */
	int64_t taken;	     /* bytes that the pipe took in all */
	int64_t queued;	     /* bytes asked to be written in all */
	bool close_after;
	bool broken; /* the command closed its end */
};

enum cv_pending_kind {
	CV_PENDING_EXITED,
	CV_PENDING_CLEAN,
	CV_PENDING_KILL,
	CV_PENDING_OUTPUT,
	CV_PENDING_STDIN,
	CV_PENDING_SAME_START, /* the same id and request again */
	CV_PENDING_SAME_EXEC,
};

/* An operation that waits for something of a process. */
struct cv_pending {
	struct cv_pending *next;
	struct cv_process *process;
	struct cv_reply *reply;
	enum cv_pending_kind kind;
	struct cv_timer timer;
	const void *req;
	int64_t stdin_from; /* STDIN: its bytes are [from, to) of what was queued */
	int64_t stdin_to;
};

enum cv_process_state {
	CV_PROCESS_QUEUED,   /* waits for a keeper */
	CV_PROCESS_STARTING, /* the keeper has it */
	CV_PROCESS_RUNNING,
	CV_PROCESS_EXITED, /* the leader has ended, the tree not */
	CV_PROCESS_CLEAN,
};

struct cv_process {
	struct cv_process *next;
	struct cv_procs *procs;
	enum cv_process_state state;
	int64_t number; /* 0: has no handle (yet) */
	int64_t generation;
	char handle[32];
	char *command;
	struct cv_worker *worker;
	struct cv_launch *launch; /* until it was handed to a keeper */
	bool merged;
	struct cv_pipe pipes[2]; /* stdout or both, stderr */
	struct cv_stdin in;
	struct cv_reply *starter; /* exec or start, not answered yet */
	bool is_exec;
	bool keep;
	bool live;
	bool tty;
	bool render;
	bool yields;	      /* has yield_ms */
	bool yield_due;	      /* that is over, but exec has not succeeded yet */
	char *id;	      /* the caller's; NULL none */
	uint64_t fingerprint; /* of the request under that id */
	char *session;
	struct cv_spill *spill;
	char spill_error[128];
	struct cv_timer yield_timer;
	int64_t clean_ns;
	int64_t clean_order;
	bool told; /* its end, by process.completions or by exec itself */
	int descendants;
	int64_t output_limit; /* of both streams, bytes; 0: none */
	int64_t max_output;
	int64_t grace_ms;
	struct cv_pending *pendings;
	int64_t start_ns;
	int64_t end_ns; /* of the leader; 0 while it runs */
	int status;
	bool lost;
	int survivors;
	int64_t user_us;
	int64_t system_us;
	int64_t max_rss_bytes;
	int reason;	  /* decided when the leader ends */
	int cause;	  /* why cove ends it; 0 not at all */
	bool killing;	  /* KILL was sent */
	bool tree_failed; /* could not be confirmed dead in time */
	struct cv_timer deadline;
	struct cv_timer kill_timer;  /* end of the grace, then of patience */
	struct cv_timer drain_timer; /* adopt: silence */
	int64_t drain_until_ns;
};

struct cv_procs {
	struct cv_loop *loop;
	const struct cv_space *space;
	const char *shell; /* NULL: none found */
	char **env;	   /* what a command inherits */
	int64_t timeout_ms;
	int oom_fd;   /* counts kills for want of memory; -1: nothing does */
	int64_t ooms; /* how many there had been when a process last ended */
	int null_fd;
	int cwd_fd; /* of the environment's directory */
	struct cv_worker *workers;
	struct cv_worker *nursery;
	int siblings_wanted; /* asked for, not come yet */
	struct cv_process *processes;
	struct cv_process **processes_end;
	int64_t next_number;
	int64_t generation;
	struct cv_reply *resetting;
	struct cv_reply *completions; /* waits for one */
	int64_t completions_max;
	struct cv_timer completions_timer;
	struct cv_timer age_timer; /* of the oldest record */
	int64_t clean_count;
	unsigned char *evicted; /* a bit per number */
	size_t evicted_len;
	/* Gives the scratch directory, made if need be; set by the guest. */
	int (*scratch)(void *user, const char **ret_path, struct cove_error *err);
	void *scratch_user;
	struct cv_watch sigchld;
	int orphaned; /* processes whose keeper died */
	struct cv_timer orphan_timer;
};

int cv_procs_init(struct cv_procs *procs, struct cv_loop *loop, const struct cv_space *space);

/* Forks the first keeper: from now on the guest may grow. */
int cv_procs_begin(struct cv_procs *procs);

/*
 * The same for a guest that has yet to build its sandbox: keepers give up what it must still have.
 * The first is for the first command, and gets ready while the guest builds; the nursery is made when
 * a second is needed. Nothing forks until the first command, so nothing can miss a change of the
 * root.
 */
int cv_procs_go_first(void); /* before it, when memory runs out; cv_keeper_go_first() */
int cv_procs_begin_confined(struct cv_procs *procs, int (*give_up)(void),
			    const struct sock_fprog *filter);

/*
 * Kills for want of memory are counted in this file, of a control group; NULL: there is none. To be
 * told while the file can be seen.
 */
int cv_procs_watch_oom(struct cv_procs *procs, const char *path);

/* The sandbox has been entered. limited: limits have come that keepers made before don't have. */
int cv_procs_entered(struct cv_procs *procs, bool limited);

/*
 * What commands inherit: from the guest's own environment less secrets, then extra ("NAME=VALUE").
 */
int cv_procs_configure(struct cv_procs *procs, const char *shell, const char *const *extra,
		       int64_t timeout_ms);

/*
 * Ends every process and every keeper, and waits for them; nothing else may be called afterwards.
 */
void cv_procs_stop(struct cv_procs *procs);

/* The operations. Each answers through reply, now or later. */
typedef void cv_process_fn(struct cv_procs *procs, const void *req, struct cv_reply *reply);
cv_process_fn cv_process_exec;
cv_process_fn cv_process_start;
cv_process_fn cv_process_wait;
cv_process_fn cv_process_inspect;
cv_process_fn cv_process_list;
cv_process_fn cv_process_completions;
cv_process_fn cv_process_resize;
cv_process_fn cv_process_signal;
cv_process_fn cv_process_kill;
cv_process_fn cv_process_release;
cv_process_fn cv_process_write_stdin;
cv_process_fn cv_process_close_stdin;
cv_process_fn cv_output_read;
cv_process_fn cv_env_reset;

/*
 * The number of a signal's name, with or without SIG; 0: none. The name of a number, without SIG.
 */
int cv_signal_number(const char *name);
const char *cv_signal_name(int number);

#endif
