/* SPDX-License-Identifier: Apache-2.0 */
/* The object: made, prepared, closed. */
#include "env/env.h"

#include "base/clock.h"

#include <poll.h>

/*
 * How long the guest may take to end every process and itself; then it is killed, and waited for
 * once more.
 */
#define END_NS (8 * INT64_C(1000000000))

struct cove_env *cv_env_new(const struct cv_provider *provider)
{
	struct cove_env *env = calloc(1, sizeof(*env));

	if (!env)
		return NULL;
	env->provider = provider;
	env->pidfd = -1;
	env->life_fd = -1;
	env->arena = cv_arena_new(0, NULL);
	if (!env->arena || pthread_mutex_init(&env->lock, NULL) != 0) {
		cv_arena_free(env->arena);
		free(env);
		return NULL;
	}
	if (cv_client_init(&env->client) < 0) {
		pthread_mutex_destroy(&env->lock);
		cv_arena_free(env->arena);
		free(env);
		return NULL;
	}
	return env;
}

void cv_env_free(struct cove_env *env)
{
	cove_call_free(env->setup);
	cv_client_done(&env->client);
	cv_guest_reap(env);
	pthread_mutex_destroy(&env->lock);
	free(env->failure);
	cv_arena_free(env->arena);
	free(env);
}

const char *cv_env_option(const struct cove_env *env, const char *key)
{
	for (const char *const *o = env->options; o && *o; o++)
		if (strncmp(*o, key, strlen(key)) == 0)
			return *o + strlen(key);
	return NULL;
}

