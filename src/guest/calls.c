/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to calls, and calls to answers. What the host sends is checked like anything from
 * outside.
 */
#include "guest/guest.h"

#include "base/json.h"

#include <endian.h>

#define BODY_MAX (65u << 20)
#define CALLS_MAX 4096
#define EARLY_MAX (256u << 10)

static struct cv_guest_call *find_call(struct cv_guest *g, uint64_t id)
{
	for (struct cv_guest_call *c = g->calls; c; c = c->next)
		if (c->id == id)
			return c;
	return NULL;
}

static void call_free(struct cv_guest_call *call)
{
	for (struct cv_guest_call **at = &call->guest->calls; *at; at = &(*at)->next)
		if (*at == call) {
			*at = call->next;
			break;
		}
	json_decref(call->args);
	cv_buf_done(&call->body);
	cv_buf_done(&call->early);
	cv_arena_free(call->arena);
	free(call->err);
	free(call);
}

static void check_sent(struct cv_guest *g, int rc)
{
	if (rc == -ENOMEM)
		cv_loop_fail(&g->loop, "out of memory for an answer");
	else if (rc < 0)
		g->loop.stop = true; /* whoever would listen is gone */
}

/* An error that takes no memory. */
static void send_no_memory(struct cv_guest *g, uint64_t id, const char *stage)
{
	char text[160];
	struct cv_frame f = {.kind = CV_FRAME_ERROR, .call = id, .payload = text};

	f.len = (size_t)snprintf(
		text, sizeof(text),
		"{\"code\":\"internal\",\"message\":\"out of memory\",\"errno\":%d,"
		"\"stage\":\"%s\",\"retry\":\"%s\"}",
		ENOMEM, stage, stage[0] == 'n' ? "after_capacity" : "reconcile_first");
	check_sent(g, cv_conn_send(&g->conn, &f));
}

/* JSON whose making ran out of memory lacks something: that is said instead. */
static void send_json(struct cv_guest_call *call, uint8_t kind, const json_t *j,
		      const struct cv_body *body)
{
	struct cv_guest *g = call->guest;
	CV_FREE char *text = j ? cv_json_dump(j) : NULL;
	struct cv_frame f = {
		.kind = kind, .call = call->id, .payload = text, .len = text ? strlen(text) : 0};

	if (cv_guest_memory_failed() || !text)
		send_no_memory(g, call->id, kind == CV_FRAME_RESULT ? "completed" : "unknown");
	else
		check_sent(g, cv_conn_send_body(&g->conn, &f, body));
}

static void reply_result(struct cv_reply *r, const void *result)
{
	struct cv_guest_call *call = cv_container(r, struct cv_guest_call, reply);
	struct cv_body body __attribute__((cleanup(cv_body_done))) = {0};
	CV_JSON json_t *j = NULL;

	cv_guest_memory_failed(); /* what came before is not of this answer */
	j = cv_encode(call->op->res, result, false, CV_FORM_WIRE, &body);
	send_json(call, CV_FRAME_RESULT, j, &body);
	call_free(call);
}

static void reply_error(struct cv_reply *r, const struct cove_error *err)
{
	struct cv_guest_call *call = cv_container(r, struct cv_guest_call, reply);
	struct cove_error full = *err;
	struct cv_body none = {0};
	CV_JSON json_t *j = NULL;

	if (full.stage == COVE_STAGE_NOT_DISPATCHED && full.code != COVE_E_INVALID_ARGUMENT)
		full.stage = COVE_STAGE_DISPATCHED;
	if (call->op)
		cv_err_operation(&full, call->op->name);
	cv_guest_memory_failed();
	j = cv_error_encode(&full);
	send_json(call, CV_FRAME_ERROR, j, &none);
	call_free(call);
}

static void reply_live(struct cv_reply *r, int stream, const char *data, size_t len)
{
	struct cv_guest_call *call = cv_container(r, struct cv_guest_call, reply);
	int slot = stream == COVE_STREAM_STDERR ? 2 : 1;
	struct cv_frame f = {.kind = CV_FRAME_DATA,
			     .stream = (uint16_t)stream,
			     .call = call->id,
			     .payload = data,
			     .len = len};

	r->credit[slot] -= CV_MIN(r->credit[slot], len);
	check_sent(call->guest, cv_conn_send(&call->guest->conn, &f));
}

static void reply_want_stdin(struct cv_reply *r, size_t len)
{
	struct cv_guest_call *call = cv_container(r, struct cv_guest_call, reply);
	uint32_t n = htole32((uint32_t)len);
	struct cv_frame f = {.kind = CV_FRAME_CREDIT,
			     .call = call->id,
			     .payload = (const char *)&n,
			     .len = sizeof(n)};

	check_sent(call->guest, cv_conn_send(&call->guest->conn, &f));
}

