/* SPDX-License-Identifier: Apache-2.0 */
/* cove files cp, mv and rm: files, links and whole directories. */
#include "cli/files.h"

struct transfer_args {
	struct env_args env;
	bool replace;
};

static int transfer(const struct files *f, const char *op, struct cove_error *err)
{
	const struct transfer_args *a = f->args;

	return files_call(f, op,
			  COVE_OPTS(cove_file_transfer_opts, .source = f->words[0],
				    .destination = f->words[1], .replace = a->replace),
			  NULL, err);
}

static int copy(const struct files *f, struct cove_error *err)
{
	return transfer(f, "file.copy", err);
}

static int move(const struct files *f, struct cove_error *err)
{
	return transfer(f, "file.move", err);
}

static int run_cp(const void *args, const struct words *words)
{
	return files_run(args, words, 2, 2, "SOURCE and DESTINATION, its new path", copy);
}

static int run_mv(const void *args, const struct words *words)
{
	return files_run(args, words, 2, 2, "SOURCE and DESTINATION, its new path", move);
}

struct rm_args {
	struct env_args env;
	bool recursive;
	bool missing_ok;
};

static int remove_all(const struct files *f, struct cove_error *err)
{
	const struct rm_args *a = f->args;
	int code = 0;

	for (size_t i = 0; i < f->count; i++) {
		struct cove_file_remove_opts opts = {.size = sizeof(opts),
						     .path = f->words[i],
						     .recursive = a->recursive,
						     .missing_ok = a->missing_ok};
		int failed = 0;

		if (files_call(f, "file.remove", &opts, NULL, err) < 0)
			failed = files_failed(err);
		code = code ? code : failed;
	}
	return code;
}

static int run_rm(const void *args, const struct words *words)
{
	return files_run(args, words, 1, FILES_WORDS_MAX, "PATH, or several", remove_all);
}

static const struct opt transfer_options[] = {
	{"replace", 'f', OPT_FLAG, .help = "in place of a file, a link or an empty directory",
	 .offset = offsetof(struct transfer_args, replace)},
	{NULL},
};

const struct verb verb_files_cp = {
	.name = "files cp",
	.summary = "Copy a file, a link itself, or a directory with all that is in it",
	.usage = "[OPTION]... SOURCE DESTINATION",
	.text = "DESTINATION is the path of the copy, also where a directory is there already. The copy appears as a whole,\n"
		"or not at all; modes, times and holes are kept.",
	.example = "cove files cp src src.orig",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct transfer_args),
	.options = transfer_options,
	.shared = files_options,
	.run = run_cp,
};

const struct verb verb_files_mv = {
	.name = "files mv",
	.summary = "Give a file, a link itself, or a directory another path, in one step",
	.usage = "[OPTION]... SOURCE DESTINATION",
	.text = "DESTINATION is the new path, also where a directory is there already. Nothing is overwritten without\n"
		"--replace.",
	.example = "cove files mv draft.md README.md",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct transfer_args),
	.options = transfer_options,
	.shared = files_options,
	.run = run_mv,
};

#define ROW(member) .offset = offsetof(struct rm_args, member)
static const struct opt rm_options[] = {
	{"recursive", 'r', OPT_FLAG, .help = "directories with all that is in them",
	 ROW(recursive)},
	{"missing-ok", 'f', OPT_FLAG, .help = "what is not there is fine", ROW(missing_ok)},
	{NULL},
};

const struct verb verb_files_rm = {
	.name = "files rm",
	.summary = "Remove files, links themselves, or directories",
	.usage = "[OPTION]... PATH...",
	.example = "cove files rm -r build out.log",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct rm_args),
	.options = rm_options,
	.shared = files_options,
	.run = run_rm,
};
