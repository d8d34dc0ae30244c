/* SPDX-License-Identifier: Apache-2.0 */
/* cove files: file operations in short forms for people, each a verb of its own. */
#include "cli/files.h"
#include "cli/verbs.h"

static const struct verb *const subs[] = {
	&verb_files_ls,
	&verb_files_find,
	&verb_files_grep,
	&verb_files_stat,
	&verb_files_read,
	&verb_files_write,
	&verb_files_edit,
	&verb_files_patch,
	&verb_files_cp,
	&verb_files_mv,
	&verb_files_rm,
	&verb_files_mkdir,
	NULL,
};

const struct verb verb_files = {
	.name = "files",
	.summary = "Look at files and change them, in short forms",
	.usage = "VERB [OPTION]... [ARGUMENT]...",
	.text = "Each is an operation of an environment: exact, whole or not at all, and never outside of its roots.\n"
		"The environment is --env, else $COVE_ENV, else here.\n"
		"Arguments behind -- may begin with a dash. Every verb has these options, and some of its own.",
	.example = "cove files edit README.md 'teh' 'the'",
	.shared = files_options,
	.subs = subs,
};
