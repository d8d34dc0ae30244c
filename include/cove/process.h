/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and processes.
 *
 * A command is a program with its arguments (`argv`) or a shell script (`script`). Whatever it
 * starts, daemons included, belongs to its tree; the tree has an owner inside the environment that
 * ends it, confirmed, when the deadline passes, the call is cancelled, it is killed, or the
 * environment closes.
 *
 * Two facts are told apart everywhere: the command has *exited* (its own status is known), and its
 * tree is *clean* (no descendant is left). cove_exec() runs a command to its end;
 * cove_process_start() leaves it running under a handle, `process-1`, `process-2`, …, the only name
 * by which operations know it.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_process_start_result *p = NULL;
 *		struct cove_process_wait_result *w = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, NULL) < 0)
 *			return 1;
 *		if (cove_process_start(env, COVE_OPTS(cove_exec_opts, .script = "exit 7"), &p, NULL) >= 0 &&
 *		    cove_process_wait(env, COVE_OPTS(cove_process_wait_opts, .process = p->process),
 *				      &w, NULL) >= 0)
 *			printf("%s ended with %d\n", p->process, (int)w->exit.code);
 *		int good = w && w->exit.phase == COVE_PHASE_EXITED && w->exit.code == 7;
 *		cove_process_wait_result_free(w);
 *		cove_process_start_result_free(p);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return !good;
 *	}
 */
#ifndef COVE_PROCESS_H
#define COVE_PROCESS_H

#include <cove/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cove_env;

/* What became of the command's own process, its leader. */
enum cove_phase {
	COVE_PHASE_RUNNING = 1, /* not ended yet */
	COVE_PHASE_EXITED,	/* ended by itself; `code` says how */
	COVE_PHASE_SIGNALED,	/* ended by a signal; `signal` says which */
	COVE_PHASE_FAILED,	/* never ran */
	COVE_PHASE_LOST,	/* its status was lost with its owner */
};

/* Why it ended, decided by evidence: who sent the signal, whose deadline passed. */
enum cove_end_reason {
	COVE_END_EXIT = 1,     /* it exited */
	COVE_END_SIGNAL,       /* a signal that cove did not send to end it */
	COVE_END_TIMEOUT,      /* its deadline passed */
	COVE_END_CANCELLED,    /* the call was cancelled or its caller went away */
	COVE_END_OOM,	       /* its memory limit */
	COVE_END_OUTPUT_LIMIT, /* output policy `fail` */
	COVE_END_KILLED,       /* process.kill */
	COVE_END_RESET,	       /* env.reset or the end of the environment */
};

/* State of the whole tree. */
enum cove_tree {
	/* some process of it is alive */
	COVE_TREE_RUNNING = 1,
	/* none is left, confirmed */
	COVE_TREE_CLEAN,
	/* could not be confirmed dead; still owned, a later kill or reset tries again */
	COVE_TREE_FAILED,
};

/* How a command stands. */
struct cove_exit {
	/* enum cove_phase */
	int phase;
	/* exit code 0..255 when phase is `exited`, else -1 */
	int64_t code;
	/* name without SIG, such as "KILL", when phase is `signaled`, else NULL */
	const char *signal;
	/* enum cove_end_reason; 0 while running */
	int reason;
	/* enum cove_tree */
	int tree;
	/* descendants that were alive when the leader ended */
	int64_t survivors;
	/* from the request to the leader's end (or to now), suspend included */
	int64_t duration_ms;
	/* processor time in user mode of what was waited for so far, ms */
	int64_t user_ms;
	/* the same in the kernel, ms */
	int64_t system_ms;
	/* largest resident memory of any one process of the tree, bytes */
	int64_t max_rss_bytes;
};

/* Variables of a command. */
struct cove_env_vars {
	/* "NAME=VALUE" …, NULL at the end; on top of what is inherited */
	const char *const *set;
	/* names to leave out, NULL at the end */
	const char *const *unset;
	/* 0 default (yes), 1 yes, COVE_ZERO no: then exactly `set` */
	int inherit;
};

