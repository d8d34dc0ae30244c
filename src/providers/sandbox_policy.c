/* SPDX-License-Identifier: Apache-2.0 */
/* A policy becomes a plan: every path proven sensible, every limit enforceable, or it is refused. */
#include "base/fd.h"
#include "base/json.h"
#include "ops/fields.h"
#include "providers/providers.h"
#include "providers/sandbox.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#define FILE_MAX (1u << 20)

/* What is the sandbox's own: mounting there would open it, or break it. */
static const char *const reserved[] = {"/proc", "/dev", "/workspace", "/sys"};

static int bad_mount(size_t i, const char *member, const char *hint, const char *why,
		     const char *path, struct cove_error *err)
{
	char field[64];

	snprintf(field, sizeof(field), "policy.mounts[%zu].%s", i, member);
	return cv_fail_arg(err, field, hint, "%s: '%.300s'", why, path);
}

static bool is_plain(const char *path)
{
	cv_path normal;

	if (path[0] != '/' || strlen(path) > CV_PATH_MAX)
		return false;
	cv_text_copy(normal, sizeof(normal), path);
	cv_path_normalise(normal);
	return strcmp(normal, path) == 0;
}

static int check_target(const struct cove_sandbox_policy *p, size_t i, struct cove_error *err)
{
	const char *target = p->mounts[i].target;

	if (!is_plain(target) || strcmp(target, "/") == 0)
		return bad_mount(i, "target", "an absolute path without . or .., not / itself",
				 "is no place to mount", target, err);
	for (size_t r = 0; r < CV_LEN(reserved); r++)
		if (cv_path_below(target, reserved[r]))
			return bad_mount(i, "target", "choose a path of its own",
					 "is the sandbox's own", target, err);
	for (size_t j = 0; j < i; j++) {
		if (strcmp(target, p->mounts[j].target) == 0)
			return bad_mount(i, "target", "one mount for each place",
					 "is mounted twice", target, err);
		if (cv_path_below(p->mounts[j].target, target))
			return bad_mount(i, "target", "name the outer one first",
					 "would cover an earlier mount", target, err);
	}
	return 0;
}

static int check_source(const struct cove_sandbox_mount *m, size_t i, struct cove_error *err)
{
	struct stat st;
	cv_path real;
	CV_CLOSE int fd = -1;

	if (!m->source)
		return 0;
	if (!is_plain(m->source))
		return bad_mount(i, "source", "an absolute path without . or ..",
				 "is not a plain path", m->source, err);
	fd = open(m->source, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int rc = cv_fail_errno(err, errno, m->source, "can't mount '%s'", m->source);

		if (err)
			snprintf(err->field, sizeof(err->field), "policy.mounts[%zu].source", i);
		return rc;
	}
	if (S_ISLNK(st.st_mode))
		return bad_mount(i, "source", "name what it points to", "is a link", m->source,
				 err);
	if (cv_fd_path(fd, real, sizeof(real)) == 0 && strcmp(real, m->source) != 0)
		return bad_mount(i, "source", real, "leads through a link", m->source, err);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode))
		return bad_mount(i, "source", "a directory, file or socket", "is no file to mount",
				 m->source, err);
	return 0;
}

static int check_names(const struct cove_sandbox_policy *p, struct cove_error *err)
{
	for (const char *const *m = p->masked; m && *m; m++)
		if (!is_plain(*m) || strcmp(*m, "/") == 0)
			return cv_fail_arg(err, "policy.masked", "absolute paths inside",
					   "has '%.300s'", *m);
	for (const char *const *e = p->env; e && *e; e++)
		if (!**e || strchr(*e, '='))
			return cv_fail_arg(err, "policy.env", "names, without values",
					   "has '%.100s'", *e);
	for (const char *c = p->hostname; c && *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-')
			return cv_fail_arg(err, "policy.hostname", "letters, digits and hyphens",
					   "is '%.63s'", p->hostname);
	if (p->rootfs && !is_plain(p->rootfs))
		return cv_fail_arg(err, "policy.rootfs", "an absolute path without . or ..",
				   "is '%.300s'", p->rootfs);
	return 0;
}

/* git works in a seed whoever owns it. */
static const char *const git_variables[] = {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
					    "GIT_CONFIG_VALUE_0=*"};

static int take_variables(struct cove_env *env, const char *const *names, struct cove_error *err)
{
	size_t n = 0;
	size_t given = 0;
	const char **list;

	for (; names && names[n]; n++)
		;
	for (; env->vars && env->vars[given]; given++)
		;
	list = cv_arena_array(env->arena, n + given + CV_LEN(git_variables) + 1, sizeof(*list));
	if (!list)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	for (given = 0; given < CV_LEN(git_variables); given++)
		list[given] = git_variables[given];
	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(names[i]);

		if (value &&
		    !(list[given++] = cv_arena_printf(env->arena, "%s=%s", names[i], value)))
			return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	}
	/* The caller's own come last, and win. */
	for (const char *const *v = env->vars; v && *v; v++)
		list[given++] = *v;
	env->vars = list;
	return 0;
}

