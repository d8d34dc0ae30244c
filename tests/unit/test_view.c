/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded view (OUT-6), against a model that is slow and obviously right: it cuts the whole
 * input into segments first, then takes from both ends.
 */
#include "unit.h"

#include "base/utf8.h"
#include "base/view.h"

#define INPUT_MAX 256
#define BUDGET_MAX 200

struct text {
	char data[4 * (INPUT_MAX + BUDGET_MAX) + 128];
	size_t len;
	struct cove_bound_info info;
};

/* A code point, or a run of bytes that one U+FFFD stands for. */
struct segment {
	size_t at;
	size_t len;
	bool bad;
};

struct model {
	struct segment segments[INPUT_MAX];
	size_t count;
	const char *data;
	size_t len;
	bool chars;
};

/*
 * One row of table 3-7 of the Unicode Standard: the bounds of each byte of a well-formed sequence.
 */
static const struct row {
	size_t len;
	unsigned char lo[4];
	unsigned char hi[4];
} table[] = {
	{1, {0x00}, {0x7F}},
	{2, {0xC2, 0x80}, {0xDF, 0xBF}},
	{3, {0xE0, 0xA0, 0x80}, {0xE0, 0xBF, 0xBF}},
	{3, {0xE1, 0x80, 0x80}, {0xEC, 0xBF, 0xBF}},
	{3, {0xED, 0x80, 0x80}, {0xED, 0x9F, 0xBF}},
	{3, {0xEE, 0x80, 0x80}, {0xEF, 0xBF, 0xBF}},
	{4, {0xF0, 0x90, 0x80, 0x80}, {0xF0, 0xBF, 0xBF, 0xBF}},
	{4, {0xF1, 0x80, 0x80, 0x80}, {0xF3, 0xBF, 0xBF, 0xBF}},
	{4, {0xF4, 0x80, 0x80, 0x80}, {0xF4, 0x8F, 0xBF, 0xBF}},
};

static size_t matching(const struct row *row, const char *s, size_t len)
{
	size_t n = 0;

	while (n < row->len && n < len && (unsigned char)s[n] >= row->lo[n] &&
	       (unsigned char)s[n] <= row->hi[n])
		n++;
	return n;
}

static struct segment segment_at(const char *data, size_t len, size_t at)
{
	struct segment best = {.at = at, .len = 1, .bad = true};

	for (size_t i = 0; i < CV_LEN(table); i++) {
		size_t n = matching(&table[i], data + at, len - at);

		if (n == table[i].len)
			return (struct segment){.at = at, .len = n};
		if (n > best.len)
			best.len = n;
	}
	return best;
}

static void cut(struct model *m, const char *data, size_t len, bool chars)
{
	*m = (struct model){.data = data, .len = len, .chars = chars};
	for (size_t at = 0; at < len; at += m->segments[m->count++].len)
		m->segments[m->count] = segment_at(data, len, at);
}

static size_t cost(const struct model *m, size_t i)
{
	return m->chars ? 1 : m->segments[i].bad ? 3 : m->segments[i].len;
}

static void put(const struct model *m, size_t from, size_t to, struct text *out)
{
	for (size_t i = from; i < to; i++) {
		const struct segment *s = &m->segments[i];

		memcpy(out->data + out->len, s->bad ? CV_REPLACEMENT : m->data + s->at,
		       s->bad ? 3 : s->len);
		out->len += s->bad ? 3 : s->len;
		out->info.shown += (int64_t)s->len;
		out->info.lossy |= s->bad;
	}
}

/* How many segments fit into the budget from the front, or from the back. */
static size_t fitting(const struct model *m, size_t budget, bool back)
{
	size_t n = 0;
	size_t used = 0;

	while (n < m->count) {
		used += cost(m, back ? m->count - 1 - n : n);
		if (used > budget)
			break;
		n++;
	}
	return n;
}

static size_t start_of(const struct model *m, size_t i)
{
	return i < m->count ? m->segments[i].at : m->len;
}

static size_t mark(char *dst, size_t size, size_t left_out)
{
	return (size_t)snprintf(dst, size, "\n[... %zu bytes left out ...]\n", left_out);
}

static void expected(const struct model *m, size_t budget, struct text *out)
{
	size_t room = budget;
	size_t reserve = mark(NULL, 0, m->len);
	size_t head;
	size_t tail;

	*out = (struct text){.info = {.bytes = (int64_t)m->len}};
	if (fitting(m, budget, false) == m->count) {
		put(m, 0, m->count, out);
		return;
	}
	if (reserve <= budget)
		room -= reserve;
	head = fitting(m, room - room / 2, false);
	tail = fitting(m, room / 2, true);
	put(m, 0, head, out);
	if (reserve <= budget)
		out->len += mark(out->data + out->len, 64,
				 start_of(m, m->count - tail) - start_of(m, head));
	put(m, m->count - tail, m->count, out);
	out->info.truncated = true;
}

