/* SPDX-License-Identifier: Apache-2.0 */
/* Searching the lines of files: FILE-13. */
#include "search_trees.h"

#include "base/clock.h"

#include <pthread.h>
#include <sys/resource.h>

static struct cove_file_search_text_result res;

static int search_with(struct cove_file_search_text_opts opts, const char *pattern)
{
	opts.size = sizeof(opts);
	opts.pattern = pattern;
	opts.max_matches = opts.max_matches ? opts.max_matches : 1000;
	opts.max_file_bytes = opts.max_file_bytes ? opts.max_file_bytes : 64 << 20;
	opts.max_line_length = opts.max_line_length ? opts.max_line_length : 2000;
	return call(cv_file_search_text, &opts, &res, sizeof(res));
}

static int search(const char *pattern)
{
	return search_with((struct cove_file_search_text_opts){0}, pattern);
}

static int regex(const char *pattern)
{
	return search_with((struct cove_file_search_text_opts){.regex = true}, pattern);
}

/* The matches as "path:line ", one after the other. */
static const char *where(void)
{
	static char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < res.match_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s:%lld ",
					res.matches[i].path, (long long)res.matches[i].line);
	return text;
}

START_TEST(file_13_order_and_lines)
{
	make_dir("ws/a");
	put("ws/a/z", "x\nneedle needle\n\nneedle");
	put("ws/a.txt", "needle\n");
	put("ws/b", "nothing\n");
	ck_assert_int_eq(search("needle"), 0);
	ck_assert_str_eq(where(), "a/z:2 a/z:4 a.txt:1 ");
	ck_assert_str_eq(res.matches[0].text.data, "needle needle");
	ck_assert_int_eq(res.matches[0].match_at, 0);
	ck_assert_int_eq(res.matches[0].match_len, 6);
	ck_assert(!res.has_more);
	ck_assert_int_eq(res.files_searched, 3);
	ck_assert_int_eq(res.files_skipped, 0);
	ck_assert_int_eq(search("absent"), 0);
	ck_assert_uint_eq(res.match_count, 0);
}
END_TEST

START_TEST(file_13_pages)
{
	struct cove_file_search_text_opts opts = {.max_matches = 2};

	put("ws/a", "x1\nx2\nx3\n");
	put("ws/b", "x1\nx2\n");
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a:1 a:2 ");
	ck_assert(res.has_more);
	opts.offset = 2;
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a:3 b:1 ");
	ck_assert(res.has_more);
	opts.offset = 4;
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "b:2 ");
	ck_assert(!res.has_more);
	opts = (struct cove_file_search_text_opts){.after_path = "a", .after_line = 2};
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a:3 b:1 b:2 ");
	opts.after_line = 0;
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "b:1 b:2 ");
	/* A file that is gone by then. */
	opts = (struct cove_file_search_text_opts){.after_path = "aa", .after_line = 2};
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "b:1 b:2 ");
	opts = (struct cove_file_search_text_opts){.max_matches_per_file = 1};
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a:1 b:1 ");
	ck_assert(!res.has_more);
}
END_TEST

START_TEST(file_13_context)
{
	struct cove_file_search_text_opts opts = {.context = 1};

	put("ws/f", "1\n2 x\n3\n4\n5 x\n");
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "f:2 f:5 ");
	ck_assert_int_eq(res.matches[0].context_start, 1);
	ck_assert_str_eq(res.matches[0].context.data, "1\n2 x\n3");
	ck_assert_int_eq(res.matches[1].context_start, 4);
	ck_assert_str_eq(res.matches[1].context.data, "4\n5 x");
	opts.context = 20;
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_int_eq(res.matches[1].context_start, 1);
	ck_assert_str_eq(res.matches[1].context.data, "1\n2 x\n3\n4\n5 x");
}
END_TEST

/* Matches and their surroundings where the buffer is read anew. */
START_TEST(file_13_context_across_buffers)
{
	struct cove_file_search_text_opts opts = {.context = 3, .max_matches = 100000};
	FILE *f = fopen(at("ws/f"), "we");
	char want[256];
	int64_t line = 0;

	for (int i = 1; i <= 200000; i++)
		fprintf(f, "line %d%s\n", i, i % 97 == 0 ? " mark" : "");
	fclose(f);
	ck_assert_int_eq(search_with(opts, "mark"), 0);
	ck_assert_uint_eq(res.match_count, 200000 / 97);
	for (size_t i = 0; i < res.match_count; i++) {
		line += 97;
		ck_assert_int_eq(res.matches[i].line, line);
		snprintf(want, sizeof(want),
			 "line %d\nline %d\nline %d\nline %d mark\nline %d\nline %d\nline %d",
			 (int)line - 3, (int)line - 2, (int)line - 1, (int)line, (int)line + 1,
			 (int)line + 2, (int)line + 3);
		ck_assert_int_eq(res.matches[i].context_start, line - 3);
		ck_assert_str_eq(res.matches[i].context.data, want);
	}
}
END_TEST

