/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded view of OUT-6 over two windows of a stream: the only place where text is shortened.
 */
#ifndef CV_BASE_VIEW_H
#define CV_BASE_VIEW_H

#include "base/def.h"

#include <cove/output.h>

/* Extra bytes that a window needs so that a code point at its inner edge can be judged. */
#define CV_VIEW_SLACK 4

/*
 * A stream of `total` bytes of which the first head_len and the last tail_len are at hand; they may
 * overlap.
 */
struct cv_window {
	const char *head;
	size_t head_len;
	const char *tail;
	size_t tail_len;
	uint64_t total;
};

/*
 * Writes the bounded text of the stream. budget counts bytes, or code points if `chars`.
 * Where total is more than a budget of bytes, head_len and tail_len must be at least budget / 2 + 1
 * + CV_VIEW_SLACK (or all there is); else head_len must be total. dst holds budget + 1 (chars: 4 ×
 * budget + 1) bytes.
 */
size_t cv_view(char *dst, size_t budget, bool chars, const struct cv_window *win,
	       struct cove_bound_info *ret_info);

/* The windows of a bounder; borrowed until more is added. */
void cv_bounder_window(const struct cove_bounder *b, struct cv_window *ret);

#endif
