/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree, entry by entry: depth first, names in byte order, what matches a pattern and is neither
 * hidden nor ignored.
 *
 * Each directory is read once, when the walk comes to it, and its names are sorted; only what the
 * pattern can match is entered. Links are never followed: every step down is one name relative to
 * the descriptor of the directory above it. The descriptors of at most OPEN_LEVELS levels are kept;
 * one above them is closed and opened again on the way back, from below where that leads to the
 * same directory, else from the root down.
 *
 * Entries can be handed to other threads: an entry's directory stays, with its descriptor, until
 * cv_walk_release(). The walk itself is one thread's at a time.
 *
 * Ignore files belong to the directory that holds them and hang together as scopes, innermost
 * first. A directory with a .git in it begins a repository: what stands above is not asked.
 */
#ifndef CV_FILES_WALK_H
#define CV_FILES_WALK_H

#include "base/buf.h"
#include "files/files.h"
#include "files/glob.h"
#include "files/ignore.h"

#include <pthread.h>
#include <sys/stat.h>

#define CV_WALK_OPEN_MAX 24 /* descriptors of directories, before the levels of the walk itself */

/* The rules of one ignore file; paths are cut at base before they meet them. */
struct cv_scope {
	struct cv_scope *up;
	struct cv_ignore *rules;
	size_t base;
};

struct cv_walk_dir {
	struct cv_walk_dir *up;
	int fd;	     /* -1: closed, too many levels below it are open */
	int users;   /* the walk, entries under way, and directories below */
	int entries; /* entries under way: they need the descriptor */
	bool parked; /* to be closed as soon as no entry needs it */
	dev_t dev;
	ino_t ino;
	struct cv_buf names; /* type and name of each entry, NUL-terminated */
	uint32_t *order;     /* where they are in names, sorted */
	size_t count;
	size_t next;
	struct cv_glob_state state;
	struct cv_scope *scope; /* what its entries are judged by */
	struct cv_scope *own[2];
	size_t path_len; /* of its path in walk->path, with a slash at the end */
	char name[256];
};

struct cv_walk_entry {
	struct cv_walk_dir *dir;
	const char *name;   /* valid while the entry is not released */
	unsigned char type; /* DT_* */
	bool resumed;	    /* it is the path that the walk was to begin behind */
};

struct cv_walk {
	/* Filled by the caller. */
	const struct cv_glob *glob;
	bool no_recurse;
	bool include_hidden;
	bool use_ignore;
	const char *after; /* path below the root: only what comes behind it; NULL: all */
	bool after_too;	   /* and that path itself */
	const atomic_bool *cancel;
	/* What was left out: hidden or ignored; and what could not be read or named. */
	int64_t hidden;
	int64_t skipped;
	/* The walk's own. */
	struct cv_walk_dir *top;
	const char *enter; /* of the top, the subdirectory to go on with */
	struct cv_glob_state enter_state;
	struct cv_buf path;	/* of the directory, from the repository's root on if it is above */
	struct cv_scope *above; /* scopes of directories above the root, freed with the walk */
	char *dents;
	pthread_mutex_t lock; /* users, entries, open */
	int open;
};

/*
 * Begins at a proven directory. 0, or a negative code with err filled. cv_walk_done() in any case;
 * all entries must have been released by then.
 */
int cv_walk_begin(struct cv_walk *w, const struct cv_file_ctx *ctx, const struct cv_found *root,
		  const char *path, struct cove_error *err);
void cv_walk_done(struct cv_walk *w);

/* The next entry that matches; its directory is held. 1, 0 at the end, or -errno. */
int cv_walk_next(struct cv_walk *w, struct cv_walk_entry *ret);

/* What a failed walk's -errno means to the caller. */
int cv_walk_fail(const struct cv_file_ctx *ctx, int rc, const char *path, struct cove_error *err);

/* In any thread. */
void cv_walk_release(struct cv_walk *w, struct cv_walk_dir *dir);

/* Whether cv_walk_next() keeps within its descriptors; else entries must be released first. */
bool cv_walk_has_room(struct cv_walk *w);

/*
 * How results give what is below root: "" or a directory with a slash at its end. Turns *after,
 * which is spelt in that way, into a path below the root. 0, or a negative code.
 */
int cv_walk_prefix(const struct cv_file_ctx *ctx, const struct cv_found *root, const char *path,
		   const char *field, const char **ret, const char **after, struct cove_error *err);

/* The path of an entry below the root, in front of which `prefix` is put. 0, or -ENOMEM. */
int cv_walk_path(const struct cv_walk_entry *e, const char *prefix, struct cv_buf *ret);

/* scope.c: adds the rules of dirfd/.gitignore, and of dirfd/.git, in front of *scope. */
int cv_scope_enter(int dirfd, bool has_file, bool is_repository, size_t base,
		   struct cv_scope **scope, struct cv_scope *own[2]);
void cv_scope_free(struct cv_scope *s);
/* Those of the directories above a root, up to its repository's. *ret_path: its path from there. */
int cv_scope_above(const struct cv_file_ctx *ctx, const char *real, struct cv_scope **ret,
		   struct cv_buf *ret_path);
bool cv_scope_ignores(const struct cv_scope *s, const char *path, size_t len, const char *name,
		      bool is_dir);

#endif
