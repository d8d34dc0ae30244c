/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of any size, as bytes come and go.
 *
 * Unlike the other file operations these live in the guest's loop: each step moves what credit
 * allows, 64 KiB at a time, and whoever is slow holds up nobody. A write is staged as its bytes come
 * and published at their end; what ends before that leaves nothing, also when the connection is
 * lost (cv_streams_stop()).
 */
#ifndef CV_FILES_STREAMS_H
#define CV_FILES_STREAMS_H

#include "files/files.h"
#include "ops/reply.h"

struct cv_stream_write;

struct cv_streams {
	const struct cv_space *space;
	struct cv_stream_write *writes; /* under way */
};

typedef void cv_stream_fn(struct cv_streams *s, const void *req, struct cv_reply *reply);

cv_stream_fn cv_file_read_stream;
cv_stream_fn cv_file_write_stream;

/* Ends every write; nothing of them is left. */
void cv_streams_stop(struct cv_streams *s);

#endif
