/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of a job and fills the defaults in. */
#ifndef CV_JOBS_OPTIONS_H
#define CV_JOBS_OPTIONS_H

#include "jobs/run.h"

/*
 * Fills job from opts, whose strings it borrows. Looks at the environment's configuration, creates
 * nothing.
 */
int cv_job_options(struct cv_job *job, const struct cove_job_opts *opts, struct cove_error *err);

#endif
