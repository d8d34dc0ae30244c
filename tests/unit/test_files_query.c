/* SPDX-License-Identifier: Apache-2.0 */
/* Finding entries by a pattern: FILE-10, and what of FILE-11 shows in a tree. */
#include "ignore_trees.h"

#include "files/walk.h"

#include <sys/resource.h>

static struct cove_file_query_result res;

static int query_with(struct cove_file_query_opts opts, const char *pattern)
{
	opts.size = sizeof(opts);
	opts.pattern = pattern;
	opts.max_results = opts.max_results ? opts.max_results : 1000;
	return call(cv_file_query, &opts, &res, sizeof(res));
}

static int query(const char *pattern)
{
	return query_with((struct cove_file_query_opts){0}, pattern);
}

static const char *paths(void)
{
	static char text[8192];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < res.entry_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ", res.entries[i].path);
	return text;
}

static void make_tree(void)
{
	make_dir("ws/a");
	make_dir("ws/a/b");
	put("ws/a/b/x.c", "123");
	put("ws/a/y.c", "");
	put("ws/a.c", "");
	make_dir("ws/.git");
	put("ws/.git/config", "");
	make_dir("ws/.github");
	put("ws/.github/w.yml", "");
	put("ws/.env", "");
	put("ws/z.log", "");
	put("ws/.gitignore", "*.log\nbuild/\n");
	make_dir("ws/build");
	put("ws/build/out.c", "");
}

START_TEST(file_10_order_and_facts)
{
	make_tree();
	ck_assert_int_eq(query("**"), 0);
	ck_assert_str_eq(paths(), "a a/b a/b/x.c a/y.c a.c build build/out.c z.log ");
	ck_assert_int_eq(res.entries[2].kind, COVE_KIND_FILE);
	ck_assert_int_eq(res.entries[2].size, 3);
	ck_assert_int_ne(res.entries[2].mtime_ns, 0);
	ck_assert_int_eq(res.entries[0].kind, COVE_KIND_DIRECTORY);
	ck_assert_int_eq(res.hidden_count, 4);
	ck_assert_int_eq(query("*.c"), 0);
	ck_assert_str_eq(paths(), "a/b/x.c a/y.c a.c build/out.c ");
	ck_assert_int_eq(query("/*.c"), 0);
	ck_assert_str_eq(paths(), "a.c ");
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.root = "a"}, "/*.c"), 0);
	ck_assert_str_eq(paths(), "a/y.c ");
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.no_recurse = true}, "**/*"), 0);
	ck_assert_str_eq(paths(), "a a.c build z.log ");
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.names_only = true}, "x.c"), 0);
	ck_assert_int_eq(res.entries[0].size, 0);
	ck_assert_int_eq(res.entries[0].kind, COVE_KIND_FILE);
}
END_TEST

START_TEST(file_10_kinds)
{
	static const char *const dirs[] = {"directory", NULL};
	static const char *const both[] = {"symlink", "other", NULL};

	make_dir("ws/d");
	put("ws/f", "");
	make_link("d", "ws/l");
	ck_assert_int_eq(mkfifo(at("ws/p"), 0600), 0);
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.kinds = dirs}, "*"), 0);
	ck_assert_str_eq(paths(), "d ");
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.kinds = both}, "*"), 0);
	ck_assert_str_eq(paths(), "l p ");
}
END_TEST

START_TEST(file_10_pages)
{
	struct cove_file_query_opts opts = {.max_results = 3};

	make_tree();
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "a a/b a/b/x.c ");
	ck_assert(res.has_more);
	opts.offset = 3;
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "a/y.c a.c build ");
	opts.offset = 6;
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "build/out.c z.log ");
	ck_assert(!res.has_more);
	opts = (struct cove_file_query_opts){.after = "a/b"};
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "a/b/x.c a/y.c a.c build build/out.c z.log ");
	opts.after = "./a/b/x.c";
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "a/y.c a.c build build/out.c z.log ");
	opts.after = "a/gone/q";
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_str_eq(paths(), "a/y.c a.c build build/out.c z.log ");
	opts.after = "/elsewhere";
	ck_assert_int_eq(query_with(opts, "**"), COVE_E_INVALID_ARGUMENT);
}
END_TEST

