/* SPDX-License-Identifier: Apache-2.0 */
/* The whole program, from its start to its end, against a shell's. */
#include "bench.h"

#include <stdio.h>

static int by_cove(void *user)
{
	const char *const argv[] = {user, "exec", "--env", "here", "--", "true", NULL};

	return bench_spawn(argv, -1, -1);
}

static int by_shell(void *user)
{
	const char *const argv[] = {"sh", "-c", "true", NULL};

	(void)user;
	return bench_spawn(argv, -1, -1);
}

int main(void)
{
	struct bench_pair pair = {.name = "cli.exec",
				  .ours = {"cove exec --env here -- true", by_cove},
				  .base = {"sh -c true", by_shell},
				  .user = (void *)bench_built("cove"),
				  .bar = 3.0};

	return bench_pairs(&pair) != 0;
}
