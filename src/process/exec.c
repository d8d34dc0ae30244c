/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.exec and process.start: a request becomes a process, and what became of it the answer.
 *
 * An exec answers when its tree is clean, or, where descendants are adopted, when its output has
 * fallen silent; never because a pipe has ended or has not. A start answers when exec has
 * succeeded.
 */
#include "base/clock.h"
#include "base/view.h"
#include "process/procs_internal.h"

/*
 * Descendants that outlive an exec are told to end; so long they may take before they are killed.
 */
#define SURVIVOR_GRACE_MS 100

/* Adopted output: silent for so long, or so long in all. */
#define SILENCE_NS (100 * INT64_C(1000000))
#define DRAIN_NS (500 * INT64_C(1000000))

void cv_reply_error(struct cv_reply *reply, int rc, struct cove_error *err)
{
	if (err->code == 0)
		cv_fail(err, rc, "%s", cove_code_name(rc));
	reply->error(reply, err);
}

static void on_deadline(struct cv_timer *timer)
{
	struct cv_process *p = cv_container(timer, struct cv_process, deadline);

	cv_process_end(p, COVE_END_TIMEOUT, p->grace_ms);
}

/* Still running: it goes on as a numbered process, and the call is answered. */
static void on_yield(struct cv_timer *timer)
{
	struct cv_process *p = cv_container(timer, struct cv_process, yield_timer);

	if (!p->starter)
		return;
	/* Not before exec has succeeded: until then the call's answer may be an error. */
	if (p->state < CV_PROCESS_RUNNING) {
		p->yield_due = true;
		return;
	}
	cv_exec_finish(p);
	cv_stdio_resume(p);
}

static void on_cancel(struct cv_reply *reply)
{
	struct cv_process *p = reply->user;

	cv_process_end(p, reply->late ? COVE_END_TIMEOUT : COVE_END_CANCELLED, p->grace_ms);
}

static void on_credit(struct cv_reply *reply)
{
	cv_stdio_resume(reply->user);
}

static void on_stdin(struct cv_reply *reply, const char *data, size_t len)
{
	struct cv_process *p = reply->user;

	if (len == 0)
		cv_stdin_finish(p);
	else if (cv_stdin_add(p, data, len) < 0)
		cv_process_end(p, COVE_END_CANCELLED, 0);
}

/* Takes the answer out of the process: it is given once. */
static struct cv_reply *take_starter(struct cv_process *p)
{
	struct cv_reply *reply = TAKE(p->starter);

	reply->on_cancel = NULL;
	reply->on_credit = NULL;
	reply->on_stdin = NULL;
	reply->user = NULL;
	return reply;
}

static int give_stdin(struct cv_process *p, const struct cove_exec_opts *req)
{
	if (!req->stdin_data.data)
		return 0;
	if (cv_stdin_add(p, req->stdin_data.data, req->stdin_data.len) < 0)
		return -ENOMEM;
	if (!req->keep_stdin_open)
		cv_stdin_finish(p);
	return 0;
}

/* Within a session the script is wrapped; the record keeps what the caller wrote. */
static int prepare_launch(struct cv_process *p, const struct cove_exec_opts *req,
			  struct cove_error *err)
{
	struct cove_exec_opts wrapped = *req;
	CV_BUF_SCOPE struct cv_buf script = CV_BUF(8u << 20);
	int rc;

	if (!req->session)
		return cv_launch_new(p->procs, req, &p->launch, err);
	rc = cv_session_wrap(p->procs, req, &script, err);
	if (rc < 0)
		return rc;
	p->session = strdup(req->session);
	if (!p->session)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	wrapped.script = script.data;
	return cv_launch_new(p->procs, &wrapped, &p->launch, err);
}

static int begin(struct cv_process *p, const struct cove_exec_opts *req, struct cove_error *err)
{
	int64_t timeout_ms = req->timeout_ms ? req->timeout_ms : p->procs->timeout_ms;
	int rc = prepare_launch(p, req, err);

	if (rc < 0)
		return rc;
	rc = cv_spill_begin(p, req->output.spill);
	if (rc == 0)
		rc = cv_stdio_open(p, req, p->launch->fds);
	if (rc == 0)
		rc = cv_stdio_watch(p);
	if (rc == 0)
		rc = give_stdin(p, req);
	if (rc == 0 && timeout_ms)
		rc = cv_timer_set(p->procs->loop, &p->deadline, p->start_ns + timeout_ms * 1000000,
				  on_deadline);
	if (rc == 0 && req->yield_ms)
		rc = cv_timer_set(p->procs->loop, &p->yield_timer,
				  p->start_ns + req->yield_ms * 1000000, on_yield);
	if (rc < 0)
		return cv_fail_errno(err, -rc, NULL, "can't prepare the command's pipes");
	return 0;
}

