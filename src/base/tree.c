/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes a tree without recursion and with a bounded number of descriptors.
 *
 * Each level reads its directory once, unlinks what is no directory on the spot and remembers the
 * names of its subdirectories. Going deeper than OPEN_LEVELS closes the outermost descriptors; the
 * way back up then opens ".." and goes on only if device and inode are those of the directory that
 * it came from, so a tree that is moved meanwhile can't lead it elsewhere.
 */
#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define OPEN_LEVELS 48
#define DENTS_SIZE 32768

struct level {
	struct level *up;
	int fd; /* -1 while too deep below */
	dev_t dev;
	ino_t ino;
	char *names; /* NUL-terminated names of subdirectories still to remove, back to back */
	size_t names_len;
	size_t names_cap;
	char name[256]; /* its own, in its parent */
};

struct remover {
	struct cv_tree_remove *job;
	struct level *top;
	int depth;
	int first_error;
	char dents[DENTS_SIZE];
};

struct dirent64_raw {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Of the entry `name` of level l; NULL: of the root itself. */
static void note_failure(struct remover *r, const struct level *l, int rc, const char *name)
{
	cv_path path;
	size_t at = sizeof(path) - 1;
	size_t len = strlen(name);

	if (r->first_error || rc == -ECANCELED)
		return;
	r->first_error = rc;
	path[at] = '\0';
	for (;; l = l->up) {
		if (len + 1 > at)
			break;
		at -= len;
		memcpy(path + at, name, len);
		if (!l)
			break;
		name = l->name;
		len = strlen(name);
		path[--at] = '/';
	}
	memcpy(r->job->failed, path + at, sizeof(path) - at);
}

static int remember(struct level *l, const char *name)
{
	size_t len = strlen(name) + 1;

	if (l->names_len + len > l->names_cap) {
		size_t cap = CV_MAX(l->names_cap * 2, (size_t)1024);
		char *names = realloc(l->names, cap);

		if (!names)
			return -ENOMEM;
		l->names = names;
		l->names_cap = cap;
	}
	memcpy(l->names + l->names_len, name, len);
	l->names_len += len;
	return 0;
}

static int remove_entry(struct remover *r, int dirfd, const char *name, unsigned char type)
{
	struct stat st;

	if (type == DT_UNKNOWN && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode))
		type = DT_DIR;
	if (type == DT_DIR)
		return remember(r->top, name);
	if (unlinkat(dirfd, name, 0) < 0) {
		if (errno == EISDIR)
			return remember(r->top, name);
		return errno == ENOENT ? 0 : -errno;
	}
	r->job->removed++;
	return 0;
}

static bool cancelled(const struct remover *r)
{
	return r->job->cancel && atomic_load_explicit(r->job->cancel, memory_order_relaxed);
}

/* Reads the top level's directory, unlinking files and remembering subdirectories. */
static int empty_level(struct remover *r)
{
	int fd = r->top->fd;

	for (;;) {
		long n = syscall(SYS_getdents64, fd, r->dents, sizeof(r->dents));

		if (n <= 0)
			return n < 0 ? -errno : 0;
		for (long at = 0; at < n;) {
			const struct dirent64_raw *e = (const void *)(r->dents + at);
			int rc;

			at += e->reclen;
			if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
				continue;
			if (cancelled(r))
				return -ECANCELED;
			rc = remove_entry(r, fd, e->name, e->type);
			if (rc < 0)
				note_failure(r, r->top, rc, e->name);
			if (rc < 0 && !r->job->keep_going)
				return rc;
		}
	}
}

static int open_dir(struct remover *r, int dirfd, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dirfd, name, flags);

	if (r->job->force && (fd >= 0 || errno == EACCES)) {
		struct stat st;

		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
		    (st.st_mode & 0700) != 0700) {
			if (fchmodat(dirfd, name, 0700, 0) == 0 && fd < 0)
				fd = openat(dirfd, name, flags);
		}
	}
	return fd < 0 ? -errno : fd;
}

