/* SPDX-License-Identifier: Apache-2.0 */
/* A growable buffer of bytes that knows its maximum from the start. */
#ifndef CV_BASE_BUF_H
#define CV_BASE_BUF_H

#include "base/def.h"

/* data is NUL-terminated once anything was added. A failed addition leaves the buffer as it was. */
struct cv_buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* len never exceeds it */
};

#define CV_BUF(max_bytes) ((struct cv_buf){.max = (max_bytes)})

void cv_buf_done(struct cv_buf *b);

/* Makes room for n more bytes; 0, or -ENOMEM, or -EMSGSIZE beyond max. */
int cv_buf_reserve(struct cv_buf *b, size_t n);

int cv_buf_add(struct cv_buf *b, const void *data, size_t n);
int cv_buf_adds(struct cv_buf *b, const char *s);
int cv_buf_addf(struct cv_buf *b, const char *fmt, ...) CV_PRINTF(2, 3);

/* Drops the first n bytes. */
void cv_buf_consume(struct cv_buf *b, size_t n);

#define CV_BUF_SCOPE __attribute__((cleanup(cv_buf_done)))

#endif
