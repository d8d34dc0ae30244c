/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environments: open, use, close; and the one primitive under every operation, a call.
 *
 * cove_env_open() does no I/O. The first operation prepares the environment (starts its guest), or
 * cove_env_ready() does so ahead of time. cove_env_close() ends every process of it, confirmed, and
 * cleans up by the outcome that it is told.
 *
 * A blocking operation is cove_submit() and cove_call_wait(). A caller with its own loop submits,
 * watches cove_env_fd() and calls cove_call_poll(). Any number of threads may use one environment
 * at once.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <poll.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_call *call = NULL;
 *		struct cove_exec_result *r = NULL;
 *		struct cove_error err = COVE_ERROR_INIT;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, &err) < 0 ||
 *		    cove_submit(env, "process.exec", COVE_OPTS(cove_exec_opts, .script = "echo hi"),
 *				NULL, &call, &err) < 0)
 *			return 1;
 *		while (cove_call_poll(call) == 0) {
 *			struct pollfd p = {.fd = cove_env_fd(env), .events = cove_env_events(env)};
 *			poll(&p, 1, -1);
 *		}
 *		int rc = cove_call_take(call, (void **)&r, &err);
 *		if (rc >= 0)
 *			printf("%s", r->out.text);
 *		cove_exec_result_free(r);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_ENV_H
#define COVE_ENV_H

#include <cove/error.h>
#include <cove/sandbox.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An environment; opaque. */
struct cove_env;

/* One operation under way; opaque. */
struct cove_call;

/* How the work in an environment ended; decides what cleanup keeps. */
enum cove_outcome {
	COVE_OUTCOME_SUCCESS = 1,
	COVE_OUTCOME_FAILURE,
	COVE_OUTCOME_ABORTED,
};

/* When a workspace is kept at close, a set of bits. `always` wins, then `never`. */
enum cove_retain {
	COVE_RETAIN_SUCCESS = 1,
	COVE_RETAIN_FAILURE = 2,
	COVE_RETAIN_ABORTED = 4,
	COVE_RETAIN_ALWAYS = 8,
	COVE_RETAIN_NEVER = 16,
};

/* Configuration of an environment. */
struct cove_env_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* "sandbox", "workspace" or "here"; default "sandbox" */
	const char *provider;
	/* here: its directory, default the current one; sandbox: a directory to be /workspace */
	const char *dir;
	/*
	 * absolute path of a directory to start from, default none (starts empty); workspace copies
	 * it, sandbox lays it below what is written
	 */
	const char *seed;
	/* workspace and sandbox: `[A-Za-z0-9][A-Za-z0-9_-]{0,127}`; default "adhoc" */
	const char *job_id;
	/* workspace and sandbox: the same form; default made up, unique */
	const char *run_id;
	/* workspace and sandbox: enum cove_retain bits; default failure and aborted */
	int retain;
	/* "NAME=VALUE" for every command, NULL at the end */
	const char *const *env;
	/* further allowed roots, absolute, NULL at the end */
	const char *const *roots;
	/* provider's own, "KEY=VALUE" (such as root=DIR; see docs/cli.md), NULL at the end */
	const char *const *options;
	/* shell of scripts, absolute; default bash, else sh */
	const char *shell;
	/* deadline of each command that gives none, 1..2^31-1; 0: none */
	int64_t timeout_ms;
	/* sandbox: what a command sees and may use; NULL: the default policy */
	const struct cove_sandbox_policy *policy;
};

/* What an environment is; result of cove_env_describe(). */
struct cove_env_describe_result {
	/* its name */
	const char *provider;
	/* id of its file namespace: equal ids see the same files */
	const char *namespace_id;
	/* where relative paths start */
	const char *cwd;
	/* its own scratch directory, NULL where there is none */
	const char *tmp_dir;
	/* allowed roots, NULL at the end */
	const char *const *roots;
	/* what ~ means */
	const char *home;
	/* shell of scripts, NULL where there is none */
	const char *shell;
	/* such as "linux x86_64" */
	const char *platform;
	/* permitted operations, NULL at the end */
	const char *const *operations;
	struct cove_describe_limits {
		/* largest message of the connection */
		int64_t message_bytes;
		/* longest script */
		int64_t script_bytes;
		/* most bytes of one read */
		int64_t read_bytes;
		/* finished processes that are kept */
		int64_t records;
		/* limits of requests */
	} limits;
	/* "mechanism=active|inactive|degraded", NULL at the end */
	const char *const *isolation;
	/* "files=ready|unprepared|absent|failed" …, NULL at the end */
	const char *const *facets;
	/* the same in a few words, for a model */
	const char *text;
};

/* Result of cove_env_ping(). */
struct cove_env_ping_result {
	int64_t reserved; /* zero */
};

