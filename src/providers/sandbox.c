/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider `sandbox`: namespaces of its own around the guest, as an ordinary user.
 *
 * What dies with the environment lies on a tmpfs inside of it. A workspace that may be kept lies at
 * ROOT/JOB/RUN: it is /workspace itself, or, with a seed, what an overlay has written lies beside
 * it (RUN.layers) and is made one plain directory only when it is kept.
 */
#include "base/fd.h"
#include "providers/providers.h"
#include "providers/sandbox.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const option_keys[] = {
	"root=", "shell=", "policy=", "network=", "access=", "seed=", NULL};

static int choice(const struct cove_env *env, const char *key, const char *normal,
		  const char *other, bool *ret, struct cove_error *err)
{
	const char *given = cv_env_option(env, key);

	*ret = given && strcmp(given, other) == 0;
	if (!given || *ret || strcmp(given, normal) == 0)
		return 0;
	return cv_fail_arg(err, "options", "give one of the two", "has %s%.50s; known: %s, %s", key,
			   given, normal, other);
}

static int set_places(struct cove_env *env, const struct cove_env_opts *opts,
		      struct cove_error *err)
{
	char id[13];
	int rc = cv_run_dir_choose(env, opts, err);

	if (rc < 0)
		return rc;
	cv_random_name(id, sizeof(id) - 1);
	env->cwd = CV_SANDBOX_WORKSPACE;
	env->home = CV_SANDBOX_HOME;
	env->namespace_id = cv_arena_printf(env->arena, "sandbox:%s", id);
	env->tmp_dir = cv_arena_printf(env->arena, "/tmp/cove-%s/scratch", id);
	if (!env->namespace_id || !env->tmp_dir)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	return 0;
}

static int refuse(const struct cove_env_opts *opts, struct cove_error *err)
{
	if (opts->dir && opts->seed)
		return cv_fail_arg(err, "seed", "give one of the two",
				   "does not go with a directory that is bound");
	if (opts->seed && opts->seed[0] != '/')
		return cv_fail_arg(err, "seed", "give an absolute path",
				   "is '%.300s', which is not absolute", opts->seed);
	if (opts->roots && opts->roots[0])
		return cv_fail_arg(err, "roots", "mount what is needed with a policy",
				   "does not go with sandbox, which shows only what it may use");
	return 0;
}

/* Kept or not is known by the end only; whether it may be, now. */
static bool may_be_kept(const struct cove_env *env)
{
	return !(env->retain & COVE_RETAIN_NEVER) || (env->retain & COVE_RETAIN_ALWAYS);
}

