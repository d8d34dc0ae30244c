/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the provider `sandbox`. */
#ifndef CV_PROVIDERS_SANDBOX_H
#define CV_PROVIDERS_SANDBOX_H

#include "env/env.h"

#include <cove/sandbox.h>

/* sandbox_policy.c: checks a policy, or the one in -o policy=FILE, and puts it into the plan. */
int cv_sandbox_policy(struct cove_env *env, const struct cove_sandbox_policy *given,
		      struct cv_sandbox_plan *plan, struct cove_error *err);

/* sandbox_keep.c: makes the plain directory of a run from its seed and what it wrote over it. */
int cv_sandbox_keep(const struct cove_env *env, struct cove_error *err);

#endif
