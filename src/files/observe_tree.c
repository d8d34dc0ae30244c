/* SPDX-License-Identifier: Apache-2.0 */
/* Observers: inotify, and the directories of a tree. */
#include "files/observe.h"

#include "base/fd.h"

#include <cove/watch.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>

#define WANTED                                                                                     \
	(IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO |             \
	 IN_DELETE_SELF | IN_MOVE_SELF)

/* Where a directory of this watch descriptor is, or would be. */
static size_t find(const struct cv_observer *o, int wd)
{
	size_t low = 0;
	size_t high = o->dir_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->dirs[middle].wd < wd)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Remembers a directory, or where it is now. 1 new, 0 known, or -errno. */
static int remember(struct cv_observer *o, int wd, const char *path)
{
	size_t at = find(o, wd);
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	if (at < o->dir_count && o->dirs[at].wd == wd) {
		free(o->dirs[at].path);
		o->dirs[at].path = copy;
		return 0;
	}
	if (o->dir_count == o->dir_cap) {
		size_t cap = o->dir_cap ? 2 * o->dir_cap : 16;
		struct cv_observed *grown = reallocarray(o->dirs, cap, sizeof(*grown));

		if (!grown) {
			free(copy);
			return -ENOMEM;
		}
		o->dirs = grown;
		o->dir_cap = cap;
	}
	memmove(o->dirs + at + 1, o->dirs + at, (o->dir_count - at) * sizeof(*o->dirs));
	o->dirs[at] = (struct cv_observed){.wd = wd, .path = copy};
	o->dir_count++;
	return 1;
}

static void forget(struct cv_observer *o, size_t at)
{
	free(o->dirs[at].path);
	o->dir_count--;
	memmove(o->dirs + at, o->dirs + at + 1, (o->dir_count - at) * sizeof(*o->dirs));
}

/* What lies at or below a path that is not there any more. */
static void forget_below(struct cv_observer *o, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = o->dir_count; i-- > 0;) {
		const char *p = o->dirs[i].path;

		if (strncmp(p, path, len) != 0 || (p[len] != '/' && p[len] != '\0'))
			continue;
		inotify_rm_watch(o->in.fd, o->dirs[i].wd);
		forget(o, i);
	}
}

/* The root, if it still is where it was proven to be. */
static int open_root(const struct cv_observer *o)
{
	int fd = open(o->root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != o->root_st.st_dev ||
	    st.st_ino != o->root_st.st_ino) {
		cv_close(&fd);
		errno = ENOENT;
	}
	return fd;
}

/* Opens a directory below the root without following any link. */
static int open_below(const struct cv_observer *o, const char *path)
{
	int fd = open_root(o);
	cv_path rest;
	char *at = rest;

	if (strlen(path) >= sizeof(rest)) {
		cv_close(&fd);
		return -ENAMETOOLONG;
	}
	memcpy(rest, path, strlen(path) + 1);
	while (fd >= 0 && at && *at) {
		char *slash = strchr(at, '/');
		int next;

		if (slash)
			*slash = '\0';
		next = openat(fd, at, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		cv_close(&fd);
		fd = next;
		at = slash ? slash + 1 : NULL;
	}
	return fd < 0 ? -errno : fd;
}

/* Watches what a descriptor stands for. 1 new, 0 known, or -errno. */
static int watch(struct cv_observer *o, int fd, const char *path)
{
	char link[40];
	int wd;

	if (o->dir_count >= CV_OBSERVED_DIRS_MAX)
		return -EMSGSIZE;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(o->in.fd, link, WANTED | IN_ONLYDIR);
	return wd < 0 ? -errno : remember(o, wd, path);
}

/* Directories that are still to be added, by their paths; a list so that depth costs no stack. */
struct todo {
	char **paths;
	size_t count;
	size_t cap;
};

static void todo_done(struct todo *t)
{
	while (t->count > 0)
		free(t->paths[--t->count]);
	free(t->paths);
}

static int todo_add(struct todo *t, const char *dir, const char *name)
{
	char *path;

	if (t->count == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 16;
		char **grown = reallocarray(t->paths, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->paths = grown;
		t->cap = cap;
	}
	path = cv_observed_path(dir, name);
	if (!path)
		return -ENOMEM;
	t->paths[t->count++] = path;
	return 0;
}

static bool is_directory(DIR *d, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Reads a directory that is watched already: its subdirectories are next; tell: all of it is new. */
static int look_through(struct cv_observer *o, int fd, const char *path, bool tell, struct todo *t)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = -errno;
		cv_close(&again);
		/* One that can't be read can be watched all the same. */
		return rc == -EACCES ? 0 : rc;
	}
	while (rc == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (tell)
			cv_observer_tell(o, path, e->d_name, COVE_CHANGE_CREATED);
		if (o->recursive && is_directory(d, e))
			rc = todo_add(t, path, e->d_name);
	}
	closedir(d);
	return rc;
}

/* What has vanished, or has become something else, is told by other events. */
static bool is_gone(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP || rc == -ENAMETOOLONG;
}

/* Adds a directory, and in a recursive watch all below it. */
static int add_tree(struct cv_observer *o, const char *path, bool tell)
{
	struct todo t __attribute__((cleanup(todo_done))) = {0};
	CV_CLOSE int root = open_root(o);
	int rc = root < 0 ? -ESTALE : todo_add(&t, "", path);

	while (rc == 0 && t.count > 0) {
		CV_FREE char *dir = t.paths[--t.count];
		CV_CLOSE int fd = open_below(o, dir);

		rc = fd < 0 ? fd : watch(o, fd, dir);
		if (rc >= 0 && (o->recursive || tell))
			rc = look_through(o, fd, dir, tell, &t);
		rc = rc > 0 || (is_gone(rc) && dir[0]) || (rc == -EACCES && dir[0]) ? 0 : rc;
	}
	return rc;
}

int cv_observe_begin(struct cv_observer *o)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int rc = fd < 0 ? -errno :
			  cv_watch_add(o->all->loop, &o->in, fd, EPOLLIN, cv_observe_ready);

	if (rc < 0) {
		cv_close(&fd);
		return rc;
	}
	return add_tree(o, "", false);
}