/* Size of a terminal. */
struct cove_tty {
	int64_t rows; /* 1..65535, default 24 */
	int64_t cols; /* 1..65535, default 80 */
};

/*
 * Limits of one command. One that can't be truly enforced is refused with `not_supported` before
 * anything starts: today the first three, which a sandbox's policy can set for all of it.
 */
struct cove_limits {
	int64_t memory_bytes; /* of the whole tree, bytes; 0 none */
	int64_t processes;    /* of the whole tree; 0 none */
	int64_t cpu_ms;	      /* processor time of the whole tree, ms; 0 none */
	int64_t file_size_bytes; /* largest file it may write, bytes (SIGXFSZ ends who tries); 0 none */
	int64_t output_bytes; /* of both streams together, bytes (reason output_limit); 0 none */
};

/* What to do with output beyond `retain_bytes`. */
enum cove_policy {
	COVE_POLICY_RING = 1, /* forget the oldest (default) */
	COVE_POLICY_HEAD,     /* keep the first, drop the rest */
	COVE_POLICY_FAIL,     /* end the command, reason `output_limit` */
};

/*
 * The complete output in a file of the environment, once both streams together exceed a size: exact
 * bytes from the first, in arrival order, until the environment ends.
 */
struct cove_spill {
	int64_t after_bytes; /* 0..64 MiB; default 50,000; COVE_ZERO: from the first byte */
	int64_t after_lines; /* 1..10,000,000, a partial last line counts; default no such bound */
	/* a spill that fails ends the command with `spill_failed`, rather than being given up */
	bool required;
};

/* How output is kept. */
struct cove_output_opts {
	/* one stream `output` in arrival order instead of stdout and stderr */
	bool merge;
	/* per stream, 1..1 GiB; default 16 MiB */
	int64_t retain_bytes;
	/* enum cove_policy */
	int policy;
	/* NULL: no spill */
	const struct cove_spill *spill;
	/* exec: texts as a terminal would show them: no escapes, `\r` overwrites */
	bool render;
};

/* What happens to processes that outlive the leader of an exec. */
enum cove_descendants {
	COVE_DESCENDANTS_KILL = 1, /* end them, and say how many (default) */
	COVE_DESCENDANTS_ADOPT,	   /* keep them as a numbered process, and name it */
};

/* Streams of a command. */
enum cove_stream {
	COVE_STREAM_STDOUT = 1,
	COVE_STREAM_STDERR,
	COVE_STREAM_OUTPUT, /* both, merged */
};

/*
 * Called with output as it arrives, in the thread that waits for the call. `data` is borrowed for
 * the call. Return 0 to go on; anything else ends the command and the call fails with
 * `callback_failed`.
 */
typedef int (*cove_output_fn)(void *user, int stream, const char *data, size_t len);

/*
 * Request of cove_exec() and cove_process_start(). Exactly one of `argv` and `script` must be
 * given.
 */
struct cove_exec_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* program and arguments, NULL at the end; no shell takes part */
	const char *const *argv;
	/* shell script, at most 1 MiB; run by the environment's shell */
	const char *script;
	/* working directory; default the environment's */
	const char *cwd;
	/* variables */
	struct cove_env_vars env;
	/* given bytes are written, then stdin is closed; default: the null device */
	struct cove_bytes stdin_data;
	/* a pipe stays open: cove_process_write_stdin(), or cove_call_write() */
	bool keep_stdin_open;
	/* a terminal as stdin and merged output; NULL none */
	const struct cove_tty *tty;
	/* deadline, 1..2^31-1 ms; 0: the environment's, else none */
	int64_t timeout_ms;
	/* from TERM to KILL at its end, 0..2^31-1 ms; default 2000; COVE_ZERO: none */
	int64_t grace_ms;
	/* limits */
	struct cove_limits limits;
	/* retention */
	struct cove_output_opts output;
	/*
	 * caller's id of the command, 1..128 bytes; default none. The same id and request again is
	 * the same process, never a second one; another request under it is a `conflict`
	 */
	const char *id;
	/* exec: enum cove_descendants */
	int descendants;
	/* exec: budget of each text in the result, 1..16 MiB; default 50,000 */
	int64_t max_output_bytes;
	/* exec: keep the record as a numbered process, so that it can be read later */
	bool keep;
	/*
	 * exec: still running after so long, 1..2^31-1 ms, it becomes a numbered process and the
	 * result tells what there is so far; 0: never
	 */
	int64_t yield_ms;
	/*
	 * exec of a script: name `[A-Za-z0-9][A-Za-z0-9_-]{0,127}` of a session, which keeps
	 * directory, exported variables, functions and aliases from one command to the next; needs
	 * bash; one command at a time
	 */
	const char *session;
	/* exec, in C: live output; NULL none */
	cove_output_fn on_output;
	/* given to on_output */
	void *on_output_user;
};

