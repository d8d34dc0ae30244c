/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox: namespaces, a root of its own, no privileges, a filter.
 *
 * The host clones the guest straight into new namespaces (clone.c): the child writes its own id
 * maps and executes the guest, which is PID 1 in there and, for a moment, may mount. The guest
 * then builds its world from the plan that the host sent with guest.setup, before it serves
 * anything:
 *
 *	sources are opened while the host's files can still be seen      (root.c)
 *	a tmpfs becomes the new root: system directories, /etc, /dev     (root.c, etc.c, devices.c)
 *	all of it is made read-only at once; then what may be written    (root.c)
 *	/workspace: an overlay of the seed, a bound directory, or empty  (workspace.c)
 *	pivot_root, loopback, name, limits; every capability goes        (enter.c)
 *
 * Trees are opened with open_tree() and attached with move_mount(), so a path is looked up once,
 * and by descriptor from then on. Keepers and commands get the seccomp filter (filter.c); the
 * guest itself needs none, since a command can neither trace nor signal it.
 *
 * What the kernel refuses is isolation_failed with the mechanism's name and the knob that decides;
 * nothing is left off in silence.
 */
#ifndef CV_SANDBOX_SANDBOX_H
#define CV_SANDBOX_SANDBOX_H

#include "base/error.h"
#include "base/path.h"
#include "ops/table.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#define CV_SANDBOX_WORKSPACE "/workspace"
#define CV_SANDBOX_HOME "/home/agent"
#define CV_SANDBOX_MOUNTS 100

/* Which step the kernel refused. */
enum cv_sandbox_step {
	CV_STEP_CLONE = 1,
	CV_STEP_CGROUP,
	CV_STEP_SETGROUPS,
	CV_STEP_UID_MAP,
	CV_STEP_GID_MAP,
	CV_STEP_CAPS,
	CV_STEP_FDS,
	CV_STEP_EXEC,
	CV_STEP_MOUNT,
	CV_STEP_PROC,
	CV_STEP_NETWORK,
	CV_STEP_DROP,
};

/* How the host starts the guest. */
struct cv_sandbox_clone {
	int guest_fd; /* the program; above 2 */
	int sock;     /* becomes stdin and stdout; above 2 */
	int err_fd;   /* becomes stderr; above 2 */
	char *const *envp;
	uid_t uid; /* inside */
	bool host_network;
	const int *cgroups; /* descriptors of cgroup.procs files, -1 at the end; NULL none */
};

/*
 * Starts the guest in namespaces of its own: 0 and *ret_pid, or -errno and *ret_step. Works from
 * threaded programs; blocks every signal meanwhile.
 */
int cv_sandbox_clone(const struct cv_sandbox_clone *c, pid_t *ret_pid, int *ret_step);

/* The error of a refused step, with the knob that decides; gives its code. */
int cv_sandbox_refused(int step, int errnum, struct cove_error *err);

/* The new root while it is built. */
struct cv_root {
	const struct cv_sandbox_plan *plan;
	int fd;	     /* its directory; no path needed */
	int scratch; /* a tmpfs that dies with the environment; holds what may be written */
	/* What is made here alone: the new root, the scratch, each tmpfs of the policy. */
	dev_t own[CV_SANDBOX_MOUNTS + 2];
	size_t own_count;
	bool overlay;
	int seed;  /* must be copied into the workspace before going in; -1: no */
	int base;  /* the seed itself, to be compared with later; -1: none */
	int upper; /* what an overlay writes to; -1: none */
};

/* Builds the new root, up to the seed's copy where one is needed. */
int cv_root_build(const struct cv_sandbox_plan *plan, struct cv_root *root, struct cove_error *err);

/* Goes in; nothing of the host is left behind, and no privilege. */
int cv_root_enter(struct cv_root *root, struct cove_error *err);

/*
 * Gives up every capability and every way to get one, and closes this process to tracing; system
 * calls only. 0 or -errno.
 */
int cv_sandbox_give_up(void);

/* What a command may not call; the same for all. */
const struct sock_fprog *cv_sandbox_filter(void);

#endif
