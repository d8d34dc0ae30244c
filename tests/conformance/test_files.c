/* SPDX-License-Identifier: Apache-2.0 */
/* File operations through the library, on what commands of the same environment see. */
#include "fixture.h"

#define BYTES(s) ((struct cove_bytes){.data = (s), .len = strlen(s)})

/* The exit status of a script, its output shown where that is not 0. */
static void expect_ok(const char *script)
{
	struct cove_exec_result *r = sh(script);

	ck_assert_msg(r->exit.code == 0, "%s: %s%s", script, r->out.text, r->err.text);
	cove_exec_result_free(r);
}

/* Calls an operation with JSON; the result's text, or the code's name with the error in err. */
static const char *call(const char *op, const char *json)
{
	static char text[4096];
	struct cove_call *c = NULL;
	char *result = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_submit_json(env, op, json, strlen(json), NULL, &c, &err);
	if (rc == 0)
		rc = cove_call_take_json(c, &result, &err);
	snprintf(text, sizeof(text), "%s", rc < 0 ? cove_code_name(rc) : result ? result : "");
	cove_result_free(result);
	return text;
}

START_TEST(file_6_edit_text) /* FILE-6, FILE-5, CASE-61 */
{
	const struct cove_edit edits[] = {
		{.old_text = BYTES("b\n"), .new_text = BYTES("B\nB2\n")},
		{.old_text = BYTES("x"), .new_text = {"", 0}, .count = 2},
	};
	struct cove_file_edit_text_opts req = {
		.size = sizeof(req), .path = "f", .edits = edits, .edit_count = 2};
	struct cove_file_edit_text_result *r = NULL;

	begin(_i);
	expect_ok("printf 'a\\r\\nb\\r\\nxcx\\n' > f; chmod 640 f");
	ck_assert_int_eq(cove_file_edit_text(env, &req, &r, &err), 0);
	ck_assert_int_eq(r->edits_applied, 2);
	ck_assert_int_eq(r->bytes_written, 12);
	ck_assert_int_eq(strncmp(r->operation_id, "op-", 3), 0);
	cove_result_free(r);
	expect_out("stat -c %a f; od -An -c f | tr -d ' \\n'", "640\na\\r\\nB\\r\\nB2\\r\\nc\\n");
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_file_edit_text(env, &req, &r, &err), COVE_E_EDIT_NOT_FOUND);
	ck_assert_int_eq(err.edit_index, 0);
	ck_assert_int_eq(err.occurrences, 0);
	ck_assert_int_eq(err.retry, COVE_RETRY_AFTER_REFRESH);
	expect_ok("printf 'x\\nx\\n' > f");
	ck_assert_str_eq(call("file.edit_text", "{\"path\":\"f\",\"edits\":[{\"old\":\"\\nx\\n\","
						"\"new\":\"\\ny\\n\"},{\"old\":\"x\",\"new\":\"\"},"
						"{\"old\":\"\\n\",\"new\":\"-\"}]}"),
			 "edit_ambiguous");
	ck_assert_int_eq(err.edit_index, 2);
	ck_assert_int_eq(err.occurrences, 2);
	ck_assert_str_eq(err.reason, "occurs 2 times, not 1, on line 1, 2");
	expect_out("cat f", "x\nx\n");
	end();
}
END_TEST

START_TEST(err_2_edits_are_checked) /* ERR-2 */
{
	const char *bad[][2] = {
		{"{\"path\":\"f\"}", "edits"},
		{"{\"path\":\"f\",\"edits\":[]}", "edits"},
		{"{\"path\":\"f\",\"edits\":[5]}", "edits[0]"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"a\"}]}", "edits[0].new"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"a\",\"new\":\"b\"},{\"new\":\"b\"}]}",
		 "edits[1].old"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"\",\"new\":\"b\"}]}", "edits[0].old"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"b\",\"new\":\"b\"}]}", "edits[0].new"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"b\",\"new\":\"c\",\"count\":0}]}",
		 "edits[0].count"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"b\",\"new\":\"c\",\"all\":1}]}",
		 "edits[0].all"},
		{"{\"path\":\"f\",\"edits\":[{\"old\":\"b\\u0000\",\"new\":\"c\"}]}",
		 "edits[0].old"},
	};

	begin(_i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_str_eq(call("file.edit_text", bad[i][0]), "invalid_argument");
		ck_assert_str_eq(err.field, bad[i][1]);
		ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	}
	end();
}
END_TEST

