/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with too little: descriptors and processes are limited from a few upwards until all works.
 *
 * Below that every call gives a typed error, in time; nothing crashes, and nothing is left behind
 * (ERR-5, PROC-2). Each attempt is a process of its own, the host; this one is the subreaper that
 * sees what it leaves.
 */
#define PROVIDERS 1
#include "conformance/fixture.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define NOBODY 65534

/* With so many limits in a row all must work before the limit counts as high enough. */
#define ENOUGH 3

/* How long one attempt may take, and what is left of it to vanish, ms. */
#define ATTEMPT_MS 30000
#define VANISH_MS 3000

/* What an attempt says by its exit status. */
enum {
	ALL_WORKED = 0,
	SOME_FAILED = 10,
	WRONG = 11
};

static int failures;

static _Noreturn void wrong(const char *what)
{
	fprintf(stderr, "%s: %s: '%s' (errno %d)\n", what, cove_code_name(err.code), err.message,
		err.sys_errno);
	_exit(WRONG);
}

static bool is_scarcity(int errnum)
{
	return errnum == EMFILE || errnum == EAGAIN || errnum == ENFILE;
}

/* An error says what it is, and which errors too little of something may cause is known. */
static void note(const char *what, int rc)
{
	if (rc >= 0)
		return;
	failures++;
	if (getenv("COVE_TORTURE_TALKS"))
		fprintf(stderr, "%s: %s: %s\n", what, cove_code_name(rc), err.message);
	if (rc != err.code || !err.message[0])
		wrong(what);
	/* A guest that could not even greet. */
	if (rc == COVE_E_PROTOCOL_ERROR && strstr(err.message, "no guest answers"))
		return;
	if (rc != COVE_E_SPAWN_FAILED && rc != COVE_E_UNAVAILABLE && rc != COVE_E_OUTCOME_UNKNOWN &&
	    !is_scarcity(err.sys_errno))
		wrong(what);
}

static void forget_error(void)
{
	err = (struct cove_error)COVE_ERROR_INIT;
}

/* The command has the limit too, and may fail by it. */
static void run_one(const char *what, const struct cove_exec_opts *opts)
{
	struct cove_exec_result *r = NULL;
	int rc;

	forget_error();
	rc = cove_exec(env, opts, &r, &err);
	note(what, rc);
	if (rc == 0 && (r->exit.phase != COVE_PHASE_EXITED || r->exit.code != 0))
		failures++;
	else if (rc == 0 && strncmp(r->out.text, "hello", 5) != 0)
		wrong(what);
	cove_exec_result_free(r);
}

/* A script that needs a descriptor of its own. */
static void run_large(void)
{
	static char script[300000];
	size_t len = (size_t)snprintf(script, sizeof(script), "echo hello #");

	memset(script + len, 'x', sizeof(script) - len - 1);
	run_one("large script", COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = 1000));
}

static void run_many(const char *const *argv)
{
	struct cove_call *calls[4] = {0};

	for (int i = 0; i < 4; i++) {
		forget_error();
		note("submit",
		     cove_submit(env, "process.exec",
				 COVE_OPTS(cove_exec_opts, .argv = argv, .timeout_ms = 1000), NULL,
				 &calls[i], &err));
	}
	for (int i = 0; i < 4; i++) {
		forget_error();
		if (calls[i])
			note("one of many", cove_call_take(calls[i], NULL, &err));
	}
}

static void kill_started(const char *process)
{
	struct cove_process_wait_result *w = NULL;
	int rc = cove_process_kill(
		env, COVE_OPTS(cove_process_kill_opts, .process = process, .grace_ms = 100), &w,
		&err);

	note("kill", rc);
	if (rc == 0 && w->exit.tree != COVE_TREE_CLEAN)
		wrong("kill left something");
	cove_process_wait_result_free(w);
}

static void start_and_kill(void)
{
	const char *argv[] = {"sleep", mark(), NULL};
	struct cove_process_start_result *p = NULL;
	int rc;

	forget_error();
	rc = cove_process_start(
		env, COVE_OPTS(cove_exec_opts, .argv = argv, .keep_stdin_open = true), &p, &err);
	note("start", rc);
	if (rc == 0)
		kill_started(p->process);
	cove_process_start_result_free(p);
}

static void use_environment(void)
{
	static const char *const argv[] = {"echo", "hello", NULL};
	static const char script[] = "echo hello; echo there | cat";

	run_one("program", COVE_OPTS(cove_exec_opts, .argv = argv, .timeout_ms = 1000));
	run_one("script", COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = 1000));
	run_large();
	start_and_kill();
	run_many(argv);
	forget_error();
	if (cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) < 0)
		wrong("close");
}

