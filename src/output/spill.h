/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spill of a command: its complete output in a file, once it is large enough to want one.
 *
 * Until then the bytes wait in memory in arrival order, so that the file holds them from the first.
 * Writing is synchronous: a file system that is slow holds the command back rather than lose a
 * byte.
 */
#ifndef CV_OUTPUT_SPILL_H
#define CV_OUTPUT_SPILL_H

#include "base/buf.h"
#include "base/path.h"

#include <stdbool.h>
#include <stdint.h>

struct cv_spill {
	int64_t after_bytes;
	int64_t after_lines; /* 0: no such bound */
	bool required;
	struct cv_buf early; /* what came before the file was opened */
	int64_t bytes;
	int64_t newlines;
	bool partial[2]; /* by stream: its last byte was no newline */
	int fd;		 /* -1: not open */
	int errnum;	 /* why it was given up; 0 */
	cv_path path;	 /* of the file, "" while there is none */
	/* Makes the file: fills path, gives a descriptor or -errno. */
	int (*open)(void *user, cv_path path);
	void *user;
};

struct cv_spill *cv_spill_new(int64_t after_bytes, int64_t after_lines, bool required,
			      int (*open)(void *user, cv_path path), void *user);
void cv_spill_free(struct cv_spill *s);

/* Takes output of stream 0 or 1. 0, or -errno once, when it is given up. */
int cv_spill_add(struct cv_spill *s, int stream, const char *data, size_t len);

#endif
