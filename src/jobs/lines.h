/* SPDX-License-Identifier: Apache-2.0 */
/* A file to which whole lines are appended: a line is there completely, or not at all. */
#ifndef CV_JOBS_LINES_H
#define CV_JOBS_LINES_H

#include "base/path.h"

#include <sys/uio.h>

struct cv_lines {
	int fd;	     /* O_APPEND; -1: not open */
	int64_t len; /* bytes of whole lines */
	bool torn;   /* behind them may be a rest that could not be cut off yet */
	cv_path path;
};

static inline void cv_lines_done(struct cv_lines *l)
{
	cv_close(&l->fd);
}

/* Appends the parts as one line, in one write(2); the last part holds the line's end. */
int cv_lines_append(struct cv_lines *l, const struct iovec *parts, size_t count,
		    struct cove_error *err);

#endif
