/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public bug reports of comparable systems, each with the right behaviour asserted: the cases about
 * the life of processes, output, stdin, prompts and locale that need no container, network or limit.
 * Those about paths and files are with the file operations.
 */
#include "../conformance/fixture.h"

/* A script with the test's mark in place of %s, up to three times. */
static const char *marked(const char *format)
{
	static char script[1000];

	snprintf(script, sizeof(script), format, mark(), mark(), mark());
	return script;
}

static struct cove_exec_result *until_timeout(const char *script, int64_t timeout_ms)
{
	struct cove_exec_result *r =
		exec_opts(COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = timeout_ms));

	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	return r;
}

START_TEST(case_2_cancel_and_close_leave_nothing) /* CASE-2 */
{
	struct cove_call *call = NULL;

	begin(_i);
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts,
					       .script = marked("setsid sleep %s & sleep %s")),
				     NULL, &call, &err),
			 0);
	cove_call_wait(call, 100);
	cove_call_cancel(call);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), 0);
	assert_gone(mark());
	start_opts(COVE_OPTS(cove_exec_opts, .script = marked("setsid sleep %s & sleep %s")));
	end();
	assert_gone(mark());
}
END_TEST

START_TEST(case_3_kill_reaches_all) /* CASE-3 */
{
	struct cove_process_wait_result *w = NULL;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = marked("sleep %s & sleep %s")));
	usleep(50000);
	ck_assert_int_eq(
		cove_process_kill(env, COVE_OPTS(cove_process_kill_opts, .process = "process-1"),
				  &w, &err),
		0);
	cove_process_wait_result_free(w);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(case_4_descendants_of_a_short_timeout) /* CASE-4 */
{
	begin(_i);
	cove_exec_result_free(until_timeout(marked("sleep %s & wait"), 50));
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(case_5_setsid_does_not_escape) /* CASE-5 */
{
	begin(_i);
	cove_exec_result_free(until_timeout(marked("setsid sleep %s & sleep %s"), 200));
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(case_8_a_timeout_is_about_one_command) /* CASE-8 */
{
	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = marked("sleep %s")));
	cove_exec_result_free(until_timeout("echo kept > file; sleep 60", 200));
	expect_out("cat file", "kept\n");
	ck_assert_int_eq(count_processes(mark()), 1);
	end();
}
END_TEST

START_TEST(case_9_and_11_background_holders) /* CASE-9, CASE-11 */
{
	const char *scripts[] = {"sleep %s & echo done",
				 "sleep %s </dev/null >/dev/null & echo done",
				 "setsid sleep %s 2>/dev/null & echo done"};

	begin(_i);
	for (size_t i = 0; i < 3; i++) {
		int64_t t = now_ms();

		expect_out(marked(scripts[i]), "done\n");
		ck_assert_int_lt(now_ms() - t, 1000);
	}
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(case_13_silent_commands) /* CASE-13 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("false");
	ck_assert_int_eq(r->exit.code, 1);
	cove_exec_result_free(r);
	expect_out("true", "");
	end();
}
END_TEST

START_TEST(case_14_and_29_killed_is_not_exited) /* CASE-14, CASE-29 */
{
	struct cove_process_wait_result *w = NULL;
	struct cove_process_info *info = NULL;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = marked("sleep %s")));
	ck_assert_int_eq(
		cove_process_kill(env, COVE_OPTS(cove_process_kill_opts, .process = "process-1"),
				  &w, &err),
		0);
	assert_gone(mark());
	cove_process_wait_result_free(w);
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 0);
	ck_assert_int_eq(info->exit.phase, COVE_PHASE_SIGNALED);
	ck_assert_int_eq(info->exit.reason, COVE_END_KILLED);
	cove_result_free(info);
	end();
}
END_TEST

