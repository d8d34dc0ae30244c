/* SPDX-License-Identifier: Apache-2.0 */
/* Hard weather for sandboxes: deaths at any moment, many threads; nothing is left of any of it. */
#define STORM_IN 2
#include "guest/storm.h"
#include "sandbox/host.h"

#include <pthread.h>

START_TEST(proc_19_commands_at_once)
{
	storm_of_commands(40, 1);
}
END_TEST

START_TEST(proc_19_a_keeper_dies)
{
	death_of_the_owner();
	storm_of_keeper_deaths(8);
}
END_TEST

START_TEST(prov_9_the_guest_dies) /* SBX-6 */
{
	storm_of_guest_deaths(8);
}
END_TEST

START_TEST(proc_8_the_host_dies) /* SBX-6 */
{
	storm_of_host_deaths(8);
}
END_TEST

#define THREADS 8
#define ROUNDS 10

/* What failed, or NULL. */
static const char *open_and_close(const char *seed)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct cove_error e = COVE_ERROR_INIT;
		struct cove_exec_result *r = NULL;
		struct cove_env *mine = NULL;
		char root[PATH_MAX + 8];
		const char *options[] = {root, NULL};
		bool good;

		snprintf(root, sizeof(root), "root=%s/root", test_dir);
		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = seed,
					    .retain = COVE_RETAIN_NEVER, .options = options),
				  &mine, &e) < 0)
			return "open";
		if (cove_exec(mine,
			      COVE_OPTS(cove_exec_opts, .script = "cat file; echo mine > file"), &r,
			      &e) < 0)
			return "exec";
		good = strcmp(r->out.text, "seen\n") == 0 && r->exit.code == 0;
		cove_exec_result_free(r);
		if (cove_env_close(mine, COVE_OUTCOME_SUCCESS, &e) < 0)
			return "close";
		if (!good)
			return "output";
	}
	return NULL;
}

static void *thread_main(void *seed)
{
	return (void *)open_and_close(seed);
}

/* The clone is vfork-like: a thread that opens one stops no other, and gives it nothing of its own. */
START_TEST(sbx_1_from_many_threads)
{
	pthread_t threads[THREADS];
	char seed[PATH_MAX + 8];

	setup_dir();
	snprintf(seed, sizeof(seed), "%s/seed", test_dir);
	ck_assert_int_eq(host("mkdir '%s' && echo seen > '%s/file'", seed, seed), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_main, seed), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_msg(!failed, "thread %d: %s", i, (const char *)failed);
	}
	ck_assert_int_eq(
		host("grep -qx seen '%s/file' && [ -z \"$(ls -A '%s/root' 2>&1 | grep -v 'No such')\" ]",
		     seed, test_dir),
		0);
	teardown_dir();
}
END_TEST

/* Makes an empty group beside those that a sandbox of this process would get. */
static void old_group(char *path, size_t size)
{
	char line[PATH_MAX];
	FILE *f = popen(
		"sed -n 's/^[0-9]*:memory:/\\/sys\\/fs\\/cgroup\\/memory/p' /proc/self/cgroup",
		"r");

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	pclose(f);
	snprintf(path, size, "%.*s/cove-left", (int)strcspn(line, "\n"), line);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* A host that is killed can't remove its control group; the next one that makes a group does. */
START_TEST(sbx_5_groups_of_the_dead_are_swept)
{
	char old[PATH_MAX];
	struct cove_sandbox_policy policy = {.size = sizeof(policy),
					     .limits.memory_bytes = INT64_C(1) << 28};
	struct timespec ago[2] = {{.tv_sec = time(NULL) - 120}, {.tv_sec = time(NULL) - 120}};

	old_group(old, sizeof(old));
	setup_dir();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(i == 0 ? 0 : utimensat(AT_FDCWD, old, ago, 0), 0);
		ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox",
							 .policy = &policy),
					       &env, &err),
				 0);
		assert_usable();
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
		ck_assert_int_eq(access(old, F_OK), i == 0 ? 0 : -1);
	}
	teardown_dir();
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		proc_19_commands_at_once, proc_19_a_keeper_dies,
		prov_9_the_guest_dies,	  proc_8_the_host_dies,
		sbx_1_from_many_threads,  sbx_5_groups_of_the_dead_are_swept,
	};

	/* The last is for root, who alone can make groups everywhere. */
	return run_storm("sandbox/weather", tests,
			 sizeof(tests) / sizeof(tests[0]) - (geteuid() != 0), 60);
}
