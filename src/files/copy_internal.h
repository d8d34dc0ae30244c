/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a tree is copied.
 *
 * A copier is one thread on its way down. Each level holds a directory of the source and its copy.
 * Reading it copies everything but subdirectories on the spot and remembers those; a level's mode
 * and times are set when it is left, for a directory without the w bit could not be filled, and
 * filling changes the times. Deeper than CV_COPY_OPEN_LEVELS the outermost descriptors are closed;
 * the way back up opens ".." again and goes on only if it is the directory that it came from. No
 * link is ever followed below the two roots.
 *
 * Once a copy turns out to be large, a second thread joins (copy_team.c): whoever has nothing to do
 * is given a subdirectory that the other has not begun, the outermost that there is, with its own
 * two descriptors. Nothing else is shared, so neither waits for the other but at the end.
 *
 * What fails is told the same way whoever comes first: after a failure to read the source nothing
 * more is copied, but the rest is still opened, and of all paths that fail the first in byte order
 * is told. A destination that can't take more ends the copy at once.
 *
 * Files: copy.c the way through the tree; copy_entry.c what is in a directory; copy_content.c the
 * bytes of a file; copy_team.c two threads.
 */
#ifndef CV_FILES_COPY_INTERNAL_H
#define CV_FILES_COPY_INTERNAL_H

#include "files/common.h"

#include "base/buf.h"

#include <pthread.h>

/* Of each copier; of two of them, less than 64 descriptors. */
#define CV_COPY_OPEN_LEVELS 14

#define CV_COPY_BUFFER ((size_t)256 << 10)
#define CV_COPY_DENTS ((size_t)32 << 10)

struct cv_copy_level {
	struct cv_copy_level *up;
	int src; /* both -1 while too deep below */
	int dst;
	struct stat src_st;
	struct stat dst_st;
	mode_t granted; /* mode bits that a new file in dst is known to get if it asks for them */
	struct cv_buf names; /* NUL-terminated names of subdirectories still to copy, back to back */
	char name[256];	     /* its own, in its parent */
	char *prefix; /* of a copier's outermost level: its path below the source; NULL: "" */
};

struct cv_copier {
	struct cv_copy_team *team;
	struct cv_copy_level *top;
	int64_t left_out;
	int64_t entries;
	int64_t bytes;
	bool by_hand; /* the kernel can't copy between these file systems */
	char *dents;
	char *buffer;
};

struct cv_copy_team {
	const atomic_bool *cancel;
	atomic_bool stop;     /* all is over */
	atomic_bool failed;   /* the rest is only looked at */
	atomic_bool wanted;   /* somebody has nothing to do */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	int members;
	int waiting;
	struct cv_copy_level *offered;
	int rc;
	cv_path path; /* of what failed, below the source */
	/* Of the first member alone: */
	bool tried; /* to have a second */
	bool joined;
	pthread_t thread;
	struct cv_copier second;
};

/* copy_content.c: 0 or -errno. */
int cv_copy_content(struct cv_copier *c, int in, int out, const struct stat *st);

/* copy_entry.c: all give 0 or -errno. A directory is remembered, DT_UNKNOWN is looked at. */
int cv_copy_dirent(struct cv_copier *c, const char *name, unsigned char type);

/* Mode and time of the original; granted: mode bits that it has. */
int cv_copy_attributes(int fd, const struct stat *st, mode_t granted);

/* copy.c */
int cv_copier_init(struct cv_copier *c, struct cv_copy_team *team);
void cv_copier_done(struct cv_copier *c);

/* Copies what the levels remember, down to the last. */
void cv_copy_levels(struct cv_copier *c);

/* Opens the next subdirectory that a level remembers, and makes its copy; NULL: there is none. */
struct cv_copy_level *cv_copy_next(struct cv_copier *c, struct cv_copy_level *l);
void cv_copy_level_free(struct cv_copy_level *l);

/* The path below the source of a name at a level, or (NULL) of the level itself. */
void cv_copy_path(const struct cv_copy_level *l, const char *name, cv_path dst);

/*
 * Notes what went wrong at a name of a level, or (NULL) with the level itself. 0: go on; else it is
 * all over.
 */
int cv_copy_failed(struct cv_copier *c, int rc, const struct cv_copy_level *l, const char *name);

/* copy_team.c */
void cv_copy_team_init(struct cv_copy_team *t, const atomic_bool *cancel);
void cv_copy_team_done(struct cv_copy_team *t);

/* Whether to stop; an operation that is cancelled stops. */
bool cv_copy_stopped(struct cv_copy_team *t);

/* Does the first member's part, and waits for the other. 0 or -errno. */
int cv_copy_team_run(struct cv_copy_team *t, struct cv_copier *first);

/* Gives work away, where somebody wants it and there is some. */
void cv_copy_share(struct cv_copier *c);

#endif
