/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every system call on the way of a command fails once, in turn.
 *
 * Whatever fails, the answer comes in time and is either right or an honest error; afterwards the
 * environment works, or says that its guest is gone (ERR-5, PROC-2); the tree is gone and no
 * descriptor is left in the guest.
 */
#define PROVIDERS 1
#include "conformance/fixture.h"

#include "fault/faults.h"

#include <sys/mman.h>

/* No answer takes longer: a failed call is no reason to wait. */
#define ANSWER_MS 12000
#define HANGS_S 20

/* More calls than any of the commands makes. */
#define CALLS_MAX 5000

/* Descriptors and children that a guest may have gained: its idle keepers. */
#define KEEPERS_MAX 10

static struct faults *faults;
static char faults_path[PATH_MAX + 8];
static bool talks;
static int guests; /* how many were needed */

static bool is_guest_gone(int rc)
{
	return rc == COVE_E_UNAVAILABLE || rc == COVE_E_OUTCOME_UNKNOWN;
}

static void arm(enum fault_mode mode, int nth)
{
	memset(faults->what, 0, sizeof(faults->what));
	atomic_store(&faults->fired, 0);
	atomic_store(&faults->left, nth);
	atomic_store(&faults->mode, (int)mode);
}

static bool disarm(void)
{
	atomic_store(&faults->mode, FAULT_NONE);
	return atomic_load(&faults->fired);
}

static void wrong(const char *what)
{
	ck_abort_msg("%s after '%s' failed: %s: '%s'", what, faults->what, cove_code_name(err.code),
		     err.message);
}

/* A result that says success must be right; one that lost output must say so. */
static void check_result(const struct cove_exec_result *r, const char *want)
{
	bool ran = r->exit.phase == COVE_PHASE_EXITED && r->exit.code == 0;

	if (ran && !r->out.truncated && strcmp(r->out.text, want) != 0)
		ck_abort_msg(
			"'%s' failed and the output is '%s', said to be all %lld bytes, with %zu of data",
			faults->what, r->out.text, (long long)r->out.bytes, r->out.data_len);
}

static int run_exec(const struct cove_exec_opts *opts, const char *want)
{
	struct cove_exec_result *r = NULL;
	int rc = cove_exec(env, opts, &r, &err);

	if (rc == 0)
		check_result(r, want);
	cove_exec_result_free(r);
	return rc;
}

static int program(void)
{
	static const char *const argv[] = {"echo", "hello", NULL};

	return run_exec(COVE_OPTS(cove_exec_opts, .argv = argv), "hello\n");
}

static int script_with_stdin(void)
{
	return run_exec(COVE_OPTS(cove_exec_opts, .script = "cat; echo there | cat",
				  .stdin_data = {.data = "hello\n", .len = 6}, .timeout_ms = 10000),
			"hello\nthere\n");
}

static int large_script(void)
{
	static char script[300000];
	size_t len = (size_t)snprintf(script, sizeof(script), "echo hello #");

	memset(script + len, 'x', sizeof(script) - len - 1);
	return run_exec(COVE_OPTS(cove_exec_opts, .script = script), "hello\n");
}

static int many_variables(void)
{
	static char values[3][100000];
	static const char *set[4];

	for (int i = 0; i < 3; i++) {
		int len = snprintf(values[i], sizeof(values[i]), "V%d=", i);

		memset(values[i] + len, 'v', sizeof(values[i]) - (size_t)len - 1);
		set[i] = values[i];
	}
	return run_exec(COVE_OPTS(cove_exec_opts, .script = "echo ${#V2}", .env = {.set = set}),
			"99996\n");
}

static int terminal(void)
{
	return run_exec(COVE_OPTS(cove_exec_opts, .script = "echo hello",
				  .tty = &(struct cove_tty){.rows = 24, .cols = 80}),
			"hello\r\n");
}

static int leaves_a_server(void)
{
	char script[100];

	snprintf(script, sizeof(script), "sleep %s & echo hello", mark());
	return run_exec(COVE_OPTS(cove_exec_opts, .script = script), "hello\n");
}

