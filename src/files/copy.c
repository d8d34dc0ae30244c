/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a tree, without recursion and with a bounded number of descriptors.
 *
 * Each level holds a directory of the source and its copy. Reading it copies everything but
 * subdirectories on the spot and remembers those; a level's mode and times are set when it is left,
 * for a directory without the w bit could not be filled, and filling changes the times. Deeper than
 * OPEN_LEVELS the outermost descriptors are closed; the way back up opens ".." again and goes on
 * only if it is the directory that it came from. No link is ever followed below the two roots.
 *
 * Ranges of data are copied by the kernel (which may share blocks instead), holes are skipped.
 */
#include "files/copy.h"

#include "files/common.h"

#include "base/buf.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>

#define OPEN_LEVELS 28
#define NAMES_MAX ((size_t)256 << 20)
#define BUFFER_SIZE ((size_t)256 << 10)
#define DENTS_SIZE ((size_t)32 << 10)
/* Copied between two looks at the cancel flag. */
#define CHUNK ((size_t)8 << 20)

struct level {
	struct level *up;
	int src; /* both -1 while too deep below */
	int dst;
	struct stat src_st;
	struct stat dst_st;
	struct cv_buf names; /* NUL-terminated names of subdirectories still to copy, back to back */
	char name[256];	     /* its own, in its parent */
};

struct copier {
	struct level *top;
	const atomic_bool *cancel;
	int64_t left_out;
	int64_t entries;
	int64_t bytes;
	bool by_hand; /* the kernel can't copy between these file systems */
	cv_path failed;
	char *dents;
	char *buffer;
};

/*
 * Notes where it went wrong, as a path below the source: at a name in the top level, or (NULL) that
 * itself.
 */
static int failed_at(struct copier *c, int rc, const char *name)
{
	const struct level *l = c->top;
	size_t at = sizeof(c->failed) - 1;
	size_t len;

	if (c->failed[0] || rc == -ECANCELED || (!name && !l->up))
		return rc;
	if (!name) {
		name = l->name;
		l = l->up;
	}
	len = strlen(name);
	c->failed[at] = '\0';
	for (; l && len + 1 <= at; l = l->up) {
		at -= len;
		memcpy(c->failed + at, name, len);
		if (!l->up)
			break;
		c->failed[--at] = '/';
		name = l->name;
		len = strlen(name);
	}
	memmove(c->failed, c->failed + at, sizeof(c->failed) - at);
	return rc;
}

/* Copies until len bytes or the end; gives how many, or -errno. */
static off_t copy_by_hand(struct copier *c, int in, int out, off_t at, off_t len)
{
	off_t done = 0;

	while (done < len) {
		size_t want = (size_t)CV_MIN(len - done, (off_t)BUFFER_SIZE);
		ssize_t n = pread(in, c->buffer, want, at + done);
		ssize_t put = 0;

		if (cv_flag_set(c->cancel))
			return -ECANCELED;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : done;
		while (put < n) {
			ssize_t m =
				pwrite(out, c->buffer + put, (size_t)(n - put), at + done + put);

			if (m < 0 && errno != EINTR)
				return -errno;
			put += m < 0 ? 0 : m;
		}
		done += n;
	}
	return done;
}

static bool is_refusal(int errnum)
{
	return errnum == EXDEV || errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ENOSYS;
}

/*
 * The same by the kernel as far as it will; 0 bytes may mean that it can't read this kind of file.
 */
static off_t copy_range(struct copier *c, int in, int out, off_t at, off_t len)
{
	off_t done = 0;
	off_t rest;

	while (done < len && !c->by_hand) {
		loff_t from = at + done;
		loff_t to = from;
		size_t want = (size_t)CV_MIN(len - done, (off_t)CHUNK);
		ssize_t n = copy_file_range(in, &from, out, &to, want, 0);

		if (cv_flag_set(c->cancel))
			return -ECANCELED;
		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !is_refusal(errno))
			return -errno;
		c->by_hand = n < 0;
		done += n < 0 ? 0 : n;
	}
	if (done == len)
		return done;
	rest = copy_by_hand(c, in, out, at + done, len - done);
	return rest < 0 ? rest : done + rest;
}

/* Moves *at to the next data and sets *ret_end to where it ends, both at most size. */
static void next_data(int in, off_t size, off_t *at, off_t *ret_end)
{
	off_t data = lseek(in, *at, SEEK_DATA);
	off_t hole = data < 0 ? -1 : lseek(in, data, SEEK_HOLE);

	if (data < 0 && errno == ENXIO)
		*at = size;
	else if (data >= 0)
		*at = CV_MIN(data, size);
	*ret_end = hole < 0 ? size : CV_MIN(hole, size);
}

static int copy_content(struct copier *c, int in, int out, const struct stat *st)
{
	bool has_holes = (off_t)st->st_blocks * 512 < st->st_size;
	off_t at = 0;

	if (st->st_size == 0) {
		off_t n = copy_by_hand(c, in, out, 0, INT64_MAX); /* as below /proc */

		return n < 0 ? (int)n : 0;
	}
	while (at < st->st_size) {
		off_t end = st->st_size;
		off_t n;

		if (has_holes)
			next_data(in, st->st_size, &at, &end);
		n = copy_range(c, in, out, at, end - at);
		if (n < 0)
			return (int)n;
		if (n < end - at)
			return 0; /* it has become shorter meanwhile */
		at = end;
	}
	return has_holes && ftruncate(out, st->st_size) < 0 ? -errno : 0;
}

