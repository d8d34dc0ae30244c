/* SPDX-License-Identifier: Apache-2.0 */
/* cove files ls and stat: what there is. */
#include "cli/files.h"
#include "cli/report.h"

#include <stdio.h>
#include <time.h>

#define PAGE 10000

struct ls_args {
	struct env_args env;
	bool all;
	bool detailed;
};

static const char *kind_name(int kind)
{
	static const char *const names[] = {"", "file", "directory", "symlink", "other"};

	return names[kind];
}

static void print_time(int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	struct tm tm;
	char text[40] = "?";

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fputs(text, stdout);
}

/* As ls -l does, with times that sort. */
static void print_detailed(const struct cove_file_entry *e)
{
	static const char letters[] = "?-dlo";
	char mode[11] = "?---------";

	mode[0] = letters[e->kind];
	for (int bit = 0; bit < 9; bit++)
		if (e->mode & (0400 >> bit))
			mode[1 + bit] = "rwx"[bit % 3];
	if (e->mode & 04000)
		mode[3] = mode[3] == 'x' ? 's' : 'S';
	if (e->mode & 02000)
		mode[6] = mode[6] == 'x' ? 's' : 'S';
	if (e->mode & 01000)
		mode[9] = mode[9] == 'x' ? 't' : 'T';
	printf("%s %12lld ", mode, (long long)e->size);
	print_time(e->mtime_ns);
	printf(" %s%s%s\n", e->name, e->link_target ? " -> " : "",
	       e->link_target ? e->link_target : "");
}

static void print_entry(const struct ls_args *a, const struct cove_file_entry *e)
{
	if (a->detailed)
		print_detailed(e);
	else
		puts(e->name);
}

static int list(const struct files *f, struct cove_error *err)
{
	const struct ls_args *a = f->args;
	struct cove_file_list_opts opts = {.size = sizeof(opts),
					   .path = f->count ? f->words[0] : NULL,
					   .max_results = PAGE,
					   .include_hidden = a->all};
	bool more = true;

	while (more) {
		struct cove_file_list_result *page = NULL;
		int rc = files_call(f, "file.list", &opts, &page, err);

		if (rc < 0)
			return rc;
		for (size_t i = 0; i < page->entry_count; i++)
			print_entry(a, &page->entries[i]);
		opts.offset += (int64_t)page->entry_count;
		more = page->has_more && page->entry_count > 0;
		if (!more && page->skipped_names > 0)
			report("%lld names are not UTF-8 and not shown",
			       (long long)page->skipped_names);
		cove_file_list_result_free(page);
	}
	return 0;
}

static int run_ls(const void *args, const struct words *words)
{
	return files_run(args, words, 0, 1, "one PATH, a directory, or none", list);
}

static void print_stat(const struct cove_file_entry *e)
{
	printf("path: %s\nkind: %s\nsize: %lld\nmode: %04llo\nmodified: ", e->path,
	       kind_name(e->kind), (long long)e->size, (unsigned long long)e->mode);
	print_time(e->mtime_ns);
	printf("\nwritable: %s\n", e->writable ? "yes" : "no");
	if (e->link_target)
		printf("target: %s\n", e->link_target);
}

/* All of them, also after one that can't be; the status is that of the first failure. */
static int stat_all(const struct files *f, struct cove_error *err)
{
	int code = 0;

	for (size_t i = 0; i < f->count; i++) {
		struct cove_file_path_opts opts = {.size = sizeof(opts), .path = f->words[i]};
		struct cove_file_entry *e = NULL;
		int failed = files_call(f, "file.stat", &opts, &e, err) < 0 ? files_failed(err) : 0;

		code = code ? code : failed;
		if (e && i > 0)
			putchar('\n');
		if (e)
			print_stat(e);
		cove_result_free(e);
	}
	return code;
}

static int run_stat(const void *args, const struct words *words)
{
	return files_run(args, words, 1, FILES_WORDS_MAX, "PATH, or several", stat_all);
}

#define ROW(member) .offset = offsetof(struct ls_args, member)
static const struct opt options[] = {
	{"all", 'a', OPT_FLAG, .help = "names that begin with a dot too", ROW(all)},
	{"long", 'l', OPT_FLAG, .help = "mode, size and time of each", ROW(detailed)},
	{NULL},
};

const struct verb verb_files_ls = {
	.name = "files ls",
	.summary = "List a directory, a name a line, in byte order",
	.usage = "[OPTION]... [PATH]",
	.example = "cove files ls -l src",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct ls_args),
	.options = options,
	.shared = files_options,
	.run = run_ls,
};

const struct verb verb_files_stat = {
	.name = "files stat",
	.summary = "Tell kind, size, mode and time of what is at a path; a link is not followed",
	.usage = "[OPTION]... PATH...",
	.example = "cove files stat README.md",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct env_args),
	.shared = files_options,
	.run = run_stat,
};