static struct cv_guest_call *call_new(struct cv_guest *g, uint64_t id)
{
	struct cv_guest_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->guest = g;
	call->id = id;
	call->body = CV_BUF(BODY_MAX);
	call->early = CV_BUF(EARLY_MAX);
	call->reply = (struct cv_reply){
		.result = reply_result,
		.error = reply_error,
		.live = reply_live,
		.want_stdin = reply_want_stdin,
		.credit = {0, 256u << 10, 256u << 10},
	};
	call->next = g->calls;
	g->calls = call;
	return call;
}

static void fail_call(struct cv_guest_call *call, const struct cove_error *err)
{
	reply_error(&call->reply, err);
}

/* Before anything was done. */
static void fail_no_memory(struct cv_guest_call *call)
{
	send_no_memory(call->guest, call->id, "not_dispatched");
	call_free(call);
}

static void drop_json(void *j)
{
	json_decref(j);
}

/* Runs the handler, then gives it the stdin that came before. An answer at once ends the call. */
static void dispatch_with_stdin(struct cv_guest_call *call)
{
	struct cv_buf early = call->early;
	struct cv_guest *g = call->guest;
	uint64_t id = call->id;
	bool ended = call->stdin_ended;

	call->early = CV_BUF(0);
	cv_guest_dispatch(call);
	call = early.len > 0 || ended ? find_call(g, id) : NULL;
	if (call && call->reply.on_stdin && early.len > 0)
		call->reply.on_stdin(&call->reply, early.data, early.len);
	call = ended ? find_call(g, id) : NULL;
	if (call && call->reply.on_stdin)
		call->reply.on_stdin(&call->reply, NULL, 0);
	cv_buf_done(&early);
}

/* The request's struct from its JSON and raw bytes; then the handler. */
static void decode_and_dispatch(struct cv_guest_call *call)
{
	struct cv_body body = {.data = call->body.data, .len = call->body.len};
	struct cove_error err = COVE_ERROR_INIT;
	int rc;

	call->arena = cv_arena_new(call->op->req->size, &call->req);
	if (!call->arena || cv_arena_own(call->arena, drop_json, json_incref(call->args)) < 0) {
		fail_no_memory(call);
		return;
	}
	rc = cv_decode(call->op->req, call->args, CV_FORM_WIRE, &body, call->arena, call->req,
		       &err);
	cv_buf_done(&call->body);
	if (rc == 0)
		rc = cv_op_check(call->op, call->req, &err);
	if (rc < 0) {
		fail_call(call, &err);
		return;
	}
	cv_resolve_defaults(call->op->req, call->req);
	call->dispatched = true;
	dispatch_with_stdin(call);
}

static void proceed(struct cv_guest_call *call)
{
	struct cv_guest *g = call->guest;
	bool is_setup = call->op->id == CV_OP_ID_GUEST_SETUP;
	struct cv_guest_call **at = &g->held;

	if (g->ready != is_setup && !(is_setup && g->setting_up)) {
		decode_and_dispatch(call);
		return;
	}
	if (is_setup || !g->setting_up) {
		struct cove_error err = COVE_ERROR_INIT;

		cv_fail(&err, COVE_E_PROTOCOL_ERROR,
			is_setup ? "the guest was set up already" : "the guest was not set up");
		fail_call(call, g->setup_error && !is_setup ? g->setup_error : &err);
		return;
	}
	while (*at)
		at = &(*at)->next_job;
	*at = call;
}

void cv_guest_release_held(struct cv_guest *g)
{
	while (g->held) {
		struct cv_guest_call *call = g->held;

		g->held = call->next_job;
		if (g->setup_error)
			fail_call(call, g->setup_error);
		else
			decode_and_dispatch(call);
	}
}

/* There was an error, and no memory to keep it in. */
static void reply_no_memory(struct cv_guest_call *call)
{
	send_no_memory(call->guest, call->id, "unknown");
	call_free(call);
}

void cv_guest_call_done(struct cv_guest_call *call)
{
	if (call->rc < 0 && call->err)
		reply_error(&call->reply, call->err);
	else if (call->rc < 0)
		reply_no_memory(call);
	else
		reply_result(&call->reply, call->res);
}

