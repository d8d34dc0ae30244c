/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full capture of output in a file against a loop that writes it there, and how long a tree of a
 * hundred processes takes to end, confirmed.
 */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BYTES (INT64_C(256) << 20)
#define SCRIPT "yes | head -c 268435456"
#define TREES 20
#define GRACE_MS 100

static const char *const argv[] = {"sh", "-c", SCRIPT, NULL};

static int by_cove(void *user)
{
	const struct cove_spill spill = {.after_bytes = COVE_ZERO, .required = true};
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_exec_result *r = NULL;
	bool good;

	if (cove_exec(user,
		      COVE_OPTS(cove_exec_opts, .argv = argv, .max_output_bytes = 1000,
				.output = {.spill = &spill}),
		      &r, &err) < 0)
		return bench_failed(SCRIPT, err.message);
	good = r->exit.code == 0 && r->out.bytes == BYTES && r->out.spill_path;
	if (good)
		unlink(r->out.spill_path);
	cove_exec_result_free(r);
	return good ? 0 : bench_failed(SCRIPT, "not as expected");
}

static int by_loop(void *user)
{
	int file = open("captured", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int fds[2];
	int64_t total;
	pid_t pid;

	(void)user;
	if (file < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = bench_start(argv, fds[1], 2);
	close(fds[1]);
	total = bench_copy(fds[0], file);
	close(fds[0]);
	close(file);
	unlink("captured");
	return pid > 0 && bench_wait(pid) == 0 && total == BYTES ? 0 : -1;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* The time beyond the deadline and the grace, of a tree that ignores TERM. */
static double tree_end_ms(struct cove_env *env)
{
	struct cove_exec_result *r = NULL;
	double begun = now_ms();

	if (cove_exec(
		    env,
		    COVE_OPTS(cove_exec_opts, .timeout_ms = 500, .grace_ms = GRACE_MS,
			      .script =
				      "trap '' TERM; for i in $(seq 99); do sleep 300 & done; wait"),
		    &r, NULL) < 0)
		return -1;
	cove_exec_result_free(r);
	return now_ms() - begun - 500 - GRACE_MS;
}

static void trees(struct cove_env *env)
{
	double times[TREES];

	for (int i = 0; i < TREES; i++)
		times[i] = tree_end_ms(env);
	qsort(times, TREES, sizeof(times[0]), compare_doubles);
	bench_value("process.tree-end-p50", times[TREES / 2], "ms", 150);
	bench_value("process.tree-end-max", times[TREES - 1], "ms", 150);
}

int main(void)
{
	struct cove_env *env = bench_env_here();
	struct bench_pair pair = {.name = "process.capture",
				  .ours = {"cove_exec, spill", by_cove},
				  .base = {"read 128 KiB, write to a file", by_loop},
				  .user = env,
				  .pairs = 9,
				  .rate = true,
				  .bar = 0.40,
				  .aim = 0.55};
	int rc = -1;

	if (env) {
		rc = bench_pairs(&pair);
		trees(env);
	}
	bench_env_close(env);
	return rc != 0;
}
