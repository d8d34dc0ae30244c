/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seed and workspace side by side, without recursion and with a bounded number of descriptors.
 *
 * A level is a directory that is on either side. Beyond some depth the levels above let their
 * descriptors go and open them again by path, from the root and through no link, when it is their
 * turn.
 */
#include "changes/changes.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/missing.h"
#include "files/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define NAMES_MAX ((size_t)256 << 20)
#define DENTS_SIZE ((size_t)32 << 10)
#define KEEP_OPEN 16 /* levels */

enum {
	SEED,
	NOW
};

struct level {
	struct level *up;
	size_t depth;
	size_t path_len; /* of its directory */
	bool whole;	 /* what is not in the workspace's directory is gone */
	bool has[2];	 /* the directory is there */
	int fds[2];
	struct cv_buf text; /* names, back to back */
	char **names;	    /* sorted, each once */
	size_t count;
	size_t at;
};

struct walk {
	const struct cv_compare *c;
	struct level *top;
	cv_path path;
};

static void level_free(struct level *l)
{
	cv_close(&l->fds[SEED]);
	cv_close(&l->fds[NOW]);
	cv_buf_done(&l->text);
	free(l->names);
	free(l);
}

static void pop(struct walk *w)
{
	struct level *l = w->top;

	w->top = l->up;
	level_free(l);
}

static void walk_done(struct walk *w)
{
	while (w->top)
		pop(w);
}

static int open_side(const struct walk *w, int side, size_t path_len)
{
	int root = side == SEED ? w->c->origin->seed : w->c->now;
	cv_path path;
	int fd;

	snprintf(path, sizeof(path), "%.*s", (int)path_len, path_len ? w->path : ".");
	if (path_len == 0)
		cv_text_copy(path, sizeof(path), ".");
	fd = cv_openat2(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return fd < 0 ? -errno : fd;
}

/* The descriptors of a level that let them go. */
static int reopen(const struct walk *w, struct level *l)
{
	for (int side = SEED; side <= NOW; side++) {
		if (!l->has[side] || l->fds[side] >= 0)
			continue;
		l->fds[side] = open_side(w, side, l->path_len);
		if (l->fds[side] < 0)
			return l->fds[side];
	}
	return 0;
}

static int read_names(struct level *l, int fd)
{
	char dents[DENTS_SIZE] __attribute__((aligned(8)));
	ssize_t len;

	while ((len = getdents64(fd, dents, sizeof(dents))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(dents + at);
			int rc = 0;

			at += e->d_reclen;
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
				rc = cv_buf_add(&l->text, e->d_name, strlen(e->d_name) + 1);
				l->count += rc == 0;
			}
			if (rc < 0)
				return rc;
		}
	}
	return len < 0 ? -errno : 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int sort_names(struct level *l)
{
	char *p = l->text.data;
	size_t n = 0;

	l->names = calloc(l->count + 1, sizeof(*l->names));
	if (!l->names)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++) {
		l->names[i] = p;
		p += strlen(p) + 1;
	}
	qsort(l->names, l->count, sizeof(*l->names), by_bytes);
	for (size_t i = 0; i < l->count; i++)
		if (n == 0 || strcmp(l->names[n - 1], l->names[i]) != 0)
			l->names[n++] = l->names[i];
	l->count = n;
	return 0;
}

/* The names to look at: where what is missing is unchanged, only those that are there. */
static int fill(struct level *l)
{
	int rc = 0;

	if (l->has[SEED] && (l->whole || !l->has[NOW]))
		rc = read_names(l, l->fds[SEED]);
	if (rc == 0 && l->has[NOW])
		rc = read_names(l, l->fds[NOW]);
	return rc < 0 ? rc : sort_names(l);
}

static bool is_opaque(int fd)
{
	char value[2];
	ssize_t n = fgetxattr(fd, "user.overlay.opaque", value, sizeof(value));

	return n == 1 && value[0] == 'y';
}

/* Goes into the directory of w->path; -errno when it can't be read, and then it is not gone into. */
static int push(struct walk *w, bool in_seed, bool in_now, bool whole, size_t path_len)
{
	struct level *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	*l = (struct level){.up = w->top,
			    .depth = w->top ? w->top->depth + 1 : 0,
			    .path_len = path_len,
			    .has = {in_seed, in_now},
			    .fds = {-1, -1},
			    .text = CV_BUF(NAMES_MAX)};
	rc = reopen(w, l);
	l->whole = whole || w->c->origin->upper < 0;
	if (rc == 0 && in_now && !l->whole)
		l->whole = is_opaque(l->fds[NOW]);
	if (rc == 0)
		rc = fill(l);
	if (rc < 0) {
		level_free(l);
		return rc;
	}
	if (w->top && w->top->depth >= KEEP_OPEN) {
		cv_close(&w->top->fds[SEED]);
		cv_close(&w->top->fds[NOW]);
	}
	w->top = l;
	return 0;
}

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

