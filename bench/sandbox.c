/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes: opened, used and closed against bubblewrap; whatever the seed holds; commands in a live
 * one against the environment here; a thousand at once; and jobs.
 */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUNS 1000
#define MANY 1000

struct state {
	char cove[4096];
	char small[300]; /* a seed of 10 files */
	char large[300]; /* and one of 20,000 */
	struct cove_env *live;
	struct cove_env *here;
};

static const char *const true_argv[] = {"true", NULL};

static int run_true(struct cove_env *env)
{
	struct cove_exec_result *r = NULL;
	int rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .argv = true_argv), &r, NULL);

	cove_exec_result_free(r);
	return rc;
}

static struct cove_env *open_sandbox(const char *seed)
{
	struct cove_env *env = NULL;
	struct cove_error err = COVE_ERROR_INIT;

	if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = seed,
				    .retain = COVE_RETAIN_NEVER),
			  &env, &err) < 0)
		bench_failed("sandbox", err.message);
	return env;
}

static int whole_life(const char *seed)
{
	struct cove_env *env = open_sandbox(seed);
	int rc = env ? run_true(env) : -1;

	return cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL) < 0 ? -1 : rc;
}

static int small_seed(void *user)
{
	return whole_life(((struct state *)user)->small);
}

static int large_seed(void *user)
{
	return whole_life(((struct state *)user)->large);
}

static int by_bwrap(void *user)
{
	const char *const argv[] = {"bwrap",	     "--ro-bind",	  "/",	  "/",
				    "--unshare-all", "--die-with-parent", "true", NULL};

	(void)user;
	return bench_spawn(argv, -1, 2);
}

static int by_cove(void *user)
{
	const struct state *s = user;
	const char *const argv[] = {s->cove,  "exec", "--env", "sandbox", "--seed",
				    s->small, "--",   "true",  NULL};

	return bench_spawn(argv, -1, 2);
}

static int in_live(void *user)
{
	return run_true(((struct state *)user)->live);
}

static int in_here(void *user)
{
	return run_true(((struct state *)user)->here);
}

static int job(void *user)
{
	const char *const argv[] = {((struct state *)user)->cove,
				    "run",
				    "tasks.jsonl",
				    "--out",
				    "traces.jsonl",
				    "--overwrite",
				    "-j",
				    "4",
				    "--env",
				    "sandbox",
				    "--no-progress",
				    "--retain",
				    "never",
				    "--",
				    "true",
				    NULL};

	return bench_spawn(argv, -1, -1);
}

static int spawn_loop(void *user)
{
	(void)user;
	for (int i = 0; i < RUNS; i++)
		if (bench_spawn(true_argv, -1, -1) != 0)
			return -1;
	return 0;
}

static int make_seed(char path[300], const char *name, int files)
{
	char file[400];
	char *cwd = getcwd(NULL, 0);

	snprintf(path, 300, "%.200s/%s", cwd ? cwd : "/", name);
	free(cwd);
	mkdir(path, 0755);
	for (int i = 0; i < files; i++) {
		int fd;

		snprintf(file, sizeof(file), "%s/d%d", path, i / 50);
		if (i % 50 == 0)
			mkdir(file, 0755);
		snprintf(file, sizeof(file), "%s/d%d/f%d", path, i / 50, i);
		fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || write(fd, file, strlen(file)) < 0)
			return bench_failed(file, "can't be written");
		close(fd);
	}
	return 0;
}

