/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file in the making.
 *
 * It begins as an O_TMPFILE, which has no name, so nothing is left of it whatever happens, kill -9
 * included. A link gives it a name: the final one where nothing may be overwritten, for link(2)
 * never does; else one of its own, from which it is renamed over the old file. Where the file
 * system has no O_TMPFILE it has a name of its own from the start, `.cove-` and eight characters.
 */
#include "files/stage.h"

#include "base/fd.h"
#include "base/missing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>

#define CHUNK ((size_t)1 << 20)
#define ATTR_MAX 65536
#define NAME_TRIES 100

static void random_name(char *dst)
{
	memcpy(dst, ".cove-", 6);
	cv_random_name(dst + 6, 8);
}

static int open_named(struct cv_stage *s, mode_t mode)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		random_name(s->name);
		s->fd = openat(s->dirfd, s->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (s->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	s->name[0] = '\0';
	return -errno;
}

int cv_stage_open(struct cv_stage *s, int dirfd, mode_t mode)
{
	*s = CV_STAGE_NONE;
	s->dirfd = dirfd;
	s->name[0] = '\0';
	s->fd = openat(dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (s->fd >= 0)
		return 0;
	/* A kernel or file system without O_TMPFILE says any of these. */
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOSYS)
		return open_named(s, mode);
	return -errno;
}

int cv_stage_write(const struct cv_stage *s, const char *data, size_t len,
		   const atomic_bool *cancel)
{
	for (size_t at = 0; at < len; at += CHUNK) {
		int rc;

		if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		rc = cv_write_full(s->fd, data + at, CV_MIN(len - at, CHUNK));
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Attributes that speak of the old content or of a layer below must not go over to the new file. */
static bool is_bound_to_content(const char *name)
{
	return strcmp(name, "security.capability") == 0 || strcmp(name, "security.ima") == 0 ||
	       strcmp(name, "security.evm") == 0 || strncmp(name, "trusted.overlay.", 16) == 0 ||
	       strncmp(name, "user.overlay.", 13) == 0;
}

/* Most files have none: how much room they take is asked for first. */
static void copy_attributes(int old_fd, int fd)
{
	CV_FREE char *names = NULL;
	CV_FREE char *value = NULL;
	char link[40];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", old_fd);
	if (listxattr(link, NULL, 0) <= 0)
		return;
	names = malloc(ATTR_MAX);
	value = malloc(ATTR_MAX);
	if (!names || !value)
		return;
	len = listxattr(link, names, ATTR_MAX);
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t n;

		if (is_bound_to_content(names + at))
			continue;
		n = getxattr(link, names + at, value, ATTR_MAX);
		if (n >= 0)
			fsetxattr(fd, names + at, value, (size_t)n, 0);
	}
}

/* The owner may be out of reach, and the group not. What came of it is told. */
static int give_owner(int fd, const struct stat *old, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return -errno;
	if (ret->st_uid == old->st_uid && ret->st_gid == old->st_gid)
		return 0;
	if (fchown(fd, old->st_uid, old->st_gid) < 0 && fchown(fd, (uid_t)-1, old->st_gid) < 0)
		return 0;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int cv_stage_keep(const struct cv_stage *s, int old_fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 07777;
	struct stat st;
	int rc = give_owner(s->fd, old, &st);

	if (rc < 0)
		return rc;
	copy_attributes(old_fd, s->fd);
	/* A program that ran as somebody must not come to run as somebody else. */
	if (st.st_uid != old->st_uid)
		mode &= ~(mode_t)S_ISUID;
	if (st.st_gid != old->st_gid)
		mode &= ~(mode_t)S_ISGID;
	return fchmod(s->fd, mode) < 0 ? -errno : 0;
}

int cv_stage_flush(const struct cv_stage *s, bool durable)
{
	int copy;

	if (durable && fsync(s->fd) < 0)
		return -errno;
	/* Closing is when a network file system says that there was no room. */
	copy = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 || close(copy) < 0 ? -errno : 0;
}

static int link_to(const struct cv_stage *s, const char *name)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->fd);
	return linkat(AT_FDCWD, link, s->dirfd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int cv_stage_publish_new(struct cv_stage *s, const char *name)
{
	if (!s->name[0])
		return link_to(s, name);
	if (renameat2(s->dirfd, s->name, s->dirfd, name, RENAME_NOREPLACE) < 0) {
		/* The stage file goes away in the end, as after any failure. */
		if (errno == EINVAL || errno == ENOSYS)
			return linkat(s->dirfd, s->name, s->dirfd, name, 0) < 0 ? -errno : 0;
		return -errno;
	}
	s->name[0] = '\0';
	return 0;
}

static int give_name(struct cv_stage *s)
{
	char name[sizeof(s->name)];
	int rc = -EEXIST;

	for (int i = 0; i < NAME_TRIES && rc == -EEXIST; i++) {
		random_name(name);
		rc = link_to(s, name);
	}
	if (rc == 0)
		memcpy(s->name, name, sizeof(name));
	return rc;
}

int cv_stage_publish_over(struct cv_stage *s, const char *name)
{
	int rc = s->name[0] ? 0 : give_name(s);

	if (rc < 0)
		return rc;
	if (renameat(s->dirfd, s->name, s->dirfd, name) < 0)
		return -errno;
	s->name[0] = '\0';
	return 0;
}

int cv_stage_swap(struct cv_stage *s, const char *name)
{
	char old[sizeof(s->name)];
	int rc = s->name[0] ? 0 : give_name(s);

	if (rc < 0)
		return rc;
	if (renameat2(s->dirfd, s->name, s->dirfd, name, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* Where two names can't change places, the old file gets a second name first. */
	random_name(old);
	if (linkat(s->dirfd, name, s->dirfd, old, 0) < 0)
		return -errno;
	if (renameat(s->dirfd, s->name, s->dirfd, name) < 0) {
		rc = -errno;
		unlinkat(s->dirfd, old, 0);
		return rc;
	}
	memcpy(s->name, old, sizeof(old));
	return 0;
}

int cv_stage_take(struct cv_stage *s, int dirfd, const char *name)
{
	char old[sizeof(s->name)];

	*s = CV_STAGE_NONE;
	s->dirfd = dirfd;
	random_name(old);
	if (renameat2(dirfd, name, dirfd, old, RENAME_NOREPLACE) < 0 &&
	    ((errno != EINVAL && errno != ENOSYS) || renameat(dirfd, name, dirfd, old) < 0))
		return -errno;
	memcpy(s->name, old, sizeof(old));
	return 0;
}

int cv_stage_give_back(struct cv_stage *s, const char *name)
{
	/* By exchange, so that what is there now, and goes away in the end, may be of any kind. */
	if (renameat2(s->dirfd, s->name, s->dirfd, name, RENAME_EXCHANGE) == 0)
		return 0;
	if (renameat(s->dirfd, s->name, s->dirfd, name) < 0)
		return -errno;
	s->name[0] = '\0';
	return 0;
}

void cv_stage_done(struct cv_stage *s)
{
	if (s->name[0])
		unlinkat(s->dirfd, s->name, 0);
	s->name[0] = '\0';
	cv_close(&s->fd);
}
