/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of processes: which end has been told, which records are kept, which ids are taken.
 *
 * Each numbered process that becomes clean is told once by process.completions, whoever asks.
 * Finished records have budgets of number, age and bytes; the oldest goes first, reading one does
 * not keep it, and a handle whose record went says so. A live one is never evicted.
 */
#include "base/clock.h"
#include "base/json.h"
#include "process/procs_internal.h"

#define RECORDS_MAX 256
#define RECORD_NS (30 * 60 * INT64_C(1000000000))
#define BYTES_MAX (INT64_C(256) << 20)

static bool finished(const struct cv_process *p)
{
	return p->number && p->state == CV_PROCESS_CLEAN && !p->starter;
}

static struct cv_process *oldest(struct cv_procs *procs)
{
	struct cv_process *best = NULL;

	for (struct cv_process *p = procs->processes; p; p = p->next)
		if (finished(p) && !p->pendings && (!best || p->clean_order < best->clean_order))
			best = p;
	return best;
}

static int64_t bytes_of(const struct cv_process *p)
{
	return cv_tape_kept(&p->pipes[0].tape) + cv_tape_kept(&p->pipes[1].tape);
}

/* One bit per number; memory that can't be had only makes the reason less exact. */
static void note_evicted(struct cv_procs *procs, int64_t number)
{
	size_t byte = (size_t)number / 8;

	if (byte >= procs->evicted_len) {
		size_t len = CV_MAX(procs->evicted_len * 2, byte + 64);
		unsigned char *grown = realloc(procs->evicted, len);

		if (!grown)
			return;
		memset(grown + procs->evicted_len, 0, len - procs->evicted_len);
		procs->evicted = grown;
		procs->evicted_len = len;
	}
	procs->evicted[byte] |= (unsigned char)(1 << number % 8);
}

bool cv_record_evicted(const struct cv_procs *procs, int64_t number)
{
	size_t byte = (size_t)number / 8;

	return byte < procs->evicted_len && (procs->evicted[byte] & (1 << number % 8));
}

void cv_records_forget(struct cv_procs *procs)
{
	free(TAKE(procs->evicted));
	procs->evicted_len = 0;
}

static void on_age(struct cv_timer *timer)
{
	cv_records_trim(cv_container(timer, struct cv_procs, age_timer));
}

void cv_records_trim(struct cv_procs *procs)
{
	int64_t now = cv_now_ns();

	for (;;) {
		struct cv_process *old = oldest(procs);
		int64_t bytes = 0;
		int count = 0;

		for (const struct cv_process *p = procs->processes; p; p = p->next)
			if (finished(p)) {
				count++;
				bytes += bytes_of(p);
			}
		if (!old || (count <= RECORDS_MAX && bytes <= BYTES_MAX &&
			     old->clean_ns + RECORD_NS > now)) {
			if (old)
				cv_timer_must(procs->loop, &procs->age_timer,
					      old->clean_ns + RECORD_NS, on_age);
			return;
		}
		note_evicted(procs, old->number);
		cv_process_free(old);
	}
}

static struct cv_process *next_untold(struct cv_procs *procs)
{
	struct cv_process *best = NULL;

	for (struct cv_process *p = procs->processes; p; p = p->next)
		if (finished(p) && !p->told && (!best || p->clean_order < best->clean_order))
			best = p;
	return best;
}

static int untold(const struct cv_procs *procs)
{
	int n = 0;

	for (const struct cv_process *p = procs->processes; p; p = p->next)
		n += finished(p) && !p->told;
	return n;
}

static void answer(struct cv_procs *procs, int64_t max, struct cv_reply *reply)
{
	struct cove_process_completions_result r = {0};
	struct cove_error err = COVE_ERROR_INIT;
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	size_t count = (size_t)CV_MIN((int64_t)untold(procs), max);
	struct cove_process_info *infos = arena ? cv_arena_array(arena, count, sizeof(*infos)) :
						  NULL;

	if (!infos) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		reply->error(reply, &err);
		return;
	}
	for (; r.completion_count < count; r.completion_count++) {
		struct cv_process *p = next_untold(procs);

		if (!p)
			break;
		p->told = true;
		cv_process_info(p, &infos[r.completion_count]);
	}
	r.completions = infos;
	r.has_more = untold(procs) > 0;
	reply->result(reply, &r);
}

