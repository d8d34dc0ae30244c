/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens output to a budget: head, marker, tail.
 *
 * The bytes are seen as a row of segments, each a valid code point or a run that one U+FFFD
 * replaces. Where segments begin can be told from at most three bytes before, so the tail can be
 * cut without having read what was left out; that is why the incremental form gives the same text
 * as the one over the whole.
 */
#include "base/view.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>

struct side {
	size_t raw;  /* bytes taken from the window */
	size_t cost; /* of the budget */
	bool lossy;
};

static size_t segment_cost(int step, bool chars)
{
	if (chars)
		return 1;
	return step > 0 ? (size_t)step : CV_REPLACEMENT_LEN;
}

static struct side take_head(const char *s, size_t len, size_t budget, bool chars)
{
	struct side side = {0};

	while (side.raw < len) {
		size_t ascii =
			cv_utf8_ascii(s + side.raw, CV_MIN(len - side.raw, budget - side.cost));
		int step;

		side.raw += ascii;
		side.cost += ascii;
		if (side.raw == len)
			break;
		step = cv_utf8_step(s + side.raw, len - side.raw, NULL);
		size_t cost = segment_cost(step, chars);

		if (side.cost + cost > budget)
			break;
		side.cost += cost;
		side.raw += (size_t)(step > 0 ? step : -step);
		side.lossy |= step < 0;
	}
	return side;
}

/* The segment that ends at s + end: its length, negative where it is bad. */
static int step_back(const char *s, size_t end)
{
	for (size_t back = 1; back <= 4 && back <= end; back++) {
		int step;

		if (((unsigned char)s[end - back] & 0xC0) == 0x80)
			continue;
		step = cv_utf8_step(s + end - back, back, NULL);
		if (step == (int)back || step == -(int)back)
			return step;
		break;
	}
	return -1;
}

