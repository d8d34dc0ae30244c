/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a directory tree through descriptors, whatever its depth, without ever following a link.
 */
#ifndef CV_BASE_TREE_H
#define CV_BASE_TREE_H

#include "base/path.h"

#include <stdatomic.h>

struct cv_tree_remove {
	bool force;		   /* make directories of our own writable first */
	bool keep_going;	   /* past failures; the first is reported */
	const atomic_bool *cancel; /* stops it between two entries; NULL none */
	int64_t removed;	   /* out: entries removed */
	cv_path failed; /* out: path of the first failure, from `name` on; "" where there was none */
};

/*
 * Removes dirfd/name: a file, a link itself, or a directory with all in it. dirfd may be O_PATH.
 * 0, -ECANCELED, or -errno of the first failure.
 */
int cv_tree_remove(int dirfd, const char *name, struct cv_tree_remove *job);

#endif
