/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider `here`: a directory of this machine, shared, as it is. Nothing is made, nothing is
 * removed (PROV-11).
 */
#include "base/fd.h"
#include "providers/providers.h"

#include <sys/stat.h>

static int refuse(const struct cove_env_opts *o, struct cove_error *err)
{
	const char *field = o->seed ? "seed" : o->retain ? "retain" : NULL;

	if (!field)
		return 0;
	return cv_fail_arg(err, field, "use the environment workspace",
			   "does not go with here, which has no directory of its own");
}

/* The scratch directory lies outside of the user's: nothing is put there unasked. */
static int choose_tmp(struct cove_env *env, struct cove_error *err)
{
	const char *base = getenv("TMPDIR");
	char id[13];

	cv_random_name(id, sizeof(id) - 1);
	env->tmp_dir = cv_arena_printf(env->arena, "%s/cove-%u/cove-%s",
				       base && base[0] == '/' ? base : "/tmp", (unsigned)geteuid(),
				       id);
	return env->tmp_dir ? 0 : cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

static int configure(struct cove_env *env, const struct cove_env_opts *opts, struct cove_error *err)
{
	int rc = refuse(opts, err);

	if (rc == 0)
		rc = cv_provider_on_host(env, err);
	if (rc == 0)
		rc = cv_provider_absolute(env, opts->dir ? opts->dir : ".", "dir", &env->cwd, err);
	if (rc == 0)
		rc = choose_tmp(env, err);
	if (rc == 0 && opts->roots && opts->roots[0]) {
		size_t n = 0;
		const char **roots;

		while (opts->roots[n])
			n++;
		roots = cv_arena_array(env->arena, n + 1, sizeof(*roots));
		if (!roots)
			return cv_fail(err, COVE_E_INTERNAL, "out of memory");
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = cv_env_keep(env, opts->roots[i], &roots[i], err);
		env->roots = roots;
	}
	env->text =
		"a directory of this machine, shared with its users; commands run as the current user, "
		"without isolation";
	return rc;
}

static int prepare(struct cove_env *env, struct cove_error *err)
{
	struct stat st;

	if (stat(env->cwd, &st) < 0)
		return cv_fail_errno(err, errno, env->cwd, "can't use the directory '%s'",
				     env->cwd);
	if (!S_ISDIR(st.st_mode))
		return cv_fail_errno(err, ENOTDIR, env->cwd, "can't use '%s'", env->cwd);
	return 0;
}

static int teardown(struct cove_env *env, bool keep, struct cove_error *err)
{
	(void)keep;
	return cv_provider_remove_tmp(env, false, err);
}

static const char *const option_keys[] = {"shell=", NULL};

const struct cv_provider cv_provider_here = {
	.info = {.name = "here"},
	.option_keys = option_keys,
	.configure = configure,
	.prepare = prepare,
	.teardown = teardown,
};
