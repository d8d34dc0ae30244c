/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking for a text in a buffer: two of its bytes, those that are rarest in files of text, are
 * compared at sixteen places at once, and only where both are there the text itself.
 */
#ifndef CV_FILES_LITERAL_H
#define CV_FILES_LITERAL_H

#include "base/def.h"

struct cv_literal {
	char *text; /* fold: in lower case */
	size_t len;
	bool fold; /* ASCII letters in either case */
	size_t at[2];
	unsigned char byte[2];
	unsigned char mask[2]; /* set in what is compared: 0x20 of a letter to fold */
};

/* len > 0. 0, or -ENOMEM. */
int cv_literal_init(struct cv_literal *l, const char *text, size_t len, bool fold);
void cv_literal_done(struct cv_literal *l);

/* How well a text sorts places out: more is better. */
unsigned cv_literal_score(const char *text, size_t len);

/* The first place in [p, end), or NULL. */
const char *cv_literal_find(const struct cv_literal *l, const char *p, const char *end);

/* How many LF there are. */
int64_t cv_count_lines(const char *p, const char *end);

#endif
