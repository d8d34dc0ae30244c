/* SPDX-License-Identifier: Apache-2.0 */
/* Binds handlers to the operation table. */
#include "guest/guest.h"

#include <cove/env.h>

/* One of these, by how an operation works. */
struct binding {
	cv_file_fn *file;
	cv_stream_fn *stream;
	cv_observe_fn *observe;
	cv_process_fn *process;
	void (*guest)(struct cv_guest *g, const void *req, struct cv_reply *reply);
	int (*job)(struct cv_guest *g, const struct cv_file_ctx *ctx, const void *req, void *res,
		   struct cove_error *err); /* in a worker thread; changes nothing of the guest */
};

static void ping(struct cv_guest *g, const void *req, struct cv_reply *reply)
{
	struct cove_nothing none = {0};

	(void)g;
	(void)req;
	reply->result(reply, &none);
}

static void describe(struct cv_guest *g, const void *req, struct cv_reply *reply)
{
	(void)req;
	cv_guest_describe(g, reply);
}

static int diff(struct cv_guest *g, const struct cv_file_ctx *ctx, const void *req, void *res,
		struct cove_error *err)
{
	const char *scratch = g->has_tmp ? g->setup->tmp_dir : NULL;

	return cv_env_diff(ctx, &g->origin, g->space.cwd, scratch, req, res, err);
}

static const struct binding bindings[CV_OP_COUNT] = {
	[CV_OP_ID_FILE_STAT] = {.file = cv_file_stat},
	[CV_OP_ID_FILE_EXISTS] = {.file = cv_file_exists},
	[CV_OP_ID_FILE_LIST] = {.file = cv_file_list},
	[CV_OP_ID_FILE_READ_TEXT] = {.file = cv_file_read_text},
	[CV_OP_ID_FILE_READ_BYTES] = {.file = cv_file_read_bytes},
	[CV_OP_ID_FILE_READ_LINES] = {.file = cv_file_read_lines},
	[CV_OP_ID_FILE_READ_STREAM] = {.stream = cv_file_read_stream},
	[CV_OP_ID_FILE_WRITE_STREAM] = {.stream = cv_file_write_stream},
	[CV_OP_ID_FILE_WRITE_TEXT] = {.file = cv_file_write_text},
	[CV_OP_ID_FILE_WRITE_BYTES] = {.file = cv_file_write_bytes},
	[CV_OP_ID_FILE_EDIT_TEXT] = {.file = cv_file_edit_text},
	[CV_OP_ID_FILE_PATCH_TEXT] = {.file = cv_file_patch_text},
	[CV_OP_ID_FILE_QUERY] = {.file = cv_file_query},
	[CV_OP_ID_FILE_SEARCH_TEXT] = {.file = cv_file_search_text},
	[CV_OP_ID_FILE_MKDIR] = {.file = cv_file_mkdir},
	[CV_OP_ID_FILE_REMOVE] = {.file = cv_file_remove},
	[CV_OP_ID_FILE_COPY] = {.file = cv_file_copy},
	[CV_OP_ID_FILE_MOVE] = {.file = cv_file_move},
	[CV_OP_ID_FILE_TRUNCATE] = {.file = cv_file_truncate},
	[CV_OP_ID_FILE_SYNC] = {.file = cv_file_sync},
	[CV_OP_ID_FILE_MAKE_TEMP] = {.guest = cv_guest_make_temp},
	[CV_OP_ID_FILE_WATCH] = {.observe = cv_file_watch},
	[CV_OP_ID_FILE_WATCH_READ] = {.observe = cv_file_watch_read},
	[CV_OP_ID_FILE_WATCH_CLOSE] = {.observe = cv_file_watch_close},
	[CV_OP_ID_FILE_CANONICAL] = {.file = cv_file_canonical},
	[CV_OP_ID_FILE_ABSOLUTE] = {.file = cv_file_absolute},
	[CV_OP_ID_PROCESS_START] = {.process = cv_process_start},
	[CV_OP_ID_PROCESS_EXEC] = {.process = cv_process_exec},
	[CV_OP_ID_PROCESS_WAIT] = {.process = cv_process_wait},
	[CV_OP_ID_PROCESS_INSPECT] = {.process = cv_process_inspect},
	[CV_OP_ID_PROCESS_LIST] = {.process = cv_process_list},
	[CV_OP_ID_PROCESS_COMPLETIONS] = {.process = cv_process_completions},
	[CV_OP_ID_PROCESS_RESIZE] = {.process = cv_process_resize},
	[CV_OP_ID_PROCESS_SIGNAL] = {.process = cv_process_signal},
	[CV_OP_ID_PROCESS_KILL] = {.process = cv_process_kill},
	[CV_OP_ID_PROCESS_RELEASE] = {.process = cv_process_release},
	[CV_OP_ID_PROCESS_WRITE_STDIN] = {.process = cv_process_write_stdin},
	[CV_OP_ID_PROCESS_CLOSE_STDIN] = {.process = cv_process_close_stdin},
	[CV_OP_ID_OUTPUT_READ] = {.process = cv_output_read},
	[CV_OP_ID_PORT_LIST] = {.process = cv_port_list},
	[CV_OP_ID_PORT_INSPECT] = {.process = cv_port_inspect},
	[CV_OP_ID_PORT_WAIT] = {.process = cv_port_wait},
	[CV_OP_ID_ENV_DESCRIBE] = {.guest = describe},
	[CV_OP_ID_ENV_PING] = {.guest = ping},
	[CV_OP_ID_ENV_RESET] = {.process = cv_env_reset},
	[CV_OP_ID_ENV_DIFF] = {.job = diff},
	[CV_OP_ID_ENV_RESOLVE_TMP] = {.guest = cv_guest_resolve_tmp},
};

