/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /workspace: a directory of the host, an overlay of a seed, or an empty directory.
 *
 * An overlay costs the same whatever the seed holds, and never changes it. What is written goes to
 * the scratch, or to a directory of the host where it may be kept. Layers are named by descriptor
 * (/proc/self/fd/N), so no character of a path means anything. Where the kernel refuses an overlay
 * the seed is copied instead.
 */
#include "sandbox/internal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static int open_layer(const char *path, const char *field, const char *what, int *ret,
		      struct cove_error *err)
{
	int rc;

	if (!path)
		return 0;
	*ret = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret >= 0)
		return 0;
	rc = cv_fail_errno(err, errno, path, "can't use the %s '%s'", what, path);
	if (err)
		snprintf(err->field, sizeof(err->field), "%s", field);
	return rc;
}

/* The scratch's own directory for what an overlay writes. */
static int scratch_layer(const struct cv_root *r, const char *name, int *ret)
{
	if (mkdirat(r->scratch, name, 0755) < 0)
		return -errno;
	*ret = openat(r->scratch, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret < 0 ? -errno : 0;
}

int cv_root_open_workspace(struct cv_root *r, struct cv_root_workspace *w, struct cove_error *err)
{
	const struct cv_sandbox_plan *plan = r->plan;
	int rc = open_layer(plan->lower, "seed", "seed", &w->lower, err);

	if (rc == 0)
		rc = open_layer(plan->upper, "root", "directory", &w->upper, err);
	if (rc == 0)
		rc = open_layer(plan->work, "root", "directory", &w->work, err);
	if (rc < 0 || !plan->workspace)
		return rc;
	w->tree = cv_mount_copy(AT_FDCWD, plan->workspace);
	if (w->tree >= 0)
		return 0;
	rc = cv_fail_errno(err, -w->tree, plan->workspace, "can't use the directory '%s'",
			   plan->workspace);
	if (err)
		snprintf(err->field, sizeof(err->field), "bind");
	return rc;
}

static int set_layer(int fs, const char *key, int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fsconfig(fs, FSCONFIG_SET_STRING, key, path, 0) < 0 ? -errno : 0;
}

/*
 * Whether the file system can say that something is gone (a whiteout), or that a directory hides
 * what is below it (an attribute). Some mount an overlay without that and fail when it is used.
 */
static int try_marks(const struct cv_root_workspace *w)
{
	char upper[40];

	snprintf(upper, sizeof(upper), "/proc/self/fd/%d", w->upper);
	if (mknodat(w->work, ".probe", S_IFCHR, 0) < 0 || unlinkat(w->work, ".probe", 0) < 0 ||
	    setxattr(upper, "user.overlay.probe", "y", 1, 0) < 0 ||
	    removexattr(upper, "user.overlay.probe") < 0)
		return -errno;
	return 0;
}

static int mount_overlay(const struct cv_root_workspace *w)
{
	CV_CLOSE int fs = fsopen("overlay", FSOPEN_CLOEXEC);
	int rc = fs < 0 ? -errno : set_layer(fs, "lowerdir", w->lower);
	int tree;

	if (rc == 0)
		rc = set_layer(fs, "upperdir", w->upper);
	if (rc == 0)
		rc = set_layer(fs, "workdir", w->work);
	if (rc == 0 && fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
		rc = -errno;
	if (rc == 0 && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		rc = -errno;
	if (rc < 0)
		return rc;
	tree = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return tree < 0 ? -errno : tree;
}

static int layers(const struct cv_root *r, struct cv_root_workspace *w)
{
	int rc = 0;

	if (w->upper < 0)
		rc = scratch_layer(r, "upper", &w->upper);
	if (rc == 0 && w->work < 0)
		rc = scratch_layer(r, "work", &w->work);
	return rc;
}

/* A directory of the scratch, or the host's where there is one to keep. */
static int plain_tree(const struct cv_root *r, struct cv_root_workspace *w)
{
	if (w->upper >= 0)
		return cv_mount_copy(w->upper, "");
	if (mkdirat(r->scratch, "workspace", 0755) < 0)
		return -errno;
	return cv_mount_copy(r->scratch, "workspace");
}

static int attach(struct cv_root *r, struct cv_root_workspace *w)
{
	int tree = w->tree;
	int rc = 0;

	w->tree = -1;
	if (tree < 0 && w->lower >= 0 && !r->plan->copy_seed) {
		rc = layers(r, w);
		if (rc == 0)
			rc = try_marks(w);
		tree = rc < 0 ? rc : mount_overlay(w);
		r->overlay = tree >= 0;
	}
	if (tree < 0)
		tree = plain_tree(r, w);
	if (tree < 0)
		return tree;
	rc = cv_mount_restrict(tree, "", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (rc < 0) {
		close(tree);
		return rc;
	}
	return cv_mount_attach(tree, r->fd, CV_SANDBOX_WORKSPACE + 1);
}

int cv_root_attach_workspace(struct cv_root *r, struct cv_root_workspace *w, struct cove_error *err)
{
	int rc = attach(r, w);

	if (rc == 0 && r->overlay)
		r->upper = TAKE_FD(w->upper);
	cv_close(&w->upper);
	cv_close(&w->work);
	if (rc == 0 && w->lower >= 0)
		r->base = fcntl(w->lower, F_DUPFD_CLOEXEC, 3);
	if (rc < 0) {
		cv_close(&w->lower);
		cv_sandbox_refused(CV_STEP_MOUNT, -rc, err);
		return COVE_E_ISOLATION_FAILED;
	}
	/* What could not be laid over is copied, once the way there is open. */
	r->seed = r->plan->lower && !r->overlay ? TAKE_FD(w->lower) : -1;
	cv_close(&w->lower);
	return 0;
}