START_TEST(file_13_bytes) /* CRLF, marks, binary files, what is not UTF-8 */
{
	put("ws/crlf", "end\r\nend\n");
	put("ws/mark", "\xEF\xBB\xBF"
		       "end");
	put_bytes("ws/nul", "end\nen\0d\n", 9);
	put("ws/odd", "\xFF end \xC3\n");
	ck_assert_int_eq(regex("end$"), 0);
	ck_assert_str_eq(where(), "crlf:2 mark:1 ");
	ck_assert_int_eq(regex("^end"), 0);
	ck_assert_str_eq(where(), "crlf:1 crlf:2 mark:1 ");
	ck_assert_str_eq(res.matches[0].text.data, "end\r");
	ck_assert_str_eq(res.matches[2].text.data, "end");
	ck_assert_int_eq(res.files_skipped, 1);
	ck_assert_int_eq(res.files_searched, 3);
	ck_assert_int_eq(search("end"), 0);
	ck_assert_str_eq(where(), "crlf:1 crlf:2 mark:1 odd:1 ");
	ck_assert_str_eq(res.matches[3].text.data, "\xEF\xBF\xBD end \xEF\xBF\xBD");
}
END_TEST

START_TEST(file_13_a_nul_at_the_end_of_a_large_file)
{
	FILE *f = fopen(at("ws/f"), "we");

	for (int i = 0; i < 100000; i++)
		fputs("some line with a match in it, and some more\n", f);
	fputc(0, f);
	fclose(f);
	put("ws/g", "match\n");
	ck_assert_int_eq(search("match"), 0);
	ck_assert_str_eq(where(), "g:1 ");
	ck_assert_int_eq(res.files_skipped, 1);
}
END_TEST

START_TEST(file_13_case_is_that_of_unicode)
{
	struct cove_file_search_text_opts any = {.ignore_case = true};

	put("ws/f", "\xC3\x89t\xC3\xA9\n\xE2\x84\xAA\n\xCE\xA3\xCF\x82\nFOO\n");
	ck_assert_int_eq(search_with(any, "\xC3\xA9T"), 0);
	ck_assert_str_eq(where(), "f:1 ");
	ck_assert_int_eq(search_with(any, "k"), 0);
	ck_assert_str_eq(where(), "f:2 ");
	ck_assert_int_eq(search_with(any, "\xCF\x83\xCF\x83"), 0);
	ck_assert_str_eq(where(), "f:3 ");
	ck_assert_int_eq(search_with(any, "foo"), 0);
	ck_assert_str_eq(where(), "f:4 ");
	ck_assert_int_eq(regex("(?i)\\bfOo\\b"), 0);
	ck_assert_str_eq(where(), "f:4 ");
	ck_assert_int_eq(search("\xCE\xA3"), 0); /* a pattern of only non-ASCII characters */
	ck_assert_str_eq(where(), "f:3 ");
}
END_TEST

START_TEST(file_13_which_files)
{
	struct cove_file_search_text_opts opts = {.ignore = COVE_IGNORE_GIT};

	make_dir("ws/d");
	put("ws/.gitignore", "*.log\n");
	put("ws/.hid", "x");
	put("ws/a.log", "x");
	put("ws/d/a.c", "x");
	put("ws/d/a.h", "x");
	make_link("a.c", "ws/d/link.c");
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "d/a.c:1 d/a.h:1 ");
	ck_assert_int_eq(res.hidden_count, 3);
	opts.include = "*.{c,log}";
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "d/a.c:1 ");
	opts.include = "a.log";
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a.log:1 ");
	opts.include = "**";
	opts.include_hidden = true;
	opts.ignore = COVE_IGNORE_NONE;
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), ".hid:1 a.log:1 d/a.c:1 d/a.h:1 ");
	/* A file that is named is searched, whatever hides it. */
	opts = (struct cove_file_search_text_opts){.ignore = COVE_IGNORE_GIT, .root = "a.log"};
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a.log:1 ");
	opts.root = "d/link.c";
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "d/a.c:1 ");
}
END_TEST

