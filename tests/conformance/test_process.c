/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and processes: PROC rules, on every provider. */
#include "fixture.h"

static char big_script[300000];

START_TEST(proc_1_argv_runs_without_a_shell) /* PROC-1 */
{
	const char *argv[] = {"printf", "%s|", "a b", "$HOME", "*", "", NULL};
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .argv = argv));
	ck_assert_str_eq(r->out.text, "a b|$HOME|*||");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_1_script_arrives_unchanged) /* PROC-1 */
{
	begin(_i);
	expect_out("cat <<'X'\n$HOME \"quoted\" 'single' \\n\n\ttab\nX\necho \"é\"",
		   "$HOME \"quoted\" 'single' \\n\n\ttab\né\n");
	end();
}
END_TEST

START_TEST(proc_1_long_scripts) /* PROC-1 */
{
	struct cove_exec_result *r;
	size_t n = 0;

	begin(_i);
	n += (size_t)snprintf(big_script, sizeof(big_script), "echo start $#\nx='");
	memset(big_script + n, 'y', 200000);
	n += 200000;
	snprintf(big_script + n, sizeof(big_script) - n,
		 "'\necho ${#x}\nls /proc/$$/fd | wc -l\nexit 5\n\n");
	r = sh(big_script);
	ck_assert_int_eq(r->exit.code, 5);
	ck_assert_msg(strncmp(r->out.text, "start 0\n200000\n", 15) == 0, "%s", r->out.text);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_1_bad_commands_are_refused) /* PROC-1 */
{
	static char huge[2 << 20];
	const char *empty[] = {"", NULL};
	const char *none[] = {NULL};
	const char *some[] = {"true", NULL};
	const char *long_arg[] = {"true", huge, NULL};

	begin(_i);
	memset(huge, 'x', sizeof(huge) - 1);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .timeout_ms = 5)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(err.field, "argv");
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = empty)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = none)), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "")), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = some, .script = "true")),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = huge)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(err.field, "script");
	huge[200000] = '\0';
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = long_arg)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(err.field, "argv");
	end();
}
END_TEST

START_TEST(proc_1_cwd) /* PROC-1, CASE-26 */
{
	const char *argv[] = {"pwd", NULL};
	struct cove_exec_result *r;

	begin(_i);
	cove_exec_result_free(sh("mkdir -p sub/dir; touch plain"));
	r = exec_opts(COVE_OPTS(cove_exec_opts, .argv = argv, .cwd = "sub/dir"));
	ck_assert_ptr_nonnull(strstr(r->out.text, "/sub/dir\n"));
	cove_exec_result_free(r);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "touch ran", .cwd = "nope")),
			 COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.field, "cwd");
	ck_assert_str_eq(err.path, "nope");
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "touch ran", .cwd = "plain")),
			 COVE_E_NOT_DIRECTORY);
	expect_out("ls", "plain\nsub\n");
	end();
}
END_TEST

START_TEST(proc_2_failed_starts_are_errors) /* PROC-2 */
{
	const char *missing[] = {"no-such-program-here", NULL};
	const char *missing_path[] = {"./no/such", NULL};
	const char *plain[] = {"./plain", NULL};
	const char *no_interpreter[] = {"./script", NULL};
	struct cove_process_list_result *list = NULL;

	begin(_i);
	cove_exec_result_free(
		sh("echo x > plain; printf '#!/no/such/interp\\n' > script; chmod +x script"));
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = missing)), COVE_E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(err.message, "no-such-program-here"));
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = missing_path)),
			 COVE_E_NOT_FOUND);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = plain)), COVE_E_SPAWN_FAILED);
	ck_assert_int_eq(err.sys_errno, EACCES);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = no_interpreter)),
			 COVE_E_SPAWN_FAILED);
	ck_assert_int_eq(err.sys_errno, ENOENT);
	ck_assert_int_eq(cove_process_list(env, &list, NULL), 0);
	ck_assert_uint_eq(list->process_count, 0);
	cove_result_free(list);
	end();
}
END_TEST

