/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of an environment: its configuration, its provider, and its guest.
 *
 * Preparation is begun by whoever comes first and does not wait for the guest: the host's greeting,
 * the set-up and the first request leave together, and the guest answers them in order. What the
 * guest refuses at set-up it answers to every later request too. The end is a small state machine,
 * so that one thread can drive the ends of many.
 */
#ifndef CV_ENV_ENV_H
#define CV_ENV_ENV_H

#include "base/arena.h"
#include "base/path.h"
#include "env/env_internal.h"
#include "wire/client.h"

struct cv_provider {
	struct cove_provider_info info;
	/* Options of its own, as "KEY=" prefixes, NULL at the end. */
	const char *const *option_keys;
	/* Checks opts and fills env; no I/O. */
	int (*configure)(struct cove_env *env, const struct cove_env_opts *opts,
			 struct cove_error *err);
	/* Makes what the guest needs before it starts. Undone by teardown, also after a failure. */
	int (*prepare)(struct cove_env *env, struct cove_error *err);
	/*
	 * Starts the guest at path with sock as stdin and stdout and err_fd as stderr; NULL: as a
	 * plain child.
	 */
	int (*spawn)(struct cove_env *env, const char *path, int sock, int err_fd, pid_t *ret,
		     struct cove_error *err);
	/* Removes what prepare made; keep: but for the workspace. */
	int (*teardown)(struct cove_env *env, bool keep, struct cove_error *err);
};

enum cv_env_state {
	CV_ENV_NEW,
	CV_ENV_FAILED,
	CV_ENV_STARTED,
	CV_ENV_CLOSING
};

struct cove_env {
	const struct cv_provider *provider;
	struct cv_arena *arena; /* of the strings below */
	const char *cwd;
	const char *namespace_id;
	const char *home;
	const char *tmp_dir;
	const char *seed;
	const char *shell;
	const char *root;
	const char *job_id;
	const char *run_id;
	const char *workspace;	      /* NULL: none of its own */
	const char *layers;	      /* of an overlay that may be kept; NULL: none */
	struct cv_sandbox_plan *plan; /* what the guest builds first; NULL: nothing */
	struct cv_cgroup *cgroup;     /* what holds its limits; NULL: nothing */
	struct cove_sandbox_limits limits;
	const char *text;
	const char *const *roots;
	const char *const *vars;
	const char *const *isolation;
	const char *const *options;
	int retain;
	int64_t timeout_ms;

	pthread_mutex_t lock; /* of the fields below, up to the client */
	enum cv_env_state state;
	struct cove_error *failure; /* of preparation */
	bool prepared;		    /* the provider has something to tear down */
	bool made;	  /* the workspace was made by this environment, so it may remove it */
	bool made_layers; /* the same of layers */
	struct cove_call *setup; /* guest.setup under way or done */
	struct cv_client client;
	pid_t pid;
	int pidfd;
	int life_fd; /* stderr of guest and keepers: ends when the last of them does */
	char last_words[4096];
	size_t last_words_len;

	int outcome;
	int64_t close_ns; /* when the end began */
	bool killed;
};

/* Makes the object around a provider; NULL: no memory. */
struct cove_env *cv_env_new(const struct cv_provider *provider);
void cv_env_free(struct cove_env *env);

/* The value of -o KEY=VALUE, or NULL. key ends in '='. */
const char *cv_env_option(const struct cove_env *env, const char *key);

/* Copies a string into the environment; NULL stays NULL. */
int cv_env_keep(struct cove_env *env, const char *s, const char **ret, struct cove_error *err);

/* guest_process.c: starts the guest and connects to it. */
int cv_guest_spawn(struct cove_env *env, struct cove_error *err);
/* Takes what guest and keepers wrote to stderr; true once they are all gone. */
bool cv_guest_gone(struct cove_env *env);
void cv_guest_kill(struct cove_env *env);
void cv_guest_reap(struct cove_env *env);

/* env.c: prepares the environment unless that was begun before. */
int cv_env_begin(struct cove_env *env, struct cove_error *err);

/* submit.c */
int cv_env_call(struct cove_env *env, enum cv_op_id id, const void *req, void **ret_result,
		struct cove_error *err);

/*
 * Checks the size of a caller's options struct: *ret is opts, or a copy of the known size in
 * *ret_copy.
 */
int cv_opts_fit(const void *opts, size_t known, const void **ret, void **ret_copy,
		struct cove_error *err);

#endif
