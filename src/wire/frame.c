/* SPDX-License-Identifier: Apache-2.0 */
/* The framing: checks each header as it comes, joins frames to messages, never trusts a length. */
#include "wire/frame.h"

#include <endian.h>

#define READ_SPACE (64u << 10)

void cv_decoder_init(struct cv_decoder *d, bool want_magic)
{
	*d = (struct cv_decoder){
		.in = CV_BUF(CV_FRAME_MAX + CV_FRAME_HEADER + CV_BANNER_MAX + 2 * READ_SPACE),
		.message = CV_BUF(CV_MESSAGE_MAX),
		.want_magic = want_magic,
	};
}

void cv_decoder_done(struct cv_decoder *d)
{
	cv_buf_done(&d->in);
	cv_buf_done(&d->message);
}

static void compact(struct cv_decoder *d)
{
	if (d->at == d->in.len)
		d->in.len = 0;
	else if (d->at > 0)
		cv_buf_consume(&d->in, d->at);
	d->at = 0;
	if (d->in.len == 0 && d->in.cap > 4 * READ_SPACE)
		cv_buf_done(&d->in);
}

char *cv_decoder_space(struct cv_decoder *d, size_t *ret_len)
{
	size_t want = READ_SPACE;

	compact(d);
	if (d->in.len >= CV_FRAME_HEADER && !d->want_magic) {
		uint32_t len;

		memcpy(&len, d->in.data, sizeof(len));
		len = le32toh(len);
		if (len <= CV_FRAME_MAX && len + CV_FRAME_HEADER > d->in.len)
			want = CV_MAX(want, len + CV_FRAME_HEADER - d->in.len);
	}
	if (cv_buf_reserve(&d->in, want) < 0)
		return NULL;
	*ret_len = want;
	return d->in.data + d->in.len;
}

void cv_decoder_filled(struct cv_decoder *d, size_t len)
{
	d->in.len += len;
}

/* Finds the magic behind whatever a login printed. 1 found, 0 not yet. */
static int skip_banner(struct cv_decoder *d, const char **ret_why)
{
	size_t len = d->in.len - d->at;
	const char *start;
	const char *p;

	if (len == 0)
		return 0;
	start = d->in.data + d->at;
	p = memmem(start, len, CV_MAGIC, CV_MAGIC_LEN);
	if (!p) {
		size_t skip = len >= CV_MAGIC_LEN ? len - (CV_MAGIC_LEN - 1) : 0;

		d->at += skip;
		d->banner += skip;
	} else {
		d->at += (size_t)(p - start) + CV_MAGIC_LEN;
		d->banner += (size_t)(p - start);
		d->want_magic = false;
	}
	if (d->banner > CV_BANNER_MAX) {
		*ret_why = "no guest answers: more than 64 KiB came before its magic";
		return -EPROTO;
	}
	return p ? 1 : 0;
}

static const char *bad_frame(const struct cv_decoder *d, const struct cv_frame *f)
{
	if (f->len > CV_FRAME_MAX)
		return "a frame is larger than 1 MiB";
	if (f->kind == 0 || f->kind >= CV_FRAME_KINDS)
		return "a frame has an unknown kind";
	if (d->joining && (f->kind != d->partial.kind || f->call != d->partial.call ||
			   f->stream != d->partial.stream))
		return "a frame came in the middle of another message";
	if (d->joining && d->message.len + f->len > CV_MESSAGE_MAX)
		return "a message is larger than 16 MiB";
	return NULL;
}

static void parse_header(const char *p, struct cv_frame *f)
{
	uint32_t len;
	uint16_t stream;
	uint64_t call;

	memcpy(&len, p, 4);
	memcpy(&stream, p + 6, 2);
	memcpy(&call, p + 8, 8);
	*f = (struct cv_frame){.kind = (uint8_t)p[4],
			       .flags = (uint8_t)p[5],
			       .stream = le16toh(stream),
			       .call = le64toh(call),
			       .len = le32toh(len),
			       .payload = p + CV_FRAME_HEADER};
}

/* Adds a frame to the message being joined. 1 complete, 0 not yet. */
static int join(struct cv_decoder *d, struct cv_frame *f)
{
	if (!d->joining) {
		d->partial = *f;
		d->message.len = 0;
		d->joining = true;
	}
	if (cv_buf_add(&d->message, f->payload, f->len) < 0)
		return -ENOMEM;
	if (f->flags & CV_FRAME_MORE)
		return 0;
	d->joining = false;
	f->flags |= d->partial.flags & (uint8_t)~CV_FRAME_MORE;
	f->payload = d->message.data;
	f->len = d->message.len;
	return 1;
}

int cv_decoder_next(struct cv_decoder *d, struct cv_frame *ret, const char **ret_why)
{
	int rc;

	if (!d->joining && d->message.cap > CV_FRAME_MAX)
		cv_buf_done(&d->message);
	while (d->want_magic) {
		rc = skip_banner(d, ret_why);
		if (rc <= 0)
			return rc;
	}
	for (;;) {
		if (d->in.len - d->at < CV_FRAME_HEADER)
			return 0;
		parse_header(d->in.data + d->at, ret);
		*ret_why = bad_frame(d, ret);
		if (*ret_why)
			return -EPROTO;
		if (d->in.len - d->at < CV_FRAME_HEADER + ret->len)
			return 0;
		d->at += CV_FRAME_HEADER + ret->len;
		if (!d->joining && !(ret->flags & CV_FRAME_MORE))
			return 1;
		rc = join(d, ret);
		if (rc != 0)
			return rc;
	}
}

void cv_frame_header(unsigned char dst[CV_FRAME_HEADER], const struct cv_frame *f)
{
	uint32_t len = htole32((uint32_t)f->len);
	uint16_t stream = htole16(f->stream);
	uint64_t call = htole64(f->call);

	memcpy(dst, &len, 4);
	dst[4] = f->kind;
	dst[5] = f->flags;
	memcpy(dst + 6, &stream, 2);
	memcpy(dst + 8, &call, 8);
}
