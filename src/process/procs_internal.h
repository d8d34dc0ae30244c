/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the process room that run in the guest. */
#ifndef CV_PROCESS_PROCS_INTERNAL_H
#define CV_PROCESS_PROCS_INTERNAL_H

#include "process/procs.h"

/* A command ready for a keeper: its message and descriptors. */
struct cv_launch {
	struct cv_keeper_run run;
	struct cv_buf strings;
	int fds[6]; /* stdin, stdout, stderr, cwd, then script and memfd where there are */
	int nfds;
	int cwd_fd;	  /* shared, never closed with it */
	const char *what; /* program or shell, for errors; in strings */
	const char *cwd;
	bool is_script;
};

/* spawn.c */
int cv_launch_new(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_launch **ret,
		  struct cove_error *err);
void cv_launch_free(struct cv_launch *l);
int cv_launch_error(const struct cv_launch *l, int stage, int errnum, struct cove_error *err);
char *cv_command_text(const struct cove_exec_opts *req);

/* pool.c */
int cv_pool_start(struct cv_procs *procs);
int cv_pool_start_one(struct cv_procs *procs); /* a keeper for the first command, and no nursery */
int cv_pool_restart(struct cv_procs *procs);   /* anew, with none of those there are */
/* Hands the process to an idle keeper, or asks for one. */
void cv_pool_run(struct cv_process *p);
void cv_pool_release(struct cv_worker *w, bool reusable);
void cv_worker_send(struct cv_worker *w, uint32_t kind, int value);
bool cv_pool_owns(const struct cv_procs *procs, pid_t pid);
void cv_pool_ensure(struct cv_procs *procs);

/* process.c */
struct cv_process *cv_process_new(struct cv_procs *procs, const struct cove_exec_opts *req);
void cv_process_free(struct cv_process *p);
struct cv_process *cv_process_find(struct cv_procs *procs, const char *handle, int64_t generation,
				   struct cove_error *err);
void cv_process_give_number(struct cv_process *p);
void cv_process_end(struct cv_process *p, int cause, int64_t grace_ms);
void cv_process_on_keeper(struct cv_process *p, const void *msg, size_t len);
void cv_process_on_keeper_lost(struct cv_process *p);
/* The tree is gone: what is still in the pipes is read, then everybody is answered. */
void cv_process_on_clean(struct cv_process *p);
void cv_process_settle(struct cv_process *p);
void cv_process_exit(const struct cv_process *p, struct cove_exit *ret);
void cv_process_info(const struct cv_process *p, struct cove_process_info *ret);

/* stdio.c */
int cv_stdio_open(struct cv_process *p, const struct cove_exec_opts *req, int child_fds[3]);
int cv_stdio_watch(struct cv_process *p);
void cv_stdio_close(struct cv_process *p);
/* Reads what the pipes hold now; true when nothing more can be read before credit comes. */
bool cv_stdio_drain(struct cv_process *p);
bool cv_stdio_open_pipes(const struct cv_process *p);
void cv_stdio_resume(struct cv_process *p);
int cv_stdin_add(struct cv_process *p, const char *data, size_t len);
void cv_stdin_finish(struct cv_process *p);

/* Makes a pipe whose end `ours` (0 reading, 1 writing) does not block; 0 or -errno. */
int cv_pipe_make(int ours, int *ret_ours, int *ret_theirs);

/* stdin.c */
/* What may wait for a command that doesn't read. */
#define CV_STDIN_MAX (64u << 20)
int cv_stdin_open(struct cv_process *p, const struct cove_exec_opts *req, int *child_fd);
void cv_stdin_close(struct cv_process *p);

/* capture.c */
void cv_capture_open(struct cv_pipe *pipe);
void cv_capture_done(struct cv_pipe *pipe);
int cv_spill_begin(struct cv_process *p, const struct cove_spill *opts);

/* tty.c */
int cv_tty_open(struct cv_process *p, const struct cove_tty *tty, int child_fds[3]);

/* session.c: the script that runs req->script within its session. */
int cv_session_wrap(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_buf *script,
		    struct cove_error *err);

/* records.c */
void cv_records_clean(struct cv_process *p);
void cv_records_trim(struct cv_procs *procs);
void cv_records_forget(struct cv_procs *procs);
bool cv_record_evicted(const struct cv_procs *procs, int64_t number);
int cv_record_by_id(struct cv_procs *procs, const struct cove_exec_opts *req, bool is_exec,
		    uint64_t *ret_print, struct cv_process **ret, struct cove_error *err);

/* exec.c */
void cv_exec_answer(struct cv_process *p, struct cv_reply *reply);
void cv_exec_started(struct cv_process *p);
void cv_exec_failed(struct cv_process *p, int stage, int errnum);
void cv_exec_leader_ended(struct cv_process *p);
void cv_exec_finish(struct cv_process *p);
void cv_exec_on_output(struct cv_process *p);

/* waits.c */
void cv_waits_check(struct cv_process *p);
/* Answers when the process that a same id names has started, or, for an exec, has ended. */
void cv_wait_same(struct cv_process *p, bool is_exec, struct cv_reply *reply);
void cv_waits_fail(struct cv_process *p, const struct cove_error *err);
void cv_reset_check(struct cv_procs *procs);

/* orphans.c */
int cv_orphans_start(struct cv_procs *procs);
void cv_orphans_begin(struct cv_process *p);

void cv_reply_error(struct cv_reply *reply, int rc, struct cove_error *err);

#endif
