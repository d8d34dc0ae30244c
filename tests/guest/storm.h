/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hard weather for the process part, as functions with a size: tests/guest runs them short,
 * tests/soak long.
 *
 * Each runs in a process of its own with an environment in a directory of its own (`here`, or what
 * STORM_IN says), marks every process that it starts by an argument that nobody else has, and leaves
 * none of them.
 */
#ifndef GUEST_STORM_H
#define GUEST_STORM_H

#define PROVIDERS 1
#include "conformance/fixture.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

/* In which of the fixture's providers. */
#ifndef STORM_IN
#define STORM_IN 0
#endif

/* How long the processes of a guest or host that was killed may live on, ms. */
#define VANISH_MS 2000

#define PIDS_MAX 2048

/* What /proc/PID/stat says of a process. */
struct process_stat {
	char comm[32];
	char state;
	pid_t parent;
	unsigned long ticks; /* of processor time, user and system */
};

/* A random number below n; the same ones again with COVE_SEED. */
static UNUSED unsigned below(unsigned n)
{
	static uint64_t state;

	if (!state) {
		const char *given = getenv("COVE_SEED");

		state = given ? strtoull(given, NULL, 10) : (uint64_t)getpid() * 1000003u;
		printf("seed: %llu\n", (unsigned long long)state);
	}
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % n;
}

static UNUSED void sleep_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* A file of /proc as text; "" where it can't be read. */
static UNUSED void read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

static UNUSED bool read_stat(pid_t pid, struct process_stat *ret)
{
	char text[1024];
	const char *open_bracket;
	const char *close_bracket;
	unsigned long user = 0;
	unsigned long system = 0;
	int parent = 0;

	read_proc(pid, "stat", text, sizeof(text));
	open_bracket = strchr(text, '(');
	close_bracket = strrchr(text, ')');
	if (!open_bracket || !close_bracket)
		return false;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(close_bracket - open_bracket - 1),
		 open_bracket + 1);
	if (sscanf(close_bracket + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &ret->state, &parent, &user, &system) != 4)
		return false;
	ret->parent = parent;
	ret->ticks = user + system;
	return true;
}

/* The children of a process that have this name (NULL: any); how many. */
static UNUSED int children_of(pid_t parent, const char *comm, pid_t pids[PIDS_MAX])
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while ((e = readdir(d)) && n < PIDS_MAX) {
		pid_t pid = (pid_t)atoi(e->d_name);
		struct process_stat st;

		if (pid > 0 && read_stat(pid, &st) && st.parent == parent &&
		    (!comm || strcmp(st.comm, comm) == 0))
			pids[n++] = pid;
	}
	closedir(d);
	return n;
}

/* Only the release build's static guest is judged by its memory. */
static UNUSED bool guest_is_static(void)
{
	const char *path = getenv("COVE_GUEST");

	if (path && strstr(path, "/build/"))
		return true;
	printf("memory is not judged: COVE_GUEST names no release guest\n");
	return false;
}

/* Processes with the mark may still be seen for so long; 0: no more. */
static UNUSED void assert_vanished(const char *text, int64_t within_ms)
{
	int64_t until = now_ms() + within_ms;
	int left;

	while ((left = count_processes(text)) > 0 && now_ms() < until)
		sleep_ms(5);
	ck_assert_msg(left == 0, "%d processes are alive after %d ms", left, (int)within_ms);
}

static UNUSED void assert_usable(void)
{
	struct cove_exec_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .script = "echo usable", .timeout_ms = 20000),
		       &r, &err);
	ck_assert_msg(rc == 0, "afterwards: %s: %s", cove_code_name(rc), err.message);
	ck_assert_str_eq(r->out.text, "usable\n");
	cove_exec_result_free(r);
}

/* Nothing that has a handle is running. */
static UNUSED void assert_all_clean(void)
{
	struct cove_process_list_result *list = NULL;

	ck_assert_int_eq(cove_process_list(env, &list, &err), 0);
	for (size_t i = 0; i < list->process_count; i++)
		ck_assert_msg(list->processes[i].exit.tree == COVE_TREE_CLEAN, "%s is not clean",
			      list->processes[i].process);
	cove_result_free(list);
}

static UNUSED void release_all(void)
{
	struct cove_process_list_result *list = NULL;

	ck_assert_int_eq(cove_process_list(env, &list, &err), 0);
	for (size_t i = 0; i < list->process_count; i++)
		ck_assert_int_eq(
			cove_process_release(env,
					     COVE_OPTS(cove_process_ref,
						       .process = list->processes[i].process),
					     &err),
			0);
	cove_result_free(list);
}

/* A script whose tree has every shape that is hard to end, all of it marked. */
static UNUSED const char *tree_script(void)
{
	static char script[512];

	snprintf(script, sizeof(script),
		 "sleep %s & setsid sleep %s & (setsid sh -c 'sleep %s & sleep %s' &) ; "
		 "(trap '' TERM; sleep %s & :) ; exec sleep %s",
		 mark(), mark(), mark(), mark(), mark(), mark());
	return script;
}

#include "guest/storm_commands.h"
#include "guest/storm_deaths.h"
#include "guest/storm_weight.h"

/* One suite of these; each test is bounded by the seconds given. */
static UNUSED int run_storm(const char *name, const TTest *const *tests, size_t count, int seconds)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, seconds);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}

#endif
