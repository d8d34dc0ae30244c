/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a job: whole lines or none, one owner, and an output that appears at once. */
#include "jobs/ledger.h"

#include "base/fd.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FILL 9000

static char dir[64];
static char output[80];
static char partial[96];
static char failures[96];

static void setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.40s/ledger.XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(output, sizeof(output), "%s/out.jsonl", dir);
	snprintf(partial, sizeof(partial), "%s.partial", output);
	snprintf(failures, sizeof(failures), "%s.failures", output);
}

/* Nothing but these files may be left: no temporary one. */
static void teardown(void)
{
	unlink(output);
	unlink(partial);
	unlink(failures);
	ck_assert_int_eq(rmdir(dir), 0);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void save(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void holds(const char *path, const char *text)
{
	char *data = NULL;

	ck_assert_int_eq(cv_read_file(AT_FDCWD, path, 1 << 20, &data, NULL), 0);
	ck_assert_str_eq(data, text);
	free(data);
}

static struct cv_ledger *open_ledger(bool overwrite)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_ledger *l = NULL;

	ck_assert_msg(cv_ledger_open(output, NULL, overwrite, &l, &err) == 0, "%s", err.message);
	return l;
}

static void conflict(bool overwrite, const char *why)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_ledger *l = NULL;

	ck_assert_int_eq(cv_ledger_open(output, NULL, overwrite, &l, &err), COVE_E_CONFLICT);
	ck_assert_ptr_null(l);
	ck_assert_msg(strstr(err.message, why) != NULL, "'%s' does not say '%s'", err.message, why);
}

static void trace(struct cv_ledger *l, int record, const char *json)
{
	struct cove_error err = COVE_ERROR_INIT;

	ck_assert_msg(cv_ledger_trace(l, record, json, strlen(json), &err) == 0, "%s", err.message);
}

START_TEST(job_3_output_is_in_input_order)
{
	struct cv_ledger *l = open_ledger(false);

	trace(l, 3, "{\"c\":3}");
	trace(l, 1, "{\"a\":1}");
	trace(l, 2, "{\"b\":2}");
	ck_assert(!exists(output));
	holds(partial, "{\"record\":3,\"trace\":{\"c\":3}}\n{\"record\":1,\"trace\":{\"a\":1}}\n"
		       "{\"record\":2,\"trace\":{\"b\":2}}\n");
	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	holds(output, "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
	ck_assert(!exists(partial));
	ck_assert(!exists(failures));
}
END_TEST

START_TEST(job_3_nothing_to_publish_is_an_empty_output)
{
	struct cv_ledger *l = open_ledger(false);

	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	holds(output, "");
}
END_TEST

START_TEST(job_3_existing_output_is_a_conflict)
{
	save(output, "old\n");
	conflict(false, "exists");
	ck_assert(!exists(partial));
	holds(output, "old\n");
}
END_TEST

START_TEST(job_3_existing_partial_is_a_conflict)
{
	save(partial, "old\n");
	conflict(false, "exists");
	holds(partial, "old\n");
}
END_TEST

START_TEST(job_3_partial_of_another_is_in_use)
{
	struct cv_ledger *l = open_ledger(false);

	trace(l, 1, "{}");
	conflict(false, "in use");
	conflict(true, "in use");
	holds(partial, "{\"record\":1,\"trace\":{}}\n");
	cv_ledger_free(l);
	conflict(false, "exists");
}
END_TEST

START_TEST(job_3_overwrite_keeps_the_old_until_the_new_is_complete)
{
	struct cv_ledger *l;

	save(output, "old\n");
	save(partial, "rest\n");
	save(failures, "old failures\n");
	l = open_ledger(true);
	trace(l, 1, "{}");
	holds(output, "old\n");
	holds(failures, "old failures\n");
	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	holds(output, "{}\n");
	ck_assert(!exists(failures));
	ck_assert(!exists(partial));
}
END_TEST

START_TEST(job_3_an_output_that_appears_meanwhile_is_kept)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_ledger *l = open_ledger(false);

	trace(l, 1, "{}");
	save(output, "other\n");
	ck_assert_int_eq(cv_ledger_publish(l, &err), COVE_E_CONFLICT);
	cv_ledger_free(l);
	holds(output, "other\n");
	holds(partial, "{\"record\":1,\"trace\":{}}\n");
}
END_TEST

