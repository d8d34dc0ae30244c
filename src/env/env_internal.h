/* SPDX-License-Identifier: Apache-2.0 */
/* What other rooms of the library may do with an environment beyond the public API. */
#ifndef CV_ENV_ENV_INTERNAL_H
#define CV_ENV_ENV_INTERNAL_H

#include <cove/env.h>

/*
 * The end of an environment without blocking, for a loop that drives several. After begin no other
 * call may be made with env but these two.
 */
void cv_env_close_begin(struct cove_env *env, int outcome);

/* A descriptor that is readable once poll would make progress; -1: call poll at once. */
int cv_env_close_fd(const struct cove_env *env);

/*
 * 0: not yet (poll cv_env_close_fd(), and call again after at most 100 ms in any case). 1: ended
 * and freed. A negative code: freed too, but something is left behind (cleanup_failed).
 */
int cv_env_close_poll(struct cove_env *env, struct cove_error *err);

/* Whether the last close with this outcome would keep the workspace. */
bool cv_env_keeps(const struct cove_env *env, int outcome);

#endif
