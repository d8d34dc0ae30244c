/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into a guest of its own: fails one allocation or system call, the Nth after a test says so.
 *
 * The linker's --wrap sends each call of the guest's rooms here. Only errors that the kernel gives
 * for good arguments are given: too little memory, too few descriptors or processes, a full disk, a
 * signal in between. The counter is shared with the test and inherited by keepers, so theirs count
 * too.
 */
#include "fault/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct faults *faults;

/* Whether this is the call that fails. */
static bool hit(enum fault_mode mode, const char *what)
{
	int saved = errno;

	if (!faults || atomic_load(&faults->mode) != (int)mode ||
	    atomic_fetch_sub(&faults->left, 1) != 1)
		return false;
	strncpy(faults->what, what, sizeof(faults->what) - 1);
	atomic_store(&faults->fired, 1);
	errno = saved;
	return true;
}

static bool fails(const char *what, int errnum)
{
	if (!hit(FAULT_CALL, what))
		return false;
	errno = errnum;
	return true;
}

static bool interrupted(const char *what)
{
	if (!hit(FAULT_INTERRUPTED, what))
		return false;
	errno = EINTR;
	return true;
}

/* Declares what the linker makes of a wrapped name. */
#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size)
{
	return hit(FAULT_ALLOCATION, "malloc") ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t n, size_t size)
{
	return hit(FAULT_ALLOCATION, "calloc") ? NULL : __real_calloc(n, size);
}

WRAP(void *, realloc, void *p, size_t size)
{
	return hit(FAULT_ALLOCATION, "realloc") ? NULL : __real_realloc(p, size);
}

WRAP(void *, reallocarray, void *p, size_t n, size_t size)
{
	return hit(FAULT_ALLOCATION, "reallocarray") ? NULL : __real_reallocarray(p, n, size);
}

WRAP(char *, strdup, const char *s)
{
	return hit(FAULT_ALLOCATION, "strdup") ? NULL : __real_strdup(s);
}

WRAP(char *, strndup, const char *s, size_t n)
{
	return hit(FAULT_ALLOCATION, "strndup") ? NULL : __real_strndup(s, n);
}

/* Opening may need a mode; reading one that was not given is harmless here. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails("open", EMFILE) ? -1 : __real_open64(path, flags, mode);
}

int __real_openat64(int dirfd, const char *path, int flags, ...);
int __wrap_openat64(int dirfd, const char *path, int flags, ...);
int __wrap_openat64(int dirfd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails("openat", EMFILE) ? -1 : __real_openat64(dirfd, path, flags, mode);
}

/* Only what makes a descriptor or changes a pipe can fail. */
int __real_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (cmd == F_DUPFD_CLOEXEC && fails("fcntl dup", EMFILE))
		return -1;
	if (cmd == F_SETPIPE_SZ && fails("fcntl pipe size", EPERM))
		return -1;
	return __real_fcntl64(fd, cmd, arg);
}

WRAP(int, dup2, int from, int to)
{
	return fails("dup2", EBUSY) ? -1 : __real_dup2(from, to);
}

WRAP(int, pipe2, int *fds, int flags)
{
	return fails("pipe2", EMFILE) ? -1 : __real_pipe2(fds, flags);
}

WRAP(int, socketpair, int domain, int type, int protocol, int *fds)
{
	return fails("socketpair", EMFILE) ? -1 : __real_socketpair(domain, type, protocol, fds);
}

WRAP(int, memfd_create, const char *name, unsigned int flags)
{
	return fails("memfd_create", EMFILE) ? -1 : __real_memfd_create(name, flags);
}

WRAP(int, eventfd, unsigned int value, int flags)
{
	return fails("eventfd", EMFILE) ? -1 : __real_eventfd(value, flags);
}

WRAP(int, signalfd, int fd, const sigset_t *set, int flags)
{
	return fails("signalfd", EMFILE) ? -1 : __real_signalfd(fd, set, flags);
}

WRAP(int, timerfd_create, int clock, int flags)
{
	return fails("timerfd_create", EMFILE) ? -1 : __real_timerfd_create(clock, flags);
}

WRAP(int, posix_openpt, int flags)
{
	return fails("posix_openpt", ENOSPC) ? -1 : __real_posix_openpt(flags);
}

WRAP(int, epoll_ctl, int fd, int op, int which, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && fails("epoll_ctl", ENOSPC))
		return -1;
	return __real_epoll_ctl(fd, op, which, event);
}

WRAP(int, epoll_wait, int fd, struct epoll_event *events, int max, int timeout)
{
	return interrupted("epoll_wait") ? -1 : __real_epoll_wait(fd, events, max, timeout);
}

WRAP(int, poll, struct pollfd *fds, nfds_t n, int timeout)
{
	return interrupted("poll") || fails("poll", ENOMEM) ? -1 : __real_poll(fds, n, timeout);
}

/* Of pipes and descriptors like them the kernel always reads and writes what it can. */
static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	if (interrupted("read") || (is_file(fd) && fails("read", EIO)))
		return -1;
	return __real_read(fd, buf, size);
}

