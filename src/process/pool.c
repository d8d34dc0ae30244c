/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of keepers.
 *
 * A command takes an idle keeper, or waits until the nursery has made one or another command's has
 * become clean. A keeper that its command changed is let go: it ends when its socket closes. If the
 * nursery itself is killed, the guest forks a new one, however large it has grown.
 */
#include "base/clock.h"
#include "process/keeper.h"
#include "process/keeper_internal.h"
#include "process/procs_internal.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Idle keepers beyond this are let go. */
#define IDLE_MAX 8

/* At the end, how long keepers may take to end their trees. */
#define STOP_NS (5 * INT64_C(1000000000))

static void on_worker(struct cv_watch *watch, uint32_t events);

/* Its socket is closed, so it ends; no signal tells when (exit signal 0). */
static void reap_keeper(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static struct cv_worker *worker_new(struct cv_procs *procs, pid_t pid, int sock)
{
	struct cv_worker *w = calloc(1, sizeof(*w));

	if (!w || cv_watch_add(procs->loop, &w->watch, sock, EPOLLIN, on_worker) < 0) {
		free(w);
		close(sock);
		reap_keeper(pid);
		return NULL;
	}
	w->procs = procs;
	w->pid = pid;
	w->sock = sock;
	w->next = procs->workers;
	procs->workers = w;
	return w;
}

static void worker_drop(struct cv_worker *w, bool is_dead)
{
	struct cv_procs *procs = w->procs;

	for (struct cv_worker **p = &procs->workers; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			break;
		}
	if (procs->nursery == w)
		procs->nursery = NULL;
	cv_watch_del(procs->loop, &w->watch);
	close(w->sock);
	if (!is_dead)
		kill(w->pid, SIGKILL);
	reap_keeper(w->pid);
	free(w);
}

static struct cv_worker *find_idle(const struct cv_procs *procs)
{
	for (struct cv_worker *w = procs->workers; w; w = w->next)
		if (!w->owner && !w->is_nursery && !w->checking)
			return w;
	return NULL;
}

static int start_nursery(struct cv_procs *procs)
{
	pid_t pid;
	int sock;
	int rc = cv_keeper_fork(&pid, &sock);

	if (rc < 0)
		return rc;
	procs->nursery = worker_new(procs, pid, sock);
	if (!procs->nursery)
		return -ENOMEM;
	procs->nursery->is_nursery = true;
	procs->siblings_wanted = 0;
	return 0;
}

void cv_worker_send(struct cv_worker *w, uint32_t kind, int value)
{
	struct cv_keeper_word m = {.kind = kind, .value = value};

	/* One that can't be told anything is as good as dead, and says so by its socket's end. */
	while (send(w->sock, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		if (errno != EINTR) {
			shutdown(w->sock, SHUT_RDWR);
			return;
		}
}

static int queued(const struct cv_procs *procs)
{
	int n = 0;

	for (const struct cv_process *p = procs->processes; p; p = p->next)
		n += p->state == CV_PROCESS_QUEUED;
	return n;
}

/* Keepers that will be idle in a moment, or gone. */
static int checking(const struct cv_procs *procs)
{
	int n = 0;

	for (const struct cv_worker *w = procs->workers; w; w = w->next)
		n += w->checking;
	return n;
}

static void fail_queued(struct cv_procs *procs, int errnum)
{
	struct cv_process *next;

	for (struct cv_process *p = procs->processes; p; p = next) {
		next = p->next;
		if (p->state == CV_PROCESS_QUEUED)
			cv_exec_failed(p, CV_SPAWN_FORK, errnum);
	}
}

/* Sees to it that as many keepers are on their way as commands wait for one. */
void cv_pool_ensure(struct cv_procs *procs)
{
	int want = queued(procs) - checking(procs);
	int rc = 0;

	if (want <= 0)
		return;
	if (!procs->nursery)
		rc = start_nursery(procs);
	if (rc < 0) {
		fail_queued(procs, -rc);
		return;
	}
	for (; procs->siblings_wanted < want; procs->siblings_wanted++)
		cv_worker_send(procs->nursery, CV_KEEPER_CLONE, 0);
}

/* The strings of a large command travel in a memfd. */
static int put_in_memfd(struct cv_launch *l)
{
	size_t strings = (l->strings.len + 15) & ~(size_t)15;
	size_t size = strings + ((size_t)l->run.argc + l->run.envc + 2) * sizeof(char *);
	int fd = memfd_create("cove-command", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return -errno;
	l->fds[l->nfds++] = fd;
	l->run.in_memfd = 1;
	if (ftruncate(fd, (off_t)size) < 0)
		return -errno;
	while (done < l->strings.len) {
		ssize_t n = pwrite(fd, l->strings.data + done, l->strings.len - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int send_launch(const struct cv_worker *w, struct cv_launch *l)
{
	union {
		struct cv_keeper_run run;
		char bytes[CV_KEEPER_INLINE + sizeof(struct cv_keeper_run)];
	} msg;
	size_t pointers = ((size_t)l->run.argc + l->run.envc + 2) * sizeof(char *);
	size_t len = sizeof(l->run);
	int rc = 0;

	l->run.len = (uint32_t)l->strings.len;
	if (l->strings.len > CV_KEEPER_INLINE || pointers > CV_KEEPER_INLINE)
		rc = put_in_memfd(l);
	if (rc < 0)
		return rc;
	msg.run = l->run;
	if (!l->run.in_memfd) {
		memcpy(msg.bytes + len, l->strings.data, l->strings.len);
		len += l->strings.len;
	}
	return cv_send_fds(w->sock, &msg, len, l->fds, l->nfds) < 0 ? -errno : 0;
}

static void assign(struct cv_worker *w, struct cv_process *p)
{
	int rc;

	w->owner = p;
	p->worker = w;
	p->state = CV_PROCESS_STARTING;
	p->launch->run.say_started = !p->is_exec || p->yields;
	rc = send_launch(w, p->launch);
	for (int i = 0; i < p->launch->nfds; i++)
		if (p->launch->fds[i] != p->procs->null_fd && p->launch->fds[i] != p->procs->cwd_fd)
			cv_close(&p->launch->fds[i]);
	p->launch->nfds = 0;
	if (rc < 0) {
		w->owner = NULL;
		p->worker = NULL;
		cv_exec_failed(p, CV_SPAWN_SETUP, -rc);
	} else if (p->cause) {
		cv_worker_send(w, CV_KEEPER_KILL, 0);
	}
}

void cv_pool_run(struct cv_process *p)
{
	struct cv_worker *w = find_idle(p->procs);

	if (w)
		assign(w, p);
	else
		cv_pool_ensure(p->procs);
}

static void run_next(struct cv_worker *w)
{
	for (struct cv_process *p = w->procs->processes; p; p = p->next)
		if (p->state == CV_PROCESS_QUEUED) {
			assign(w, p);
			return;
		}
}

void cv_pool_release(struct cv_worker *w, bool reusable)
{
	struct cv_procs *procs = w->procs;
	int idle = 0;

	w->owner = NULL;
	w->checking = false;
	for (struct cv_worker *o = procs->workers; o; o = o->next)
		idle += !o->owner && !o->is_nursery;
	if (!reusable || idle > IDLE_MAX) {
		worker_drop(w, false);
		cv_pool_ensure(procs);
		return;
	}
	run_next(w);
}

static void on_sibling(struct cv_procs *procs, const struct cv_keeper_word *m, int fd)
{
	struct cv_worker *w;

	procs->siblings_wanted = CV_MAX(procs->siblings_wanted - 1, 0);
	if (m->value <= 0 || fd < 0) {
		fail_queued(procs, m->value < 0 ? -m->value : EAGAIN);
		return;
	}
	w = worker_new(procs, m->value, fd);
	if (w)
		run_next(w);
	else
		fail_queued(procs, ENOMEM);
}

static void lost(struct cv_worker *w)
{
	struct cv_procs *procs = w->procs;
	struct cv_process *p = w->owner;
	bool stillborn = w->is_nursery && !w->has_spoken;

	worker_drop(w, true);
	if (p) {
		p->worker = NULL;
		cv_process_on_keeper_lost(p);
	}
	/* The next one would end the same way, and the next. */
	if (stillborn)
		fail_queued(procs, ECHILD);
	cv_pool_ensure(procs);
}

static void on_worker(struct cv_watch *watch, uint32_t events)
{
	struct cv_worker *w = cv_container(watch, struct cv_worker, watch);
	_Alignas(8) char msg[256];
	int fds[CV_KEEPER_FDS];
	int nfds = 0;
	ssize_t n = cv_recv_fds(w->sock, msg, sizeof(msg), fds, &nfds, CV_KEEPER_FDS);

	(void)events;
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
		lost(w);
	} else if (n >= (ssize_t)sizeof(struct cv_keeper_word)) {
		const struct cv_keeper_word *m = (const void *)msg;

		w->has_spoken = true;
		if (m->kind == CV_KEEPER_READY)
			cv_pool_release(w, m->value);
		else if (m->kind == CV_KEEPER_SIBLING)
			on_sibling(w->procs, m, nfds == 1 ? fds[0] : -1);
		else if (w->owner)
			cv_process_on_keeper(w->owner, msg, (size_t)n);
	}
}

bool cv_pool_owns(const struct cv_procs *procs, pid_t pid)
{
	for (const struct cv_worker *w = procs->workers; w; w = w->next)
		if (w->pid == pid)
			return true;
	return false;
}

int cv_pool_start(struct cv_procs *procs)
{
	return start_nursery(procs);
}

int cv_pool_start_one(struct cv_procs *procs)
{
	pid_t pid;
	int sock;
	int rc = cv_keeper_fork(&pid, &sock);

	return rc < 0 ? rc : worker_new(procs, pid, sock) ? 0 : -ENOMEM;
}

int cv_pool_restart(struct cv_procs *procs)
{
	while (procs->workers)
		worker_drop(procs->workers, false);
	return cv_pool_start_one(procs);
}

/* Waits for one keeper's end, at most until then. */
static void await_end(const struct cv_worker *w, int64_t until_ns)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, w->pid, 0), .events = POLLIN};
	int64_t left_ms = (until_ns - cv_now_ns()) / 1000000;

	if (p.fd >= 0)
		poll(&p, 1, (int)CV_MAX(left_ms, 0));
	waitpid(w->pid, NULL, __WALL | WNOHANG);
	cv_close(&p.fd);
}

/*
 * Every keeper sees its socket end, ends its tree, and goes; they are waited for, so that nobody
 * else must reap them.
 */
void cv_procs_stop(struct cv_procs *procs)
{
	int64_t until_ns = cv_now_ns() + STOP_NS;

	for (struct cv_worker *w = procs->workers; w; w = w->next)
		close(w->sock);
	for (struct cv_worker *w = procs->workers; w; w = w->next)
		await_end(w, until_ns);
}
