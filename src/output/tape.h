/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tape: the append-only store of one output stream.
 *
 * Bytes have absolute offsets that never change. They lie in chunks; the ring policy frees chunks
 * that fall below the oldest byte kept and reuses the last one, so that memory follows the data and
 * a stream of any length costs no more than what is retained. Nothing is allocated before the first
 * byte. Any number of readers copy from it; none consumes.
 */
#ifndef CV_OUTPUT_TAPE_H
#define CV_OUTPUT_TAPE_H

#include "base/def.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CV_CHUNK_MAX (256u << 10)

struct cv_chunk;

/* Sees every byte as it is read, whatever the policy does with it. */
typedef void cv_tape_sink(void *user, const char *data, size_t len);

struct cv_tape {
	struct cv_chunk *first;
	struct cv_chunk *last;
	int64_t start;	  /* oldest byte kept */
	int64_t end;	  /* bytes kept or dropped from the front: where the next kept byte goes */
	int64_t produced; /* bytes written by the command; > end where the policy drops at the end */
	int64_t retain;
	int policy;	  /* enum cove_policy */
	bool complete;	  /* nothing more comes */
	bool over;	  /* policy `fail`: the ceiling was reached */
	bool starved;	  /* there was no memory for more: the rest was read and dropped */
	char *head;	  /* the first head_len bytes, saved when the ring first drops */
	size_t head_keep; /* how many to save */
	size_t head_len;
	cv_tape_sink *sink; /* NULL none */
	void *sink_user;
};

void cv_tape_init(struct cv_tape *t, int policy, int64_t retain, size_t head_keep);
void cv_tape_done(struct cv_tape *t);

/*
 * Reads from a non-blocking descriptor until it has nothing more to give or `most` bytes came.
 * Gives the bytes read, 0 at the end of the stream, -EAGAIN when nothing was there, or -errno.
 */
ssize_t cv_tape_fill(struct cv_tape *t, int fd, size_t most);

/* Copies up to len bytes from offset on; start ≤ offset ≤ end. Gives how many. */
size_t cv_tape_copy(const struct cv_tape *t, int64_t offset, char *dst, size_t len);

/*
 * Copies the first bytes of the stream, also where the ring has dropped them, up to head_keep of
 * those.
 */
size_t cv_tape_head(const struct cv_tape *t, char *dst, size_t len);

static inline int64_t cv_tape_kept(const struct cv_tape *t)
{
	return t->end - t->start;
}

#endif
