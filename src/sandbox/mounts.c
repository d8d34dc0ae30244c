/* SPDX-License-Identifier: Apache-2.0 */
/* The few mount calls that everything is built from. */
#include "base/fd.h"
#include "base/missing.h"
#include "sandbox/internal.h"

#include <stdio.h>
#include <sys/stat.h>

int cv_mount_copy(int dirfd, const char *path)
{
	int fd = open_tree(dirfd, path,
			   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
				   AT_SYMLINK_NOFOLLOW | (path[0] ? 0 : AT_EMPTY_PATH));

	return fd < 0 ? -errno : fd;
}

int cv_mount_restrict(int fd, const char *path, uint64_t attrs)
{
	struct mount_attr a = {.attr_set = attrs};

	return mount_setattr(fd, path, AT_RECURSIVE | (path[0] ? 0 : AT_EMPTY_PATH), &a,
			     sizeof(a)) < 0 ?
		       -errno :
		       0;
}

int cv_mount_attach(int tree, int root, const char *target)
{
	int rc = move_mount(tree, "", root, target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;

	close(tree);
	return rc;
}

int cv_mount_tmpfs(int64_t size_bytes, const char *mode)
{
	CV_CLOSE int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	char size[32];
	int fd;

	snprintf(size, sizeof(size), "%lld", (long long)size_bytes);
	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "mode", mode, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? -errno : fd;
}

/* The directory that a path's last name is in. */
static int open_parent(int root, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	cv_path parent;
	int fd;

	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return fcntl(root, F_DUPFD_CLOEXEC, 3);
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	fd = cv_openat2(root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return fd < 0 ? -errno : fd;
}

static bool is_own(const struct cv_root *r, dev_t dev)
{
	for (size_t i = 0; i < r->own_count; i++)
		if (r->own[i] == dev)
			return true;
	return false;
}

static int make_one(const struct cv_root *r, const char *path, mode_t type)
{
	const char *name;
	CV_CLOSE int dir = open_parent(r->fd, path, &name);
	struct stat st;
	bool own;

	if (dir < 0)
		return dir;
	if (fstat(dir, &st) < 0)
		return -errno;
	own = is_own(r, st.st_dev);
	if (own && type == S_IFDIR && mkdirat(dir, name, 0755) == 0)
		return 0;
	if (own && type == S_IFREG && mknodat(dir, name, S_IFREG | 0644, 0) == 0)
		return 0;
	if (own && errno != EEXIST)
		return -errno;
	/* What is there already must be what was asked for; elsewhere nothing is made. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return (type == S_IFDIR) == S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode) ? 0 : -ENOTDIR;
}

int cv_root_mkdir(const struct cv_root *r, const char *path)
{
	cv_path partial;
	int rc = 0;

	for (const char *p = path; rc == 0 && *p;) {
		p += strcspn(p, "/");
		snprintf(partial, sizeof(partial), "%.*s", (int)(p - path), path);
		rc = make_one(r, partial, S_IFDIR);
		p += *p == '/';
	}
	return rc;
}

int cv_root_touch(const struct cv_root *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	cv_path parent;
	int rc = 0;

	if (slash) {
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
		rc = cv_root_mkdir(r, parent);
	}
	return rc < 0 ? rc : make_one(r, path, S_IFREG);
}

int cv_root_write(int root, const char *path, const char *text)
{
	CV_CLOSE int fd =
		openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : cv_write_full(fd, text, strlen(text)) < 0 ? -errno : 0;
}
