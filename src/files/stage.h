/* SPDX-License-Identifier: Apache-2.0 */
/* A file in the making: written where nobody sees it, then put in its place at once. */
#ifndef CV_FILES_STAGE_H
#define CV_FILES_STAGE_H

#include "base/def.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

struct cv_stage {
	int dirfd;     /* of the destination, borrowed; may be O_PATH */
	int fd;	       /* open for writing and reading */
	char name[16]; /* in the directory; "" while it has none */
};

#define CV_STAGE_NONE ((struct cv_stage){.dirfd = -1, .fd = -1})

/* Begins a file with these mode bits, less the umask. All of these give 0 or -errno. */
int cv_stage_open(struct cv_stage *s, int dirfd, mode_t mode);

/* Appends to it, all of it or an error; -ECANCELED once cancel is set. */
int cv_stage_write(const struct cv_stage *s, const char *data, size_t len,
		   const atomic_bool *cancel);

/*
 * Gives it the mode and, as far as permitted, owner and extended attributes of another (an O_PATH
 * descriptor).
 */
int cv_stage_keep(const struct cv_stage *s, int old_fd, const struct stat *old);

/*
 * Makes sure that all was taken, which some file systems only say late; durable: that it is on the
 * disk.
 */
int cv_stage_flush(const struct cv_stage *s, bool durable);

/* Puts it in its place: only if nothing is there (-EEXIST), or over what is there. */
int cv_stage_publish_new(struct cv_stage *s, const char *name);
int cv_stage_publish_over(struct cv_stage *s, const char *name);

/*
 * Puts it in the place of what is there, which then stands at the stage's own name. take: the same
 * with nothing in its place; the stage is opened by it. Until the end, give_back undoes either.
 */
int cv_stage_swap(struct cv_stage *s, const char *name);
int cv_stage_take(struct cv_stage *s, int dirfd, const char *name);
int cv_stage_give_back(struct cv_stage *s, const char *name);

/* Ends it; what was not published is gone. */
void cv_stage_done(struct cv_stage *s);
#define CV_STAGE_SCOPE __attribute__((cleanup(cv_stage_done)))

#endif
