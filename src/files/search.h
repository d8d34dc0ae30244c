/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search of many files: a walk, threads that scan, and one page of results in path order.
 *
 * The files that the walk finds stand in a ring of slots, in order. Whichever thread has nothing to
 * scan walks on and fills slots; the others take them a few at a time. What a scan finds stays in
 * its slot until all slots before it are done, and goes to the page then. The first of the slots
 * that are not done, the head, is the only one that may write to the page while it is scanned.
 *
 * So memory is bounded: a slot that is not the head waits before it holds more than SLOT_BYTES, and
 * no file is begun while all slots together hold more than HELD_BYTES. The head never waits, so
 * neither does the search as a whole.
 *
 * search.c reads the request and answers; search_pool.c has slots and threads; search_page.c has
 * the hits as bytes, in slots and on the page.
 */
#ifndef CV_FILES_SEARCH_H
#define CV_FILES_SEARCH_H

#include "base/buf.h"
#include "files/common.h"
#include "files/scan.h"
#include "files/walk.h"

#define CV_PAGE_BYTES ((size_t)2 << 20)

/* The page: a file's path, then its matches. */
struct cv_page {
	struct cv_buf bytes;
	int64_t count;
	int64_t max;
	int64_t skip; /* matches still to leave out before the first */
};

/* The page as it was, should the rest of a file take back what it gave. */
struct cv_page_mark {
	size_t len;
	int64_t count;
	int64_t skip;
};

struct cv_hits {
	struct cv_buf bytes;
	int64_t held;  /* in bytes */
	int64_t count; /* of this file, given to the page or not */
	bool has_path; /* the page has it */
	bool marked;   /* mark is set */
	struct cv_page_mark mark;
	bool more; /* the page was full, and there were more */
};

/* Adds a hit as bytes; lines are clipped to max_line. 0, or -ENOMEM. */
int cv_hits_add(struct cv_hits *h, const struct cv_hit *hit, int64_t max_line);

/* Moves hits to the page, path first. 0, or -ENOMEM. */
int cv_page_take(struct cv_page *page, struct cv_hits *h, const char *path);

/* Takes back all that a file gave. */
void cv_page_take_back(struct cv_page *page, struct cv_hits *h);

/* The matches as the result has them; they point into the page. NULL: no memory. */
struct cove_match *cv_page_matches(struct cv_arena *arena, const struct cv_page *page);

/* One search. */
struct cv_search {
	const struct cv_file_ctx *ctx;
	const struct cove_file_search_text_opts *opts;
	const struct cv_matcher *matcher;
	const char *prefix; /* of paths below the root */
	struct cv_walk *walk;
	int threads;
	/* Results. */
	struct cv_page page;
	bool has_more;
	int64_t searched;
	int64_t skipped;
	int64_t hidden;
	int rc;	       /* -errno that ended it */
	cv_path where; /* the file that it came from */
};

/* Searches what the walk finds. The result is in s; 0, or -errno. */
int cv_search_tree(struct cv_search *s);

/* Searches one open file. */
int cv_search_file(struct cv_search *s, int fd, int64_t size, const char *path);

#endif
