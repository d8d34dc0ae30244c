/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to get out of a sandbox, one way at a time, and prints what the kernel said.
 *
 * Usage: attempts NAME [ARGUMENT]. Prints the name of the errno, or "done" when it was let through.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long attempt_fn(const char *arg);

static long mount_tmpfs(const char *arg)
{
	return mount("none", arg, "tmpfs", 0, NULL);
}

static long remount(const char *arg)
{
	return mount(NULL, arg, NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long unmount(const char *arg)
{
	return umount2(arg, MNT_DETACH);
}

static long bind_proc(const char *arg)
{
	return mount("/proc/1/root", arg, NULL, MS_BIND, NULL);
}

static long new_mount_api(const char *arg)
{
	(void)arg;
	return fsopen("tmpfs", 0);
}

static long clone_tree(const char *arg)
{
	return open_tree(AT_FDCWD, arg, OPEN_TREE_CLONE);
}

static long loosen(const char *arg)
{
	struct mount_attr a = {.attr_clr = MOUNT_ATTR_RDONLY};

	return mount_setattr(AT_FDCWD, arg, 0, &a, sizeof(a));
}

static long pivot(const char *arg)
{
	return syscall(SYS_pivot_root, arg, arg);
}

static long change_root(const char *arg)
{
	return chroot(arg);
}

static long enter(const char *arg)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : setns(fd, 0);
}

static long leave(const char *arg)
{
	return unshare((int)strtol(arg, NULL, 0));
}

static long clone_into(const char *arg)
{
	long pid = syscall(SYS_clone, strtol(arg, NULL, 0) | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long clone_three(const char *arg)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = {.flags = strtoul(arg, NULL, 0), .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid;
}

static long by_handle(const char *arg)
{
	char buf[sizeof(struct file_handle) + 128];
	struct file_handle *h = (void *)buf;
	int dir = open(arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(buf, 0, sizeof(buf));
	h->handle_bytes = 8;
	h->handle_type = 1;
	h->f_handle[0] = 2; /* the root directory of an ext4 */
	return open_by_handle_at(dir, h, O_RDONLY);
}

static long trace(const char *arg)
{
	return ptrace(PTRACE_SEIZE, atoi(arg), NULL, NULL);
}

static long read_memory(const char *arg)
{
	char byte;
	struct iovec here = {&byte, 1};
	struct iovec there = {(void *)0x400000, 1};

	return process_vm_readv(atoi(arg), &here, 1, &there, 1, 0);
}

static long keyctl(const char *arg)
{
	(void)arg;
	return syscall(SYS_keyctl, 0, -3, 0, 0, 0);
}

static long add_key(const char *arg)
{
	return syscall(SYS_add_key, "user", arg, "x", 1, -3);
}

static long bpf(const char *arg)
{
	char attr[128] = {0};

	(void)arg;
	return syscall(SYS_bpf, 0, attr, sizeof(attr));
}

static long perf(const char *arg)
{
	char attr[128] = {0};

	(void)arg;
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static long userfault(const char *arg)
{
	(void)arg;
	return syscall(SYS_userfaultfd, 1);
}

static long ring(const char *arg)
{
	char params[120] = {0};

	(void)arg;
	return syscall(SYS_io_uring_setup, 4, params);
}

/* With bits set above those that the kernel looks at. */
static long typing(const char *arg)
{
	char c = 'x';

	return syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI | strtoul(arg, NULL, 0) << 32, &c);
}

static long console(const char *arg)
{
	char c = 2;

	return syscall(SYS_ioctl, 0, (unsigned long)TIOCLINUX | strtoul(arg, NULL, 0) << 32, &c);
}

static long family(const char *arg)
{
	return socket(atoi(arg), SOCK_DGRAM, 0);
}

static long raw_socket(const char *arg)
{
	return socket(AF_INET, SOCK_RAW, atoi(arg));
}

/* Takes the loopback down. */
static long change_link(const char *arg)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} req = {.head = {.nlmsg_len = sizeof(req),
			  .nlmsg_type = RTM_NEWLINK,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
		 .link = {.ifi_index = 1, .ifi_change = IFF_UP}};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char more[256];
	} answer;

	(void)arg;
	if (fd < 0 || send(fd, &req, sizeof(req), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		return -1;
	errno = -answer.error.error;
	return answer.error.error ? -1 : 0;
}

static long device(const char *arg)
{
	return mknod(arg, S_IFBLK | 0600, makedev(254, 0));
}

static long read_file(const char *arg)
{
	char byte;
	int fd = open(arg, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -1 : read(fd, &byte, 1);
}

static long write_file(const char *arg)
{
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : write(fd, "x", 1);
}

static long make_file(const char *arg)
{
	return open(arg, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static long list(const char *arg)
{
	return open(arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static long hard_link(const char *arg)
{
	return link(arg, "/workspace/linked");
}

static long connect_to(const char *path, size_t len)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path, path, len);
	return connect(fd, (struct sockaddr *)&a, (socklen_t)(sizeof(sa_family_t) + len));
}

static long abstract_socket(const char *arg)
{
	char name[100] = {0};

	snprintf(name + 1, sizeof(name) - 1, "%s", arg);
	return connect_to(name, strlen(arg) + 1);
}

static long path_socket(const char *arg)
{
	return connect_to(arg, strlen(arg) + 1);
}

static long become_root(const char *arg)
{
	return setuid((uid_t)atoi(arg));
}

static long give_away(const char *arg)
{
	int fd = open("/workspace/mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fchown(fd, (uid_t)atoi(arg), (gid_t)-1);
}

static long signal_to(const char *arg)
{
	return kill(atoi(arg), SIGKILL);
}

static long priority(const char *arg)
{
	return setpriority(PRIO_PROCESS, 0, atoi(arg));
}

static long host_name(const char *arg)
{
	return sethostname(arg, strlen(arg));
}

static long clock_back(const char *arg)
{
	struct timeval t = {.tv_sec = atoi(arg)};

	return settimeofday(&t, NULL);
}

static long simple(const char *arg)
{
	static char zero[256];

	return syscall(strtol(arg, NULL, 0), zero, zero, zero, zero, 0, 0);
}

/* A mode that changes nothing for the host if this should succeed. */
static long change_mode(const char *arg)
{
	struct stat st;

	return stat(arg, &st) < 0 ? -1 : chmod(arg, st.st_mode & 07777);
}

static long watch_everything(const char *arg)
{
	int fd = inotify_init1(IN_CLOEXEC);
	long n = 0;

	(void)arg;
	for (char path[64]; n < 2000000; n++) {
		snprintf(path, sizeof(path), "/tmp/w%ld", n);
		if (mkdir(path, 0700) < 0 || inotify_add_watch(fd, path, IN_ALL_EVENTS) < 0)
			return -1;
	}
	return n;
}

static long fork_bomb(const char *arg)
{
	long pid = 0;

	(void)arg;
	for (int i = 0; i < 100000 && (pid = fork()) > 0; i++)
		;
	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static const struct {
	const char *name;
	attempt_fn *fn;
} attempts[] = {
	{"mount", mount_tmpfs},
	{"remount", remount},
	{"unmount", unmount},
	{"bind", bind_proc},
	{"fsopen", new_mount_api},
	{"open_tree", clone_tree},
	{"mount_setattr", loosen},
	{"pivot_root", pivot},
	{"chroot", change_root},
	{"setns", enter},
	{"unshare", leave},
	{"clone", clone_into},
	{"clone3", clone_three},
	{"handle", by_handle},
	{"ptrace", trace},
	{"readv", read_memory},
	{"keyctl", keyctl},
	{"add_key", add_key},
	{"bpf", bpf},
	{"perf", perf},
	{"userfaultfd", userfault},
	{"io_uring", ring},
	{"tiocsti", typing},
	{"tioclinux", console},
	{"socket", family},
	{"raw", raw_socket},
	{"netlink", change_link},
	{"mknod", device},
	{"read", read_file},
	{"write", write_file},
	{"create", make_file},
	{"list", list},
	{"link", hard_link},
	{"abstract", abstract_socket},
	{"unix", path_socket},
	{"chmod", change_mode},
	{"setuid", become_root},
	{"chown", give_away},
	{"kill", signal_to},
	{"nice", priority},
	{"hostname", host_name},
	{"time", clock_back},
	{"syscall", simple},
	{"inotify", watch_everything},
	{"forkbomb", fork_bomb},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if (strcmp(argv[1], attempts[i].name) == 0) {
			errno = 0;
			if (attempts[i].fn(argc > 2 ? argv[2] : "") >= 0)
				puts("done");
			else
				puts(strerrorname_np(errno));
			return 0;
		}
	fprintf(stderr, "usage: attempts NAME [ARGUMENT]\n");
	return 2;
}