/* Result of cove_env_reset(). */
struct cove_env_reset_result {
	int64_t generation; /* of the processes from now on */
};

/* Request of cove_env_resolve_tmp(). */
struct cove_env_resolve_tmp_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* relative, without a way out; "." is the scratch directory itself; required */
	const char *path;
};

/* Result of cove_env_resolve_tmp(). */
struct cove_env_resolve_tmp_result {
	const char *path;
};

/* One row of cove_providers(). */
struct cove_provider_info {
	const char *name;	 /* as cove_env_opts.provider takes it */
	const char *title;	 /* for people */
	const char *description; /* one line */
	bool available;		 /* this build and machine can provide it */
	const char *detail;	 /* why not, or NULL */
};

/**
 * Makes an environment object. Checks its configuration and does no I/O.
 *
 * @param opts configuration; NULL means all defaults.
 * @param ret_env set on success; close it with cove_env_close().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (an unknown provider, with the known ones listed; an
 * unknown option; a bad id), COVE_E_NOT_SUPPORTED (a known provider that this build can't provide).
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_open(const struct cove_env_opts *opts, struct cove_env **ret_env,
			   struct cove_error *err);

/**
 * Prepares the environment: makes its directory, starts its guest, and waits until it answers.
 *
 * Concurrent callers share one preparation. A failure is remembered and told again to every later
 * caller.
 *
 * @param env environment.
 * @param opts how it may end early; NULL none.
 * @param err NULL, or filled on failure.
 * @return 0, or what went wrong: COVE_E_NOT_FOUND (seed, directory), COVE_E_CONFLICT (the run's
 * directory exists), COVE_E_PERMISSION_DENIED, COVE_E_QUOTA_EXCEEDED, COVE_E_SPAWN_FAILED,
 * COVE_E_PROTOCOL_ERROR (no guest answers there).
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_ready(struct cove_env *env, const struct cove_call_opts *opts,
			    struct cove_error *err);

/**
 * Ends the environment: refuses new calls, cancels those under way, ends every process, confirmed,
 * then removes what it made for itself, unless retention by the outcome keeps it. Frees the object
 * in every case.
 *
 * No other thread may use the object any more, except in calls that this one cancels: they return
 * `closed`.
 *
 * @param env environment; NULL does nothing.
 * @param outcome enum cove_outcome.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_CLEANUP_FAILED: the environment has ended, but something of it is left
 * (err->path).
 * Threads: one, once. @since 0.1
 */
COVE_API int cove_env_close(struct cove_env *env, int outcome, struct cove_error *err);

/**
 * Gives the id of the environment's file namespace, without I/O. Environments with equal ids see
 * the same files.
 *
 * @param env environment.
 * @return a string that lives as long as the environment.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_env_namespace_id(const struct cove_env *env);

/**
 * Gives the environment's working directory, without I/O.
 *
 * @param env environment.
 * @return an absolute path that lives as long as the environment.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_env_cwd(const struct cove_env *env);

/**
 * Gives the directory on this machine that holds the workspace once it is kept, without I/O.
 *
 * @param env environment.
 * @return an absolute path that lives as long as the environment; NULL where there is none that
 * could be kept.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_env_workspace(const struct cove_env *env);

/**
 * Gives the provider's name, without I/O.
 *
 * @param env environment.
 * @return a static string.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_env_provider(const struct cove_env *env);

/**
 * Tells what the environment is and can do.
 *
 * @param env environment; prepared if need be.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors of cove_env_ready().
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_describe(struct cove_env *env, struct cove_env_describe_result **ret_result,
			       struct cove_error *err);

/**
 * Asks the guest for an answer, and nothing else.
 *
 * @param env environment; prepared if need be.
 * @param err NULL, or filled on failure.
 * @return 0, or the errors of every operation (see process.h).
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_ping(struct cove_env *env, struct cove_error *err);

/**
 * Ends every process and forgets every record; numbering starts again at `process-1` with a new
 * generation.
 *
 * All trees are told to end before the first is waited for. One that can't be confirmed dead stays
 * owned, and a later reset tries again.
 *
 * @param env environment.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_BUSY (something could not be confirmed dead).
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_reset(struct cove_env *env, struct cove_env_reset_result **ret_result,
			    struct cove_error *err);

/**
 * Gives the path of something in the environment's own scratch directory, which it makes if need
 * be.
 *
 * @param env environment.
 * @param opts the relative path.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (absolute, or a way out), COVE_E_NOT_SUPPORTED (there is
 * none).
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_resolve_tmp(struct cove_env *env,
				  const struct cove_env_resolve_tmp_opts *opts,
				  struct cove_env_resolve_tmp_result **ret_result,
				  struct cove_error *err);

/**
 * Lists the providers that this build knows.
 *
 * @param ret_count set to their number.
 * @return a static table.
 * Threads: any. @since 0.1
 */
