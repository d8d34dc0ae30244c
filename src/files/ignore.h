/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one ignore file, with git's meaning.
 *
 * A file's rules speak of what is below its directory. For an entry, the nearest file in which some
 * rule matches decides, and in it the last such rule. What is below an ignored directory is never
 * asked about: a walk doesn't enter it.
 */
#ifndef CV_FILES_IGNORE_H
#define CV_FILES_IGNORE_H

#include "base/def.h"

struct cv_ignore;

enum cv_ignore_answer {
	CV_IGNORE_SILENT, /* no rule matches */
	CV_IGNORE_NO,	  /* taken back */
	CV_IGNORE_YES,
};

/* 0, or -ENOMEM. *ret is NULL where the text holds no rules. */
int cv_ignore_new(const char *text, size_t len, struct cv_ignore **ret);
void cv_ignore_free(struct cv_ignore *ig);

/* path is relative to the file's directory; name, its last component, points into it. */
enum cv_ignore_answer cv_ignore_check(const struct cv_ignore *ig, const char *path, size_t len,
				      const char *name, bool is_dir);

#endif
