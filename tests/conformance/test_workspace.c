/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workspace of a run: where it lies, what it holds, when it is kept. JOB-5, JOB-6, JOB-14,
 * ENV-4, ENV-9.
 */
#define PROVIDERS 1 /* these are about one provider */
#include "fixture.h"

static char root_option[PATH_MAX + 8];
static const char *root_list[] = {root_option, NULL};

static struct cove_env *open_run(const char *job, const char *run, const char *seed, int retain)
{
	struct cove_env *e = NULL;
	int rc;

	snprintf(root_option, sizeof(root_option), "root=%s", test_dir);
	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace", .job_id = job,
				     .run_id = run, .seed = seed, .retain = retain,
				     .options = root_list),
			   &e, &err);
	return rc < 0 ? NULL : e;
}

static bool is_there(const char *below)
{
	char path[PATH_MAX + 100];

	snprintf(path, sizeof(path), "%s/%s", test_dir, below);
	return access(path, F_OK) == 0;
}

static void put(const char *below, const char *text, mode_t mode)
{
	char path[PATH_MAX + 100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", test_dir, below);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
}

static const char *below(const char *name)
{
	static char path[PATH_MAX + 100];

	snprintf(path, sizeof(path), "%s/%s", test_dir, name);
	return path;
}

START_TEST(job_5_where_a_run_lives) /* JOB-5 */
{
	struct stat st;

	setup_dir();
	env = open_run("job-1", "000001", NULL, COVE_RETAIN_NEVER);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), 0);
	ck_assert_str_eq(cove_env_cwd(env), below("job-1/000001"));
	ck_assert_int_eq(stat(below("job-1/000001"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(below("job-1"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	end();
}
END_TEST

START_TEST(job_5_ids) /* JOB-5 */
{
	const char *bad[] = {
		"",
		"../x",
		"a/b",
		".hidden",
		"-x",
		"a b",
		"é",
		"x123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
		"123456789012345678901234567890123456789"};

	setup_dir();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_ptr_null(open_run(bad[i], "r", NULL, 0));
		ck_assert_int_eq(err.code, COVE_E_INVALID_ARGUMENT);
		ck_assert_str_eq(err.field, "job_id");
		ck_assert_ptr_null(open_run("j", bad[i], NULL, 0));
		ck_assert_str_eq(err.field, "run_id");
	}
	teardown_dir();
}
END_TEST

START_TEST(job_14_an_existing_run_is_a_conflict) /* JOB-14 */
{
	setup_dir();
	mkdir(below("job"), 0700);
	mkdir(below("job/run"), 0700);
	put("job/run/precious", "mine", 0600);
	env = open_run("job", "run", NULL, COVE_RETAIN_NEVER);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_CONFLICT);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	/* What it did not make it does not remove (ENV-4, CASE-59, CASE-96). */
	ck_assert(is_there("job/run/precious"));
	teardown_dir();
}
END_TEST

START_TEST(job_5_links_are_not_followed) /* JOB-5 */
{
	setup_dir();
	mkdir(below("victim"), 0755);
	put("victim/file", "x", 0644);
	ck_assert_int_eq(symlink("victim", below("job")), 0);
	env = open_run("job", "run", NULL, COVE_RETAIN_NEVER);
	ck_assert_int_lt(cove_env_ready(env, NULL, &err), 0);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert(is_there("victim/file"));
	ck_assert(!is_there("victim/run"));
	teardown_dir();
}
END_TEST

START_TEST(job_6_retention) /* JOB-6 */
{
	const struct {
		int retain;
		int outcome;
		bool kept;
	} rows[] = {
		{0, COVE_OUTCOME_SUCCESS, false},
		{0, COVE_OUTCOME_FAILURE, true},
		{0, COVE_OUTCOME_ABORTED, true},
		{COVE_RETAIN_SUCCESS, COVE_OUTCOME_SUCCESS, true},
		{COVE_RETAIN_SUCCESS, COVE_OUTCOME_FAILURE, false},
		{COVE_RETAIN_ABORTED, COVE_OUTCOME_ABORTED, true},
		{COVE_RETAIN_NEVER | COVE_RETAIN_FAILURE, COVE_OUTCOME_FAILURE, false},
		{COVE_RETAIN_ALWAYS | COVE_RETAIN_NEVER, COVE_OUTCOME_SUCCESS, true},
	};

	setup_dir();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char run[16];
		char path[64];

		snprintf(run, sizeof(run), "r%zu", i);
		snprintf(path, sizeof(path), "job/r%zu/file", i);
		env = open_run("job", run, NULL, rows[i].retain);
		cove_exec_result_free(sh("touch file; mkdir -p deep/er; chmod 0 deep"));
		ck_assert_int_eq(cove_env_close(env, rows[i].outcome, &err), 0);
		ck_assert_msg(is_there(path) == rows[i].kept, "row %zu", i);
		if (!rows[i].kept) {
			snprintf(path, sizeof(path), "job/r%zu", i);
			ck_assert(!is_there(path));
		}
	}
	teardown_dir();
}
END_TEST

START_TEST(job_6_an_empty_job_directory_goes) /* JOB-6 */
{
	setup_dir();
	env = open_run("job", "one", NULL, COVE_RETAIN_NEVER);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), 0);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert(!is_there("job"));
	teardown_dir();
}
END_TEST

