/* SPDX-License-Identifier: Apache-2.0 */
/* Life of an environment, errors, threads: ENV, ERR and PROV rules, on every provider. */
#include "fixture.h"

#include <pthread.h>

START_TEST(env_1_opening_does_no_io) /* ENV-1 */
{
	struct cove_env_opts opts;
	char root[PATH_MAX + 8];
	const char *list[2];
	struct cove_env *e = NULL;
	char name[300];

	setup_dir();
	options_for(_i, &opts, root, list);
	ck_assert_int_eq(cove_env_open(&opts, &e, &err), 0);
	ck_assert_int_eq(count_fds(), fds_before);
	ck_assert_str_eq(cove_env_provider(e), providers[_i]);
	gethostname(name, sizeof(name));
	ck_assert_ptr_nonnull(
		strstr(cove_env_namespace_id(e), is_confined(_i) ? "sandbox:" : name));
	ck_assert_int_eq(cove_env_cwd(e)[0], '/');
	ck_assert_int_eq(cove_env_fd(e), -1);
	ck_assert_int_eq(rmdir(test_dir), 0); /* nothing was made in it */
	ck_assert_int_eq(mkdir(test_dir, 0700), 0);
	ck_assert_int_eq(cove_env_close(e, COVE_OUTCOME_SUCCESS, &err), 0);
	teardown_dir();
}
END_TEST

START_TEST(env_1_unknown_configuration_is_refused) /* ENV-1 */
{
	const char *unknown[] = {"color=red", NULL};
	const char *no_name[] = {"=x", NULL};
	const char *relative[] = {"some/dir", NULL};
	struct cove_env *e = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = providers[_i],
						 .options = unknown),
				       &e, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(err.field, "options");
	ck_assert_int_eq(
		cove_env_open(COVE_OPTS(cove_env_opts, .provider = providers[_i], .env = no_name),
			      &e, &err),
		COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = providers[_i],
						 .roots = relative),
				       &e, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(
		cove_env_open(COVE_OPTS(cove_env_opts, .provider = providers[_i], .timeout_ms = -1),
			      &e, &err),
		COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_null(e);
}
END_TEST

START_TEST(env_1_struct_tails) /* ENV-1 */
{
	struct {
		struct cove_env_opts opts;
		int64_t future[4];
	} newer = {.opts = {.size = sizeof(newer), .provider = providers[_i]}};
	struct cove_env_opts unset = {.provider = "here"};
	struct cove_env *e = NULL;

	ck_assert_int_eq(cove_env_open(&newer.opts, &e, &err), 0);
	cove_env_close(e, COVE_OUTCOME_SUCCESS, NULL);
	e = NULL;
	newer.future[1] = 1;
	ck_assert_int_eq(cove_env_open(&newer.opts, &e, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_env_open(&unset, &e, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_null(e);
}
END_TEST

static void *ready(void *arg)
{
	return (void *)(intptr_t)cove_env_ready(arg, NULL, NULL);
}

START_TEST(env_2_one_preparation_for_all) /* ENV-2 */
{
	pthread_t threads[8];

	begin(_i);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, ready, env);
	for (int i = 0; i < 8; i++) {
		void *rc;

		pthread_join(threads[i], &rc);
		ck_assert_int_eq((int)(intptr_t)rc, 0);
	}
	expect_out("echo one", "one\n");
	end();
}
END_TEST

START_TEST(env_2_a_failure_is_remembered) /* ENV-2 */
{
	struct cove_error first = COVE_ERROR_INIT;
	struct cove_error second = COVE_ERROR_INIT;

	begin(_i);
	setenv("COVE_GUEST", "/no/such/guest", 1);
	ck_assert_int_eq(cove_env_ready(env, NULL, &first), COVE_E_SPAWN_FAILED);
	unsetenv("COVE_GUEST");
	ck_assert_int_eq(cove_env_ping(env, &second), COVE_E_SPAWN_FAILED);
	ck_assert_str_eq(first.message, second.message);
	/* Nothing half prepared is left (ENV-4). */
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	env = open_env(_i);
	setenv("COVE_GUEST", "/bin/true", 1);
	ck_assert_int_eq(cove_env_ready(env, NULL, &first), COVE_E_PROTOCOL_ERROR);
	unsetenv("COVE_GUEST");
	end();
}
END_TEST

START_TEST(env_2_no_guest_answers) /* ENV-2 */
{
	int64_t t = now_ms();

	begin(_i);
	setenv("COVE_GUEST", "/bin/cat", 1);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_PROTOCOL_ERROR);
	ck_assert_int_lt(now_ms() - t, 8000);
	unsetenv("COVE_GUEST");
	end();
}
END_TEST

START_TEST(env_3_close_ends_calls) /* ENV-3 */
{
	struct cove_call *call = NULL;
	struct cove_exec_result *r = NULL;
	char script[100];

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s", mark());
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = script), NULL, &call,
				     &err),
			 0);
	cove_call_wait(call, 100);
	end();
	assert_gone(mark());
	ck_assert_int_eq(cove_call_take(call, (void **)&r, &err), COVE_E_CLOSED);
	ck_assert_int_eq(cove_env_close(NULL, COVE_OUTCOME_SUCCESS, NULL), 0);
}
END_TEST