static void bound(const struct model *m, size_t budget, struct text *out)
{
	memset(out, 0x5A, sizeof(*out));
	out->len = m->chars ? cove_bound_chars(out->data, budget, m->data, m->len, &out->info) :
			      cove_bound(out->data, budget, m->data, m->len, &out->info);
	if (out->data[out->len] != '\0' || out->data[(m->chars ? 4 : 1) * budget + 1] != 0x5A)
		ck_abort_msg("budget %zu: written beyond it", budget);
}

static void assert_same(const struct text *got, const struct text *want, size_t budget)
{
	if (got->len != want->len || memcmp(got->data, want->data, want->len) != 0)
		ck_abort_msg("budget %zu: '%.*s', not '%.*s'", budget, (int)got->len, got->data,
			     (int)want->len, want->data);
	if (got->info.bytes != want->info.bytes || got->info.shown != want->info.shown ||
	    got->info.truncated != want->info.truncated || got->info.lossy != want->info.lossy)
		ck_abort_msg("budget %zu: '%.*s' is described wrongly", budget, (int)got->len,
			     got->data);
}

static size_t count_chars(const struct text *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->len; i++)
		n += ((unsigned char)t->data[i] & 0xC0) != 0x80;
	return n;
}

static void check_one(const char *data, size_t len, size_t budget, bool chars)
{
	static struct model m;
	static struct text got;
	static struct text want;

	cut(&m, data, len, chars);
	bound(&m, budget, &got);
	expected(&m, budget, &want);
	assert_same(&got, &want, budget);
	if ((chars ? count_chars(&got) : got.len) > budget || !cv_utf8_valid(got.data, got.len) ||
	    got.info.truncated != (got.info.shown < got.info.bytes))
		ck_abort_msg("budget %zu: '%s' breaks the rules", budget, got.data);
}

/* Pieces of every kind that matters: ASCII, whole and broken sequences, bytes that never occur. */
static size_t random_input(char *dst, size_t len)
{
	static const char *const pieces[] = {"a",
					     "xyz",
					     "\n",
					     "\xC3\xA9",
					     "\xE2\x82\xAC",
					     "\xEF\xBF\xBD",
					     "\xF0\x9F\x98\x80",
					     "\xF4\x8F\xBF\xBF",
					     "\xC3",
					     "\xE2\x82",
					     "\xF0\x9F\x98",
					     "\x80",
					     "\xBF\xBF",
					     "\xED\xA0\x80",
					     "\xC0\xAF",
					     "\xF5\x80",
					     "\xFF",
					     "\xF4\x90\x80",
					     "\xE0\x80",
					     "\xF0\x80\x80"};
	bool text = rng(3) == 0;
	size_t n = 0;

	while (n < len) {
		const char *p = pieces[rng(text ? 8 : CV_LEN(pieces))];
		size_t piece = CV_MIN(strlen(p), len - n);

		memcpy(dst + n, p, piece);
		n += piece;
	}
	if (rng(8) == 0)
		rng_fill(dst, len);
	return len;
}

START_TEST(out_6_bytes_as_the_model)
{
	char data[INPUT_MAX];

	for (int i = 0; i < 10000; i++)
		check_one(data, random_input(data, rng(INPUT_MAX)), rng(BUDGET_MAX + 1), false);
}
END_TEST

START_TEST(out_6_characters_as_the_model)
{
	char data[INPUT_MAX];

	for (int i = 0; i < 10000; i++)
		check_one(data, random_input(data, rng(INPUT_MAX)), rng(BUDGET_MAX + 1), true);
}
END_TEST

START_TEST(out_6_every_budget)
{
	char data[INPUT_MAX];

	for (int i = 0; i < 20; i++) {
		size_t len = random_input(data, rng(INPUT_MAX));

		for (size_t budget = 0; budget <= BUDGET_MAX; budget++) {
			check_one(data, len, budget, false);
			check_one(data, len, budget, true);
		}
	}
}
END_TEST

/* What the documentation says, by hand. */
START_TEST(out_6_examples)
{
	char text[64];
	struct cove_bound_info info;
	const char *digits = "0123456789012345678901234567890123456789";

	ck_assert_uint_eq(cove_bound(text, 40, digits, 40, &info), 40);
	ck_assert(!info.truncated);
	ck_assert_uint_eq(cove_bound(text, 34, digits, 40, &info), 34);
	ck_assert_str_eq(text, "012\n[... 35 bytes left out ...]\n89");
	ck_assert_int_eq(info.shown, 5);
	ck_assert_uint_eq(cove_bound(text, 29, digits, 40, &info), 29);
	ck_assert_str_eq(text, "\n[... 40 bytes left out ...]\n");
	ck_assert_uint_eq(cove_bound(text, 5, digits, 40, &info), 5);
	ck_assert_str_eq(text, "01289");
	ck_assert_uint_eq(cove_bound(text, 0, digits, 40, &info), 0);
	ck_assert_uint_eq(cove_bound(text, 0, NULL, 0, NULL), 0);
	/* One bad byte costs three. */
	ck_assert_uint_eq(cove_bound(text, 5, "\xFF\xFF", 2, &info), 3);
	ck_assert_str_eq(text, CV_REPLACEMENT);
	ck_assert(info.lossy && info.truncated);
	ck_assert_uint_eq(cove_bound_chars(text, 2, "\xC3\xA9\xFF", 3, &info), 5);
	ck_assert(info.lossy && !info.truncated);
}
END_TEST

