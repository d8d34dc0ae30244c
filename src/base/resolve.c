/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The confined resolver.
 *
 * cv_resolve() lets the kernel walk and proves the result. The walk by hand below serves two ends:
 * it finds the parent of a name that may not exist, and, after a failure, it tells a path that is
 * merely missing from one that leads outside, which is refused whether it exists or not. Each of
 * its steps opens one component without following links, so a directory that is swapped for a link
 * meanwhile can't lead it astray: a link is read, and its target is walked like any other path.
 */
#include "base/resolve.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>

#define MAX_LINKS 40

struct walk {
	const struct cv_space *sp;
	int fd;				/* the directory reached */
	int links;			/* followed so far */
	bool follow;			/* through a final link */
	char rest[2 * CV_PATH_MAX + 2]; /* components still to go */
	char name[256];			/* the component at hand */
};

bool cv_space_inside(const struct cv_space *sp, const char *real)
{
	if (!sp->roots || !sp->roots[0])
		return true;
	for (char **root = sp->roots; *root; root++)
		if (cv_path_below(real, *root))
			return true;
	return false;
}

static int outside(const char *path, struct cove_error *err)
{
	cv_fail(err, COVE_E_PERMISSION_DENIED, "'%s' leads outside the allowed roots", path);
	cv_err_hint(err, "use a path below the environment's roots (see env.describe)");
	cv_err_path(err, path);
	return COVE_E_PERMISSION_DENIED;
}

static int prove(const struct cv_space *sp, int fd, const char *path, cv_path real,
		 struct cove_error *err)
{
	int rc = cv_fd_path(fd, real, sizeof(cv_path));

	if (rc < 0)
		return cv_fail_errno(err, -rc, path, "cannot tell where '%s' is", path);
	return cv_space_inside(sp, real) ? 0 : outside(path, err);
}

static void walk_done(struct walk *w)
{
	cv_close(&w->fd);
}

static int walk_init(struct walk *w, const struct cv_space *sp, const char *abs, bool follow)
{
	w->sp = sp;
	w->links = 0;
	w->follow = follow;
	w->name[0] = '\0';
	memcpy(w->rest, abs, strlen(abs) + 1);
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

/* Takes the next component into w->name; false at the end. */
static bool next_component(struct walk *w, bool *ret_last)
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(p, "/");

	if (len == 0)
		return false;
	if (len < sizeof(w->name)) {
		memcpy(w->name, p, len);
		w->name[len] = '\0';
	} else {
		w->name[0] = '\0';
	}
	p += len;
	*ret_last = p[strspn(p, "/")] == '\0';
	memmove(w->rest, p, strlen(p) + 1);
	return true;
}

/* Puts a link's target in front of the rest. */
static int follow_link(struct walk *w, int link_fd)
{
	char target[CV_PATH_MAX + 1];
	ssize_t n = readlinkat(link_fd, "", target, sizeof(target));
	size_t rest_len = strlen(w->rest);

	if (n < 0)
		return -errno;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if ((size_t)n >= sizeof(target) || (size_t)n + 1 + rest_len >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n + 1, w->rest, rest_len + 1);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	if (rest_len == 0)
		w->rest[n] = '\0';
	if (target[0] == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return -errno;
		cv_close(&w->fd);
		w->fd = root;
	}
	return 0;
}

