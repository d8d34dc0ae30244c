/* SPDX-License-Identifier: Apache-2.0 */
/* The growable buffer: doubling, bounded, always NUL-terminated. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

void cv_buf_done(struct cv_buf *b)
{
	free(b->data);
	*b = CV_BUF(b->max);
}

int cv_buf_reserve(struct cv_buf *b, size_t n)
{
	size_t want = b->len + n;
	size_t cap = b->cap ? b->cap : 64;
	char *data;

	if (n > b->max || want > b->max)
		return -EMSGSIZE;
	if (want < b->cap)
		return 0;
	while (cap <= want)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int cv_buf_add(struct cv_buf *b, const void *data, size_t n)
{
	int rc = cv_buf_reserve(b, n);

	if (rc < 0)
		return rc;
	if (n > 0)
		memcpy(b->data + b->len, data, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int cv_buf_adds(struct cv_buf *b, const char *s)
{
	return cv_buf_add(b, s, strlen(s));
}

int cv_buf_addf(struct cv_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;
	int rc;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	rc = n < 0 ? -EINVAL : cv_buf_reserve(b, (size_t)n);
	if (rc < 0)
		return rc;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return 0;
}

void cv_buf_consume(struct cv_buf *b, size_t n)
{
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
	b->data[b->len] = '\0';
}
