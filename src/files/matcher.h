/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines match: a text, or a regular expression.
 *
 * A text is looked for as it is. An expression that needs some text looks for that first and is
 * tried only on the lines that hold it; else it runs over many lines at once if no match can reach
 * over a line end, or over one line after the other. Compiled once, used by all threads, each with
 * tools of its own.
 */
#ifndef CV_FILES_MATCHER_H
#define CV_FILES_MATCHER_H

#include "base/error.h"
#include "files/literal.h"

struct cv_matcher;
struct cv_match_tools;

/* A line that matches. */
struct cv_line {
	const char *start;
	const char *end;   /* its LF, or where the text ends */
	const char *match; /* the first match in it */
	size_t match_len;
};

/* 0, or invalid_argument with the place of what is wrong, or too_large. */
int cv_matcher_new(const char *pattern, bool regex, bool ignore_case, struct cv_matcher **ret,
		   struct cove_error *err);
void cv_matcher_free(struct cv_matcher *m);

/* NULL: no memory. */
struct cv_match_tools *cv_match_tools_new(const struct cv_matcher *m);
void cv_match_tools_free(struct cv_match_tools *t);

/*
 * The first line that matches in [p, end), which holds whole lines. 1, 0, -ENOMEM, or -EOVERFLOW:
 * the expression takes too long.
 */
int cv_matcher_next(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
		    const char *end, struct cv_line *ret);

#endif