/*
 * Mode and time of the original. The copy is ours, and never runs as us what ran as somebody else.
 */
static int copy_attributes(int fd, const struct stat *st)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
	mode_t mode = st->st_mode & 07777;
	struct stat own;

	if (S_ISREG(st->st_mode) && (mode & (S_ISUID | S_ISGID))) {
		if (fstat(fd, &own) < 0)
			return -errno;
		if (own.st_uid != st->st_uid)
			mode &= ~(mode_t)S_ISUID;
		if (own.st_gid != st->st_gid)
			mode &= ~(mode_t)S_ISGID;
	}
	return fchmod(fd, mode) < 0 || futimens(fd, times) < 0 ? -errno : 0;
}

/* What has vanished from the source need not be copied. */
static int source_failed(void)
{
	return errno == ENOENT ? 0 : -errno;
}

static int copy_file(struct copier *c, const char *name)
{
	CV_CLOSE int in = -1;
	CV_CLOSE int out = -1;
	struct stat st;
	int rc;

	in = openat(c->top->src, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		return source_failed();
	if (!S_ISREG(st.st_mode))
		return -EBUSY; /* it has become something else */
	out = openat(c->top->dst, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	c->entries++;
	c->bytes += st.st_size;
	rc = copy_content(c, in, out, &st);
	return rc < 0 ? rc : copy_attributes(out, &st);
}

static int copy_times(struct copier *c, const char *name, const struct stat *st)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};

	return utimensat(c->top->dst, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_link(struct copier *c, const char *name, const struct stat *st)
{
	cv_path target;
	ssize_t n = readlinkat(c->top->src, name, target, sizeof(target));

	if (n < 0)
		return source_failed();
	if ((size_t)n >= sizeof(target))
		return -ENAMETOOLONG;
	target[n] = '\0';
	if (symlinkat(target, c->top->dst, name) < 0)
		return -errno;
	c->entries++;
	return copy_times(c, name, st);
}

static int copy_fifo(struct copier *c, const char *name, const struct stat *st)
{
	if (mkfifoat(c->top->dst, name, 0600) < 0 ||
	    fchmodat(c->top->dst, name, st->st_mode & 0777, 0) < 0)
		return -errno;
	c->entries++;
	return copy_times(c, name, st);
}

static int copy_entry(struct copier *c, const char *name, unsigned char type)
{
	struct stat st;

	if (type == DT_REG)
		return copy_file(c, name);
	if (type == DT_DIR)
		return cv_buf_add(&c->top->names, name, strlen(name) + 1);
	if (fstatat(c->top->src, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return source_failed();
	if (type == DT_UNKNOWN && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return copy_entry(c, name, S_ISREG(st.st_mode) ? DT_REG : DT_DIR);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, name, &st);
	if (S_ISFIFO(st.st_mode))
		return copy_fifo(c, name, &st);
	c->left_out++;
	return 0;
}

/* Copies what the top level holds, but remembers its subdirectories. */
static int copy_entries(struct copier *c)
{
	ssize_t len;

	while ((len = getdents64(c->top->src, c->dents, DENTS_SIZE)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(c->dents + at);
			int rc;

			at += e->d_reclen;
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			if (cv_flag_set(c->cancel))
				return -ECANCELED;
			rc = copy_entry(c, e->d_name, e->d_type);
			if (rc < 0)
				return failed_at(c, rc, e->d_name);
		}
	}
	return len < 0 ? -errno : 0;
}

static void pop(struct copier *c)
{
	struct level *l = c->top;

	c->top = l->up;
	cv_close(&l->src);
	cv_close(&l->dst);
	cv_buf_done(&l->names);
	free(l);
}

/* Puts a level on top for two directories, which it takes over. */
static int push(struct copier *c, const char *name, int src, int dst)
{
	struct level *l = calloc(1, sizeof(*l));
	struct level *outer = c->top;

	if (!l) {
		cv_close(&src);
		cv_close(&dst);
		return -ENOMEM;
	}
	*l = (struct level){.up = c->top, .src = src, .dst = dst, .names = CV_BUF(NAMES_MAX)};
	memcpy(l->name, name, strlen(name) + 1);
	c->top = l;
	for (int i = 1; outer && i < OPEN_LEVELS; i++)
		outer = outer->up;
	if (outer) {
		cv_close(&outer->src);
		cv_close(&outer->dst);
	}
	return fstat(src, &l->src_st) < 0 || fstat(dst, &l->dst_st) < 0 ? -errno : 0;
}

static int descend(struct copier *c, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	CV_CLOSE int src = openat(c->top->src, name, flags);
	CV_CLOSE int dst = -1;
	int rc;

	if (src < 0)
		return errno == ENOENT ? 0 : failed_at(c, -errno, name);
	if (mkdirat(c->top->dst, name, 0700) < 0)
		return failed_at(c, -errno, name);
	c->entries++;
	dst = openat(c->top->dst, name, flags);
	if (dst < 0)
		return failed_at(c, -errno, name);
	rc = push(c, name, TAKE_FD(src), TAKE_FD(dst));
	if (rc == 0)
		rc = copy_entries(c);
	return rc < 0 ? failed_at(c, rc, NULL) : 0;
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
static int ascend(struct copier *c)
{
	struct level *l = c->top;
	struct level *up = l->up;
	int rc = 0;

	if (up && up->src < 0) {
		rc = open_again(l->src, &up->src_st, &up->src);
		if (rc == 0)
			rc = open_again(l->dst, &up->dst_st, &up->dst);
	}
	if (rc == 0 && up)
		rc = copy_attributes(l->dst, &l->src_st);
	if (rc < 0)
		return failed_at(c, rc, NULL);
	pop(c);
	return 0;
}

static void next_name(struct level *l, char *ret_name)
{
	size_t at = l->names.len - 1;

	while (at > 0 && l->names.data[at - 1] != '\0')
		at--;
	memcpy(ret_name, l->names.data + at, l->names.len - at);
	l->names.len = at;
}

/* Copies the subdirectories that the levels remember. */
static int copy_levels(struct copier *c)
{
	char name[256];
	int rc = 0;

	while (rc == 0 && c->top) {
		if (cv_flag_set(c->cancel))
			return -ECANCELED;
		if (c->top->names.len == 0) {
			rc = ascend(c);
			continue;
		}
		next_name(c->top, name);
		rc = descend(c, name);
	}
	return rc;
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

static void copier_done(struct copier *c)
{
	while (c->top)
		pop(c);
	free(c->dents);
	free(c->buffer);
}

static int fail(const struct copier *c, int rc, const char *src, struct cove_error *err)
{
	struct cv_arena *arena __attribute__((cleanup(cv_arena_freep))) = cv_arena_new(0, NULL);
	const char *path = NULL;

	if (rc == -ECANCELED)
		return cv_fail(err, COVE_E_CANCELLED, "cancelled");
	if (arena && c->failed[0])
		path = cv_arena_printf(arena, "%s/%s", src, c->failed);
	if (path)
		path = cv_files_clean(arena, path, strlen(path));
	path = path ? path : src;
	return cv_fail_errno(err, -rc, path, "cannot copy '%s'", path);
}

static int copier_init(struct copier *c)
{
	c->dents = malloc(DENTS_SIZE);
	c->buffer = malloc(BUFFER_SIZE);
	return c->dents && c->buffer ? 0 : -ENOMEM;
}

int cv_copy_tree(const char *src, const char *dst, const atomic_bool *cancel, int64_t *ret_left_out,
		 struct cove_error *err)
{
	struct copier c __attribute__((cleanup(copier_done))) = {.cancel = cancel};
	CV_CLOSE int from = open(src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CV_CLOSE int to = -1;
	int rc;

	if (from < 0)
		return cv_fail_errno(err, errno, src, "cannot open '%s'", src);
	to = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return cv_fail_errno(err, errno, dst, "cannot open '%s'", dst);
	rc = push(&c, "", TAKE_FD(from), TAKE_FD(to));
	if (rc == 0 && lies_inside(c.top->dst, &c.top->src_st)) {
		cv_fail(err, COVE_E_INVALID_ARGUMENT,
			"'%s' lies inside '%s', of which it shall be a copy", dst, src);
		cv_err_path(err, dst);
		return COVE_E_INVALID_ARGUMENT;
	}
	if (rc == 0)
		rc = copier_init(&c);
	if (rc == 0)
		rc = copy_entries(&c);
	if (rc == 0)
		rc = copy_levels(&c);
	if (ret_left_out)
		*ret_left_out = c.left_out;
	return rc < 0 ? fail(&c, rc, src, err) : 0;
}

bool cv_copy_would_nest(int dst_dirfd, const struct stat *src)
{
	return S_ISDIR(src->st_mode) && lies_inside(dst_dirfd, src);
}

int cv_copy_entry(int src_dirfd, const char *name, int dst_dirfd, const atomic_bool *cancel,
		  struct cv_copied *ret)
{
	struct copier c __attribute__((cleanup(copier_done))) = {.cancel = cancel};
	CV_CLOSE int from = openat(src_dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CV_CLOSE int to = openat(dst_dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (from < 0 || to < 0)
		return -errno;
	rc = push(&c, "", TAKE_FD(from), TAKE_FD(to));
	if (rc == 0)
		rc = copier_init(&c);
	if (rc == 0)
		rc = copy_entry(&c, name, DT_UNKNOWN);
	if (rc < 0 && c.top)
		failed_at(&c, rc, name);
	if (rc == 0)
		rc = copy_levels(&c);
	*ret = (struct cv_copied){.entries = c.entries, .bytes = c.bytes, .left_out = c.left_out};
	memcpy(ret->failed, c.failed, sizeof(c.failed));
	return rc;
}