/* One stream as a result shows it. */
struct cove_output {
	/* UTF-8, NUL-terminated, at most the budget; head and tail around a marker */
	const char *text;
	/* bytes in text */
	size_t text_len;
	/* the raw bytes that are shown: head, then tail */
	const char *data;
	/* bytes in data */
	size_t data_len;
	/* bytes of data before the gap; data_len where nothing was left out */
	size_t head_len;
	/* all that the command wrote to this stream */
	int64_t bytes;
	/* raw bytes that text shows */
	int64_t shown;
	/* shown < bytes */
	bool truncated;
	/* text has U+FFFD where data is not UTF-8 */
	bool lossy;
	/* the file that holds all output, NULL where there is none */
	const char *spill_path;
	/* why a spill that was asked for was given up, else NULL */
	const char *spill_error;
};

/* Result of cove_exec(). A non-zero exit is a result, not an error; so is a timeout. */
struct cove_exec_result {
	struct cove_exit exit;	/* how it ended */
	struct cove_output out; /* stdout, or both when merged */
	struct cove_output err; /* stderr; empty when merged */
	bool merged;		/* `out` holds both streams */
	const char *process;	/* its handle where a record was kept, else NULL */
	int64_t generation;	/* of that handle; 0 where there is none */
};

/* Result of cove_process_start(). */
struct cove_process_start_result {
	const char *process; /* its handle, such as "process-1" */
	int64_t generation;  /* of the environment's processes; counts up with each reset */
};

/* Names one process; request of inspect, release and close_stdin. */
struct cove_process_ref {
	size_t size;	     /* set by COVE_OPTS */
	const char *process; /* handle; required */
	int64_t generation;  /* 0, or the one it was given with: another is `stale` */
};

/* What is known of one process. */
struct cove_process_info {
	/* handle */
	const char *process;
	/* of the handle */
	int64_t generation;
	/* program and arguments or script, secrets redacted, at most 1,024 bytes */
	const char *command;
	/* how it stands */
	struct cove_exit exit;
};

/* Result of cove_process_list(). */
struct cove_process_list_result {
	const struct cove_process_info *processes; /* in the order of their numbers */
	size_t process_count;			   /* entries */
};

/* Request of cove_process_completions(). */
struct cove_process_completions_opts {
	size_t size;	 /* set by COVE_OPTS */
	int64_t max;	 /* 1..1000; default 100 */
	int64_t wait_ms; /* wait so long for a first one, 0..2^31-1 ms; default 0 */
};

/* Result of cove_process_completions(). */
struct cove_process_completions_result {
	const struct cove_process_info *completions; /* in the order in which they became clean */
	size_t completion_count;		     /* entries */
	bool has_more;				     /* more wait to be told */
};

/* Request of cove_process_resize(). */
struct cove_process_resize_opts {
	size_t size;	     /* set by COVE_OPTS */
	const char *process; /* handle; required */
	int64_t generation;  /* 0, or the one it was given with */
	int64_t rows;	     /* 1..65535; required */
	int64_t cols;	     /* 1..65535; required */
};

