/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one run: open, its turns, close. */
#include "jobs/run.h"

#include "base/clock.h"
#include "env/env_internal.h"
#include "jobs/command.h"
#include "jobs/trace.h"

/* How long to wait where an environment has no descriptor to watch yet, ms. */
#define BLIND_WAIT_MS 5

/* cv_env_close_poll() asks to be called at least so often, ms. */
#define CLOSE_WAIT_MS 100

/* Decides the outcome and begins to end the environment. */
static void conclude(struct cv_run *run, int outcome)
{
	run->outcome = outcome;
	run->duration_ms = cv_now_ms() - run->started_ms;
	cove_call_free(TAKE(run->call));
	run->phase = run->env ? CV_RUN_CLOSING : CV_RUN_ENDED;
	if (!run->env)
		return;
	run->kept = cv_env_keeps(run->env, outcome);
	cv_env_close_begin(run->env, outcome);
}

static void fail_for_memory(struct cv_run *run)
{
	cv_fail(&run->error, COVE_E_INTERNAL, "no memory for the trace");
	conclude(run, COVE_OUTCOME_FAILURE);
}

static int open_env(struct cv_run *run)
{
	struct cove_env_opts opts = run->job->env;
	const char *workspace;
	int rc;

	opts.job_id = run->job->id;
	opts.run_id = run->id;
	rc = cove_env_open(&opts, &run->env, &run->error);
	if (rc < 0)
		return rc;
	workspace = cove_env_workspace(run->env);
	cv_text_copy(run->workspace, sizeof(run->workspace), workspace ? workspace : "");
	return 0;
}

static void submit_turn(struct cv_run *run)
{
	run->phase = CV_RUN_TURN;
	if (cv_command_submit(run, &run->call, &run->error) >= 0)
		return;
	if (run->turn == 0)
		run->workspace[0] = '\0'; /* it was not made; what may be there is not ours */
	conclude(run, COVE_OUTCOME_FAILURE);
}

void cv_run_begin(struct cv_run *run, const struct cv_job *job, const struct cv_record *rec,
		  int64_t attempt)
{
	*run = (struct cv_run){
		.job = job,
		.rec = *rec,
		.attempt = attempt,
		.messages = json_array(),
		.turns = json_array(),
		.error = COVE_ERROR_INIT,
		.cleanup = COVE_ERROR_INIT,
		.started_ms = cv_now_ms(),
	};
	cv_timestamp(run->created_at, sizeof(run->created_at));
	snprintf(run->id, sizeof(run->id), "%06lld", (long long)rec->number);
	if (attempt > 1)
		snprintf(run->id, sizeof(run->id), "%06lld-a%lld", (long long)rec->number,
			 (long long)attempt);
	if (!run->messages || !run->turns)
		fail_for_memory(run);
	else if (open_env(run) < 0)
		conclude(run, COVE_OUTCOME_FAILURE);
	else
		submit_turn(run);
}

void cv_run_again(struct cv_run *run)
{
	struct cv_record rec = run->rec;

	run->rec.json = NULL;
	json_decref(run->messages);
	json_decref(run->turns);
	cv_run_begin(run, run->job, &rec, run->attempt + 1);
}

static void end_turn(struct cv_run *run)
{
	struct cove_exec_result *r = NULL;
	int rc = cove_call_take(TAKE(run->call), (void **)&r, &run->error);

	if (rc >= 0 && cv_trace_turn(run, r) < 0)
		fail_for_memory(run);
	else if (rc < 0 || cv_command_verdict(run, r, &run->error) < 0)
		conclude(run, COVE_OUTCOME_FAILURE);
	else if (++run->turn < cv_record_turns(&run->rec))
		submit_turn(run);
	else
		conclude(run, COVE_OUTCOME_SUCCESS);
	cove_exec_result_free(r);
}

int cv_run_watch(const struct cv_run *run, struct pollfd *ret)
{
	*ret = (struct pollfd){.fd = -1};
	if (run->phase == CV_RUN_TURN) {
		ret->fd = cove_env_fd(run->env);
		ret->events = cove_env_events(run->env);
		return ret->fd < 0 ? BLIND_WAIT_MS : -1;
	}
	if (run->phase == CV_RUN_CLOSING) {
		ret->fd = cv_env_close_fd(run->env);
		ret->events = POLLIN;
		return ret->fd < 0 ? 0 : CLOSE_WAIT_MS;
	}
	return run->phase == CV_RUN_IDLE ? -1 : 0;
}

void cv_run_step(struct cv_run *run)
{
	if (run->phase == CV_RUN_TURN && cove_call_poll(run->call) == 1)
		end_turn(run);
	if (run->phase == CV_RUN_CLOSING && cv_env_close_poll(run->env, &run->cleanup) != 0) {
		run->env = NULL;
		run->kept = run->kept && access(run->workspace, F_OK) == 0;
		run->phase = CV_RUN_ENDED;
	}
}

void cv_run_abort(struct cv_run *run)
{
	if (run->phase == CV_RUN_TURN)
		conclude(run, COVE_OUTCOME_ABORTED);
}

void cv_run_done(struct cv_run *run)
{
	json_decref(TAKE(run->messages));
	json_decref(TAKE(run->turns));
	cv_record_done(&run->rec);
	run->phase = CV_RUN_IDLE;
}
