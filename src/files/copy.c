/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a tree, without recursion and with a bounded number of descriptors: the way through it. */
#include "files/copy.h"

#include "files/copy_internal.h"

#include <dirent.h>
#include <fcntl.h>

/* What a directory has until it gets its own mode. */
#define DIR_MADE 0700

#define NAMES_MAX ((size_t)256 << 20)

void cv_copy_path(const struct cv_copy_level *l, const char *name, cv_path dst)
{
	size_t at = sizeof(cv_path) - 1;

	dst[at] = '\0';
	/* From the end on, as far as there is room. */
	for (; l; l = l->up) {
		const char *above = l->up ? l->name : l->prefix ? l->prefix : "";
		size_t len = name ? strlen(name) : 0;

		if (len + 1 > at)
			break;
		at -= len;
		memcpy(dst + at, name ? name : "", len);
		if (len > 0 && above[0])
			dst[--at] = '/';
		name = above;
		if (!l->up && above[0] && strlen(above) <= at) {
			at -= strlen(above);
			memcpy(dst + at, above, strlen(above));
		}
	}
	memmove(dst, dst + at, sizeof(cv_path) - at);
}

/* Copies what the top level holds, but remembers its subdirectories. */
static int copy_entries(struct cv_copier *c)
{
	struct cv_copy_level *l = c->top;
	ssize_t len;

	while ((len = getdents64(l->src, c->dents, CV_COPY_DENTS)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(c->dents + at);
			int rc;

			at += e->d_reclen;
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			if (cv_copy_stopped(c->team))
				return -ECANCELED;
			rc = cv_copy_dirent(c, e->d_name, e->d_type);
			if (rc < 0)
				rc = cv_copy_failed(c, rc, l, e->d_name);
			if (rc < 0)
				return rc;
			cv_copy_share(c);
		}
	}
	return len < 0 ? cv_copy_failed(c, -errno, l, NULL) : 0;
}

void cv_copy_level_free(struct cv_copy_level *l)
{
	cv_close(&l->src);
	cv_close(&l->dst);
	cv_buf_done(&l->names);
	free(l->prefix);
	free(l);
}

static void pop(struct cv_copier *c)
{
	struct cv_copy_level *l = c->top;

	c->top = l->up;
	cv_copy_level_free(l);
}

/* A level for two directories, which it takes over; *ret_rc says why there is none. */
static struct cv_copy_level *level_new(const char *name, int src, int dst, int *ret_rc)
{
	struct cv_copy_level *l = calloc(1, sizeof(*l));

	*ret_rc = l ? 0 : -ENOMEM;
	if (!l) {
		cv_close(&src);
		cv_close(&dst);
		return NULL;
	}
	*l = (struct cv_copy_level){.src = src, .dst = dst, .names = CV_BUF(NAMES_MAX)};
	memcpy(l->name, name, strlen(name) + 1);
	if (fstat(src, &l->src_st) < 0 || fstat(dst, &l->dst_st) < 0) {
		*ret_rc = -errno;
		cv_copy_level_free(l);
		return NULL;
	}
	return l;
}

static void push(struct cv_copier *c, struct cv_copy_level *l)
{
	struct cv_copy_level *outer = c->top;

	l->up = c->top;
	c->top = l;
	for (int i = 1; outer && i < CV_COPY_OPEN_LEVELS; i++)
		outer = outer->up;
	if (outer) {
		cv_close(&outer->src);
		cv_close(&outer->dst);
	}
}

static void next_name(struct cv_copy_level *l, char *ret_name)
{
	size_t at = l->names.len - 1;

	while (at > 0 && l->names.data[at - 1] != '\0')
		at--;
	memcpy(ret_name, l->names.data + at, l->names.len - at);
	l->names.len = at;
}