/* The child's ends were not handed to a keeper. */
static void close_child_ends(struct cv_process *p)
{
	for (int i = 0; p->launch && i < 3; i++)
		if (p->launch->fds[i] != p->procs->null_fd)
			cv_close(&p->launch->fds[i]);
}

static void configure(struct cv_process *p, const struct cove_exec_opts *req,
		      struct cv_reply *reply)
{
	p->descendants = req->descendants;
	p->max_output = req->max_output_bytes;
	p->keep = req->keep || req->id;
	p->live = req->on_output != NULL;
	p->starter = reply;
	reply->user = p;
	reply->on_cancel = on_cancel;
	reply->on_credit = on_credit;
	reply->on_stdin = reply->has_stdin ? on_stdin : NULL;
}

/* Makes the process; its id is taken from now on. */
static int create(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_reply *reply,
		  bool is_exec, uint64_t print, struct cove_error *err)
{
	struct cv_process *p = cv_process_new(procs, req);
	int rc = 0;

	if (!p)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	p->is_exec = is_exec;
	p->fingerprint = print;
	p->id = req->id ? strdup(req->id) : NULL;
	if (req->id && !p->id)
		rc = cv_fail(err, COVE_E_INTERNAL, "out of memory");
	configure(p, req, reply);
	if (rc == 0)
		rc = begin(p, req, err);
	if (rc == 0) {
		cv_pool_run(p);
		return 0;
	}
	take_starter(p);
	close_child_ends(p);
	cv_process_free(p);
	return rc;
}

static void launch(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_reply *reply,
		   bool is_exec)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_process *same = NULL;
	uint64_t print = 0;
	int rc = 0;

	if (req->id)
		rc = cv_record_by_id(procs, req, is_exec, &print, &same, &err);
	if (same) {
		cv_wait_same(same, is_exec, reply);
		return;
	}
	if (rc == 0)
		rc = create(procs, req, reply, is_exec, print, &err);
	if (rc < 0)
		cv_reply_error(reply, rc, &err);
}

void cv_process_exec(struct cv_procs *procs, const void *req, struct cv_reply *reply)
{
	launch(procs, req, reply, true);
}

void cv_process_start(struct cv_procs *procs, const void *req, struct cv_reply *reply)
{
	launch(procs, req, reply, false);
}

void cv_exec_started(struct cv_process *p)
{
	struct cove_process_start_result result = {0};
	struct cv_reply *reply;

	if (p->is_exec && p->yield_due)
		on_yield(&p->yield_timer);
	if (!p->starter || p->is_exec)
		return;
	reply = take_starter(p);
	cv_process_give_number(p);
	result.process = p->handle;
	result.generation = p->generation;
	reply->result(reply, &result);
	cv_waits_check(p);
}

void cv_exec_failed(struct cv_process *p, int stage, int errnum)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_reply *reply = take_starter(p);

	cv_launch_error(p->launch, stage, errnum, &err);
	cv_waits_fail(p, &err);
	close_child_ends(p);
	cv_process_free(p);
	reply->error(reply, &err);
}

/* The same of what a terminal would have shown. */
static int show_rendered(const struct cv_pipe *pipe, int64_t budget, struct cv_arena *arena,
			 struct cove_output *out)
{
	size_t window = (size_t)budget / 2 + 1 + CV_VIEW_SLACK;
	struct cv_window win;
	size_t tail;
	char *data;

	if (pipe->renderer && pipe->tape.complete)
		cove_renderer_finish(pipe->renderer);
	cv_bounder_window(pipe->rendered, &win);
	if (win.total > win.head_len)
		win.head_len = CV_MIN(win.head_len, window);
	tail = CV_MIN(CV_MIN(win.tail_len, window), (size_t)win.total - win.head_len);
	data = cv_arena_alloc(arena, win.head_len + tail + 1);
	if (!data)
		return -ENOMEM;
	memcpy(data, win.head, win.head_len);
	memcpy(data + win.head_len, win.tail + win.tail_len - tail, tail);
	out->data = data;
	out->head_len = win.head_len;
	out->data_len = win.head_len + tail;
	out->bytes = (int64_t)win.total;
	out->shown = budget;
	return 0;
}

/* One stream as the result shows it: all of it, or the windows from which the text can be made. */
static int show(const struct cv_pipe *pipe, int64_t budget, struct cv_arena *arena,
		struct cove_output *out)
{
	const struct cv_process *p = pipe->process;

	const struct cv_tape *t = &pipe->tape;
	size_t window = (size_t)budget / 2 + 1 + CV_VIEW_SLACK;
	char *data;

