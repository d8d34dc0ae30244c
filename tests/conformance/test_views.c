/* SPDX-License-Identifier: Apache-2.0 */
/* Spill, rendered view, terminals, sessions: OUT-4, OUT-8, PROC-17, PROC-20, on every provider. */
#include "fixture.h"

static const struct cove_spill after_ten = {.after_lines = 10};
static const struct cove_spill after_100 = {.after_bytes = 100};
static const struct cove_spill all = {.after_bytes = COVE_ZERO};

static void expect_file(const char *path, const char *want, size_t len)
{
	struct cove_file_read_bytes_result *f = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_file_read_bytes(env, COVE_OPTS(cove_file_read_bytes_opts, .path = path),
					   &f, &err) == 0,
		      "read: %s", err.message);
	ck_assert_uint_eq(f->data.len, len);
	ck_assert_int_eq(memcmp(f->data.data, want, len), 0);
	cove_file_read_bytes_result_free(f);
}

START_TEST(out_4_spill_by_lines) /* OUT-4 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = "seq 10", .output = {.spill = &after_ten}));
	ck_assert_ptr_null(r->out.spill_path);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "seq 10; printf x",
				.output = {.spill = &after_ten}));
	ck_assert_ptr_nonnull(r->out.spill_path);
	ck_assert_str_eq(r->out.spill_path, r->err.spill_path);
	expect_file(r->out.spill_path, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nx", 22);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_4_spill_by_bytes_of_both_streams) /* OUT-4 */
{
	struct cove_exec_result *r;
	char want[102];

	begin(_i);
	memset(want, 'a', 60);
	memset(want + 60, 'b', 42);
	r = exec_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "printf %060d 0 | tr 0 a; sleep 0.05; printf %040d 0 | tr 0 b >&2",
		.output = {.spill = &after_100}));
	ck_assert_ptr_null(r->out.spill_path); /* exactly 100 is not more than 100 */
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "printf %060d 0 | tr 0 a; sleep 0.05; printf %042d 0 | tr 0 b >&2",
		.output = {.spill = &after_100}));
	ck_assert_ptr_nonnull(r->out.spill_path);
	expect_file(r->out.spill_path, want, sizeof(want));
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_4_everything_also_beyond_the_ring) /* OUT-4 */
{
	struct cove_exec_result *r;
	struct cove_exec_result *check;
	char script[PATH_MAX + 100];

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "seq 1 300000",
				.output = {.spill = &all, .retain_bytes = 1000}));
	ck_assert_ptr_nonnull(r->out.spill_path);
	snprintf(script, sizeof(script), "seq 1 300000 | cmp - '%s' && echo same; stat -c %%a '%s'",
		 r->out.spill_path, r->out.spill_path);
	check = sh(script);
	ck_assert_str_eq(check->out.text, "same\n600\n");
	cove_exec_result_free(check);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_4_a_timeout_reports_it_too) /* OUT-4 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "echo spilled; sleep 60",
				.timeout_ms = 200, .output = {.spill = &all}));
	ck_assert_int_eq(r->exit.reason, COVE_END_TIMEOUT);
	ck_assert_ptr_nonnull(r->out.spill_path);
	expect_file(r->out.spill_path, "spilled\n", 8);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_4_a_failing_spill) /* OUT-4 */
{
	const struct cove_spill required = {.after_bytes = COVE_ZERO, .required = true};
	struct cove_env_resolve_tmp_result *tmp = NULL;
	struct cove_exec_result *r;
	char script[PATH_MAX + 100];

	begin(_i);
	ck_assert_int_eq(cove_env_resolve_tmp(env,
					      COVE_OPTS(cove_env_resolve_tmp_opts, .path = "."),
					      &tmp, &err),
			 0);
	/* Its directory is gone, so nothing can be made in it. */
	snprintf(script, sizeof(script), "rm -rf '%s'", tmp->path);
	cove_result_free(tmp);
	cove_exec_result_free(sh(script));
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = "echo out; exit 2", .output = {.spill = &all}));
	ck_assert_int_eq(r->exit.code, 2);
	ck_assert_str_eq(r->out.text, "out\n");
	ck_assert_ptr_null(r->out.spill_path);
	ck_assert_ptr_nonnull(r->out.spill_error);
	cove_exec_result_free(r);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "echo out; sleep 60",
					   .output = {.spill = &required})),
			 COVE_E_SPILL_FAILED);
	end();
}
END_TEST

