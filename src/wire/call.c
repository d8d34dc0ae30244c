/* SPDX-License-Identifier: Apache-2.0 */
/* One call: made from a request, sent, and turned into its result. */
#include "wire/client_internal.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json.h"

#include <poll.h>

#define BODY_MAX (65u << 20)

static void call_free(struct cove_call *call)
{
	if (!call)
		return;
	cv_live_free(call);
	json_decref(call->result);
	cv_buf_done(&call->body);
	free(call->err);
	free(call);
}

static struct cove_call *call_new(struct cv_client *c, const struct cv_op *op,
				  const struct cove_call_opts *opts)
{
	struct cove_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->client = c;
	call->op = op;
	call->body = CV_BUF(BODY_MAX);
	if (opts) {
		call->cancel = opts->cancel;
		call->deadline_ns = opts->timeout_ms ? cv_now_ns() + opts->timeout_ms * 1000000 : 0;
	}
	return call;
}

/* The message {"op":…,"args":…}, with the request's raw bytes in body. */
static char *encode_request(const struct cv_op *op, const void *req, struct cv_body *body)
{
	CV_JSON json_t *j = json_object();
	json_t *args = req ? cv_encode(op->req, req, true, CV_FORM_WIRE, body) : json_object();

	if (!j || !args)
		return NULL;
	json_object_set_new_nocheck(j, "op", json_string_nocheck(op->name));
	json_object_set_new_nocheck(j, "args", args);
	return cv_json_dump(j);
}

static int refuse_broken(const struct cv_client *c, const struct cv_op *op, struct cove_error *err)
{
	if (!err)
		return c->broken_code;
	if (c->broken_err)
		*err = *c->broken_err;
	else
		cv_fail(err, c->broken_code, "the environment is gone");
	err->stage = COVE_STAGE_NOT_DISPATCHED;
	cv_err_operation(err, op->name);
	return c->broken_code;
}

static int refuse_many(const struct cv_op *op, struct cove_error *err)
{
	cv_fail(err, COVE_E_BUSY, "%s: %d calls are under way already", op->name, CV_CALLS_MAX);
	cv_err_hint(err, "take the results of some first");
	if (err)
		err->retry = COVE_RETRY_AFTER_CAPACITY;
	return COVE_E_BUSY;
}

static void link_call(struct cv_client *c, struct cove_call *call)
{
	call->id = c->last_id += c->last_id ? 2 : 1; /* a host's calls are odd */
	call->next = c->calls;
	call->link = &c->calls;
	if (c->calls)
		c->calls->link = &call->next;
	c->calls = call;
	c->open_calls++;
}

/* A deadline is the guest's to keep, also with a yield before it; the host only looks that it does (PROV-8). */
static void note_backstop(struct cove_call *call, const struct cove_exec_opts *exec)
{
	int64_t timeout_ms = exec->timeout_ms ? exec->timeout_ms : call->client->timeout_ms;
	int64_t grace_ms = exec->grace_ms == COVE_ZERO ? 0 : exec->grace_ms ? exec->grace_ms : 2000;

	if (timeout_ms)
		call->backstop_ns =
			cv_now_ns() + (timeout_ms + grace_ms + CV_BACKSTOP_MS) * 1000000;
}

static void open_stdin(struct cove_call *call, struct cv_frame *f)
{
	call->stdin_open = true;
	call->stdin_credit = CV_CREDIT_WINDOW;
	f->flags |= CV_FRAME_STDIN;
}

static void note_streams(struct cove_call *call, const struct cv_op *op, const void *req,
			 struct cv_frame *f)
{
	const struct cove_file_read_stream_opts *reading = req;
	const struct cove_exec_opts *exec = req;