START_TEST(case_15_and_34_a_timeout_comes_in_time) /* CASE-15, CASE-34 */
{
	struct cove_exec_result *r;
	int64_t t = now_ms();

	begin(_i);
	r = until_timeout("echo a; sleep 30", 1000);
	ck_assert_str_eq(r->out.text, "a\n");
	ck_assert_int_lt(now_ms() - t, 2000);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(case_17_no_zombies) /* CASE-17 */
{
	begin(_i);
	cove_exec_result_free(sh("for i in $(seq 500); do sh -c 'sleep .01 & exit'; done"));
	expect_out("ps -eo stat=,ppid= | awk -v p=$PPID '$1 ~ /^Z/ && $2 == p' | wc -l", "0\n");
	end();
}
END_TEST

START_TEST(case_19_who_ended_it) /* CASE-19 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("kill -9 $$");
	ck_assert_int_eq(r->exit.reason, COVE_END_SIGNAL);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "trap '' TERM; while :; do sleep 0.1; done",
				.timeout_ms = 100, .grace_ms = 100));
	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_str_eq(r->exit.signal, "KILL");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(case_23_handles_live_until_released) /* CASE-23 */
{
	struct cove_process_list_result *list = NULL;

	begin(_i);
	for (int i = 0; i < 20; i++)
		start_opts(COVE_OPTS(cove_exec_opts, .script = "true"));
	for (int i = 0; i < 20; i++)
		cove_exec_result_free(sh("true"));
	ck_assert_int_eq(cove_process_list(env, &list, &err), 0);
	ck_assert_uint_eq(list->process_count, 20);
	cove_result_free(list);
	end();
}
END_TEST

START_TEST(case_30b_no_fixed_tail) /* CASE-30b */
{
	int64_t slowest = 0;

	begin(_i);
	cove_exec_result_free(sh("true"));
	for (int i = 0; i < 100; i++) {
		struct cove_exec_result *r = sh("true");

		/* Of the leader alone; a fixed wait would show in most of them. */
		slowest += r->exit.duration_ms >= 20;
		cove_exec_result_free(r);
	}
	ck_assert_int_lt(slowest, 50);
	end();
}
END_TEST

START_TEST(case_30c_streams_have_an_end) /* CASE-30c, CASE-35 */
{
	char handles[60][32];

	begin(_i);
	for (int i = 0; i < 60; i++)
		snprintf(handles[i], sizeof(handles[i]), "%s",
			 start_opts(COVE_OPTS(cove_exec_opts, .script = "seq 2000")));
	for (int i = 0; i < 60; i++) {
		struct cove_output_read_result *r = NULL;
		int64_t at = 0;
		bool over = false;

		while (!over) {
			ck_assert_int_eq(cove_output_read(env,
							  COVE_OPTS(cove_output_read_opts,
								    .process = handles[i],
								    .offset = at, .max_bytes = 1000,
								    .wait_ms = 5000),
							  &r, &err),
					 0);
			at = r->next_offset;
			over = r->content_complete;
			cove_output_read_result_free(r);
		}
		ck_assert_int_eq(at, 8893);
	}
	end();
}
END_TEST

START_TEST(case_31_and_40_no_character_is_cut) /* CASE-31, CASE-40 */
{
	struct cove_exec_result *r;

	begin(_i);
	for (int budget = 100; budget < 108; budget++) {
		r = exec_opts(COVE_OPTS(cove_exec_opts,
					.script = "for i in $(seq 100); do printf '€'; done",
					.max_output_bytes = budget));
		ck_assert(r->out.truncated && !r->out.lossy);
		ck_assert_ptr_null(strstr(r->out.text, "\xEF\xBF\xBD"));
		ck_assert_uint_le(r->out.text_len, (size_t)budget);
		cove_exec_result_free(r);
	}
	end();
}
END_TEST

START_TEST(case_38_all_byte_values) /* CASE-38 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("for i in $(seq 0 255); do printf \"\\\\$(printf %03o $i)\"; done");
	ck_assert_int_eq(r->out.bytes, 256);
	ck_assert_uint_eq(r->out.data_len, 256);
	ck_assert(r->out.lossy);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(case_41_stdin_is_empty) /* CASE-41 */
{
	int64_t t = now_ms();

	begin(_i);
	expect_out("cat; read x; echo $?", "1\n");
	ck_assert_int_lt(now_ms() - t, 5000);
	end();
}
END_TEST

START_TEST(case_43_git_does_not_ask) /* CASE-43 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(
		cove_exec_opts, .timeout_ms = 20000,
		.script = "git init -q . && git config user.email a@b && git config user.name n && "
			  "echo x > f && git add f && git commit"));
	ck_assert_int_eq(r->exit.reason, COVE_END_EXIT);
	ck_assert_int_ne(r->exit.code, 0);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(
		cove_exec_opts, .timeout_ms = 20000,
		.script =
			"git commit -qm m && for i in $(seq 100); do echo $i >> f; done && git diff"));
	ck_assert_int_eq(r->exit.code, 0);
	ck_assert_ptr_nonnull(strstr(r->out.text, "+100"));
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(case_45_the_locale_is_utf8) /* CASE-45 */
{
	const char *unset[] = {"LC_ALL", "LC_CTYPE", NULL};
	struct cove_exec_result *r;

	unsetenv("LANG");
	unsetenv("LC_ALL");
	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "locale charmap; x=é; echo ${#x}",
				.env = {.unset = unset}));
	ck_assert_str_eq(r->out.text, "UTF-8\n1\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&case_2_cancel_and_close_leave_nothing,
	&case_3_kill_reaches_all,
	&case_4_descendants_of_a_short_timeout,
	&case_5_setsid_does_not_escape,
	&case_8_a_timeout_is_about_one_command,
	&case_9_and_11_background_holders,
	&case_13_silent_commands,
	&case_14_and_29_killed_is_not_exited,
	&case_15_and_34_a_timeout_comes_in_time,
	&case_17_no_zombies,
	&case_19_who_ended_it,
	&case_23_handles_live_until_released,
	&case_30b_no_fixed_tail,
	&case_30c_streams_have_an_end,
	&case_31_and_40_no_character_is_cut,
	&case_38_all_byte_values,
	&case_41_stdin_is_empty,
	&case_43_git_does_not_ask,
	&case_45_the_locale_is_utf8,
};

MAIN("cases")
