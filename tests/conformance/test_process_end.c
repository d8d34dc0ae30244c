/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How commands end: deadlines, cancellation, signals, kill, close. PROC rules, on every provider.
 */
#include "fixture.h"

#include <pthread.h>

START_TEST(proc_9_deadline_ends_the_tree) /* PROC-9, CASE-4, CASE-15, CASE-34, PROV-8 */
{
	struct cove_exec_result *r;
	char script[200];
	int64_t t;

	begin(_i);
	snprintf(script, sizeof(script), "echo partial; setsid sleep %s & sleep %s & wait", mark(),
		 mark());
	t = now_ms();
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = 100));
	ck_assert_int_lt(now_ms() - t, 1500);
	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_SIGNALED);
	ck_assert_str_eq(r->exit.signal, "TERM");
	ck_assert_str_eq(r->out.text, "partial\n");
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	cove_exec_result_free(r);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(proc_9_who_ignores_term_is_killed) /* PROC-9, PROC-19, CASE-3 */
{
	struct cove_exec_result *r;
	char script[200];
	int64_t t;

	begin(_i);
	snprintf(script, sizeof(script),
		 "trap '' TERM INT HUP; sleep %s & while :; do sleep 1; done", mark());
	t = now_ms();
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = 100, .grace_ms = 200));
	ck_assert_int_ge(now_ms() - t, 290);
	ck_assert_int_lt(now_ms() - t, 2000);
	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_str_eq(r->exit.signal, "KILL");
	cove_exec_result_free(r);
	assert_gone(mark());
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "kill -STOP $$", .timeout_ms = 100,
				.grace_ms = COVE_ZERO));
	ck_assert_str_eq(r->exit.signal, "KILL");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_9_exit_at_term_is_still_a_timeout) /* PROC-9 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "trap 'echo bye; exit 0' TERM; sleep 60 & wait",
				.timeout_ms = 200));
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_EXITED);
	ck_assert_int_eq(r->exit.code, 0);
	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_str_eq(r->out.text, "bye\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_9_bad_deadlines) /* PROC-9 */
{
	const int64_t bad[] = {-1, COVE_ZERO, INT64_C(2147483648), INT64_MAX, INT64_MIN};
	const char *json[] = {"0",  "-1", "1e30", "2.5", "\"5\"", "null", "99999999999999999999",
			      "NaN"};

	begin(_i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "touch ran",
						   .timeout_ms = bad[i])),
				 COVE_E_INVALID_ARGUMENT);
		ck_assert_str_eq(err.field, "timeout_ms");
	}
	for (size_t i = 0; i < sizeof(json) / sizeof(json[0]); i++) {
		struct cove_call *call = NULL;
		char args[100];

		snprintf(args, sizeof(args), "{\"script\":\"touch ran\",\"timeout_ms\":%s}",
			 json[i]);
		ck_assert_msg(cove_submit_json(env, "process.exec", args, strlen(args), NULL, &call,
					       &err) == COVE_E_INVALID_ARGUMENT,
			      "%s", json[i]);
		ck_assert_ptr_null(call);
	}
	expect_out("ls", "");
	end();
}
END_TEST

static void *cancel_later(void *arg)
{
	usleep(100000);
	cove_cancel_fire(arg);
	return NULL;
}

START_TEST(proc_9_cancel_ends_the_tree) /* PROC-9, CASE-2, CASE-28 */
{
	struct cove_cancel *cancel;
	struct cove_call *call = NULL;
	struct cove_exec_result *r = NULL;
	char script[200];
	pthread_t thread;
	int64_t t;

	begin(_i);
	cancel = cove_cancel_new();
	snprintf(script, sizeof(script), "echo begun; setsid sleep %s & sleep %s", mark(), mark());
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = script),
				     COVE_OPTS(cove_call_opts, .cancel = cancel), &call, &err),
			 0);
	pthread_create(&thread, NULL, cancel_later, cancel);
	t = now_ms();
	ck_assert_int_eq(cove_call_take(call, (void **)&r, &err), 0);
	ck_assert_int_lt(now_ms() - t, 2000);
	pthread_join(thread, NULL);
	ck_assert_int_eq(r->exit.reason, COVE_END_CANCELLED);
	ck_assert_str_eq(r->out.text, "begun\n");
	cove_exec_result_free(r);
	assert_gone(mark());
	/* One that is cancelled already has no effect at all. */
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = "touch ran"),
				     COVE_OPTS(cove_call_opts, .cancel = cancel), &call, &err),
			 COVE_E_CANCELLED);
	ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	cove_cancel_free(cancel);
	expect_out("ls", "");
	end();
}
END_TEST