static int set_layers(struct cove_env *env, struct cv_sandbox_plan *plan, struct cove_error *err)
{
	if (plan->workspace || !may_be_kept(env)) {
		env->workspace = NULL;
		return 0;
	}
	if (env->limits.disk_bytes) {
		cv_fail_arg(err, "policy.limits.disk_bytes",
			    "keep no workspace (retain never), so that all of it lies on a tmpfs",
			    "can't be enforced for a workspace that may be kept");
		if (err)
			err->code = COVE_E_NOT_SUPPORTED;
		return COVE_E_NOT_SUPPORTED;
	}
	if (!env->seed || plan->copy_seed) {
		plan->upper = env->workspace;
		return 0;
	}
	env->layers = cv_arena_printf(env->arena, "%s.layers", env->workspace);
	plan->upper = cv_arena_printf(env->arena, "%s.layers/upper", env->workspace);
	plan->work = cv_arena_printf(env->arena, "%s.layers/work", env->workspace);
	return env->layers && plan->upper && plan->work ?
		       0 :
		       cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

static int make_plan(struct cove_env *env, const struct cove_env_opts *opts, struct cove_error *err)
{
	struct cv_sandbox_plan *plan = cv_arena_alloc(env->arena, sizeof(*plan));
	int rc;

	if (!plan)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	plan->size = sizeof(*plan);
	plan->host_root = geteuid() == 0;
	env->plan = plan;
	rc = cv_env_keep(env, opts->seed, &env->seed, err);
	if (rc == 0 && opts->dir)
		rc = cv_provider_absolute(env, opts->dir, "dir", &plan->workspace, err);
	if (rc == 0)
		rc = choice(env, "access=", "rw", "ro", &plan->read_only, err);
	if (rc == 0)
		rc = choice(env, "seed=", "overlay", "copy", &plan->copy_seed, err);
	if (rc == 0)
		rc = cv_sandbox_policy(env, opts->policy, plan, err);
	if (rc == 0 && cv_env_option(env, "network="))
		rc = choice(env, "network=", "none", "host", &plan->host_network, err);
	plan->lower = env->seed;
	return rc == 0 ? set_layers(env, plan, err) : rc;
}

/* What the host sees to; the guest tells the rest. */
static int tell_limits(struct cove_env *env, struct cove_error *err)
{
	const char **list = cv_arena_array(env->arena, 5, sizeof(*list));

	if (!list)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	list[0] = env->limits.memory_bytes ? "memory_limit=active" : "memory_limit=inactive";
	list[1] = env->limits.processes ? "process_limit=active" : "process_limit=inactive";
	list[2] = env->limits.cpu_millis ? "cpu_limit=active" : "cpu_limit=inactive";
	/* What lies on the host's disk for keeping is not counted. */
	list[3] = env->workspace || env->plan->workspace ? "disk_limit=degraded" :
							   "disk_limit=active";
	env->isolation = list;
	return 0;
}

static int configure(struct cove_env *env, const struct cove_env_opts *opts, struct cove_error *err)
{
	int rc = refuse(opts, err);

	if (rc == 0)
		rc = set_places(env, opts, err);
	if (rc == 0)
		rc = make_plan(env, opts, err);
	if (rc == 0)
		rc = tell_limits(env, err);
	if (rc < 0)
		return rc;
	env->text =
		env->plan->host_network ?
			"a sandbox of its own on a Linux machine: /workspace, a private home and "
			"/tmp, system directories read-only, the host's network" :
			"a sandbox of its own on a Linux machine: /workspace, a private home and "
			"/tmp, system directories read-only, no network but loopback";
	return 0;
}

static int check_bind(const struct cove_env *env, struct cove_error *err)
{
	const char *dir = env->plan->workspace;
	struct stat st;
	int rc;

	if (!dir || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	rc = cv_fail_errno(err, errno ? errno : ENOTDIR, dir, "can't use the directory '%s'", dir);
	if (err)
		cv_text_copy(err->field, sizeof(err->field), "dir");
	return rc;
}

static int make_layers(struct cove_env *env, struct cove_error *err)
{
	if (mkdir(env->layers, 0700) < 0)
		return cv_fail_errno(err, errno, env->layers, "can't make '%s'", env->layers);
	env->made_layers = true;
	/* The root of what is seen takes its mode from here. */
	if (mkdir(env->plan->upper, 0755) < 0 || mkdir(env->plan->work, 0700) < 0)
		return cv_fail_errno(err, errno, env->layers, "can't make the layers in '%s'",
				     env->layers);
	return 0;
}

static int make_cgroup(struct cove_env *env, struct cove_error *err)
{
	int rc;

	if (!cv_cgroup_needed(&env->limits))
		return 0;
	env->cgroup = cv_arena_alloc(env->arena, sizeof(*env->cgroup));
	if (!env->cgroup)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	rc = cv_cgroup_make(&env->limits, strchr(env->namespace_id, ':') + 1, env->cgroup, err);
	env->plan->oom = env->cgroup->oom[0] ? env->cgroup->oom : NULL;
	return rc;
}

static int prepare(struct cove_env *env, struct cove_error *err)
{
	int rc = cv_run_dir_check_seed(env, err);

	if (rc == 0)
		rc = make_cgroup(env, err);

	if (rc == 0)
		rc = check_bind(env, err);
	if (rc == 0 && env->workspace)
		rc = cv_run_dir_check_outside(env, err);
	if (rc == 0 && env->workspace)
		rc = cv_run_dir_make(env, err);
	return rc == 0 && env->layers ? make_layers(env, err) : rc;
}

static int remove_cgroup(struct cove_env *env, struct cove_error *err)
{
	int rc = env->cgroup ? cv_cgroup_remove(env->cgroup) : 0;

	if (rc == 0)
		return 0;
	cv_fail_errno(err, -rc, env->cgroup->dirs[0], "can't remove the control group '%s'",
		      env->cgroup->dirs[0]);
	if (err)
		err->code = COVE_E_CLEANUP_FAILED;
	return COVE_E_CLEANUP_FAILED;
}

static int teardown(struct cove_env *env, bool keep, struct cove_error *err)
{
	/* A group that is left is told; the rest is not left for that. */
	int group = remove_cgroup(env, err);
	int rc = 0;

	if (keep && env->made && env->made_layers)
		rc = cv_sandbox_keep(env, err);
	if (rc == 0 && env->made_layers)
		rc = cv_run_dir_remove_layers(env, err);
	if (rc == 0 && env->made && !keep)
		rc = cv_run_dir_remove(env, err);
	return rc < 0 ? rc : group;
}

/* Nothing of the host's variables comes in unless the policy names it. */
static const char *const variables[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/home/agent",
	"USER=agent",
	"LOGNAME=agent",
	"SHELL=/bin/bash",
	"LANG=C.UTF-8",
	NULL,
};

static int spawn(struct cove_env *env, const char *path, int sock, int err_fd, pid_t *ret,
		 struct cove_error *err)
{
	CV_CLOSE int found = open(path, O_PATH | O_CLOEXEC);
	/* A host may have closed its standard ones. */
	CV_CLOSE int guest = found < 0 ? -1 : fcntl(found, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct cv_sandbox_clone how = {
		.guest_fd = guest,
		.sock = sock,
		.err_fd = err_fd,
		.envp = (char *const *)variables,
		.uid = env->plan->uid ? (uid_t)env->plan->uid : 1000,
		.host_network = env->plan->host_network,
		.cgroups = env->cgroup ? env->cgroup->procs : NULL,
	};
	int step;
	int rc;

	rc = guest < 0 ? -errno : cv_sandbox_clone(&how, ret, &step);
	if (env->cgroup)
		cv_cgroup_joined(env->cgroup);
	if (rc == 0)
		return 0;
	if (guest >= 0 && step != CV_STEP_EXEC)
		return cv_sandbox_refused(step, -rc, err);
	cv_fail_errno(err, -rc, path, "can't start the guest '%s'", path);
	if (err)
		err->code = COVE_E_SPAWN_FAILED;
	return COVE_E_SPAWN_FAILED;
}

const struct cv_provider cv_provider_sandbox = {
	.info = {.name = "sandbox"},
	.option_keys = option_keys,
	.configure = configure,
	.prepare = prepare,
	.spawn = spawn,
	.teardown = teardown,
};
