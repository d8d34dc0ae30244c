/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of a text: what is not replaced stays, byte for byte, and as often as asked or not at all.
 *
 * Input: a byte each with the length of the old piece, of the new one, and how often; both; the text.
 */
#include "target.h"

#include "base/utf8.h"
#include "files/edit.h"

#include <stdio.h>

static int64_t count_places(const struct cove_bytes *text, const struct cove_bytes *old)
{
	struct cv_span span;
	int64_t n = 0;

	for (size_t from = 0; cv_edit_find(text, old, from, &span); from = span.start + 1) {
		MUST(span.start >= from && span.end > span.start && span.end <= text->len);
		n++;
	}
	return n;
}

/* Of one that was carried out once. */
static void check_rest(const struct cv_buf *out, const struct cove_bytes *text,
		       const struct cove_edit *edit)
{
	struct cv_span span;
	size_t tail;

	MUST(cv_edit_find(text, &edit->old_text, 0, &span));
	tail = text->len - span.end;
	MUST(out->len >= span.start + tail);
	MUST(span.start == 0 || memcmp(out->data, text->data, span.start) == 0);
	MUST(tail == 0 || memcmp(out->data + out->len - tail, text->data + span.end, tail) == 0);
	if (!memchr(text->data, '\r', text->len))
		MUST(out->len - span.start - tail == edit->new_text.len &&
		     memcmp(out->data + span.start, edit->new_text.data, edit->new_text.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CV_BUF_SCOPE struct cv_buf out = CV_BUF(1u << 26);
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_edit edit;
	struct cove_bytes text;
	int64_t places;
	int rc;

	if (size < 4 || data[0] == 0 || data[2] == 0 || (size_t)data[0] + data[1] > size - 4)
		return 0;
	edit = (struct cove_edit){.old_text = {(const char *)data + 3, data[0]},
				  .new_text = {(const char *)data + 3 + data[0], data[1]},
				  .count = data[2]};
	text = (struct cove_bytes){.data = (const char *)data + 3 + data[0] + data[1],
				   .len = size - 3 - data[0] - data[1]};
	places = count_places(&text, &edit.old_text);
	rc = cv_edit_apply(&out, &text, &edit, &err);
	MUST(rc == err.code && cv_utf8_valid(err.message, strlen(err.message)));
	MUST((rc == 0) <= (places == edit.count));
	MUST((rc == COVE_E_EDIT_NOT_FOUND) == (places < edit.count));
	MUST(rc != COVE_E_EDIT_NOT_FOUND || err.occurrences == places);
	if (rc == 0 && places == 1)
		check_rest(&out, &text, &edit);
	return 0;
}