START_TEST(proc_12_signals_by_name) /* PROC-12 */
{
	begin(_i);
	start_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "trap 'echo got; exit 9' USR1; echo up; while :; do sleep 0.02; done"));
	for (int i = 0; i < 250; i++) {
		struct cove_output_read_result *r = NULL;
		int64_t n;

		ck_assert_int_eq(cove_output_read(env,
						  COVE_OPTS(cove_output_read_opts,
							    .process = "process-1",
							    .wait_ms = 5000),
						  &r, NULL),
				 0);
		n = r->produced;
		cove_output_read_result_free(r);
		if (n > 0)
			break;
	}
	ck_assert_int_eq(cove_process_signal(env,
					     COVE_OPTS(cove_process_signal_opts,
						       .process = "process-1", .signal = "SIGUSR1"),
					     &err),
			 0);
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_EXITED, 5000).code, 9);
	wait_for("process-1", COVE_UNTIL_CLEAN, 5000);
	ck_assert_int_eq(cove_process_signal(env,
					     COVE_OPTS(cove_process_signal_opts,
						       .process = "process-1", .signal = "TERM"),
					     &err),
			 COVE_E_CONFLICT);
	ck_assert_int_eq(cove_process_signal(env,
					     COVE_OPTS(cove_process_signal_opts,
						       .process = "process-1", .signal = "NOPE"),
					     &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(err.field, "signal");
	end();
}
END_TEST

START_TEST(proc_13_kill_confirms) /* PROC-13, CASE-3, CASE-14, CASE-29 */
{
	struct cove_process_wait_result *w = NULL;
	struct cove_process_info *info = NULL;
	char script[200];

	begin(_i);
	snprintf(script, sizeof(script), "sh -c 'sleep %s & sleep %s' & setsid sleep %s & wait",
		 mark(), mark(), mark());
	start_opts(COVE_OPTS(cove_exec_opts, .script = script));
	usleep(50000);
	ck_assert_int_eq(cove_process_release(
				 env, COVE_OPTS(cove_process_ref, .process = "process-1"), &err),
			 COVE_E_BUSY);
	ck_assert_int_eq(cove_process_kill(env,
					   COVE_OPTS(cove_process_kill_opts, .process = "process-1",
						     .grace_ms = COVE_ZERO),
					   &w, &err),
			 0);
	ck_assert_int_eq(w->exit.phase, COVE_PHASE_SIGNALED);
	ck_assert_int_eq(w->exit.reason, COVE_END_KILLED);
	ck_assert_int_eq(w->exit.tree, COVE_TREE_CLEAN);
	cove_process_wait_result_free(w);
	assert_gone(mark());
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 0);
	ck_assert_int_eq(info->exit.reason, COVE_END_KILLED);
	cove_result_free(info);
	/* Killing what is clean only reports. */
	ck_assert_int_eq(
		cove_process_kill(env, COVE_OPTS(cove_process_kill_opts, .process = "process-1"),
				  &w, &err),
		0);
	ck_assert_int_eq(w->exit.reason, COVE_END_KILLED);
	cove_process_wait_result_free(w);
	end();
}
END_TEST

START_TEST(proc_8_close_ends_everything) /* PROC-8, ENV-3 */
{
	char script[200];

	begin(_i);
	snprintf(script, sizeof(script), "trap '' TERM; (setsid sleep %s &) ; sleep %s", mark(),
		 mark());
	start_opts(COVE_OPTS(cove_exec_opts, .script = script));
	usleep(100000);
	ck_assert_int_ge(count_processes(mark()), 2);
	end();
	assert_gone(mark());
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&proc_9_deadline_ends_the_tree,
	&proc_9_who_ignores_term_is_killed,
	&proc_9_exit_at_term_is_still_a_timeout,
	&proc_9_bad_deadlines,
	&proc_9_cancel_ends_the_tree,
	&proc_12_signals_by_name,
	&proc_13_kill_confirms,
	&proc_8_close_ends_everything,
};

MAIN("process_end")
