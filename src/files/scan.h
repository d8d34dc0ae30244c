/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file, line by line, through one buffer.
 *
 * The buffer holds whole lines and as many around them as a match shows. It grows for long lines,
 * up to a limit; a file with a longer line is skipped. So is one that holds a NUL, wherever it is,
 * and one that is too large: what the scan has given of it by then is void.
 */
#ifndef CV_FILES_SCAN_H
#define CV_FILES_SCAN_H

#include "files/matcher.h"

#include <stdatomic.h>

/* A match, in the scan's buffer. */
struct cv_hit {
	struct cv_line line;
	int64_t number;	     /* of the line */
	const char *context; /* the lines around it, whole; NULL: none are wanted */
	const char *context_end;
	int64_t context_start; /* number of their first */
};

/* 0; 1: no more are wanted of this file; or -errno, which ends the scan. */
typedef int cv_hit_fn(void *user, const struct cv_hit *hit);

struct cv_scan {
	/* Filled by the caller. */
	const struct cv_matcher *matcher;
	int64_t max_bytes;
	int64_t context;
	const atomic_bool *cancel;
	const atomic_bool *stop; /* the result is not wanted any more */
	cv_hit_fn *hit;
	/* Waits until this scan may have a large buffer, of which there is one. 0, or -errno. */
	int (*large)(void *user);
	void *user;
	/* The scan's own. */
	struct cv_match_tools *tools;
	char *buf;
	size_t cap;
	size_t len;	/* bytes in buf */
	size_t first;	/* where its first line begins */
	size_t at;	/* up to here lines were matched */
	size_t counted; /* up to here they were counted */
	int64_t line;	/* the number of the one there */
};

enum cv_scan_result {
	CV_SCAN_DONE,
	CV_SCAN_SKIPPED,
};

int cv_scan_init(struct cv_scan *s); /* 0, or -ENOMEM */
void cv_scan_done(struct cv_scan *s);

/* Scans an open file that said to be of that size. A cv_scan_result, or -errno. */
int cv_scan_file(struct cv_scan *s, int fd, int64_t size);

#endif
