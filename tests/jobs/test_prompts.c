/* SPDX-License-Identifier: Apache-2.0 */
/* Task files: what is a record, what is refused and where, and how far ahead is read. */
#include "jobs/prompts.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static char dir[64];
static char path[128];

static void setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.40s/prompts.XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/tasks.jsonl", dir);
}

static void teardown(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void save(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static void save_text(const char *text)
{
	save(text, strlen(text));
}

static int open_all(struct cv_prompts **p, struct cove_error *err)
{
	return cv_prompts_open(path, &(struct cv_selection){0}, p, err);
}

/* The text is refused, at this line, and the message says so with the file's path. */
static void refused_len(const char *text, size_t len, int line, const char *field, const char *why)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_prompts *p = NULL;
	char where[256];

	save(text, len);
	snprintf(where, sizeof(where), "%s:%d: ", path, line);
	ck_assert_int_eq(open_all(&p, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_null(p);
	ck_assert_msg(strncmp(err.message, where, strlen(where)) == 0, "'%s' is not at %s",
		      err.message, where);
	ck_assert_str_eq(err.field, field);
	ck_assert_msg(strstr(err.message, why) != NULL, "'%s' does not say '%s'", err.message, why);
	ck_assert_str_eq(err.path, path);
}

static void refused(const char *text, int line, const char *field, const char *why)
{
	refused_len(text, strlen(text), line, field, why);
}

START_TEST(job_1_records_and_lines_are_counted)
{
	struct cv_prompts *p = NULL;
	struct cv_record rec;

	save_text(
		"\n{\"prompt\":\"a\"}\r\n  \t\n{\"prompt\":[\"b\",\"c\"],\"metadata\":{\"k\":1}}");
	ck_assert_int_eq(open_all(&p, NULL), 0);
	ck_assert_int_eq(cv_prompts_total(p), 2);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 1);
	ck_assert_int_eq(rec.number, 1);
	ck_assert_int_eq(rec.line, 2);
	ck_assert_uint_eq(cv_record_turns(&rec), 1);
	cv_record_done(&rec);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 1);
	ck_assert_int_eq(rec.number, 2);
	ck_assert_int_eq(rec.line, 4);
	ck_assert_uint_eq(cv_record_turns(&rec), 2);
	ck_assert_str_eq(json_string_value(cv_record_prompt(&rec, 1)), "c");
	cv_record_done(&rec);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 0);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 0);
	cv_prompts_free(p);
}
END_TEST

START_TEST(job_1_no_record_is_fine)
{
	struct cv_prompts *p = NULL;
	struct cv_record rec;

	save("\n\n", 2);
	ck_assert_int_eq(open_all(&p, NULL), 0);
	ck_assert_int_eq(cv_prompts_total(p), 0);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 0);
	cv_prompts_free(p);
}
END_TEST

START_TEST(job_1_bad_json_is_refused)
{
	refused("{\"prompt\":\"a\"}\n\n{\"prompt\":\"b\"\n", 3, "", "JSON");
	refused("{\"prompt\":\"a\"} {\"prompt\":\"b\"}\n", 1, "", "JSON");
	refused("[\"a\"]\n", 1, "", "not a JSON object");
	refused("nonsense\n", 1, "", "JSON");
	refused("{\"prompt\":\"\\ud800\"}\n", 1, "", "JSON");
	refused("{'prompt':'a'}\n", 1, "", "JSON");
	refused("{\"prompt\":\"a\",}\n", 1, "", "JSON");
}
END_TEST

START_TEST(job_1_only_utf8_without_mark)
{
	refused("\xEF\xBB\xBF{\"prompt\":\"a\"}\n", 1, "", "byte order mark");
	refused("{\"prompt\":\"ok\"}\n{\"prompt\":\"\xFF\"}\n", 2, "", "JSON");
	refused("{\"prompt\":\"\xC3\"}\n", 1, "", "JSON");
	refused("{\"prompt\":\"\xED\xA0\x80\"}\n", 1, "", "JSON");
	refused_len("{\"prompt\":\"a\0b\"}\n", 17, 1, "", "JSON");
}
END_TEST