START_TEST(env_5_scratch_directory) /* ENV-5 */
{
	const char *bad[] = {"/etc", "..", "a/../..", "a/../../b", "../x"};
	struct cove_env_resolve_tmp_result *r = NULL;
	struct cove_file_entry *e = NULL;
	struct cove_file_write_result *w = NULL;
	char path[PATH_MAX];

	begin(_i);
	ck_assert_int_eq(cove_env_resolve_tmp(
				 env, COVE_OPTS(cove_env_resolve_tmp_opts, .path = "."), &r, &err),
			 0);
	snprintf(path, sizeof(path), "%s", r->path);
	cove_result_free(r);
	ck_assert_int_eq(
		cove_file_stat(env, COVE_OPTS(cove_file_path_opts, .path = path), &e, &err), 0);
	ck_assert_int_eq(e->mode, 0700);
	cove_result_free(e);
	ck_assert_int_eq(cove_env_resolve_tmp(
				 env, COVE_OPTS(cove_env_resolve_tmp_opts, .path = "a/./b/../c"),
				 &r, &err),
			 0);
	ck_assert_ptr_nonnull(strstr(r->path, "/a/c"));
	ck_assert_int_eq(cove_file_write_text(env,
					      COVE_OPTS(cove_file_write_opts, .path = r->path,
							.data = {"x", 1},
							.mode = COVE_WRITE_CREATE),
					      &w, &err),
			 0);
	cove_result_free(w);
	cove_result_free(r);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(cove_env_resolve_tmp(
					 env, COVE_OPTS(cove_env_resolve_tmp_opts, .path = bad[i]),
					 &r, &err),
				 COVE_E_INVALID_ARGUMENT);
	/* It tells git to look away, and the current directory of `here` stays as it was. */
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/.gitignore");
	ck_assert_int_eq(
		cove_file_stat(env, COVE_OPTS(cove_file_path_opts, .path = path), &e, &err), 0);
	cove_result_free(e);
	expect_out("ls", "");
	if (strcmp(providers[_i], "here") == 0)
		expect_out("ls -A", "");
	end();
}
END_TEST

START_TEST(env_7_describe) /* ENV-7 */
{
	struct cove_env_describe_result *r = NULL;
	bool found = false;

	begin(_i);
	ck_assert_int_eq(cove_env_describe(env, &r, &err), 0);
	ck_assert_str_eq(r->provider, providers[_i]);
	ck_assert_str_eq(r->namespace_id, cove_env_namespace_id(env));
	ck_assert_ptr_nonnull(strstr(r->cwd, strrchr(cove_env_cwd(env), '/')));
	ck_assert_ptr_nonnull(r->shell);
	ck_assert_int_eq(strncmp(r->platform, "linux ", 6), 0);
	for (const char *const *op = r->operations; *op; op++) {
		found |= strcmp(*op, "process.exec") == 0;
		ck_assert_int_ne(strncmp(*op, "guest.", 6), 0);
	}
	ck_assert(found);
	ck_assert_ptr_nonnull(r->roots[0]);
	ck_assert_ptr_nonnull(r->isolation[0]);
	ck_assert_ptr_nonnull(strstr(r->facets[0], "files=ready"));
	cove_result_free(r);
	end();
}
END_TEST

