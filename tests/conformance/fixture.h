/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the conformance tests (PROV-7): each test runs once per provider (_i), in a process of its own, and leaves no
 * descriptor, child or directory behind.
 */
#ifndef CONFORMANCE_FIXTURE_H
#define CONFORMANCE_FIXTURE_H

#include <cove/cove.h>

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static const char *const providers[] = {"here", "workspace", "sandbox"};
#ifndef PROVIDERS
#define PROVIDERS ((int)(sizeof(providers) / sizeof(providers[0])))
#endif

/* What the current test works with. */
static struct cove_env *env UNUSED;
static struct cove_error err UNUSED;
static char
	test_dir[PATH_MAX] UNUSED; /* private, empty; where `here` is, and the root of workspaces */
static int fds_before UNUSED;

static UNUSED int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static UNUSED int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How many processes have this text in their arguments; this one and its own are never meant. */
static UNUSED int count_processes(const char *mark)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while ((e = readdir(d))) {
		char path[300];
		char args[4096];
		int fd;
		ssize_t len;

		if (e->d_name[0] < '1' || e->d_name[0] > '9' || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		fd = open(path, O_RDONLY);
		len = fd < 0 ? 0 : read(fd, args, sizeof(args));
		if (fd >= 0)
			close(fd);
		if (len > 0 && memmem(args, (size_t)len, mark, strlen(mark)))
			n++;
	}
	closedir(d);
	return n;
}

/*
 * A text that no other process has: marks the sleeps of one test. Works as an argument of sleep(1).
 */
static UNUSED const char *mark(void)
{
	static char text[32];

	if (!text[0])
		snprintf(text, sizeof(text), "300.%d%03d", getpid(), (int)(now_ms() % 1000));
	return text;
}

/* Whether commands see a world of their own. */
static UNUSED bool is_confined(int provider)
{
	return strcmp(providers[provider], "sandbox") == 0;
}

/* The guest, as the only child of this process; from inside it may be out of reach. */
static UNUSED pid_t guest_pid(void)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	ck_assert_int_gt(pid, 0);
	return pid;
}

static UNUSED void assert_gone(const char *text)
{
	/*
	 * Their end is confirmed before a call returns; only the reaping of zombies by others may
	 * lag.
	 */
	ck_assert_int_eq(count_processes(text), 0);
}

static UNUSED void await_processes(const char *text, int count)
{
	int64_t until = now_ms() + 10000;
	int n;

	while ((n = count_processes(text)) < count && now_ms() < until)
		poll(NULL, 0, 2);
	ck_assert_int_ge(n, count);
}

static UNUSED int options_for(int provider, struct cove_env_opts *opts, char root[PATH_MAX + 8],
			      const char **list)
{
	*opts = (struct cove_env_opts){.size = sizeof(*opts), .provider = providers[provider]};
	if (strcmp(providers[provider], "here") == 0) {
		opts->dir = test_dir;
		return 0;
	}
	snprintf(root, PATH_MAX + 8, "root=%s", test_dir);
	list[0] = root;
	list[1] = NULL;
	opts->options = list;
	return 0;
}

static UNUSED struct cove_env *open_env(int provider)
{
	struct cove_env_opts opts;
	static char root[PATH_MAX + 8];
	static const char *list[2];
	struct cove_env *e = NULL;

	options_for(provider, &opts, root, list);
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_open(&opts, &e, &err) == 0, "open: %s", err.message);
	return e;
}

static UNUSED void make_test_dir(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(test_dir, sizeof(test_dir), "%s/conformance-XXXXXX", base ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(test_dir));
}

static UNUSED void remove_test_dir(void)
{
	char command[PATH_MAX + 32];
	pid_t pid = fork();

	snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'", test_dir, test_dir);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static UNUSED void setup_dir(void)
{
	make_test_dir();
	fds_before = count_fds();
}

static UNUSED void teardown_dir(void)
{
	siginfo_t info;

	ck_assert_int_eq(count_fds(), fds_before);
	ck_assert_msg(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
			      errno == ECHILD,
		      "a child is left");
	remove_test_dir();
}

static UNUSED void begin(int provider)
{
	setup_dir();
	env = open_env(provider);
}

static UNUSED void end(void)
{
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) == 0, "close: %s",
		      err.message);
	teardown_dir();
}

/* Runs a command that must be able to run; the result is the caller's. */
static UNUSED struct cove_exec_result *exec_opts(const struct cove_exec_opts *opts)
{
	struct cove_exec_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_exec(env, opts, &r, &err);
	ck_assert_msg(rc == 0, "exec: %s: %s", cove_code_name(rc), err.message);
	return r;
}

static UNUSED struct cove_exec_result *sh(const char *script)
{
	return exec_opts(COVE_OPTS(cove_exec_opts, .script = script));
}

/* Runs a script and compares its stdout. */
static UNUSED void expect_out(const char *script, const char *want)
{
	struct cove_exec_result *r = sh(script);

	ck_assert_str_eq(r->out.text, want);
	cove_exec_result_free(r);
}

/* Runs what must be refused; gives the code and leaves the error in err. */
static UNUSED int refused(const struct cove_exec_opts *opts)
{
	struct cove_exec_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_exec(env, opts, &r, &err);
	ck_assert_msg(rc < 0, "was not refused");
	ck_assert_ptr_null(r);
	ck_assert_int_eq(rc, err.code);
	return rc;
}

static UNUSED char *start_opts(const struct cove_exec_opts *opts)
{
	struct cove_process_start_result *r = NULL;
	static char handle[32];
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_process_start(env, opts, &r, &err);
	ck_assert_msg(rc == 0, "start: %s: %s", cove_code_name(rc), err.message);
	snprintf(handle, sizeof(handle), "%s", r->process);
	cove_process_start_result_free(r);
	return handle;
}

static UNUSED struct cove_exit wait_for(const char *process, int until, int64_t timeout_ms)
{
	struct cove_process_wait_result *r = NULL;
	struct cove_exit exit;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_process_wait(env,
			       COVE_OPTS(cove_process_wait_opts, .process = process, .until = until,
					 .timeout_ms = timeout_ms),
			       &r, &err);
	ck_assert_msg(rc == 0, "wait: %s: %s", cove_code_name(rc), err.message);
	exit = r->exit;
	exit.signal = NULL; /* borrowed from the result */
	cove_process_wait_result_free(r);
	return exit;
}

/* What is the same whatever the provider, and takes long: run with the first of them only. */
static const TTest **const *once_tests UNUSED;
static size_t once_count UNUSED;

/* A program of one suite whose tests run once per provider. */
static UNUSED int run_suite(const char *name, const TTest **const *tests, size_t count)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 60);
	for (size_t i = 0; i < count; i++)
		tcase_add_loop_test(tc, *tests[i], 0, PROVIDERS);
	for (size_t i = 0; i < once_count; i++)
		tcase_add_loop_test(tc, *once_tests[i], 0, 1);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}

#define MAIN(name)                                                                                 \
	int main(void)                                                                             \
	{                                                                                          \
		return run_suite(name, tests, sizeof(tests) / sizeof(tests[0]));                   \
	}

#endif
