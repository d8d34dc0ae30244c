/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framing of a connection: bytes to frames and back, without I/O.
 *
 * A frame is a 16-byte little-endian header {u32 length, u8 kind, u8 flags, u16 stream, u64 call}
 * and a payload of at most 1 MiB. Frames with CV_FRAME_MORE are joined with the next of the same
 * kind, stream and call to a message of at most 16 MiB; nothing may come between them. Whatever
 * breaks a rule ends the connection.
 */
#ifndef CV_WIRE_FRAME_H
#define CV_WIRE_FRAME_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define CV_FRAME_HEADER 16
#define CV_FRAME_MAX (1u << 20)
#define CV_MESSAGE_MAX (16u << 20)
#define CV_BANNER_MAX (64u << 10)

/* The guest's first bytes; a host skips what a login shell may print before them. */
#define CV_MAGIC                                                                                   \
	"\xC0"                                                                                     \
	"COVE\r\n\x01"
#define CV_MAGIC_LEN 8

#define CV_WIRE_VERSION 1

enum cv_frame_kind {
	CV_FRAME_HELLO = 1, /* {"min":N,"max":N}: the versions that the sender speaks */
	CV_FRAME_REQUEST,   /* host: {"op":…,"args":…} */
	CV_FRAME_RESULT,    /* guest: the result */
	CV_FRAME_ERROR,	    /* guest: the error */
	CV_FRAME_DATA,	 /* raw bytes of a call: stream 0 its body or stdin, 1 stdout, 2 stderr */
	CV_FRAME_END,	 /* no more DATA on this stream of the call */
	CV_FRAME_CREDIT, /* u32: so many more bytes may be sent on this stream */
	CV_FRAME_CANCEL, /* host: end the call early */
	CV_FRAME_EVENT,	 /* reserved */
	CV_FRAME_PING,	 /* answered with the same frame, flag CV_FRAME_PONG */
	CV_FRAME_KINDS,
};

enum cv_frame_flags {
	CV_FRAME_MORE = 1,  /* the message goes on in the next frame */
	CV_FRAME_BODY = 2,  /* REQUEST, RESULT: DATA and END of stream 0 follow */
	CV_FRAME_STDIN = 4, /* REQUEST: DATA of stream 0 follows while the call runs */
	CV_FRAME_PONG = 8,
	CV_FRAME_LATE = 16, /* CANCEL: because the call's deadline has passed */
};

struct cv_frame {
	uint8_t kind;
	uint8_t flags;
	uint16_t stream;
	uint64_t call;
	const char *
		payload; /* of the whole message; valid until the next cv_decoder_next() or _space() */
	size_t len;
};

/* Turns bytes into messages. */
struct cv_decoder {
	struct cv_buf in;
	size_t at;		 /* consumed bytes at the front of in */
	struct cv_buf message;	 /* payloads joined so far */
	struct cv_frame partial; /* their header, while MORE */
	bool joining;
	bool want_magic; /* skipping a banner */
	size_t banner;	 /* bytes skipped */
};

void cv_decoder_init(struct cv_decoder *d, bool want_magic);
void cv_decoder_done(struct cv_decoder *d);

/* Where to read the next bytes to; NULL: no memory. *ret_len is at least 16 KiB. */
char *cv_decoder_space(struct cv_decoder *d, size_t *ret_len);
void cv_decoder_filled(struct cv_decoder *d, size_t len);

/* 1 a message, 0 more bytes are needed, -EPROTO (with *ret_why), -ENOMEM. */
int cv_decoder_next(struct cv_decoder *d, struct cv_frame *ret, const char **ret_why);

/* Writes a header. */
void cv_frame_header(unsigned char dst[CV_FRAME_HEADER], const struct cv_frame *f);

#endif
