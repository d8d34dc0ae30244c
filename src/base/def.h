/* SPDX-License-Identifier: Apache-2.0 */
/* Small macros that every file uses: ownership by scope, hand-over, sizes. */
#ifndef CV_BASE_DEF_H
#define CV_BASE_DEF_H

#include "base/banned.h"

#include <cove/base.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CV_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CV_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CV_MAX(a, b) ((a) > (b) ? (a) : (b))
#define CV_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define CV_NORETURN __attribute__((noreturn))

#define cv_container(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/*
 * Hands a pointer over: yields it and leaves NULL, so that the scope's cleanup has nothing to free.
 */
#define TAKE(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

/* The same for a descriptor. */
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

static inline void cv_free_scope(void *p)
{
	free(*(void **)p);
}

static inline void cv_close_scope(const int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		close(*fd);
		errno = saved;
	}
}

/* Frees or closes what the variable holds when its scope ends, whichever way. */
#define CV_FREE __attribute__((cleanup(cv_free_scope)))
#define CV_CLOSE __attribute__((cleanup(cv_close_scope)))

static inline void cv_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
