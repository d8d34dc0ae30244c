/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: order of deadlines, and removal of watches and timers from within callbacks. */
#include "unit.h"

#include "base/clock.h"
#include "base/loop.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#define MS INT64_C(1000000)

static struct cv_loop loop;

static void begin(void)
{
	ck_assert_int_eq(cv_loop_init(&loop), 0);
}

struct mark {
	struct cv_timer timer;
	int64_t due;
	bool fired;
	struct mark *other;
};

static int64_t last_due;
static int fired;

static void in_order(struct cv_timer *t)
{
	struct mark *m = cv_container(t, struct mark, timer);

	ck_assert_int_le(last_due, m->due);
	ck_assert_int_le(m->due, cv_now_ns());
	ck_assert_int_eq(t->due_ns, 0);
	last_due = m->due;
	m->fired = true;
	fired++;
}

static void stop(struct cv_timer *t)
{
	(void)t;
	loop.stop = true;
}

START_TEST(timers_fire_in_order_and_never_early)
{
	static struct mark marks[300];
	struct cv_timer end = {0};
	int64_t now = cv_now_ns();
	int want = 0;

	begin();
	for (size_t i = 0; i < 1000; i++) {
		struct mark *m = &marks[rng(CV_LEN(marks))];

		m->due = now + (int64_t)rng(80) * MS / 2;
		ck_assert_int_eq(cv_timer_set(&loop, &m->timer, m->due, in_order), 0);
		if (rng(3) == 0)
			cv_timer_cancel(&loop, &marks[rng(CV_LEN(marks))].timer);
	}
	for (size_t i = 0; i < CV_LEN(marks); i++)
		want += marks[i].timer.due_ns != 0;
	cv_timer_set(&loop, &end, now + 60 * MS, stop);
	ck_assert_int_eq(cv_loop_run(&loop), 0);
	ck_assert_int_eq(fired, want);
	ck_assert_uint_eq(loop.timers, 0);
	cv_loop_done(&loop);
}
END_TEST

static void cancel_other(struct cv_timer *t)
{
	struct mark *m = cv_container(t, struct mark, timer);

	m->fired = true;
	cv_timer_cancel(&loop, &m->other->timer);
	cv_timer_cancel(&loop, t);
}

START_TEST(timers_cancelled_by_another_of_the_same_moment)
{
	struct mark a = {0};
	struct mark b = {.other = &a};
	struct cv_timer end = {0};
	int64_t due = cv_now_ns() + MS;

	a.other = &b;
	begin();
	cv_timer_set(&loop, &a.timer, due, cancel_other);
	cv_timer_set(&loop, &b.timer, due, cancel_other);
	cv_timer_set(&loop, &end, due + 5 * MS, stop);
	cv_loop_run(&loop);
	ck_assert_int_eq(a.fired + b.fired, 1);
	cv_loop_done(&loop);
}
END_TEST

static void again(struct cv_timer *t)
{
	if (++fired < 5)
		cv_timer_set(&loop, t, fired % 2 ? 0 : cv_now_ns() + MS, again);
	else
		loop.stop = true;
}

static void free_itself(struct cv_timer *t)
{
	free(cv_container(t, struct mark, timer));
	fired++;
}

START_TEST(timers_set_or_freed_from_within)
{
	struct cv_timer t = {0};
	struct mark *m = calloc(1, sizeof(*m));

	begin();
	cv_timer_set(&loop, &m->timer, 1, free_itself);
	cv_timer_set(&loop, &t, 1, again);
	cv_loop_run(&loop);
	ck_assert_int_eq(fired, 5);
	cv_loop_done(&loop);
}
END_TEST

START_TEST(timers_moved_later_do_not_fire_early)
{
	struct cv_timer t = {0};
	int64_t now = cv_now_ns();

	begin();
	cv_timer_set(&loop, &t, now + MS, stop);
	cv_timer_set(&loop, &t, now + 20 * MS, stop);
	ck_assert_uint_eq(loop.timers, 1);
	cv_loop_run(&loop);
	ck_assert_int_ge(cv_now_ns() - now, 20 * MS);
	cv_timer_cancel(&loop, &t);
	cv_loop_done(&loop);
}
END_TEST

