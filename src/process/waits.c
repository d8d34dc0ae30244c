/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that look at a process, wait for something of it, or act on one that runs. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "process/procs_internal.h"

#include <cove/env.h>
#include <cove/output.h>

#define READ_MAX (4u << 20)

static void fail_reply(struct cv_reply *reply, struct cove_error *err)
{
	reply->error(reply, err);
}

static void nothing(struct cv_reply *reply)
{
	struct cove_nothing none = {0};

	reply->result(reply, &none);
}

/* Finds the process that a request names, or answers with the error. */
static struct cv_process *find(struct cv_procs *procs, const char *handle, int64_t generation,
			       struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_process *p = cv_process_find(procs, handle, generation, &err);

	if (!p)
		fail_reply(reply, &err);
	return p;
}

static struct cv_pending *pend(struct cv_process *p, enum cv_pending_kind kind, const void *req,
			       int64_t timeout_ms, struct cv_reply *reply);

static void pending_free(struct cv_pending *w)
{
	struct cv_process *p = w->process;

	for (struct cv_pending **at = &p->pendings; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			break;
		}
	cv_timer_cancel(p->procs->loop, &w->timer);
	w->reply->on_cancel = NULL;
	free(w);
}

static void answer_exit(const struct cv_process *p, struct cv_reply *reply)
{
	struct cove_process_wait_result result = {0};

	cv_process_exit(p, &result.exit);
	reply->result(reply, &result);
}

static void answer_started(const struct cv_process *p, struct cv_reply *reply)
{
	struct cove_process_start_result r = {.process = p->handle, .generation = p->generation};

	reply->result(reply, &r);
}

static struct cv_pipe *find_pipe(struct cv_process *p, int stream)
{
	if (stream == 0)
		return &p->pipes[0];
	for (int i = 0; i < 2; i++)
		if (p->pipes[i].stream == stream && !(p->merged && i == 1))
			return &p->pipes[i];
	return NULL;
}

/* The same for a stream that was found when the read began. */
static const struct cv_tape *tape_of(struct cv_process *p, int stream)
{
	const struct cv_pipe *pipe = find_pipe(p, stream);

	return pipe ? &pipe->tape : &p->pipes[0].tape;
}

/* A page of text ends on a code point, unless nothing more comes. */
static size_t cut_text(const struct cv_tape *t, const char *data, size_t len, int64_t next)
{
	size_t cut = cv_utf8_cut(data, len);

	return cut == 0 || (t->complete && next == t->end) ? len : cut;
}

static char *page(const struct cv_tape *t, const struct cove_output_read_opts *req,
		  struct cv_arena *arena, int64_t offset, size_t *ret_raw, size_t *ret_len)
{
	size_t len = (size_t)CV_MIN(req->max_bytes, t->end - offset);
	char *data = cv_arena_alloc(arena, len + 1);
	char *text;

	if (!data)
		return NULL;
	len = cv_tape_copy(t, offset, data, len);
	*ret_raw = len;
	*ret_len = len;
	if (!req->text || len == 0)
		return data;
	*ret_raw = cut_text(t, data, len, offset + (int64_t)len);
	text = cv_arena_alloc(arena, cv_utf8_clean_len(data, *ret_raw) + 1);
	if (text)
		*ret_len = cv_utf8_clean(text, data, *ret_raw);
	return text;
}

static void answer_read(struct cv_process *p, const struct cove_output_read_opts *req,
			struct cv_reply *reply)
{
	const struct cv_tape *t = tape_of(p, req->stream);
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_output_read_result r = {.offset = CV_MAX(req->offset, t->start),
					    .is_text = req->text};
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	size_t raw = 0;
	char *data = arena ? page(t, req, arena, r.offset, &raw, &r.data.len) : NULL;