static void bounder_is(const struct cove_bounder *b, const struct text *want, size_t budget)
{
	static struct text got;

	memset(&got, 0x5A, sizeof(got));
	got.len = cove_bounder_text(b, got.data, &got.info);
	if (got.data[got.len] != '\0' || got.data[budget + 1] != 0x5A)
		ck_abort_msg("budget %zu: written beyond it", budget);
	assert_same(&got, want, budget);
}

START_TEST(out_6_two_pieces_at_every_split)
{
	char data[INPUT_MAX];
	static struct text want;

	for (int i = 0; i < 200; i++) {
		size_t len = random_input(data, rng(INPUT_MAX));
		size_t budget = rng(BUDGET_MAX + 1);

		want.len = cove_bound(want.data, budget, data, len, &want.info);
		for (size_t at = 0; at <= len; at++) {
			struct cove_bounder *b = cove_bounder_new(budget);

			cove_bounder_add(b, data, at);
			cove_bounder_add(b, data + at, len - at);
			bounder_is(b, &want, budget);
			cove_bounder_free(b);
		}
	}
}
END_TEST

START_TEST(out_6_many_pieces)
{
	char data[INPUT_MAX];
	static struct text want;

	for (int i = 0; i < 2000; i++) {
		size_t len = random_input(data, rng(INPUT_MAX));
		size_t budget = rng(40);
		size_t step = 1 + rng(20);
		struct cove_bounder *b = cove_bounder_new(budget);

		for (size_t at = 0; at < len;) {
			size_t n = 1 + rng(step);

			n = CV_MIN(n, len - at);
			cove_bounder_add(b, data + at, n);
			at += n;
		}
		want.len = cove_bound(want.data, budget, data, len, &want.info);
		bounder_is(b, &want, budget);
		cove_bounder_free(b);
	}
}
END_TEST

START_TEST(out_6_text_of_all_so_far)
{
	char data[INPUT_MAX];
	static struct text want;
	struct cove_bounder *b = cove_bounder_new(60);

	random_input(data, sizeof(data));
	bounder_is(b, &(struct text){0}, 60);
	for (size_t at = 0; at < sizeof(data); at++) {
		cove_bounder_add(b, data + at, 1);
		want.len = cove_bound(want.data, 60, data, at + 1, &want.info);
		bounder_is(b, &want, 60);
	}
	cove_bounder_free(b);
}
END_TEST

START_TEST(out_6_bounds_of_the_incremental_form)
{
	struct cove_bounder *b = cove_bounder_new(0);
	char text[1];

	cove_bounder_add(b, NULL, 0);
	cove_bounder_add(b, "x", 1);
	ck_assert_uint_eq(cove_bounder_text(b, text, NULL), 0);
	cove_bounder_free(b);
	cove_bounder_free(NULL);
	ck_assert_ptr_null(cove_bounder_new((64u << 20) + 1));
	ck_assert_ptr_null(cove_bounder_new(SIZE_MAX));
}
END_TEST

/* The windows that a guest sends, no larger than they must be. */
START_TEST(out_6_the_smallest_windows)
{
	char data[INPUT_MAX];
	static struct text got;
	static struct text want;

	for (int i = 0; i < 10000; i++) {
		size_t len = random_input(data, rng(INPUT_MAX));
		size_t budget = rng(100);
		size_t window = CV_MIN(len, budget / 2 + 1 + CV_VIEW_SLACK);
		struct cv_window win = {.head = data,
					.head_len = len <= budget ? len : window,
					.tail = data + len - window,
					.tail_len = window,
					.total = len};

		got.len = cv_view(got.data, budget, false, &win, &got.info);
		want.len = cove_bound(want.data, budget, data, len, &want.info);
		assert_same(&got, &want, budget);
	}
}
END_TEST

UNIT_MAIN("view", out_6_bytes_as_the_model, out_6_characters_as_the_model, out_6_every_budget,
	  out_6_examples, out_6_two_pieces_at_every_split, out_6_many_pieces,
	  out_6_text_of_all_so_far, out_6_bounds_of_the_incremental_form,
	  out_6_the_smallest_windows)