START_TEST(proc_3_handles_are_numbered) /* PROC-3 */
{
	struct cove_process_list_result *list = NULL;

	begin(_i);
	cove_exec_result_free(sh("true"));
	ck_assert_str_eq(start_opts(COVE_OPTS(cove_exec_opts, .script = "true")), "process-1");
	ck_assert_str_eq(start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 0.01")),
			 "process-2");
	wait_for("process-1", COVE_UNTIL_CLEAN, 0);
	wait_for("process-2", COVE_UNTIL_CLEAN, 0);
	ck_assert_int_eq(cove_process_list(env, &list, NULL), 0);
	ck_assert_uint_eq(list->process_count, 2);
	ck_assert_str_eq(list->processes[0].process, "process-1");
	ck_assert_str_eq(list->processes[1].command, "sleep 0.01");
	cove_result_free(list);
	end();
}
END_TEST

START_TEST(proc_3_kept_exec_has_a_handle) /* PROC-3 */
{
	struct cove_exec_result *r;
	struct cove_output_read_result *read = NULL;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "echo kept", .keep = true));
	ck_assert_str_eq(r->process, "process-1");
	ck_assert_int_eq(cove_output_read(env,
					  COVE_OPTS(cove_output_read_opts, .process = r->process),
					  &read, NULL),
			 0);
	ck_assert_str_eq(read->data.data, "kept\n");
	ck_assert(read->content_complete);
	cove_output_read_result_free(read);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_3_unknown_and_released_handles) /* PROC-3 */
{
	const char *bad[] = {"process-9", "process-0",	"process-",
			     "nonsense",  "process-1x", "1234"};
	struct cove_process_info *info = NULL;

	begin(_i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_int_eq(
			cove_process_inspect(env, COVE_OPTS(cove_process_ref, .process = bad[i]),
					     &info, &err),
			COVE_E_NOT_FOUND);
		ck_assert_str_eq(err.path, bad[i]);
	}
	start_opts(COVE_OPTS(cove_exec_opts, .script = "true"));
	wait_for("process-1", COVE_UNTIL_CLEAN, 0);
	ck_assert_int_eq(cove_process_release(
				 env, COVE_OPTS(cove_process_ref, .process = "process-1"), &err),
			 0);
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 COVE_E_STALE);
	end();
}
END_TEST

START_TEST(proc_4_daemons_belong_to_the_tree) /* PROC-4, CASE-5 */
{
	char script[300];
	struct cove_exec_result *r;

	begin(_i);
	snprintf(script, sizeof(script),
		 "setsid sh -c 'sleep %s & sleep %s' & (sleep %s &) & sleep 0.05; echo done",
		 mark(), mark(), mark());
	r = sh(script);
	ck_assert_str_eq(r->out.text, "done\n");
	ck_assert_int_ge(r->exit.survivors, 3);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	cove_exec_result_free(r);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(proc_4_a_weakened_keeper_is_not_used_again) /* PROC-4 */
{
	const char *look = "ulimit -n; nice; taskset -p $$ | sed 's/.*: //'";
	struct cove_exec_result *before;
	struct cove_exec_result *after;

	begin(_i);
	before = sh(look);
	cove_exec_result_free(
		sh("prlimit --pid $PPID --nofile=16:16; renice -n 19 -p $PPID >/dev/null; "
		   "taskset -p 1 $PPID >/dev/null"));
	after = sh(look);
	ck_assert_str_eq(before->out.text, after->out.text);
	cove_exec_result_free(before);
	cove_exec_result_free(after);
	end();
}
END_TEST

START_TEST(proc_4_a_killed_or_stopped_keeper) /* PROC-4 */
{
	struct cove_exec_result *r;
	char script[200];

	begin(_i);
	snprintf(script, sizeof(script), "(setsid sleep %s &); kill -9 $PPID; sleep 60", mark());
	r = sh(script);
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_LOST);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	cove_exec_result_free(r);
	assert_gone(mark());
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "kill -STOP $PPID; exit 4",
				.timeout_ms = 5000));
	ck_assert_int_eq(r->exit.code, 4);
	ck_assert_int_eq(r->exit.reason, COVE_END_EXIT);
	cove_exec_result_free(r);
	expect_out("echo fine", "fine\n");
	end();
}
END_TEST