	if (!data) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		fail_reply(reply, &err);
		return;
	}
	r.data.data = data;
	r.next_offset = r.offset + (int64_t)raw;
	r.available_start = t->start;
	r.produced = t->produced;
	r.dropped = t->produced - cv_tape_kept(t);
	r.producer_complete = t->complete;
	r.content_complete = t->complete && r.next_offset == t->end;
	r.coverage = r.dropped ? COVE_COVERAGE_PARTIAL : COVE_COVERAGE_COMPLETE;
	if (r.dropped)
		r.coverage_reason = t->starved ? "there was no memory for more" :
				    t->policy == COVE_POLICY_RING ?
						 "the oldest bytes were dropped" :
						 "bytes beyond the ceiling were dropped";
	reply->result(reply, &r);
}

/* Whether what is waited for has come; then it is answered. */
static bool check_one(struct cv_pending *w)
{
	struct cv_process *p = w->process;
	struct cv_reply *reply = w->reply;
	const struct cove_output_read_opts *read_req = w->req;
	struct cove_process_write_stdin_result written;
	const struct cv_tape *t;

	switch (w->kind) {
	case CV_PENDING_EXITED:
	case CV_PENDING_CLEAN:
	case CV_PENDING_KILL:
		if (p->state != CV_PROCESS_CLEAN && !(w->kind == CV_PENDING_EXITED && p->end_ns) &&
		    !(w->kind == CV_PENDING_KILL && p->tree_failed))
			return false;
		pending_free(w);
		answer_exit(p, reply);
		return true;
	case CV_PENDING_OUTPUT:
		t = tape_of(p, read_req->stream);
		if (t->end <= read_req->offset && !t->complete)
			return false;
		pending_free(w);
		answer_read(p, read_req, reply);
		return true;
	case CV_PENDING_STDIN:
		if (p->in.taken < w->stdin_to && p->in.fd >= 0)
			return false;
		written.bytes_written = CV_MAX(CV_MIN(p->in.taken, w->stdin_to) - w->stdin_from, 0);
		pending_free(w);
		reply->result(reply, &written);
		return true;
	case CV_PENDING_SAME_START:
		if (!p->number)
			return false;
		pending_free(w);
		answer_started(p, reply);
		return true;
	case CV_PENDING_SAME_EXEC:
		if (p->starter || !p->number)
			return false;
		pending_free(w);
		cv_exec_answer(p, reply);
		return true;
	}
	return false;
}

void cv_wait_same(struct cv_process *p, bool is_exec, struct cv_reply *reply)
{
	if (pend(p, is_exec ? CV_PENDING_SAME_EXEC : CV_PENDING_SAME_START, NULL, -1, reply))
		cv_waits_check(p);
}

void cv_waits_check(struct cv_process *p)
{
	struct cv_pending *next;

	/*
	 * The leader's end and all output up to it are known together: what the pipes hold is read
	 * first.
	 */
	if (p->pendings && p->state == CV_PROCESS_EXITED)
		cv_stdio_drain(p);
	for (struct cv_pending *w = p->pendings; w; w = next) {
		next = w->next;
		check_one(w);
	}
}

static void on_pending_timeout(struct cv_timer *timer)
{
	struct cv_pending *w = cv_container(timer, struct cv_pending, timer);
	struct cv_process *p = w->process;
	struct cv_reply *reply = w->reply;
	enum cv_pending_kind kind = w->kind;
	const void *req = w->req;

	pending_free(w);
	if (kind == CV_PENDING_OUTPUT)
		answer_read(p, req, reply);
	else
		answer_exit(p, reply);
}

/* A wait that is given up changes nothing; a kill goes on. */
static void on_pending_cancel(struct cv_reply *reply)
{
	struct cv_pending *w = reply->user;
	struct cove_error err = COVE_ERROR_INIT;

	pending_free(w);
	cv_fail(&err, COVE_E_CANCELLED, "the wait was cancelled");
	err.stage = COVE_STAGE_DISPATCHED;
	fail_reply(reply, &err);
}