START_TEST(out_8_rendered_text) /* OUT-8 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(
		COVE_OPTS(cove_exec_opts,
			  .script = "printf ' 10%%\\r 50%%\\r100%%\\nred \\033[1;31mRED\\033[0m\\n"
				    "\\033]0;title\\007abc\\b\\bX\\033[K\\nlast'",
			  .output = {.render = true}));
	ck_assert_str_eq(r->out.text, "100%\nred RED\naX\nlast");
	cove_exec_result_free(r);
	r = exec_opts(
		COVE_OPTS(cove_exec_opts,
			  .script = "for i in $(seq 100000); do printf '%d\\r' $i; done; echo",
			  .output = {.render = true}));
	ck_assert_str_eq(r->out.text, "100000\n");
	ck_assert(!r->out.truncated);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "for i in $(seq 20000); do printf '\\033[32m%d\\033[m\\n' $i; done",
		.output = {.render = true}, .max_output_bytes = 1000));
	ck_assert(r->out.truncated);
	ck_assert_uint_le(r->out.text_len, 1000);
	ck_assert_ptr_null(strchr(r->out.text, 033));
	ck_assert_int_eq(strncmp(r->out.text, "1\n2\n", 4), 0);
	ck_assert_str_eq(r->out.text + r->out.text_len - 6, "20000\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

static const struct cove_tty small = {.rows = 7, .cols = 33};
static const struct cove_tty usual;

START_TEST(proc_17_a_terminal) /* PROC-17 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(
		COVE_OPTS(cove_exec_opts,
			  .script = "stty size; test -t 0 && test -t 1 && test -t 2 && echo tty; "
				    "echo typed > /dev/tty; ps -o tpgid= -p $$ | tr -d ' ' > p; "
				    "[ $(cat p) -gt 0 ] && echo controlling",
			  .tty = &small));
	ck_assert_str_eq(r->out.text, "7 33\r\ntty\r\ntyped\r\ncontrolling\r\n");
	ck_assert(r->merged);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "stty size", .tty = &usual));
	ck_assert_str_eq(r->out.text, "24 80\r\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

static void type(const char *process, const char *text)
{
	struct cove_process_write_stdin_result *w = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_process_write_stdin(env,
					       COVE_OPTS(cove_process_write_stdin_opts,
							 .process = process,
							 .data = {text, strlen(text)}),
					       &w, &err) == 0,
		      "write: %s", err.message);
	cove_result_free(w);
}

static void await_output(const char *process, const char *text)
{
	for (int i = 0; i < 500; i++) {
		struct cove_output_read_result *r = NULL;
		bool found;

		ck_assert_int_eq(cove_output_read(env,
						  COVE_OPTS(cove_output_read_opts,
							    .process = process,
							    .stream = COVE_STREAM_OUTPUT),
						  &r, &err),
				 0);
		found = strstr(r->data.data, text) != NULL;
		cove_output_read_result_free(r);
		if (found)
			return;
		usleep(10000);
	}
	ck_abort_msg("'%s' never came", text);
}

START_TEST(proc_17_resize_and_signals) /* PROC-17 */
{
	begin(_i);
	start_opts(COVE_OPTS(
		cove_exec_opts, .tty = &small,
		.script =
			"trap 'echo size $(stty size)' WINCH; trap 'echo interrupted; exit 5' INT; "
			"echo ready; while :; do sleep 0.05; done"));
	await_output("process-1", "ready");
	ck_assert_int_eq(cove_process_resize(env,
					     COVE_OPTS(cove_process_resize_opts,
						       .process = "process-1", .rows = 40,
						       .cols = 120),
					     &err),
			 0);
	await_output("process-1", "size 40 120");
	type("process-1", "\x03");
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 5000).code, 5);
	await_output("process-1", "interrupted");
	ck_assert_int_eq(cove_process_resize(env,
					     COVE_OPTS(cove_process_resize_opts,
						       .process = "process-1", .rows = 4,
						       .cols = 12),
					     &err),
			 COVE_E_CONFLICT);
	end();
}
END_TEST

START_TEST(proc_17_end_of_input) /* PROC-17 */
{
	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .tty = &usual, .script = "cat; echo over"));
	type("process-1", "line\n");
	await_output("process-1", "line\r\nline\r\n");
	ck_assert_int_eq(cove_process_close_stdin(
				 env, COVE_OPTS(cove_process_ref, .process = "process-1"), &err),
			 0);
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 5000).code, 0);
	await_output("process-1", "over");
	end();
}
END_TEST

