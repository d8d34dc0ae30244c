/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's event loop: descriptors and deadlines, one thread.
 *
 * A watch or timer is embedded in its owner and must be removed before the owner goes; it may
 * remove or free itself or any other from within a callback.
 */
#ifndef CV_BASE_LOOP_H
#define CV_BASE_LOOP_H

#include "base/def.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct cv_watch {
	int fd;		 /* -1: not watched */
	uint32_t events; /* EPOLLIN … */
	void (*fn)(struct cv_watch *w, uint32_t events);
};

struct cv_timer {
	int64_t due_ns; /* on the clock of cv_now_ns(); 0: not armed */
	size_t slot;	/* its place in the heap */
	void (*fn)(struct cv_timer *t);
};

#define CV_LOOP_BATCH 32

struct cv_loop {
	int epfd;
	int timerfd;
	int64_t armed_ns; /* what timerfd is set to; 0: off */
	bool stop;
	const char *why;	/* the failure that stopped it, NULL: none */
	struct cv_timer **heap; /* by due_ns, earliest first */
	size_t timers;
	size_t timers_cap;
	int batch_len; /* events of the round that are still to be handled: [batch_pos, batch_len) */
	int batch_pos;
	struct epoll_event batch[CV_LOOP_BATCH];
	struct cv_watch timer_watch;
	void (*after_round)(void *user); /* runs after each round of events, before waiting again */
	void *user;
};

/* 0 or -errno. */
int cv_loop_init(struct cv_loop *loop);
void cv_loop_done(struct cv_loop *loop);

/* Runs until loop->stop is set. */
int cv_loop_run(struct cv_loop *loop);

int cv_watch_add(struct cv_loop *loop, struct cv_watch *w, int fd, uint32_t events,
		 void (*fn)(struct cv_watch *, uint32_t));
int cv_watch_mod(struct cv_loop *loop, struct cv_watch *w, uint32_t events);

/* Stops watching; the descriptor stays open. Does nothing on one that is not watched. */
void cv_watch_del(struct cv_loop *loop, struct cv_watch *w);

/* Sets or moves a deadline; 0 or -ENOMEM. */
int cv_timer_set(struct cv_loop *loop, struct cv_timer *t, int64_t due_ns,
		 void (*fn)(struct cv_timer *));
void cv_timer_cancel(struct cv_loop *loop, struct cv_timer *t);

/* Stops the loop because of a failure that nobody else can be told of. */
void cv_loop_fail(struct cv_loop *loop, const char *why);

/* The same as cv_watch_add() and cv_timer_set() where going on without it would be a lie. */
void cv_watch_must(struct cv_loop *loop, struct cv_watch *w, int fd, uint32_t events,
		   void (*fn)(struct cv_watch *, uint32_t));
void cv_timer_must(struct cv_loop *loop, struct cv_timer *t, int64_t due_ns,
		   void (*fn)(struct cv_timer *));

#endif