START_TEST(proc_5_two_facts_two_waits) /* PROC-5 */
{
	char script[200];
	struct cove_exit x;
	int64_t t;

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s & exit 7", mark());
	start_opts(COVE_OPTS(cove_exec_opts, .script = script));
	x = wait_for("process-1", COVE_UNTIL_EXITED, 0);
	ck_assert_int_eq(x.phase, COVE_PHASE_EXITED);
	ck_assert_int_eq(x.code, 7);
	ck_assert_int_eq(x.tree, COVE_TREE_RUNNING);
	ck_assert_int_eq(x.survivors, 1);
	t = now_ms();
	x = wait_for("process-1", COVE_UNTIL_CLEAN, 100);
	ck_assert_int_eq(x.tree, COVE_TREE_RUNNING);
	ck_assert_int_ge(now_ms() - t, 99);
	x = wait_for("process-1", COVE_UNTIL_CLEAN, COVE_ZERO);
	ck_assert_int_eq(x.tree, COVE_TREE_RUNNING);
	ck_assert_int_eq(count_processes(mark()), 1);
	end();
	assert_gone(mark());
}
END_TEST

START_TEST(proc_5_output_before_the_moment_can_be_read) /* PROC-5 */
{
	begin(_i);
	for (int i = 0; i < 30; i++) {
		struct cove_output_read_result *r = NULL;
		char *p = start_opts(
			COVE_OPTS(cove_exec_opts, .script = "echo now; sleep 60 & exit 0"));

		wait_for(p, COVE_UNTIL_EXITED, 0);
		ck_assert_int_eq(cove_output_read(env,
						  COVE_OPTS(cove_output_read_opts, .process = p),
						  &r, NULL),
				 0);
		ck_assert_str_eq(r->data.data, "now\n");
		cove_output_read_result_free(r);
	}
	end();
}
END_TEST

START_TEST(proc_6_status_is_told_as_it_is) /* PROC-6, CASE-13, CASE-19 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("true");
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_EXITED);
	ck_assert_int_eq(r->exit.code, 0);
	ck_assert_int_eq(r->exit.reason, COVE_END_EXIT);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	ck_assert_ptr_null(r->exit.signal);
	ck_assert_int_gt(r->exit.max_rss_bytes, 0);
	cove_exec_result_free(r);
	r = sh("false");
	ck_assert_int_eq(r->exit.code, 1);
	cove_exec_result_free(r);
	r = sh("exit 137");
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_EXITED);
	ck_assert_int_eq(r->exit.code, 137);
	ck_assert_int_eq(r->exit.reason, COVE_END_EXIT);
	cove_exec_result_free(r);
	r = sh("kill -9 $$");
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_SIGNALED);
	ck_assert_int_eq(r->exit.code, -1);
	ck_assert_str_eq(r->exit.signal, "KILL");
	ck_assert_int_eq(r->exit.reason, COVE_END_SIGNAL);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_7_completion_never_waits_for_a_pipe) /* PROC-7, CASE-9, CASE-11, PROC-21 */
{
	char script[200];
	int64_t t;

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s & echo done", mark());
	t = now_ms();
	expect_out(script, "done\n");
	ck_assert_int_lt(now_ms() - t, 1000);
	assert_gone(mark());
	snprintf(script, sizeof(script),
		 "setsid sleep %s </dev/null >/dev/null & echo a && echo b &", mark());
	t = now_ms();
	cove_exec_result_free(sh(script));
	ck_assert_int_lt(now_ms() - t, 1000);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(proc_7_a_pipe_held_outside_the_tree) /* PROC-7 */
{
	struct cove_exec_result *r;
	int64_t t = now_ms();

	begin(_i);
	/*
	 * A process of another tree keeps the pipe open: the guest holds process-1's shell, which
	 * opens the fd by /proc.
	 */
	start_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "while [ ! -s pid ]; do sleep 0.01; done; exec 5>/proc/$(cat pid)/fd/1; "
			  "touch held; sleep 30"));
	r = sh("echo $$ > pid.tmp; mv pid.tmp pid; while [ ! -e held ]; do sleep 0.01; done; echo out");
	ck_assert_str_eq(r->out.text, "out\n");
	cove_exec_result_free(r);
	ck_assert_int_lt(now_ms() - t, 5000);
	end();
}
END_TEST

