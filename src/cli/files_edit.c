/* SPDX-License-Identifier: Apache-2.0 */
/* cove files edit and patch: changes of texts, all of them or none. */
#include "cli/files.h"
#include "cli/report.h"

#include <stdio.h>

#define PATCH_MAX ((size_t)16 << 20)
#define EDITS_MAX ((size_t)10000)

struct edit_args {
	struct env_args env;
	int64_t count;
};

static int edit(const struct files *f, struct cove_error *err)
{
	const struct edit_args *a = f->args;
	size_t n = (f->count - 1) / 2;
	CV_FREE struct cove_edit *edits = calloc(n, sizeof(*edits));

	if (f->count % 2 == 0) {
		report("OLD '%.128s' has no NEW", f->words[f->count - 1]);
		return 2;
	}
	if (!edits)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	for (size_t i = 0; i < n; i++) {
		const char *old = f->words[1 + 2 * i];
		const char *new = f->words[2 + 2 * i];

		edits[i].old_text = (struct cove_bytes){.data = old, .len = strlen(old)};
		edits[i].new_text = (struct cove_bytes){.data = new, .len = strlen(new)};
		edits[i].count = a->count;
	}
	return files_call(f, "file.edit_text",
			  COVE_OPTS(cove_file_edit_text_opts, .path = f->words[0], .edits = edits,
				    .edit_count = n),
			  NULL, err);
}

static int run_edit(const void *args, const struct words *words)
{
	return files_run(args, words, 3, 1 + 2 * EDITS_MAX, "PATH OLD NEW, and OLD NEW again",
			 edit);
}

struct patch_args {
	struct env_args env;
	const char *input;
};

static int patch(const struct files *f, struct cove_error *err)
{
	const struct patch_args *a = f->args;
	CV_BUF_SCOPE struct cv_buf diff = CV_BUF(0);
	struct cove_file_patch_text_result *r = NULL;
	int rc = files_slurp(a->input, PATCH_MAX, &diff, err);

	if (rc == 0)
		rc = files_call(f, "file.patch_text",
				COVE_OPTS(cove_file_patch_text_opts,
					  .path = f->count ? f->words[0] : ".",
					  .patch = {.data = diff.data, .len = diff.len}),
				&r, err);
	for (size_t i = 0; r && i < r->file_count; i++)
		printf("%c %s\n", "?AMDRC"[r->files[i].status], r -> files[i].path);
	cove_result_free(r);
	return rc;
}

static int run_patch(const void *args, const struct words *words)
{
	return files_run(args, words, 0, 1, "one PATH, a file or a directory, or none", patch);
}

static const struct opt edit_options[] = {
	{"count", 0, OPT_NUMBER, "N", "each OLD must occur so often (default: 1)", .min = 1,
	 .max = INT64_MAX, .offset = offsetof(struct edit_args, count)},
	{NULL},
};

const struct verb verb_files_edit = {
	.name = "files edit",
	.summary = "Replace exact pieces of a text file: all of them, or none",
	.usage = "[OPTION]... PATH OLD NEW [OLD NEW]...",
	.text = "OLD must occur once, or as often as --count says, and is replaced at each place. Line endings, a byte order\n"
		"mark, mode and owner stay. Behind -- pieces may begin with a dash.",
	.example = "cove files edit src/main.c 'int verbose;' 'bool verbose;'",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct edit_args),
	.options = edit_options,
	.shared = files_options,
	.run = run_edit,
};

static const struct opt patch_options[] = {
	{"input", 'i', OPT_TEXT, "FILE", "read the diff from FILE of this machine, not from stdin",
	 .offset = offsetof(struct patch_args, input)},
	{NULL},
};

const struct verb verb_files_patch = {
	.name = "files patch",
	.summary = "Carry out a unified diff: all of it, or nothing",
	.usage = "[OPTION]... [PATH]",
	.text = "PATH is the directory that the diff's names are below (default: .), or the one file that it changes.\n"
		"Context must be exact. Prints a line for each file: A added, M modified, D deleted, R renamed, C copied.",
	.example = "git diff HEAD~1 | cove files patch --bind ../other-checkout",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct patch_args),
	.options = patch_options,
	.shared = files_options,
	.run = run_patch,
};
