/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated trees with generated ignore files, judged by git: every file that git ignores is left
 * out of a query, and nothing else is.
 */
#ifndef IGNORE_TREES_H
#define IGNORE_TREES_H

#include "files_fixture.h"

#include "base/utf8.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static const char *const tree_names[] = {"a",	"b",   "c",   "ab",   "x.o",	  "x.c",      "foo",
					 "bar", "a b", "b ",  "#x",   "!b",	  "[a]",      "a*",
					 ".h",	"A",   "a\\", "fooa", "\xC3\xA9", "foo.bar.o"};
static const char *const rule_pieces[] = {
	"a",
	"b",
	"foo",
	"bar",
	"x.o",
	"x.c",
	"*",
	"*.o",
	"?",
	"**",
	"/",
	"/",
	"/",
	"[ab]",
	"[!a]",
	"[a-c]",
	"[^b]",
	"\\a",
	"\\ ",
	"\\!",
	"\\#",
	" ",
	"[[:alpha:]]",
	"[a",
	"]",
	"**/",
	"/**",
	"/**/",
	"ab",
	"*a",
	"f*",
	".*",
	"[]a]",
	"[a-]",
	"\\*",
	"\xC3\xA9",
	"[[:upper:]b]",
	"[\\]a]",
	"***",
	"a**",
	"[-a]",
	"[b-a]",
	"[[:x:]]",
	"\t",
	"foo**/",
	"\\[a\\]",
	"[a/b]",
	"#",
};

static uint64_t picks;

/* Xorshift: 0 ≤ result < n. */
static size_t pick(size_t n)
{
	picks ^= picks << 13;
	picks ^= picks >> 7;
	picks ^= picks << 17;
	return (size_t)(picks % n);
}

static void add_rule(char *rules, size_t size)
{
	size_t n = 1 + pick(5);
	size_t len = strlen(rules);

	if (pick(5) == 0)
		len += (size_t)snprintf(rules + len, size - len, "!");
	for (; n > 0; n--)
		len += (size_t)snprintf(rules + len, size - len, "%s",
					rule_pieces[pick(CV_LEN(rule_pieces))]);
	if (pick(4) == 0)
		len += (size_t)snprintf(rules + len, size - len, "/");
	if (pick(8) == 0)
		len += (size_t)snprintf(rules + len, size - len, pick(2) ? "  " : "\r");
	snprintf(rules + len, size - len, "%s", pick(20) ? "\n" : "");
}

static void put_rules(const char *path)
{
	char rules[2048] = "";

	if (pick(10) == 0)
		snprintf(rules, sizeof(rules), "\xEF\xBB\xBF");
	for (size_t n = pick(5); n > 0; n--)
		add_rule(rules, sizeof(rules));
	put(path, rules);
}

static void grow_tree(const char *dir, int depth)
{
	char path[1024];

	if (pick(3) == 0) {
		snprintf(path, sizeof(path), "%s/.gitignore", dir);
		put_rules(path);
	}
	for (size_t n = 2 + pick(5); n > 0; n--) {
		snprintf(path, sizeof(path), "%s/%s", dir, tree_names[pick(CV_LEN(tree_names))]);
		if (is_there(path))
			continue;
		if (depth > 0 && pick(2)) {
			make_dir(path);
			grow_tree(path, depth - 1);
		} else if (pick(12) == 0) {
			make_link("a", path);
		} else {
			put(path, "");
		}
	}
}

/* A program with its output in a file; its exit code. */
static int run_program(const char *const *argv, const char *in, const char *out)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, in ? at(in) : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, at(out), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_eq(posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ),
			 0);
	posix_spawn_file_actions_destroy(&actions);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct list {
	char *text; /* NUL-terminated names back to back */
	const char **names;
	size_t count;
};

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct list read_list(const char *rel)
{
	struct list l = {0};
	size_t len = 0;

	ck_assert_int_eq(cv_read_file(AT_FDCWD, at(rel), (size_t)16 << 20, &l.text, &len), 0);
	l.names = calloc(len + 1, sizeof(*l.names));
	for (size_t i = 0; i < len; i += strlen(l.text + i) + 1)
		l.names[l.count++] = l.text + i;
	qsort(l.names, l.count, sizeof(*l.names), by_bytes);
	return l;
}

static void free_list(struct list *l)
{
	free(l->names);
	free(l->text);
}