START_TEST(env_8_reset) /* ENV-8 */
{
	struct cove_env_reset_result *r = NULL;
	struct cove_process_info *info = NULL;
	char script[100];

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s", mark());
	start_opts(COVE_OPTS(cove_exec_opts, .script = script));
	start_opts(COVE_OPTS(cove_exec_opts, .script = script));
	ck_assert_int_eq(cove_env_reset(env, &r, &err), 0);
	ck_assert_int_eq(r->generation, 2);
	cove_result_free(r);
	assert_gone(mark());
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 COVE_E_NOT_FOUND);
	ck_assert_str_eq(start_opts(COVE_OPTS(cove_exec_opts, .script = "true")), "process-1");
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1",
							.generation = 1),
					      &info, &err),
			 COVE_E_STALE);
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1",
							.generation = 2),
					      &info, &err),
			 0);
	cove_result_free(info);
	end();
}
END_TEST

START_TEST(err_1_errors_say_what_and_where) /* ERR-1 */
{
	struct cove_file_entry *e = NULL;

	begin(_i);
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_file_stat(env, COVE_OPTS(cove_file_path_opts, .path = "no/such"), &e,
					&err),
			 COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.operation, "file.stat");
	ck_assert_str_eq(err.path, "no/such");
	ck_assert_int_eq(err.sys_errno, ENOENT);
	ck_assert_int_eq(err.stage, COVE_STAGE_DISPATCHED);
	ck_assert_int_eq(err.retry, COVE_RETRY_NEVER);
	ck_assert_ptr_nonnull(strstr(err.message, "'no/such'"));
	end();
}
END_TEST

START_TEST(err_2_refused_before_anything_happens) /* ERR-2 */
{
	struct cove_call *call = NULL;
	const struct {
		const char *op;
		const char *json;
		const char *field;
	} bad[] = {
		{"file.stat", "{}", "path"},
		{"file.stat", "{\"path\":5}", "path"},
		{"file.stat", "{\"path\":\"\"}", "path"},
		{"file.stat", "{\"path\":\"a\\u0000b\"}", "path"},
		{"file.stat", "{\"path\":\"a\",\"paht\":\"b\"}", "paht"},
		{"file.list", "{\"max_results\":0}", "max_results"},
		{"file.list", "{\"max_results\":100001}", "max_results"},
		{"file.read_text", "{\"path\":\"x\",\"invalid\":\"maybe\"}", "invalid"},
		{"process.exec", "{\"script\":\"x\",\"output\":{\"policy\":\"none\"}}",
		 "output.policy"},
		{"process.exec", "{\"script\":\"x\",\"env\":{\"set\":[1]}}", "env.set"},
		{"process.exec", "{\"argv\":[\"a\",\"b\\u0000\"]}", "argv"},
		{"file.write_bytes", "{\"path\":\"x\",\"mode\":\"create\",\"data\":\"%%\"}",
		 "data"},
		{"file.write_text", "{\"path\":\"x\",\"text\":\"y\"}", "mode"},
		{"no.such", "{}", "op"},
		{"guest.setup", "{}", "op"},
	};

	begin(_i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_msg(cove_submit_json(env, bad[i].op, bad[i].json, strlen(bad[i].json),
					       NULL, &call, &err) == COVE_E_INVALID_ARGUMENT,
			      "%s %s", bad[i].op, bad[i].json);
		ck_assert_str_eq(err.field, bad[i].field);
		ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
		ck_assert_msg(err.reason[0] != '\0', "%s %s has no reason", bad[i].op, bad[i].json);
	}
	/* Not even a guest was started for these. */
	ck_assert_int_eq(cove_env_fd(env), -1);
	end();
}
END_TEST

START_TEST(err_4_secrets_are_not_told) /* ERR-4 */
{
	struct cove_process_info *info = NULL;
	const char *argv[] = {"/no/such/MY_TOKEN=s3cret", "Authorization: Bearer abcdefgh", NULL};

	begin(_i);
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts, .argv = argv)), COVE_E_NOT_FOUND);
	ck_assert_ptr_null(strstr(err.message, "s3cret"));
	start_opts(COVE_OPTS(
		cove_exec_opts,
		.script = "API_KEY=abcdef; : sk-1234567890abcdef; curl -H 'Bearer xyzxyz'; true"));
	ck_assert_int_eq(cove_process_inspect(env,
					      COVE_OPTS(cove_process_ref, .process = "process-1"),
					      &info, &err),
			 0);
	ck_assert_ptr_null(strstr(info->command, "abcdef"));
	ck_assert_ptr_null(strstr(info->command, "xyzxyz"));
	ck_assert_ptr_nonnull(strstr(info->command, "API_KEY=******"));
	cove_result_free(info);
	end();
}
END_TEST