/* However it is cut into pages, all is there once. */
START_TEST(file_10_every_page_size)
{
	struct cove_file_query_opts opts = {.include_hidden = true};
	char all[8192];
	char after[256];

	make_tree();
	ck_assert_int_eq(query_with(opts, "**"), 0);
	snprintf(all, sizeof(all), "%s", paths());
	for (opts.max_results = 1; opts.max_results < 20; opts.max_results++) {
		char got[8192] = "";

		opts.after = NULL;
		do {
			ck_assert_int_eq(query_with(opts, "**"), 0);
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s", paths());
			snprintf(after, sizeof(after), "%s", res.entries[res.entry_count - 1].path);
			opts.after = after;
		} while (res.has_more);
		ck_assert_str_eq(got, all);
	}
}
END_TEST

START_TEST(file_10_what_is_spelt_is_found) /* CASE-73 */
{
	struct cove_file_query_opts git = {.ignore = COVE_IGNORE_GIT};

	make_tree();
	ck_assert_int_eq(query_with(git, "*"), 0);
	ck_assert_str_eq(paths(), "a a/b a/b/x.c a/y.c a.c ");
	ck_assert_int_eq(res.hidden_count, 6);
	ck_assert_int_eq(query_with(git, "z.log"), 0);
	ck_assert_str_eq(paths(), "z.log ");
	ck_assert_int_eq(query_with(git, "*.log"), 0);
	ck_assert_str_eq(paths(), "");
	ck_assert_int_eq(res.hidden_count, 4);
	ck_assert_int_eq(query_with(git, ".github/*.yml"), 0);
	ck_assert_str_eq(paths(), ".github/w.yml ");
	ck_assert_int_eq(res.hidden_count, 0);
	ck_assert_int_eq(query_with(git, ".env"), 0);
	ck_assert_str_eq(paths(), ".env ");
	ck_assert_int_eq(query_with(git, ".e*"), 0);
	ck_assert_str_eq(paths(), ".env ");
	ck_assert_int_eq(query_with(git, "build/*"), 0);
	ck_assert_str_eq(paths(), "build/out.c ");
	ck_assert_int_eq(query_with(git, ".git/config"), 0);
	ck_assert_str_eq(paths(), ".git/config ");
	ck_assert_int_eq(query_with(git, "{z.log,q}"), 0);
	ck_assert_str_eq(paths(), "z.log ");
	git.root = "build";
	ck_assert_int_eq(query_with(git, "*"), 0);
	ck_assert_str_eq(paths(), "build/out.c ");
}
END_TEST

START_TEST(file_10_scratch_directories_are_left_out)
{
	struct cove_file_query_opts all = {.include_hidden = true};

	make_dir("ws/.tmp");
	make_dir("ws/.tmp/cove-abc");
	put("ws/.tmp/cove-abc/f", "");
	put("ws/.tmp/g", "");
	ck_assert_int_eq(query_with(all, "**"), 0);
	ck_assert_str_eq(paths(), ".tmp .tmp/g ");
	ck_assert_int_eq(query_with(all, ".tmp/cove-abc/*"), 0);
	ck_assert_str_eq(paths(), ".tmp/cove-abc/f ");
}
END_TEST

START_TEST(file_10_refusals)
{
	put("ws/f", "");
	ck_assert_int_eq(mkfifo(at("ws/p"), 0600), 0);
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.root = "f"}, "*"),
			 COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.root = "p"}, "*"),
			 COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.root = "none"}, "*"),
			 COVE_E_NOT_FOUND);
	ck_assert_int_eq(query_with((struct cove_file_query_opts){.root = "../out"}, "*"),
			 COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(query("x**y"), COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "pattern");
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(query("*"), COVE_E_CANCELLED);
}
END_TEST

START_TEST(file_10_links_names_and_shut_directories)
{
	make_dir("ws/d");
	put("ws/d/f", "");
	make_link("..", "ws/d/loop");
	make_link("../out", "ws/away");
	put("ws/bad\xFF", "");
	put("ws/~", "");
	make_dir("ws/shut");
	ck_assert_int_eq(chmod(at("ws/shut"), 0), 0);
	ck_assert_int_eq(query("**"), 0);
	ck_assert_str_eq(paths(), "away d d/f d/loop shut ./~ ");
	ck_assert_int_eq(res.skipped_count, geteuid() == 0 ? 1 : 2);
	ck_assert_int_eq(chmod(at("ws/shut"), 0700), 0);
}
END_TEST

