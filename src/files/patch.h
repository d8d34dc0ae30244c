/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified diffs: read into files and hunks, and carried out on a text in memory.
 *
 * What diff and git write is taken, mail and other text around it is passed over. Everything
 * points into the diff's own text, or lives in the arena.
 */
#ifndef CV_FILES_PATCH_H
#define CV_FILES_PATCH_H

#include "base/arena.h"
#include "base/buf.h"

#include <cove/files.h>

#include <stdbool.h>

struct cv_hunk {
	size_t old_start; /* as the diff says it: one-based; behind which line, where old_count is 0 */
	size_t old_count;
	size_t new_count;
	const char *body; /* lines that begin with ' ', '-', '+' or '\' */
	const char *end;
};

/* What a diff says of one file. */
struct cv_file_patch {
	const char *old_name; /* without a/ and b/; NULL: none was given, or /dev/null */
	const char *new_name;
	bool is_new;
	bool is_deleted;
	bool is_rename;
	bool is_copy;
	int mode; /* new mode that git gives, such as 0100755; 0: as it was */
	struct cv_hunk *hunks;
	size_t hunk_count;
};

struct cv_patch {
	struct cv_file_patch *files;
	size_t count;
	bool has_cr; /* some line of a hunk ends in CRLF: then endings must be exact */
};

/* text has a NUL behind it. invalid_argument (with the diff's line), or not_supported: binary, links, submodules. */
int cv_patch_parse(const struct cove_bytes *text, struct cv_arena *arena, struct cv_patch *ret,
		   struct cove_error *err);

/*
 * Appends what the hunks make of text. 0; `conflict` with the hunk's number, not yet with a path;
 * too_large.
 */
int cv_patch_apply(const struct cv_file_patch *file, bool exact_endings,
		   const struct cove_bytes *text, struct cv_buf *out, struct cove_error *err);

#endif
