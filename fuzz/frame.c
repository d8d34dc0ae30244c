/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framing: bytes in pieces give the messages that they give as a whole.
 *
 * Input: a byte that says whether a magic is awaited, seven with the sizes of the pieces, and the
 * stream.
 */
#include "target.h"

#include "wire/frame.h"

/* What came out, in a few numbers. */
struct digest {
	uint64_t sum;
	size_t messages;
	int rc;
};

static void add(struct digest *d, const struct cv_frame *f)
{
	d->messages++;
	d->sum = d->sum * 31 + f->kind + f->flags * 256u + f->stream * 65536u + f->call + f->len;
	for (size_t i = 0; i < f->len; i++)
		d->sum = d->sum * 31 + (uint8_t)f->payload[i];
	MUST(f->len <= CV_MESSAGE_MAX && f->kind > 0 && f->kind < CV_FRAME_KINDS);
}

static struct digest decode(const uint8_t *data, size_t size, bool magic, const uint8_t *pieces)
{
	struct cv_decoder decoder;
	struct cv_frame f;
	struct digest d = {0};
	const char *why = NULL;
	size_t at = 0;

	cv_decoder_init(&decoder, magic);
	for (size_t i = 0;; i++) {
		size_t room;
		size_t n = pieces ? pieces[i % 7] + 1u : size;

		while ((d.rc = cv_decoder_next(&decoder, &f, &why)) > 0)
			add(&d, &f);
		if (d.rc < 0 || at == size)
			break;
		n = CV_MIN(n, size - at);
		memcpy(cv_decoder_space(&decoder, &room), data + at, CV_MIN(n, 16384u));
		cv_decoder_filled(&decoder, CV_MIN(n, 16384u));
		at += CV_MIN(n, 16384u);
	}
	MUST(d.rc == 0 || (d.rc == -EPROTO && why));
	cv_decoder_done(&decoder);
	return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct digest whole;
	struct digest split;

	if (size < 8)
		return 0;
	whole = decode(data + 8, size - 8, data[0] & 1, NULL);
	split = decode(data + 8, size - 8, data[0] & 1, data + 1);
	MUST(whole.rc == split.rc && whole.messages == split.messages && whole.sum == split.sum);
	return 0;
}
