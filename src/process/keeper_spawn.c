/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the leader of a command: vfork, a clean state, exec.
 *
 * Between vfork and exec the child runs in the keeper's memory, while the keeper stands still. It
 * makes system calls only, and leaves what went wrong in `failure`, where the keeper finds it.
 */
#include "process/keeper_internal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* A command as the kernel takes it. */
struct image {
	const char *path;
	char **argv;
	char **envp;
	const struct cv_keeper_run *run;
	const int *fds;
	pid_t keeper;
	void *map; /* of a memfd payload */
	size_t map_len;
};

static volatile struct {
	int stage;
	int errnum;
} failure;

ssize_t cv_send_fds(int sock, const void *msg, size_t len, const int *fds, int nfds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * CV_KEEPER_FDS)];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)msg, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (nfds > 0) {
		struct cmsghdr *c = &control.align;

		m.msg_control = control.buf;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)nfds);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)nfds);
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t cv_recv_fds(int sock, void *msg, size_t size, int *fds, int *ret_nfds, int max)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * CV_KEEPER_FDS)];
	} control;
	struct iovec iov = {.iov_base = msg, .iov_len = size};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.buf,
			   .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)max)};
	/* Whoever was told that there is something may find that another took it. */
	ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*ret_nfds = 0;
	if (n <= 0)
		return n;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*ret_nfds = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)*ret_nfds * sizeof(int));
	}
	return n;
}

/* Points argv and envp into the strings; vec has room for all of them. False: they don't add up. */
static bool point(struct image *img, char *strings, char **vec)
{
	const struct cv_keeper_run *run = img->run;
	char *end = strings + run->len;
	char *p = strings;
	char **out = vec;

	if (run->len == 0 || end[-1] != '\0')
		return false;
	img->path = p;
	p += strlen(p) + 1;
	img->argv = out;
	for (uint32_t i = 0; i < run->argc + run->envc; i++) {
		if (i == run->argc) {
			*out++ = NULL;
			img->envp = out;
		}
		if (p >= end)
			return false;
		*out++ = p;
		p += strlen(p) + 1;
	}
	if (run->envc == 0) {
		*out++ = NULL;
		img->envp = out;
	}
	*out = NULL;
	return true;
}

static size_t vec_len(const struct cv_keeper_run *run)
{
	return ((size_t)run->argc + run->envc + 2) * sizeof(char *);
}

/*
 * The strings of a large command are in a memfd; its private mapping has room for the pointers too.
 * Gives an errno, 0 when it is good.
 */
static int map_image(struct image *img, int fd)
{
	size_t strings = ((size_t)img->run->len + 15) & ~(size_t)15;
	struct stat st;

	if (fstat(fd, &st) < 0 || (size_t)st.st_size < strings + vec_len(img->run))
		return EINVAL;
	img->map_len = (size_t)st.st_size;
	img->map = mmap(NULL, img->map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (img->map == MAP_FAILED) {
		img->map = NULL;
		return errno;
	}
	return point(img, img->map, (char **)((char *)img->map + strings)) ? 0 : EINVAL;
}

static int inline_image(struct image *img, char *bytes, size_t len)
{
	static char *vec[CV_KEEPER_INLINE / 8];

	if (len < sizeof(*img->run) + img->run->len || vec_len(img->run) > sizeof(vec))
		return EINVAL;
	return point(img, bytes + sizeof(*img->run), vec) ? 0 : EINVAL;
}

static void CV_NORETURN give_up(int stage)
{
	failure.stage = stage;
	failure.errnum = errno;
	_exit(127);
}

static void place_fds(const struct image *img)
{
	for (int i = 0; i < 3; i++)
		if (dup2(img->fds[i], i) < 0)
			give_up(CV_SPAWN_SETUP);
	if (img->run->script && dup2(img->fds[4], CV_SCRIPT_FD) < 0)
		give_up(CV_SPAWN_SETUP);
}

/* Inherited by all that it starts, and not to be raised. A lower one of the environment's stays. */
static int limit_file_size(int64_t bytes)
{
	struct rlimit limit;

	if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0)
		return -1;
	limit.rlim_max = CV_MIN(limit.rlim_max, (rlim_t)bytes);
	limit.rlim_cur = limit.rlim_max;
	return (int)syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, NULL);
}

/* In the child: no return, no allocation, no lock. */
static void CV_NORETURN become_leader(const struct image *img)
{
	sigset_t none;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != img->keeper)
		_exit(127);
	if (fchdir(img->fds[3]) < 0)
		give_up(CV_SPAWN_CWD);
	place_fds(img);
	if (img->run->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
		give_up(CV_SPAWN_SETUP);
	syscall(SYS_umask, img->run->umask);
	if (img->run->file_size_bytes && limit_file_size(img->run->file_size_bytes) < 0)
		give_up(CV_SPAWN_SETUP);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(img->path, img->argv, img->envp);
	give_up(CV_SPAWN_EXEC);
}

static int fail(struct cv_keeper_failed *failed, int stage, int errnum)
{
	failed->stage = stage;
	failed->errnum = errnum;
	return -1;
}

/*
 * All received descriptors are above the ones that the leader gets, or a dup2 could close one still
 * needed.
 */
static bool lift_fds(int *fds, int nfds)
{
	for (int i = 0; i < nfds; i++) {
		int fd;

		if (fds[i] > CV_SCRIPT_FD)
			continue;
		fd = fcntl(fds[i], F_DUPFD_CLOEXEC, CV_SCRIPT_FD + 1);
		if (fd < 0)
			return false;
		close(fds[i]);
		fds[i] = fd;
	}
	return true;
}

int cv_keeper_spawn(struct cv_keeper *k, const struct cv_keeper_run *run, size_t len, int *fds,
		    int nfds, struct cv_keeper_failed *failed)
{
	struct image img = {.run = run, .fds = fds, .keeper = getpid()};
	pid_t pid;
	int errnum;

	if (len < sizeof(*run) || nfds < 4 + (int)run->script + (int)run->in_memfd)
		return fail(failed, CV_SPAWN_SETUP, EINVAL);
	if (!lift_fds(fds, nfds))
		return fail(failed, CV_SPAWN_SETUP, errno);
	errnum = run->in_memfd ? map_image(&img, fds[nfds - 1]) :
				 inline_image(&img, (char *)run, len);
	if (errnum)
		return fail(failed, CV_SPAWN_SETUP, errnum);
	failure.stage = 0;
	/* vfork is the point: fork would copy page tables. The child calls the kernel only. */
	pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	if (pid == 0)
		become_leader(&img); /* NOLINT(clang-analyzer-unix.Vfork) */
	if (img.map)
		munmap(img.map, img.map_len);
	if (pid < 0)
		return fail(failed, CV_SPAWN_FORK, errno);
	if (failure.stage) {
		waitpid(pid, NULL, 0);
		return fail(failed, failure.stage, failure.errnum);
	}
	k->leader = pid;
	return 0;
}
