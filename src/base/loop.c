/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: epoll for descriptors, a binary heap and one timerfd for deadlines.
 *
 * The timerfd runs on CLOCK_BOOTTIME, so a deadline counts the time that the machine was suspended;
 * it is set only when the earliest deadline changes, so that a command without a deadline costs no
 * system call here.
 */
#include "base/loop.h"

#include "base/clock.h"

#include <sys/timerfd.h>

static void heap_put(struct cv_loop *loop, size_t i, struct cv_timer *t)
{
	loop->heap[i] = t;
	t->slot = i;
}

static void heap_up(struct cv_loop *loop, size_t i)
{
	struct cv_timer *t = loop->heap[i];

	while (i > 0 && loop->heap[(i - 1) / 2]->due_ns > t->due_ns) {
		heap_put(loop, i, loop->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_put(loop, i, t);
}

static void heap_down(struct cv_loop *loop, size_t i)
{
	struct cv_timer *t = loop->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= loop->timers)
			break;
		if (child + 1 < loop->timers &&
		    loop->heap[child + 1]->due_ns < loop->heap[child]->due_ns)
			child++;
		if (loop->heap[child]->due_ns >= t->due_ns)
			break;
		heap_put(loop, i, loop->heap[child]);
		i = child;
	}
	heap_put(loop, i, t);
}

static void arm(struct cv_loop *loop)
{
	int64_t due = loop->timers ? loop->heap[0]->due_ns : 0;
	struct itimerspec spec = {
		.it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};

	if (due == loop->armed_ns)
		return;
	timerfd_settime(loop->timerfd, TFD_TIMER_ABSTIME, &spec, NULL);
	loop->armed_ns = due;
}

int cv_timer_set(struct cv_loop *loop, struct cv_timer *t, int64_t due_ns,
		 void (*fn)(struct cv_timer *))
{
	cv_timer_cancel(loop, t);
	if (loop->timers == loop->timers_cap) {
		size_t cap = loop->timers_cap ? loop->timers_cap * 2 : 16;
		struct cv_timer **heap = reallocarray(loop->heap, cap, sizeof(struct cv_timer *));

		if (!heap)
			return -ENOMEM;
		loop->heap = heap;
		loop->timers_cap = cap;
	}
	t->due_ns = due_ns > 0 ? due_ns : 1;
	t->fn = fn;
	heap_put(loop, loop->timers++, t);
	heap_up(loop, t->slot);
	return 0;
}

void cv_timer_cancel(struct cv_loop *loop, struct cv_timer *t)
{
	struct cv_timer *last;

	if (t->due_ns == 0)
		return;
	t->due_ns = 0;
	last = loop->heap[--loop->timers];
	if (last == t)
		return;
	heap_put(loop, t->slot, last);
	heap_up(loop, last->slot);
	heap_down(loop, last->slot);
}

static void fire_timers(struct cv_watch *w, uint32_t events)
{
	struct cv_loop *loop = cv_container(w, struct cv_loop, timer_watch);
	uint64_t count;
	int64_t now = cv_now_ns();

	(void)events;
	if (read(loop->timerfd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	loop->armed_ns = 0;
	while (loop->timers && loop->heap[0]->due_ns <= now) {
		struct cv_timer *t = loop->heap[0];

		cv_timer_cancel(loop, t);
		t->fn(t);
	}
}

int cv_loop_init(struct cv_loop *loop)
{
	int rc;

	*loop = (struct cv_loop){
		.epfd = epoll_create1(EPOLL_CLOEXEC), .timerfd = -1, .timer_watch.fd = -1};
	if (loop->epfd < 0)
		return -errno;
	loop->timerfd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	rc = loop->timerfd < 0 ?
		     -errno :
		     cv_watch_add(loop, &loop->timer_watch, loop->timerfd, EPOLLIN, fire_timers);
	if (rc < 0)
		cv_loop_done(loop);
	return rc;
}

void cv_loop_done(struct cv_loop *loop)
{
	cv_close(&loop->epfd);
	cv_close(&loop->timerfd);
	free(loop->heap);
	loop->heap = NULL;
}

int cv_loop_run(struct cv_loop *loop)
{
	while (!loop->stop) {
		if (loop->after_round)
			loop->after_round(loop->user);
		if (loop->stop)
			break;
		arm(loop);
		loop->batch_len = epoll_wait(loop->epfd, loop->batch, CV_LOOP_BATCH, -1);
		if (loop->batch_len < 0 && errno != EINTR)
			return -errno;
		for (loop->batch_pos = 0; loop->batch_pos < loop->batch_len;) {
			struct epoll_event *ev = &loop->batch[loop->batch_pos++];
			struct cv_watch *w = ev->data.ptr;

			if (w)
				w->fn(w, ev->events);
		}
	}
	return 0;
}

int cv_watch_add(struct cv_loop *loop, struct cv_watch *w, int fd, uint32_t events,
		 void (*fn)(struct cv_watch *, uint32_t))
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	*w = (struct cv_watch){.fd = fd, .events = events, .fn = fn};
	return 0;
}

int cv_watch_mod(struct cv_loop *loop, struct cv_watch *w, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	if (w->events == events)
		return 0;
	if (epoll_ctl(loop->epfd, EPOLL_CTL_MOD, w->fd, &ev) < 0)
		return -errno;
	w->events = events;
	return 0;
}

void cv_watch_del(struct cv_loop *loop, struct cv_watch *w)
{
	if (w->fd < 0)
		return;
	epoll_ctl(loop->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
	for (int i = loop->batch_pos; i < loop->batch_len; i++)
		if (loop->batch[i].data.ptr == w)
			loop->batch[i].data.ptr = NULL;
}

void cv_loop_fail(struct cv_loop *loop, const char *why)
{
	if (!loop->stop)
		loop->why = why;
	loop->stop = true;
}

void cv_watch_must(struct cv_loop *loop, struct cv_watch *w, int fd, uint32_t events,
		   void (*fn)(struct cv_watch *, uint32_t))
{
	if (cv_watch_add(loop, w, fd, events, fn) < 0)
		cv_loop_fail(loop, "a descriptor can't be watched");
}

void cv_timer_must(struct cv_loop *loop, struct cv_timer *t, int64_t due_ns,
		   void (*fn)(struct cv_timer *))
{
	if (cv_timer_set(loop, t, due_ns, fn) < 0)
		cv_loop_fail(loop, "out of memory");
}