	out->bytes = t->produced;
	if (p->spill && p->spill->path[0])
		out->spill_path = cv_path_show(p->spill->path, p->procs->space->cwd);
	if (p->spill && p->spill->errnum)
		out->spill_error = strerror(p->spill->errnum);
	if (pipe->rendered)
		return show_rendered(pipe, budget, arena, out);
	out->shown = budget; /* the wire's form carries the budget here */
	if (t->produced <= CV_MAX(budget, 2 * (int64_t)window) && t->start == 0 &&
	    t->produced == t->end) {
		data = cv_arena_alloc(arena, (size_t)t->end + 1);
		if (!data)
			return -ENOMEM;
		out->data_len = cv_tape_copy(t, 0, data, (size_t)t->end);
		out->head_len = out->data_len;
	} else {
		size_t tail;

		data = cv_arena_alloc(arena, 2 * window + 1);
		if (!data)
			return -ENOMEM;
		out->head_len = cv_tape_head(t, data, (size_t)CV_MIN((int64_t)window, t->produced));
		/* What the head shows is not shown again. */
		tail = (size_t)CV_MIN(CV_MIN(cv_tape_kept(t), (int64_t)window),
				      t->end - (int64_t)out->head_len);
		out->data_len = out->head_len +
				cv_tape_copy(t, t->end - (int64_t)tail, data + out->head_len, tail);
	}
	out->data = data;
	return 0;
}

void cv_exec_answer(struct cv_process *p, struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_exec_result *r = NULL;
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(sizeof(*r), (void **)&r);
	int rc = arena ? show(&p->pipes[0], p->max_output, arena, &r->out) : -ENOMEM;

	if (rc == 0 && p->spill && p->spill->required && p->spill->errnum) {
		cv_fail_errno(&err, p->spill->errnum, p->spill->path,
			      "the output could not be spilled, and the command was ended");
		err.code = COVE_E_SPILL_FAILED;
		err.stage = COVE_STAGE_COMPLETED;
		reply->error(reply, &err);
		return;
	}
	if (rc == 0)
		rc = show(&p->pipes[1], p->max_output, arena, &r->err);
	if (rc < 0) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory for the command's output");
		err.stage = COVE_STAGE_COMPLETED;
		reply->error(reply, &err);
		return;
	}
	r->merged = p->merged;
	cv_process_exit(p, &r->exit);
	if (p->number) {
		r->process = p->handle;
		r->generation = p->generation;
	}
	reply->result(reply, r);
}

void cv_exec_finish(struct cv_process *p)
{
	bool kept;
	struct cv_reply *reply;

	if (!p->is_exec) {
		/* A start whose command was killed before its exec could be reported. */
		cv_exec_started(p);
		cv_waits_check(p);
		return;
	}
	kept = p->keep || p->state != CV_PROCESS_CLEAN;
	if (kept)
		cv_process_give_number(p);
	/* Whose end this answer tells is not told again. */
	p->told = p->state == CV_PROCESS_CLEAN;
	cv_timer_cancel(p->procs->loop, &p->yield_timer);
	cv_timer_cancel(p->procs->loop, &p->drain_timer);
	reply = take_starter(p);
	cv_exec_answer(p, reply);
	if (kept)
		cv_waits_check(p);
	else
		cv_process_free(p);
}

static void on_silence(struct cv_timer *timer)
{
	struct cv_process *p = cv_container(timer, struct cv_process, drain_timer);

	if (p->starter)
		cv_exec_finish(p);
}

static void await_silence(struct cv_process *p)
{
	int64_t due = CV_MIN(cv_now_ns() + SILENCE_NS, p->drain_until_ns);

	cv_timer_must(p->procs->loop, &p->drain_timer, due, on_silence);
}

void cv_exec_leader_ended(struct cv_process *p)
{
	if (!p->starter || !p->is_exec || p->cause)
		return;
	if (p->descendants == COVE_DESCENDANTS_ADOPT) {
		p->drain_until_ns = cv_now_ns() + DRAIN_NS;
		if (cv_stdio_open_pipes(p))
			await_silence(p);
		else
			cv_exec_finish(p);
		return;
	}
	cv_process_end(p, COVE_END_EXIT, CV_MIN(p->grace_ms, (int64_t)SURVIVOR_GRACE_MS));
}

/* Output, or its end, while an adopted tree is being listened to. */
void cv_exec_on_output(struct cv_process *p)
{
	if (!p->starter || p->drain_timer.due_ns == 0)
		return;
	if (cv_stdio_open_pipes(p))
		await_silence(p);
	else
		cv_exec_finish(p);
}