START_TEST(proc_8_adopted_trees_are_numbered) /* PROC-8 */
{
	struct cove_exec_result *r;
	struct cove_process_wait_result *w = NULL;
	char script[200];

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s & echo started", mark());
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .script = script, .descendants = COVE_DESCENDANTS_ADOPT));
	ck_assert_str_eq(r->out.text, "started\n");
	ck_assert_str_eq(r->process, "process-1");
	ck_assert_int_eq(r->exit.survivors, 1);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_RUNNING);
	cove_exec_result_free(r);
	ck_assert_int_eq(count_processes(mark()), 1);
	ck_assert_int_eq(
		cove_process_kill(env, COVE_OPTS(cove_process_kill_opts, .process = "process-1"),
				  &w, &err),
		0);
	ck_assert_int_eq(w->exit.tree, COVE_TREE_CLEAN);
	cove_process_wait_result_free(w);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(proc_11_stdin_forms) /* PROC-11, CASE-41 */
{
	static char big[3 << 20];
	struct cove_exec_result *r;

	begin(_i);
	expect_out("cat; echo end", "end\n");
	memset(big, 'b', sizeof(big));
	/* The command echoes while it is fed: both pipes must move. */
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "cat | tee copy | wc -c",
				.stdin_data = {big, sizeof(big)}));
	ck_assert_str_eq(r->out.text, "3145728\n");
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "cat", .stdin_data = {big, sizeof(big)},
				.max_output_bytes = 4 << 20));
	ck_assert_uint_eq(r->out.data_len, sizeof(big));
	ck_assert_int_eq(memcmp(r->out.data, big, sizeof(big)), 0);
	cove_exec_result_free(r);
	/* Who doesn't read it is not the worse for it. */
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "exec <&-; exit 3",
				.stdin_data = {big, sizeof(big)}));
	ck_assert_int_eq(r->exit.code, 3);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "wc -c", .stdin_data = {"", 0}));
	ck_assert_str_eq(r->out.text, "0\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_11_open_stdin) /* PROC-11 */
{
	struct cove_process_write_stdin_result *w = NULL;
	struct cove_output_read_result *r = NULL;
	const char *p = "process-1";

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "while read -r x; do echo \"<$x>\"; done",
			     .keep_stdin_open = true));
	ck_assert_int_eq(cove_process_write_stdin(env,
						  COVE_OPTS(cove_process_write_stdin_opts,
							    .process = p,
							    .data = {"one\ntwo\n", 8}),
						  &w, &err),
			 0);
	ck_assert_int_eq(w->bytes_written, 8);
	cove_result_free(w);
	ck_assert_int_eq(
		cove_output_read(env,
				 COVE_OPTS(cove_output_read_opts, .process = p, .wait_ms = 5000),
				 &r, &err),
		0);
	ck_assert_int_gt(r->data.len, 0);
	cove_output_read_result_free(r);
	ck_assert_int_eq(
		cove_process_close_stdin(env, COVE_OPTS(cove_process_ref, .process = p), &err), 0);
	ck_assert_int_eq(
		cove_process_close_stdin(env, COVE_OPTS(cove_process_ref, .process = p), &err), 0);
	ck_assert_int_eq(wait_for(p, COVE_UNTIL_CLEAN, 5000).code, 0);
	ck_assert_int_eq(
		cove_output_read(env, COVE_OPTS(cove_output_read_opts, .process = p), &r, &err), 0);
	ck_assert_str_eq(r->data.data, "<one>\n<two>\n");
	cove_output_read_result_free(r);
	ck_assert_int_eq(cove_process_write_stdin(env,
						  COVE_OPTS(cove_process_write_stdin_opts,
							    .process = p, .data = {"x", 1}),
						  &w, &err),
			 COVE_E_CONFLICT);
	end();
}
END_TEST

