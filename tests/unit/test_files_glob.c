/* SPDX-License-Identifier: Apache-2.0 */
/* The pattern language of query and search: FILE-11. */
#include "unit.h"

#include "base/clock.h"
#include "files/glob.h"

static struct cove_error err;

static int matches(const char *pattern, const char *path)
{
	struct cv_glob *g = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cv_glob_new(pattern, "pattern", &g, &err);
	if (rc < 0)
		return rc;
	rc = cv_glob_match(g, path);
	cv_glob_free(g);
	return rc;
}

START_TEST(file_11_patterns)
{
	static const struct {
		const char *pattern;
		const char *path;
		int want;
	} rows[] = {
		{"*.c", "a.c", 1},
		{"*.c", "d/a.c", 1},
		{"*.c", "a.cc", 0},
		{"a.c", "x/y/a.c", 1},
		{"/a.c", "a.c", 1},
		{"/a.c", "x/a.c", 0},
		{"/*.c", "x/a.c", 0},
		{"d/*.c", "d/a.c", 1},
		{"d/*.c", "x/d/a.c", 0},
		{"d/*.c", "d/e/a.c", 0},
		{"**/d/*.c", "x/d/a.c", 1},
		{"**/d/*.c", "d/a.c", 1},
		{"src/**", "src", 0},
		{"src/**", "src/a", 1},
		{"src/**", "src/a/b", 1},
		{"a/**/b", "a/b", 1},
		{"a/**/b", "a/x/y/b", 1},
		{"a/**/b", "a/xb", 0},
		{"**", "a", 1},
		{"**", "a/b", 1},
		{"**/*", "a/b", 1},
		{"**/**/a", "a", 1},
		{"a/**/**", "a", 0},
		{"a/**/**/b", "a/b", 1},
		{"?.c", "a.c", 1},
		{"?.c", ".c", 0},
		{"?.c", "\xC3\xA9.c", 1},
		{"a?b/c", "a/b/c", 0},
		{"[ab].c", "b.c", 1},
		{"[!ab].c", "b.c", 0},
		{"[^ab].c", "c.c", 1},
		{"[a-c]x", "bx", 1},
		{"[]]", "]", 1},
		{"[!]]", "]", 0},
		{"[]a]", "a", 1},
		{"[a-]", "-", 1},
		{"[-a]", "-", 1},
		{"[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", 1},
		{"x[!a]y", "x/y", 0},
		{"]", "]", 1},
		{"[{]", "{", 1},
		{"[*]", "*", 1},
		{"[*]", "a", 0},
		{"*.{c,h}", "a.h", 1},
		{"*.{c,h}", "a.o", 0},
		{"{src,lib}/*.{c,h}", "lib/a.c", 1},
		{"{src/a,b}", "x/b", 1},
		{"{src/a,b}", "x/src/a", 0},
		{"{[a,b],cd}", ",", 1},
		{"{[a,b],cd}", "cd", 1},
		{"{a,[}]}", "}", 1},
		{"{a,[],]}", ",", 1},
		{"a,b", "a,b", 1},
		{"*", ".hidden", 1},
		{"a*b*c", "aXbYc", 1},
		{"a*b*c", "aXbY", 0},
		{"*a", "aa", 1},
		{"a*", "a", 1},
		{"~", "~", 1},
		{"{1..2,3}", "1..2", 1},
		{"\xFF*", "a", 0},
	};

	for (size_t i = 0; i < CV_LEN(rows); i++)
		ck_assert_msg(matches(rows[i].pattern, rows[i].path) == rows[i].want,
			      "'%s' on '%s'", rows[i].pattern, rows[i].path);
}
END_TEST

START_TEST(file_11_refusals)
{
	static const char *const rows[] = {
		"",	 "/",	"a\\b",	  "\\*",       "[a",	"a[",	  "[]",	  "[!]",  "[z-a]",
		"[a/b]", "a{b", "a}b",	  "{a,{b,c}}", "{a}",	"{}",	  "{a,}", "{,a}", "{a,,b}",
		"x**y",	 "**a", "a**",	  "***",       "a/b**", "a//b",	  "a/",	  "./a",  "../a",
		"a/./b", "//",	"{1..3}", "[!",	       "{a,b",	"{[a,b}",
	};
	char longer[CV_GLOB_MAX + 2];

	for (size_t i = 0; i < CV_LEN(rows); i++) {
		ck_assert_msg(matches(rows[i], "a") == COVE_E_INVALID_ARGUMENT, "'%s'", rows[i]);
		ck_assert_str_eq(err.field, "pattern");
		ck_assert_str_ne(err.reason, "");
		ck_assert_str_ne(err.hint, "");
	}
	memset(longer, 'a', sizeof(longer));
	longer[CV_GLOB_MAX + 1] = '\0';
	ck_assert_int_eq(matches(longer, "a"), COVE_E_INVALID_ARGUMENT);
	longer[CV_GLOB_MAX] = '\0';
	ck_assert_int_eq(matches(longer, longer), 1);
	/* 256 patterns, and 257. */
	ck_assert_int_eq(matches("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "abababab"), 1);
	ck_assert_int_eq(matches("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "a"),
			 COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(file_11_bounded_time)
{
	char pattern[CV_GLOB_MAX + 1];
	char path[4001];
	int64_t start = cv_now_ms();

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (size_t i = 0; i + 1 < 2000; i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + 1998, "b", 2);
	ck_assert_int_eq(matches(pattern, path), 0);
	for (size_t i = 0; i + 3 <= 3000; i += 3)
		memcpy(pattern + i, "**/", 3);
	memcpy(pattern + 3000, "b", 2);
	for (size_t i = 1; i < sizeof(path) - 1; i += 2)
		path[i] = '/';
	ck_assert_int_eq(matches(pattern, path), 0);
	for (size_t i = 0; i + 5 <= 3000; i += 5)
		memcpy(pattern + i, "a/**/", 5);
	memcpy(pattern + 3000, "b", 2);
	ck_assert_int_eq(matches(pattern, path), 0);
	ck_assert_int_lt(cv_now_ms() - start, 5000);
}
END_TEST

UNIT_MAIN("files_glob", file_11_patterns, file_11_refusals, file_11_bounded_time)
