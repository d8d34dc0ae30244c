/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded view: valid, within its budget, and the same however the stream is split.
 *
 * Input: two bytes of budget, six with the sizes of the pieces, and the stream.
 */
#include "target.h"

#include "base/utf8.h"

#include <cove/output.h>

static size_t count_chars(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((uint8_t)s[i] & 0xC0) != 0x80;
	return n;
}

static void in_pieces(const uint8_t *data, size_t size, size_t budget, const uint8_t *pieces,
		      const char *want, const struct cove_bound_info *info)
{
	struct cove_bounder *b = cove_bounder_new(budget);
	CV_FREE char *text = malloc(budget + 1);
	struct cove_bound_info got;
	size_t at = 0;

	for (size_t i = 0; at < size; i++) {
		size_t n = CV_MIN(pieces[i % 6] + 1u, size - at);

		cove_bounder_add(b, (const char *)data + at, n);
		at += n;
	}
	MUST(cove_bounder_text(b, text, &got) == strlen(text) || memchr(data, 0, size));
	MUST(strcmp(text, want) == 0);
	MUST(got.bytes == info->bytes && got.shown == info->shown && got.lossy == info->lossy);
	cove_bounder_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t budget = size < 8 ? 0 : (data[0] + data[1] * 256u) % 2000;
	CV_FREE char *text = malloc(4 * budget + 1);
	struct cove_bound_info info;
	size_t n;

	if (size < 8)
		return 0;
	n = cove_bound_chars(text, budget, (const char *)data + 8, size - 8, &info);
	MUST(cv_utf8_valid(text, n) && count_chars(text, n) <= budget);
	n = cove_bound(text, budget, (const char *)data + 8, size - 8, &info);
	MUST(cv_utf8_valid(text, n) && n <= budget && text[n] == '\0');
	MUST(info.bytes == (int64_t)size - 8 && info.truncated == (info.shown < info.bytes));
	in_pieces(data + 8, size - 8, budget, data + 2, text, &info);
	return 0;
}
