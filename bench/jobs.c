/* SPDX-License-Identifier: Apache-2.0 */
/* A job of a thousand runs of `true`, a workspace for each, against a thousand times `true`. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNS 1000

static int by_cove(void *user)
{
	const char *const argv[] = {
		user,	 "run", "tasks.jsonl", "--out",	    "traces.jsonl",  "--overwrite",
		"-j",	 "4",	"--env",       "workspace", "--no-progress", "--retain",
		"never", "--",	"true",	       NULL};

	return bench_spawn(argv, -1, -1);
}

static int by_spawn(void *user)
{
	const char *const argv[] = {"true", NULL};

	(void)user;
	for (int i = 0; i < RUNS; i++)
		if (bench_spawn(argv, -1, -1) != 0)
			return -1;
	return 0;
}

static int make_tasks(void)
{
	FILE *f = fopen("tasks.jsonl", "we");

	for (int i = 0; f && i < RUNS; i++)
		fprintf(f, "{\"prompt\":\"task %d\"}\n", i);
	return !f || fclose(f) != 0 ? bench_failed("tasks.jsonl", "can't be written") : 0;
}

int main(void)
{
	char *state = getcwd(NULL, 0);
	struct bench_pair pair = {.name = "jobs.1000-true",
				  .ours = {"cove run -j 4 --env workspace -- true", by_cove},
				  .base = {"1000 x posix_spawn, waitpid", by_spawn},
				  .user = (void *)bench_built("cove"),
				  .pairs = 3,
				  .rate = true,
				  .bar = 0.40};
	int rc = state && setenv("XDG_STATE_HOME", state, 1) == 0 ? make_tasks() : -1;

	free(state);
	return rc != 0 || bench_pairs(&pair) != 0;
}