START_TEST(job_1_keys_are_known_and_single)
{
	refused("{\"prompt\":\"a\",\"promt\":\"b\"}\n", 1, "promt", "unknown");
	refused("{\"prompt\":\"a\",\"prompt\":\"b\"}\n", 1, "", "duplicate");
	refused("{\"prompt\":\"a\",\"metadata\":{\"x\":1,\"x\":2}}\n", 1, "", "duplicate");
	refused("{\"metadata\":{}}\n", 1, "prompt", "missing");
}
END_TEST

START_TEST(job_1_types_are_strict)
{
	refused("{\"prompt\":7}\n", 1, "prompt", "not a string");
	refused("{\"prompt\":null}\n", 1, "prompt", "not a string");
	refused("{\"prompt\":[]}\n", 1, "prompt", "empty");
	refused("{\"prompt\":[\"a\",[\"b\"]]}\n", 1, "prompt[1]", "not a string");
	refused("{\"prompt\":\"a\",\"metadata\":[]}\n", 1, "metadata", "not an object");
	refused("{\"prompt\":\"a\",\"metadata\":null}\n", 1, "metadata", "not an object");
}
END_TEST

START_TEST(job_1_blank_prompts_are_refused)
{
	refused("{\"prompt\":\"\"}\n", 1, "prompt", "blank");
	refused("{\"prompt\":\" \\t\\n\"}\n", 1, "prompt", "blank");
	refused("{\"prompt\":\"\\u00a0\\u3000\\u2009\"}\n", 1, "prompt", "blank");
	refused("{\"prompt\":[\"a\",\" \"]}\n", 1, "prompt[1]", "blank");
}
END_TEST

START_TEST(job_1_long_lines)
{
	const size_t len = CV_LINE_MAX + 64;
	char *text = malloc(len);
	struct cv_prompts *p = NULL;
	struct cv_record rec;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', len);
	memcpy(text, "{\"prompt\":\"", 11);
	memcpy(text + CV_LINE_MAX - 2, "\"}\n", 3);
	save(text, CV_LINE_MAX + 1);
	ck_assert_int_eq(open_all(&p, NULL), 0);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 1);
	ck_assert_uint_eq(json_string_length(cv_record_prompt(&rec, 0)), CV_LINE_MAX - 13);
	cv_record_done(&rec);
	cv_prompts_free(p);

	memset(text, ' ', len);
	memcpy(text, "\n{", 2);
	refused_len(text, len, 2, "", "16 MiB");
	free(text);
}
END_TEST

START_TEST(job_1_many_lines_across_reads)
{
	struct cv_prompts *p = NULL;
	struct cv_record rec;
	FILE *f = fopen(path, "we");
	int64_t n = 0;

	ck_assert_ptr_nonnull(f);
	for (int i = 1; i <= 5000; i++)
		fprintf(f, "%s{\"prompt\":\"task %d %*s.\"}\n", i % 7 ? "" : "\n", i, i % 300, "");
	fclose(f);
	ck_assert_int_eq(open_all(&p, NULL), 0);
	ck_assert_int_eq(cv_prompts_total(p), 5000);
	while (cv_prompts_next(p, &rec, NULL) == 1) {
		char want[32];

		n++;
		snprintf(want, sizeof(want), "task %d ", (int)n);
		ck_assert_int_eq(rec.number, n);
		ck_assert_int_eq(rec.line, n + n / 7);
		ck_assert_int_eq(strncmp(json_string_value(cv_record_prompt(&rec, 0)), want,
					 strlen(want)),
				 0);
		cv_record_done(&rec);
	}
	ck_assert_int_eq(n, 5000);
	cv_prompts_free(p);
}
END_TEST

