/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the new root on a tmpfs of its own.
 *
 * First what may only be read, made read-only in one go; then what may be written. Sources that the
 * caller named are opened before the new root covers anything of the host.
 */
#include "base/fd.h"
#include "sandbox/internal.h"

#include <cove/sandbox.h>

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define OWN_BYTES (8 << 20) /* of the new root itself: directories and a few small files */

/* Where the new root hangs until it is entered; any directory does, since it is covered only here. */
static const char *const bases[] = {"/tmp", "/run", "/mnt", "/var"};

static const char *const system_dirs[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

/* Of an image these are ours. */
static const char *const own_dirs[] = {"proc", "dev", "sys", "tmp", "workspace", "run", ".", ".."};

static int refused(const char *what, int errnum, struct cove_error *err)
{
	int rc = cv_sandbox_refused(CV_STEP_MOUNT, errnum, err);
	size_t len = err ? strlen(err->message) : 0;

	if (err)
		snprintf(err->message + len, sizeof(err->message) - len, " (%s)", what);
	return rc;
}

/* Directories may be made on it. */
static int own(struct cv_root *r, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (r->own_count == CV_LEN(r->own))
		return -EMFILE;
	r->own[r->own_count++] = st.st_dev;
	return 0;
}

/* Hangs the new root over a directory of this namespace, which nobody else sees. */
static int make_root(struct cv_root *r)
{
	int tree = cv_mount_tmpfs(OWN_BYTES, "0755");
	int rc = -ENOENT;

	if (tree < 0)
		return tree;
	for (size_t i = 0; i < CV_LEN(bases); i++) {
		rc = move_mount(tree, "", AT_FDCWD, bases[i], MOVE_MOUNT_F_EMPTY_PATH) < 0 ?
			     -errno :
			     0;
		if (rc == 0)
			break;
	}
	if (rc < 0) {
		close(tree);
		return rc;
	}
	r->fd = tree;
	return own(r, tree);
}

/* A directory becomes a bind of itself, a link the same link. */
static int take_over(struct cv_root *r, int dirfd, const char *source, const char *name)
{
	cv_path link;
	ssize_t n = readlinkat(dirfd, source, link, sizeof(link) - 1);
	struct stat st;
	int tree;
	int rc;

	if (n >= 0) {
		link[n] = '\0';
		return symlinkat(link, r->fd, name) < 0 ? -errno : 0;
	}
	if (errno == ENOENT || fstatat(dirfd, source, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return errno == ENOENT || errno == EINVAL ? 0 : -errno;
	tree = cv_mount_copy(dirfd, source);
	if (tree < 0)
		return tree;
	rc = cv_root_mkdir(r, name);
	if (rc < 0) {
		close(tree);
		return rc;
	}
	return cv_mount_attach(tree, r->fd, name);
}

static int take_host(struct cv_root *r)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < CV_LEN(system_dirs); i++) {
		char source[16];

		snprintf(source, sizeof(source), "/%s", system_dirs[i]);
		rc = take_over(r, AT_FDCWD, source, system_dirs[i]);
	}
	return rc < 0 ? rc : cv_root_etc(r);
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < CV_LEN(own_dirs); i++)
		if (strcmp(name, own_dirs[i]) == 0)
			return true;
	return false;
}

