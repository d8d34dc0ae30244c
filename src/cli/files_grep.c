/* SPDX-License-Identifier: Apache-2.0 */
/* cove files grep: lines that match, page by page, as they are printed by grep. */
#include "cli/files.h"
#include "cli/grep_print.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include <stdio.h>

#define PAGE 100000    /* printed while the next is searched for */
#define FIRST_PAGE 100 /* on a terminal, where somebody waits */
#define LINE_LENGTH (1 << 20)
#define EXIT_NONE 1
#define EXIT_ERROR 2

struct grep_args {
	struct env_args env;
	bool fixed;
	bool any_case;
	bool numbers;
	bool no_numbers;
	bool hidden;
	bool no_ignore;
	bool names;
	bool json;
	int64_t context;
	int64_t most;
	int color;
	const char **globs;
};

static int submit(const struct files *f, const struct cove_file_search_text_opts *opts,
		  struct cove_call **ret, struct cove_error *err)
{
	return cove_submit(f->env, "file.search_text", opts,
			   COVE_OPTS(cove_call_opts, .cancel = interrupt_first()), ret, err);
}

/* Below one root. The next page is on its way while one is printed. */
static int grep_below(const struct files *f, struct cove_file_search_text_opts opts,
		      struct grep_print *out, struct cove_error *err)
{
	struct cove_file_search_text_result *old = NULL;
	struct cove_call *call = NULL;
	int rc = submit(f, &opts, &call, err);

	while (rc == 0 && call) {
		struct cove_file_search_text_result *page = NULL;

		rc = cove_call_take(TAKE(call), (void **)&page, err);
		if (rc < 0)
			break;
		if (page->has_more && page->match_count > 0) {
			const struct cove_match *last = &page->matches[page->match_count - 1];

			opts.after_path = last->path;
			opts.after_line = last->line;
			opts.max_matches = PAGE;
			rc = submit(f, &opts, &call, err);
		}
		if (rc == 0)
			rc = grep_print_page(out, page, err);
		/* The last match of a page waits for the next, to know where its context ends. */
		cove_file_search_text_result_free(old);
		old = page;
	}
	if (rc == 0)
		rc = grep_print_end(out, err);
	cove_file_search_text_result_free(old);
	cove_call_free(call);
	return rc;
}

/* Several globs as one pattern. 0, or a code. */
static int join_globs(const char *const *globs, struct cv_buf *b, struct cove_error *err)
{
	int rc = globs[1] ? cv_buf_add(b, "{", 1) : 0;

	for (size_t i = 0; globs[i] && rc == 0; i++) {
		if (globs[i][0] == '!')
			return cv_fail_arg(err, "glob", "name what is wanted",
					   "'%s' would exclude, which is not possible", globs[i]);
		rc = i > 0 ? cv_buf_add(b, ",", 1) : 0;
		if (rc == 0)
			rc = cv_buf_adds(b, globs[i]);
	}
	if (rc == 0 && globs[1])
		rc = cv_buf_add(b, "}", 1);
	return rc < 0 ? cv_fail(err, COVE_E_TOO_LARGE, "the globs are too long") : 0;
}

/* Whether the only PATH is a file, whose name then goes without saying. */
static bool is_one_file(const struct files *f)
{
	struct cove_file_path_opts opts = {.size = sizeof(opts), .path = f->words[1]};
	struct cove_error ignored = COVE_ERROR_INIT;
	struct cove_file_entry *e = NULL;
	bool yes = files_call(f, "file.stat", &opts, &e, &ignored) == 0 &&
		   e->kind == COVE_KIND_FILE;

	cove_result_free(e);
	return yes;
}

static int failed(const struct cove_error *err)
{
	int code = files_failed(err);

	return code >= 128 ? code : EXIT_ERROR;
}

static int grep_all(const struct files *f, struct cove_file_search_text_opts opts,
		    struct grep_print *out, struct cove_error *err)
{
	int code = 0;