/* Opens a subdirectory of a level and makes its copy; NULL and 0: it has vanished. */
static struct cv_copy_level *open_level(struct cv_copier *c, const struct cv_copy_level *in,
					const char *name, int *ret_rc)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	CV_CLOSE int src = openat(in->src, name, flags);
	CV_CLOSE int dst = -1;

	*ret_rc = src < 0 && errno != ENOENT ? -errno : 0;
	if (src < 0)
		return NULL;
	if (mkdirat(in->dst, name, DIR_MADE) == 0)
		dst = openat(in->dst, name, flags);
	if (dst < 0) {
		*ret_rc = -errno;
		return NULL;
	}
	c->entries++;
	return level_new(name, TAKE_FD(src), TAKE_FD(dst), ret_rc);
}

struct cv_copy_level *cv_copy_next(struct cv_copier *c, struct cv_copy_level *l)
{
	char name[256];

	while (l->names.len > 0) {
		struct cv_copy_level *next;
		int rc;

		if (cv_copy_stopped(c->team))
			return NULL;
		next_name(l, name);
		next = open_level(c, l, name, &rc);
		if (next)
			return next;
		if (rc < 0 && cv_copy_failed(c, rc, l, name) < 0)
			return NULL;
	}
	return NULL;
}

static int open_again(int child, const struct stat *before, int *ret_fd)
{
	struct stat st;

	*ret_fd = openat(child, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0 || fstat(*ret_fd, &st) < 0)
		return -errno;
	return st.st_dev == before->st_dev && st.st_ino == before->st_ino ? 0 : -EBUSY;
}

/* All of the top level is copied: finishes it and goes back to its parent. */
static void ascend(struct cv_copier *c)
{
	struct cv_copy_level *l = c->top;
	struct cv_copy_level *up = l->up;
	bool is_root = !up && !l->prefix;
	int rc = 0;

	if (up && up->src < 0) {
		rc = open_again(l->src, &up->src_st, &up->src);
		if (rc == 0)
			rc = open_again(l->dst, &up->dst_st, &up->dst);
	}
	if (rc == 0 && !is_root)
		rc = cv_copy_attributes(l->dst, &l->src_st, DIR_MADE);
	if (rc < 0)
		cv_copy_failed(c, rc, l, NULL);
	pop(c);
}

void cv_copy_levels(struct cv_copier *c)
{
	/* What was given away was not read yet. */
	if (c->top && c->top->prefix)
		copy_entries(c);
	while (c->top && !cv_copy_stopped(c->team)) {
		struct cv_copy_level *next;

		cv_copy_share(c);
		next = cv_copy_next(c, c->top);
		if (next) {
			push(c, next);
			copy_entries(c);
		} else if (c->top->names.len == 0) {
			ascend(c);
		}
	}
}

int cv_copier_init(struct cv_copier *c, struct cv_copy_team *team)
{
	*c = (struct cv_copier){.team = team};
	c->dents = malloc(CV_COPY_DENTS);
	c->buffer = malloc(CV_COPY_BUFFER);
	return c->dents && c->buffer ? 0 : -ENOMEM;
}

void cv_copier_done(struct cv_copier *c)
{
	while (c->top)
		pop(c);
	free(TAKE(c->dents));
	free(TAKE(c->buffer));
}

/* Whether directory fd is, or is somewhere below, the directory of st. */
static bool lies_inside(int fd, const struct stat *st)
{
	CV_CLOSE int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat now;
	struct stat up;

	while (at >= 0 && fstat(at, &now) == 0) {
		int parent = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		bool is_top = parent < 0 || fstat(parent, &up) < 0 ||
			      (up.st_dev == now.st_dev && up.st_ino == now.st_ino);

		cv_close(&at);
		at = parent;
		if (now.st_dev == st->st_dev && now.st_ino == st->st_ino)
			return true;
		if (is_top)
			break;
	}
	return false;
}

/* A copy under way: its two ends, and who works on it. */
struct job {
	struct cv_copy_team team;
	struct cv_copier first;
};

static void job_done(struct job *j)
{
	cv_copier_done(&j->first);
	cv_copy_team_done(&j->team);
}

