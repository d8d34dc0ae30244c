/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's part: one clone into new namespaces, and the guest in them.
 *
 * The child shares the caller's memory until it executes the guest (CLONE_VM | CLONE_VFORK), so it
 * costs nothing however large the host is, and a threaded host is no obstacle. It makes system
 * calls only and leaves what went wrong in its argument. Capabilities pass an exec of a user that
 * is not 0 as ambient ones only; the guest gives them up once it has built its root.
 */
#include "sandbox/sandbox.h"

#include "base/missing.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STACK_BYTES (64u << 10)

struct child {
	const struct cv_sandbox_clone *how;
	char uid_map[64];
	char gid_map[64];
	int step;
	int errnum;
};

/*
 * Mounts, loopback, and giving all of it up again. An overlay acts by the rights of who mounted it:
 * its work directory has mode 0, and files keep their owner and bits when they are copied up.
 */
static const int needed[] = {CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_SETPCAP, CAP_DAC_OVERRIDE,
			     CAP_FOWNER,    CAP_CHOWN,	   CAP_FSETID,	CAP_SYS_RESOURCE};

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

static int keep_caps(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	for (size_t i = 0; i < CV_LEN(needed); i++)
		data[needed[i] / 32].inheritable |= 1u << needed[i] % 32;
	if (syscall(SYS_capset, &head, data) < 0)
		return -1;
	for (size_t i = 0; i < CV_LEN(needed); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, needed[i], 0, 0) < 0)
			return -1;
	return 0;
}

static int place_fds(const struct cv_sandbox_clone *how)
{
	return dup2(how->sock, STDIN_FILENO) < 0 || dup2(how->sock, STDOUT_FILENO) < 0 ||
			       dup2(how->err_fd, STDERR_FILENO) < 0 ?
		       -1 :
		       0;
}

static int join_cgroups(const int *fds)
{
	for (; fds && *fds >= 0; fds++)
		if (write(*fds, "0\n", 2) < 0)
			return -1;
	return 0;
}

/*
 * Handlers end with the exec; what is ignored stays so. A host that ignores the end of its children
 * must not make the guest miss that of its own; keepers see to all others. By the kernel's own call:
 * this memory is the host's.
 */
static void reset_signals(void)
{
	static const unsigned long dfl[4];
	sigset_t none;

	syscall(SYS_rt_sigaction, SIGCHLD, dfl, NULL, 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int failed(struct child *c, int step)
{
	c->errnum = errno;
	c->step = step;
	_exit(127);
}

static int child_main(void *arg)
{
	static char *const argv[] = {(char *)"cove-guest", (char *)"--sandbox", NULL};
	struct child *c = arg;

	if (join_cgroups(c->how->cgroups) < 0)
		failed(c, CV_STEP_CGROUP);
	if (put("/proc/self/setgroups", "deny") < 0)
		failed(c, CV_STEP_SETGROUPS);
	if (put("/proc/self/uid_map", c->uid_map) < 0)
		failed(c, CV_STEP_UID_MAP);
	if (put("/proc/self/gid_map", c->gid_map) < 0)
		failed(c, CV_STEP_GID_MAP);
	setsid();
	if (place_fds(c->how) < 0)
		failed(c, CV_STEP_FDS);
	if (keep_caps() < 0)
		failed(c, CV_STEP_CAPS);
	reset_signals();
	cv_execveat(c->how->guest_fd, "", argv, c->how->envp, AT_EMPTY_PATH);
	return failed(c, CV_STEP_EXEC);
}

int cv_sandbox_clone(const struct cv_sandbox_clone *how, pid_t *ret_pid, int *ret_step)
{
	int flags = CLONE_VM | CLONE_VFORK | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
		    CLONE_NEWIPC | CLONE_NEWUTS | (how->host_network ? 0 : CLONE_NEWNET) | SIGCHLD;
	struct child c = {.how = how};
	sigset_t all;
	sigset_t before;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	*ret_step = CV_STEP_CLONE;
	if (stack == MAP_FAILED)
		return -errno;
	snprintf(c.uid_map, sizeof(c.uid_map), "%u %u 1", (unsigned)how->uid, (unsigned)geteuid());
	snprintf(c.gid_map, sizeof(c.gid_map), "%u %u 1", (unsigned)how->uid, (unsigned)getegid());
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone(child_main, stack + STACK_BYTES, flags, &c);
	c.errnum = pid < 0 ? errno : c.errnum;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(stack, STACK_BYTES);
	if (pid < 0)
		return -c.errnum;
	if (c.step) {
		*ret_step = c.step;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return -c.errnum;
	}
	*ret_pid = pid;
	return 0;
}
