/* SPDX-License-Identifier: Apache-2.0 */
/* Promotion, ids, completions, records: PROC-8, PROC-10, PROC-18, PROC-22, on every provider. */
#include "fixture.h"

static struct cove_process_completions_result *completions(int64_t max, int64_t wait_ms)
{
	struct cove_process_completions_result *r = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_process_completions(env,
					       COVE_OPTS(cove_process_completions_opts, .max = max,
							 .wait_ms = wait_ms),
					       &r, &err) == 0,
		      "completions: %s", err.message);
	return r;
}

START_TEST(proc_10_yield_promotes) /* PROC-10 */
{
	struct cove_exec_result *r;
	struct cove_output_read_result *out = NULL;
	struct cove_exit x;
	int64_t t = now_ms();

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "echo so far; sleep 0.6; echo later; exit 3",
				.yield_ms = 150));
	ck_assert_int_lt(now_ms() - t, 550);
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_RUNNING);
	ck_assert_int_eq(r->exit.reason, 0);
	ck_assert_str_eq(r->out.text, "so far\n");
	ck_assert_str_eq(r->process, "process-1");
	ck_assert_int_eq(r->generation, 1);
	cove_exec_result_free(r);
	x = wait_for("process-1", COVE_UNTIL_CLEAN, 5000);
	ck_assert_int_eq(x.code, 3);
	ck_assert_int_eq(cove_output_read(env,
					  COVE_OPTS(cove_output_read_opts, .process = "process-1"),
					  &out, &err),
			 0);
	ck_assert_str_eq(out->data.data, "so far\nlater\n");
	cove_output_read_result_free(out);
	end();
}
END_TEST

START_TEST(proc_10_quick_commands_are_not_promoted) /* PROC-10 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "echo quick", .yield_ms = 5000));
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_EXITED);
	ck_assert_ptr_null(r->process);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_10_a_promoted_command_keeps_its_deadline) /* PROC-10 */
{
	struct cove_exec_result *r;
	char script[100];

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s", mark());
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = script, .yield_ms = 50, .timeout_ms = 300));
	cove_exec_result_free(r);
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 5000).reason, COVE_END_TIMEOUT);
	assert_gone(mark());
	end();
}
END_TEST

static int count_live(void *user, int stream, const char *data, size_t len)
{
	(void)stream;
	(void)data;
	*(size_t *)user += len;
	return 0;
}

START_TEST(proc_10_live_output_ends_with_the_promotion) /* PROC-10 */
{
	size_t live = 0;
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "yes | head -c 3000000; sleep 0.5; yes | head -c 3000000",
				.yield_ms = 300, .on_output = count_live, .on_output_user = &live));
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_RUNNING);
	cove_exec_result_free(r);
	/* Nobody holds it back any more. */
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 10000).code, 0);
	end();
}
END_TEST

START_TEST(proc_22_the_same_id_is_the_same_process) /* PROC-22 */
{
	struct cove_exec_result *r;

	begin(_i);
	for (int i = 0; i < 3; i++) {
		char *p = start_opts(COVE_OPTS(
			cove_exec_opts, .script = "echo run >> runs; sleep 0.1", .id = "build-1"));

		ck_assert_str_eq(p, "process-1");
	}
	wait_for("process-1", COVE_UNTIL_CLEAN, 5000);
	ck_assert_str_eq(start_opts(COVE_OPTS(cove_exec_opts,
					      .script = "echo run >> runs; sleep 0.1",
					      .id = "build-1")),
			 "process-1");
	for (int i = 0; i < 2; i++) {
		r = exec_opts(COVE_OPTS(cove_exec_opts,
					.script = "echo once >> runs; echo out; exit 4",
					.id = "exec-1"));
		ck_assert_int_eq(r->exit.code, 4);
		ck_assert_str_eq(r->out.text, "out\n");
		ck_assert_str_eq(r->process, "process-2");
		cove_exec_result_free(r);
	}
	expect_out("cat runs", "run\nonce\n");
	end();
}
END_TEST

START_TEST(proc_22_another_request_under_an_id_is_a_conflict) /* PROC-22 */
{
	struct cove_process_start_result *s = NULL;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "true", .id = "one"));
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_process_start(
				 env, COVE_OPTS(cove_exec_opts, .script = "touch ran", .id = "one"),
				 &s, &err),
			 COVE_E_CONFLICT);
	ck_assert_str_eq(err.field, "id");
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "true", .id = "one")),
			 COVE_E_CONFLICT);
	/* An id whose command never ran is free again. */
	ck_assert_int_eq(
		refused(COVE_OPTS(cove_exec_opts, .script = "true", .cwd = "nope", .id = "two")),
		COVE_E_NOT_FOUND);
	cove_exec_result_free(exec_opts(COVE_OPTS(cove_exec_opts, .script = "true", .id = "two")));
	expect_out("ls", "");
	end();
}
END_TEST

START_TEST(proc_22_parallel_requests_run_once) /* PROC-22 */
{
	struct cove_call *calls[10];
	int64_t first = 0;

	begin(_i);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(cove_submit(env, "process.exec",
					     COVE_OPTS(cove_exec_opts,
						       .script = "sleep 0.1; echo x >> runs",
						       .id = "p"),
					     NULL, &calls[i], &err),
				 0);
	for (int i = 0; i < 10; i++) {
		struct cove_exec_result *r = NULL;

		ck_assert_int_eq(cove_call_take(calls[i], (void **)&r, &err), 0);
		ck_assert_int_eq(r->exit.code, 0);
		first = first ? first : r->exit.duration_ms;
		cove_exec_result_free(r);
	}
	expect_out("cat runs", "x\n");
	end();
}
END_TEST

