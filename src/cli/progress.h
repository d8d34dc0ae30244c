/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on stderr how far a job has come (JOB-9). */
#ifndef CV_CLI_PROGRESS_H
#define CV_CLI_PROGRESS_H

#include <cove/job.h>

struct progress {
	bool tty;   /* one line that is drawn again; else plain lines */
	bool drawn; /* the line is there */
	int64_t told_ms;
};

void progress_init(struct progress *p);

/* A cove_job_progress_fn; user is a struct progress. */
void progress_show(void *user, const struct cove_job_progress *now);

/* Wipes the line, so that something else can be printed. */
void progress_done(struct progress *p);

#endif