static void end_wait(struct cv_procs *procs)
{
	struct cv_reply *reply = TAKE(procs->completions);

	cv_timer_cancel(procs->loop, &procs->completions_timer);
	reply->on_cancel = NULL;
	answer(procs, procs->completions_max, reply);
}

static void on_wait_end(struct cv_timer *timer)
{
	end_wait(cv_container(timer, struct cv_procs, completions_timer));
}

static void on_cancel(struct cv_reply *reply)
{
	struct cv_procs *procs = reply->user;
	struct cove_error err = COVE_ERROR_INIT;

	procs->completions = NULL;
	cv_timer_cancel(procs->loop, &procs->completions_timer);
	cv_fail(&err, COVE_E_CANCELLED, "the wait was cancelled");
	err.stage = COVE_STAGE_DISPATCHED;
	reply->error(reply, &err);
}

void cv_records_clean(struct cv_process *p)
{
	p->clean_ns = cv_now_ns();
	p->clean_order = ++p->procs->clean_count;
	if (p->procs->completions && p->number && !p->told)
		end_wait(p->procs);
}

void cv_process_completions(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_completions_opts *req = request;
	struct cove_error err = COVE_ERROR_INIT;

	if (untold(procs) > 0 || req->wait_ms == 0) {
		answer(procs, req->max, reply);
		return;
	}
	if (procs->completions) {
		cv_fail(&err, COVE_E_BUSY, "another call waits for completions already");
		cv_err_hint(&err, "one at a time: each completion is told once");
		reply->error(reply, &err);
		return;
	}
	procs->completions = reply;
	procs->completions_max = req->max;
	reply->user = procs;
	reply->on_cancel = on_cancel;
	cv_timer_must(procs->loop, &procs->completions_timer, cv_now_ns() + req->wait_ms * 1000000,
		      on_wait_end);
}

/* What a request under an id was: the same again is the same process, anything else a conflict. */
static int fingerprint(const struct cove_exec_opts *req, bool is_exec, uint64_t *ret)
{
	const struct cv_struct *s =
		cv_operations[is_exec ? CV_OP_ID_PROCESS_EXEC : CV_OP_ID_PROCESS_START].req;
	struct cv_body body __attribute__((cleanup(cv_body_done))) = {0};
	CV_JSON json_t *j = cv_encode(s, req, true, CV_FORM_WIRE, &body);
	CV_FREE char *text = j ? cv_json_dump(j) : NULL;
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a, 64 bits */

	if (!text)
		return -ENOMEM;
	for (const char *p = text; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
	for (size_t i = 0; i < body.count; i++)
		for (size_t k = 0; k < body.parts[i].len; k++)
			h = (h ^ (unsigned char)body.parts[i].data[k]) * UINT64_C(1099511628211);
	*ret = h;
	return 0;
}

int cv_record_by_id(struct cv_procs *procs, const struct cove_exec_opts *req, bool is_exec,
		    uint64_t *ret_print, struct cv_process **ret, struct cove_error *err)
{
	*ret = NULL;
	if (fingerprint(req, is_exec, ret_print) < 0)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	for (struct cv_process *p = procs->processes; p; p = p->next) {
		if (!p->id || strcmp(p->id, req->id) != 0)
			continue;
		if (p->fingerprint == *ret_print) {
			*ret = p;
			return 0;
		}
		cv_fail(err, COVE_E_CONFLICT, "the id '%s' names another command", req->id);
		if (err)
			cv_text_copy(err->field, sizeof(err->field), "id");
		cv_err_hint(err, "an id belongs to one request; make up a new one");
		return COVE_E_CONFLICT;
	}
	return 0;
}
