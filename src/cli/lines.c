/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines. */
#include "cli/lines.h"

#include "base/cancel.h"

#include <poll.h>

#define CHUNK ((size_t)64 << 10)

void line_reader_init(struct line_reader *r, int fd)
{
	*r = (struct line_reader){.fd = fd, .buf = CV_BUF(LINE_MAX_BYTES + 2 * CHUNK)};
}

void line_reader_done(struct line_reader *r)
{
	cv_buf_done(&r->buf);
}

/* 1: more is there, or the end. 0: stop was fired. */
static int fill(struct line_reader *r, const struct cove_cancel *stop)
{
	struct pollfd fds[] = {{.fd = r->fd, .events = POLLIN},
			       {.fd = cv_cancel_fd(stop), .events = POLLIN}};
	char chunk[CHUNK];
	ssize_t n;

	if (cove_cancel_fired(stop))
		return 0;
	poll(fds, CV_LEN(fds), -1);
	if (cove_cancel_fired(stop))
		return 0;
	if (!fds[0].revents)
		return 1;
	n = read(r->fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (r->used > 0)
		cv_buf_consume(&r->buf, r->used);
	r->used = 0;
	r->eof = n == 0;
	return cv_buf_add(&r->buf, chunk, (size_t)n) < 0 ? -ENOMEM : 1;
}

static bool is_blank(const struct line *l)
{
	size_t len = l->len;

	while (len > 0 &&
	       (l->text[len - 1] == ' ' || l->text[len - 1] == '\t' || l->text[len - 1] == '\r'))
		len--;
	return len == 0 && !l->too_long;
}

/* Whether buf holds a line; what is too long is dropped as it comes. */
static bool take_line(struct line_reader *r, struct line *ret)
{
	const char *start = r->buf.data + r->used;
	size_t len = r->buf.len - r->used;
	const char *end = len > r->scanned ? memchr(start + r->scanned, '\n', len - r->scanned) :
					     NULL;

	if (!end && len > LINE_MAX_BYTES) {
		r->skipping = true;
		r->used = r->buf.len;
		len = 0;
	}
	r->scanned = end || r->eof ? 0 : len;
	if (!end && !(r->eof && (len > 0 || r->skipping)))
		return false;
	*ret = (struct line){.text = start, .len = end ? (size_t)(end - start) : len};
	ret->too_long = r->skipping || ret->len > LINE_MAX_BYTES;
	r->used += ret->len + (end ? 1 : 0);
	r->skipping = false;
	return true;
}

int line_reader_next(struct line_reader *r, const struct cove_cancel *stop, struct line *ret)
{
	for (;;) {
		int rc;

		while (take_line(r, ret))
			if (!is_blank(ret))
				return 1;
		if (r->eof)
			return 0;
		if ((rc = fill(r, stop)) != 1)
			return rc;
	}
}
