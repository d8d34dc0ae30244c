/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How threads wait for calls: one moves the connection, the others sleep on descriptors of their
 * own.
 */
#include "wire/client_internal.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <endian.h>
#include <poll.h>
#include <sys/eventfd.h>

/* The longest sleep without a deadline; waking in between does no harm. */
#define LONG_MS 60000

static struct cv_waiter *waiter_get(struct cv_client *c)
{
	struct cv_waiter *w = c->spare;

	if (w) {
		c->spare = w->next;
		return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake < 0)
		free(TAKE(w));
	return w;
}

static void waiter_put(struct cv_client *c, struct cv_waiter *w)
{
	w->next = c->spare;
	c->spare = w;
}

void cv_waiters_free(struct cv_client *c)
{
	while (c->spare) {
		struct cv_waiter *w = c->spare;

		c->spare = w->next;
		close(w->wake);
		free(w);
	}
}

void cv_waiter_wake(struct cv_client *c, const struct cv_waiter *w)
{
	uint64_t one = 1;

	/* The mover looks at its call by itself when it is done with what it reads. */
	if (w && w != c->mover && write(w->wake, &one, sizeof(one)) < 0)
		return;
}

void cv_waiters_wake_all(struct cv_client *c)
{
	uint64_t one = 1;

	for (struct cv_waiter *w = c->sleepers; w; w = w->next)
		cv_waiter_wake(c, w);
	if (c->mover && write(c->mover->wake, &one, sizeof(one)) < 0)
		return;
}

static void drain(const struct cv_waiter *w)
{
	uint64_t n;

	if (read(w->wake, &n, sizeof(n)) < 0)
		return;
}

void cv_live_free(struct cove_call *call)
{
	while (call->live) {
		struct cv_live *l = call->live;

		call->live = l->next;
		free(l);
	}
}

static void send_credit(struct cove_call *call, int stream, size_t len)
{
	uint32_t n = htole32((uint32_t)len);
	struct cv_frame f = {.kind = CV_FRAME_CREDIT,
			     .stream = (uint16_t)stream,
			     .call = call->id,
			     .payload = (const char *)&n,
			     .len = sizeof(n)};

	if (!call->answered && !call->client->broken)
		cv_conn_send(&call->client->conn, &f);
}

static int give(const struct cove_call *call, const struct cv_live *l)
{
	if (call->on_data)
		return call->on_data(call->on_data_user, l->data, l->len);
	return call->on_output(call->on_output_user, l->stream, l->data, l->len);
}

/* Gives live output to the caller, without the lock. */
static void deliver(struct cove_call *call)
{
	struct cv_client *c = call->client;

	while (call->live) {
		struct cv_live *l = call->live;
		int bad = 0;

		call->live = l->next;
		pthread_mutex_unlock(&c->lock);
		if (!call->callback_failed)
			bad = give(call, l);
		pthread_mutex_lock(&c->lock);
		if (bad) {
			call->callback_failed = true;
			cv_call_send_cancel(call);
		}
		call->live_bytes -= l->len;
		send_credit(call, l->stream, l->len);
		free(l);
	}
	if (call->answered && !atomic_load(&call->done))
		cv_call_finish(call);
}

void cv_call_send_cancel(struct cove_call *call)
{
	struct cv_frame f = {.kind = CV_FRAME_CANCEL,
			     .flags = call->timed_out ? CV_FRAME_LATE : 0,
			     .call = call->id};

	if (call->cancel_sent || call->answered || call->client->broken)
		return;
	call->cancel_sent = true;
	call->give_up_ns = cv_now_ns() + (int64_t)CV_ANSWER_MS * 1000000;
	cv_conn_send(&call->client->conn, &f);
}

/* The guest does not answer a cancel: the call ends without it. */
static void give_up(struct cove_call *call)
{
	struct cove_error err = COVE_ERROR_INIT;

	cv_fail(&err, call->timed_out ? COVE_E_TIMEOUT : COVE_E_CANCELLED,
		"%s was ended early, and the guest did not confirm it in time", call->op->name);
	err.stage = COVE_STAGE_UNKNOWN;
	err.retry = COVE_RETRY_RECONCILE_FIRST;
	cv_call_fail(call, &err);
}