/* A thousand levels, side branches on the way, few descriptors. */
START_TEST(file_10_a_thousand_levels)
{
	struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
	struct cove_file_query_opts opts = {.max_results = 100000};
	int dir = open(at("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < 1000; i++) {
		int next;

		ck_assert_int_eq(mkdirat(dir, "m", 0755), 0);
		ck_assert_int_eq(mkdirat(dir, "z", 0755), 0);
		ck_assert_int_eq(symlinkat("x", dir, "zz"), 0);
		next = openat(dir, "m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(next, 0);
		close(dir);
		dir = next;
	}
	close(dir);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(query_with(opts, "**"), 0);
	ck_assert_uint_eq(res.entry_count, 3000);
	ck_assert_int_eq(res.skipped_count, 0);
	ck_assert_str_eq(res.entries[2999].path, "zz");
	opts.pattern = "x";
	ck_assert_int_eq(query_with(opts, "**/m/z"), 0);
	ck_assert_uint_eq(res.entry_count, 999);
}
END_TEST

/* The same names as fd, on trees of every kind of name. */
static void as_fd_finds(const char *pattern, const char *const *flags)
{
	const char *argv[16] = {"fdfind", "--glob", "-0", "--color=never", "--threads=1"};
	size_t n = 5;
	struct list want;
	struct list got = {0};
	struct cove_file_query_opts opts = {.max_results = 100000, .names_only = true};

	for (; flags && *flags; flags++) {
		argv[n++] = *flags;
		opts.include_hidden |= strcmp(*flags, "-H") == 0;
	}
	argv[n++] = "--no-ignore";
	argv[n++] = pattern;
	ck_assert_int_eq(chdir(fx.ws), 0);
	ck_assert_int_eq(run_program(argv, NULL, "out/fd"), 0);
	ck_assert_int_eq(chdir(fx.base), 0);
	want = read_list("out/fd");
	ck_assert_int_eq(query_with(opts, pattern), 0);
	got.names = calloc(res.entry_count + 1, sizeof(*got.names));
	for (size_t i = 0; i < res.entry_count; i++)
		got.names[got.count++] = res.entries[i].path;
	qsort(got.names, got.count, sizeof(*got.names), by_bytes);
	for (size_t i = 0; i < want.count; i++) {
		/* It shows paths with ./ and directories with a slash. */
		char *name = (char *)want.names[i] + 2 * (strncmp(want.names[i], "./", 2) == 0);

		if (name[strlen(name) - 1] == '/')
			name[strlen(name) - 1] = '\0';
		want.names[i] = name;
	}
	qsort(want.names, want.count, sizeof(*want.names), by_bytes);
	expect_same(&got, &want, 0);
	free_list(&got);
	free_list(&want);
}

START_TEST(file_11_as_fd_finds)
{
	static const char *const pieces[] = {"*", "a",	    "?",     "b",    "[ab]",
					     "x", ".",	    "o",     "[!a]", "foo",
					     "c", "{a,x.}", "[a-f]", "*",    "\xC3\xA9"};
	static const char *const hidden[] = {"-H", NULL};

	picks = 7;
	grow_tree("ws", 4);
	for (int i = 0; i < 200; i++) {
		char pattern[64] = "";

		for (size_t n = 1 + pick(3); n > 0; n--)
			snprintf(pattern + strlen(pattern), sizeof(pattern) - strlen(pattern), "%s",
				 pieces[pick(CV_LEN(pieces))]);
		if (strstr(pattern, "**") || pattern[0] == '.')
			continue;
		as_fd_finds(pattern, pick(2) ? hidden : NULL);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_10_order_and_facts,
		file_10_kinds,
		file_10_pages,
		file_10_every_page_size,
		file_10_what_is_spelt_is_found,
		file_10_scratch_directories_are_left_out,
		file_10_refusals,
		file_10_links_names_and_shut_directories,
		file_10_a_thousand_levels,
		file_11_as_fd_finds,
	};

	return run_tests("files_query", tests, CV_LEN(tests), 120);
}
