/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of one run on this machine, at ROOT/JOB/RUN.
 *
 * The root and what is made in it are private (0700). A root that belongs to somebody else is
 * refused, and the run's directory is made, never taken over: one that exists is a conflict.
 * Whatever was opened is proven to lie where it should. Cleanup removes the run's directory, and
 * the job's when that leaves it empty; nothing else.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/tree.h"
#include "providers/providers.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MINE (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int choose_root(struct cove_env *env, struct cove_error *err)
{
	const char *given = cv_env_option(env, "root=");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	cv_path path;

	if (given)
		return cv_provider_absolute(env, given, "root", &env->root, err);
	if (state && state[0] == '/')
		snprintf(path, sizeof(path), "%s/cove/runs", state);
	else
		snprintf(path, sizeof(path), "%s/.local/state/cove/runs",
			 home && home[0] == '/' ? home : "");
	return cv_provider_absolute(env, path, "root", &env->root, err);
}

static int choose_id(struct cove_env *env, const char *given, const char *field,
		     const char *fallback, const char **ret, struct cove_error *err)
{
	if (given && !cv_id_valid(given))
		return cv_fail_arg(err, field, "[A-Za-z0-9][A-Za-z0-9_-]{0,127}",
				   "is '%.100s', which is no id", given);
	return cv_env_keep(env, given ? given : fallback, ret, err);
}

int cv_run_dir_choose(struct cove_env *env, const struct cove_env_opts *opts,
		      struct cove_error *err)
{
	char id[13];
	char run[32];
	int rc;

	cv_random_name(id, sizeof(id) - 1);
	snprintf(run, sizeof(run), "run-%s", id);
	rc = choose_root(env, err);
	if (rc == 0)
		rc = choose_id(env, opts->job_id, "job_id", "adhoc", &env->job_id, err);
	if (rc == 0)
		rc = choose_id(env, opts->run_id, "run_id", run, &env->run_id, err);
	if (rc < 0)
		return rc;
	env->workspace =
		cv_arena_printf(env->arena, "%s/%s/%s", env->root, env->job_id, env->run_id);
	if (!env->workspace)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	if (strlen(env->workspace) + 40 > CV_PATH_MAX)
		return cv_fail_arg(err, "root", NULL, "is too long");
	return 0;
}

static int bad_seed(const struct cove_env *env, int errnum, struct cove_error *err)
{
	int rc = cv_fail_errno(err, errnum, env->seed, "can't use the seed '%s'", env->seed);

	if (err)
		cv_text_copy(err->field, sizeof(err->field), "seed");
	cv_err_hint(err, "a seed is a directory that can be read");
	return rc;
}

/* Before anything is made (JOB-14). */
int cv_run_dir_check_seed(const struct cove_env *env, struct cove_error *err)
{
	struct stat st;

	if (!env->seed)
		return 0;
	if (stat(env->seed, &st) < 0)
		return bad_seed(env, errno, err);
	if (!S_ISDIR(st.st_mode))
		return bad_seed(env, ENOTDIR, err);
	if (faccessat(AT_FDCWD, env->seed, R_OK | X_OK, AT_EACCESS) < 0)
		return bad_seed(env, errno, err);
	return 0;
}