START_TEST(job_1_a_file_that_changes_is_an_error)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_prompts *p = NULL;
	struct cv_record rec;

	save("{\"prompt\":\"a\"}\n", 15);
	ck_assert_int_eq(open_all(&p, NULL), 0);
	save("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n", 30);
	ck_assert_int_eq(cv_prompts_next(p, &rec, &err), COVE_E_CONFLICT);
	cv_prompts_free(p);
}
END_TEST

START_TEST(job_1_what_is_no_file)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_prompts *p = NULL;
	struct cv_selection all = {0};

	ck_assert_int_eq(open_all(&p, &err), COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.path, path);
	ck_assert_int_eq(cv_prompts_open(dir, &all, &p, &err), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(cv_prompts_open("", &all, &p, &err), COVE_E_INVALID_ARGUMENT);
}
END_TEST

/* Reading a FIFO never waits, neither for its writer nor for the end of a line. */
START_TEST(job_1_a_pipe_is_checked_in_flight)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_prompts *p = NULL;
	struct cv_record rec;
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(open_all(&p, NULL), 0);
	ck_assert_int_eq(cv_prompts_total(p), -1);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), CV_PROMPTS_WAIT);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "{\"prompt\":\"a\"}\n{\"pro", 20), 20);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), 1);
	cv_record_done(&rec);
	ck_assert_int_eq(cv_prompts_next(p, &rec, NULL), CV_PROMPTS_WAIT);
	ck_assert_int_eq(write(fd, "mpt\":0}\n", 8), 8);
	close(fd);
	ck_assert_int_eq(cv_prompts_next(p, &rec, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(err.message, ":2: "));
	cv_prompts_free(p);
}
END_TEST

static void numbers(struct cv_selection want, int64_t total, const char *expected)
{
	struct cv_prompts *p = NULL;
	struct cv_record rec;
	char got[64] = "";

	ck_assert_int_eq(cv_prompts_open(path, &want, &p, NULL), 0);
	ck_assert_int_eq(cv_prompts_total(p), total);
	while (cv_prompts_next(p, &rec, NULL) == 1) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d ", (int)rec.number);
		cv_record_done(&rec);
	}
	ck_assert_str_eq(got, expected);
	cv_prompts_free(p);
}

START_TEST(job_4_selection)
{
	char text[7 * 15 + 1] = "";

	for (int i = 0; i < 7; i++)
		memcpy(text + i * 15, "{\"prompt\":\"a\"}\n", 15);
	save(text, 7 * 15);
	numbers((struct cv_selection){0}, 7, "1 2 3 4 5 6 7 ");
	numbers((struct cv_selection){.limit = 2}, 2, "1 2 ");
	numbers((struct cv_selection){.limit = 9}, 7, "1 2 3 4 5 6 7 ");
	numbers((struct cv_selection){.shard_index = 1, .shard_count = 3}, 3, "1 4 7 ");
	numbers((struct cv_selection){.shard_index = 3, .shard_count = 3}, 2, "3 6 ");
	numbers((struct cv_selection){.limit = 1, .shard_index = 2, .shard_count = 3}, 1, "2 ");
	numbers((struct cv_selection){.shard_index = 9, .shard_count = 9}, 0, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prompts");
	TCase *tc = tcase_create("prompts");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, job_1_records_and_lines_are_counted);
	tcase_add_test(tc, job_1_no_record_is_fine);
	tcase_add_test(tc, job_1_bad_json_is_refused);
	tcase_add_test(tc, job_1_only_utf8_without_mark);
	tcase_add_test(tc, job_1_keys_are_known_and_single);
	tcase_add_test(tc, job_1_types_are_strict);
	tcase_add_test(tc, job_1_blank_prompts_are_refused);
	tcase_add_test(tc, job_1_long_lines);
	tcase_add_test(tc, job_1_many_lines_across_reads);
	tcase_add_test(tc, job_1_a_file_that_changes_is_an_error);
	tcase_add_test(tc, job_1_what_is_no_file);
	tcase_add_test(tc, job_1_a_pipe_is_checked_in_flight);
	tcase_add_test(tc, job_4_selection);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