static struct cv_pending *pend(struct cv_process *p, enum cv_pending_kind kind, const void *req,
			       int64_t timeout_ms, struct cv_reply *reply)
{
	struct cv_pending *w = calloc(1, sizeof(*w));
	struct cove_error err = COVE_ERROR_INIT;

	if (!w || (timeout_ms >= 0 &&
		   cv_timer_set(p->procs->loop, &w->timer, cv_now_ns() + timeout_ms * 1000000,
				on_pending_timeout) < 0)) {
		free(w);
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		fail_reply(reply, &err);
		return NULL;
	}
	w->process = p;
	w->kind = kind;
	w->req = req;
	w->reply = reply;
	w->next = p->pendings;
	p->pendings = w;
	reply->user = w;
	reply->on_cancel = on_pending_cancel;
	return w;
}

void cv_process_wait(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_wait_opts *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);

	if (!p)
		return;
	if (pend(p, req->until == COVE_UNTIL_EXITED ? CV_PENDING_EXITED : CV_PENDING_CLEAN, req,
		 req->timeout_ms, reply))
		cv_waits_check(p);
}

void cv_process_inspect(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_ref *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);
	struct cove_process_info info;

	if (!p)
		return;
	cv_process_info(p, &info);
	reply->result(reply, &info);
}

void cv_process_list(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	struct cove_process_list_result r = {0};
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_process_info *infos;
	size_t count = 0;

	(void)request;
	for (const struct cv_process *p = procs->processes; p; p = p->next)
		count += p->number != 0;
	infos = arena ? cv_arena_array(arena, count, sizeof(*infos)) : NULL;
	if (!infos) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		fail_reply(reply, &err);
		return;
	}
	/*
	 * Numbers are given in the order in which records are kept, which need not be that of the
	 * list.
	 */
	for (int64_t last = 0; r.process_count < count;) {
		const struct cv_process *best = NULL;

		for (const struct cv_process *p = procs->processes; p; p = p->next)
			if (p->number > last && (!best || p->number < best->number))
				best = p;
		if (!best)
			break;
		last = best->number;
		cv_process_info(best, &infos[r.process_count++]);
	}
	r.processes = infos;
	reply->result(reply, &r);
}

static void refuse_clean(const struct cv_process *p, const char *what, struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;

	cv_fail(&err, COVE_E_CONFLICT, "%s: '%s' has ended, and nothing of it is left", what,
		p->handle);
	err.retry = COVE_RETRY_NEVER;
	cv_err_path(&err, p->handle);
	fail_reply(reply, &err);
}

void cv_process_signal(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_signal_opts *req = request;
	int number = cv_signal_number(req->signal);
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_process *p;

	if (number == 0) {
		cv_fail_arg(&err, "signal", "a name such as TERM, INT, HUP, USR1",
			    "is '%s', which is no signal", req->signal);
		fail_reply(reply, &err);
		return;
	}
	p = find(procs, req->process, req->generation, reply);
	if (!p)
		return;
	if (p->state == CV_PROCESS_CLEAN || !p->worker) {
		refuse_clean(p, "no signal was sent", reply);
		return;
	}
	cv_worker_send(p->worker, CV_KEEPER_SIGNAL, number);
	nothing(reply);
}

void cv_process_kill(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_kill_opts *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);

	if (!p || !pend(p, CV_PENDING_KILL, req, -1, reply))
		return;
	cv_process_end(p, COVE_END_KILLED, req->grace_ms);
	cv_waits_check(p);
}

void cv_process_release(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_ref *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);
	struct cove_error err = COVE_ERROR_INIT;

	if (!p)
		return;
	if (p->state != CV_PROCESS_CLEAN || p->starter) {
		cv_fail(&err, COVE_E_BUSY, "'%s' is still running", p->handle);
		cv_err_hint(&err, "wait for it, or kill it first");
		cv_err_path(&err, p->handle);
		fail_reply(reply, &err);
		return;
	}
	cv_waits_check(p);
	cv_process_free(p);
	nothing(reply);
}

