/* SPDX-License-Identifier: Apache-2.0 */
/* What git ignores: FILE-12, CASE-73. */
#include "ignore_trees.h"

#include "files/ignore.h"

static int ignored(const char *rules, const char *path, bool is_dir)
{
	struct cv_ignore *ig = NULL;
	const char *slash = strrchr(path, '/');
	int answer = CV_IGNORE_SILENT;

	ck_assert_int_eq(cv_ignore_new(rules, strlen(rules), &ig), 0);
	if (ig)
		answer = cv_ignore_check(ig, path, strlen(path), slash ? slash + 1 : path, is_dir);
	cv_ignore_free(ig);
	return answer;
}

START_TEST(file_12_rules)
{
	static const struct {
		const char *rules;
		const char *path;
		bool is_dir;
		int answer;
	} rows[] = {
		{"*.o", "a/b.o", false, CV_IGNORE_YES},
		{"/*.o", "a/b.o", false, CV_IGNORE_SILENT},
		{"a/*.o", "a/b.o", false, CV_IGNORE_YES},
		{"a/*.o", "x/a/b.o", false, CV_IGNORE_SILENT},
		{"**/a/*.o", "x/y/a/b.o", false, CV_IGNORE_YES},
		{"**/a/*.o", "a/b.o", false, CV_IGNORE_YES},
		{"a/**/b", "a/b", false, CV_IGNORE_YES},
		{"a/**/b", "a/x/y/b", false, CV_IGNORE_YES},
		{"a/**", "a", true, CV_IGNORE_SILENT},
		{"a/**", "a/b/c", false, CV_IGNORE_YES},
		{"d/", "d", true, CV_IGNORE_YES},
		{"d/", "d", false, CV_IGNORE_SILENT},
		{"*\n!keep", "keep", false, CV_IGNORE_NO},
		{"!keep\n*", "keep", false, CV_IGNORE_YES},
		{"#x", "#x", false, CV_IGNORE_SILENT},
		{"\\#x", "#x", false, CV_IGNORE_YES},
		{"\\!x", "!x", false, CV_IGNORE_YES},
		{"x  ", "x", false, CV_IGNORE_YES},
		{"x\\ ", "x ", false, CV_IGNORE_YES},
		{"x\t", "x", false, CV_IGNORE_SILENT},
		{"x\r\ny", "x", false, CV_IGNORE_YES},
		{"\xEF\xBB\xBFx", "x", false, CV_IGNORE_YES},
		{"[[:digit:]]x", "1x", false, CV_IGNORE_YES},
		{"[[:nope:]]x", "1x", false, CV_IGNORE_SILENT},
		{"[a", "[a", false, CV_IGNORE_SILENT},
		{"a\\", "a\\", false, CV_IGNORE_SILENT},
		{"a?b", "a/b", false, CV_IGNORE_SILENT},
		{"/a[!x]b", "a/b", false, CV_IGNORE_SILENT},
		{"", "", false, CV_IGNORE_SILENT},
		{"/", "a", true, CV_IGNORE_SILENT},
	};

	for (size_t i = 0; i < CV_LEN(rows); i++)
		ck_assert_msg(ignored(rows[i].rules, rows[i].path, rows[i].is_dir) ==
				      rows[i].answer,
			      "'%s' on '%s'", rows[i].rules, rows[i].path);
}
END_TEST

/* Stars that would take forever if each tried every place. */
START_TEST(file_12_bounded_time)
{
	char rules[4096];
	char path[4096];

	for (size_t i = 0; i + 3 < sizeof(rules); i += 2)
		memcpy(rules + i, "*a", 3);
	rules[sizeof(rules) - 4] = 'b';
	memset(path, 'a', 4000);
	path[4000] = '\0';
	ck_assert_int_eq(ignored(rules, path, false), CV_IGNORE_SILENT);
}
END_TEST

START_TEST(file_12_as_git_answers)
{
	ignore_trees(1, 300);
}
END_TEST

