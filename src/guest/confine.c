/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest of a sandbox builds the world around itself, as the set-up's plan says, before it
 * serves anything: while it may still mount, and while it is the only process in there.
 */
#include "guest/guest.h"

#include "sandbox/sandbox.h"

#include <stdio.h>
#include <sys/prctl.h>

/* Where neither overlay nor a true copy was wanted or possible, the seed is copied in. */
static int copy_seed(const struct cv_root *root, struct cv_guest_call *call, struct cove_error *err)
{
	char from[40];
	char to[64];
	int64_t left_out = 0;

	if (root->seed < 0)
		return 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", root->seed);
	snprintf(to, sizeof(to), "/proc/self/fd/%d%s", root->fd, CV_SANDBOX_WORKSPACE);
	return cv_copy_tree(from, to, &call->cancel, &left_out, err);
}

/* Whatever is not active here was asked for otherwise, never left off by itself. */
static int tell(struct cv_guest_call *call, const struct cv_root *root)
{
	const struct cv_guest_setup *s = call->req;
	const struct cv_sandbox_plan *plan = root->plan;
	const char *const built[] = {
		"user_namespace=active",
		"mount_namespace=active",
		"pid_namespace=active",
		"ipc_namespace=active",
		"uts_namespace=active",
		plan->host_network ? "network_namespace=inactive" : "network_namespace=active",
		"no_new_privs=active",
		"capabilities=active",
		"seccomp=active",
		root->overlay			? "overlay=active" :
		plan->lower && !plan->copy_seed ? "overlay=degraded" :
						  "overlay=inactive",
	};
	const char **list;
	size_t n = 0;

	while (s->isolation && s->isolation[n])
		n++;
	list = cv_arena_array(call->arena, CV_LEN(built) + n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, built, sizeof(built));
	for (size_t i = 0; i < n; i++)
		list[CV_LEN(built) + i] = s->isolation[i];
	call->guest->isolation = list;
	return 0;
}

/* Both for this process and for the keepers that it makes before it has built anything. */
int cv_guest_begin_confined(struct cv_guest *g)
{
	/* The keeper inherits this directory, and pivot_root() moves whoever is in the old root. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || chdir("/") < 0)
		return -errno;
	return cv_procs_begin_confined(&g->procs, cv_sandbox_give_up, cv_sandbox_filter());
}

int cv_guest_confine(struct cv_guest_call *call, struct cove_error *err)
{
	const struct cv_guest_setup *s = call->req;
	struct cv_root root;
	int rc = cv_root_build(s->sandbox, &root, err);

	if (rc == 0)
		rc = copy_seed(&root, call, err);
	if (rc == 0 && cv_procs_watch_oom(&call->guest->procs, s->sandbox->oom) < 0)
		rc = cv_fail_errno(err, errno, s->sandbox->oom, "can't watch the memory limit");
	if (rc < 0)
		return rc;
	rc = cv_root_enter(&root, err);
	if (rc < 0)
		return rc;
	call->guest->origin = (struct cv_origin){.known = !s->sandbox->workspace,
						 .seed = root.base,
						 .upper = root.upper,
						 .settled_ns = cv_file_clock_ns()};
	if (tell(call, &root) < 0)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	rc = cv_procs_entered(&call->guest->procs, s->sandbox->processes > 0);
	return rc < 0 ? cv_fail_errno(err, -rc, NULL, "can't start the first keeper") : 0;
}