START_TEST(job_14_every_run_has_its_own_copy) /* JOB-14, CASE-58 */
{
	setup_dir();
	mkdir(below("seed"), 0755);
	mkdir(below("seed/dir"), 0750);
	put("seed/run.sh", "#!/bin/sh\necho ran\n", 0755);
	put("seed/dir/secret", "s", 0600);
	ck_assert_int_eq(symlink("dir/secret", below("seed/link")), 0);
	ck_assert_int_eq(symlink("/no/where", below("seed/dangling")), 0);
	ck_assert_int_eq(symlink("loop", below("seed/loop")), 0);
	ck_assert_int_eq(mkfifo(below("seed/fifo"), 0600), 0);
	for (int i = 0; i < 2; i++) {
		char run[16];

		snprintf(run, sizeof(run), "r%d", i);
		mkdir(below("runs"), 0700);
		snprintf(root_option, sizeof(root_option), "root=%s", below("runs"));
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_int_eq(
			cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace",
						.job_id = "j", .run_id = run, .seed = below("seed"),
						.options = root_list, .retain = COVE_RETAIN_NEVER),
				      &env, &err),
			0);
		expect_out(
			"./run.sh; cat link; echo; readlink dangling loop; stat -c '%a %F' dir dir/secret fifo; "
			"echo changed > run.sh; rm -r dir",
			"ran\ns\n/no/where\nloop\n750 directory\n600 regular file\n600 fifo\n");
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	}
	ck_assert(is_there("seed/dir/secret"));
	teardown_dir();
}
END_TEST

START_TEST(job_14_bad_seeds) /* JOB-14 */
{
	setup_dir();
	put("file", "x", 0644);
	ck_assert_ptr_null(open_run("j", "r", "relative/seed", 0));
	ck_assert_str_eq(err.field, "seed");
	env = open_run("j", "r1", below("file"), 0);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	env = open_run("j", "r2", below("missing"), 0);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.field, "seed");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	env = open_run("j", "r3", test_dir, 0);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	ck_assert(!is_there("j"));
	teardown_dir();
}
END_TEST

START_TEST(env_4_a_failed_set_up_leaves_nothing) /* ENV-4 */
{
	if (geteuid() == 0) {
		/*
		 * Root can read everything: a seed that can't be copied is one that ends in the
		 * middle of a device.
		 */
		return;
	}
	setup_dir();
	mkdir(below("seed"), 0755);
	put("seed/a", "x", 0644);
	put("seed/unreadable", "x", 0);
	mkdir(below("runs"), 0700);
	snprintf(root_option, sizeof(root_option), "root=%s", below("runs"));
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace",
						 .job_id = "j", .run_id = "r",
						 .seed = below("seed"), .options = root_list,
						 .retain = COVE_RETAIN_ALWAYS),
				       &env, &err),
			 0);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_PERMISSION_DENIED);
	ck_assert_ptr_nonnull(strstr(err.message, "unreadable"));
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	ck_assert(!is_there("runs/j"));
	teardown_dir();
}
END_TEST

START_TEST(job_5_a_root_of_somebody_else) /* JOB-5 */
{
	setup_dir();
	if (geteuid() == 0) {
		mkdir(below("theirs"), 0755);
		ck_assert_int_eq(chown(below("theirs"), 12345, 12345), 0);
		snprintf(root_option, sizeof(root_option), "root=%s", below("theirs"));
	} else {
		snprintf(root_option, sizeof(root_option), "root=/usr");
	}
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace",
						 .options = root_list),
				       &env, &err),
			 0);
	ck_assert_int_eq(cove_env_ready(env, NULL, &err), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_FAILURE, &err), 0);
	teardown_dir();
}
END_TEST

START_TEST(file_1_the_workspace_is_the_root) /* FILE-1, CASE-46, CASE-47, CASE-48, CASE-50 */
{
	const char *outside[] = {"/etc/hostname", "../../victim/file", "../run-evil/x", "link/file",
				 "abs",		  "/nowhere/at/all",   "dangling",	"~/x"};
	struct cove_file_read_bytes_result *r = NULL;
	struct cove_file_write_result *w = NULL;
	char script[3 * PATH_MAX];

	setup_dir();
	mkdir(below("victim"), 0755);
	put("victim/file", "secret", 0644);
	env = open_run("job", "run", NULL, COVE_RETAIN_NEVER);
	snprintf(script, sizeof(script),
		 "ln -s %s/victim link; ln -s %s/victim/file abs; ln -s /no/such dangling",
		 test_dir, test_dir);
	cove_exec_result_free(sh(script));
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_msg(cove_file_read_bytes(
				      env, COVE_OPTS(cove_file_read_bytes_opts, .path = outside[i]),
				      &r, &err) == COVE_E_PERMISSION_DENIED,
			      "read %s: %s", outside[i], err.message);
		ck_assert_str_eq(err.path, outside[i]);
		ck_assert_msg(cove_file_write_text(env,
						   COVE_OPTS(cove_file_write_opts,
							     .path = outside[i], .data = {"x", 1},
							     .mode = COVE_WRITE_UPSERT),
						   &w, &err) == COVE_E_PERMISSION_DENIED,
			      "write %s: %s", outside[i], err.message);
	}
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&job_5_where_a_run_lives,
	&job_5_ids,
	&job_14_an_existing_run_is_a_conflict,
	&job_5_links_are_not_followed,
	&job_6_retention,
	&job_6_an_empty_job_directory_goes,
	&job_14_every_run_has_its_own_copy,
	&job_14_bad_seeds,
	&env_4_a_failed_set_up_leaves_nothing,
	&job_5_a_root_of_somebody_else,
	&file_1_the_workspace_is_the_root,
};

MAIN("workspace")