static int run_file(struct cv_guest_call *call, struct cove_error *err)
{
	const struct binding *b = &bindings[call->op->id];
	struct cv_file_ctx ctx = {
		.space = &call->guest->space, .arena = call->arena, .cancel = &call->cancel};

	if (atomic_load(&call->cancel))
		return cv_fail(err, COVE_E_CANCELLED, "cancelled before it began");
	call->res = cv_arena_alloc(call->arena, call->op->res->size);
	if (!call->res)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	if (b->job)
		return b->job(call->guest, &ctx, call->req, call->res, err);
	return b->file(&ctx, call->req, call->res, err);
}

void cv_guest_run_job(struct cv_guest_call *call)
{
	struct cove_error err = COVE_ERROR_INIT;

	if (call->op->id == CV_OP_ID_GUEST_SETUP)
		call->rc = cv_guest_prepare(call, &err);
	else
		call->rc = run_file(call, &err);
	if (call->rc == 0)
		return;
	if (err.code == 0)
		cv_fail(&err, call->rc, "%s", cove_code_name(call->rc));
	call->err = malloc(sizeof(err));
	if (call->err)
		*call->err = err;
}

void cv_guest_dispatch(struct cv_guest_call *call)
{
	const struct binding *b = &bindings[call->op->id];
	struct cv_guest *g = call->guest;

	if (call->op->id == CV_OP_ID_GUEST_SETUP) {
		/* Only a seed takes its time. */
		g->setting_up = true;
		if (((const struct cv_guest_setup *)call->req)->seed) {
			cv_workers_add(g, call);
		} else {
			cv_guest_run_job(call);
			cv_guest_setup_done(call);
		}
	} else if ((b->file || b->job) && (call->op->flags & CV_OP_LONG)) {
		cv_workers_add(g, call);
	} else if (b->file) {
		cv_guest_run_job(call);
		cv_guest_call_done(call);
	} else if (b->stream) {
		b->stream(&g->streams, call->req, &call->reply);
	} else if (b->observe) {
		b->observe(&g->observers, call->req, &call->reply);
	} else if (b->process) {
		b->process(&g->procs, call->req, &call->reply);
	} else {
		b->guest(g, call->req, &call->reply);
	}
}