static int start_and_kill(void)
{
	const char *argv[] = {"sleep", mark(), NULL};
	struct cove_process_start_result *p = NULL;
	struct cove_process_wait_result *w = NULL;
	int rc = cove_process_start(env, COVE_OPTS(cove_exec_opts, .argv = argv), &p, &err);

	if (rc == 0)
		rc = cove_process_kill(env,
				       COVE_OPTS(cove_process_kill_opts, .process = p->process,
						 .grace_ms = 100),
				       &w, &err);
	if (rc == 0 && w->exit.tree != COVE_TREE_CLEAN)
		wrong("kill left something");
	cove_process_start_result_free(p);
	cove_process_wait_result_free(w);
	return rc;
}

/* Commands side by side need keepers that the first one makes. */
static int three_at_once(void)
{
	static const char *const argv[] = {"echo", "hello", NULL};
	struct cove_call *calls[3] = {0};
	int worst = 0;

	for (int i = 0; i < 3; i++)
		if (cove_submit(env, "process.exec", COVE_OPTS(cove_exec_opts, .argv = argv), NULL,
				&calls[i], &err) < 0)
			wrong("submit");
	for (int i = 0; i < 3; i++) {
		void *result = NULL;
		int rc = cove_call_take(calls[i], &result, &err);

		if (rc == 0)
			check_result(result, "hello\n");
		else
			worst = rc;
		cove_result_free(result);
	}
	return worst;
}

static int in_a_session(void)
{
	int rc = run_exec(COVE_OPTS(cove_exec_opts, .script = "V=hello", .session = "s"), "");

	if (rc < 0)
		return rc;
	return run_exec(COVE_OPTS(cove_exec_opts, .script = "echo ${V:-hello}", .session = "s"),
			"hello\n");
}

static int becomes_a_process(void)
{
	char script[100];

	snprintf(script, sizeof(script), "echo hello; sleep %s", mark());
	return run_exec(COVE_OPTS(cove_exec_opts, .script = script, .yield_ms = 20), "hello\n");
}

static int with_an_id(void)
{
	static const char *const argv[] = {"echo", "hello", NULL};
	static int n;
	char id[32];

	snprintf(id, sizeof(id), "id-%d", n++);
	return run_exec(COVE_OPTS(cove_exec_opts, .argv = argv, .id = id), "hello\n");
}

/* What goes on while a call fails; each returns its code. */
static const struct scenario {
	const char *name;
	int (*run)(void);
} scenarios[] = {
	{"a program", program},
	{"a script with stdin", script_with_stdin},
	{"a large script", large_script},
	{"large variables", many_variables},
	{"a terminal", terminal},
	{"a command that leaves a server", leaves_a_server},
	{"start and kill", start_and_kill},
	{"three at once", three_at_once},
	{"a session", in_a_session},
	{"a command that becomes a process", becomes_a_process},
	{"a command with an id", with_an_id},
};

static int guest_fds(void)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", guest_pid());
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void open_again(void)
{
	err = (struct cove_error)COVE_ERROR_INIT;
	if (env)
		cove_env_close(env, COVE_OUTCOME_SUCCESS, &err);
	env = open_env(0);
	guests++;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		if (scenarios[i].run() < 0)
			wrong("without a fault it does not work");
	}
}

/* Nothing fails any more: the environment works, unless its guest has gone and says so. */
static bool still_works(int rc)
{
	int again;

	err = (struct cove_error)COVE_ERROR_INIT;
	again = program();
	if (again < 0 && !is_guest_gone(again))
		wrong("it does not recover");
	if (again < 0 && rc == 0 && talks)
		printf("  the guest ended after a good answer\n");
	return again == 0;
}

/* A call that never returns can only be told of from here. */
static void on_alarm(int sig)
{
	static const char text[] = "no answer after this failed: ";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDERR_FILENO, faults->what, strlen(faults->what)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(3);
	_exit(2);
}

