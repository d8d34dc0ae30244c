/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's own loop: commands from the guest on one side, children that end on the other. */
#include "process/keeper.h"

#include "base/def.h"
#include "process/keeper_internal.h"
#include "process/keeper_msg.h"
#include "process/tree.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* While killing, how long the first sweep waits for its effect; later ones wait longer. */
#define SWEEP_MS 1
#define SWEEP_MS_MAX 50

static struct cv_keeper self;

static void CV_NORETURN last_will(void);

/* A report that can't be sent would be waited for: the end of this process says enough. */
static void send_guest(const void *msg, size_t len)
{
	while (send(self.sock, msg, len, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			last_will();
}

static void forget_command(void)
{
	self.leader = 0;
	self.busy = false;
	self.killing = false;
	self.user_us = 0;
	self.system_us = 0;
	self.max_rss_bytes = 0;
}

static int64_t us(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

static void add_usage(const struct rusage *u)
{
	self.user_us += us(&u->ru_utime);
	self.system_us += us(&u->ru_stime);
	self.max_rss_bytes = CV_MAX(self.max_rss_bytes, (int64_t)u->ru_maxrss * 1024);
}

static void report(uint32_t kind, int alive, bool clean)
{
	struct cv_keeper_ended m = {
		.kind = kind,
		.status = self.status,
		.alive = alive,
		.clean = clean,
		.user_us = self.user_us,
		.system_us = self.system_us,
		.max_rss_bytes = self.max_rss_bytes,
	};

	send_guest(&m, sizeof(m));
}

/* The answer is on its way already; only the next command waits for this. */
static void become_ready(void)
{
	struct cv_keeper_word m = {.kind = CV_KEEPER_READY, .value = cv_keeper_unchanged(&self)};

	send_guest(&m, sizeof(m));
	forget_command();
}

/*
 * Reaps what has ended. The leader's end is reported with the number of those it left behind; with
 * nobody left, the tree is clean and that is reported too.
 */
static void reap(void)
{
	bool leader_ended = false;

	for (;;) {
		struct rusage usage;
		int status;
		pid_t pid = wait4(-1, &status, WNOHANG | __WALL, &usage);

		if (pid > 0) {
			add_usage(&usage);
			if (pid == self.leader) {
				self.leader = 0;
				self.status = status;
				leader_ended = true;
			}
			continue;
		}
		if (pid < 0 && errno == EINTR)
			continue;
		if (leader_ended)
			report(CV_KEEPER_LEADER, pid == 0 ? cv_tree_signal(0, NULL, NULL) : 0,
			       pid < 0);
		else if (pid < 0 && self.busy)
			report(CV_KEEPER_CLEAN, 0, true);
		if (pid < 0)
			become_ready();
		return;
	}
}

static void sweep_kill(void)
{
	cv_tree_signal(SIGKILL, NULL, NULL);
}

/* The guest is gone: nobody needs the tree any more, and nobody else will end it. */
static void CV_NORETURN last_will(void)
{
	struct signalfd_siginfo info;

	for (int wait_ms = SWEEP_MS;;) {
		struct pollfd p = {.fd = self.sigfd, .events = POLLIN};

		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD)
			_exit(0);
		sweep_kill();
		if (poll(&p, 1, wait_ms) > 0 && read(self.sigfd, &info, sizeof(info)) < 0)
			continue;
		wait_ms = CV_MIN(wait_ms * 2, SWEEP_MS_MAX);
	}
}

/* A sibling: a child of the guest, made by this process because this one is small. */
static void make_sibling(void)
{
	struct cv_keeper_word m = {.kind = CV_KEEPER_SIBLING};
	int pair[2];
	long pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		m.value = -errno;
		send_guest(&m, sizeof(m));
		return;
	}
	pid = syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		close(pair[0]);
		close(self.sock);
		cv_keeper_main(pair[1]);
	}
	m.value = pid < 0 ? -errno : (int32_t)pid;
	close(pair[1]);
	if (pid < 0)
		send_guest(&m, sizeof(m));
	else if (cv_send_fds(self.sock, &m, sizeof(m), pair, 1) < 0)
		last_will(); /* the sibling's socket ends with this process, and it with that */
	close(pair[0]);
}

static void run_command(const struct cv_keeper_run *run, size_t len, int *fds, int nfds)
{
	struct cv_keeper_failed failed = {.kind = CV_KEEPER_FAILED};
	struct cv_keeper_word started = {.kind = CV_KEEPER_STARTED};
	int rc = cv_keeper_spawn(&self, run, len, fds, nfds, &failed);

	if (rc < 0) {
		send_guest(&failed, sizeof(failed));
		return;
	}
	self.busy = true;
	if (run->say_started)
		send_guest(&started, sizeof(started));
}