	if (op->flags & CV_OP_STREAM_OUT) {
		call->on_data = reading->on_data;
		call->on_data_user = reading->on_data_user;
	}
	if (op->flags & CV_OP_STREAM_IN)
		open_stdin(call, f);
	if (op->id != CV_OP_ID_PROCESS_EXEC)
		return;
	note_backstop(call, exec);
	call->on_output = exec->on_output;
	call->on_output_user = exec->on_output_user;
	if (exec->keep_stdin_open)
		open_stdin(call, f);
}

int cv_call_submit(struct cv_client *c, const struct cv_op *op, const void *req,
		   const struct cove_call_opts *opts, struct cove_call **ret_call,
		   struct cove_error *err)
{
	struct cv_body body __attribute__((cleanup(cv_body_done))) = {0};
	CV_FREE char *text = encode_request(op, req, &body);
	struct cove_call *call = text ? call_new(c, op, opts) : NULL;
	struct cv_frame f = {
		.kind = CV_FRAME_REQUEST, .payload = text, .len = text ? strlen(text) : 0};
	int rc;

	if (!call)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	note_streams(call, op, req, &f);
	pthread_mutex_lock(&c->lock);
	if (!c->broken && c->open_calls >= CV_CALLS_MAX) {
		pthread_mutex_unlock(&c->lock);
		call_free(call);
		return refuse_many(op, err);
	}
	if (c->broken) {
		rc = refuse_broken(c, op, err);
		pthread_mutex_unlock(&c->lock);
		call_free(call);
		return rc;
	}
	link_call(c, call);
	f.call = call->id;
	rc = cv_conn_send_body(&c->conn, &f, &body);
	if (rc == -EMSGSIZE)
		call->code = COVE_E_TOO_LARGE;
	else if (rc < 0)
		cv_client_lost(c);
	if (c->mover && cv_conn_pending(&c->conn))
		cv_waiters_wake_all(c);
	if (call->code == COVE_E_TOO_LARGE)
		cv_call_finish(call);
	pthread_mutex_unlock(&c->lock);
	if (call->code == COVE_E_TOO_LARGE) {
		call_free(call);
		return cv_fail(err, COVE_E_TOO_LARGE, "the request is larger than 16 MiB");
	}
	*ret_call = call;
	return 0;
}

static int take_error(const struct cove_call *call, struct cove_error *err)
{
	if (!err)
		return call->code;
	if (call->err)
		*err = *call->err;
	else
		cv_fail(err, call->code, "%s failed", call->op->name);
	return call->code;
}

static void drop_json(void *j)
{
	json_decref(j);
}

/* The operation was carried out; only what came of it can't be told. */
static int bad_result(const struct cove_call *call, const struct cove_error *why,
		      struct cove_error *err)
{
	int code = why->code == COVE_E_INTERNAL ? COVE_E_INTERNAL : COVE_E_PROTOCOL_ERROR;

	cv_fail(err, code, "%s: the guest's result makes no sense: %s", call->op->name,
		why->message);
	if (err)
		err->stage = COVE_STAGE_COMPLETED;
	return code;
}

static int decode_result(struct cove_call *call, void **ret_result, struct cove_error *err)
{
	struct cv_body body = {.data = call->body.data, .len = call->body.len};
	struct cove_error why = COVE_ERROR_INIT;
	void *result = NULL;
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(call->op->res->size, &result);

	/* Strings of the result are borrowed from the JSON, which therefore lives as long. */
	if (!arena || cv_arena_own(arena, drop_json, json_incref(call->result)) < 0)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	if (cv_decode(call->op->res, call->result, CV_FORM_WIRE, &body, arena, result, &why) < 0)
		return bad_result(call, &why, err);
	if (ret_result) {
		*ret_result = result;
		arena = NULL;
	}
	return 0;
}

static int callback_error(const struct cove_call *call, struct cove_error *err)
{
	cv_fail(err, COVE_E_CALLBACK_FAILED,
		call->on_data ? "%s: the callback ended it" :
				"%s: the output callback failed, and the command was ended",
		call->op->name);
	if (err)
		err->stage = COVE_STAGE_COMPLETED;
	return COVE_E_CALLBACK_FAILED;
}