/* A directory that can't be read can still be removed, if it is empty. */
static int give_up(struct remover *r, int dirfd, const char *name, int rc)
{
	if (rc == -EACCES && unlinkat(dirfd, name, AT_REMOVEDIR) == 0) {
		r->job->removed++;
		return 0;
	}
	note_failure(r, r->top, rc, name);
	return r->job->keep_going ? 0 : rc;
}

static int descend(struct remover *r, int dirfd, const char *name)
{
	struct level *l = calloc(1, sizeof(*l));
	struct level *outer = r->top;
	struct stat st;
	int rc;

	if (!l)
		return -ENOMEM;
	l->fd = open_dir(r, dirfd, name);
	rc = l->fd < 0 ? l->fd : fstat(l->fd, &st) < 0 ? -errno : 0;
	if (rc < 0) {
		cv_close(&l->fd);
		free(l);
		return give_up(r, dirfd, name, rc);
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->up = r->top;
	r->top = l;
	r->depth++;
	for (int i = 1; outer && i < OPEN_LEVELS; i++)
		outer = outer->up;
	if (outer)
		cv_close(&outer->fd);
	rc = empty_level(r);
	if (rc < 0)
		note_failure(r, l->up, rc, l->name);
	return rc < 0 && (rc == -ECANCELED || !r->job->keep_going) ? rc : 0;
}

static void pop(struct remover *r)
{
	struct level *l = r->top;

	r->top = l->up;
	r->depth--;
	cv_close(&l->fd);
	free(l->names);
	free(l);
}

/* Opens the parent level again from below, if it was closed. */
static int reopen_parent(struct level *l)
{
	struct level *up = l->up;
	struct stat st;

	if (!up || up->fd >= 0)
		return 0;
	up->fd = openat(l->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (up->fd < 0 || fstat(up->fd, &st) < 0)
		return -errno;
	if (st.st_dev == up->dev && st.st_ino == up->ino)
		return 0;
	cv_close(&up->fd);
	return -EBUSY;
}

/* The top level is empty: removes it from its parent. */
static int ascend(struct remover *r, int root_dirfd)
{
	struct level *l = r->top;
	char name[256];
	int rc = reopen_parent(l);
	int dirfd;

	if (rc < 0)
		return rc;
	memcpy(name, l->name, sizeof(name));
	dirfd = l->up ? l->up->fd : root_dirfd;
	pop(r);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOENT)
			return 0;
		rc = -errno;
		note_failure(r, r->top, rc, name);
		return r->job->keep_going ? 0 : rc;
	}
	r->job->removed++;
	return 0;
}

static int run(struct remover *r, int dirfd)
{
	int rc = 0;

	while (r->top && rc == 0) {
		struct level *l = r->top;

		if (cancelled(r))
			return -ECANCELED;
		if (l->names_len > 0) {
			char name[256];
			size_t at = l->names_len - 1;

			while (at > 0 && l->names[at - 1] != '\0')
				at--;
			snprintf(name, sizeof(name), "%s", l->names + at);
			l->names_len = at;
			rc = descend(r, l->fd, name);
		} else {
			rc = ascend(r, dirfd);
		}
	}
	return rc;
}

int cv_tree_remove(int dirfd, const char *name, struct cv_tree_remove *job)
{
	CV_FREE struct remover *r = calloc(1, sizeof(*r));
	struct stat st;
	int rc;

	job->removed = 0;
	job->failed[0] = '\0';
	if (!r)
		return -ENOMEM;
	r->job = job;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode)) {
		if (unlinkat(dirfd, name, 0) < 0)
			return -errno;
		job->removed = 1;
		return 0;
	}
	rc = descend(r, dirfd, name);
	if (rc == 0)
		rc = run(r, dirfd);
	while (r->top)
		pop(r);
	return r->first_error ? r->first_error : rc;
}