COVE_API const struct cove_provider_info *cove_providers(size_t *ret_count);

/**
 * Submits an operation and returns at once; its request is copied.
 *
 * @param env environment; its preparation is begun if need be (starting the guest may take some
 * milliseconds).
 * @param op name of the operation, such as "file.stat".
 * @param request the operation's options struct, NULL for one that takes none.
 * @param opts cancellation and deadline; NULL none.
 * @param ret_call set on success; ends with cove_call_take() or cove_call_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (before anything is sent), COVE_E_CLOSED,
 * COVE_E_UNAVAILABLE,
 * COVE_E_BUSY (4,000 calls are under way).
 * Threads: any. @since 0.1
 */
COVE_API int cove_submit(struct cove_env *env, const char *op, const void *request,
			 const struct cove_call_opts *opts, struct cove_call **ret_call,
			 struct cove_error *err);

/**
 * The same with the request as a JSON object (see docs/operations.md).
 *
 * @param env environment.
 * @param op name of the operation.
 * @param json the arguments, a JSON object of at most 16 MiB; NULL for {}.
 * @param len bytes in json.
 * @param opts cancellation and deadline; NULL none.
 * @param ret_call set on success.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (bad JSON, an unknown field, a value out of range), or as
 * cove_submit().
 * Threads: any. @since 0.1
 */
COVE_API int cove_submit_json(struct cove_env *env, const char *op, const char *json, size_t len,
			      const struct cove_call_opts *opts, struct cove_call **ret_call,
			      struct cove_error *err);

/**
 * Moves the connection without blocking and tells whether the call has ended.
 *
 * Live output callbacks of any call of the environment may run inside.
 *
 * @param call a call.
 * @return 1 ended (take it), 0 not yet.
 * Threads: any. @since 0.1
 */
COVE_API int cove_call_poll(struct cove_call *call);

/**
 * Waits until the call has ended, was cancelled, or its deadline passed.
 *
 * @param call a call.
 * @param timeout_ms how long at most; -1: no limit. This doesn't cancel the call.
 * @return 1 ended, 0 not yet.
 * Threads: any; each call by one thread at a time. @since 0.1
 */
COVE_API int cove_call_wait(struct cove_call *call, int64_t timeout_ms);

/**
 * Takes the result of an ended call and frees the call. On one that has not ended it waits first.
 *
 * @param call a call.
 * @param ret_result NULL, or set on success to the operation's result struct; free with
 * cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the operation's error.
 * Threads: any; each call by one thread at a time. @since 0.1
 */
COVE_API int cove_call_take(struct cove_call *call, void **ret_result, struct cove_error *err);

/**
 * The same with the result as a JSON object.
 *
 * @param call a call.
 * @param ret_json set on success to NUL-terminated JSON; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the operation's error.
 * Threads: any; each call by one thread at a time. @since 0.1
 */
COVE_API int cove_call_take_json(struct cove_call *call, char **ret_json, struct cove_error *err);

/**
 * Asks for the call to be cancelled; it still ends with an answer: a command's result with reason
 * `cancelled`, or the error `cancelled`.
 *
 * @param call a call; NULL does nothing.
 * Threads: any. @since 0.1
 */
COVE_API void cove_call_cancel(struct cove_call *call);

/**
 * Cancels the call if it has not ended, and frees it; its answer is thrown away.
 *
 * @param call a call; NULL does nothing.
 * Threads: any; each call by one thread at a time. @since 0.1
 */
COVE_API void cove_call_free(struct cove_call *call);

/**
 * Feeds the stdin of a cove_exec() that was submitted with keep_stdin_open, without blocking.
 *
 * @param call a call of process.exec.
 * @param data bytes.
 * @param len how many; 0 closes stdin after what was written before.
 * @param err NULL, or filled on failure.
 * @return how many bytes were taken (0: none now, cove_call_poll() and try again), or
 * COVE_E_INVALID_ARGUMENT (the call takes no stdin, or it was closed).
 * Threads: any. @since 0.1
 */
COVE_API int64_t cove_call_write(struct cove_call *call, const void *data, size_t len,
				 struct cove_error *err);

/**
 * Gives a descriptor to watch; when it is ready for cove_env_events(), call cove_call_poll().
 *
 * @param env environment.
 * @return a descriptor owned by the environment, or -1 before preparation and after its end.
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_fd(const struct cove_env *env);

/**
 * Gives the poll(2) events to watch cove_env_fd() for.
 *
 * @param env environment.
 * @return POLLIN, and POLLOUT while something waits to be sent.
 * Threads: any. @since 0.1
 */
COVE_API short cove_env_events(const struct cove_env *env);

#ifdef __cplusplus
}
#endif
#endif
