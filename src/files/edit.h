/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of a text in memory: finding a piece, and putting another in its place.
 *
 * A piece without CR is written with LF, and its LF stand for CRLF as well: where the text has
 * CRLF, both bytes are part of the match, and the new piece takes over the endings of the lines
 * around it. What the two pieces have in common at their ends is not touched at all.
 */
#ifndef CV_FILES_EDIT_H
#define CV_FILES_EDIT_H

#include "base/buf.h"

#include <cove/files.h>

#include <stdbool.h>

/* Where a piece was found. */
struct cv_span {
	size_t start;
	size_t end;
};

/* Finds old at or behind from. */
bool cv_edit_find(const struct cove_bytes *text, const struct cove_bytes *old, size_t from,
		  struct cv_span *ret);

/* Appends what the edit makes of one span of the text. 0 or -errno. */
int cv_edit_replace(struct cv_buf *out, const struct cove_bytes *text, const struct cove_edit *edit,
		    const struct cv_span *span);

/* One-based number of the line that holds the byte at `at`. */
int64_t cv_edit_line(const struct cove_bytes *text, size_t at);

/*
 * Carries out an edit of `text` into `out`, empty before. 0; edit_not_found or edit_ambiguous with
 * reason and occurrences, not yet with the edit's number or a path; too_large.
 */
int cv_edit_apply(struct cv_buf *out, const struct cove_bytes *text, const struct cove_edit *edit,
		  struct cove_error *err);

#endif