static int take_mounts(struct cove_env *env, const struct cove_sandbox_policy *p,
		       struct cv_sandbox_plan *plan, struct cove_error *err)
{
	struct cove_sandbox_mount *list =
		cv_arena_array(env->arena, p->mount_count + 1, sizeof(*list));
	int rc = 0;

	if (!list)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < p->mount_count; i++) {
		rc = check_target(p, i, err);
		if (rc == 0)
			rc = check_source(&p->mounts[i], i, err);
		if (rc < 0)
			return rc;
		list[i] = p->mounts[i];
		rc = cv_env_keep(env, p->mounts[i].source, &list[i].source, err);
		if (rc == 0)
			rc = cv_env_keep(env, p->mounts[i].target, &list[i].target, err);
	}
	plan->mounts = list;
	plan->mount_count = p->mount_count;
	return rc;
}

static int apply(struct cove_env *env, const struct cove_sandbox_policy *p,
		 struct cv_sandbox_plan *plan, struct cove_error *err)
{
	int rc = cv_check(&cv_struct_sandbox_policy, p, err);

	if (rc == 0)
		rc = check_names(p, err);
	if (rc == 0)
		rc = take_mounts(env, p, plan, err);
	if (rc == 0)
		rc = cv_provider_keep_list(env, p->masked, &plan->masked, err);
	if (rc == 0)
		rc = cv_env_keep(env, p->hostname, &plan->hostname, err);
	if (rc == 0)
		rc = cv_env_keep(env, p->rootfs, &plan->rootfs, err);
	plan->host_network = p->network == COVE_NETWORK_HOST;
	plan->uid = p->uid;
	plan->scratch_bytes = p->limits.disk_bytes;
	/* Of a user the kernel counts the processes in its namespace; of the host's root it does not. */
	plan->processes = geteuid() == 0 ? 0 : p->limits.processes;
	env->limits = p->limits;
	return rc;
}

static int from_file(struct cove_env *env, const char *path, struct cv_sandbox_plan *plan,
		     struct cove_error *err)
{
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_sandbox_policy policy = {0};
	CV_FREE char *text = NULL;
	CV_JSON json_t *j = NULL;
	char what[300];
	size_t len;
	int rc;

	if (!arena)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	rc = cv_read_file(AT_FDCWD, path, FILE_MAX, &text, &len);
	if (rc < 0)
		return cv_fail_errno(err, -rc, path, "can't read the policy '%s'", path);
	snprintf(what, sizeof(what), "the policy '%.250s'", path);
	rc = cv_json_load(text, len, what, &j, err);
	if (rc == 0)
		rc = cv_decode(&cv_struct_sandbox_policy, j, CV_FORM_JSON, NULL, arena, &policy,
			       err);
	policy.size = sizeof(policy);
	if (rc < 0)
		cv_err_path(err, path);
	if (rc == 0)
		rc = apply(env, &policy, plan, err);
	return rc == 0 ? take_variables(env, policy.env, err) : rc;
}

int cv_sandbox_policy(struct cove_env *env, const struct cove_sandbox_policy *given,
		      struct cv_sandbox_plan *plan, struct cove_error *err)
{
	const char *file = cv_env_option(env, "policy=");
	CV_FREE void *copy = NULL;
	const void *fitted = NULL;
	int rc;

	if (given && file)
		return cv_fail_arg(err, "policy", "give one of the two",
				   "is given twice, in the file '%.200s' too", file);
	if (file)
		return from_file(env, file, plan, err);
	if (!given)
		return take_variables(env, NULL, err);
	rc = cv_opts_fit(given, sizeof(*given), &fitted, &copy, err);
	given = fitted;
	if (rc == 0)
		rc = apply(env, given, plan, err);
	return rc == 0 ? take_variables(env, given->env, err) : rc;
}