void cv_process_write_stdin(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_write_stdin_opts *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_pending *w;

	if (!p)
		return;
	if ((p->in.fd < 0 && !p->in.broken) || p->in.close_after) {
		cv_fail(&err, COVE_E_CONFLICT, "the stdin of '%s' is closed", p->handle);
		cv_err_hint(&err, "start it with keep_stdin_open");
		cv_err_path(&err, p->handle);
		fail_reply(reply, &err);
		return;
	}
	w = pend(p, CV_PENDING_STDIN, req, -1, reply);
	if (!w)
		return;
	w->stdin_from = p->in.queued;
	w->stdin_to = p->in.queued + (int64_t)req->data.len;
	if (!p->in.broken && cv_stdin_add(p, req->data.data, req->data.len) < 0) {
		pending_free(w);
		cv_fail(&err, COVE_E_TOO_LARGE, "too much waits for '%s' to be read", p->handle);
		cv_err_hint(&err, "wait until it has read what was written");
		cv_err_path(&err, p->handle);
		fail_reply(reply, &err);
		return;
	}
	cv_waits_check(p);
}

void cv_process_close_stdin(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_ref *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);

	if (!p)
		return;
	cv_stdin_finish(p);
	nothing(reply);
}

void cv_output_read(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_output_read_opts *req = request;
	struct cv_process *p = find(procs, req->process, req->generation, reply);
	struct cove_error err = COVE_ERROR_INIT;
	const struct cv_pipe *pipe;

	if (!p)
		return;
	pipe = find_pipe(p, req->stream);
	if (!pipe) {
		cv_fail_arg(&err, "stream", p->merged ? "use output" : "use stdout or stderr",
			    "is not a stream of '%s'", p->handle);
		fail_reply(reply, &err);
		return;
	}
	if (req->offset > pipe->tape.end) {
		cv_fail(&err, COVE_E_CURSOR_INVALID,
			"offset %lld is beyond the end: %lld bytes are there",
			(long long)req->offset, (long long)pipe->tape.end);
		cv_text_copy(err.field, sizeof(err.field), "offset");
		cv_err_hint(&err, "go on from next_offset of the last read");
		cv_err_path(&err, p->handle);
		fail_reply(reply, &err);
		return;
	}
	if (pipe->tape.end > req->offset || pipe->tape.complete || req->wait_ms == 0)
		answer_read(p, req, reply);
	else
		pend(p, CV_PENDING_OUTPUT, req, req->wait_ms, reply);
}

void cv_waits_fail(struct cv_process *p, const struct cove_error *why)
{
	while (p->pendings) {
		struct cv_pending *w = p->pendings;
		struct cv_reply *reply = w->reply;

		pending_free(w);
		reply->error(reply, why);
	}
}

void cv_reset_check(struct cv_procs *procs)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env_reset_result result;
	struct cv_reply *reply = procs->resetting;
	bool failed = false;

	if (!reply)
		return;
	for (struct cv_process *p = procs->processes; p; p = p->next) {
		bool over = p->state == CV_PROCESS_CLEAN && !p->starter;

		if (!over && !p->tree_failed)
			return;
		failed |= !over;
	}
	procs->resetting = NULL;
	if (failed) {
		cv_fail(&err, COVE_E_BUSY,
			"some processes could not be confirmed dead; they stay owned");
		cv_err_hint(&err, "process.list names them; reset again");
		fail_reply(reply, &err);
		return;
	}
	while (procs->processes) {
		struct cv_process *p = procs->processes;

		cv_fail(&err, COVE_E_STALE, "'%s' went with a reset", p->handle);
		err.stage = COVE_STAGE_DISPATCHED;
		cv_err_path(&err, p->handle);
		cv_waits_fail(p, &err);
		cv_process_free(p);
	}
	procs->next_number = 1;
	cv_records_forget(procs);
	result.generation = ++procs->generation;
	reply->result(reply, &result);
}

void cv_env_reset(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;

	(void)request;
	if (procs->resetting) {
		cv_fail(&err, COVE_E_BUSY, "a reset is under way");
		fail_reply(reply, &err);
		return;
	}
	procs->resetting = reply;
	for (struct cv_process *p = procs->processes; p; p = p->next)
		cv_process_end(p, COVE_END_RESET, p->grace_ms);
	cv_reset_check(procs);
}
