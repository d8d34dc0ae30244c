/* SPDX-License-Identifier: Apache-2.0 */
/* The provider `workspace`: a fresh directory for each run, at ROOT/JOB/RUN, filled from a seed. */
#include "base/fd.h"
#include "providers/providers.h"

static int choose_places(struct cove_env *env, const struct cove_env_opts *opts,
			 struct cove_error *err)
{
	char id[13];
	int rc = cv_run_dir_choose(env, opts, err);

	if (rc < 0)
		return rc;
	cv_random_name(id, sizeof(id) - 1);
	env->cwd = env->workspace;
	env->tmp_dir = cv_arena_printf(env->arena, "%s/.tmp/cove-%s", env->workspace, id);
	return env->tmp_dir ? 0 : cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

/*
 * The workspace itself first, then what the caller allows besides. The scratch directory lies
 * inside.
 */
static int choose_roots(struct cove_env *env, const char *const *more, struct cove_error *err)
{
	size_t n = 0;
	const char **roots;

	while (more && more[n])
		n++;
	roots = cv_arena_array(env->arena, n + 2, sizeof(*roots));
	if (!roots)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	roots[0] = env->workspace;
	for (size_t i = 0; i < n; i++) {
		int rc = cv_env_keep(env, more[i], &roots[i + 1], err);

		if (rc < 0)
			return rc;
	}
	env->roots = roots;
	return 0;
}

static int configure(struct cove_env *env, const struct cove_env_opts *opts, struct cove_error *err)
{
	int rc = cv_provider_on_host(env, err);

	if (rc == 0 && opts->dir)
		rc = cv_fail_arg(err, "dir", "use the environment here, or a seed",
				 "does not go with workspace, which makes its own directory");
	if (rc == 0 && opts->seed && opts->seed[0] != '/')
		rc = cv_fail_arg(err, "seed", "give an absolute path",
				 "is '%.300s', which is not absolute", opts->seed);
	if (rc == 0)
		rc = cv_env_keep(env, opts->seed, &env->seed, err);
	if (rc == 0)
		rc = choose_places(env, opts, err);
	if (rc == 0)
		rc = choose_roots(env, opts->roots, err);
	env->text =
		"a fresh directory of this machine; commands run as the current user, without isolation";
	return rc;
}

static int prepare(struct cove_env *env, struct cove_error *err)
{
	int rc = cv_run_dir_check_seed(env, err);

	if (rc == 0)
		rc = cv_run_dir_check_outside(env, err);
	return rc == 0 ? cv_run_dir_make(env, err) : rc;
}

static int teardown(struct cove_env *env, bool keep, struct cove_error *err)
{
	if (!env->made)
		return 0;
	return keep ? cv_provider_remove_tmp(env, true, err) : cv_run_dir_remove(env, err);
}

static const char *const option_keys[] = {"root=", "shell=", NULL};

const struct cv_provider cv_provider_workspace = {
	.info = {.name = "workspace"},
	.option_keys = option_keys,
	.configure = configure,
	.prepare = prepare,
	.teardown = teardown,
};
