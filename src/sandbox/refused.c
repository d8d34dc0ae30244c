/* SPDX-License-Identifier: Apache-2.0 */
/* What to tell somebody whose kernel refuses the sandbox: which mechanism, and which knob decides. */
#include "base/fd.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const steps[] = {
	[CV_STEP_CLONE] = "new namespaces",    [CV_STEP_CGROUP] = "the control group of its limits",
	[CV_STEP_SETGROUPS] = "its groups",    [CV_STEP_UID_MAP] = "its user map",
	[CV_STEP_GID_MAP] = "its group map",   [CV_STEP_CAPS] = "capabilities in its namespace",
	[CV_STEP_FDS] = "its descriptors",     [CV_STEP_EXEC] = "the guest's start",
	[CV_STEP_MOUNT] = "mounts of its own", [CV_STEP_PROC] = "a /proc of its own",
	[CV_STEP_NETWORK] = "its loopback",    [CV_STEP_DROP] = "giving up privileges",
};

/* The knobs that switch user namespaces off, and the value that does. */
static const struct {
	const char *path;
	const char *name;
	long off;
	const char *on;
} knobs[] = {
	{"/proc/sys/user/max_user_namespaces", "user.max_user_namespaces", 0, "10000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", 0, "1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	 "kernel.apparmor_restrict_unprivileged_userns", 1, "0"},
};

static bool reads(const char *path, long want)
{
	CV_FREE char *text = NULL;
	size_t len;

	return cv_read_file(AT_FDCWD, path, 64, &text, &len) == 0 && strtol(text, NULL, 10) == want;
}

static void name_knob(int step, int errnum, struct cove_error *err)
{
	for (size_t i = 0; i < CV_LEN(knobs); i++)
		if (reads(knobs[i].path, knobs[i].off)) {
			cv_err_hint(err, "sysctl %s=%s", knobs[i].name, knobs[i].on);
			return;
		}
	if (step == CV_STEP_PROC)
		cv_err_hint(err, "part of /proc is masked here; in docker run with --security-opt "
				 "systempaths=unconfined, or use --env workspace");
	else if (errnum == ENOSPC)
		cv_err_hint(err, "sysctl user.max_user_namespaces, and its kin, are used up");
	else if (errnum == EPERM || errnum == EACCES)
		cv_err_hint(err,
			    "a security profile forbids it; in docker run with --security-opt "
			    "seccomp=unconfined --security-opt apparmor=unconfined, or use --env "
			    "workspace");
	else
		cv_err_hint(err, "cove doctor tells what this kernel has");
}

int cv_sandbox_refused(int step, int errnum, struct cove_error *err)
{
	int rc = cv_fail_errno(err, errnum, NULL, "the kernel refuses the sandbox %s", steps[step]);

	(void)rc;
	if (!err)
		return COVE_E_ISOLATION_FAILED;
	err->code = COVE_E_ISOLATION_FAILED;
	name_knob(step, errnum, err);
	return COVE_E_ISOLATION_FAILED;
}
