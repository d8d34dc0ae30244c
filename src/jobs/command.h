/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command pipeline: each turn of a run is one run of a program, with the prompt as its stdin.
 */
#ifndef CV_JOBS_COMMAND_H
#define CV_JOBS_COMMAND_H

#include "jobs/run.h"

/* Submits the present turn of a run as process.exec. */
int cv_command_submit(const struct cv_run *run, struct cove_call **ret, struct cove_error *err);

/* Whether a turn succeeded; if not, err says how the command ended. */
int cv_command_verdict(const struct cv_run *run, const struct cove_exec_result *r,
		       struct cove_error *err);

#endif
