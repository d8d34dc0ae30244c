/* SPDX-License-Identifier: Apache-2.0 */
/* cove files find: entries whose paths match a pattern. */
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include <stdio.h>

#define PAGE 20000
#define OUT_MAX ((size_t)64 << 20)

struct find_args {
	struct env_args env;
	bool hidden;
	bool no_ignore;
	bool flat;
	bool print0;
	bool json;
	int kinds;
	int64_t limit;
};

static const char *const kind_names[] = {"file", "directory", "symlink", "other", NULL};

static int add_json(struct cv_buf *out, const struct cove_file_found *e)
{
	CV_JSON json_t *j = json_pack("{s:s,s:s,s:I,s:I}", "path", e->path, "kind",
				      kind_names[e->kind - 1], "size", (json_int_t)e->size,
				      "mtime_ns", (json_int_t)e->mtime_ns);
	CV_FREE char *text = j ? cv_json_dump(j) : NULL;

	return text ? cv_buf_adds(out, text) : -ENOMEM;
}

/* A page, each entry with its end. */
static int print_page(const struct find_args *a, const struct cove_file_query_result *page,
		      struct cove_error *err)
{
	CV_BUF_SCOPE struct cv_buf out = CV_BUF(OUT_MAX);
	int rc = 0;

	for (size_t i = 0; i < page->entry_count && rc == 0; i++) {
		if (a->json)
			rc = add_json(&out, &page->entries[i]);
		else
			rc = cv_buf_adds(&out, page->entries[i].path);
		if (rc == 0)
			rc = cv_buf_add(&out, a->print0 ? "\0" : "\n", 1);
	}
	if (rc < 0)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	return out.len > 0 ? files_put(out.data, out.len, err) : 0;
}

static int submit(const struct files *f, const struct cove_file_query_opts *opts,
		  struct cove_call **ret, struct cove_error *err)
{
	return cove_submit(f->env, "file.query", opts,
			   COVE_OPTS(cove_call_opts, .cancel = interrupt_first()), ret, err);
}

/* What is below one root. The next page is on its way while one is printed. */
static int find_below(const struct files *f, struct cove_file_query_opts opts, int64_t *left,
		      struct cove_error *err)
{
	struct cove_file_query_result *old = NULL;
	struct cove_call *call = NULL;
	int rc;

	opts.max_results = CV_MIN(*left, PAGE);
	rc = submit(f, &opts, &call, err);
	while (rc == 0 && call) {
		struct cove_file_query_result *page = NULL;

		rc = cove_call_take(TAKE(call), (void **)&page, err);
		if (rc < 0)
			break;
		*left -= (int64_t)page->entry_count;
		if (page->has_more && page->entry_count > 0 && *left > 0) {
			opts.after = page->entries[page->entry_count - 1].path;
			opts.max_results = CV_MIN(*left, PAGE);
			rc = submit(f, &opts, &call, err);
		}
		if (rc == 0)
			rc = print_page(f->args, page, err);
		if (page->skipped_count > 0 && !call)
			report("%lld directories can't be read, or names are not UTF-8",
			       (long long)page->skipped_count);
		cove_file_query_result_free(old);
		old = page;
	}
	cove_file_query_result_free(old);
	cove_call_free(call);
	return rc;
}

static int find(const struct files *f, struct cove_error *err)
{
	const struct find_args *a = f->args;
	const char *kinds[CV_LEN(kind_names)] = {NULL};
	struct cove_file_query_opts opts = {.size = sizeof(opts),
					    .pattern = f->words[0],
					    .include_hidden = a->hidden,
					    .no_recurse = a->flat,
					    .names_only = !a->json,
					    .kinds = a->kinds ? kinds : NULL};
	int64_t left = a->limit ? a->limit : INT64_MAX;
	size_t n = 0;
	int code = 0;

	opts.ignore = a->no_ignore ? COVE_IGNORE_NONE : COVE_IGNORE_GIT;
	for (int i = 0; kind_names[i]; i++)
		if (a->kinds & (1 << i))
			kinds[n++] = kind_names[i];
	for (size_t i = 1; i < CV_MAX(f->count, (size_t)2) && left > 0; i++) {
		int failed;

		opts.root = i < f->count ? f->words[i] : NULL;
		failed = find_below(f, opts, &left, err) < 0 ? files_failed(err) : 0;
		code = code ? code : failed;
		if (code >= 128)
			break;
	}
	return code;
}

static int run(const void *args, const struct words *words)
{
	return files_run(args, words, 1, FILES_WORDS_MAX, "PATTERN, and perhaps PATHs", find);
}

#define ROW(member) .offset = offsetof(struct find_args, member)
static const struct opt options[] = {
	{"hidden", 'H', OPT_FLAG, .help = "names that begin with a dot too", ROW(hidden)},
	{"no-ignore", 'I', OPT_FLAG, .help = "what ignore files of git name too", ROW(no_ignore)},
	{"type", 't', OPT_BITS, "LIST", "of file, directory, symlink, other", kind_names,
	 ROW(kinds)},
	{"no-recurse", 0, OPT_FLAG, .help = "only what is in PATH itself", ROW(flat)},
	{"max-results", 0, OPT_NUMBER, "N", "at most so many", .min = 1, .max = INT32_MAX,
	 ROW(limit)},
	{"null", '0', OPT_FLAG, .help = "a NUL behind each instead of a line end", ROW(print0)},
	{"json", 0, OPT_FLAG, .help = "a JSON object each, with kind, size and time", ROW(json)},
	{NULL},
};

const struct verb verb_files_find = {
	.name = "files find",
	.summary = "Find what matches a pattern, depth first, in byte order",
	.usage = "[OPTION]... PATTERN [PATH]...",
	.text = "In a PATTERN, * ? and [a-z] match within a name, ** any number of directories, {a,b} either.\n"
		"One without a slash is for the name alone. What is hidden or ignored is found if PATTERN spells it.",
	.example = "cove files find 'src/**/*.{c,h}'",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct find_args),
	.options = options,
	.shared = files_options,
	.run = run,
};
