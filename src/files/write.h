/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One write to a path, in its steps: reach the place and look at what is there; stage and publish,
 * or write into the present file. Shared by the writes whose bytes are there and the one whose bytes
 * still come.
 */
#ifndef CV_FILES_WRITE_H
#define CV_FILES_WRITE_H

#include "files/common.h"
#include "files/stage.h"

/* Besides 0 and negative codes: somebody else changed the name meanwhile, and nothing was done. */
#define CV_WRITE_RACED 1
#define CV_WRITE_TRIES 64

/* A write, and what was found at its path. */
struct cv_write {
	const struct cv_file_ctx *ctx;
	const struct cove_file_write_opts *opts;
	struct cove_file_write_result *result;
	struct cove_error *err;
	struct cv_place place;
	int fd; /* O_PATH, of the present file; -1: there is none */
	struct stat st;
};

void cv_write_done(struct cv_write *w);

/* Finds the place and checks what is there against the mode. */
int cv_write_reach(struct cv_write *w);

/* Whether the present file is written into, not replaced. */
bool cv_write_is_into(const struct cv_write *w);

/* The bytes into the present file. */
int cv_write_into(struct cv_write *w, const struct cove_bytes *data);

/* A stage for the new file; 0 or -errno. */
int cv_write_open_stage(const struct cv_write *w, struct cv_stage *s);

/* Puts what is staged in its place. */
int cv_write_publish(struct cv_write *w, struct cv_stage *s);

/* Tells -errno as an error. */
int cv_write_fail(struct cv_write *w, int rc);

/* The same of a file that never stood still. */
int cv_write_conflict(const char *path, struct cove_error *err);

#endif