START_TEST(err_5_a_guest_that_is_gone) /* ERR-5, CASE-27 */
{
	struct cove_call *call = NULL;
	struct cove_call *read_call = NULL;
	char script[300];
	int64_t t;

	begin(_i);
	snprintf(script, sizeof(script), "trap '' TERM; setsid sleep %s & sleep %s", mark(),
		 mark());
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = script), NULL, &call,
				     &err),
			 0);
	ck_assert_int_eq(cove_submit(env, "process.list", NULL, NULL, &read_call, &err), 0);
	ck_assert_int_eq(cove_call_take(read_call, NULL, &err), 0);
	ck_assert_int_eq(
		cove_submit(env, "output.read",
			    COVE_OPTS(cove_output_read_opts, .process = "process-7", .wait_ms = 10),
			    NULL, &read_call, &err),
		0);
	ck_assert_int_eq(cove_call_take(read_call, NULL, &err), COVE_E_NOT_FOUND);
	await_processes(mark(), 2);
	t = now_ms();
	ck_assert_int_eq(kill(guest_pid(), SIGKILL), 0);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_OUTCOME_UNKNOWN);
	ck_assert_int_lt(now_ms() - t, 2000);
	ck_assert_int_eq(err.retry, COVE_RETRY_RECONCILE_FIRST);
	ck_assert_int_eq(err.stage, COVE_STAGE_UNKNOWN);
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_UNAVAILABLE);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	assert_gone(mark());
	teardown_dir();
}
END_TEST

static void *hammer(void *arg)
{
	struct cove_env *e = arg;

	for (int i = 0; i < 40; i++) {
		struct cove_exec_result *r = NULL;
		char script[64];
		char want[32];

		snprintf(script, sizeof(script), "echo %d-%p", i, (void *)&r);
		snprintf(want, sizeof(want), "%d-%p\n", i, (void *)&r);
		if (cove_exec(e, COVE_OPTS(cove_exec_opts, .script = script), &r, NULL) < 0 ||
		    strcmp(r->out.text, want) != 0)
			return (void *)1;
		cove_exec_result_free(r);
		if (cove_env_ping(e, NULL) < 0)
			return (void *)2;
	}
	return NULL;
}

START_TEST(threads_share_an_environment)
{
	pthread_t threads[8];

	begin(_i);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, hammer, env);
	for (int i = 0; i < 8; i++) {
		void *rc;

		pthread_join(threads[i], &rc);
		ck_assert_ptr_null(rc);
	}
	end();
}
END_TEST

START_TEST(threads_wait_while_another_works)
{
	struct cove_call *slow = NULL;
	pthread_t thread;
	void *rc;

	begin(_i);
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = "sleep 0.5; echo slow"),
				     NULL, &slow, &err),
			 0);
	pthread_create(&thread, NULL, hammer, env);
	ck_assert_int_eq(cove_call_wait(slow, -1), 1);
	ck_assert_int_eq(cove_call_take(slow, NULL, &err), 0);
	pthread_join(thread, &rc);
	ck_assert_ptr_null(rc);
	end();
}
END_TEST

START_TEST(calls_can_be_polled)
{
	struct cove_call *calls[20];
	int done = 0;

	begin(_i);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(cove_submit(env, "process.exec",
					     COVE_OPTS(cove_exec_opts, .script = "sleep 0.05"),
					     NULL, &calls[i], &err),
				 0);
	while (done < 20) {
		struct pollfd p = {.fd = cove_env_fd(env), .events = cove_env_events(env)};

		poll(&p, 1, 1000);
		for (int i = 0; i < 20; i++)
			if (calls[i] && cove_call_poll(calls[i])) {
				ck_assert_int_eq(cove_call_take(calls[i], NULL, &err), 0);
				calls[i] = NULL;
				done++;
			}
	}
	end();
}
END_TEST

START_TEST(calls_can_be_abandoned) /* CASE-16 */
{
	struct cove_call *call = NULL;
	char script[100];

	begin(_i);
	snprintf(script, sizeof(script), "sleep %s", mark());
	ck_assert_int_eq(
		cove_submit(env, "process.exec",
			    COVE_OPTS(cove_exec_opts, .script = script, .grace_ms = COVE_ZERO),
			    NULL, &call, &err),
		0);
	cove_call_wait(call, 100);
	ck_assert_int_eq(count_processes(mark()), 1);
	cove_call_free(call);
	for (int i = 0; i < 100 && count_processes(mark()); i++)
		cove_env_ping(env, NULL);
	assert_gone(mark());
	end();
}
END_TEST

