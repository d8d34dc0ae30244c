/* SPDX-License-Identifier: Apache-2.0 */
/* What a job writes: the partial file, the failures, and at last the output (JOB-3). */
#ifndef CV_JOBS_LEDGER_H
#define CV_JOBS_LEDGER_H

#include "jobs/lines.h"

struct cv_ledger;

/*
 * Creates and locks `<output>.partial`. An output or partial that exists is `conflict` unless it
 * may be overwritten; one that another job holds is `conflict` in any case. tasks, which may be
 * NULL, is a file that output must not be.
 */
int cv_ledger_open(const char *output, const char *tasks, bool overwrite, struct cv_ledger **ret,
		   struct cove_error *err);

/* Closes the files as they are. */
void cv_ledger_free(struct cv_ledger *l);

/* Removes the partial file of a job in which nothing ran. */
void cv_ledger_discard(struct cv_ledger *l);

/* Appends the trace of a record, one JSON text, to the partial file. */
int cv_ledger_trace(struct cv_ledger *l, int64_t record, const char *json, size_t len,
		    struct cove_error *err);

/* Appends a line to the failures file, which the first one creates in place of an old one. */
int cv_ledger_failure(struct cv_ledger *l, const char *json, size_t len, struct cove_error *err);

/* Writes the output with the traces in the order of their records, and removes the partial file. */
int cv_ledger_publish(struct cv_ledger *l, struct cove_error *err);

#endif