/* Without a descriptor of its own, since there may be none. */
static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The host's life, to its end. */
static _Noreturn void attempt(int resource, rlim_t limit)
{
	struct rlimit rl = {limit, limit};
	int before;
	int rc;

	syscall(SYS_close_range, 3, ~0U, 0);
	if (resource == RLIMIT_NPROC && geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		wrong("no other user");
	if (setrlimit((__rlimit_resource_t)resource, &rl) < 0)
		wrong("setrlimit");
	before = open_descriptors();
	forget_error();
	rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here", .dir = test_dir), &env,
			   &err);
	note("open", rc);
	if (rc == 0)
		use_environment();
	if (open_descriptors() != before)
		wrong("a descriptor is left");
	_exit(failures ? SOME_FAILED : ALL_WORKED);
}

static int wait_in_time(pid_t pid, int64_t within_ms, int *ret_status)
{
	int64_t until = now_ms() + within_ms;
	pid_t got;

	while ((got = waitpid(pid, ret_status, WNOHANG | __WALL)) == 0 && now_ms() < until)
		poll(NULL, 0, 2);
	return got;
}

/* Orphans come to this process: when it has no child any more, nothing of the attempt is left. */
static void assert_nothing_left(int limit)
{
	int status;
	int got;

	while ((got = wait_in_time(-1, VANISH_MS, &status)) > 0)
		;
	ck_assert_msg(got < 0, "limit %d: something lives on", limit);
	ck_assert_int_eq(count_processes(mark()), 0);
}

static bool all_works_with(int resource, int limit)
{
	int64_t began = now_ms();
	pid_t pid = fork();
	int status = 0;
	int got;

	if (pid == 0)
		attempt(resource, (rlim_t)limit);
	got = wait_in_time(pid, ATTEMPT_MS, &status);
	if (got == 0)
		kill(pid, SIGKILL);
	ck_assert_msg(got == pid, "limit %d: hangs", limit);
	ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == ALL_WORKED ||
					    WEXITSTATUS(status) == SOME_FAILED),
		      "limit %d: wait status %#x", limit, status);
	assert_nothing_left(limit);
	if (getenv("COVE_TORTURE_TALKS"))
		fprintf(stderr, "limit %d: status %d after %d ms\n", limit, WEXITSTATUS(status),
			(int)(now_ms() - began));
	return WEXITSTATUS(status) == ALL_WORKED;
}

/* From `from` upwards until all works; that it comes to this is part of the test. */
static void torture(int resource, const char *name, int from, int to)
{
	int good = 0;
	int limit = from;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	mark();
	setup_dir();
	ck_assert_int_eq(chmod(test_dir, 0777), 0);
	for (; limit <= to && good < ENOUGH; limit++)
		good = all_works_with(resource, limit) ? good + 1 : 0;
	ck_assert_msg(good == ENOUGH, "not even %d %s are enough", to, name);
	printf("%s: all works from %d on\n", name, limit - ENOUGH);
	teardown_dir();
}

START_TEST(err_5_few_descriptors)
{
	torture(RLIMIT_NOFILE, "descriptors", 3, 200);
}
END_TEST

/* How many this user has now: they count too, whoever started them. */
static int processes_of(uid_t uid)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	struct stat st;
	int n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		     fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_uid == uid;
	closedir(d);
	return n;
}

/* Whether the other user may run what this one built. */
static bool guest_is_for_all(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(1);
		_exit(access(getenv("COVE_GUEST"), X_OK) != 0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

START_TEST(err_5_few_processes)
{
	int now = processes_of(geteuid() ? geteuid() : NOBODY);

	if (!guest_is_for_all()) {
		printf("processes are not limited: another user can't run the guest\n");
		return;
	}
	torture(RLIMIT_NPROC, "processes", now > 0 ? now : 1, now + 200);
}
END_TEST

/* The library looks beside the program, which is not where the guest is. */
static void find_guest(void)
{
	const char *build = getenv("COVE_BUILD");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cove-guest", build ? build : ".");
	setenv("COVE_GUEST", path, 0);
}

int main(void)
{
	Suite *s = suite_create("torture");
	TCase *tc = tcase_create("torture");
	SRunner *sr;
	int failed;

	find_guest();
	tcase_set_timeout(tc, 150);
	tcase_add_test(tc, err_5_few_descriptors);
	tcase_add_test(tc, err_5_few_processes);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
