/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a job: one thread, up to `concurrency` runs.
 *
 * A record is read when a run is free for it. After the first thing that ends the job early (a
 * failed run under `stop`, a bad line of a pipe, a full disk, an interrupt) no run begins, those
 * under way are aborted, and the partial file stays; otherwise the output is published at the end.
 */
#include "jobs/ledger.h"
#include "jobs/options.h"
#include "jobs/prompts.h"
#include "jobs/trace.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <stdbool.h>

#define PROGRESS_MS 1000

/* How long environments may take to end after the second interrupt, ms. */
#define AT_ONCE_MS 200

struct runner {
	struct cv_job job;
	struct cv_prompts *prompts;
	struct cv_ledger *ledger;
	struct cv_run *runs;
	struct pollfd *fds; /* one for each run, then the input and the two cancellations */
	size_t slots;
	size_t active;
	bool input_waits; /* the next record is not there yet */
	bool input_ended;
	bool stopping;
	int rc;			 /* why it stops */
	struct cove_error error; /* the same */
	int64_t started;
	int64_t started_ms;
	int64_t progress_ms; /* when it was last told */
	struct cove_job_summary sum;
};

static void stop(struct runner *r, int rc, const struct cove_error *err)
{
	if (r->stopping)
		return;
	r->stopping = true;
	r->rc = rc;
	r->error = *err;
	for (size_t i = 0; i < r->slots; i++)
		cv_run_abort(&r->runs[i]);
}

static void stop_for_run(struct runner *r, const struct cv_run *run)
{
	struct cove_error err = run->error;

	snprintf(err.message, sizeof(err.message), "run %s (line %lld): %.900s", run->id,
		 (long long)run->rec.line, run->error.message);
	stop(r, err.code, &err);
}

static void stop_for_cancel(struct runner *r)
{
	struct cove_error err = COVE_ERROR_INIT;

	stop(r, cv_fail(&err, COVE_E_CANCELLED, "the job was interrupted"), &err);
}

static void tell_progress(struct runner *r, const struct cv_run *run)
{
	static const char *const outcomes[] = {NULL, "success", "failure", "aborted"};
	struct cove_job_progress p = {
		.size = sizeof(p),
		.total = cv_prompts_total(r->prompts),
		.started = r->started,
		.done = r->sum.succeeded + r->sum.failed + r->sum.aborted,
		.failed = r->sum.failed,
		.elapsed_ms = cv_now_ms() - r->started_ms,
		.run_id = run ? run->id : NULL,
		.outcome = run ? outcomes[run->outcome] : NULL,
	};

	r->progress_ms = cv_now_ms();
	if (r->job.opts.on_progress)
		r->job.opts.on_progress(r->job.opts.on_progress_user, &p);
}

static struct cv_run *free_slot(struct runner *r)
{
	for (size_t i = 0; i < r->slots; i++)
		if (r->runs[i].phase == CV_RUN_IDLE)
			return &r->runs[i];
	return NULL;
}

/* Begins runs while there is room and input for them. */
static void begin_runs(struct runner *r)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_record rec;
	struct cv_run *run;

	r->input_waits = false;
	while (!r->stopping && !r->input_ended && !r->input_waits && (run = free_slot(r))) {
		int rc = cv_prompts_next(r->prompts, &rec, &err);

		if (rc == 1) {
			r->active++;
			r->started++;
			cv_run_begin(run, &r->job, &rec, 1);
		} else if (rc < 0) {
			stop(r, rc, &err);
		}
		r->input_waits = rc == CV_PROMPTS_WAIT;
		r->input_ended = rc == 0;
	}
}

static bool last_attempt(const struct runner *r, const struct cv_run *run)
{
	return r->stopping || run->attempt > r->job.opts.retries;
}

/* Writes the run's line; a line that can't be written ends the job. */
static int write_line(struct runner *r, const struct cv_run *run)
{
	bool success = run->outcome == COVE_OUTCOME_SUCCESS;
	CV_FREE char *json = success ? cv_trace_success(run) : cv_trace_failure(run);
	struct cove_error err = COVE_ERROR_INIT;
	int rc;

	if (!json)
		rc = cv_fail(&err, COVE_E_INTERNAL, "no memory for the trace of run %s", run->id);
	else if (success)
		rc = cv_ledger_trace(r->ledger, run->rec.number, json, strlen(json), &err);
	else
		rc = cv_ledger_failure(r->ledger, json, strlen(json), &err);
	if (rc < 0)
		stop(r, rc, &err);
	return rc;
}

static void count(struct runner *r, struct cv_run *run)
{
	if (run->outcome == COVE_OUTCOME_SUCCESS && write_line(r, run) < 0) {
		run->outcome = COVE_OUTCOME_FAILURE;
		run->error = r->error;
	}
	if (run->outcome == COVE_OUTCOME_FAILURE)
		write_line(r, run);
	r->sum.succeeded += run->outcome == COVE_OUTCOME_SUCCESS;
	r->sum.failed += run->outcome == COVE_OUTCOME_FAILURE;
	r->sum.aborted += run->outcome == COVE_OUTCOME_ABORTED;
}