/* How many bytes before s + end are ASCII, at most so many: each costs one of either budget. */
static size_t ascii_back(const char *s, size_t end, size_t most)
{
	size_t n = 0;

	while (n + 8 <= most && n + 8 <= end) {
		uint64_t word;

		memcpy(&word, s + end - n - 8, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
		n += 8;
	}
	while (n < most && n < end && (unsigned char)s[end - n - 1] < 0x80)
		n++;
	return n;
}

static struct side take_tail(const char *s, size_t len, size_t budget, bool chars)
{
	struct side side = {0};

	while (side.raw < len) {
		size_t ascii = ascii_back(s, len - side.raw, budget - side.cost);
		int step;

		side.raw += ascii;
		side.cost += ascii;
		if (side.raw == len)
			break;
		step = step_back(s, len - side.raw);
		size_t cost = segment_cost(step, chars);

		if (side.cost + cost > budget)
			break;
		side.cost += cost;
		side.raw += (size_t)(step > 0 ? step : -step);
		side.lossy |= step < 0;
	}
	return side;
}

static size_t marker(char *dst, size_t size, uint64_t omitted)
{
	int n = snprintf(dst, size, "\n[... %llu bytes left out ...]\n",
			 (unsigned long long)omitted);

	return (size_t)n;
}

static size_t whole(char *dst, const struct cv_window *win, const struct side *side,
		    struct cove_bound_info *info)
{
	size_t n = cv_utf8_clean(dst, win->head, side->raw);

	dst[n] = '\0';
	*info = (struct cove_bound_info){
		.bytes = (int64_t)win->total, .shown = (int64_t)win->total, .lossy = side->lossy};
	return n;
}

size_t cv_view(char *dst, size_t budget, bool chars, const struct cv_window *win,
	       struct cove_bound_info *ret_info)
{
	struct cove_bound_info unused;
	struct cove_bound_info *info = ret_info ? ret_info : &unused;
	struct side head = {0};
	struct side tail;
	char mark[64];
	size_t reserve = marker(mark, sizeof(mark), win->total);
	size_t room;
	size_t n;

	if (win->total <= win->head_len) {
		head = take_head(win->head, win->head_len, budget, chars);
		if (head.raw == win->total)
			return whole(dst, win, &head, info);
	}
	room = reserve <= budget ? budget - reserve : budget;
	head = take_head(win->head, win->head_len, room - room / 2, chars);
	tail = take_tail(win->tail, win->tail_len, room / 2, chars);
	n = cv_utf8_clean(dst, win->head, head.raw);
	if (reserve <= budget) {
		size_t len = marker(mark, sizeof(mark), win->total - head.raw - tail.raw);

		memcpy(dst + n, mark, len);
		n += len;
	}
	n += cv_utf8_clean(dst + n, win->tail + win->tail_len - tail.raw, tail.raw);
	dst[n] = '\0';
	*info = (struct cove_bound_info){
		.bytes = (int64_t)win->total,
		.shown = (int64_t)(head.raw + tail.raw),
		.truncated = true,
		.lossy = head.lossy || tail.lossy,
	};
	return n;
}

static size_t one_shot(char *dst, size_t budget, bool chars, const char *data, size_t len,
		       struct cove_bound_info *ret_info)
{
	struct cv_window win = {
		.head = data, .head_len = len, .tail = data, .tail_len = len, .total = len};

	return cv_view(dst, budget, chars, &win, ret_info);
}

size_t cove_bound(char *dst, size_t budget, const char *data, size_t len,
		  struct cove_bound_info *ret_info)
{
	return one_shot(dst, budget, false, data, len, ret_info);
}

size_t cove_bound_chars(char *dst, size_t budget, const char *data, size_t len,
			struct cove_bound_info *ret_info)
{
	return one_shot(dst, budget, true, data, len, ret_info);
}

/*
 * The first `window` bytes, and the last ones in a buffer of twice that, moved down when it is
 * full.
 */
struct cove_bounder {
	size_t budget;
	size_t window;
	size_t head_len;
	size_t tail_len;
	uint64_t total;
	char *tail;
	char head[];
};

#define BOUNDER_MAX (64u << 20)

struct cove_bounder *cove_bounder_new(size_t budget)
{
	size_t window = budget + 2 * CV_VIEW_SLACK;
	struct cove_bounder *b;

	if (budget > BOUNDER_MAX)
		return NULL;
	b = malloc(sizeof(*b) + 3 * window);
	if (!b)
		return NULL;
	*b = (struct cove_bounder){.budget = budget, .window = window};
	b->tail = b->head + window;
	return b;
}

static void add_tail(struct cove_bounder *b, const char *data, size_t len)
{
	if (len >= b->window) {
		memcpy(b->tail, data + len - b->window, b->window);
		b->tail_len = b->window;
		return;
	}
	if (b->tail_len + len > 2 * b->window) {
		memmove(b->tail, b->tail + b->tail_len - b->window, b->window);
		b->tail_len = b->window;
	}
	memcpy(b->tail + b->tail_len, data, len);
	b->tail_len += len;
}

void cove_bounder_add(struct cove_bounder *b, const char *data, size_t len)
{
	size_t fit = CV_MIN(len, b->window - b->head_len);

	if (len == 0)
		return;
	memcpy(b->head + b->head_len, data, fit);
	b->head_len += fit;
	b->total += len;
	add_tail(b, data, len);
}

void cv_bounder_window(const struct cove_bounder *b, struct cv_window *ret)
{
	*ret = (struct cv_window){.head = b->head,
				  .head_len = b->head_len,
				  .tail = b->tail,
				  .tail_len = b->tail_len,
				  .total = b->total};
}

size_t cove_bounder_text(const struct cove_bounder *b, char *dst, struct cove_bound_info *ret_info)
{
	struct cv_window win = {.head = b->head,
				.head_len = b->head_len,
				.tail = b->tail,
				.tail_len = b->tail_len,
				.total = b->total};

	return cv_view(dst, b->budget, false, &win, ret_info);
}

void cove_bounder_free(struct cove_bounder *b)
{
	free(b);
}