	for (size_t i = 1; i < CV_MAX(f->count, (size_t)2) && code < 128; i++) {
		opts.root = i < f->count ? f->words[i] : NULL;
		if (grep_below(f, opts, out, err) < 0)
			code = failed(err);
	}
	if (out->truncated > 0)
		report("%lld lines are longer than 1 MiB and cut", (long long)out->truncated);
	return code ? code : out->matches > 0 ? 0 : EXIT_NONE;
}

static int grep(const struct files *f, struct cove_error *err)
{
	const struct grep_args *a = f->args;
	bool tty = isatty(STDOUT_FILENO);
	CV_BUF_SCOPE struct cv_buf include = CV_BUF(65536);
	struct grep_print out = {
		.numbers = a->numbers || (tty && !a->no_numbers),
		.names = a->names,
		.json = a->json,
		.context = a->context > 0,
	};
	struct cove_file_search_text_opts opts = {
		.size = sizeof(opts),
		.pattern = f->words[0],
		.regex = !a->fixed,
		.ignore_case = a->any_case,
		.ignore = a->no_ignore ? COVE_IGNORE_NONE : COVE_IGNORE_GIT,
		.include_hidden = a->hidden,
		.context = a->names ? 0 : a->context,
		.max_matches = tty ? FIRST_PAGE : PAGE,
		.max_matches_per_file = a->names ? 1 : a->most,
		.max_line_length = LINE_LENGTH,
	};
	int code;

	if (a->globs && join_globs(a->globs, &include, err) < 0)
		return failed(err);
	opts.include = include.data;
	out.paths = f->count != 2 || !is_one_file(f);
	grep_print_init(&out, a->color);
	code = grep_all(f, opts, &out, err);
	grep_print_done(&out);
	return code;
}

static int run(const void *args, const struct words *words)
{
	return files_run(args, words, 1, FILES_WORDS_MAX, "PATTERN, and perhaps PATHs", grep);
}

#define ROW(member) .offset = offsetof(struct grep_args, member)
static const struct opt options[] = {
	{"fixed-strings", 'F', OPT_FLAG, .help = "PATTERN is a text, no expression", ROW(fixed)},
	{"ignore-case", 'i', OPT_FLAG, .help = "upper and lower case are the same", ROW(any_case)},
	{"line-number", 'n', OPT_FLAG, .help = "the number of each line (default on a terminal)",
	 ROW(numbers)},
	{"no-line-number", 'N', OPT_FLAG, .help = "not even there", ROW(no_numbers)},
	{"context", 'C', OPT_NUMBER, "N", "so many lines before and after, at most 20", .min = 0,
	 .max = 20, ROW(context)},
	{"glob", 'g', OPT_LIST, "GLOB", "files that match, as of find; may be given several times",
	 ROW(globs)},
	{"hidden", 0, OPT_FLAG, .help = "names that begin with a dot too", ROW(hidden)},
	{"no-ignore", 0, OPT_FLAG, .help = "what ignore files of git name too", ROW(no_ignore)},
	{"max-count", 'm', OPT_NUMBER, "N", "at most so many lines of a file", .min = 1,
	 .max = INT32_MAX, ROW(most)},
	{"files-with-matches", 'l', OPT_FLAG, .help = "only the paths of files", ROW(names)},
	{"color", 0, OPT_CHOICE, "WHEN", "auto (default), always or never", grep_colors,
	 ROW(color)},
	{"json", 0, OPT_FLAG, .help = "a JSON object each", ROW(json)},
	{NULL},
};

const struct verb verb_files_grep = {
	.name = "files grep",
	.summary = "Find lines that match a regular expression, or a text",
	.usage = "[OPTION]... PATTERN [PATH]...",
	.text = "The expression is one of PCRE2. Binary files are skipped; of directories, what is hidden or ignored.\n"
		"The status is 0 if a line matched, 1 if none did, 2 after an error.",
	.example = "cove files grep -n -g '*.c' 'struct \\w+_ops'",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct grep_args),
	.options = options,
	.shared = files_options,
	.run = run,
};
