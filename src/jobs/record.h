/* SPDX-License-Identifier: Apache-2.0 */
/* One record of a task file, checked (JOB-1). */
#ifndef CV_JOBS_RECORD_H
#define CV_JOBS_RECORD_H

#include "base/json.h"

struct cv_record {
	int64_t number; /* from 1, in the order of the input; a blank line is no record */
	int64_t line;	/* from 1 */
	json_t *json;	/* an object: prompt, and metadata where it was given */
};

/* Checks the text of rec->line of the file at path and keeps it in rec->json. */
int cv_record_parse(struct cv_record *rec, const char *path, const char *text, size_t len,
		    struct cove_error *err);
void cv_record_done(struct cv_record *rec);

/* Refuses a line: "path:line: reason", with the field at fault, which may be NULL, as may hint. */
int cv_record_refuse(const char *path, int64_t line, const char *field, const char *hint,
		     struct cove_error *err, const char *reason, ...) CV_PRINTF(6, 7);

/* How many prompts the record has, one for each turn. */
size_t cv_record_turns(const struct cv_record *rec);

/* The prompt of a turn, a JSON string. */
const json_t *cv_record_prompt(const struct cv_record *rec, size_t turn);

/* The record's metadata, a new reference; an empty object where it has none. NULL: no memory. */
json_t *cv_record_metadata(const struct cv_record *rec);

#endif