START_TEST(proc_17_output_is_complete) /* PROC-17 */
{
	struct cove_exec_result *r;

	begin(_i);
	for (int i = 0; i < 20; i++) {
		r = exec_opts(COVE_OPTS(cove_exec_opts, .tty = &usual, .script = "seq 1 5000"));
		ck_assert_int_eq(r->out.bytes, 28893);
		cove_exec_result_free(r);
	}
	end();
}
END_TEST

static void session(const char *name, const char *script, const char *want)
{
	struct cove_exec_result *r =
		exec_opts(COVE_OPTS(cove_exec_opts, .script = script, .session = name));

	ck_assert_str_eq(r->out.text, want);
	cove_exec_result_free(r);
}

START_TEST(proc_20_sessions_keep_state) /* PROC-20 */
{
	struct cove_exec_result *r;

	begin(_i);
	session("s",
		"mkdir 'a b'; cd 'a b'; export V='x y\n z' W=w; plain=1; f() { echo \"f:$1\"; }; alias hi='echo hello'; unset HOME",
		"");
	session("s",
		"basename \"$PWD\"; echo \"$V\"; f 1; hi; echo ${plain-unset} ${HOME-none}; unset W",
		"a b\nx y\n z\nf:1\nhello\nunset none\n");
	session("s", "echo ${W-gone}; exit 3", "gone\n");
	session("other", "echo ${V-nothing}", "nothing\n");
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "(exit 7)", .session = "s"));
	ck_assert_int_eq(r->exit.code, 7);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "pwd", .session = "s", .cwd = "/"));
	ck_assert_str_eq(r->out.text, "/\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_20_a_directory_that_is_gone) /* PROC-20 */
{
	struct cove_exec_result *r;

	begin(_i);
	session("s", "mkdir d; cd d", "");
	cove_exec_result_free(sh("rmdir d"));
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "echo still", .session = "s"));
	ck_assert_str_eq(r->out.text, "still\n");
	ck_assert_ptr_nonnull(strstr(r->err.text, "is gone"));
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_20_a_killed_command_keeps_the_last_state) /* PROC-20 */
{
	struct cove_exec_result *r;

	begin(_i);
	session("s", "export A=good", "");
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = "export A=bad; kill -9 $$", .session = "s"));
	ck_assert_str_eq(r->exit.signal, "KILL");
	cove_exec_result_free(r);
	session("s", "echo $A", "good\n");
	end();
}
END_TEST

START_TEST(proc_20_one_command_at_a_time) /* PROC-20 */
{
	struct cove_call *call = NULL;
	struct cove_env_resolve_tmp_result *tmp = NULL;
	char script[PATH_MAX + 64];

	begin(_i);
	ck_assert_int_eq(
		cove_submit(env, "process.exec",
			    COVE_OPTS(cove_exec_opts, .script = "sleep 0.3", .session = "s"), NULL,
			    &call, &err),
		0);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "true", .session = "s")),
			 COVE_E_BUSY);
	session("t", "echo free", "free\n");
	ck_assert_int_eq(cove_call_take(call, NULL, &err), 0);
	session("s", "echo now", "now\n");
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "true", .session = "../x")),
			 COVE_E_INVALID_ARGUMENT);
	/* What it keeps is for nobody else's eyes. */
	ck_assert_int_eq(
		cove_env_resolve_tmp(env, COVE_OPTS(cove_env_resolve_tmp_opts, .path = "session-s"),
				     &tmp, &err),
		0);
	snprintf(script, sizeof(script), "stat -c %%a '%s'", tmp->path);
	cove_result_free(tmp);
	expect_out(script, "600\n");
	end();
}
END_TEST

START_TEST(proc_20_scripts_arrive_unchanged) /* PROC-20 */
{
	begin(_i);
	session("s",
		"cat <<'X'\nit's $HOME \"q\" \\ `no`\nX\nset -- a b; echo $#; set -e; false; echo never",
		"it's $HOME \"q\" \\ `no`\n2\n");
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&out_4_spill_by_lines,
	&out_4_spill_by_bytes_of_both_streams,
	&out_4_everything_also_beyond_the_ring,
	&out_4_a_timeout_reports_it_too,
	&out_4_a_failing_spill,
	&out_8_rendered_text,
	&proc_17_a_terminal,
	&proc_17_resize_and_signals,
	&proc_17_end_of_input,
	&proc_17_output_is_complete,
	&proc_20_sessions_keep_state,
	&proc_20_a_directory_that_is_gone,
	&proc_20_a_killed_command_keeps_the_last_state,
	&proc_20_one_command_at_a_time,
	&proc_20_scripts_arrive_unchanged,
};

MAIN("views")
