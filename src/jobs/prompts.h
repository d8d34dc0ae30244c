/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a task file record by record, with as little ahead of need as it can (JOB-1, JOB-4). */
#ifndef CV_JOBS_PROMPTS_H
#define CV_JOBS_PROMPTS_H

#include "jobs/record.h"

#define CV_LINE_MAX ((size_t)16 << 20)

/* cv_prompts_next(): the next record is not there yet; watch cv_prompts_fd() for POLLIN. */
#define CV_PROMPTS_WAIT 2

struct cv_prompts;

/* Which records are wanted; zero fields mean all. */
struct cv_selection {
	int64_t limit;
	int64_t shard_index; /* from 1 */
	int64_t shard_count;
};

/* Opens path, "-" for stdin. A regular file is checked whole; anything else as it is read. */
int cv_prompts_open(const char *path, const struct cv_selection *want, struct cv_prompts **ret,
		    struct cove_error *err);
void cv_prompts_free(struct cv_prompts *p);
static inline void cv_prompts_freep(struct cv_prompts *const *p)
{
	cv_prompts_free(*p);
}
#define CV_PROMPTS_SCOPE __attribute__((cleanup(cv_prompts_freep)))

/* How many records are wanted; -1 where that is not known ahead. */
int64_t cv_prompts_total(const struct cv_prompts *p);

int cv_prompts_fd(const struct cv_prompts *p);

/*
 * 1: a record, to be ended by cv_record_done(). 0: the end. Never waits: CV_PROMPTS_WAIT. Else an
 * error.
 */
int cv_prompts_next(struct cv_prompts *p, struct cv_record *ret, struct cove_error *err);

#endif
