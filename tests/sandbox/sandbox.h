/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the sandbox have in common: an environment, and a program to try things with. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#define PROVIDERS 1
#include "conformance/fixture.h"
#include "sandbox/host.h"

#include <cove/sandbox.h>

#define TOOL "/attempts"

/* Where the program that tries to get out is, as the host sees it. */
static UNUSED const char *tool_path(void)
{
	static char path[PATH_MAX];
	const char *build = getenv("COVE_BUILD");
	char link[PATH_MAX];

	snprintf(link, sizeof(link), "%s/tests/attempts", build ? build : ".");
	ck_assert_ptr_nonnull(realpath(link, path));
	return path;
}

/* Opens a sandbox with the tool in it; the caller's options may say more. */
static UNUSED void begin_sandbox(const struct cove_env_opts *more)
{
	struct cove_env_opts opts = {.size = sizeof(opts)};
	struct cove_sandbox_policy policy = {.size = sizeof(policy)};
	struct cove_sandbox_mount mounts[8] = {{.source = tool_path(), .target = TOOL}};
	size_t n = 1;

	if (more)
		opts = *more;
	if (opts.policy) {
		policy = *opts.policy;
		for (size_t i = 0; i < policy.mount_count; i++)
			mounts[n++] = policy.mounts[i];
	}
	policy.mounts = mounts;
	policy.mount_count = n;
	opts.provider = "sandbox";
	opts.policy = &policy;
	if (!opts.retain)
		opts.retain = COVE_RETAIN_NEVER;
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_open(&opts, &env, &err) == 0, "open: %s", err.message);
}

/* What the kernel says to one attempt. */
static UNUSED const char *attempt(const char *name, const char *arg)
{
	static char said[64];
	const char *argv[] = {TOOL, name, arg, NULL};
	struct cove_exec_result *r =
		exec_opts(COVE_OPTS(cove_exec_opts, .argv = argv, .timeout_ms = 30000));

	snprintf(said, sizeof(said), "%s", r->out.text);
	said[strcspn(said, "\n")] = '\0';
	cove_exec_result_free(r);
	return said;
}

#endif
