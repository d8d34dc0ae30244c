/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds what is written about a run: its trace, or its line in the failures file (JOB-2, JOB-4).
 */
#ifndef CV_JOBS_TRACE_H
#define CV_JOBS_TRACE_H

#include "jobs/run.h"

/* Adds a turn that has ended to the run's messages and turns. 0 or -ENOMEM. */
int cv_trace_turn(struct cv_run *run, const struct cove_exec_result *r);

/* One line of JSON without its end, secrets redacted, to be freed with free(). NULL: no memory. */
char *cv_trace_success(const struct cv_run *run);
char *cv_trace_failure(const struct cv_run *run);

#endif
