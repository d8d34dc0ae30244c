/* SPDX-License-Identifier: Apache-2.0 */
/* What the providers that run on this machine, unconfined, have in common. */
#include "base/tree.h"
#include "providers/providers.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const no_isolation[] = {"namespaces=inactive", "seccomp=inactive",
					   "network=inactive", "limits=inactive", NULL};

int cv_provider_absolute(struct cove_env *env, const char *path, const char *field,
			 const char **ret, struct cove_error *err)
{
	const char *home = getenv("HOME");
	cv_path cwd = "/";
	cv_path abs;
	int rc;

	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return cv_fail_errno(err, errno, NULL, "can't tell the current directory");
	rc = cv_path_expand(path, cwd, home ? home : "/", field, abs, err);
	if (rc < 0)
		return rc;
	cv_path_normalise(abs);
	return cv_env_keep(env, abs, ret, err);
}

int cv_provider_on_host(struct cove_env *env, struct cove_error *err)
{
	const char *home = getenv("HOME");
	char host[256] = "localhost";

	gethostname(host, sizeof(host) - 1);
	env->isolation = no_isolation;
	env->namespace_id = cv_arena_printf(env->arena, "host:%s", host);
	if (!env->namespace_id)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	return cv_env_keep(env, home && home[0] == '/' ? home : "/", &env->home, err);
}

int cv_provider_remove_tmp(const struct cove_env *env, bool with_parent, struct cove_error *err)
{
	struct cv_tree_remove job = {.force = true, .keep_going = true};
	const char *slash = env->tmp_dir ? strrchr(env->tmp_dir, '/') : NULL;
	cv_path parent;
	CV_CLOSE int dir = -1;
	int rc;

	if (!slash)
		return 0;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - env->tmp_dir), env->tmp_dir);
	dir = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return 0;
	rc = cv_tree_remove(dir, slash + 1, &job);
	if (rc < 0 && rc != -ENOENT) {
		cv_fail_errno(err, -rc, env->tmp_dir, "can't remove the scratch directory '%s'",
			      env->tmp_dir);
		if (err)
			err->code = COVE_E_CLEANUP_FAILED;
		return COVE_E_CLEANUP_FAILED;
	}
	if (with_parent && unlinkat(dir, ".gitignore", 0) == 0)
		rmdir(parent);
	return 0;
}