int cv_run_dir_check_outside(const struct cove_env *env, struct cove_error *err)
{
	CV_CLOSE int fd = -1;
	cv_path real;

	if (!env->seed)
		return 0;
	fd = open(env->seed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return bad_seed(env, errno, err);
	if (cv_fd_path(fd, real, sizeof(real)) == 0 && cv_path_below(env->root, real))
		return cv_fail_arg(
			err, "seed", "choose another root with -o root=DIR",
			"'%.300s' holds the root of workspaces, which would end up in itself",
			env->seed);
	return 0;
}

static int make_parents(const char *path)
{
	cv_path partial;

	for (const char *p = path; (p = strchr(p + 1, '/'));) {
		snprintf(partial, sizeof(partial), "%.*s", (int)(p - path), path);
		if (mkdir(partial, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int denied(const char *path, const char *why, struct cove_error *err)
{
	cv_fail(err, COVE_E_PERMISSION_DENIED, "'%s' %s", path, why);
	cv_err_hint(err, "choose another root with -o root=DIR");
	cv_err_path(err, path);
	return COVE_E_PERMISSION_DENIED;
}

static int open_root(const struct cove_env *env, int *ret_fd, cv_path real, struct cove_error *err)
{
	int rc = make_parents(env->root);
	struct stat st;

	if (rc < 0)
		return cv_fail_errno(err, -rc, env->root, "can't make the root of workspaces '%s'",
				     env->root);
	*ret_fd = open(env->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0 || fstat(*ret_fd, &st) < 0)
		return cv_fail_errno(err, errno, env->root,
				     "can't open the root of workspaces '%s'", env->root);
	if (st.st_uid != geteuid())
		return denied(env->root, "belongs to another user", err);
	if (st.st_mode & 022)
		return denied(env->root, "can be written to by other users", err);
	rc = cv_fd_path(*ret_fd, real, sizeof(cv_path));
	return rc < 0 ? cv_fail_errno(err, -rc, env->root, "can't tell where '%s' is", env->root) :
			0;
}

/* The run's directory is where its name says: nobody put a link in its way. */
static int prove(const struct cove_env *env, int run, const char *root, struct cove_error *err)
{
	cv_path want;
	cv_path real;

	if (cv_fd_path(run, real, sizeof(real)) < 0 ||
	    (size_t)snprintf(want, sizeof(want), "%s/%s/%s", strcmp(root, "/") ? root : "",
			     env->job_id, env->run_id) >= sizeof(want) ||
	    strcmp(want, real) != 0)
		return denied(env->workspace, "does not lie below the root of workspaces", err);
	return 0;
}

static int exists_already(const struct cove_env *env, struct cove_error *err)
{
	cv_fail(err, COVE_E_CONFLICT, "the workspace '%s' exists already", env->workspace);
	cv_err_hint(err, "give another job id, or remove it");
	cv_err_path(err, env->workspace);
	return COVE_E_CONFLICT;
}

/*
 * Makes JOB/RUN below root; -errno. A job's directory may be removed meanwhile, by a run that was
 * its last.
 */
static int make_dirs(const struct cove_env *env, int root, int *ret_job)
{
	for (int tries = 0; tries < 100; tries++) {
		if (mkdirat(root, env->job_id, 0700) < 0 && errno != EEXIST)
			return -errno;
		cv_close(ret_job);
		*ret_job = openat(root, env->job_id, MINE);
		if (*ret_job < 0 && errno != ENOENT)
			return -errno;
		if (*ret_job >= 0 && mkdirat(*ret_job, env->run_id, 0700) == 0)
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -EBUSY;
}

static int make_run(struct cove_env *env, int root, const char *real_root, struct cove_error *err)
{
	CV_CLOSE int job = -1;
	CV_CLOSE int run = -1;
	int rc = make_dirs(env, root, &job);

	if (rc == -EEXIST && job >= 0)
		return exists_already(env, err);
	if (rc == 0) {
		env->made = true;
		run = openat(job, env->run_id, MINE);
		rc = run < 0 ? -errno : 0;
	}
	if (rc < 0)
		return cv_fail_errno(err, -rc, env->workspace, "can't make the workspace '%s'",
				     env->workspace);
	return prove(env, run, real_root, err);
}

int cv_run_dir_make(struct cove_env *env, struct cove_error *err)
{
	CV_CLOSE int root = -1;
	cv_path real;
	int rc = open_root(env, &root, real, err);

	return rc == 0 ? make_run(env, root, real, err) : rc;
}

static int left_behind(const char *path, int errnum, struct cove_error *err)
{
	cv_fail_errno(err, errnum, path, "can't remove the workspace: '%s'", path);
	if (err)
		err->code = COVE_E_CLEANUP_FAILED;
	return COVE_E_CLEANUP_FAILED;
}

/* Removes an entry of the job's directory, and the job's when that leaves it empty. */
static int remove_entry(const struct cove_env *env, const char *name, struct cove_error *err)
{
	CV_CLOSE int root = open(env->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CV_CLOSE int job = root < 0 ? -1 : openat(root, env->job_id, MINE);
	struct cv_tree_remove work = {.force = true, .keep_going = true};
	cv_path path;
	int rc;

	if (job < 0)
		return errno == ENOENT ? 0 : left_behind(env->workspace, errno, err);
	rc = cv_tree_remove(job, name, &work);
	if (rc < 0 && rc != -ENOENT) {
		cv_path_join(path, env->job_id, work.failed[0] ? work.failed : name);
		return left_behind(path, -rc, err);
	}
	/* Not empty: other runs live there. */
	unlinkat(root, env->job_id, AT_REMOVEDIR);
	return 0;
}

int cv_run_dir_remove(const struct cove_env *env, struct cove_error *err)
{
	return remove_entry(env, env->run_id, err);
}

int cv_run_dir_remove_layers(const struct cove_env *env, struct cove_error *err)
{
	return remove_entry(env, strrchr(env->layers, '/') + 1, err);
}