/* Takes the two directories over. */
static int job_init(struct job *j, int src, int dst, const atomic_bool *cancel)
{
	struct cv_copy_level *top;
	int rc;

	cv_copy_team_init(&j->team, cancel);
	top = level_new("", src, dst, &rc);
	if (cv_copier_init(&j->first, &j->team) < 0 || !top)
		rc = rc < 0 ? rc : -ENOMEM;
	j->first.top = top;
	return rc;
}

static int fail(const struct cv_copy_team *t, int rc, const char *src, struct cove_error *err)
{
	struct cv_arena *arena __attribute__((cleanup(cv_arena_freep))) = cv_arena_new(0, NULL);
	const char *path = NULL;

	if (rc == -ECANCELED)
		return cv_fail(err, COVE_E_CANCELLED, "cancelled");
	if (arena && t->path[0])
		path = cv_arena_printf(arena, "%s/%s", src, t->path);
	if (path)
		path = cv_files_clean(arena, path, strlen(path));
	path = path ? path : src;
	return cv_fail_errno(err, -rc, path, "cannot copy '%s'", path);
}

/* Copies what the outermost level holds, or only one name of it, and all that is below. */
static int job_run(struct job *j, const char *name)
{
	struct cv_copier *c = &j->first;
	int rc;

	if (!name) {
		copy_entries(c);
	} else {
		rc = cv_copy_stopped(&j->team) ? -ECANCELED : cv_copy_dirent(c, name, DT_UNKNOWN);
		if (rc < 0)
			cv_copy_failed(c, rc, c->top, name);
	}
	return cv_copy_team_run(&j->team, c);
}

/* Copies between two directories, which it takes over. */
static int copy_between(int from, int to, const char *src, const char *dst,
			const atomic_bool *cancel, int64_t *ret_left_out, struct cove_error *err)
{
	struct job j __attribute__((cleanup(job_done)));
	int rc = job_init(&j, from, to, cancel);

	if (rc == 0 && lies_inside(j.first.top->dst, &j.first.top->src_st)) {
		cv_fail(err, COVE_E_INVALID_ARGUMENT,
			"'%s' lies inside '%s', of which it shall be a copy", dst, src);
		cv_err_path(err, dst);
		return COVE_E_INVALID_ARGUMENT;
	}
	if (rc == 0)
		rc = job_run(&j, NULL);
	if (ret_left_out)
		*ret_left_out = j.first.left_out + j.team.second.left_out;
	return rc < 0 ? fail(&j.team, rc, src, err) : 0;
}

int cv_copy_tree(const char *src, const char *dst, const atomic_bool *cancel, int64_t *ret_left_out,
		 struct cove_error *err)
{
	CV_CLOSE int from = open(src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CV_CLOSE int to = -1;

	if (from < 0)
		return cv_fail_errno(err, errno, src, "cannot open '%s'", src);
	to = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return cv_fail_errno(err, errno, dst, "cannot open '%s'", dst);
	return copy_between(TAKE_FD(from), TAKE_FD(to), src, dst, cancel, ret_left_out, err);
}

bool cv_copy_would_nest(int dst_dirfd, const struct stat *src)
{
	return S_ISDIR(src->st_mode) && lies_inside(dst_dirfd, src);
}

int cv_copy_entry(int src_dirfd, const char *name, int dst_dirfd, const atomic_bool *cancel,
		  struct cv_copied *ret)
{
	CV_CLOSE int from = openat(src_dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CV_CLOSE int to = openat(dst_dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct job j __attribute__((cleanup(job_done)));
	int rc = from < 0 || to < 0 ? -errno : 0;
	int made = job_init(&j, TAKE_FD(from), TAKE_FD(to), cancel);

	rc = rc < 0 ? rc : made;
	if (rc == 0)
		rc = job_run(&j, name);
	*ret = (struct cv_copied){.entries = j.first.entries + j.team.second.entries,
				  .bytes = j.first.bytes + j.team.second.bytes,
				  .left_out = j.first.left_out + j.team.second.left_out};
	memcpy(ret->failed, j.team.path, sizeof(ret->failed));
	return rc;
}
