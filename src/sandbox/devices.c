/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /dev with the few devices that can harm nobody, terminals of its own, and /proc.
 *
 * /proc shows the sandbox's processes only, but some of its files reach the whole machine, and to a
 * host's root they would obey: those are read-only or empty.
 */
#include "sandbox/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* So many processes and threads at once a sandbox may have where no policy says less. */
#define PID_MAX "8192"

#define PROC_ATTRS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};

static const struct {
	const char *target;
	const char *path;
} links[] = {
	{"/proc/self/fd", "dev/fd"},	   {"/proc/self/fd/0", "dev/stdin"},
	{"/proc/self/fd/1", "dev/stdout"}, {"/proc/self/fd/2", "dev/stderr"},
	{"pts/ptmx", "dev/ptmx"},
};

/* Of the machine, not of the sandbox. The first is for everybody; the others only root may open. */
static const char *const hidden[] = {
	"proc/keys",	      "proc/key-users",	  "proc/kcore",	      "proc/timer_list",
	"proc/sched_debug",   "proc/slabinfo",	  "proc/kpagecount",  "proc/kpageflags",
	"proc/latency_stats", "proc/vmallocinfo", "proc/kpagecgroup", "proc/pagetypeinfo",
};

int cv_root_open_devices(int trees[])
{
	int rc = 0;

	for (size_t i = 0; i < CV_LEN(devices); i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/%s", devices[i]);
		trees[i] = cv_mount_copy(AT_FDCWD, path);
		if (trees[i] < 0 && rc == 0)
			rc = trees[i];
	}
	return rc;
}

static int attach_pts(const struct cv_root *r)
{
	CV_CLOSE int fs = fsopen("devpts", FSOPEN_CLOEXEC);
	int tree;

	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0620", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	tree = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	return tree < 0 ? -errno : cv_mount_attach(tree, r->fd, "dev/pts");
}

int cv_root_make_devices(const struct cv_root *r)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < CV_LEN(devices); i++) {
		char path[32];

		snprintf(path, sizeof(path), "dev/%s", devices[i]);
		rc = mknodat(r->fd, path, S_IFREG | 0644, 0) < 0 ? -errno : 0;
	}
	for (size_t i = 0; rc == 0 && i < CV_LEN(links); i++)
		rc = symlinkat(links[i].target, r->fd, links[i].path) < 0 ? -errno : 0;
	return rc;
}

/*
 * What is written to a device passes a read-only mount. Its mode and times, which are the host's and
 * would obey their owner, do not.
 */
int cv_root_attach_devices(const struct cv_root *r, int trees[])
{
	for (size_t i = 0; i < CV_LEN(devices); i++) {
		char path[32];
		int rc = cv_mount_restrict(trees[i], "", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);

		snprintf(path, sizeof(path), "dev/%s", devices[i]);
		if (rc == 0)
			rc = cv_mount_attach(trees[i], r->fd, path);
		if (rc < 0)
			return rc;
	}
	return attach_pts(r);
}

static int make_read_only(const struct cv_root *r, const char *path)
{
	int tree = cv_mount_copy(r->fd, path);
	int rc;

	if (tree < 0)
		return tree;
	rc = cv_mount_restrict(tree, "", PROC_ATTRS | MOUNT_ATTR_RDONLY);
	if (rc < 0) {
		close(tree);
		return rc;
	}
	return cv_mount_attach(tree, r->fd, path);
}

static int hide(const struct cv_root *r, const char *path)
{
	int tree;

	if (faccessat(r->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	tree = cv_mount_copy(r->fd, ".empty");
	return tree < 0 ? tree : cv_mount_attach(tree, r->fd, path);
}

static int put(const struct cv_root *r, const char *path, const char *text)
{
	CV_CLOSE int fd = openat(r->fd, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/*
 * Since Linux 6.14 each PID namespace has a highest number of its own. Before, this file is the
 * host's, and must not be touched.
 */
static bool has_own_pid_max(void)
{
	struct utsname uts;
	char *dot;
	long major;

	if (uname(&uts) < 0)
		return false;
	major = strtol(uts.release, &dot, 10);
	return major > 6 || (major == 6 && *dot == '.' && strtol(dot + 1, NULL, 10) >= 14);
}

/*
 * What the kernel counts per user it counts for the user outside too, who must have some left: the
 * sandbox gets at most half. New user namespaces it gets none, filter or no filter.
 */
static int set_quotas(const struct cv_root *r)
{
	static const struct {
		const char *host;
		const char *own;
	} halved[] = {
		{"proc/sys/fs/inotify/max_user_watches", "proc/sys/user/max_inotify_watches"},
		{"proc/sys/fs/inotify/max_user_instances", "proc/sys/user/max_inotify_instances"},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < CV_LEN(halved); i++) {
		CV_CLOSE int fd = openat(r->fd, halved[i].host, O_RDONLY | O_CLOEXEC);
		char text[32] = "";
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		/* A kernel without it has nothing to use up. */
		if (fd < 0 && errno == ENOENT)
			continue;
		snprintf(text, sizeof(text), "%ld", strtol(text, NULL, 10) / 2);
		rc = n < 0 ? -errno : put(r, halved[i].own, text);
	}
	if (rc == 0)
		rc = put(r, "proc/sys/user/max_user_namespaces", "0");
	if (rc == 0 && has_own_pid_max())
		rc = put(r, "proc/sys/kernel/pid_max", PID_MAX);
	return rc;
}

/*
 * Root owns what is in /proc, and the mode of what is no process's own is the same in every /proc of
 * the machine: all of it becomes read-only then.
 */
static int protect_proc(const struct cv_root *r, bool root)
{
	int rc = root ? cv_mount_restrict(r->fd, "proc", MOUNT_ATTR_RDONLY) :
			make_read_only(r, "proc/sys");

	for (size_t i = 0; rc == 0 && i < (root ? CV_LEN(hidden) : 1); i++)
		rc = hide(r, hidden[i]);
	return rc;
}

int cv_root_proc(const struct cv_root *r)
{
	CV_CLOSE int fs = fsopen("proc", FSOPEN_CLOEXEC);
	int tree;
	int rc;

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	tree = fsmount(fs, FSMOUNT_CLOEXEC, PROC_ATTRS);
	rc = tree < 0 ? -errno : cv_mount_attach(tree, r->fd, "proc");
	if (rc == 0)
		rc = set_quotas(r);
	return rc == 0 ? protect_proc(r, r->plan->host_root) : rc;
}