static int make_tasks(void)
{
	FILE *f = fopen("tasks.jsonl", "we");

	for (int i = 0; f && i < RUNS; i++)
		fprintf(f, "{\"prompt\":\"task %d\"}\n", i);
	return !f || fclose(f) != 0 ? bench_failed("tasks.jsonl", "can't be written") : 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * Of all guests and keepers, the memory that they share with nobody. Only root may look; -1 for
 * others.
 */
static double private_mib(void)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	double kib = 0;

	while (d && (e = readdir(d))) {
		char path[300];
		char line[256];
		char comm[32] = "";
		long n;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (f && !fgets(comm, sizeof(comm), f))
			comm[0] = '\0';
		if (f)
			fclose(f);
		if (strncmp(comm, "cove-guest", 10) != 0 && strncmp(comm, "cove-keeper", 11) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", e->d_name);
		f = fopen(path, "re");
		if (!f && geteuid() != 0) {
			closedir(d);
			return -1;
		}
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "Private_Clean: %ld", &n) == 1 ||
			    sscanf(line, "Private_Dirty: %ld", &n) == 1)
				kib += (double)n;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return kib / 1024;
}

static int allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

static int many(void)
{
	struct cove_env **envs = calloc(MANY, sizeof(struct cove_env *));
	double began;
	double mib;
	int rc = envs ? allow_descriptors() : -1;

	for (int i = 0; rc == 0 && i < MANY; i++) {
		envs[i] = open_sandbox(NULL);
		rc = envs[i] ? run_true(envs[i]) : -1;
	}
	mib = rc == 0 ? private_mib() : -1;
	if (mib >= 0)
		bench_value("sandbox.1000-alive-each", mib / MANY, "MiB", 1.5);
	else
		fprintf(stderr, "bench: sandbox.1000-alive-each: only root may look into guests\n");
	began = seconds();
	for (int i = 0; envs && i < MANY; i++)
		cove_env_close(envs[i], COVE_OUTCOME_SUCCESS, NULL);
	if (rc == 0)
		bench_value("sandbox.1000-closed", seconds() - began, "s", 5);
	free(envs);
	return rc == 0 ? 0 : bench_failed("1000 sandboxes at once", "one could not be had");
}

static int pairs(struct state *s)
{
	const struct bench_side bwrap = {"bwrap --ro-bind / / --unshare-all true", by_bwrap};
	const struct bench_pair list[] = {
		{.name = "sandbox.life",
		 .ours = {"open with an overlay, true, close", small_seed},
		 .base = bwrap,
		 .bar = 0.70,
		 .aim = 0.60},
		{.name = "sandbox.cove-exec",
		 .ours = {"cove exec --env sandbox -- true", by_cove},
		 .base = bwrap,
		 .bar = 0.90,
		 .aim = 0.75},
		{.name = "sandbox.seed-20000",
		 .ours = {"the same with 20,000 files", large_seed},
		 .base = {"with 10 files", small_seed},
		 .bar = 1.25,
		 .aim = 1.05},
		{.name = "sandbox.exec",
		 .ours = {"true in a live sandbox", in_live},
		 .base = {"true in here", in_here},
		 .block = 5,
		 .bar = 1.10},
		{.name = "sandbox.job",
		 .ours = {"cove run -j 4 --env sandbox -- true", job},
		 .base = {"1000 x posix_spawn, waitpid", spawn_loop},
		 .most = 3,
		 .rate = true,
		 .bar = 0.25,
		 .aim = 0.40},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct bench_pair pair = list[i];

		pair.user = s;
		if (bench_pairs(&pair) != 0)
			return -1;
	}
	return 0;
}

int main(void)
{
	struct state s = {.live = NULL};
	char *cwd = getcwd(NULL, 0);
	int rc = cwd ? setenv("XDG_STATE_HOME", cwd, 1) : -1;

	free(cwd);
	snprintf(s.cove, sizeof(s.cove), "%s", bench_built("cove"));
	if (rc == 0)
		rc = make_seed(s.small, "small", 10);
	if (rc == 0)
		rc = make_seed(s.large, "large", 20000);
	if (rc == 0)
		rc = make_tasks();
	s.here = rc == 0 ? bench_env_here() : NULL;
	s.live = s.here ? open_sandbox(s.small) : NULL;
	rc = s.live && run_true(s.live) == 0 ? pairs(&s) : -1;
	cove_env_close(s.live, COVE_OUTCOME_SUCCESS, NULL);
	bench_env_close(s.here);
	return rc != 0 || many() != 0;
}