/* Goes one component down (or to a link's target). */
static int enter(struct walk *w)
{
	CV_CLOSE int fd = -1;
	struct stat st;

	if (w->name[0] == '\0')
		return -ENAMETOOLONG;
	fd = openat(w->fd, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return follow_link(w, fd);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	cv_close(&w->fd);
	w->fd = TAKE_FD(fd);
	return 0;
}

/*
 * Where the component at hand is a link: goes to its target. 1, or 0 where it is none, or -errno.
 */
static int follow_last(struct walk *w)
{
	CV_CLOSE int fd = openat(w->fd, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	rc = follow_link(w, fd);
	return rc < 0 ? rc : 1;
}

static int make_and_enter(struct walk *w)
{
	cv_path real;

	if (cv_fd_path(w->fd, real, sizeof(real)) < 0 || !cv_space_inside(w->sp, real))
		return -EACCES;
	if (mkdirat(w->fd, w->name, 0777) < 0 && errno != EEXIST)
		return -errno;
	return enter(w);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Walks to the parent of the last component, whose name is left in w->name. */
static int walk_to_parent(struct walk *w, bool make_parents)
{
	bool last = false;

	for (;;) {
		int rc;

		if (!next_component(w, &last)) {
			memcpy(w->name, ".", 2);
			return 0;
		}
		if (last && w->name[0] && !is_dots(w->name)) {
			rc = w->follow ? follow_last(w) : 0;
			if (rc <= 0)
				return rc;
			continue;
		}
		rc = enter(w);
		if (rc == -ENOENT && make_parents && !last)
			rc = make_and_enter(w);
		if (rc < 0)
			return rc;
	}
}

/* After errnum: does the path lead outside? Walks as far as it can and looks where that is. */
static bool leads_outside(const struct cv_space *sp, const char *abs, bool follow)
{
	struct walk w __attribute__((cleanup(walk_done)));
	cv_path real;
	bool last;

	w.fd = -1;
	if (!sp->roots || !sp->roots[0] || walk_init(&w, sp, abs, follow) < 0)
		return false;
	while (next_component(&w, &last)) {
		if (last && !follow && !is_dots(w.name))
			break;
		if (enter(&w) < 0)
			break;
	}
	return cv_fd_path(w.fd, real, sizeof(real)) < 0 || !cv_space_inside(sp, real);
}

static int failed(const struct cv_space *sp, const char *abs, const char *path, bool follow,
		  int errnum, struct cove_error *err)
{
	if (leads_outside(sp, abs, follow))
		return outside(path, err);
	return cv_fail_errno(err, errnum, path, "cannot reach '%s'", path);
}

int cv_resolve(const struct cv_space *sp, const char *path, bool follow, struct cv_found *ret,
	       struct cove_error *err)
{
	cv_path abs;
	int rc = cv_path_expand(path, sp->cwd, sp->home, "path", abs, err);

	ret->fd = -1;
	if (rc < 0)
		return rc;
	ret->fd = open(abs, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	if (ret->fd < 0)
		return failed(sp, abs, path, follow, errno, err);
	rc = prove(sp, ret->fd, path, ret->real, err);
	if (rc == 0 && fstat(ret->fd, &ret->st) < 0)
		rc = cv_fail_errno(err, errno, path, "cannot look at '%s'", path);
	if (rc == 0 && ret->st.st_nlink == 0)
		rc = cv_fail_errno(err, ENOENT, path, "cannot reach '%s'", path);
	if (rc < 0)
		cv_found_done(ret);
	return rc;
}

/*
 * The common case, a name that is no link in a directory that is there, by the kernel's own walk.
 * 1: so it is; 0: look closer.
 */
static int find_place(const char *abs, bool follow, struct cv_place *ret)
{
	const char *name = strrchr(abs, '/') + 1;
	size_t len = (size_t)(name - abs);
	char link[1];
	cv_path dir;

	if (name[0] == '\0' || strlen(name) >= sizeof(ret->name) || is_dots(name))
		return 0;
	memcpy(dir, abs, len);
	dir[len] = '\0';
	ret->dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->dirfd < 0)
		return 0;
	if (follow && (readlinkat(ret->dirfd, name, link, sizeof(link)) >= 0 ||
		       (errno != EINVAL && errno != ENOENT))) {
		cv_close(&ret->dirfd);
		return 0;
	}
	memcpy(ret->name, name, strlen(name) + 1);
	return 1;
}

int cv_resolve_place(const struct cv_space *sp, const char *path, bool follow, bool make_parents,
		     struct cv_place *ret, struct cove_error *err)
{
	struct walk w __attribute__((cleanup(walk_done)));
	cv_path abs;
	int rc = cv_path_expand(path, sp->cwd, sp->home, "path", abs, err);

	ret->dirfd = -1;
	w.fd = -1;
	if (rc < 0)
		return rc;
	if (find_place(abs, follow, ret)) {
		rc = prove(sp, ret->dirfd, path, ret->dir, err);
		if (rc < 0)
			cv_close(&ret->dirfd);
		return rc;
	}
	rc = walk_init(&w, sp, abs, follow);
	if (rc == 0)
		rc = walk_to_parent(&w, make_parents);
	if (rc < 0)
		return failed(sp, abs, path, follow, -rc, err);
	rc = prove(sp, w.fd, path, ret->dir, err);
	if (rc < 0)
		return rc;
	memcpy(ret->name, w.name, sizeof(w.name));
	ret->dirfd = TAKE_FD(w.fd);
	return 0;
}