/* Looks at what may end a call early. */
static void check_early_end(struct cove_call *call)
{
	int64_t now;

	if (cove_cancel_fired(call->cancel))
		cv_call_send_cancel(call);
	if (!call->deadline_ns && !call->give_up_ns && !call->backstop_ns && call->client->greeted)
		return;
	now = cv_now_ns();
	if (!call->client->greeted && now >= call->client->greet_ns)
		cv_client_lost(call->client);
	if (call->deadline_ns && now >= call->deadline_ns && !call->cancel_sent) {
		call->timed_out = true;
		cv_call_send_cancel(call);
	}
	if (call->backstop_ns && now >= call->backstop_ns) {
		call->timed_out = true;
		call->give_up_ns = now;
	}
	if (call->give_up_ns && now >= call->give_up_ns && !call->answered)
		give_up(call);
}

static int sleep_ms(const struct cove_call *call, int64_t until_ns)
{
	int64_t due = until_ns;
	int64_t now;

	if (call->deadline_ns && !call->cancel_sent && (!due || call->deadline_ns < due))
		due = call->deadline_ns;
	if (call->give_up_ns && (!due || call->give_up_ns < due))
		due = call->give_up_ns;
	if (call->backstop_ns && (!due || call->backstop_ns < due))
		due = call->backstop_ns;
	if (!call->client->greeted && (!due || call->client->greet_ns < due))
		due = call->client->greet_ns;
	if (!due)
		return LONG_MS;
	now = cv_now_ns();
	return due <= now ? 0 : (int)CV_MIN((due - now) / 1000000 + 1, (int64_t)LONG_MS);
}

/* One sleep: as the mover on the connection, else on the own descriptor. */
static void wait_once(struct cove_call *call, struct cv_waiter *w, int64_t until_ns)
{
	struct cv_client *c = call->client;
	bool moving = !c->mover && c->connected && !c->broken;
	struct pollfd p[3] = {
		{.fd = w->wake, .events = POLLIN},
		{.fd = call->cancel_sent ? -1 : cv_cancel_fd(call->cancel), .events = POLLIN},
		{.fd = moving ? c->conn.rfd : -1, .events = POLLIN},
	};
	int timeout = sleep_ms(call, until_ns);

	if (moving) {
		c->mover = w;
		if (cv_conn_pending(&c->conn) && c->conn.rfd == c->conn.wfd)
			p[2].events |= POLLOUT;
		else if (cv_conn_pending(&c->conn))
			timeout = CV_MIN(timeout, 10);
	}
	pthread_mutex_unlock(&c->lock);
	poll(p, 3, timeout);
	pthread_mutex_lock(&c->lock);
	if (p[0].revents)
		drain(w);
	if (!moving)
		return;
	if (p[2].revents || cv_conn_pending(&c->conn))
		cv_client_pump(c);
	c->mover = NULL;
}

static void unlink_sleeper(struct cv_client *c, const struct cv_waiter *w)
{
	for (struct cv_waiter **p = &c->sleepers; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			return;
		}
}

static bool step(struct cove_call *call)
{
	check_early_end(call);
	if (call->live || call->answered)
		deliver(call);
	return atomic_load(&call->done);
}

static void wait_blocking(struct cove_call *call, struct cv_waiter *w, int64_t until_ns)
{
	struct cv_client *c = call->client;

	w->next = c->sleepers;
	c->sleepers = w;
	call->waiter = w;
	while (!step(call)) {
		if (until_ns && cv_now_ns() >= until_ns)
			break;
		if (call->want_credit && call->stdin_credit > 0)
			break;
		wait_once(call, w, until_ns);
	}
	call->waiter = NULL;
	unlink_sleeper(c, w);
	if (!c->mover && c->sleepers)
		cv_waiter_wake(c, c->sleepers);
}

static int wait_for(struct cove_call *call, int64_t timeout_ms, bool want_credit)
{
	struct cv_client *c = call->client;
	struct cv_waiter *w;

	if (atomic_load_explicit(&call->done, memory_order_acquire))
		return 1;
	pthread_mutex_lock(&c->lock);
	c->inside++;
	call->want_credit = want_credit;
	w = timeout_ms == 0 ? NULL : waiter_get(c);
	if (w) {
		wait_blocking(call, w, timeout_ms < 0 ? 0 : cv_now_ns() + timeout_ms * 1000000);
		waiter_put(c, w);
	} else if (!step(call)) {
		if (!c->mover)
			cv_client_pump(c);
		step(call);
	}
	if (--c->inside == 0)
		pthread_cond_broadcast(&c->idle);
	pthread_mutex_unlock(&c->lock);
	return atomic_load_explicit(&call->done, memory_order_acquire);
}

int cv_call_wait(struct cove_call *call, int64_t timeout_ms)
{
	return wait_for(call, timeout_ms, false);
}

int cv_call_wait_credit(struct cove_call *call)
{
	return wait_for(call, -1, true);
}
