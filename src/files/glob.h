/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pattern language of query and search.
 *
 * Alternatives in braces are written out first; each pattern that results is a row of segments,
 * which names between slashes are matched with. A walk carries in each directory the set of
 * segments that its entries may match, so that it sees at once which directories can't hold
 * anything. A pattern without a slash is one with a leading double star.
 */
#ifndef CV_FILES_GLOB_H
#define CV_FILES_GLOB_H

#include "base/error.h"

#define CV_GLOB_MAX 16384 /* bytes of a pattern */

struct cv_glob;

/* Segments that the entries of a directory may match. */
struct cv_glob_state {
	uint32_t *at;
	size_t count;
};

/* Why an entry should not be seen; a segment that spells it literally sees it all the same. */
enum cv_glob_veil {
	CV_VEIL_HIDDEN = 1,
	CV_VEIL_IGNORED = 2,
};

enum cv_glob_result {
	CV_GLOB_MATCH = 1, /* the entry matches */
	CV_GLOB_BELOW = 2, /* what is in it may match */
};

/* field names the argument in errors. 0, or invalid_argument with a reason and a hint. */
int cv_glob_new(const char *pattern, const char *field, struct cv_glob **ret,
		struct cove_error *err);
void cv_glob_free(struct cv_glob *g);

/* The state of the root. 0, or -ENOMEM. */
int cv_glob_start(const struct cv_glob *g, struct cv_glob_state *ret);
void cv_glob_state_done(struct cv_glob_state *s);

/*
 * What an entry of a directory with this state is: bits of cv_glob_result, or -ENOMEM. ret_below,
 * where not NULL, gets the state of the entry as a directory.
 */
int cv_glob_step(const struct cv_glob *g, const struct cv_glob_state *s, const char *name,
		 size_t len, unsigned veil, struct cv_glob_state *ret_below);

/* Whether a path below the root matches. 1, 0, or -ENOMEM. */
int cv_glob_match(const struct cv_glob *g, const char *path);

#endif