static bool finds(const char *root, const char *pattern, const char *path)
{
	struct cove_file_query_opts opts = {
		.root = root, .pattern = pattern, .ignore = COVE_IGNORE_GIT, .max_results = 1000};
	struct cove_file_query_result res;

	opts.size = sizeof(opts);
	ck_assert_int_eq(call(cv_file_query, &opts, &res, sizeof(res)), 0);
	for (size_t i = 0; i < res.entry_count; i++)
		if (strcmp(res.entries[i].path, path) == 0)
			return true;
	return false;
}

START_TEST(file_12_files_above_the_root_up_to_the_repository)
{
	make_dir("ws/repo");
	make_dir("ws/repo/.git");
	make_dir("ws/repo/.git/info");
	make_dir("ws/repo/sub");
	make_dir("ws/repo/sub/deep");
	put("ws/.gitignore", "*");
	put("ws/repo/.gitignore", "*.o\n/sub/deep/anchored\n");
	put("ws/repo/.git/info/exclude", "*.x\n");
	put("ws/repo/sub/.gitignore", "!keep.o\n");
	put("ws/repo/sub/deep/a.o", "");
	put("ws/repo/sub/deep/keep.o", "");
	put("ws/repo/sub/deep/anchored", "");
	put("ws/repo/sub/deep/a.x", "");
	put("ws/repo/sub/deep/plain", "");
	ck_assert(!finds("repo/sub/deep", "**", "repo/sub/deep/a.o"));
	ck_assert(finds("repo/sub/deep", "**", "repo/sub/deep/keep.o"));
	ck_assert(!finds("repo/sub/deep", "**", "repo/sub/deep/anchored"));
	ck_assert(!finds("repo/sub/deep", "**", "repo/sub/deep/a.x"));
	ck_assert(finds("repo/sub/deep", "**", "repo/sub/deep/plain"));
	/* A repository within a tree does not ask the files above it. */
	ck_assert(finds(NULL, "repo/**", "repo/sub/deep/plain"));
	ck_assert(!finds(NULL, "repo/**", "repo/sub/deep/a.o"));
	ck_assert(!finds(NULL, "**", "repo/.git/info/exclude"));
}
END_TEST

START_TEST(file_12_without_a_repository) /* CASE-73 */
{
	make_dir("ws/d");
	put("ws/.gitignore", "*.log\n");
	put("ws/d/x.log", "");
	put("ws/d/x.txt", "");
	ck_assert(!finds(NULL, "*", "d/x.log"));
	ck_assert(finds(NULL, "*", "d/x.txt"));
	ck_assert(finds(NULL, "x.log", "d/x.log"));
	ck_assert(finds(NULL, "d/x.log", "d/x.log"));
	ck_assert(!finds(NULL, "d/*.log", "d/x.log"));
	/* Above the root only in a repository. */
	ck_assert(finds("d", "*", "d/x.log"));
}
END_TEST

START_TEST(file_12_odd_ignore_files)
{
	make_dir("ws/a");
	make_dir("ws/a/.gitignore");
	put("ws/a/x", "");
	make_dir("ws/b");
	make_link("../rules", "ws/b/.gitignore");
	put("ws/rules", "y\n");
	put("ws/b/y", "");
	make_dir("ws/c");
	ck_assert_int_eq(mkfifo(at("ws/c/.gitignore"), 0600), 0);
	put("ws/c/z", "");
	ck_assert(finds(NULL, "*", "a/x"));
	ck_assert(finds(NULL, "*", "b/y"));
	ck_assert(finds(NULL, "*", "c/z"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_12_rules,
		file_12_bounded_time,
		file_12_as_git_answers,
		file_12_files_above_the_root_up_to_the_repository,
		file_12_without_a_repository,
		file_12_odd_ignore_files,
	};

	return run_tests("files_ignore", tests, CV_LEN(tests), 120);
}