static struct list query_all(int ignore)
{
	static const char *const kinds[] = {"file", "symlink", NULL};
	struct cove_file_query_opts opts = {.pattern = "**",
					    .include_hidden = true,
					    .ignore = ignore,
					    .kinds = kinds,
					    .names_only = true,
					    .max_results = 100000};
	struct cove_file_query_result res;
	struct list l = {0};

	opts.size = sizeof(opts);
	ck_assert_int_eq(call(cv_file_query, &opts, &res, sizeof(res)), 0);
	ck_assert(!res.has_more);
	l.names = calloc(res.entry_count + 1, sizeof(*l.names));
	for (size_t i = 0; i < res.entry_count; i++)
		if (strncmp(res.entries[i].path, ".git/", 5) != 0)
			l.names[l.count++] = res.entries[i].path;
	qsort(l.names, l.count, sizeof(*l.names), by_bytes);
	return l;
}

static void save_names(const struct list *l, const char *rel)
{
	FILE *f = fopen(at(rel), "we");

	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < l->count; i++)
		fwrite(l->names[i], 1, strlen(l->names[i]) + 1, f);
	fclose(f);
}

/* What is in `all` and not in `gone`. */
static void subtract(struct list *all, const struct list *gone)
{
	size_t kept = 0;
	size_t k = 0;

	for (size_t i = 0; i < all->count; i++) {
		while (k < gone->count && strcmp(gone->names[k], all->names[i]) < 0)
			k++;
		if (k == gone->count || strcmp(gone->names[k], all->names[i]) != 0)
			all->names[kept++] = all->names[i];
	}
	all->count = kept;
}

static void expect_same(const struct list *got, const struct list *want, uint64_t seed)
{
	for (size_t i = 0; i < CV_MAX(got->count, want->count); i++) {
		const char *g = i < got->count ? got->names[i] : "(end)";
		const char *w = i < want->count ? want->names[i] : "(end)";

		ck_assert_msg(strcmp(g, w) == 0, "tree %llu: got '%s', git has '%s'",
			      (unsigned long long)seed, g, w);
	}
}

static void one_tree(uint64_t seed)
{
	static const char *const ls[] = {
		"git", "-C", NULL, "ls-files", "-z", "--others", "--exclude-standard", NULL};
	static const char *const check[] = {"git", "-C",	 NULL,	    "check-ignore",
					    "-z",  "--no-index", "--stdin", NULL};
	const char *argv[8];
	struct list want;
	struct list got;

	picks = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	grow_tree("ws", 3);
	put("ws/.git/info/exclude", "");
	if (pick(3) == 0)
		put_rules("ws/.git/info/exclude");
	memcpy(argv, seed % 2 ? ls : check, sizeof(argv));
	argv[2] = fx.ws;
	if (seed % 2) {
		ck_assert_int_eq(run_program(argv, NULL, "out/git"), 0);
		want = read_list("out/git");
		got = query_all(COVE_IGNORE_GIT);
		expect_same(&got, &want, seed);
	} else {
		struct list ignored;

		want = query_all(COVE_IGNORE_NONE);
		save_names(&want, "out/all");
		ck_assert_int_ge(run_program(argv, "out/all", "out/git"), 0);
		free_list(&want);
		ignored = read_list("out/git");
		want = read_list("out/all");
		subtract(&want, &ignored);
		got = query_all(COVE_IGNORE_GIT);
		expect_same(&got, &want, seed);
		free_list(&ignored);
	}
	free_list(&want);
	free_list(&got);
}

/* So many trees, from a seed on. */
static inline void ignore_trees(uint64_t first, uint64_t count)
{
	const char *init[] = {"git", "init", "-q", fx.ws, NULL};

	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("HOME", at("out"), 1);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	setenv("GIT_CONFIG_KEY_0", "safe.directory", 1);
	setenv("GIT_CONFIG_VALUE_0", "*", 1);
	ck_assert_int_eq(run_program(init, NULL, "out/init"), 0);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct cv_tree_remove job = {.force = true};

		one_tree(seed);
		ck_assert_int_eq(rename(at("ws/.git"), at("out/dotgit")), 0);
		ck_assert_int_eq(cv_tree_remove(AT_FDCWD, at("ws"), &job), 0);
		make_dir("ws");
		ck_assert_int_eq(rename(at("out/dotgit"), at("ws/.git")), 0);
	}
}

#endif
