/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a connection: what comes in, and to which call it belongs. client.h tells the
 * idea; how threads wait is in wait.c, how a call is made and taken in call.c.
 */
#include "wire/client_internal.h"

#include "base/clock.h"
#include "base/json.h"

#include <endian.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Live output is owned by its call, which the analyzer does not see through the list of calls. */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

int cv_client_init(struct cv_client *c)
{
	*c = (struct cv_client){.conn = {.rfd = -1, .wfd = -1}};
	if (pthread_mutex_init(&c->lock, NULL) != 0)
		return -ENOMEM;
	if (pthread_cond_init(&c->idle, NULL) != 0) {
		pthread_mutex_destroy(&c->lock);
		return -ENOMEM;
	}
	return 0;
}

void cv_client_done(struct cv_client *c)
{
	cv_waiters_free(c);
	if (c->connected)
		cv_conn_done(&c->conn);
	free(c->broken_err);
	pthread_cond_destroy(&c->idle);
	pthread_mutex_destroy(&c->lock);
}

static int send_hello(struct cv_client *c)
{
	char text[64];
	struct cv_frame f = {.kind = CV_FRAME_HELLO, .payload = text};

	f.len = (size_t)snprintf(text, sizeof(text), "{\"min\":%d,\"max\":%d}", CV_WIRE_VERSION,
				 CV_WIRE_VERSION);
	return cv_conn_send(&c->conn, &f);
}

