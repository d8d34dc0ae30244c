/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups, for limits of all that runs in a sandbox together; on the host's side.
 *
 * Where the caller may make a group with the controller that a limit needs, one is made below its
 * own: in version 2's tree, or in version 1's. The guest joins it before its first instruction, and
 * everything else is born in it. Where none can be made the limit is refused: nothing that the
 * kernel does not hold is called a limit.
 */
#ifndef CV_SANDBOX_CGROUP_H
#define CV_SANDBOX_CGROUP_H

#include "base/error.h"
#include "base/path.h"

#include <cove/sandbox.h>

#define CV_CGROUPS 3

struct cv_cgroup {
	int count;
	cv_path dirs[CV_CGROUPS];
	int procs[CV_CGROUPS + 1]; /* what the guest writes itself into; -1 at the end */
	cv_path oom;		   /* counts kills for want of memory; empty: no memory limit */
};

/* Whether one of these limits needs a group; processes do for the host's root only. */
bool cv_cgroup_needed(const struct cove_sandbox_limits *limits);

/* Makes the groups, named after id. On failure none is left. */
int cv_cgroup_make(const struct cove_sandbox_limits *limits, const char *id, struct cv_cgroup *ret,
		   struct cove_error *err);

/* Closes the descriptors once the guest is in. */
void cv_cgroup_joined(struct cv_cgroup *g);

/* Removes the groups; the processes are gone. 0 or -errno. */
int cv_cgroup_remove(struct cv_cgroup *g);

#endif