START_TEST(proc_14_a_clean_start) /* PROC-14, CASE-43, CASE-45 */
{
	int leak = open("/dev/null", O_RDWR); /* not close-on-exec */

	signal(SIGPIPE, SIG_IGN);
	begin(_i);
	expect_out("ls /proc/self/fd | tr '\\n' ' '",
		   "0 1 2 3 "); /* 3 is the directory that ls reads */
	expect_out(
		"umask; ps -o sid= -p $$ | tr -d ' ' > s; [ \"$(cat s)\" = $$ ] && echo own session; rm s",
		"0022\nown session\n");
	expect_out("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'",
		   "SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
	expect_out("(echo x >/dev/tty) 2>/dev/null || echo no tty", "no tty\n");
	expect_out("echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $GIT_EDITOR $EDITOR $VISUAL",
		   "cat cat 0 false false false\n");
	end();
	close(leak);
	signal(SIGPIPE, SIG_DFL);
}
END_TEST

START_TEST(proc_15_variables) /* PROC-15, CASE-81, CASE-83, CASE-84 */
{
	const char *set[] = {"A=1", "PATH=/usr/bin:/bin", NULL};
	const char *unset[] = {"HOME", NULL};
	struct cove_exec_result *r;

	setenv("MY_API_KEY", "hidden1", 1);
	setenv("SOME_TOKEN", "hidden2", 1);
	setenv("DB_PASSWORD", "hidden3", 1);
	setenv("SSH_AUTH_SOCK", "/hidden4", 1);
	setenv("DOCKER_HOST", "hidden5", 1);
	setenv("PLAIN", "visible", 1);
	begin(_i);
	r = sh("env; cat /proc/$PPID/environ | tr '\\0' '\\n'");
	ck_assert_ptr_null(strstr(r->out.text, "hidden"));
	/* Into a sandbox nothing comes that nobody named. */
	ck_assert_int_eq(strstr(r->out.text, "PLAIN=visible") != NULL, !is_confined(_i));
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "env | sort",
				.env = {.set = set, .inherit = COVE_ZERO}));
	ck_assert_ptr_nonnull(strstr(r->out.text, "A=1\n"));
	ck_assert_ptr_null(strstr(r->out.text, "PLAIN"));
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "echo ${HOME-none} $A",
				.env = {.set = set, .unset = unset}));
	ck_assert_str_eq(r->out.text, "none 1\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_16_limits_that_hold) /* PROC-16 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .limits = {.file_size_bytes = 100000},
				.script =
					"head -c 100000 /dev/zero > fits && "
					"sh -c 'head -c 200000 /dev/zero > large'; echo $?; "
					"cat fits large | wc -c; ulimit -f unlimited 2>/dev/null; "
					"(head -c 200000 /dev/zero > more); wc -c < more"));
	ck_assert_str_eq(r->out.text, "153\n200000\n100000\n");
	cove_exec_result_free(r);
	/* The next command of the same keeper has no limit. */
	expect_out("head -c 200000 /dev/zero > free; wc -c < free", "200000\n");
	r = exec_opts(COVE_OPTS(cove_exec_opts, .limits = {.output_bytes = 10000},
				.script = "yes out & yes err >&2; sleep 100"));
	ck_assert_int_eq(r->exit.reason, COVE_END_OUTPUT_LIMIT);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	ck_assert_int_gt(r->out.bytes + r->err.bytes, 10000);
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .limits = {.output_bytes = 10000},
				.script = "head -c 9999 /dev/zero"));
	ck_assert_int_eq(r->exit.reason, COVE_END_EXIT);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(proc_16_limits_are_refused) /* PROC-16 */
{
	begin(_i);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .script = "touch ran",
					   .limits = {.memory_bytes = 1 << 20})),
			 COVE_E_NOT_SUPPORTED);
	ck_assert_str_eq(err.field, "limits.memory_bytes");
	expect_out("ls", "");
	end();
}
END_TEST

START_TEST(proc_19_many_short_children) /* PROC-19, CASE-17 */
{
	begin(_i);
	expect_out("for i in $(seq 300); do sh -c 'sleep .01 & exit'; done; sleep 0.1; echo done",
		   "done\n");
	ck_assert_int_eq(count_processes("cove-keeper"),
			 0); /* they have no arguments of their own */
	expect_out("ps -eo stat=,ppid= | awk -v p=$PPID '$1 ~ /Z/ && $2 == p' | wc -l", "0\n");
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&proc_1_argv_runs_without_a_shell,
	&proc_1_script_arrives_unchanged,
	&proc_1_long_scripts,
	&proc_1_bad_commands_are_refused,
	&proc_1_cwd,
	&proc_2_failed_starts_are_errors,
	&proc_3_handles_are_numbered,
	&proc_3_kept_exec_has_a_handle,
	&proc_3_unknown_and_released_handles,
	&proc_4_daemons_belong_to_the_tree,
	&proc_4_a_weakened_keeper_is_not_used_again,
	&proc_4_a_killed_or_stopped_keeper,
	&proc_5_two_facts_two_waits,
	&proc_5_output_before_the_moment_can_be_read,
	&proc_6_status_is_told_as_it_is,
	&proc_7_completion_never_waits_for_a_pipe,
	&proc_7_a_pipe_held_outside_the_tree,
	&proc_8_adopted_trees_are_numbered,
	&proc_11_stdin_forms,
	&proc_11_open_stdin,
	&proc_14_a_clean_start,
	&proc_15_variables,
	&proc_16_limits_that_hold,
	&proc_16_limits_are_refused,
	&proc_19_many_short_children,
};

MAIN("process")