int cv_env_keep(struct cove_env *env, const char *s, const char **ret, struct cove_error *err)
{
	*ret = s ? cv_arena_dup(env->arena, s, strlen(s)) : NULL;
	return !s || *ret ? 0 : cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

static int send_setup(struct cove_env *env, struct cove_error *err)
{
	struct cv_guest_setup s = {
		.size = sizeof(s),
		.provider = env->provider->info.name,
		.namespace_id = env->namespace_id,
		.cwd = env->cwd,
		.home = env->home,
		.tmp_dir = env->tmp_dir,
		.shell = env->shell,
		.seed = env->plan ? NULL : env->seed,
		.roots = env->roots,
		.env = env->vars,
		.isolation = env->isolation,
		.text = env->text,
		.timeout_ms = env->timeout_ms,
		.sandbox = env->plan,
		.fresh = env->made,
	};
	const struct cv_op *op = &cv_operations[CV_OP_ID_GUEST_SETUP];
	int rc = cv_op_check(op, &s, err);

	return rc < 0 ? rc : cv_call_submit(&env->client, op, &s, NULL, &env->setup, err);
}

static int prepare(struct cove_env *env, struct cove_error *err)
{
	int rc;

	env->prepared = true;
	rc = env->provider->prepare(env, err);
	if (rc == 0)
		rc = cv_guest_spawn(env, err);
	return rc == 0 ? send_setup(env, err) : rc;
}

/* What was half prepared goes at once; only the error stays. */
static int fail(struct cove_env *env, int rc, const struct cove_error *why, struct cove_error *err)
{
	cv_client_close(&env->client, COVE_E_CLOSED, "the environment could not be prepared");
	cv_guest_reap(env);
	env->provider->teardown(env, false, NULL);
	env->prepared = false;
	env->state = CV_ENV_FAILED;
	env->failure = malloc(sizeof(*why));
	if (env->failure)
		*env->failure = *why;
	if (err)
		*err = *why;
	return rc;
}

int cv_env_begin(struct cove_env *env, struct cove_error *err)
{
	struct cove_error why = COVE_ERROR_INIT;
	int rc = 0;

	pthread_mutex_lock(&env->lock);
	if (env->state == CV_ENV_FAILED) {
		if (err && env->failure)
			*err = *env->failure;
		rc = env->failure ? env->failure->code : COVE_E_INTERNAL;
	} else if (env->state == CV_ENV_CLOSING) {
		rc = cv_fail(err, COVE_E_CLOSED, "the environment is closed");
	} else if (env->state == CV_ENV_NEW) {
		rc = prepare(env, &why);
		env->state = CV_ENV_STARTED;
		if (rc < 0)
			rc = fail(env, rc, &why, err);
	}
	pthread_mutex_unlock(&env->lock);
	return rc;
}

bool cv_env_keeps(const struct cove_env *env, int outcome)
{
	int bit = outcome == COVE_OUTCOME_SUCCESS ? COVE_RETAIN_SUCCESS :
		  outcome == COVE_OUTCOME_FAILURE ? COVE_RETAIN_FAILURE :
						    COVE_RETAIN_ABORTED;

	if (env->retain & COVE_RETAIN_ALWAYS)
		return true;
	return !(env->retain & COVE_RETAIN_NEVER) && (env->retain & bit);
}

/* Set-up that failed leaves nothing worth keeping. */
static bool setup_failed(const struct cove_env *env)
{
	return env->setup && atomic_load(&env->setup->done) && env->setup->code < 0 &&
	       env->setup->code != COVE_E_CLOSED && env->setup->code != COVE_E_OUTCOME_UNKNOWN;
}

void cv_env_close_begin(struct cove_env *env, int outcome)
{
	pthread_mutex_lock(&env->lock);
	env->state = CV_ENV_CLOSING;
	env->outcome = outcome;
	env->close_ns = cv_now_ns();
	pthread_mutex_unlock(&env->lock);
	/* The guest sees the connection end, its keepers see the guest end: every process goes. */
	cv_client_close(&env->client, COVE_E_CLOSED, "the environment was closed");
}

int cv_env_close_fd(const struct cove_env *env)
{
	return env->life_fd;
}

static int not_gone(struct cove_error *err)
{
	cv_fail(err, COVE_E_CLEANUP_FAILED,
		"the environment's processes could not be confirmed dead");
	cv_err_hint(err, "look for processes named cove-keeper and what runs below them");
	return COVE_E_CLEANUP_FAILED;
}

int cv_env_close_poll(struct cove_env *env, struct cove_error *err)
{
	int64_t late_ns = cv_now_ns() - env->close_ns - END_NS;
	bool keep;
	int rc = 0;
	int torn = 0;

	if (env->pid && !cv_guest_gone(env)) {
		if (late_ns < 0)
			return 0;
		if (!env->killed) {
			env->killed = true;
			cv_guest_kill(env);
		}
		if (late_ns < END_NS / 4)
			return 0;
		rc = not_gone(err);
		cv_close(&env->pidfd); /* not waited for: it may never end */
	}
	cv_guest_reap(env);
	keep = cv_env_keeps(env, env->outcome) && !setup_failed(env);
	if (env->prepared)
		torn = env->provider->teardown(env, keep, rc < 0 ? NULL : err);
	cv_env_free(env);
	return rc < 0 ? rc : torn < 0 ? torn : 1;
}

int cove_env_close(struct cove_env *env, int outcome, struct cove_error *err)
{
	int rc;

	if (!env)
		return 0;
	cv_env_close_begin(env, outcome);
	while ((rc = cv_env_close_poll(env, err)) == 0) {
		struct pollfd p = {.fd = env->life_fd, .events = POLLIN};

		poll(&p, 1, 100);
	}
	return rc < 0 ? rc : 0;
}

const char *cove_env_workspace(const struct cove_env *env)
{
	return env->workspace;
}

const char *cove_env_namespace_id(const struct cove_env *env)
{
	return env->namespace_id;
}

const char *cove_env_cwd(const struct cove_env *env)
{
	return env->cwd;
}

const char *cove_env_provider(const struct cove_env *env)
{
	return env->provider->info.name;
}

int cove_env_fd(const struct cove_env *env)
{
	return env->client.connected ? env->client.conn.rfd : -1;
}

short cove_env_events(const struct cove_env *env)
{
	return (short)(POLLIN |
		       (env->client.connected && cv_conn_pending(&env->client.conn) ? POLLOUT : 0));
}
