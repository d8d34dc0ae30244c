/* SPDX-License-Identifier: Apache-2.0 */
/* Generated texts and patterns, judged by ripgrep: the same lines match. */
#ifndef SEARCH_TREES_H
#define SEARCH_TREES_H

#include "ignore_trees.h"

static const char *const words[] = {
	"foo",
	"bar",
	"FOO",
	"Foo",
	"struct",
	"x_ops",
	" ",
	"\t",
	"\xC3\xA9",
	"\xC3\x89",
	"\xC3\x9F",
	"\xC5\xBF",
	"\xE2\x84\xAA",
	"k",
	"K",
	"s",
	"S",
	"a",
	"aa",
	"aaa",
	"\r",
	"\xFF",
	"\xC3",
	"0",
	"42",
	"(",
	"$",
	".",
	"_",
	"\xE6\x97\xA5\xE6\x9C\xAC",
	"ab",
	"\xCE\xA3",
	"\xCF\x83",
	"\xCF\x82",
	"-",
	"b",
};
static const char *const texts[] = {
	"foo", "bar", "FOO", "x_ops",	     " ",	 "\xC3\xA9", "\xC5\xBF", "k", "s", "a",
	"(",   "$",   ".",   "\xE6\x97\xA5", "\xCF\x83", "ab",	     "0",	 "_",
};
static const char *const expressions[] = {
	"foo",	  "fo+",	 "\\bfoo",	 "[a-f]+",   "(foo|bar)", "\xC3\xA9?",
	".",	  ".*",		 "\\w+",	 "\\d",	     "^",	  "$",
	"a{2,3}", "[^a-z]",	 "\\s",		 "\\S",	     "x_ops",	  "struct",
	"\\b",	  "[\xC3\xA9k]", "a*",		 "(?:a|b)+", "\\.",	  "\\$",
	"\\W",	  "[^\\s]+?",	 "\\D",		 "|",	     "s",	  "[0-9_]",
	"B?",	  "(a(b)?)*",	 "\xE6\x97\xA5", "\\(",	     "[\\w-]",	  "k",
	"\\B",
};

static void put_text(const char *path)
{
	char text[8192];
	size_t len = 0;

	if (pick(10) == 0)
		len += (size_t)snprintf(text, sizeof(text), "\xEF\xBB\xBF");
	for (size_t lines = pick(30); lines > 0; lines--) {
		for (size_t n = pick(8); n > 0; n--) {
			const char *w = words[pick(CV_LEN(words))];

			memcpy(text + len, w, strlen(w));
			len += strlen(w);
		}
		if (pick(6) == 0)
			text[len++] = '\r';
		if (lines > 1 || pick(3))
			text[len++] = '\n';
	}
	put_bytes(path, text, len);
}

static void make_pattern(char *dst, size_t size, const char *const *pieces, size_t count)
{
	size_t len = 0;

	for (size_t n = 1 + pick(4); n > 0; n--)
		len += (size_t)snprintf(dst + len, size - len, "%s", pieces[pick(count)]);
}

struct found {
	char **rows; /* path:line:text */
	size_t count;
	size_t cap;
};

static void add_row(struct found *f, char *row)
{
	if (f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 64;
		f->rows = reallocarray(f->rows, f->cap, sizeof(*f->rows));
	}
	f->rows[f->count++] = row;
}

static void free_found(struct found *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->rows[i]);
	free(f->rows);
	*f = (struct found){0};
}

/* Pages through all matches. */
static void ours(struct cove_file_search_text_opts opts, struct found *f)
{
	struct cove_file_search_text_result res;
	char path[256];

	opts.size = sizeof(opts);
	opts.max_file_bytes = opts.max_file_bytes ? opts.max_file_bytes : 64 << 20;
	opts.max_line_length = 65536;
	opts.max_matches = 1 + (int64_t)pick(50);
	do {
		ck_assert_msg(call(cv_file_search_text, &opts, &res, sizeof(res)) == 0, "%s: %s",
			      opts.pattern, fx.err.message);
		for (size_t i = 0; i < res.match_count; i++) {
			const struct cove_match *m = &res.matches[i];
			char *row = NULL;

			ck_assert_int_gt(asprintf(&row, "%s:%lld:%s", m->path, (long long)m->line,
						  m->text.data),
					 0);
			add_row(f, row);
			ck_assert_int_le(m->match_at + m->match_len, (int64_t)m->text.len);
		}
		if (res.match_count > 0) {
			const struct cove_match *m = &res.matches[res.match_count - 1];

			snprintf(path, sizeof(path), "%s", m->path);
			opts.after_path = path;
			opts.after_line = m->line;
		}
	} while (res.has_more);
	if (f->count > 0)
		qsort(f->rows, f->count, sizeof(*f->rows), by_bytes);
}