void cv_observe_end(struct cv_observer *o)
{
	int fd = o->in.fd;

	cv_watch_del(o->all->loop, &o->in);
	cv_close(&fd);
	while (o->dir_count > 0)
		free(o->dirs[--o->dir_count].path);
	free(o->dirs);
}

/* Nothing more comes: what was watched is gone, or is where nobody proved that it may be. */
static void end_all(struct cv_observer *o)
{
	if (!o->ended)
		cv_observer_tell(o, "", o->only ? o->only : "", COVE_CHANGE_DELETED);
	o->ended = true;
	while (o->dir_count > 0) {
		inotify_rm_watch(o->in.fd, o->dirs[o->dir_count - 1].wd);
		forget(o, o->dir_count - 1);
	}
}

/* The root itself; what a file's directory is called does not matter. */
static void root_event(struct cv_observer *o, uint32_t mask)
{
	if (mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) {
		end_all(o);
	} else if ((mask & IN_ATTRIB) && !o->only) {
		cv_observer_tell(o, "", "", COVE_CHANGE_ATTRIBUTES);
	}
}

static void subdirectory_event(struct cv_observer *o, const char *dir, const char *name,
			       uint32_t mask)
{
	CV_FREE char *path = o->recursive ? cv_observed_path(dir, name) : NULL;

	o->overflow |= o->recursive && !path;
	if (!path)
		return;
	if (mask & (IN_MOVED_FROM | IN_DELETE))
		forget_below(o, path);
	else if (mask & (IN_CREATE | IN_MOVED_TO))
		o->overflow |= add_tree(o, path, true) < 0;
}

static int change_of(uint32_t mask)
{
	if (mask & (IN_CREATE | IN_MOVED_TO))
		return COVE_CHANGE_CREATED;
	if (mask & (IN_DELETE | IN_MOVED_FROM))
		return COVE_CHANGE_DELETED;
	return mask & IN_MODIFY ? COVE_CHANGE_MODIFIED : COVE_CHANGE_ATTRIBUTES;
}

static void handle(struct cv_observer *o, const struct inotify_event *e)
{
	size_t at = find(o, e->wd);
	CV_FREE char *dir = NULL;

	if (e->mask & IN_Q_OVERFLOW) {
		o->overflow = true;
		add_tree(o, "", false); /* directories may have been missed */
		return;
	}
	if (at == o->dir_count || o->dirs[at].wd != e->wd)
		return;
	/* Adding directories moves the list. */
	dir = strdup(o->dirs[at].path);
	if (!dir) {
		o->overflow = true;
		return;
	}
	if (e->len == 0 && dir[0] == '\0') {
		root_event(o, e->mask);
		return;
	}
	if (e->len == 0) {
		if (e->mask & IN_IGNORED)
			forget(o, at);
		return; /* a subdirectory's own changes are told by its parent */
	}
	if (o->only && strcmp(o->only, e->name) != 0)
		return;
	cv_observer_tell(o, dir, e->name, change_of(e->mask));
	if (e->mask & IN_ISDIR)
		subdirectory_event(o, dir, e->name, e->mask);
}

void cv_observe_ready(struct cv_watch *in, uint32_t events)
{
	struct cv_observer *o = cv_container(in, struct cv_observer, in);
	char buf[16384] __attribute__((aligned(8)));
	ssize_t n = read(o->in.fd, buf, sizeof(buf));
	CV_CLOSE int root = -1;

	(void)events;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(buf + at);

		handle(o, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	/* A directory above the root may have been moved, which nothing tells. */
	root = o->ended ? -1 : open_root(o);
	if (root < 0)
		end_all(o);
	cv_observer_answer(o);
}