START_TEST(job_3_what_output_may_not_be)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_ledger *l = NULL;
	char below[128];

	ck_assert_int_eq(cv_ledger_open(dir, NULL, true, &l, &err), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(cv_ledger_open("/dev/null", NULL, true, &l, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cv_ledger_open("", NULL, true, &l, &err), COVE_E_INVALID_ARGUMENT);
	save(output, "tasks\n");
	ck_assert_int_eq(cv_ledger_open(output, output, true, &l, &err), COVE_E_INVALID_ARGUMENT);
	holds(output, "tasks\n");
	snprintf(below, sizeof(below), "%s/x", output);
	ck_assert_int_eq(cv_ledger_open(below, NULL, true, &l, &err), COVE_E_NOT_DIRECTORY);
	snprintf(below, sizeof(below), "%s/none/x", dir);
	ck_assert_int_eq(cv_ledger_open(below, NULL, true, &l, &err), COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.path, below);
}
END_TEST

START_TEST(job_3_a_link_is_followed_for_output_and_never_for_partial)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_ledger *l = NULL;
	char real[96];
	struct stat st;

	snprintf(real, sizeof(real), "%s/real", dir);
	save(real, "old\n");
	ck_assert_int_eq(symlink("real", output), 0);
	l = open_ledger(true);
	trace(l, 1, "{}");
	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	ck_assert_int_eq(lstat(output, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	holds(real, "{}\n");
	unlink(output);
	ck_assert_int_eq(symlink("real", partial), 0);
	l = NULL;
	ck_assert_int_lt(cv_ledger_open(output, NULL, true, &l, &err), 0);
	ck_assert_ptr_null(l);
	holds(real, "{}\n");
	unlink(real);
}
END_TEST

START_TEST(job_4_failures_are_there_as_they_happen)
{
	struct cv_ledger *l;

	save(failures, "old\n");
	conflict(false, "already exists");
	holds(failures, "old\n");
	l = open_ledger(true);
	ck_assert_int_eq(cv_ledger_failure(l, "{\"line\":2}", 10, NULL), 0);
	holds(failures, "{\"line\":2}\n");
	ck_assert_int_eq(cv_ledger_failure(l, "{\"line\":1}", 10, NULL), 0);
	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	holds(failures, "{\"line\":2}\n{\"line\":1}\n");
}
END_TEST

static void ignore(int sig)
{
	(void)sig;
}

/*
 * CASE-66, CASE-69: whatever limit cuts a write short, only whole lines are there, also after there
 * is room again.
 */
START_TEST(case_66_a_cut_line_is_taken_back)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};
	struct cv_ledger *l = open_ledger(false);
	struct stat before;
	struct stat after;

	signal(SIGXFSZ, ignore);
	trace(l, 1, "{\"a\":1}");
	ck_assert_int_eq(stat(partial, &before), 0);
	for (int extra = 0; extra < 30; extra++) {
		limit.rlim_cur = (rlim_t)(before.st_size + extra);
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		ck_assert_int_lt(cv_ledger_trace(l, 2, "{\"b\":\"0123456789\"}", 18, &err), 0);
		ck_assert_int_eq(err.sys_errno, EFBIG);
		ck_assert_int_eq(stat(partial, &after), 0);
		ck_assert_int_eq(after.st_size, before.st_size);
	}
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	trace(l, 2, "{\"b\":2}");
	ck_assert_int_eq(cv_ledger_publish(l, NULL), 0);
	cv_ledger_free(l);
	holds(output, "{\"a\":1}\n{\"b\":2}\n");
}
END_TEST

