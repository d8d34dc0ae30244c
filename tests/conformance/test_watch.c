/* SPDX-License-Identifier: Apache-2.0 */
/* file.watch: what happens is told, whoever does it (FILE-15). */
#include "fixture.h"

/* The events of a watch, waited for, as lines "change path"; '!' overflow, '.' ended. */
static const char *news(const char *watch, int64_t wait_ms)
{
	static const char *const names[] = {"?", "created", "modified", "deleted", "attributes"};
	static char text[65536];
	struct cove_file_watch_read_result *r = NULL;
	size_t len = 0;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	text[0] = '\0';
	rc = cove_file_watch_read(
		env, COVE_OPTS(cove_file_watch_read_opts, .watch = watch, .wait_ms = wait_ms), &r,
		&err);
	if (rc < 0)
		return cove_code_name(rc);
	for (size_t i = 0; i < r->event_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s\n",
					names[r->events[i].change], r->events[i].path);
	snprintf(text + len, sizeof(text) - len, "%s%s", r->overflow ? "!" : "",
		 r->ended ? "." : "");
	cove_result_free(r);
	return text;
}

static const char *watch(const char *path, bool recursive)
{
	static char handle[64];
	struct cove_file_watch_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_file_watch(env,
			     COVE_OPTS(cove_file_watch_opts, .path = path, .recursive = recursive),
			     &r, &err);
	if (rc < 0)
		return cove_code_name(rc);
	snprintf(handle, sizeof(handle), "%s", r->watch);
	cove_result_free(r);
	return handle;
}

static bool tells(const char *text, const char *line)
{
	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[strlen(line)] == '\n')
			return true;
	return false;
}

START_TEST(file_15_watch_of_a_directory)
{
	const char *text;

	begin(_i);
	expect_out("mkdir d d/sub; echo x > d/old", "");
	ck_assert_str_eq(watch("d", false), "watch-1");
	ck_assert_str_eq(news("watch-1", 0), "");
	ck_assert_str_eq(news("watch-1", 30), "");
	expect_out("cd d; echo 1 > new; chmod 600 old; mv old older; rm new; echo > sub/unseen",
		   "");
	text = news("watch-1", 0);
	ck_assert_str_eq(text, "created d/new\nmodified d/new\nattributes d/old\ndeleted d/old\n"
			       "created d/older\ndeleted d/new\n");
	ck_assert_str_eq(news("watch-1", 0), "");
	end();
}
END_TEST

/* A write replaces the file; its watch follows the name. */
START_TEST(file_15_watch_of_a_file)
{
	begin(_i);
	expect_out("mkdir d; echo x > d/f; ln -s d/f link; echo > d/other", "");
	ck_assert_str_eq(watch("link", true), "watch-1");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(cove_file_write_text(env,
						      COVE_OPTS(cove_file_write_opts, .path = "d/f",
								.data = {"new", 3},
								.mode = COVE_WRITE_REPLACE),
						      NULL, &err),
				 0);
		ck_assert_str_eq(news("watch-1", 1000), "created d/f\n");
		expect_out("echo > d/other; echo more >> d/f", "");
		ck_assert_str_eq(news("watch-1", 0), "modified d/f\n");
	}
	expect_out("rm d/f", "");
	ck_assert_str_eq(news("watch-1", 0), "deleted d/f\n");
	expect_out("rm -r d", "");
	ck_assert(strchr(news("watch-1", 0), '.'));
	end();
}
END_TEST

START_TEST(file_15_watch_of_a_tree)
{
	const char *text;

	begin(_i);
	expect_out("mkdir -p t/a/b; ln -s / t/out", "");
	ck_assert_str_eq(watch("t", true), "watch-1");
	expect_out("echo > t/a/b/f; mkdir -p t/n/e/w; echo > t/n/e/w/f; mv t/a t/n/a", "");
	text = news("watch-1", 0);
	ck_assert(tells(text, "created t/a/b/f"));
	ck_assert(tells(text, "created t/n/e/w/f"));
	ck_assert(tells(text, "deleted t/a"));
	ck_assert(tells(text, "created t/n/a"));
	ck_assert(tells(text, "created t/n/a/b/f"));
	expect_out("echo > t/n/a/b/g; rm -r t/n/e; mkdir t/a; echo > t/a/h", "");
	text = news("watch-1", 0);
	ck_assert(tells(text, "created t/n/a/b/g"));
	ck_assert(tells(text, "deleted t/n/e/w/f"));
	ck_assert(tells(text, "deleted t/n/e"));
	ck_assert(tells(text, "created t/a/h"));
	ck_assert_ptr_null(strchr(text, '!'));
	expect_out("mv t u", "");
	ck_assert_str_eq(news("watch-1", 0), "deleted t\n.");
	end();
}
END_TEST