START_TEST(file_7_patch_text) /* FILE-7, CASE-65 */
{
	static const char patch[] = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
				    "--- /dev/null\n+++ b/new/g\n@@ -0,0 +1 @@\n+g\n";
	struct cove_file_patch_text_opts req = {
		.size = sizeof(req), .path = ".", .patch = BYTES(patch)};
	struct cove_file_patch_text_result *r = NULL;

	begin(_i);
	expect_ok("seq 3 > f");
	ck_assert_int_eq(cove_file_patch_text(env, &req, &r, &err), 0);
	ck_assert_int_eq(r->hunks_applied, 2);
	ck_assert_uint_eq(r->file_count, 2);
	ck_assert_str_eq(r->files[1].path, "new/g");
	ck_assert_int_eq(r->files[1].status, COVE_PATCHED_ADDED);
	cove_result_free(r);
	expect_out("cat f new/g; ls -A . new | grep -c cove-", "1\ntwo\n3\ng\n0\n");
	expect_ok("rm -r new");
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_file_patch_text(env, &req, &r, &err), COVE_E_CONFLICT);
	ck_assert_str_eq(err.path, "f");
	ck_assert_ptr_nonnull(strstr(err.message, "hunk 1 of 1"));
	expect_out("cat f; ls", "1\ntwo\n3\nf\n");
	ck_assert_ptr_nonnull(
		strstr(call("file.patch_text",
			    "{\"path\":\"f\",\"patch\":\"@@ -2 +2 @@\\n-two\\n+2\\n\"}"),
		       "\"files\":[{\"path\":\"f\",\"status\":\"modified\"}]"));
	expect_out("cat f", "1\n2\n3\n");
	end();
}
END_TEST

START_TEST(file_14_copy_and_move) /* FILE-14 */
{
	struct cove_file_transfer_opts req = {
		.size = sizeof(req), .source = "t", .destination = "c"};
	struct cove_file_copy_result *r = NULL;
	struct cove_file_move_result *m = NULL;

	begin(_i);
	expect_ok("mkdir -p t/d; echo one > t/d/f; ln -s d/f t/l; chmod 750 t/d");
	ck_assert_int_eq(cove_file_copy(env, &req, &r, &err), 0);
	ck_assert_int_eq(r->entries_copied, 4);
	ck_assert_int_eq(r->bytes_copied, 4);
	cove_result_free(r);
	expect_out("diff -r t c && readlink c/l && stat -c %a c/d && ls -A", "d/f\n750\nc\nt\n");
	ck_assert_int_eq(cove_file_copy(env, &req, &r, &err), COVE_E_ALREADY_EXISTS);
	ck_assert_str_eq(err.path, "c");
	req.destination = "m";
	ck_assert_int_eq(cove_file_move(env, &req, &m, &err), 0);
	cove_result_free(m);
	expect_out("diff -r c m && ls -A", "c\nm\n");
	end();
}
END_TEST

START_TEST(file_15_truncate_and_sync) /* FILE-15 */
{
	struct cove_file_truncate_result *r = NULL;

	begin(_i);
	expect_ok("printf 12345 > f");
	ck_assert_int_eq(
		cove_file_truncate(env,
				   COVE_OPTS(cove_file_truncate_opts, .path = "f", .size_bytes = 2),
				   &r, &err),
		0);
	cove_result_free(r);
	expect_out("cat f", "12");
	ck_assert_int_eq(cove_file_sync(env, COVE_OPTS(cove_file_path_opts, .path = "f"), &err), 0);
	ck_assert_int_eq(cove_file_sync(env, COVE_OPTS(cove_file_path_opts, .path = "."), &err), 0);
	ck_assert_str_eq(call("file.truncate", "{\"path\":\"f\"}"), "invalid_argument");
	ck_assert_str_eq(err.field, "size");
	ck_assert_ptr_nonnull(strstr(call("file.truncate", "{\"path\":\"f\",\"size\":0}"), "op-"));
	expect_out("cat f", "");
	end();
}
END_TEST