/* Which moment cove_process_wait() waits for. */
enum cove_until {
	COVE_UNTIL_CLEAN = 1, /* no descendant left (default) */
	COVE_UNTIL_EXITED,    /* the leader has ended */
};

/* Request of cove_process_wait(). */
struct cove_process_wait_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* handle; required */
	const char *process;
	/* 0, or the one it was given with */
	int64_t generation;
	/* enum cove_until */
	int until;
	/* how long at most, 0..2^31-1 ms; 0: no limit; COVE_ZERO: only look */
	int64_t timeout_ms;
};

/* Result of cove_process_wait() and cove_process_kill(). */
struct cove_process_wait_result {
	struct cove_exit exit; /* the state now */
};

/* Request of cove_process_signal(). */
struct cove_process_signal_opts {
	size_t size;	     /* set by COVE_OPTS */
	const char *process; /* handle; required */
	int64_t generation;  /* 0, or the one it was given with */
	const char *signal;  /* name with or without SIG, such as "INT"; required */
};

/* Request of cove_process_kill(). */
struct cove_process_kill_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* handle; required */
	const char *process;
	/* 0, or the one it was given with */
	int64_t generation;
	/* from TERM to KILL, 0..2^31-1 ms; default 2000; COVE_ZERO: KILL at once */
	int64_t grace_ms;
};

/* Request of cove_process_write_stdin(). */
struct cove_process_write_stdin_opts {
	size_t size;		/* set by COVE_OPTS */
	const char *process;	/* handle; required */
	int64_t generation;	/* 0, or the one it was given with */
	struct cove_bytes data; /* at most 16 MiB */
};

/* Result of cove_process_write_stdin(). */
struct cove_process_write_stdin_result {
	int64_t bytes_written; /* less than asked only where the command closed its stdin */
};

/* Result of operations that only succeed. */
struct cove_nothing {
	int64_t reserved; /* zero */
};

/*
 * Errors of every operation in this header, besides those listed with it: `closed` (the environment
 * was closed), `unavailable` (its guest is gone), `outcome_unknown` (the answer was lost),
 * `protocol_error`, `timeout` and `cancelled` (by the call's own options), `invalid_argument`
 * (which field, why, what would be right).
 */

/**
 * Runs a command to its end and gives its status and output.
 *
 * Blocks until the leader has ended and its descendants were ended or adopted; never waits for a
 * pipe that a descendant holds. A deadline ends the whole tree and gives the partial output with
 * reason `timeout`.
 *
 * @param env environment; prepared if need be.
 * @param opts what to run; required.
 * @param ret_result set on success; the caller frees it with cove_exec_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND (program or cwd), COVE_E_SPAWN_FAILED (exec failed; sys_errno says
 * why), COVE_E_SHELL_UNAVAILABLE, COVE_E_NOT_SUPPORTED (a limit that can't be enforced here),
 * COVE_E_CALLBACK_FAILED.
 * Threads: any. Limits: 16 MiB of stdin data, 2 MiB of arguments and variables. @since 0.1
 */
COVE_API int cove_exec(struct cove_env *env, const struct cove_exec_opts *opts,
		       struct cove_exec_result **ret_result, struct cove_error *err);

