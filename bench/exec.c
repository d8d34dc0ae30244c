/* SPDX-License-Identifier: Apache-2.0 */
/* A command in a warm environment, against the same program by posix_spawn with two pipes. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define TAPE_BYTES (INT64_C(64) << 20)

struct command {
	struct cove_env *env;
	const char *const *argv;
	int64_t bytes; /* of output that it must give */
};

static int by_cove(void *user)
{
	const struct command *c = user;
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_exec_result *r = NULL;
	bool good;

	if (cove_exec(c->env,
		      COVE_OPTS(cove_exec_opts, .argv = c->argv, .max_output_bytes = 128 << 10), &r,
		      &err) < 0)
		return bench_failed(c->argv[0], err.message);
	good = r->exit.code == 0 && r->exit.tree == COVE_TREE_CLEAN && r->out.bytes == c->bytes;
	cove_exec_result_free(r);
	return good ? 0 : bench_failed(c->argv[0], "not as expected");
}

static int by_spawn(void *user)
{
	const struct command *c = user;

	return bench_spawn_read(c->argv) == c->bytes ? 0 : -1;
}

static int compare(struct cove_env *env, const char *name, const char *const *argv, int64_t bytes,
		   double bar, double aim)
{
	struct command c = {.env = env, .argv = argv, .bytes = bytes};
	struct bench_pair pair = {.name = name,
				  .ours = {"cove_exec", by_cove},
				  .base = {"posix_spawn, two pipes, poll, waitpid", by_spawn},
				  .user = &c,
				  .bar = bar,
				  .aim = aim};

	return bench_pairs(&pair);
}

/* A process whose output, 64 MiB of it, stays in the guest's memory. */
static int hold_tape(struct cove_env *env)
{
	const char *const argv[] = {"head", "-c", "64M", "/dev/zero", NULL};
	struct cove_process_start_result *p = NULL;
	struct cove_process_wait_result *w = NULL;
	struct cove_error err = COVE_ERROR_INIT;
	int rc = cove_process_start(
		env, COVE_OPTS(cove_exec_opts, .argv = argv, .output.retain_bytes = TAPE_BYTES), &p,
		&err);

	if (rc >= 0)
		rc = cove_process_wait(
			env, COVE_OPTS(cove_process_wait_opts, .process = p->process), &w, &err);
	cove_process_wait_result_free(w);
	cove_process_start_result_free(p);
	return rc < 0 ? bench_failed("tape", err.message) : 0;
}

static int run_all(struct cove_env *env)
{
	static const char *const plain[] = {"/bin/true", NULL};
	static const char *const shell[] = {"sh", "-c", "true", NULL};
	static const char *const output[] = {"head", "-c", "65536", "/dev/zero", NULL};
	int rc = compare(env, "exec.true", plain, 0, 1.25, 1.08);

	rc |= compare(env, "exec.sh", shell, 0, 1.25, 1.08);
	rc |= compare(env, "exec.output-64k", output, 65536, 0, 0);
	if (hold_tape(env) < 0 || hold_tape(env) < 0)
		return -1;
	bench_value("exec.guest-memory", (double)bench_guest_kib("VmRSS:") / 1024, "MiB", 0);
	rc |= compare(env, "exec.true-128m", plain, 0, 1.35, 1.15);
	rc |= compare(env, "exec.sh-128m", shell, 0, 1.35, 1.15);
	return rc;
}

int main(void)
{
	struct cove_env *env = bench_env_here();
	int rc = env ? run_all(env) : -1;

	bench_env_close(env);
	return rc != 0;
}
