/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was changed in the workspace since it began.
 *
 * The guest remembers where it came from (struct cv_origin): the seed, by descriptor, and of an
 * overlay also the layer that is written to. Those descriptors were opened before the sandbox was
 * entered; commands get neither them nor a path to what is behind them.
 *
 *	walk.c     seed and workspace side by side; of an overlay only what its upper layer holds
 *	content.c  two files: the same or not, and their bytes
 *	lines.c    which lines of two texts are the same
 *	patch.c    one change as git writes it; quote.c its names, binary.c what is no text
 *	diff.c     the operation
 *
 * An overlay's upper layer says it all: an entry there was written, a device 0:0 (a whiteout) is
 * gone, and a directory marked opaque hides what the seed has below it. A copy is compared entry by
 * entry; files whose size, mode and times are those of the seed and that were not touched since the
 * copy was made are not read.
 */
#ifndef CV_CHANGES_CHANGES_H
#define CV_CHANGES_CHANGES_H

#include "base/path.h"
#include "files/files.h"

#include <cove/changes.h>

#include <sys/stat.h>
#include <time.h>

/* Where a workspace came from. */
struct cv_origin {
	bool known;
	int seed;	    /* its directory; -1: it began empty */
	int upper;	    /* what an overlay wrote; -1: compare all of the workspace */
	int64_t settled_ns; /* when it had been filled, by the clock of file times; copies only */
};

/* The clock that a file system takes the times of files from. */
static inline int64_t cv_file_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define CV_ORIGIN_NONE ((struct cv_origin){.seed = -1, .upper = -1})

/* Two entries of the same path, before and now. */
struct cv_pair {
	const char *path; /* below the workspace */
	const char *name; /* its last name, in dirs */
	int dirs[2];	  /* seed's and workspace's directory; -1: none */
	bool there[2];
	struct stat st[2];
	int change; /* enum cove_diff_change */
	int which;  /* the side that tells the kind: 0 of a deletion */
};

/* Takes one change; 0, or -errno to stop. */
typedef int cv_pair_fn(void *user, const struct cv_pair *pair);

struct cv_compare {
	const struct cv_origin *origin;
	int now;	     /* the workspace, or an overlay's upper layer */
	const char *scratch; /* left out, below the workspace; NULL none */
	const atomic_bool *cancel;
	cv_pair_fn *fn;
	void *user;
};

/* walk.c: calls fn with each change in order; 0, -ECANCELED, or what fn gave. */
int cv_compare_trees(const struct cv_compare *c);

/* content.c: 1 the same, 0 not, or -errno. Of links their targets. */
int cv_same_content(const struct cv_pair *pair);

/* The bytes of one side, a file's or where a link points; "" of one that is not there. */
#define CV_CONTENT_MAX ((size_t)32 << 20)
int cv_content(const struct cv_pair *pair, int side, char **ret, size_t *ret_len);

/* lines.c: a text as lines, and which of them the other has not. */
struct cv_lines {
	const char *text;
	size_t len;
	size_t count;
	size_t *starts;	     /* count + 1 of them */
	uint32_t *ids;	     /* equal lines of both texts have equal ids */
	unsigned char *mark; /* 1: only on this side */
};
int cv_lines_compare(struct cv_lines *a, struct cv_lines *b, const atomic_bool *cancel);
void cv_lines_done(struct cv_lines *l);

struct cv_buf;

/* patch.c: adds one change to a patch; 1 added, 0 a patch can't have it, or -errno. */
int cv_patch_add(const struct cv_pair *pair, const atomic_bool *cancel, struct cv_buf *dst);

/* quote.c: a name as git writes it behind a prefix, in quotes where it has to be. */
int cv_quote_name(struct cv_buf *dst, const char *prefix, const char *path);

/* binary.c: both contents as a git binary patch. */
int cv_binary_add(struct cv_buf *dst, const char *old, size_t old_len, const char *data,
		  size_t len);

/* diff.c */
int cv_env_diff(const struct cv_file_ctx *ctx, const struct cv_origin *origin,
		const char *workspace, const char *scratch, const void *req, void *res,
		struct cove_error *err);

#endif
