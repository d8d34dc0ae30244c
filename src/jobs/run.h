/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: a record being worked on in an environment of its own, without ever waiting.
 *
 * The runner watches cv_run_watch()'s descriptor and calls cv_run_step() until the run has ended. A
 * run ends after its environment did; its outcome is decided before, and decides what the
 * environment keeps.
 */
#ifndef CV_JOBS_RUN_H
#define CV_JOBS_RUN_H

#include "jobs/record.h"

#include "base/path.h"

#include <cove/job.h>
#include <cove/process.h>

#include <poll.h>

/* What all runs of a job share. */
struct cv_job {
	struct cove_job_opts opts;
	struct cove_env_opts env;
	char id[129];
};

enum cv_run_phase {
	CV_RUN_IDLE,	/* there is none */
	CV_RUN_TURN,	/* its command is running */
	CV_RUN_CLOSING, /* its environment is ending */
	CV_RUN_ENDED,	/* ready for its trace, and to be freed */
};

struct cv_run {
	const struct cv_job *job;
	struct cv_record rec;
	int64_t attempt; /* from 1 */
	char id[64];
	enum cv_run_phase phase;
	struct cove_env *env;
	struct cove_call *call;
	size_t turn;		   /* from 0 */
	json_t *messages;	   /* of the trace, so far */
	json_t *turns;		   /* the same */
	int outcome;		   /* enum cove_outcome, from CLOSING on */
	struct cove_error error;   /* why it failed */
	struct cove_error cleanup; /* why its environment could not be cleaned up; code 0: it could */
	cv_path workspace;	   /* "": it has none of its own */
	bool kept;		   /* the workspace is still there */
	char created_at[32];
	int64_t started_ms; /* on the clock of cv_now_ns() */
	int64_t duration_ms;
};

/*
 * Begins the record's attempt in a run that is IDLE, and takes rec over. Failure shows in the run's
 * outcome.
 */
void cv_run_begin(struct cv_run *run, const struct cv_job *job, const struct cv_record *rec,
		  int64_t attempt);

/* Begins the next attempt of a run that has ended. */
void cv_run_again(struct cv_run *run);

/* What to watch before the next step; gives the longest time until then, ms, -1: any. */
int cv_run_watch(const struct cv_run *run, struct pollfd *ret);

void cv_run_step(struct cv_run *run);

/* Ends a run early, outcome `aborted`, if its outcome is not decided yet. */
void cv_run_abort(struct cv_run *run);

/* Forgets a run that has ended, or whose environment is left to itself. */
void cv_run_done(struct cv_run *run);

#endif