/* What was moved away with a directory above it is not watched any more. */
START_TEST(file_1_watch_ends_where_it_was_proven)
{
	begin(_i);
	expect_out("mkdir -p a/b", "");
	ck_assert_str_eq(watch("a/b", true), "watch-1");
	expect_out("mv a c; mkdir -p a/b", "");
	ck_assert_str_eq(news("watch-1", 0), "deleted a/b\n.");
	expect_out("echo > c/b/secret; mkdir c/b/d; echo > c/b/d/f", "");
	ck_assert_str_eq(news("watch-1", 0), ".");
	end();
}
END_TEST

/* Directories come faster than they are looked at: all of them are found all the same. */
START_TEST(file_15_no_gaps_in_new_directories)
{
	char seen[300] = {0};
	int found = 0;

	begin(_i);
	ck_assert_str_eq(watch(".", true), "watch-1");
	expect_out("for i in $(seq 100 399); do mkdir -p w$i/x/y; : > w$i/x/y/f; done", "");
	for (;;) {
		const char *text = news("watch-1", 200);

		ck_assert_ptr_null(strchr(text, '!'));
		if (!*text)
			break;
		for (int i = 100; i < 400; i++) {
			char line[64];

			snprintf(line, sizeof(line), "created w%d/x/y/f", i);
			found += !seen[i - 100] && tells(text, line);
			seen[i - 100] |= tells(text, line);
		}
	}
	ck_assert_int_eq(found, 300);
	end();
}
END_TEST

START_TEST(file_15_overflow_is_told)
{
	struct cove_file_watch_read_result *r = NULL;
	int64_t events = 0;
	bool overflow = false;
	bool more = true;

	begin(_i);
	ck_assert_str_eq(watch(".", false), "watch-1");
	expect_out("i=0; while [ $i -lt 11000 ]; do : > f$i; i=$((i+1)); done", "");
	while (more) {
		ck_assert_int_eq(cove_file_watch_read(env,
						      COVE_OPTS(cove_file_watch_read_opts,
								.watch = "watch-1",
								.max_events = 10000),
						      &r, &err),
				 0);
		events += (int64_t)r->event_count;
		overflow |= r->overflow;
		more = r->has_more;
		cove_result_free(r);
	}
	ck_assert_int_le(events, 10000);
	ck_assert_int_ge(events, 1000);
	ck_assert(overflow);
	expect_out(": > after", "");
	ck_assert(strstr(news("watch-1", 1000), "created after\n"));
	end();
}
END_TEST

START_TEST(file_15_watch_refusals)
{
	struct cove_file_watch_read_opts opts = {
		.size = sizeof(opts), .watch = "watch-1", .wait_ms = 20000};
	struct cove_call *call = NULL;
	bool confined = strcmp(providers[_i], "workspace") == 0;
	char name[32];

	begin(_i);
	ck_assert_str_eq(watch("nope", false), "not_found");
	ck_assert_str_eq(news("watch-9", 0), "not_found");
	ck_assert_str_eq(watch(".", false), "watch-2");
	opts.watch = "watch-2";
	ck_assert_int_eq(cove_submit(env, "file.watch_read", &opts, NULL, &call, &err), 0);
	ck_assert_int_eq(cove_call_wait(call, 20), 0);
	ck_assert_str_eq(news("watch-2", 10), "busy");
	cove_call_cancel(call);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_CANCELLED);
	ck_assert_str_eq(news("watch-2", 10), "");
	ck_assert_int_eq(cove_submit(env, "file.watch_read", &opts, NULL, &call, &err), 0);
	ck_assert_int_eq(cove_file_watch_close(
				 env, COVE_OPTS(cove_file_watch_close_opts, .watch = "watch-2"),
				 &err),
			 0);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_CLOSED);
	ck_assert_str_eq(news("watch-2", 0), "not_found");
	if (confined) {
		ck_assert_str_eq(watch("/etc", false), "permission_denied");
		expect_out("ln -s / out", "");
		ck_assert_str_eq(watch("out/etc", true), "permission_denied");
	}
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "watch-%d", i + 3 + 2 * confined);
		ck_assert_str_eq(watch(".", false), name);
	}
	ck_assert_str_eq(watch(".", false), "quota_exceeded");
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch");
	TCase *tcase = tcase_create("watch");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, file_15_watch_of_a_directory, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_15_watch_of_a_file, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_15_watch_of_a_tree, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_1_watch_ends_where_it_was_proven, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_15_no_gaps_in_new_directories, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_15_overflow_is_told, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_15_watch_refusals, 0, PROVIDERS);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