/**
 * Frees a result of cove_exec().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_exec_result_free(struct cove_exec_result *result);

/**
 * Starts a command and leaves it running under a handle.
 *
 * Returns once exec has succeeded. The record stays after its end until it is released.
 *
 * @param env environment; prepared if need be.
 * @param opts what to run; the fields marked "exec" must be zero.
 * @param ret_result set on success; free with cove_process_start_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors of cove_exec().
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_start(struct cove_env *env, const struct cove_exec_opts *opts,
				struct cove_process_start_result **ret_result,
				struct cove_error *err);

/**
 * Frees a result of cove_process_start().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_process_start_result_free(struct cove_process_start_result *result);

/**
 * Waits until a process is clean or has exited, and gives its state.
 *
 * Never ends it. A wait that runs out gives the present state; that is a success.
 *
 * @param env environment.
 * @param opts which process, which moment, how long.
 * @param ret_result set on success; free with cove_process_wait_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND (no such handle), COVE_E_STALE (released, evicted or of another
 * generation).
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_wait(struct cove_env *env, const struct cove_process_wait_opts *opts,
			       struct cove_process_wait_result **ret_result,
			       struct cove_error *err);

/**
 * Frees a result of cove_process_wait() or cove_process_kill().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_process_wait_result_free(struct cove_process_wait_result *result);

/**
 * Tells how a process stands, without waiting.
 *
 * @param env environment.
 * @param opts which process.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND, COVE_E_STALE.
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_inspect(struct cove_env *env, const struct cove_process_ref *opts,
				  struct cove_process_info **ret_result, struct cove_error *err);

/**
 * Lists the processes that have a handle, running and ended.
 *
 * @param env environment.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or an error of the connection (see above).
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_list(struct cove_env *env, struct cove_process_list_result **ret_result,
			       struct cove_error *err);

/**
 * Tells which numbered processes have become clean since the last call: each exactly once.
 *
 * Those whose cove_exec() has already given a final result are not told again.
 *
 * @param env environment.
 * @param opts how many, how long to wait for a first one.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or an error of the connection (see above).
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_completions(struct cove_env *env,
				      const struct cove_process_completions_opts *opts,
				      struct cove_process_completions_result **ret_result,
				      struct cove_error *err);

/**
 * Changes the size of a process's terminal.
 *
 * @param env environment.
 * @param opts which process, which size.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_CONFLICT (it has no terminal), COVE_E_NOT_FOUND, COVE_E_STALE.
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_resize(struct cove_env *env, const struct cove_process_resize_opts *opts,
				 struct cove_error *err);

/**
 * Sends a signal to every process of a tree.
 *
 * @param env environment.
 * @param opts which process, which signal.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND, COVE_E_STALE, COVE_E_CONFLICT (its tree is clean: nothing is left
 * to signal).
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_signal(struct cove_env *env, const struct cove_process_signal_opts *opts,
				 struct cove_error *err);

/**
 * Ends a whole tree: TERM, after the grace KILL, and returns when its end is confirmed.
 *
 * On a clean process it only reports. Where the end can't be confirmed the result says tree
 * `failed`.
 *
 * @param env environment.
 * @param opts which process, how much grace.
 * @param ret_result set on success; free with cove_process_wait_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND, COVE_E_STALE.
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_kill(struct cove_env *env, const struct cove_process_kill_opts *opts,
			       struct cove_process_wait_result **ret_result,
			       struct cove_error *err);

/**
 * Forgets the record of a process that is clean, with its output.
 *
 * @param env environment.
 * @param opts which process.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_BUSY (it is still running), COVE_E_NOT_FOUND, COVE_E_STALE.
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_release(struct cove_env *env, const struct cove_process_ref *opts,
				  struct cove_error *err);

/**
 * Writes to the stdin of a process that was started with `keep_stdin_open`.
 *
 * Returns when the command's pipe has taken all bytes, or when it closed its end.
 *
 * @param env environment.
 * @param opts which process, which bytes.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_CONFLICT (stdin is closed or was never open), COVE_E_NOT_FOUND,
 * COVE_E_STALE.
 * Threads: any. Limits: 16 MiB a call. @since 0.1
 */
COVE_API int cove_process_write_stdin(struct cove_env *env,
				      const struct cove_process_write_stdin_opts *opts,
				      struct cove_process_write_stdin_result **ret_result,
				      struct cove_error *err);

/**
 * Closes the stdin of a process after all that was written before. Closing twice is harmless.
 *
 * @param env environment.
 * @param opts which process.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND, COVE_E_STALE.
 * Threads: any. @since 0.1
 */
COVE_API int cove_process_close_stdin(struct cove_env *env, const struct cove_process_ref *opts,
				      struct cove_error *err);

#ifdef __cplusplus
}
#endif
#endif