START_TEST(file_15_make_temp) /* FILE-15 */
{
	struct cove_file_path_result *r = NULL;
	char script[PATH_MAX + 100];

	begin(_i);
	for (int kind = COVE_TEMP_FILE; kind <= COVE_TEMP_DIRECTORY; kind++) {
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_msg(cove_file_make_temp(env,
						  COVE_OPTS(cove_file_make_temp_opts, .kind = kind,
							    .prefix = "pre-", .suffix = ".txt"),
						  &r, &err) == 0,
			      "%s", err.message);
		snprintf(script, sizeof(script), "test -%c '%s' && stat -c %%a '%s'",
			 kind == COVE_TEMP_FILE ? 'f' : 'd', r->path, r->path);
		expect_out(script, kind == COVE_TEMP_FILE ? "600\n" : "700\n");
		ck_assert_ptr_nonnull(strstr(r->path, "/pre-"));
		cove_result_free(r);
	}
	ck_assert_ptr_nonnull(strstr(call("file.make_temp", "{}"), "/tmp-"));
	ck_assert_str_eq(call("file.make_temp", "{\"prefix\":\"../x\"}"), "invalid_argument");
	ck_assert_str_eq(err.field, "prefix");
	end();
}
END_TEST

START_TEST(file_10_query) /* FILE-10, FILE-11, FILE-12 */
{
	struct cove_file_query_opts req = {
		.size = sizeof(req), .pattern = "*.{c,h}", .ignore = COVE_IGNORE_GIT};
	struct cove_file_query_result *r = NULL;

	begin(_i);
	expect_ok("mkdir -p a/b out && touch a/b/x.c a/y.h a/z.o b.c out/gen.c .hid.c && "
		  "echo /out/ >.gitignore && printf 123 >b.c");
	ck_assert_int_eq(cove_file_query(env, &req, &r, &err), 0);
	ck_assert_uint_eq(r->entry_count, 3);
	ck_assert_str_eq(r->entries[0].path, "a/b/x.c");
	ck_assert_str_eq(r->entries[1].path, "a/y.h");
	ck_assert_str_eq(r->entries[2].path, "b.c");
	ck_assert_int_eq(r->entries[2].size, 3);
	ck_assert_int_eq(r->hidden_count, 2);
	cove_file_query_result_free(r);
	ck_assert_ptr_nonnull(strstr(call("file.query", "{\"pattern\":\"out/*\"}"),
				     "\"path\":\"out/gen.c\",\"kind\":\"file\""));
	ck_assert_str_eq(call("file.query", "{\"pattern\":\"x**y\"}"), "invalid_argument");
	ck_assert_str_eq(err.field, "pattern");
	ck_assert_str_ne(err.hint, "");
	ck_assert_str_eq(call("file.query", "{\"pattern\":\"*\",\"kinds\":[\"door\"]}"),
			 "invalid_argument");
	ck_assert_str_eq(call("file.query", "{\"pattern\":\"*\",\"root\":\"b.c\"}"),
			 "not_directory");
	end();
}
END_TEST

/* What is ignored or hidden is not in the way, and is found when it is asked for. */
START_TEST(case_73_globs_beside_ignore_rules) /* CASE-73, FILE-10, FILE-12 */
{
	static const char git[] = "{\"pattern\":\"%s\",\"ignore\":\"git\",\"names_only\":true}";
	static const char *const rows[][2] = {
		{"*", "\"d\" \"d/y.txt\" "},
		{"x.log", "\"x.log\" "},
		{"*.log", ""},
		{".github/*.yml", "\".github/ci.yml\" "},
		{"**/*.txt", "\"d/y.txt\" "},
		{"d/z.log", "\"d/z.log\" "},
		{".*", "\".github\" \".gitignore\" "},
	};

	begin(_i);
	expect_ok("mkdir -p .github d && touch .github/ci.yml x.log d/y.txt d/z.log && "
		  "echo '*.log' >.gitignore");
	for (int repository = 0; repository < 2; repository++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			char json[200];
			char found[400] = "";
			const char *p;

			snprintf(json, sizeof(json), git, rows[i][0]);
			p = call("file.query", json);
			while ((p = strstr(p, "\"path\":"))) {
				p += strlen("\"path\":");
				snprintf(found + strlen(found), sizeof(found) - strlen(found),
					 "%.*s ", (int)strcspn(p, ","), p);
			}
			ck_assert_msg(strcmp(found, rows[i][1]) == 0, "%s: %s", rows[i][0], found);
		}
		expect_ok("mkdir -p .git/info");
	}
	end();
}
END_TEST

