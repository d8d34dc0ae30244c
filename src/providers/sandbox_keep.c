/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run in an overlay is kept: its layers become one plain directory.
 *
 * Another sandbox, with the same seed below the same layers, copies what it sees. So it is exactly
 * what the run saw, also when the run's own guest is dead, and no line here needs to know how an
 * overlay marks what is gone.
 */
#include "base/tree.h"
#include "providers/providers.h"
#include "providers/sandbox.h"
#include "sandbox/sandbox.h"

#include <cove/files.h>

#include <fcntl.h>
#include <sys/stat.h>

#define KEPT "/kept"
#define COPY "tree"

static struct cove_env *reopen(const struct cove_env *env, struct cove_error *err)
{
	struct cove_sandbox_mount mount = {.source = env->layers, .target = KEPT, .rw = true};
	struct cove_sandbox_policy policy = {
		.size = sizeof(policy), .mounts = &mount, .mount_count = 1};
	struct cove_env *again = NULL;
	struct cv_sandbox_plan *plan;

	if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = env->seed,
				    .retain = COVE_RETAIN_NEVER, .policy = &policy),
			  &again, err) < 0)
		return NULL;
	plan = again->plan;
	plan->upper = env->plan->upper;
	plan->work = env->plan->work;
	plan->uid = env->plan->uid;
	plan->keeping = true;
	return again;
}

static int copy_out(struct cove_env *env, struct cove_error *err)
{
	struct cove_file_copy_result *r = NULL;
	int rc = cove_file_copy(env,
				COVE_OPTS(cove_file_transfer_opts, .source = CV_SANDBOX_WORKSPACE,
					  .destination = KEPT "/" COPY),
				&r, err);

	cove_result_free(r);
	return rc;
}

static int cant_keep(const struct cove_env *env, struct cove_error *err)
{
	return cv_fail_errno(err, errno, env->workspace, "can't keep the workspace '%s'",
			     env->workspace);
}

/*
 * The finished copy takes the place of the empty directory that held it. One that may not be written
 * can't be given another parent, whoever owns it.
 */
static int put_in_place(const struct cove_env *env, struct cove_error *err)
{
	struct stat st;
	cv_path from;

	if ((size_t)snprintf(from, sizeof(from), "%s/%s", env->layers, COPY) >= sizeof(from))
		return cv_fail_arg(err, "root", NULL, "is too long");
	if (lstat(from, &st) < 0 || chmod(from, 0700) < 0 || rename(from, env->workspace) < 0 ||
	    chmod(env->workspace, st.st_mode & 07777) < 0)
		return cant_keep(env, err);
	return 0;
}

int cv_sandbox_keep(const struct cove_env *env, struct cove_error *err)
{
	struct cove_env *again = reopen(env, err);
	int rc = again ? copy_out(again, err) : COVE_E_CLEANUP_FAILED;

	if (cove_env_close(again, COVE_OUTCOME_SUCCESS, rc < 0 ? NULL : err) < 0 && rc == 0)
		rc = COVE_E_CLEANUP_FAILED;
	if (rc == 0)
		rc = put_in_place(env, err);
	if (rc == 0)
		return 0;
	if (err) {
		err->code = COVE_E_CLEANUP_FAILED;
		cv_err_hint(err, "what the run wrote is in '%s'", env->layers);
	}
	return COVE_E_CLEANUP_FAILED;
}
