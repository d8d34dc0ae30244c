/* SPDX-License-Identifier: Apache-2.0 */
/* A GiB of output through a ring of 16 MiB, against a loop that reads it to the null device. */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BYTES (INT64_C(1) << 30)
#define RING_MIB 16

struct flood {
	struct cove_env *env;
	const char *script;
};

static int by_cove(void *user)
{
	const struct flood *f = user;
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_exec_result *r = NULL;
	const char *const argv[] = {"sh", "-c", f->script, NULL};
	bool good;

	if (cove_exec(f->env,
		      COVE_OPTS(cove_exec_opts, .argv = argv, .max_output_bytes = 1000,
				.output.retain_bytes = RING_MIB << 20),
		      &r, &err) < 0)
		return bench_failed(f->script, err.message);
	good = r->exit.code == 0 && r->out.bytes == BYTES;
	cove_exec_result_free(r);
	return good ? 0 : bench_failed(f->script, "not as expected");
}

static int by_loop(void *user)
{
	const struct flood *f = user;
	const char *const argv[] = {"sh", "-c", f->script, NULL};
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int fds[2];
	int64_t total;
	pid_t pid;

	if (null_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = bench_start(argv, fds[1], 2);
	close(fds[1]);
	total = bench_copy(fds[0], null_fd);
	close(fds[0]);
	close(null_fd);
	return pid > 0 && bench_wait(pid) == 0 && total == BYTES ? 0 : -1;
}

static int compare(struct cove_env *env, const char *name, const char *script)
{
	struct flood f = {.env = env, .script = script};
	struct bench_pair pair = {.name = name,
				  .ours = {"cove_exec", by_cove},
				  .base = {"read 128 KiB, write to /dev/null", by_loop},
				  .user = &f,
				  .pairs = 5,
				  .rate = true,
				  .bar = 0.70,
				  .aim = 1.0};

	return bench_pairs(&pair);
}

int main(void)
{
	struct cove_env *env = bench_env_here();
	int rc = -1;

	if (env) {
		rc = compare(env, "output.yes", "yes | head -c 1073741824");
		/* In larger pieces, so that the reader is what limits. */
		rc |= compare(env, "output.dd", "dd if=/dev/zero bs=128K count=8192 status=none");
		bench_value("output.guest-peak", (double)bench_guest_kib("VmHWM:") / 1024, "MiB",
			    RING_MIB + 8);
	}
	bench_env_close(env);
	return rc != 0;
}