static void theirs(const struct cove_file_search_text_opts *opts, struct found *f)
{
	const char *argv[] = {"rg",
			      "--no-config",
			      "-n",
			      "--no-heading",
			      "--color=never",
			      "--hidden",
			      "--no-ignore",
			      "-j1",
			      "--no-messages",
			      opts->regex ? "--no-crlf" : "-F",
			      opts->ignore_case ? "-i" : "-s",
			      "-e",
			      opts->pattern,
			      "./",
			      NULL};
	CV_FREE char *text = NULL;
	size_t len = 0;
	int rc;

	ck_assert_int_eq(chdir(fx.ws), 0);
	rc = run_program(argv, NULL, "out/rg");
	ck_assert_int_eq(chdir(fx.base), 0);
	ck_assert_msg(rc == 0 || rc == 1, "rg refused '%s'", opts->pattern);
	ck_assert_int_eq(cv_read_file(AT_FDCWD, at("out/rg"), (size_t)64 << 20, &text, &len), 0);
	for (size_t i = 0; i < len;) {
		const char *lf = memchr(text + i, '\n', len - i);
		size_t n = lf ? (size_t)(lf - text) - i : len - i;
		/* As results give it: without ./, and U+FFFD for what is not UTF-8. */
		char *row = calloc(1, cv_utf8_clean_len(text + i + 2, n - 2) + 1);

		cv_utf8_clean(row, text + i + 2, n - 2);
		add_row(f, row);
		i += n + 1;
	}
	if (f->count > 0)
		qsort(f->rows, f->count, sizeof(*f->rows), by_bytes);
}

/* Between bytes that are no characters PCRE2 has no place to look from. */
static void drop_odd(struct found *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (strstr(f->rows[i], "\xEF\xBF\xBD"))
			free(f->rows[i]);
		else
			f->rows[kept++] = f->rows[i];
	}
	f->count = kept;
}

static void one_search(uint64_t seed)
{
	struct cove_file_search_text_opts opts = {0};
	struct found got = {0};
	struct found want = {0};
	char pattern[256];

	opts.regex = pick(3) > 0;
	opts.ignore_case = pick(3) == 0;
	opts.include_hidden = true;
	opts.pattern = pattern;
	if (opts.regex)
		make_pattern(pattern, sizeof(pattern), expressions, CV_LEN(expressions));
	else
		make_pattern(pattern, sizeof(pattern), texts, CV_LEN(texts));
	/* ripgrep 13 misses lines where one of these stands beside the edge of a line. */
	if (opts.regex && (strstr(pattern, "\\b") || strstr(pattern, "\\B")) &&
	    strpbrk(pattern, "^$"))
		return;
	ours(opts, &got);
	theirs(&opts, &want);
	if (strstr(pattern, "\\B")) {
		drop_odd(&got);
		drop_odd(&want);
	}
	for (size_t i = 0; i < CV_MAX(got.count, want.count); i++) {
		const char *g = i < got.count ? got.rows[i] : "(end)";
		const char *w = i < want.count ? want.rows[i] : "(end)";

		ck_assert_msg(strcmp(g, w) == 0,
			      "search %llu for '%s' (regex %d, any case %d): got '%s', rg has '%s'",
			      (unsigned long long)seed, pattern, opts.regex, opts.ignore_case, g,
			      w);
	}
	free_found(&got);
	free_found(&want);
}

/* So many searches, from a seed on. */
static void search_trees(uint64_t first, uint64_t count)
{
	char path[64];

	for (uint64_t seed = first; seed < first + count; seed++) {
		picks = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
		for (size_t i = 0; seed % 10 == first % 10 && i < 40; i++) {
			snprintf(path, sizeof(path), "ws/%s%02zu", i % 7 ? "f" : ".f", i);
			put_text(path);
		}
		one_search(seed);
	}
}

#endif