struct source {
	struct cv_watch watch;
	struct source *list; /* all of them */
	int count;
	bool seen;
};

/* Removes all the others of its batch, and itself. */
static void remove_all(struct cv_watch *w, uint32_t events)
{
	struct source *s = cv_container(w, struct source, watch);

	ck_assert_uint_eq(events, EPOLLIN);
	s->seen = true;
	for (int i = 0; i < s->count; i++)
		cv_watch_del(&loop, &s->list[i].watch);
}

static void stop_round(void *user)
{
	loop.stop = ++*(int *)user > 2;
}

START_TEST(watches_removed_within_a_batch_are_not_called)
{
	struct source sources[10] = {0};
	struct cv_watch idle = {.fd = -1};
	int fds[10];
	int rounds = 0;
	int seen = 0;
	struct cv_timer wake = {0};

	begin();
	loop.after_round = stop_round;
	loop.user = &rounds;
	for (int i = 0; i < 10; i++) {
		fds[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
		ck_assert_int_eq(
			cv_watch_add(&loop, &sources[i].watch, fds[i], EPOLLIN, remove_all), 0);
		sources[i].list = sources;
		sources[i].count = 10;
	}
	cv_timer_set(&loop, &wake, cv_now_ns() + 5 * MS, in_order);
	cv_timer_cancel(&loop, &wake);
	cv_timer_set(&loop, &wake, cv_now_ns() + 5 * MS, stop);
	cv_loop_run(&loop);
	for (int i = 0; i < 10; i++) {
		seen += sources[i].seen;
		ck_assert_int_eq(sources[i].watch.fd, -1);
		close(fds[i]);
	}
	ck_assert_int_eq(seen, 1);
	cv_watch_del(&loop, &idle);
	cv_loop_done(&loop);
}
END_TEST

static void free_watch(struct cv_watch *w, uint32_t events)
{
	struct source *s = cv_container(w, struct source, watch);
	int fd = w->fd;

	(void)events;
	cv_watch_del(&loop, w);
	close(fd);
	free(s);
	loop.stop = ++fired == 40;
}

/* More than one batch of them. */
START_TEST(watches_free_themselves)
{
	begin();
	for (int i = 0; i < 40; i++) {
		struct source *s = calloc(1, sizeof(*s));

		ck_assert_int_eq(cv_watch_add(&loop, &s->watch, eventfd(1, EFD_CLOEXEC), EPOLLIN,
					      free_watch),
				 0);
	}
	cv_loop_run(&loop);
	ck_assert_int_eq(fired, 40);
	cv_loop_done(&loop);
}
END_TEST

static void modify(struct cv_watch *w, uint32_t events)
{
	fired++;
	if (events & EPOLLIN)
		ck_assert_int_eq(cv_watch_mod(&loop, w, EPOLLOUT), 0);
	else
		loop.stop = true;
}

START_TEST(watches_change_what_they_wait_for)
{
	struct cv_watch w = {.fd = -1};
	struct cv_watch bad = {.fd = -1};
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	begin();
	ck_assert_int_eq(cv_watch_add(&loop, &bad, -1, EPOLLIN, modify), -EBADF);
	ck_assert_int_eq(bad.fd, -1);
	ck_assert_int_eq(cv_watch_add(&loop, &w, fd, EPOLLIN, modify), 0);
	ck_assert_int_eq(cv_watch_mod(&loop, &w, EPOLLIN), 0);
	cv_loop_run(&loop);
	ck_assert_int_eq(fired, 2);
	cv_watch_del(&loop, &w);
	ck_assert_int_ne(fcntl(fd, F_GETFD), -1);
	close(fd);
	cv_loop_done(&loop);
}
END_TEST

UNIT_MAIN("loop", timers_fire_in_order_and_never_early,
	  timers_cancelled_by_another_of_the_same_moment, timers_set_or_freed_from_within,
	  timers_moved_later_do_not_fire_early, watches_removed_within_a_batch_are_not_called,
	  watches_free_themselves, watches_change_what_they_wait_for)
