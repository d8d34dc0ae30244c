/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matcher under globs and ignore rules: one compiled pattern against one text.
 *
 * A pattern is a row of tokens, and matching follows all the places in the row where the text so
 * far can have led, as a set of bits. So the time is at most text × tokens, whatever the stars.
 * Patterns that are only text, or text and one star, are compared as such.
 */
#ifndef CV_FILES_WILD_H
#define CV_FILES_WILD_H

#include "base/def.h"

#define CV_WILD_MAX 16384 /* tokens */

enum cv_wild_kind {
	CV_WILD_CHAR,  /* one character */
	CV_WILD_ANY,   /* any one, but / */
	CV_WILD_CLASS, /* one of ranges, or none of them, but / */
	CV_WILD_STAR,  /* any number, but / */
	CV_WILD_STARS, /* any number */
	CV_WILD_DIRS,  /* the next two, which are STARS and a /, or nothing */
};

struct cv_wild_range {
	uint32_t first;
	uint32_t last;
};

struct cv_wild_token {
	uint8_t kind;
	bool negated;
	uint16_t ranges;
	uint32_t value; /* the character, or the index of the first range */
};

struct cv_wild {
	bool bytes; /* a character is a byte, not a code point */
	enum {
		CV_WILD_GENERAL,
		CV_WILD_EXACT,
		CV_WILD_PREFIX,
		CV_WILD_SUFFIX
	} shape;
	struct cv_wild_token *tokens;
	size_t count;
	size_t cap;
	struct cv_wild_range *ranges;
	size_t range_count;
	size_t range_cap;
	char *text; /* of the other shapes, what there is to compare */
	size_t text_len;
};

void cv_wild_done(struct cv_wild *w);

/* Adds a token. 0, -ENOMEM, or -EMSGSIZE. */
int cv_wild_add(struct cv_wild *w, enum cv_wild_kind kind, uint32_t value);

/* Adds a range to the class that was added last. */
int cv_wild_add_range(struct cv_wild *w, uint32_t first, uint32_t last);

/* To be called once all tokens are there. 0, or -ENOMEM. */
int cv_wild_finish(struct cv_wild *w);

bool cv_wild_match(const struct cv_wild *w, const char *text, size_t len);

/* The first character of s; what is no UTF-8 gives a byte that no pattern holds. */
size_t cv_wild_next(const struct cv_wild *w, const char *s, size_t len, uint32_t *ret);

#endif