static void on_message(void)
{
	int fds[CV_KEEPER_FDS];
	int nfds = 0;
	ssize_t n = cv_recv_fds(self.sock, self.inbox.bytes, sizeof(self.inbox), fds, &nfds,
				CV_KEEPER_FDS);
	const struct cv_keeper_word *m = &self.inbox.word;

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		last_will();
	if (n < (ssize_t)sizeof(uint32_t))
		return;
	if (m->kind == CV_KEEPER_RUN) {
		run_command(&self.inbox.run, (size_t)n, fds, nfds);
	} else if (m->kind == CV_KEEPER_SIGNAL) {
		cv_tree_signal(m->value, NULL, NULL);
	} else if (m->kind == CV_KEEPER_KILL && self.busy) {
		self.killing = true;
		self.sweep_ms = SWEEP_MS;
		sweep_kill();
	} else if (m->kind == CV_KEEPER_CLONE) {
		make_sibling();
	}
	for (int i = 0; i < nfds; i++)
		close(fds[i]);
}

static void CV_NORETURN loop(void)
{
	for (;;) {
		struct pollfd p[2] = {{.fd = self.sock, .events = POLLIN},
				      {.fd = self.sigfd, .events = POLLIN}};
		int n = poll(p, 2, self.killing ? self.sweep_ms : -1);
		struct signalfd_siginfo info[4];

		if (n == 0) {
			sweep_kill();
			self.sweep_ms = CV_MIN(self.sweep_ms * 2, SWEEP_MS_MAX);
		}
		if (n > 0 && p[1].revents && read(self.sigfd, info, sizeof(info)) < 0 &&
		    errno != EAGAIN)
			last_will();
		if (self.busy)
			reap();
		if (n > 0 && p[0].revents)
			on_message();
	}
}

/* By the kernel's own call: glibc does not let the two signals that it uses itself be reset. */
static void default_signals(void)
{
	static const unsigned long dfl[4]; /* handler, flags, restorer, mask: all zero is SIG_DFL */
	sigset_t set;

	for (int sig = 1; sig < NSIG; sig++)
		syscall(SYS_rt_sigaction, sig, dfl, NULL, 8);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* What a leader gets as 0..9 must not be among the descriptors that come with a command. */
static void occupy_low_fds(void)
{
	int fd;

	do
		fd = fcntl(self.sock, F_DUPFD_CLOEXEC, 0);
	while (fd >= 0 && fd < CV_SCRIPT_FD);
	if (fd > CV_SCRIPT_FD)
		close(fd);
}

void cv_keeper_main(int sock)
{
	sigset_t set;

	forget_command();
	self.sock = sock;
	prctl(PR_SET_NAME, "cove-keeper");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		_exit(1);
	setsid();
	/* A sibling has them from the nursery. */
	if (!self.has_default_signals)
		default_signals();
	self.has_default_signals = true;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (self.sigfd > 0)
		close(self.sigfd);
	self.sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	occupy_low_fds();
	if (self.sigfd < 0 || !cv_keeper_born(&self))
		_exit(1);
	loop();
}

/*
 * The nursery takes it, and all that descends from it has it: to install one takes a tenth of what
 * a command takes, and a keeper calls nothing that a command may not.
 */
static const struct sock_fprog *filter;
static int (*give_up)(void);

void cv_keeper_confine(int (*fn)(void), const struct sock_fprog *program)
{
	give_up = fn;
	filter = program;
}

/* This process's own; what is forked inherits what it reads just then. */
static int oom_score_fd = -1;

int cv_keeper_go_first(void)
{
	oom_score_fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	return oom_score_fd < 0 ? -errno : 0;
}

/* A host that is further up already stays where it is: lower may not be allowed again. */
static void set_oom_score(const char *text)
{
	if (oom_score_fd >= 0 && pwrite(oom_score_fd, text, strlen(text), 0) < 0)
		cv_close(&oom_score_fd);
}

int cv_keeper_fork(pid_t *ret_pid, int *ret_sock)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/*
	 * Exit signal 0: only who asks for it by its number can reap it, so that number stays its
	 * own.
	 */
	set_oom_score("500");
	pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid != 0)
		set_oom_score("0");
	if (pid == 0) {
		/* stderr stays: the host knows by its end that no keeper is left. */
		int sock = dup2(pair[1], STDIN_FILENO);

		dup2(STDIN_FILENO, STDOUT_FILENO);
		syscall(SYS_close_range, 3, ~0U, 0);
		fcntl(STDIN_FILENO, F_SETFD, FD_CLOEXEC);
		close(STDOUT_FILENO);
		if (give_up && give_up() < 0)
			_exit(1);
		if (filter && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter) < 0)
			_exit(1);
		cv_keeper_main(sock);
	}
	close(pair[1]);
	if (pid < 0) {
		int rc = -errno;

		close(pair[0]);
		return rc;
	}
	*ret_pid = pid;
	*ret_sock = pair[0];
	return 0;
}
