/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a connection. Never raises SIGPIPE on a socket; the guest ignores it for pipes. */
#include "wire/conn.h"

#include "ops/field.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define OUT_MAX (SIZE_MAX / 4)
#define OUT_KEEP (1u << 16)

void cv_conn_init(struct cv_conn *c, int rfd, int wfd, bool want_magic)
{
	struct stat st;

	*c = (struct cv_conn){.rfd = rfd, .wfd = wfd, .out = CV_BUF(OUT_MAX)};
	c->is_socket = fstat(wfd, &st) == 0 && S_ISSOCK(st.st_mode);
	cv_decoder_init(&c->in, want_magic);
}

void cv_conn_done(struct cv_conn *c)
{
	if (c->wfd != c->rfd)
		cv_close(&c->wfd);
	cv_close(&c->rfd);
	c->wfd = -1;
	cv_decoder_done(&c->in);
	cv_buf_done(&c->out);
	c->out_at = 0;
}

static ssize_t write_some(const struct cv_conn *c, const struct iovec *iov, int n)
{
	struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};
	ssize_t done;

	do
		done = c->is_socket ? sendmsg(c->wfd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) :
				      writev(c->wfd, iov, n);
	while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : done;
}

int cv_conn_flush(struct cv_conn *c)
{
	while (cv_conn_pending(c)) {
		struct iovec iov = {.iov_base = c->out.data + c->out_at,
				    .iov_len = c->out.len - c->out_at};
		ssize_t n = write_some(c, &iov, 1);

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return (int)n;
		c->out_at += (size_t)n;
	}
	c->out_at = 0;
	c->out.len = 0;
	if (c->out.cap > OUT_KEEP)
		cv_buf_done(&c->out);
	return 0;
}

/* Sends the pieces now, or what the kernel does not take later. */
static int send_pieces(struct cv_conn *c, struct iovec *iov, int n)
{
	ssize_t done = 0;

	if (c->wfd < 0)
		return -EPIPE;
	if (!cv_conn_pending(c)) {
		done = write_some(c, iov, n);
		if (done < 0 && done != -EAGAIN)
			return (int)done;
		done = CV_MAX(done, 0);
	}
	for (int i = 0; i < n; i++) {
		size_t sent = CV_MIN((size_t)done, iov[i].iov_len);
		int rc = cv_buf_add(&c->out, (char *)iov[i].iov_base + sent, iov[i].iov_len - sent);

		if (rc < 0)
			return rc;
		done -= (ssize_t)sent;
	}
	return 0;
}

int cv_conn_send_raw(struct cv_conn *c, const void *data, size_t len)
{
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};

	return send_pieces(c, &iov, 1);
}

int cv_conn_send(struct cv_conn *c, const struct cv_frame *f)
{
	size_t at = 0;

	if (f->len > CV_MESSAGE_MAX)
		return -EMSGSIZE;
	do {
		struct cv_frame part = *f;
		unsigned char header[CV_FRAME_HEADER];
		struct iovec iov[2];
		int rc;

		part.len = CV_MIN(f->len - at, (size_t)CV_FRAME_MAX);
		if (at + part.len < f->len)
			part.flags |= CV_FRAME_MORE;
		cv_frame_header(header, &part);
		iov[0] = (struct iovec){.iov_base = header, .iov_len = sizeof(header)};
		iov[1] = (struct iovec){.iov_base = (char *)f->payload + at, .iov_len = part.len};
		rc = send_pieces(c, iov, 2);
		if (rc < 0)
			return rc;
		at += part.len;
	} while (at < f->len);
	return 0;
}

/* The common case, a header, a small message and its raw bytes, leaves in one system call. */
static int send_small_body(struct cv_conn *c, const struct cv_frame *f, const struct cv_body *body)
{
	unsigned char headers[3][CV_FRAME_HEADER];
	struct cv_frame data = {.kind = CV_FRAME_DATA, .call = f->call, .len = body->total};
	struct cv_frame end = {.kind = CV_FRAME_END, .call = f->call};
	struct iovec iov[12];
	int n = 0;

	cv_frame_header(headers[0], f);
	cv_frame_header(headers[1], &data);
	cv_frame_header(headers[2], &end);
	iov[n++] = (struct iovec){.iov_base = headers[0], .iov_len = CV_FRAME_HEADER};
	iov[n++] = (struct iovec){.iov_base = (char *)f->payload, .iov_len = f->len};
	if (body->total > 0)
		iov[n++] = (struct iovec){.iov_base = headers[1], .iov_len = CV_FRAME_HEADER};
	for (size_t i = 0; i < body->count; i++)
		iov[n++] = (struct iovec){.iov_base = (char *)body->parts[i].data,
					  .iov_len = body->parts[i].len};
	iov[n++] = (struct iovec){.iov_base = headers[2], .iov_len = CV_FRAME_HEADER};
	return send_pieces(c, iov, n);
}

int cv_conn_send_body(struct cv_conn *c, struct cv_frame *f, const struct cv_body *body)
{
	struct cv_frame data = {.kind = CV_FRAME_DATA, .call = f->call};
	struct cv_frame end = {.kind = CV_FRAME_END, .call = f->call};
	int rc;

	if (body->count == 0)
		return cv_conn_send(c, f);
	f->flags |= CV_FRAME_BODY;
	if (body->total <= CV_FRAME_MAX && f->len <= CV_FRAME_MAX && body->count <= 8)
		return send_small_body(c, f, body);
	rc = cv_conn_send(c, f);
	for (size_t i = 0; rc == 0 && i < body->count; i++)
		for (size_t at = 0; rc == 0 && at < body->parts[i].len; at += data.len) {
			data.payload = body->parts[i].data + at;
			data.len = CV_MIN(body->parts[i].len - at, (size_t)CV_FRAME_MAX);
			rc = cv_conn_send(c, &data);
		}
	return rc == 0 ? cv_conn_send(c, &end) : rc;
}

int cv_conn_read(struct cv_conn *c)
{
	size_t room;
	char *p = cv_decoder_space(&c->in, &room);
	ssize_t n;

	if (!p)
		return -ENOMEM;
	do
		n = read(c->rfd, p, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0) {
		c->eof = true;
		return -EPIPE;
	}
	cv_decoder_filled(&c->in, (size_t)n);
	return 1;
}

int cv_conn_next(struct cv_conn *c, struct cv_frame *ret)
{
	return cv_decoder_next(&c->in, ret, &c->why);
}
