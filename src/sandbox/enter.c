/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into the new root, and out of every privilege.
 *
 * After this the guest is an ordinary user's process without capabilities, without a way to get any
 * (bounding set, no_new_privs), and closed to tracing.
 */
#include "base/missing.h"
#include "sandbox/internal.h"

#include <linux/capability.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* The old root ends up mounted over the new one, and is let go from there. */
static int change_root(struct cv_root *r)
{
	if (r->plan->read_only) {
		int rc = cv_mount_restrict(r->fd, CV_SANDBOX_WORKSPACE + 1, MOUNT_ATTR_RDONLY);

		if (rc < 0)
			return rc;
	}
	if (fchdir(r->fd) < 0 || cv_pivot_root(".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
	    chdir("/") < 0)
		return -errno;
	cv_close(&r->fd);
	cv_close(&r->scratch);
	cv_close(&r->seed);
	return 0;
}

static int raise_loopback(void)
{
	CV_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0 ? -errno : 0;
}

static int set_limit(int resource, int64_t value)
{
	struct rlimit limit = {(rlim_t)value, (rlim_t)value};

	return setrlimit((__rlimit_resource_t)resource, &limit) < 0 ? -errno : 0;
}

/* Limits that hold for everything in here, however it came to be. */
static int set_limits(const struct cv_sandbox_plan *plan)
{
	int rc = set_limit(RLIMIT_CORE, 0);

	if (rc == 0 && plan->processes)
		rc = set_limit(RLIMIT_NPROC, plan->processes);
	return rc;
}

int cv_sandbox_give_up(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	/* Until there is no such capability; whoever was forked without any has none left to drop. */
	for (int cap = 0, has = 0; has >= 0; cap++) {
		has = prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0 ?
			      0 :
			      prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
		if (has > 0)
			return -EPERM;
	}
	if (syscall(SYS_capset, &head, none) < 0)
		return -errno;
	/* Commands run as the same user: they must not look into this process. */
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

int cv_root_enter(struct cv_root *r, struct cove_error *err)
{
	const char *host = r->plan->hostname ? r->plan->hostname : "cove";
	int rc = change_root(r);

	if (rc < 0)
		return cv_sandbox_refused(CV_STEP_MOUNT, -rc, err);
	rc = r->plan->host_network ? 0 : raise_loopback();
	if (rc == 0)
		rc = sethostname(host, strlen(host)) < 0 ? -errno : 0;
	if (rc < 0)
		return cv_sandbox_refused(CV_STEP_NETWORK, -rc, err);
	rc = set_limits(r->plan);
	if (rc == 0)
		rc = r->plan->keeping ? 0 : cv_sandbox_give_up();
	return rc < 0 ? cv_sandbox_refused(CV_STEP_DROP, -rc, err) : 0;
}