WRAP(ssize_t, write, int fd, const void *buf, size_t size)
{
	if (interrupted("write") || (is_file(fd) && fails("write", ENOSPC)))
		return -1;
	return __real_write(fd, buf, size);
}

WRAP(ssize_t, writev, int fd, const struct iovec *iov, int n)
{
	return interrupted("writev") || fails("writev", ENOBUFS) ? -1 : __real_writev(fd, iov, n);
}

WRAP(ssize_t, pread64, int fd, void *buf, size_t size, off_t at)
{
	return interrupted("pread") || fails("pread", EIO) ? -1 : __real_pread64(fd, buf, size, at);
}

WRAP(ssize_t, pwrite64, int fd, const void *buf, size_t size, off_t at)
{
	return interrupted("pwrite") || fails("pwrite", ENOSPC) ?
		       -1 :
		       __real_pwrite64(fd, buf, size, at);
}

WRAP(ssize_t, send, int fd, const void *buf, size_t size, int flags)
{
	return interrupted("send") || fails("send", ENOBUFS) ? -1 :
							       __real_send(fd, buf, size, flags);
}

WRAP(ssize_t, sendmsg, int fd, const struct msghdr *m, int flags)
{
	return interrupted("sendmsg") || fails("sendmsg", ENOBUFS) ? -1 :
								     __real_sendmsg(fd, m, flags);
}

WRAP(ssize_t, recvmsg, int fd, struct msghdr *m, int flags)
{
	return interrupted("recvmsg") || fails("recvmsg", ENOMEM) ? -1 :
								    __real_recvmsg(fd, m, flags);
}

WRAP(pid_t, waitpid, pid_t pid, int *status, int flags)
{
	return interrupted("waitpid") ? -1 : __real_waitpid(pid, status, flags);
}

WRAP(pid_t, wait4, pid_t pid, int *status, int flags, struct rusage *usage)
{
	return interrupted("wait4") ? -1 : __real_wait4(pid, status, flags, usage);
}

WRAP(int, waitid, idtype_t type, id_t id, siginfo_t *info, int flags)
{
	return interrupted("waitid") ? -1 : __real_waitid(type, id, info, flags);
}

WRAP(void *, mmap64, void *at, size_t size, int prot, int flags, int fd, off_t from)
{
	return fails("mmap", ENOMEM) ? MAP_FAILED : __real_mmap64(at, size, prot, flags, fd, from);
}

WRAP(int, ftruncate64, int fd, off_t size)
{
	return fails("ftruncate", ENOSPC) ? -1 : __real_ftruncate64(fd, size);
}

WRAP(int, fstatat64, int dirfd, const char *path, struct stat *st, int flags)
{
	return fails("fstatat", ENOMEM) ? -1 : __real_fstatat64(dirfd, path, st, flags);
}

WRAP(int, faccessat, int dirfd, const char *path, int mode, int flags)
{
	return fails("faccessat", ENOMEM) ? -1 : __real_faccessat(dirfd, path, mode, flags);
}

WRAP(int, access, const char *path, int mode)
{
	return fails("access", ENOMEM) ? -1 : __real_access(path, mode);
}

WRAP(ssize_t, readlink, const char *path, char *buf, size_t size)
{
	return fails("readlink", ENOMEM) ? -1 : __real_readlink(path, buf, size);
}

WRAP(int, fchdir, int fd)
{
	return fails("fchdir", EACCES) ? -1 : __real_fchdir(fd);
}

WRAP(int, execve, const char *path, char *const *argv, char *const *envp)
{
	return fails("execve", ENOMEM) ? -1 : __real_execve(path, argv, envp);
}

/* The frame of a caller of vfork must stay as it is: decide, then jump. */
int fault_vfork(void);
int fault_vfork(void)
{
	return fails("vfork", EAGAIN);
}

#ifdef __x86_64__
__asm__(".text\n"
	".globl __wrap_vfork\n"
	"__wrap_vfork:\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	call fault_vfork\n"
	"	addq $8, %rsp\n"
	"	testl %eax, %eax\n"
	"	je __real_vfork@PLT\n"
	"	movl $-1, %eax\n"
	"	ret\n");
#else
pid_t __wrap_vfork(void);
pid_t __wrap_vfork(void)
{
	return fault_vfork() ? -1 : fork();
}
#endif

static bool system_call_fails(long number)
{
	switch (number) {
	case SYS_clone:
		return fails("clone", EAGAIN);
	case SYS_openat2:
		return fails("openat2", EMFILE);
	case SYS_pidfd_open:
		return fails("pidfd_open", EMFILE);
	case SYS_getdents64:
		return fails("getdents64", ENOMEM);
	default:
		return false;
	}
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (system_call_fails(number))
		return -1;
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((constructor)) static void map_faults(void)
{
	const char *path = getenv(FAULTS_VARIABLE);
	int fd = path ? __real_open64(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED :
			     __real_mmap64(NULL, sizeof(*faults), PROT_READ | PROT_WRITE,
					   MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		_exit(126);
	faults = map;
}