START_TEST(proc_18_completions_exactly_once) /* PROC-18 */
{
	struct cove_process_completions_result *r;
	char seen[8] = "";

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 0.2"));
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 0.1"));
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 30"));
	for (int i = 0; i < 2; i++) {
		r = completions(1, 5000);
		ck_assert_uint_eq(r->completion_count, 1);
		strncat(seen, r->completions[0].process + 8, sizeof(seen) - strlen(seen) - 1);
		ck_assert_int_eq(r->completions[0].exit.tree, COVE_TREE_CLEAN);
		cove_result_free(r);
		/* Looking at a status consumes nothing, and told ones are not told again. */
		wait_for("process-1", COVE_UNTIL_CLEAN, COVE_ZERO);
	}
	ck_assert_str_eq(seen, "21");
	r = completions(0, 100);
	ck_assert_uint_eq(r->completion_count, 0);
	ck_assert(!r->has_more);
	cove_result_free(r);
	end();
}
END_TEST

START_TEST(proc_18_more_completions_wait) /* PROC-18 */
{
	struct cove_process_completions_result *r;

	begin(_i);
	for (int i = 0; i < 5; i++)
		start_opts(COVE_OPTS(cove_exec_opts, .script = "true"));
	for (int i = 1; i <= 5; i++) {
		char p[32];

		snprintf(p, sizeof(p), "process-%d", i);
		wait_for(p, COVE_UNTIL_CLEAN, 5000);
	}
	r = completions(3, 0);
	ck_assert_uint_eq(r->completion_count, 3);
	ck_assert(r->has_more);
	cove_result_free(r);
	r = completions(3, 0);
	ck_assert_uint_eq(r->completion_count, 2);
	ck_assert(!r->has_more);
	cove_result_free(r);
	end();
}
END_TEST

START_TEST(proc_18_records_have_a_budget) /* PROC-18, CASE-23 */
{
	struct cove_process_list_result *list = NULL;
	struct cove_process_info *info = NULL;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 60")); /* live ones stay */
	for (int i = 0; i < 300; i++)
		wait_for(start_opts(COVE_OPTS(cove_exec_opts, .script = ":")), COVE_UNTIL_CLEAN,
			 5000);
	ck_assert_int_eq(cove_process_list(env, &list, &err), 0);
	ck_assert_uint_eq(list->process_count, 257);
	ck_assert_str_eq(list->processes[0].process, "process-1");
	cove_result_free(list);
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-2"),
					      &info, &err),
			 COVE_E_STALE);
	ck_assert_ptr_nonnull(strstr(err.message, "evicted"));
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-301"),
					      &info, &err),
			 0);
	cove_result_free(info);
	end();
}
END_TEST

START_TEST(proc_18_bytes_count_too) /* PROC-18 */
{
	struct cove_process_info *info = NULL;

	begin(_i);
	for (int i = 0; i < 5; i++)
		wait_for(start_opts(COVE_OPTS(cove_exec_opts, .script = "head -c 64M /dev/zero",
					      .output = {.retain_bytes = 64 << 20})),
			 COVE_UNTIL_CLEAN, 20000);
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 COVE_E_STALE);
	ck_assert_ptr_nonnull(strstr(err.message, "evicted"));
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-5"),
					      &info, &err),
			 0);
	cove_result_free(info);
	end();
}
END_TEST

START_TEST(proc_8_adopt_falls_silent) /* PROC-8 */
{
	struct cove_exec_result *r;
	char script[300];
	int64_t t;

	begin(_i);
	/* It writes on and on: not silence but the limit in all ends the wait. */
	snprintf(script, sizeof(script),
		 "(while :; do echo noise; sleep 0.02; done; sleep %s) & echo hi", mark());
	t = now_ms();
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = script, .descendants = COVE_DESCENDANTS_ADOPT));
	ck_assert_int_lt(now_ms() - t, 1500);
	ck_assert_str_eq(r->process, "process-1");
	cove_exec_result_free(r);
	/* Its end of the pipe is closed: nothing is waited for. */
	snprintf(script, sizeof(script), "sleep %s >/dev/null 2>&1 & echo hi", mark());
	t = now_ms();
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = script, .descendants = COVE_DESCENDANTS_ADOPT));
	ck_assert_str_eq(r->out.text, "hi\n");
	cove_exec_result_free(r);
	end();
	assert_gone(mark());
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&proc_10_yield_promotes,
	&proc_10_quick_commands_are_not_promoted,
	&proc_10_a_promoted_command_keeps_its_deadline,
	&proc_10_live_output_ends_with_the_promotion,
	&proc_22_the_same_id_is_the_same_process,
	&proc_22_another_request_under_an_id_is_a_conflict,
	&proc_22_parallel_requests_run_once,
	&proc_18_completions_exactly_once,
	&proc_18_more_completions_wait,
	&proc_18_records_have_a_budget,
	&proc_18_bytes_count_too,
	&proc_8_adopt_falls_silent,
};

MAIN("keeping")