static int take_image(struct cv_root *r, int image)
{
	DIR *dir = fdopendir(openat(image, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *e;
	int rc = 0;

	if (!dir)
		return -errno;
	while (rc == 0 && (e = readdir(dir)))
		if (!is_own(e->d_name))
			rc = take_over(r, image, e->d_name, e->d_name);
	closedir(dir);
	return rc;
}

/* Places that the caller may hide: an empty directory or file is put over them. */
static int mask(struct cv_root *r, const char *path)
{
	struct stat st;
	int tree;

	while (*path == '/')
		path++;
	if (fstatat(r->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	tree = S_ISDIR(st.st_mode) ? cv_mount_tmpfs(0, "0555") : cv_mount_copy(r->fd, ".empty");
	return tree < 0 ? tree : cv_mount_attach(tree, r->fd, path);
}

static int put_mount(struct cv_root *r, const struct cove_sandbox_mount *m, int tree)
{
	const char *target = m->target + strspn(m->target, "/");
	struct stat st;
	int rc = 0;

	if (tree < 0) {
		tree = cv_mount_tmpfs(m->tmpfs_bytes, "0755");
		if (tree < 0)
			return tree;
		rc = own(r, tree);
	}
	if (rc == 0)
		rc = fstat(tree, &st) < 0 ? -errno : 0;
	if (rc == 0)
		rc = S_ISDIR(st.st_mode) ? cv_root_mkdir(r, target) : cv_root_touch(r, target);
	if (rc == 0)
		rc = cv_mount_restrict(tree, "",
				       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					       (m->rw || !m->source ? 0 : MOUNT_ATTR_RDONLY));
	if (rc < 0) {
		close(tree);
		return rc;
	}
	return cv_mount_attach(tree, r->fd, target);
}

static int bad_mount(const struct cove_sandbox_mount *m, size_t i, int errnum,
		     struct cove_error *err)
{
	const char *path = m->source ? m->source : m->target;
	int rc = cv_fail_errno(err, errnum, path, "can't mount '%s' at '%s'", path, m->target);

	if (err)
		snprintf(err->field, sizeof(err->field), "policy.mounts[%zu]", i);
	return rc;
}

/* Everything that the caller names, before it can be covered. */
static int open_sources(const struct cv_sandbox_plan *plan, int trees[], struct cove_error *err)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct cove_sandbox_mount *m = &plan->mounts[i];

		trees[i] = m->source ? cv_mount_copy(AT_FDCWD, m->source) : -1;
		if (m->source && trees[i] < 0)
			return bad_mount(m, i, -trees[i], err);
	}
	return 0;
}

static int attach_sources(struct cv_root *r, int trees[], struct cove_error *err)
{
	for (size_t i = 0; i < r->plan->mount_count; i++) {
		int rc = put_mount(r, &r->plan->mounts[i], trees[i]);

		trees[i] = -1;
		if (rc < 0)
			return bad_mount(&r->plan->mounts[i], i, -rc, err);
	}
	for (const char *const *m = r->plan->masked; m && *m; m++) {
		int rc = mask(r, *m);

		if (rc < 0)
			return cv_fail_errno(err, -rc, *m, "can't mask '%s'", *m);
	}
	return 0;
}

/* What must stay writable: directories of the scratch, each mounted where it belongs. */
static int attach_scratch(struct cv_root *r)
{
	static const struct {
		const char *name;
		const char *target;
		mode_t mode;
	} dirs[] = {
		{"tmp", "tmp", 01777},	   {"home", "home/agent", 0755},
		{"shm", "dev/shm", 01777}, {"var-tmp", "var/tmp", 01777},
		{"run", "run", 0755},
	};

	for (size_t i = 0; i < CV_LEN(dirs); i++) {
		int tree;
		int rc;

		if (mkdirat(r->scratch, dirs[i].name, 0700) < 0 ||
		    fchmodat(r->scratch, dirs[i].name, dirs[i].mode, 0) < 0)
			return -errno;
		tree = cv_mount_copy(r->scratch, dirs[i].name);
		rc = tree < 0 ? tree : cv_mount_attach(tree, r->fd, dirs[i].target);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The mount points of what comes later; afterwards the root can't be written any more. */
static int make_skeleton(const struct cv_root *r)
{
	static const char *const dirs[] = {"proc", "dev",	 "dev/shm",  "dev/pts",
					   "tmp",  "var",	 "var/tmp",  "run",
					   "home", "home/agent", "workspace"};
	int rc = cv_root_write(r->fd, ".empty", "");

	for (size_t i = 0; rc == 0 && i < CV_LEN(dirs); i++)
		rc = mkdirat(r->fd, dirs[i], 0755) < 0 ? -errno : 0;
	return rc == 0 ? cv_root_make_devices(r) : rc;
}

static int make_points(const struct cv_root *r, const int trees[], struct cove_error *err)
{
	for (size_t i = 0; i < r->plan->mount_count; i++) {
		const struct cove_sandbox_mount *m = &r->plan->mounts[i];
		const char *target = m->target + strspn(m->target, "/");
		struct stat st = {.st_mode = S_IFDIR};
		int rc = 0;

		if (trees[i] >= 0 && fstat(trees[i], &st) < 0)
			rc = -errno;
		if (rc == 0)
			rc = S_ISDIR(st.st_mode) ? cv_root_mkdir(r, target) :
						   cv_root_touch(r, target);
		/* One inside of another is made when that one is there. */
		if (rc < 0 && rc != -ENOENT)
			return bad_mount(m, i, -rc, err);
	}
	return 0;
}

static int fill(struct cv_root *r, int image, int trees[], int devices[], struct cove_error *err)
{
	int rc = make_skeleton(r);

	if (rc == 0)
		rc = image >= 0 ? take_image(r, image) : take_host(r);
	if (rc < 0)
		return refused("system directories", -rc, err);
	rc = make_points(r, trees, err);
	if (rc < 0)
		return rc;
	rc = cv_mount_restrict(r->fd, "", READ_ONLY);
	if (rc == 0)
		rc = cv_root_attach_devices(r, devices);
	if (rc < 0)
		return refused("devices", -rc, err);
	rc = cv_root_proc(r);
	if (rc < 0)
		return cv_sandbox_refused(CV_STEP_PROC, -rc, err);
	rc = attach_scratch(r);
	return rc < 0 ? refused("scratch", -rc, err) : attach_sources(r, trees, err);
}

static int open_image(const char *path, int *ret, struct cove_error *err)
{
	*ret = -1;
	if (!path)
		return 0;
	*ret = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret < 0 ? cv_fail_errno(err, errno, path, "can't use the root '%s'", path) : 0;
}

static int begin(struct cv_root *r, struct cove_error *err)
{
	int rc = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? -errno : 0;

	if (rc == 0) {
		r->scratch = cv_mount_tmpfs(r->plan->scratch_bytes, "0755");
		rc = r->scratch < 0 ? r->scratch : own(r, r->scratch);
	}
	return rc < 0 ? refused("tmpfs", -rc, err) : 0;
}

int cv_root_build(const struct cv_sandbox_plan *plan, struct cv_root *r, struct cove_error *err)
{
	CV_FREE int *trees = calloc(plan->mount_count + 1, sizeof(*trees));
	struct cv_root_workspace w = {-1, -1, -1, -1};
	CV_CLOSE int image = -1;
	int devices[8];
	int rc;

	*r = (struct cv_root){
		.plan = plan, .fd = -1, .scratch = -1, .seed = -1, .base = -1, .upper = -1};
	if (!trees)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	rc = begin(r, err);
	if (rc == 0)
		rc = open_sources(plan, trees, err);
	if (rc == 0)
		rc = open_image(plan->rootfs, &image, err);
	if (rc == 0)
		rc = cv_root_open_workspace(r, &w, err);
	if (rc < 0)
		return rc;
	rc = cv_root_open_devices(devices);
	if (rc == 0)
		rc = make_root(r);
	if (rc < 0)
		return refused("a new root", -rc, err);
	rc = fill(r, image, trees, devices, err);
	return rc < 0 ? rc : cv_root_attach_workspace(r, &w, err);
}