int cv_client_connect(struct cv_client *c, int rfd, int wfd)
{
	int rc;

	pthread_mutex_lock(&c->lock);
	cv_conn_init(&c->conn, rfd, wfd, true);
	c->connected = true;
	c->greet_ns = cv_now_ns() + (int64_t)CV_GREET_MS * 1000000;
	rc = send_hello(c);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

void cv_call_finish(struct cove_call *call)
{
	struct cv_client *c = call->client;
	const struct cv_waiter *w;

	if (call->link) {
		*call->link = call->next;
		if (call->next)
			call->next->link = call->link;
		call->link = NULL;
		c->open_calls--;
	}
	/* Whoever polls may free the call as soon as it is done. */
	w = call->waiter;
	atomic_store_explicit(&call->done, true, memory_order_release);
	cv_waiter_wake(c, w);
}

/*
 * An answer has come. The call is done once its live output was delivered too, by its own thread.
 */
static void answered(struct cove_call *call)
{
	call->answered = true;
	if (!call->live)
		cv_call_finish(call);
	else
		cv_waiter_wake(call->client, call->waiter);
}

void cv_call_fail(struct cove_call *call, const struct cove_error *err)
{
	call->code = err->code;
	free(call->err);
	call->err = malloc(sizeof(*err));
	if (call->err) {
		*call->err = *err;
		cv_err_operation(call->err, call->op->name);
	}
	answered(call);
}

/*
 * A connection that is gone fails what was under way: a mutation's outcome can't be known (ERR-5).
 */
static void fail_lost(struct cove_call *call, const struct cove_error *why)
{
	struct cove_error err = *why;

	if (why->code == COVE_E_UNAVAILABLE && (call->op->flags & CV_OP_MUTATES)) {
		cv_fail(&err, COVE_E_OUTCOME_UNKNOWN,
			"%s: the guest went away before it answered: %s", call->op->name,
			why->message);
		cv_err_hint(&err, "look at what is there before doing it again");
	} else if (why->code == COVE_E_PROTOCOL_ERROR && (call->op->flags & CV_OP_MUTATES))
		err.retry = COVE_RETRY_RECONCILE_FIRST;
	err.stage = COVE_STAGE_UNKNOWN;
	cv_call_fail(call, &err);
}

void cv_client_break(struct cv_client *c, int code, const char *why)
{
	struct cove_error err = COVE_ERROR_INIT;

	if (c->broken)
		return;
	cv_fail(&err, code, "%s", why);
	err.retry = COVE_RETRY_NEVER;
	c->broken = true;
	if (c->explain && code != COVE_E_CLOSED)
		c->explain(c->explain_user, &err);
	c->broken_code = err.code;
	c->broken_err = malloc(sizeof(err));
	if (c->broken_err)
		*c->broken_err = err;
	for (struct cove_call *call = c->calls; call;) {
		struct cove_call *next = call->next;

		if (!call->answered)
			fail_lost(call, &err);
		call = next;
	}
	cv_waiters_wake_all(c);
}

void cv_client_lost(struct cv_client *c)
{
	if (c->greeted)
		cv_client_break(c, COVE_E_UNAVAILABLE, "the environment's guest has ended");
	else
		cv_client_break(c, COVE_E_PROTOCOL_ERROR, "no guest answers there");
}

static struct cove_call *find_call(struct cv_client *c, uint64_t id)
{
	for (struct cove_call *call = c->calls; call; call = call->next)
		if (call->id == id)
			return call;
	return NULL;
}

static void on_error(struct cove_call *call, const struct cv_frame *f)
{
	struct cove_error err = COVE_ERROR_INIT;
	CV_JSON json_t *j = NULL;

	if (cv_json_load(f->payload, f->len, "the guest's error", &j, &err) == 0)
		cv_error_decode(j, &err);
	else
		err.code = COVE_E_PROTOCOL_ERROR;
	if (err.code == COVE_E_CANCELLED && call->timed_out)
		cv_fail(&err, COVE_E_TIMEOUT, "%s did not end before its deadline", call->op->name);
	if (err.stage == 0 || err.stage == COVE_STAGE_NOT_DISPATCHED)
		err.stage = COVE_STAGE_DISPATCHED;
	cv_call_fail(call, &err);
}

static const char *on_result(struct cove_call *call, const struct cv_frame *f)
{
	if (cv_json_load(f->payload, f->len, "the guest's result", &call->result, NULL) < 0)
		return "a result is not valid JSON";
	call->want_body = f->flags & CV_FRAME_BODY;
	if (!call->want_body)
		answered(call);
	return NULL;
}

/* Live output waits here, at most a window of it, until the call's own thread delivers it. */
static const char *on_live(struct cove_call *call, const struct cv_frame *f)
{
	struct cv_live *l;

	if (f->stream > COVE_STREAM_OUTPUT)
		return "output of a stream that does not exist";
	if (call->live_bytes + f->len > 2 * CV_CREDIT_WINDOW)
		return "more live output came than was asked for";
	l = malloc(sizeof(*l) + f->len);
	if (!l)
		return "out of memory";
	call->live_bytes += f->len;
	*l = (struct cv_live){.stream = f->stream, .len = f->len};
	memcpy(l->data, f->payload, f->len);
	if (call->live)
		call->live_last->next = l;
	else
		call->live = l;
	call->live_last = l;
	cv_waiter_wake(call->client, call->waiter);
	return NULL;
}

static const char *on_data(struct cove_call *call, const struct cv_frame *f)
{
	if (f->stream != 0)
		return call->on_output || call->on_data ? on_live(call, f) : NULL;
	if (!call->want_body)
		return "raw bytes came that no result announced";
	if (f->kind == CV_FRAME_END)
		answered(call);
	else if (cv_buf_add(&call->body, f->payload, f->len) < 0)
		return "a result has more raw bytes than were asked for";
	return NULL;
}

static const char *on_credit(struct cove_call *call, const struct cv_frame *f)
{
	uint32_t n;

	if (f->len != sizeof(n))
		return "a credit has the wrong length";
	memcpy(&n, f->payload, sizeof(n));
	call->stdin_credit += le32toh(n);
	cv_waiter_wake(call->client, call->waiter);
	return NULL;
}

static const char *on_hello(struct cv_client *c, const struct cv_frame *f)
{
	CV_JSON json_t *j = NULL;

	if (c->greeted || cv_json_load(f->payload, f->len, "the guest's greeting", &j, NULL) < 0)
		return "the guest's greeting makes no sense";
	if (json_integer_value(json_object_get(j, "min")) > CV_WIRE_VERSION ||
	    json_integer_value(json_object_get(j, "max")) < CV_WIRE_VERSION)
		return "the guest speaks another version of the protocol; use a guest of the same release";
	c->greeted = true;
	return NULL;
}

/* Handles one message; gives what is wrong with it, or NULL. */
static const char *dispatch(struct cv_client *c, const struct cv_frame *f)
{
	struct cove_call *call;

	if (f->kind == CV_FRAME_HELLO)
		return on_hello(c, f);
	if (!c->greeted)
		return "the guest did not begin with its greeting";
	if (f->kind == CV_FRAME_PING)
		return NULL;
	call = find_call(c, f->call);
	if (!call)
		return f->call && f->call <= c->last_id ? NULL :
							  "an answer to a call that was never made";
	switch (f->kind) {
	case CV_FRAME_RESULT:
		return call->answered || call->result ? "a second answer to a call" :
							on_result(call, f);
	case CV_FRAME_ERROR:
		if (call->answered || call->result)
			return "a second answer to a call";
		on_error(call, f);
		return NULL;
	case CV_FRAME_DATA:
	case CV_FRAME_END:
		return on_data(call, f);
	case CV_FRAME_CREDIT:
		return on_credit(call, f);
	default:
		return "a frame that only a host may send";
	}
}

static void read_all(struct cv_client *c)
{
	struct cv_frame f;
	int rc = cv_conn_read(&c->conn);

	if (rc < 0) {
		cv_client_lost(c);
		return;
	}
	while (!c->broken && (rc = cv_conn_next(&c->conn, &f)) > 0) {
		const char *why = dispatch(c, &f);

		if (why)
			cv_client_break(c, COVE_E_PROTOCOL_ERROR, why);
	}
	if (rc < 0)
		cv_client_break(c, COVE_E_PROTOCOL_ERROR,
				c->conn.why ? c->conn.why : "out of memory");
}

void cv_client_pump(struct cv_client *c)
{
	if (!c->connected || c->broken)
		return;
	if (cv_conn_pending(&c->conn))
		cv_conn_flush(&c->conn);
	read_all(c);
}

void cv_client_close(struct cv_client *c, int code, const char *why)
{
	pthread_mutex_lock(&c->lock);
	cv_client_break(c, code, why);
	while (c->inside > 0)
		pthread_cond_wait(&c->idle, &c->lock);
	/*
	 * Nobody waits for these any more: what is left belongs to threads that will only take it.
	 */
	while (c->calls) {
		struct cove_call *call = c->calls;

		cv_live_free(call);
		cv_call_finish(call);
	}
	if (c->connected)
		cv_conn_done(&c->conn);
	c->connected = false;
	pthread_mutex_unlock(&c->lock);
}