START_TEST(case_69_a_short_output_is_never_published)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct rlimit limit = {.rlim_cur = 9, .rlim_max = RLIM_INFINITY};
	struct cv_ledger *l = open_ledger(false);

	signal(SIGXFSZ, ignore);
	trace(l, 1, "{\"a\":1}");
	trace(l, 2, "{\"b\":2}");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_lt(cv_ledger_publish(l, &err), 0);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cv_ledger_free(l);
	ck_assert(!exists(output));
	ck_assert(exists(partial));
}
END_TEST

static void append_lines(int writer)
{
	struct cv_lines l = {.fd = open(output, O_WRONLY | O_APPEND | O_CLOEXEC)};
	char line[FILL];

	memset(line, 'a' + writer, sizeof(line));
	for (int i = 0; i < 200; i++)
		if (cv_lines_append(&l, (struct iovec[]){{line, sizeof(line)}, {(void *)"\n", 1}},
				    2, NULL) < 0)
			_exit(1);
	_exit(0);
}

/*
 * CASE-71: even without the lock, appenders don't break each other's lines, because a line is one
 * write.
 */
START_TEST(case_71_appenders_do_not_interleave)
{
	FILE *f;
	char line[FILL + 2];
	int count = 0;

	save(output, "");
	for (int i = 0; i < 8; i++)
		if (fork() == 0)
			append_lines(i);
	for (int i = 0; i < 8; i++) {
		int status = -1;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	f = fopen(output, "re");
	ck_assert_ptr_nonnull(f);
	for (; fgets(line, sizeof(line), f); count++) {
		ck_assert_uint_eq(strlen(line), FILL + 1);
		ck_assert_uint_eq(strspn(line, (char[]){line[0], '\0'}), FILL);
	}
	fclose(f);
	ck_assert_int_eq(count, 8 * 200);
}
END_TEST

/* JOB-3: of several jobs that begin at the same moment, one has the partial. */
START_TEST(job_3_one_of_many_wins)
{
	int go[2];
	int won = 0;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			struct cv_ledger *l = NULL;
			char c;
			int rc;

			close(go[1]);
			if (read(go[0], &c, 1) < 0)
				_exit(2);
			rc = cv_ledger_open(output, NULL, true, &l, NULL);
			usleep(300000);
			_exit(rc == 0 ? 0 : rc == COVE_E_CONFLICT ? 1 : 2);
		}
	close(go[1]);
	for (int i = 0; i < 8; i++) {
		int status = -1;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		won += WEXITSTATUS(status) == 0;
	}
	close(go[0]);
	ck_assert_int_eq(won, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ledger");
	TCase *tc = tcase_create("ledger");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, job_3_output_is_in_input_order);
	tcase_add_test(tc, job_3_nothing_to_publish_is_an_empty_output);
	tcase_add_test(tc, job_3_existing_output_is_a_conflict);
	tcase_add_test(tc, job_3_existing_partial_is_a_conflict);
	tcase_add_test(tc, job_3_partial_of_another_is_in_use);
	tcase_add_test(tc, job_3_overwrite_keeps_the_old_until_the_new_is_complete);
	tcase_add_test(tc, job_3_an_output_that_appears_meanwhile_is_kept);
	tcase_add_test(tc, job_3_what_output_may_not_be);
	tcase_add_test(tc, job_3_a_link_is_followed_for_output_and_never_for_partial);
	tcase_add_test(tc, job_3_one_of_many_wins);
	tcase_add_test(tc, job_4_failures_are_there_as_they_happen);
	tcase_add_test(tc, case_66_a_cut_line_is_taken_back);
	tcase_add_test(tc, case_69_a_short_output_is_never_published);
	tcase_add_test(tc, case_71_appenders_do_not_interleave);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