static void check_answer(const char *name, int nth, enum fault_mode mode, int rc, int64_t began)
{
	int64_t took = now_ms() - began;

	if (rc < 0 && (rc != err.code || !err.message[0]))
		wrong("an error without code or message");
	if (rc < 0 && mode == FAULT_INTERRUPTED)
		wrong("an interruption is no failure");
	if (took > ANSWER_MS)
		ck_abort_msg("%s: '%s' failed and the answer took %d ms", name, faults->what,
			     (int)took);
	if (talks)
		printf("%s: %d %s: %s '%s' %d ms\n", name, nth, faults->what, cove_code_name(rc),
		       rc < 0 ? err.message : "", (int)took);
}

/* A kill that failed has killed nothing; a reset must. */
static void end_what_runs(void)
{
	struct cove_env_reset_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_env_reset(env, &r, &err);
	if (rc < 0 && !is_guest_gone(rc))
		wrong("it can't be reset");
	cove_result_free(r);
}

static void await_gone(const char *what)
{
	for (int64_t until = now_ms() + 3000; count_processes(mark()) && now_ms() < until;)
		poll(NULL, 0, 2);
	ck_assert_msg(count_processes(mark()) == 0, "'%s' failed and the tree lives on", what);
}

static void fail_each(const struct scenario *s, enum fault_mode mode)
{
	int nth = 1;
	int before = guest_fds();

	for (; nth < CALLS_MAX; nth++) {
		int64_t began = now_ms();
		int rc;

		err = (struct cove_error)COVE_ERROR_INIT;
		alarm(HANGS_S);
		arm(mode, nth);
		rc = s->run();
		if (!disarm())
			break;
		check_answer(s->name, nth, mode, rc, began);
		end_what_runs();
		await_gone(faults->what);
		if (!still_works(rc)) {
			open_again();
			before = guest_fds();
		}
		if (guest_fds() > before + KEEPERS_MAX)
			ck_abort_msg("%s: '%s' failed and left descriptors: %d, before %d", s->name,
				     faults->what, guest_fds(), before);
	}
	ck_assert_int_lt(nth, CALLS_MAX);
	printf("%s: %d calls\n", s->name, nth - 1);
}

static void share_faults(void)
{
	int fd;

	snprintf(faults_path, sizeof(faults_path), "%s/faults", test_dir);
	fd = open(faults_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*faults)), 0);
	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(faults, MAP_FAILED);
	close(fd);
	setenv(FAULTS_VARIABLE, faults_path, 1);
}

static void fail_all(enum fault_mode mode)
{
	setup_dir();
	share_faults();
	mark();
	signal(SIGALRM, on_alarm);
	talks = getenv("COVE_TORTURE_TALKS");
	open_again();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		fail_each(&scenarios[i], mode);
	printf("guests: %d\n", guests);
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	env = NULL;
	munmap(faults, sizeof(*faults));
	teardown_dir();
}

START_TEST(proc_2_every_allocation_fails)
{
	fail_all(FAULT_ALLOCATION);
}
END_TEST

START_TEST(proc_2_every_system_call_fails)
{
	fail_all(FAULT_CALL);
}
END_TEST

START_TEST(proc_2_every_wait_is_interrupted)
{
	fail_all(FAULT_INTERRUPTED);
}
END_TEST

int main(void)
{
	const char *build = getenv("COVE_BUILD");
	Suite *s = suite_create("inject");
	TCase *tc = tcase_create("inject");
	char path[PATH_MAX];
	SRunner *sr;
	int failed;

	snprintf(path, sizeof(path), "%s/tests/cove-guest-faulty", build ? build : ".");
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("COVE_GUEST", path, 1);
	tcase_set_timeout(tc, 150);
	tcase_add_test(tc, proc_2_every_allocation_fails);
	tcase_add_test(tc, proc_2_every_system_call_fails);
	tcase_add_test(tc, proc_2_every_wait_is_interrupted);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