START_TEST(file_13_limits)
{
	struct cove_file_search_text_opts opts = {.max_files = 2};
	char line[5000];

	put("ws/a", "x\n");
	put("ws/b", "x\n");
	ck_assert_int_eq(search_with(opts, "x"), 0);
	put("ws/c", "x\n");
	ck_assert_int_eq(search_with(opts, "x"), COVE_E_TOO_LARGE);
	opts = (struct cove_file_search_text_opts){.max_file_bytes = 3};
	memset(line, 'y', sizeof(line));
	line[0] = 'x';
	line[4998] = (char)0xC3;
	line[4999] = (char)0xA9;
	put_bytes("ws/c", line, sizeof(line));
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_str_eq(where(), "a:1 b:1 ");
	ck_assert_int_eq(res.files_skipped, 1);
	opts = (struct cove_file_search_text_opts){.max_line_length = 4999};
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_uint_eq(res.matches[2].text.len, 4998); /* no half character */
	ck_assert(res.matches[2].truncated);
	ck_assert(!res.matches[0].truncated);
}
END_TEST

START_TEST(file_13_bad_patterns)
{
	ck_assert_int_eq(regex("a(b"), COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "pattern");
	ck_assert_ptr_nonnull(strstr(fx.err.reason, "at byte 3"));
	ck_assert_int_eq(regex("(?i)[b"), COVE_E_INVALID_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(fx.err.reason, "at byte 6"));
	ck_assert_int_eq(regex("*a"), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(regex("\\"), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(search("a(b"), 0);
	ck_assert_int_eq(search_with((struct cove_file_search_text_opts){.include = "x**y"}, "a"),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "include");
	ck_assert_int_eq(search_with((struct cove_file_search_text_opts){.root = "missing"}, "a"),
			 COVE_E_NOT_FOUND);
	ck_assert_int_eq(search_with((struct cove_file_search_text_opts){.after_path = "../x"},
				     "a"),
			 COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(file_13_pathological_expressions_end)
{
	int64_t start = cv_now_ms();

	put("ws/f", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
	ck_assert_int_eq(regex("(a+)+$"), COVE_E_TOO_LARGE);
	ck_assert_ptr_nonnull(strstr(fx.err.message, "'f'"));
	ck_assert_int_eq(regex("a{1000}{1000}"), COVE_E_TOO_LARGE);
	ck_assert_int_lt(cv_now_ms() - start, 1000); /* twice, under sanitizers */
	put("ws/f", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	ck_assert_int_eq(regex("(a+)+$"), 0);
	ck_assert_str_eq(where(), "f:1 ");
}
END_TEST

START_TEST(file_13_special_files)
{
	make_link("..", "ws/loop");
	make_link("nowhere", "ws/dangling");
	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	put("ws/f", "x\n");
	ck_assert_int_eq(search("x"), 0);
	ck_assert_str_eq(where(), "f:1 ");
	ck_assert_int_eq(search_with((struct cove_file_search_text_opts){.root = "fifo"}, "x"),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(search_with((struct cove_file_search_text_opts){.root = "loop"}, "x"),
			 COVE_E_PERMISSION_DENIED);
}
END_TEST

START_TEST(file_13_what_cannot_be_read_is_counted)
{
	make_dir("ws/shut");
	put("ws/shut/f", "x\n");
	put("ws/f", "x\n");
	put("ws/g", "x\n");
	ck_assert_int_eq(chmod(at("ws/shut"), 0), 0);
	ck_assert_int_eq(chmod(at("ws/g"), 0), 0);
	ck_assert_int_eq(search("x"), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(res.files_searched, 3);
	} else {
		ck_assert_str_eq(where(), "f:1 ");
		ck_assert_int_eq(res.files_skipped, 2);
	}
	ck_assert_int_eq(chmod(at("ws/shut"), 0700), 0);
}
END_TEST

START_TEST(file_13_endless_lines)
{
	struct cove_file_search_text_opts all = {.max_file_bytes = INT64_C(1) << 40};
	int fd = open(at("ws/f"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	size_t size = (size_t)1 << 20;
	CV_FREE char *block = malloc(size);

	memset(block, 'x', size);
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(cv_write_full(fd, block, size), 0);
	ck_assert_int_eq(search("x"), 0);
	ck_assert_str_eq(where(), "f:1 ");
	ck_assert(res.matches[0].truncated);
	for (int i = 0; i < 93; i++)
		ck_assert_int_eq(cv_write_full(fd, block, size), 0);
	put("ws/g", "x\n");
	ck_assert_int_eq(search_with(all, "x"), 0);
	ck_assert_str_eq(where(), "g:1 ");
	ck_assert_int_eq(res.files_skipped, 1);
	ck_assert_int_eq(search("x"), 0);
	ck_assert_int_eq(res.files_skipped, 1);
	close(fd);
}
END_TEST

/* Files that grow, vanish and become something else meanwhile. */
static void *disturb(void *stop)
{
	for (unsigned i = 0; !atomic_load((atomic_bool *)stop); i++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "ws/d%02u/f", i % 50);
		fd = open(at(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (fd >= 0) {
			if (write(fd, "x\n", 2) < 0)
				i++;
			close(fd);
		}
		if (i % 3 == 0)
			unlink(at(path));
		if (i % 7 == 0 && symlink("../../out/secret", at(path)) < 0)
			i++;
	}
	return NULL;
}

START_TEST(file_13_a_tree_that_changes)
{
	atomic_bool stop = false;
	pthread_t thread;

	put("out/secret", "x secret\n");
	for (unsigned i = 0; i < 50; i++) {
		char path[32];

		snprintf(path, sizeof(path), "ws/d%02u", i);
		make_dir(path);
	}
	pthread_create(&thread, NULL, disturb, &stop);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(search("x"), 0);
		for (size_t k = 0; k < res.match_count; k++)
			ck_assert_str_eq(res.matches[k].text.data, "x");
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}
END_TEST

/* A file on each of a thousand levels, and few descriptors. */
START_TEST(file_13_a_thousand_levels)
{
	struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
	struct cove_file_search_text_opts opts = {.max_matches = 5000};
	int dir = open(at("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < 1000; i++) {
		int fd = openat(dir, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		int next;

		ck_assert_int_eq(cv_write_full(fd, "x\n", 2), 0);
		close(fd);
		fd = openat(dir, "zz", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		ck_assert_int_eq(cv_write_full(fd, "x\n", 2), 0);
		close(fd);
		ck_assert_int_eq(mkdirat(dir, "m", 0755), 0);
		next = openat(dir, "m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(next, 0);
		close(dir);
		dir = next;
	}
	close(dir);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(search_with(opts, "x"), 0);
	ck_assert_uint_eq(res.match_count, 2000);
	ck_assert_int_eq(res.files_searched, 2000);
	ck_assert_int_eq(res.files_skipped, 0);
}
END_TEST

START_TEST(file_13_cancelled)
{
	put("ws/f", "x\n");
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(search("x"), COVE_E_CANCELLED);
}
END_TEST

/* Many matches in many files: pages are full by their bytes, and hold all there is. */
START_TEST(file_13_large_results)
{
	struct cove_file_search_text_opts opts = {.max_matches = 100000};
	char path[64] = "";
	int64_t total = 0;
	int pages = 0;

	for (int i = 0; i < 60; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "ws/f%02d", i);
		f = fopen(at(path), "we");
		for (int k = 0; k < 3000; k++)
			fprintf(f, "%d a line that is matched by what is looked for in it\n", k);
		fclose(f);
	}
	do {
		ck_assert_int_eq(search_with(opts, "line"), 0);
		total += (int64_t)res.match_count;
		ck_assert_uint_gt(res.match_count, 0);
		snprintf(path, sizeof(path), "%s", res.matches[res.match_count - 1].path);
		opts.after_path = path;
		opts.after_line = res.matches[res.match_count - 1].line;
		pages++;
	} while (res.has_more);
	ck_assert_int_eq(total, 180000);
	ck_assert_int_gt(pages, 2);
}
END_TEST

START_TEST(file_13_as_ripgrep_finds)
{
	search_trees(1, 400);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_13_order_and_lines,
		file_13_pages,
		file_13_context,
		file_13_context_across_buffers,
		file_13_bytes,
		file_13_a_nul_at_the_end_of_a_large_file,
		file_13_case_is_that_of_unicode,
		file_13_which_files,
		file_13_limits,
		file_13_bad_patterns,
		file_13_pathological_expressions_end,
		file_13_special_files,
		file_13_what_cannot_be_read_is_counted,
		file_13_endless_lines,
		file_13_a_tree_that_changes,
		file_13_a_thousand_levels,
		file_13_cancelled,
		file_13_large_results,
		file_13_as_ripgrep_finds,
	};

	return run_tests("files_search", tests, CV_LEN(tests), 120);
}