int cv_call_take(struct cove_call *call, void **ret_result, struct cove_error *err)
{
	int rc;

	while (!cv_call_wait(call, -1))
		poll(NULL, 0, 1); /* no descriptor was left to sleep on */
	if (call->callback_failed)
		rc = callback_error(call, err);
	else if (call->code < 0)
		rc = take_error(call, err);
	else
		rc = decode_result(call, ret_result, err);
	if (rc < 0)
		cv_err_operation(err, call->op->name);
	call_free(call);
	return rc;
}

int cove_call_poll(struct cove_call *call)
{
	return cv_call_wait(call, 0);
}

int cove_call_wait(struct cove_call *call, int64_t timeout_ms)
{
	return cv_call_wait(call, timeout_ms);
}

int cove_call_take(struct cove_call *call, void **ret_result, struct cove_error *err)
{
	return cv_call_take(call, ret_result, err);
}

int cove_call_take_json(struct cove_call *call, char **ret_json, struct cove_error *err)
{
	const struct cv_op *op = call->op;
	void *result = NULL;
	CV_JSON json_t *j = NULL;
	CV_FREE char *text = NULL;
	void *copy;
	int rc = cv_call_take(call, &result, err);

	if (rc < 0)
		return rc;
	j = cv_encode(op->res, result, false, CV_FORM_JSON, NULL);
	text = j ? cv_json_dump(j) : NULL;
	cove_result_free(result);
	if (!text || !cv_arena_new(strlen(text) + 1, &copy))
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	*ret_json = memcpy(copy, text, strlen(text) + 1);
	return 0;
}

void cove_call_cancel(struct cove_call *call)
{
	struct cv_client *c;

	if (!call || atomic_load_explicit(&call->done, memory_order_acquire))
		return;
	c = call->client;
	pthread_mutex_lock(&c->lock);
	cv_call_send_cancel(call);
	cv_waiter_wake(c, call->waiter);
	pthread_mutex_unlock(&c->lock);
}

/* An answer that still comes is to a call that is no longer known, and is dropped. */
void cove_call_free(struct cove_call *call)
{
	if (!call)
		return;
	if (!atomic_load_explicit(&call->done, memory_order_acquire)) {
		struct cv_client *c = call->client;

		pthread_mutex_lock(&c->lock);
		cv_call_send_cancel(call);
		cv_live_free(call);
		if (!atomic_load(&call->done))
			cv_call_finish(call);
		pthread_mutex_unlock(&c->lock);
	}
	call_free(call);
}

static int64_t write_stdin(struct cove_call *call, const void *data, size_t len)
{
	struct cv_frame f = {
		.kind = len ? CV_FRAME_DATA : CV_FRAME_END, .call = call->id, .payload = data};

	if (len == 0) {
		call->stdin_open = false;
		return cv_conn_send(&call->client->conn, &f);
	}
	f.len = CV_MIN(len, call->stdin_credit);
	if (f.len == 0)
		return 0;
	call->stdin_credit -= f.len;
	cv_conn_send(&call->client->conn, &f);
	return (int64_t)f.len;
}

int64_t cove_call_write(struct cove_call *call, const void *data, size_t len,
			struct cove_error *err)
{
	struct cv_client *c = call->client;
	int64_t n = 0;

	if (atomic_load_explicit(&call->done, memory_order_acquire))
		return (int64_t)len;
	pthread_mutex_lock(&c->lock);
	if (!call->stdin_open)
		n = cv_fail_arg(err, "data",
				"submit process.exec with keep_stdin_open, or file.write_stream",
				"is not wanted: this call takes none, or was told their end");
	else if (c->broken || call->answered)
		n = (int64_t)len;
	else
		n = write_stdin(call, data, len);
	pthread_mutex_unlock(&c->lock);
	return n;
}
