/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a keeper dies: its tree falls to the guest, which is a subreaper too, and is ended here.
 *
 * Whose orphan a process is can't be told any more, but every child of the guest that is no keeper
 * is one. They are killed until none is left; then every process whose keeper died is clean. A
 * keeper that was stopped is continued.
 */
#include "base/clock.h"
#include "process/procs_internal.h"
#include "process/tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define SWEEP_NS (5 * INT64_C(1000000))

static bool is_keeper(pid_t pid, void *user)
{
	return cv_pool_owns(user, pid);
}

/*
 * Reaps children that are no keepers; keepers are waited for by the pool, when their socket ends.
 */
static int reap_orphans(struct cv_procs *procs)
{
	int alive = 0;
	siginfo_t info;

	(void)procs;
	do {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0)
			break;
		alive += info.si_pid != 0;
	} while (info.si_pid != 0);
	return alive;
}

static void continue_stopped(struct cv_procs *procs)
{
	siginfo_t info = {0};

	while (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL) == 0 && info.si_pid != 0) {
		if (cv_pool_owns(procs, info.si_pid))
			kill(info.si_pid, SIGCONT);
		info.si_pid = 0;
	}
}

static void finish_orphaned(struct cv_procs *procs)
{
	bool again = true;

	procs->orphaned = 0;
	while (again) {
		again = false;
		for (struct cv_process *p = procs->processes; p; p = p->next)
			if (!p->worker && p->lost && p->state != CV_PROCESS_CLEAN) {
				cv_process_on_clean(p);
				again = true;
				break;
			}
	}
}

static void sweep(struct cv_timer *timer)
{
	struct cv_procs *procs = cv_container(timer, struct cv_procs, orphan_timer);

	reap_orphans(procs);
	if (procs->orphaned > 0 && cv_tree_signal(SIGKILL, is_keeper, procs) == 0) {
		reap_orphans(procs);
		finish_orphaned(procs);
	}
	if (procs->orphaned > 0)
		cv_timer_must(procs->loop, timer, cv_now_ns() + SWEEP_NS, sweep);
}

void cv_orphans_begin(struct cv_process *p)
{
	p->procs->orphaned++;
	cv_timer_must(p->procs->loop, &p->procs->orphan_timer, cv_now_ns() + SWEEP_NS / 5, sweep);
}

static void on_sigchld(struct cv_watch *watch, uint32_t events)
{
	struct cv_procs *procs = cv_container(watch, struct cv_procs, sigchld);
	struct signalfd_siginfo info[8];

	(void)events;
	if (read(watch->fd, info, sizeof(info)) < 0 && errno != EAGAIN)
		return;
	continue_stopped(procs);
	reap_orphans(procs);
}

int cv_orphans_start(struct cv_procs *procs)
{
	sigset_t set;
	int fd;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno :
			cv_watch_add(procs->loop, &procs->sigchld, fd, EPOLLIN, on_sigchld);
}
