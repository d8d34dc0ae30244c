/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for file work that may take long, started when first needed. They never fork, and give
 * finished calls back to the loop through an eventfd; only the loop answers.
 */
#include "guest/guest.h"

#include <signal.h>
#include <sys/eventfd.h>

#define THREADS_MAX 2

static void push_done(struct cv_workers *w, struct cv_guest_call *call)
{
	uint64_t one = 1;

	call->next_job = w->done;
	w->done = call;
	if (write(w->eventfd, &one, sizeof(one)) < 0)
		return;
}

static void *work(void *arg)
{
	struct cv_workers *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct cv_guest_call *call = w->jobs;

		if (!call) {
			w->idle++;
			pthread_cond_wait(&w->work, &w->lock);
			w->idle--;
			continue;
		}
		w->jobs = call->next_job;
		pthread_mutex_unlock(&w->lock);
		cv_guest_run_job(call);
		pthread_mutex_lock(&w->lock);
		push_done(w, call);
	}
	return NULL;
}

static void on_done(struct cv_watch *watch, uint32_t events)
{
	struct cv_workers *w = cv_container(watch, struct cv_workers, watch);
	struct cv_guest_call *done;
	uint64_t n;

	(void)events;
	if (read(w->eventfd, &n, sizeof(n)) < 0)
		return;
	pthread_mutex_lock(&w->lock);
	done = TAKE(w->done);
	pthread_mutex_unlock(&w->lock);
	while (done) {
		struct cv_guest_call *call = done;

		done = call->next_job;
		if (call->op->id == CV_OP_ID_GUEST_SETUP)
			cv_guest_setup_done(call);
		else
			cv_guest_call_done(call);
	}
}

int cv_workers_init(struct cv_guest *g)
{
	struct cv_workers *w = &g->workers;

	if (pthread_mutex_init(&w->lock, NULL) != 0 || pthread_cond_init(&w->work, NULL) != 0)
		return -ENOMEM;
	w->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->eventfd < 0 ? -errno :
				cv_watch_add(&g->loop, &w->watch, w->eventfd, EPOLLIN, on_done);
}

static bool start_thread(struct cv_workers *w)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	bool ok;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 512u << 10);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = pthread_create(&thread, &attr, work, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	w->threads += ok;
	return ok || w->threads > 0;
}

void cv_workers_add(struct cv_guest *g, struct cv_guest_call *call)
{
	struct cv_workers *w = &g->workers;
	struct cv_guest_call **at = &w->jobs;
	bool alone = false;

	call->next_job = NULL;
	pthread_mutex_lock(&w->lock);
	if (w->idle == 0 && w->threads < THREADS_MAX)
		alone = !start_thread(w);
	if (!alone) {
		while (*at)
			at = &(*at)->next_job;
		*at = call;
		pthread_cond_signal(&w->work);
	}
	pthread_mutex_unlock(&w->lock);
	if (!alone)
		return;
	/* No thread could be had: slower, but right. */
	cv_guest_run_job(call);
	pthread_mutex_lock(&w->lock);
	push_done(w, call);
	pthread_mutex_unlock(&w->lock);
}
