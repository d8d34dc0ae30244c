/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be told from a regular expression by reading it: a text that every match must hold, and
 * whether lines may be searched many at once.
 *
 * It errs on the safe side: what is not understood has no such text and is searched line by line.
 */
#ifndef CV_FILES_REGEX_SCAN_H
#define CV_FILES_REGEX_SCAN_H

#include "base/def.h"

struct cv_regex_scan {
	char *literal; /* a required text, not empty; or NULL */
	size_t literal_len;
	bool by_line; /* a match could reach over a line end, or see that there is one */
};

/* 0, or -ENOMEM. The caller frees ret->literal. */
int cv_regex_scan(const char *pattern, size_t len, struct cv_regex_scan *ret);

#endif
