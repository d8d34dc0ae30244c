/* SPDX-License-Identifier: Apache-2.0 */
/* Copies one entry of a directory: a file, a link, a FIFO. */
#include "files/copy_internal.h"

#include <dirent.h>
#include <fcntl.h>

/*
 * Mode and time of the original. The copy is ours, and never runs as us what ran as somebody else.
 */
int cv_copy_attributes(int fd, const struct stat *st, mode_t granted)
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
	if (mode != granted && fchmod(fd, mode) < 0)
		return -errno;
	return futimens(fd, times) < 0 ? -errno : 0;
}

/* After a failure nothing is copied any more. */
static bool looks_only(const struct cv_copier *c)
{
	return atomic_load_explicit(&c->team->failed, memory_order_relaxed);
}

/* What has vanished from the source need not be copied. */
static int source_failed(void)
{
	return errno == ENOENT ? 0 : -errno;
}

/*
 * Which of the mode bits that it asked for a new file has got: the umask and default access control
 * lists take some, the same of every file of a directory.
 */
static mode_t granted_bits(struct cv_copy_level *l, int fd, mode_t wanted)
{
	struct stat st;

	if ((wanted & ~l->granted) == 0)
		return wanted;
	if (fstat(fd, &st) < 0)
		return 0;
	l->granted |= st.st_mode & wanted;
	return st.st_mode & 07777;
}

static int copy_file(struct cv_copier *c, const char *name)
{
	struct cv_copy_level *l = c->top;
	CV_CLOSE int in = -1;
	CV_CLOSE int out = -1;
	struct stat st;
	mode_t granted;
	int rc;

	in = openat(l->src, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		return source_failed();
	if (!S_ISREG(st.st_mode))
		return -EBUSY; /* it has become something else */
	if (looks_only(c))
		return 0;
	out = openat(l->dst, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0)
		return -errno;
	c->entries++;
	c->bytes += st.st_size;
	granted = granted_bits(l, out, st.st_mode & 0777);
	rc = cv_copy_content(c, in, out, &st);
	return rc < 0 ? rc : cv_copy_attributes(out, &st, granted);
}

static int copy_times(struct cv_copier *c, const char *name, const struct stat *st)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};

	return utimensat(c->top->dst, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_link(struct cv_copier *c, const char *name, const struct stat *st)
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

static int copy_fifo(struct cv_copier *c, const char *name, const struct stat *st)
{
	if (mkfifoat(c->top->dst, name, 0600) < 0 ||
	    fchmodat(c->top->dst, name, st->st_mode & 0777, 0) < 0)
		return -errno;
	c->entries++;
	return copy_times(c, name, st);
}

int cv_copy_dirent(struct cv_copier *c, const char *name, unsigned char type)
{
	struct stat st;

	if (type == DT_REG)
		return copy_file(c, name);
	if (type == DT_DIR)
		return cv_buf_add(&c->top->names, name, strlen(name) + 1);
	if (fstatat(c->top->src, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return source_failed();
	if (type == DT_UNKNOWN && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return cv_copy_dirent(c, name, S_ISREG(st.st_mode) ? DT_REG : DT_DIR);
	if (looks_only(c))
		return 0;
	if (S_ISLNK(st.st_mode))
		return copy_link(c, name, &st);
	if (S_ISFIFO(st.st_mode))
		return copy_fifo(c, name, &st);
	c->left_out++;
	return 0;
}
