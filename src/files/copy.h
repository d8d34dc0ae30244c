/* SPDX-License-Identifier: Apache-2.0 */
/* Copies one entry, a whole tree where it is a directory, between proven directories. */
#ifndef CV_FILES_COPY_H
#define CV_FILES_COPY_H

#include "base/path.h"

#include <stdatomic.h>
#include <sys/stat.h>

struct cv_copied {
	int64_t entries;
	int64_t bytes;	  /* sizes of the files */
	int64_t left_out; /* sockets and devices */
	cv_path failed; /* below the source's directory, from its name on; "" where nothing failed */
};

/* Whether a copy of src would lie inside itself. */
bool cv_copy_would_nest(int dst_dirfd, const struct stat *src);

/*
 * Copies src_dirfd/name to the same name in dst_dirfd, where it must be missing; as
 * cv_copy_tree() copies. 0 or -errno; what was copied before a failure stays.
 */
int cv_copy_entry(int src_dirfd, const char *name, int dst_dirfd, const atomic_bool *cancel,
		  struct cv_copied *ret);

#endif