START_TEST(call_deadlines)
{
	struct cove_call *call = NULL;
	int64_t t = now_ms();

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 30"));
	ck_assert_int_eq(cove_submit(env, "process.wait",
				     COVE_OPTS(cove_process_wait_opts, .process = "process-1"),
				     COVE_OPTS(cove_call_opts, .timeout_ms = 100), &call, &err),
			 0);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_TIMEOUT);
	ck_assert_int_lt(now_ms() - t, 2000);
	end();
}
END_TEST

START_TEST(a_host_that_reaps_its_children)
{
	signal(SIGCHLD, SIG_IGN);
	begin(_i);
	expect_out("echo fine", "fine\n");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(count_fds(), fds_before);
	signal(SIGCHLD, SIG_DFL);
	remove_test_dir();
}
END_TEST

START_TEST(prov_1_names) /* PROV-1 */
{
	struct cove_env *e = NULL;
	const char *not_built[] = {"docker:debian", "ssh:host", "remote", "unsupported"};

	(void)_i;
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "nowhere"), &e, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(err.message, "here, workspace, sandbox"));
	for (size_t i = 0; i < sizeof(not_built) / sizeof(not_built[0]); i++)
		ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = not_built[i]),
					       &e, &err),
				 COVE_E_NOT_SUPPORTED);
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "current-directory"),
				       &e, &err),
			 0);
	ck_assert_str_eq(cove_env_provider(e), "here");
	cove_env_close(e, COVE_OUTCOME_SUCCESS, NULL);
	e = NULL;
	/* PROV-11 */
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here", .seed = "/etc"),
				       &e, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here",
						 .retain = COVE_RETAIN_ALWAYS),
				       &e, &err),
			 COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(err_1_too_many_calls) /* ERR-1 */
{
	static struct cove_call *calls[4100];
	int refused_calls = 0;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 30"));
	for (int i = 0; i < 4100; i++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		if (cove_submit(env, "process.wait",
				COVE_OPTS(cove_process_wait_opts, .process = "process-1"), NULL,
				&calls[i], &err) == 0)
			continue;
		ck_assert_int_eq(err.code, COVE_E_BUSY);
		ck_assert_int_eq(err.retry, COVE_RETRY_AFTER_CAPACITY);
		refused_calls++;
	}
	ck_assert_int_eq(refused_calls, 100);
	for (int i = 0; i < 4000; i++)
		cove_call_free(calls[i]);
	expect_out("echo fine", "fine\n");
	end();
}
END_TEST

START_TEST(prov_8_a_guest_that_stands_still) /* PROV-8 */
{
	const char *argv[] = {"sleep", mark(), NULL};
	struct cove_call *call = NULL;
	int64_t t = now_ms();

	begin(_i);
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .timeout_ms = 500,
					       .grace_ms = COVE_ZERO, .argv = argv),
				     NULL, &call, &err),
			 0);
	await_processes(mark(), 1);
	ck_assert_int_eq(kill(guest_pid(), SIGSTOP), 0);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_TIMEOUT);
	ck_assert_int_lt(now_ms() - t, 20000);
	ck_assert_int_eq(err.stage, COVE_STAGE_UNKNOWN);
	cove_env_close(env, COVE_OUTCOME_FAILURE, &err);
	teardown_dir();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&err_1_too_many_calls,
	&env_1_opening_does_no_io,
	&env_1_unknown_configuration_is_refused,
	&env_1_struct_tails,
	&env_2_one_preparation_for_all,
	&env_2_a_failure_is_remembered,
	&env_2_no_guest_answers,
	&env_3_close_ends_calls,
	&env_5_scratch_directory,
	&env_7_describe,
	&env_8_reset,
	&err_1_errors_say_what_and_where,
	&err_2_refused_before_anything_happens,
	&err_4_secrets_are_not_told,
	&err_5_a_guest_that_is_gone,
	&threads_share_an_environment,
	&threads_wait_while_another_works,
	&calls_can_be_polled,
	&calls_can_be_abandoned,
	&call_deadlines,
	&a_host_that_reaps_its_children,
	&prov_1_names,
};

/* The host's own patience, which no provider changes. */
static const TTest **const once[] = {&prov_8_a_guest_that_stands_still};

int main(void)
{
	once_tests = once;
	once_count = 1;
	return run_suite("env", tests, sizeof(tests) / sizeof(tests[0]));
}
