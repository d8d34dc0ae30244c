/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a connection: a non-blocking descriptor pair, a decoder, and what waits to be sent.
 *
 * Used by both sides. Sending tries the kernel at once and keeps only what it did not take; bodies
 * are then copied, so the caller's bytes are free after every call.
 */
#ifndef CV_WIRE_CONN_H
#define CV_WIRE_CONN_H

#include "wire/frame.h"

struct cv_conn {
	int rfd;
	int wfd; /* may be the same */
	bool is_socket;
	bool eof; /* the other side has ended */
	struct cv_decoder in;
	struct cv_buf out;
	size_t out_at;	 /* sent bytes at the front of out */
	const char *why; /* what broke the connection, NULL */
};

/* Takes both descriptors over, which must be non-blocking. */
void cv_conn_init(struct cv_conn *c, int rfd, int wfd, bool want_magic);
void cv_conn_done(struct cv_conn *c);

/* Sends one message (payload up to 16 MiB); 0, or -errno (-EMSGSIZE, -EPIPE, …). */
int cv_conn_send(struct cv_conn *c, const struct cv_frame *f);

/* Sends a message with raw parts behind it as DATA and END of stream 0. */
struct cv_body;
int cv_conn_send_body(struct cv_conn *c, struct cv_frame *f, const struct cv_body *body);

/* Sends raw bytes as they are: the magic. */
int cv_conn_send_raw(struct cv_conn *c, const void *data, size_t len);

/* Holds sends back until cv_conn_flush(), so that several leave together. */
int cv_conn_flush(struct cv_conn *c);
static inline bool cv_conn_pending(const struct cv_conn *c)
{
	return c->out.len > c->out_at;
}

/* Reads what is there. 1 something, 0 nothing now, -EPIPE the end, -errno. */
int cv_conn_read(struct cv_conn *c);

/* The next message that was read; as cv_decoder_next(). */
int cv_conn_next(struct cv_conn *c, struct cv_frame *ret);

#endif
