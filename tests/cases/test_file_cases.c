/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports of comparable systems about paths, files and edits; each test shows the right behaviour. */
#include "../conformance/fixture.h"

/* Calls an operation; "ok", or the code's name with the error in err. */
static const char *call(const char *op, const char *json)
{
	struct cove_call *c = NULL;
	char *result = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_submit_json(env, op, json, strlen(json), NULL, &c, &err);
	if (rc == 0)
		rc = cove_call_take_json(c, &result, &err);
	cove_result_free(result);
	return rc < 0 ? cove_code_name(rc) : "ok";
}

#define WRITE(path) "{\"path\":\"" path "\",\"text\":\"evil\",\"mode\":\"upsert\"}"

/* In a workspace: what is beside it, and what a link leads to, is out of reach. */
START_TEST(case_46_47_48_50_55_ways_out) /* CASE-46, CASE-47, CASE-48, CASE-50, CASE-55 */
{
	static const char *const paths[] = {"../run-evil/x",   "../../x",    "a/../../x",
					    "abs/hostname",    "rel/secret", "dir/new",
					    "uploads/tmp/evil"};
	char json[200];

	begin(_i);
	if (strcmp(providers[_i], "workspace") == 0) {
		expect_out(
			"mkdir ../run-evil ../out; echo victim > ../run-evil/x; echo victim > ../x; "
			"cp ../x ../out/secret; ln -s /etc abs; ln -s ../out rel; ln -s ../out dir; "
			"ln -s / uploads; mkdir a",
			"");
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
			snprintf(json, sizeof(json), "{\"path\":\"%s\"}", paths[i]);
			ck_assert_str_eq(call("file.read_text", json), "permission_denied");
			ck_assert_str_eq(call("file.remove", json), "permission_denied");
			snprintf(json, sizeof(json), WRITE("%s"), paths[i]);
			ck_assert_str_eq(call("file.write_text", json), "permission_denied");
			snprintf(json, sizeof(json), "{\"source\":\"a\",\"destination\":\"%s\"}",
				 paths[i]);
			ck_assert_str_eq(call("file.copy", json), "permission_denied");
			ck_assert_str_eq(call("file.move", json), "permission_denied");
		}
		expect_out(
			"cat ../run-evil/x ../x ../out/secret; ls ../out; rm -r ../run-evil ../out ../x",
			"victim\nvictim\nvictim\nsecret\n");
	}
	end();
}
END_TEST

START_TEST(case_61_endings_stay) /* CASE-61 */
{
	begin(_i);
	expect_out("printf 'a\\r\\nb\\nc' > f", "");
	ck_assert_str_eq(call("file.edit_text",
			      "{\"path\":\"f\",\"edits\":[{\"old\":\"c\",\"new\":\"C\"}]}"),
			 "ok");
	expect_out("od -An -c f | tr -d ' \\n'", "a\\r\\nb\\nC");
	end();
}
END_TEST

START_TEST(case_63_lookalikes_are_refused) /* CASE-63 */
{
	begin(_i);
	expect_out("printf 'if a\\n\\tx();\\nend\\n  if a\\n  \\tx();\\nend\\n' > f; cp f g", "");
	ck_assert_str_eq(call("file.edit_text",
			      "{\"path\":\"f\",\"edits\":[{\"old\":\"x();\",\"new\":\"y();\"}]}"),
			 "edit_ambiguous");
	ck_assert(strstr(err.message, "2, 5"));
	ck_assert_str_eq(
		call("file.patch_text",
		     "{\"path\":\"f\",\"patch\":\"--- f\\n+++ f\\n@@ -2 +2 @@\\n-x();\\n+y();\\n\"}"),
		"conflict");
	expect_out("cmp f g", "");
	end();
}
END_TEST

START_TEST(case_65_three_files_or_none) /* CASE-65 */
{
	begin(_i);
	expect_out("for f in a b c; do echo $f > $f; done", "");
	ck_assert_str_eq(
		call("file.patch_text",
		     "{\"path\":\".\",\"patch\":\"--- a/a\\n+++ b/a\\n@@ -1 +1 @@\\n-a\\n+A\\n"
		     "--- a/b\\n+++ b/b\\n@@ -1 +1 @@\\n-b\\n+B\\n"
		     "--- a/c\\n+++ b/c\\n@@ -1 +1 @@\\n-drifted\\n+C\\n\"}"),
		"conflict");
	ck_assert_str_eq(err.path, "c");
	expect_out("cat a b c; ls -A", "a\nb\nc\na\nb\nc\n");
	end();
}
END_TEST

static struct cove_env *open_seeded(int provider, const char *seed)
{
	struct cove_env_opts opts;
	char root[PATH_MAX + 8];
	const char *list[2];
	struct cove_env *e = NULL;

	options_for(provider, &opts, root, list);
	opts.seed = seed;
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_open(&opts, &e, &err) == 0, "open: %s", err.message);
	return e;
}

static void make_seed(char seed[PATH_MAX + 8], const char *script)
{
	char command[2 * PATH_MAX];

	snprintf(seed, PATH_MAX + 8, "%s/seed", test_dir);
	snprintf(command, sizeof(command), "mkdir '%s' && cd '%s' && { %s; } >/dev/null", seed,
		 seed, script);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(case_58_links_of_a_seed_survive) /* CASE-58 */
{
	char seed[PATH_MAX + 8];

	setup_dir();
	if (strcmp(providers[_i], "here") != 0) {
		make_seed(
			seed,
			"mkdir d; echo x > d/f; ln -s d/f rel; ln -s missing dangling; ln -s loop loop");
		env = open_seeded(_i, seed);
		expect_out("cat rel; readlink rel dangling loop", "x\nd/f\nmissing\nloop\n");
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	}
	teardown_dir();
}
END_TEST

/* A repository of somebody else's is ours in the workspace, so git does not call it dubious. */
START_TEST(case_78_git_in_a_seed_of_another_user) /* CASE-78 */
{
	char seed[PATH_MAX + 8];

	setup_dir();
	if (strcmp(providers[_i], "workspace") == 0) {
		make_seed(seed, "git init -q . && echo x > f && git add f && "
				"git -c user.name=x -c user.email=x@x commit -qm x && echo y > f; "
				"[ $(id -u) != 0 ] || chown -R 1234:1234 .");
		env = open_seeded(_i, seed);
		expect_out("git status --short; git log --format=%s", " M f\nx\n");
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	}
	teardown_dir();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file_cases");
	TCase *tcase = tcase_create("file_cases");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, case_46_47_48_50_55_ways_out, 0, PROVIDERS);
	tcase_add_loop_test(tcase, case_58_links_of_a_seed_survive, 0, PROVIDERS);
	tcase_add_loop_test(tcase, case_61_endings_stay, 0, PROVIDERS);
	tcase_add_loop_test(tcase, case_63_lookalikes_are_refused, 0, PROVIDERS);
	tcase_add_loop_test(tcase, case_65_three_files_or_none, 0, PROVIDERS);
	tcase_add_loop_test(tcase, case_78_git_in_a_seed_of_another_user, 0, PROVIDERS);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