static void step(struct runner *r, struct cv_run *run)
{
	cv_run_step(run);
	if (run->phase >= CV_RUN_CLOSING && run->outcome == COVE_OUTCOME_FAILURE &&
	    last_attempt(r, run) && r->job.opts.on_error == COVE_ON_ERROR_STOP)
		stop_for_run(r, run);
	if (run->phase != CV_RUN_ENDED)
		return;
	if (run->outcome == COVE_OUTCOME_FAILURE && !last_attempt(r, run)) {
		cv_run_again(run);
		return;
	}
	count(r, run);
	tell_progress(r, run);
	cv_run_done(run);
	r->active--;
}

/* Waits for any descriptor, at most max_ms. */
static void wait_for_events(struct runner *r, int max_ms)
{
	struct pollfd *extra = r->fds + r->slots;

	for (size_t i = 0; i < r->slots; i++) {
		int ms = cv_run_watch(&r->runs[i], &r->fds[i]);

		max_ms = ms >= 0 ? CV_MIN(ms, max_ms) : max_ms;
	}
	extra[0] = (struct pollfd){.fd = r->input_waits ? cv_prompts_fd(r->prompts) : -1,
				   .events = POLLIN};
	extra[1] = (struct pollfd){.fd = r->stopping ? -1 : cv_cancel_fd(r->job.opts.cancel),
				   .events = POLLIN};
	extra[2] = (struct pollfd){.fd = cv_cancel_fd(r->job.opts.cancel_now), .events = POLLIN};
	poll(r->fds, r->slots + 3, max_ms);
}

static void step_all(struct runner *r)
{
	for (size_t i = 0; i < r->slots; i++)
		if (r->runs[i].phase != CV_RUN_IDLE)
			step(r, &r->runs[i]);
}

/*
 * The second interrupt: what has not ended shortly is left to itself. Each guest ends all of its
 * processes when this process, and so its stream, is gone.
 */
static void leave_at_once(struct runner *r)
{
	int64_t until_ms = cv_now_ms() + AT_ONCE_MS;

	stop_for_cancel(r);
	while (r->active > 0 && cv_now_ms() < until_ms) {
		r->fds[r->slots + 2].fd = -1;
		for (size_t i = 0; i < r->slots; i++)
			cv_run_watch(&r->runs[i], &r->fds[i]);
		poll(r->fds, r->slots, 10);
		step_all(r);
	}
	for (size_t i = 0; i < r->slots; i++)
		if (r->runs[i].phase != CV_RUN_IDLE)
			cv_run_done(&r->runs[i]);
	r->active = 0;
}

static void drive(struct runner *r)
{
	while (r->active > 0 || !(r->stopping || r->input_ended)) {
		if (cove_cancel_fired(r->job.opts.cancel_now)) {
			leave_at_once(r);
			return;
		}
		if (cove_cancel_fired(r->job.opts.cancel))
			stop_for_cancel(r);
		begin_runs(r);
		if (r->active > 0 || r->input_waits)
			wait_for_events(r, PROGRESS_MS);
		step_all(r);
		if (cv_now_ms() - r->progress_ms >= PROGRESS_MS)
			tell_progress(r, NULL);
	}
}

/* Everything that can be refused is, before a file is created. */
static int prepare(struct runner *r, const struct cove_job_opts *opts, struct cove_error *err)
{
	struct cv_selection want;
	const struct cove_job_opts *o = &r->job.opts;
	int rc = cv_job_options(&r->job, opts, err);

	if (rc < 0)
		return rc;
	cv_text_copy(r->sum.job_id, sizeof(r->sum.job_id), r->job.id);
	want = (struct cv_selection){o->limit, o->shard_index, o->shard_count};
	if ((rc = cv_prompts_open(o->tasks, &want, &r->prompts, err)) < 0)
		return rc;
	r->slots = (size_t)o->concurrency;
	r->runs = calloc(r->slots, sizeof(*r->runs));
	r->fds = calloc(r->slots + 3, sizeof(*r->fds));
	if (!r->runs || !r->fds)
		return cv_fail(err, COVE_E_INTERNAL, "no memory for %zu runs", r->slots);
	return cv_ledger_open(o->output, strcmp(o->tasks, "-") == 0 ? NULL : o->tasks, o->overwrite,
			      &r->ledger, err);
}

/* A run that never began counts as aborted where the number of records is known. */
static void sum_up(struct runner *r)
{
	int64_t total = r->prompts ? cv_prompts_total(r->prompts) : 0;

	r->sum.total = total >= 0 ? total : r->started;
	r->sum.aborted = r->ledger ? r->sum.total - r->sum.succeeded - r->sum.failed : 0;
}

static int work(struct runner *r, const struct cove_job_opts *opts, struct cove_error *err)
{
	int rc = prepare(r, opts, err);

	if (rc < 0)
		return rc;
	drive(r);
	if (r->rc < 0) {
		if (r->started == 0)
			cv_ledger_discard(r->ledger);
		if (err)
			*err = r->error;
		return r->rc;
	}
	rc = cv_ledger_publish(r->ledger, err);
	r->sum.published = rc >= 0;
	return rc;
}

int cove_job_run(const struct cove_job_opts *opts, struct cove_job_summary *summary,
		 struct cove_error *err)
{
	struct runner *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	r->started_ms = r->progress_ms = cv_now_ms();
	rc = work(r, opts, err);
	sum_up(r);
	if (summary) {
		r->sum.size = summary->size;
		memcpy(summary, &r->sum, CV_MIN(summary->size, sizeof(r->sum)));
	}
	cv_prompts_free(r->prompts);
	cv_ledger_free(r->ledger);
	free(r->runs);
	free(r->fds);
	free(r);
	return rc;
}
