/* SPDX-License-Identifier: Apache-2.0 */
/* An environment from nothing to an answer and to its end, against bubblewrap running `true`. */
#include "bench.h"

static int by_cove(void *user)
{
	struct cove_env *env = bench_env_here();

	(void)user;
	if (!env)
		return -1;
	return cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
}

static int by_bwrap(void *user)
{
	const char *const argv[] = {"bwrap",	     "--ro-bind",	  "/",	  "/",
				    "--unshare-all", "--die-with-parent", "true", NULL};

	(void)user;
	return bench_spawn(argv, -1, 2);
}

int main(void)
{
	struct bench_pair pair = {.name = "open.here",
				  .ours = {"open, ready, close", by_cove},
				  .base = {"bwrap --ro-bind / / --unshare-all true", by_bwrap},
				  .bar = 0.25,
				  .aim = 0.18};

	return bench_pairs(&pair) != 0;
}