static void on_request(struct cv_guest *g, const struct cv_frame *f)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_guest_call *call;
	CV_JSON json_t *j = NULL;
	const char *name;
	int count = 0;
	int rc;

	for (const struct cv_guest_call *c = g->calls; c; c = c->next)
		count++;
	if (f->call % 2 == 0 || find_call(g, f->call) || count >= 2 * CALLS_MAX) {
		cv_guest_break(g,
			       "a request has a number that it can't have, or there are too many");
		return;
	}
	call = call_new(g, f->call);
	if (!call) {
		send_no_memory(g, f->call, "not_dispatched");
		return;
	}
	call->want_body = f->flags & CV_FRAME_BODY;
	call->stdin_flag = f->flags & CV_FRAME_STDIN;
	call->reply.has_stdin = call->stdin_flag;
	if (count >= CALLS_MAX) {
		cv_fail(&err, COVE_E_BUSY, "%d calls are under way already", count);
		err.retry = COVE_RETRY_AFTER_CAPACITY;
		err.stage = COVE_STAGE_NOT_DISPATCHED;
		call->want_body = false;
		fail_call(call, &err);
		return;
	}
	cv_guest_memory_failed();
	rc = cv_json_load(f->payload, f->len, "the request", &j, &err);
	if (cv_guest_memory_failed()) {
		fail_no_memory(call);
		return;
	}
	if (rc < 0) {
		fail_call(call, &err);
		return;
	}
	name = json_string_value(json_object_get(j, "op"));
	call->op = name ? cv_op_find(name) : NULL;
	call->args = json_incref(json_object_get(j, "args"));
	if (!call->op) {
		cv_fail(&err, COVE_E_NOT_SUPPORTED, "there is no operation '%s'", name ? name : "");
		fail_call(call, &err);
		return;
	}
	if (!call->want_body)
		proceed(call);
}

/* The call still waits for the set-up; credit bounds what can come. */
static void hold_stdin(struct cv_guest_call *call, const struct cv_frame *f)
{
	if (f->kind == CV_FRAME_END)
		call->stdin_ended = true;
	else if (cv_buf_add(&call->early, f->payload, f->len) < 0)
		cv_guest_break(call->guest, "more stdin came than was asked for");
}

static void on_data(struct cv_guest *g, struct cv_guest_call *call, const struct cv_frame *f)
{
	if (call->want_body) {
		if (f->kind == CV_FRAME_END) {
			call->want_body = false;
			proceed(call);
		} else if (cv_buf_add(&call->body, f->payload, f->len) < 0) {
			cv_guest_break(g, "a request is larger than any may be");
		}
		return;
	}
	if (!call->stdin_flag)
		cv_guest_break(g, "raw bytes came that no request announced");
	else if (f->kind == CV_FRAME_DATA && f->len == 0)
		return; /* nothing is not the end */
	else if (!call->dispatched)
		hold_stdin(call, f);
	else if (call->reply.on_stdin)
		call->reply.on_stdin(&call->reply, f->payload,
				     f->kind == CV_FRAME_END ? 0 : f->len);
}

static void on_credit(struct cv_guest *g, struct cv_guest_call *call, const struct cv_frame *f)
{
	int slot = f->stream == COVE_STREAM_STDERR ? 2 : 1;
	uint32_t n;

	if (f->len != sizeof(n)) {
		cv_guest_break(g, "a credit has the wrong length");
		return;
	}
	memcpy(&n, f->payload, sizeof(n));
	call->reply.credit[slot] += le32toh(n);
	if (call->reply.on_credit)
		call->reply.on_credit(&call->reply);
}

static void on_cancel(struct cv_guest_call *call, const struct cv_frame *f)
{
	struct cove_error err = COVE_ERROR_INIT;

	atomic_store(&call->cancel, true);
	call->reply.late = f->flags & CV_FRAME_LATE;
	if (call->dispatched) {
		if (call->reply.on_cancel)
			call->reply.on_cancel(&call->reply);
		return;
	}
	for (struct cv_guest_call **at = &call->guest->held; *at; at = &(*at)->next_job)
		if (*at == call) {
			*at = call->next_job;
			break;
		}
	cv_fail(&err, COVE_E_CANCELLED, "cancelled before it began");
	err.stage = COVE_STAGE_NOT_DISPATCHED;
	fail_call(call, &err);
}

static void on_ping(struct cv_guest *g, const struct cv_frame *f)
{
	struct cv_frame pong = *f;

	if (f->flags & CV_FRAME_PONG)
		return;
	pong.flags = CV_FRAME_PONG;
	check_sent(g, cv_conn_send(&g->conn, &pong));
}

void cv_guest_on_frame(struct cv_guest *g, const struct cv_frame *f)
{
	struct cv_guest_call *call;

	if (f->kind == CV_FRAME_REQUEST) {
		on_request(g, f);
		return;
	}
	if (f->kind == CV_FRAME_PING) {
		on_ping(g, f);
		return;
	}
	if (f->kind == CV_FRAME_HELLO)
		return;
	/* A frame to a call that has just been answered crossed the answer on its way. */
	call = find_call(g, f->call);
	if (!call)
		return;
	switch (f->kind) {
	case CV_FRAME_DATA:
	case CV_FRAME_END:
		on_data(g, call, f);
		break;
	case CV_FRAME_CREDIT:
		on_credit(g, call, f);
		break;
	case CV_FRAME_CANCEL:
		on_cancel(call, f);
		break;
	default:
		cv_guest_break(g, "a frame that only a guest may send");
	}
}
