/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The confined resolver: from a path to a descriptor that was proven to lie inside the allowed
 * roots.
 *
 * Nothing is checked and then used. A path is opened first (O_PATH: no content, no side effect),
 * then the kernel is asked where that descriptor really is, and only the descriptor is used
 * afterwards. For a name that may not exist yet, its parent is opened and proven, and the name is
 * used relative to it without following links.
 */
#ifndef CV_BASE_RESOLVE_H
#define CV_BASE_RESOLVE_H

#include "base/path.h"

#include <sys/stat.h>

/* A path space: where paths start and how far they may lead. */
struct cv_space {
	cv_path cwd;
	cv_path home;
	char **roots; /* real paths, NULL at the end; empty: everything */
};

/* Something that exists, proven. */
struct cv_found {
	int fd; /* O_PATH */
	cv_path real;
	struct stat st;
};

/* A name in a directory, proven. */
struct cv_place {
	int dirfd;	/* O_PATH | O_DIRECTORY */
	cv_path dir;	/* its real path */
	char name[256]; /* one component; "." where the path is the directory itself */
};

static inline void cv_found_done(struct cv_found *f)
{
	cv_close(&f->fd);
}
static inline void cv_place_done(struct cv_place *p)
{
	cv_close(&p->dirfd);
}
#define CV_FOUND_SCOPE __attribute__((cleanup(cv_found_done)))
#define CV_PLACE_SCOPE __attribute__((cleanup(cv_place_done)))

bool cv_space_inside(const struct cv_space *sp, const char *real);

/* Opens what is at path. follow: through a final link. Errors carry path as the caller spelt it. */
int cv_resolve(const struct cv_space *sp, const char *path, bool follow, struct cv_found *ret,
	       struct cove_error *err);

/*
 * Opens the parent of path. follow: where the last component is a link, the place is that of its
 * target. make_parents: missing directories on the way are made.
 */
int cv_resolve_place(const struct cv_space *sp, const char *path, bool follow, bool make_parents,
		     struct cv_place *ret, struct cove_error *err);

#endif