/* Whether an entry is there, as far as a diff is concerned. */
static int look(const struct walk *w, struct cv_pair *p, int side)
{
	struct stat *st = &p->st[side];

	p->there[side] = false;
	if (p->dirs[side] < 0)
		return 0;
	if (fstatat(p->dirs[side], p->name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (side == NOW)
		p->there[NOW] = w->c->origin->upper < 0 || !is_whiteout(st);
	else /* no copy has these either */
		p->there[SEED] = !S_ISSOCK(st->st_mode) && !S_ISCHR(st->st_mode) &&
				 !S_ISBLK(st->st_mode);
	return 0;
}

/* The directory that the scratch directory is in, and what tells git to look away from it. */
static bool is_around_scratch(const struct walk *w, const char *path)
{
	const char *scratch = w->c->scratch;
	const char *slash = scratch ? strrchr(scratch, '/') : NULL;
	size_t len = slash ? (size_t)(slash - scratch) : 0;

	return len > 0 && strncmp(path, scratch, len) == 0 &&
	       (path[len] == '\0' || strcmp(path + len, "/.gitignore") == 0);
}

static int emit(const struct walk *w, struct cv_pair *p, int change)
{
	if (change == COVE_DIFF_ADDED && is_around_scratch(w, p->path))
		return 0;
	p->change = change;
	p->which = change == COVE_DIFF_DELETED ? SEED : NOW;
	return w->c->fn(w->c->user, p);
}

/* A copy that was not touched since it was made. */
static bool is_untouched(const struct walk *w, const struct cv_pair *p)
{
	const struct stat *a = &p->st[SEED];
	const struct stat *b = &p->st[NOW];
	int64_t ctime_ns = (int64_t)b->st_ctim.tv_sec * 1000000000 + b->st_ctim.tv_nsec;

	return w->c->origin->upper < 0 && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       ctime_ns < w->c->origin->settled_ns;
}

static int of_same_kind(const struct walk *w, struct cv_pair *p)
{
	bool mode = (p->st[SEED].st_mode & 07777) != (p->st[NOW].st_mode & 07777);
	int same = 1;

	if (!S_ISDIR(p->st[NOW].st_mode) && !(is_untouched(w, p)))
		same = cv_same_content(p);
	if (same == -ENOENT || same == -EINVAL)
		return 0; /* it has just gone, or become something else */
	if (same == -ENOMEM)
		return same;
	if (same < 0)
		return emit(w, p, COVE_DIFF_UNREADABLE);
	if (S_ISLNK(p->st[NOW].st_mode))
		return same ? 0 : emit(w, p, COVE_DIFF_LINK);
	if (!same)
		return emit(w, p, COVE_DIFF_MODIFIED);
	return mode ? emit(w, p, COVE_DIFF_MODE) : 0;
}

/* What one path has to tell; then what is below it. */
static int visit(struct walk *w, struct cv_pair *p, size_t path_len, bool whole)
{
	bool was = p->there[SEED];
	bool is = p->there[NOW];
	bool same_kind = was && is &&
			 (p->st[SEED].st_mode & S_IFMT) == (p->st[NOW].st_mode & S_IFMT);
	bool in_seed = was && S_ISDIR(p->st[SEED].st_mode);
	bool in_now = is && S_ISDIR(p->st[NOW].st_mode);
	int rc = 0;

	if (same_kind)
		rc = of_same_kind(w, p);
	if (rc == 0 && was && !same_kind)
		rc = emit(w, p, COVE_DIFF_DELETED);
	if (rc == 0 && is && !same_kind)
		rc = emit(w, p, COVE_DIFF_ADDED);
	if (rc < 0 || (!in_seed && !in_now))
		return rc;
	rc = push(w, in_seed, in_now, whole, path_len);
	if (rc == -ENOMEM || rc == -ENOENT)
		return rc == -ENOENT ? 0 : rc;
	return rc < 0 ? emit(w, p, COVE_DIFF_UNREADABLE) : 0;
}

static int next(struct walk *w)
{
	struct level *l = w->top;
	const char *name = l->names[l->at++];
	size_t len = l->path_len;
	struct cv_pair p = {.path = w->path, .name = name};
	int rc = reopen(w, l);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	w->path[len] = '\0';
	if (len + strlen(name) + 1 > CV_PATH_MAX)
		return 0; /* no path leads there, nor any file operation */
	if (len > 0)
		w->path[len++] = '/';
	memcpy(w->path + len, name, strlen(name) + 1);
	if (w->c->scratch && strcmp(w->path, w->c->scratch) == 0)
		return 0;
	p.dirs[SEED] = l->fds[SEED];
	p.dirs[NOW] = l->fds[NOW];
	rc = look(w, &p, SEED);
	if (rc == 0)
		rc = look(w, &p, NOW);
	if (rc < 0)
		return emit(w, &p, COVE_DIFF_UNREADABLE);
	return visit(w, &p, strlen(w->path), l->whole);
}

int cv_compare_trees(const struct cv_compare *c)
{
	struct walk w __attribute__((cleanup(walk_done))) = {.c = c};
	int rc = push(&w, c->origin->seed >= 0, true, false, 0);

	while (rc == 0 && w.top) {
		if (cv_flag_set(c->cancel))
			return -ECANCELED;
		if (w.top->at == w.top->count)
			pop(&w);
		else
			rc = next(&w);
	}
	return rc;
}