START_TEST(file_13_bad_input) /* FILE-13, FILE-11 */
{
	static char json[21000];

	begin(_i);
	expect_ok("mkfifo fifo && ln -s . loop && "
		  "printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\\n' >f");
	memset(json, 'a', sizeof(json) - 1);
	memcpy(json, "{\"pattern\":\"", 12);
	memcpy(json + 20500, "\"}", 3);
	ck_assert_str_eq(call("file.search_text", json), "invalid_argument");
	ck_assert_str_eq(err.field, "pattern");
	ck_assert_str_eq(call("file.query", json), "invalid_argument");
	ck_assert_str_eq(err.field, "pattern");
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"(a+)+$\",\"regex\":true}"),
			 "too_large");
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"a{1000}{1000}\",\"regex\":true}"),
			 "too_large");
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"a\",\"root\":\"fifo\"}"),
			 "invalid_argument");
	ck_assert_str_eq(call("file.query", "{\"pattern\":\"a\",\"root\":\"fifo\"}"),
			 "not_directory");
	ck_assert_ptr_nonnull(
		strstr(call("file.query", "{\"pattern\":\"**/f\"}"), "[{\"path\":\"f\","));
	end();
}
END_TEST

START_TEST(file_13_search_text) /* FILE-13 */
{
	struct cove_file_search_text_opts req = {
		.size = sizeof(req), .pattern = "ne+dle$", .regex = true, .context = 1};
	struct cove_file_search_text_result *r = NULL;

	begin(_i);
	expect_ok("mkdir d && printf 'a\\nneedle\\nb\\n' >d/f && printf 'needle\\0' >bin && "
		  "printf 'N\303\211EDLE\\n' >big && for i in $(seq 50); do echo x >d/x$i; done");
	ck_assert_int_eq(cove_file_search_text(env, &req, &r, &err), 0);
	ck_assert_uint_eq(r->match_count, 1);
	ck_assert_str_eq(r->matches[0].path, "d/f");
	ck_assert_int_eq(r->matches[0].line, 2);
	ck_assert_str_eq(r->matches[0].text.data, "needle");
	ck_assert_int_eq(r->matches[0].context_start, 1);
	ck_assert_str_eq(r->matches[0].context.data, "a\nneedle\nb");
	ck_assert_int_eq(r->files_searched, 52);
	ck_assert_int_eq(r->files_skipped, 1);
	cove_file_search_text_result_free(r);
	ck_assert_str_eq(call("file.search_text",
			      "{\"pattern\":\"n\303\251e\",\"ignore_case\":true}"),
			 "{\"matches\":[{\"path\":\"big\",\"line\":1,\"text\":\"N\303\211EDLE\","
			 "\"truncated\":false}],\"has_more\":false,\"files_searched\":52,"
			 "\"files_skipped\":1,\"hidden_count\":0}");
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"\"}"), "invalid_argument");
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"a(\",\"regex\":true}"),
			 "invalid_argument");
	ck_assert_ptr_nonnull(strstr(err.reason, "at byte 2"));
	ck_assert_str_eq(call("file.search_text", "{\"pattern\":\"x\",\"max_files\":3}"),
			 "too_large");
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&file_6_edit_text,	&err_2_edits_are_checked,	    &file_7_patch_text,
	&file_14_copy_and_move, &file_15_truncate_and_sync,	    &file_15_make_temp,
	&file_10_query,		&case_73_globs_beside_ignore_rules, &file_13_bad_input,
	&file_13_search_text,
};

MAIN("files")
