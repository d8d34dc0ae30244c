/* SPDX-License-Identifier: Apache-2.0 */
/* A text in a buffer, sixteen places at a time. */
#include "files/literal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define RARE 255

/* The bytes of source code and prose, the most frequent first; what is not here is rare. */
static const char frequent[] = " etaoinsrldcupmfhg_y\nb*,v;.()w-0k=/1\tx:TESINACR2>\"P<DLO#F"
			       "M3U'{}8B64G5[]&+H97V|WjzqYK!X\\@?%$JQZ~^`\r";

static unsigned rarity(unsigned char c)
{
	const char *p = c ? strchr(frequent, c) : NULL;

	return p ? (unsigned)(p - frequent) : RARE;
}

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool is_letter(unsigned char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

unsigned cv_literal_score(const char *text, size_t len)
{
	unsigned best[2] = {0, 0};

	for (size_t i = 0; i < len; i++) {
		unsigned r = rarity((unsigned char)text[i]) + 1;

		if (r > best[0]) {
			best[1] = best[0];
			best[0] = r;
		} else if (r > best[1]) {
			best[1] = r;
		}
	}
	return best[0] + best[1];
}

int cv_literal_init(struct cv_literal *l, const char *text, size_t len, bool fold)
{
	size_t at[2] = {0, 0};
	unsigned best[2] = {0, 0};

	*l = (struct cv_literal){.text = malloc(len + 1), .len = len, .fold = fold};
	if (!l->text)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		unsigned r = rarity(fold ? lower(c) : c) + 1;

		l->text[i] = (char)(fold ? lower(c) : c);
		if (r > best[0]) {
			best[1] = best[0];
			at[1] = at[0];
			best[0] = r;
			at[0] = i;
		} else if (r > best[1]) {
			best[1] = r;
			at[1] = i;
		}
	}
	l->text[len] = '\0';
	for (int k = 0; k < 2; k++) {
		l->at[k] = at[k];
		l->byte[k] = (unsigned char)l->text[at[k]];
		l->mask[k] = fold && is_letter(l->byte[k]) ? 0x20 : 0;
	}
	return 0;
}

void cv_literal_done(struct cv_literal *l)
{
	free(TAKE(l->text));
}

static bool is_here(const struct cv_literal *l, const char *p)
{
	if (!l->fold)
		return memcmp(p, l->text, l->len) == 0;
	for (size_t i = 0; i < l->len; i++)
		if (lower((unsigned char)p[i]) != (unsigned char)l->text[i])
			return false;
	return true;
}

/* One place at a time, up to and with last. */
static const char *find_slowly(const struct cv_literal *l, const char *p, const char *last)
{
	for (; p <= last; p++)
		if (((unsigned char)p[l->at[0]] | l->mask[0]) == l->byte[0] &&
		    ((unsigned char)p[l->at[1]] | l->mask[1]) == l->byte[1] && is_here(l, p))
			return p;
	return NULL;
}

#ifdef __SSE2__
/* What the filter compares with, in registers. */
struct filter {
	__m128i byte[2];
	__m128i mask[2];
};

static __m128i load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Where both bytes are, of sixteen places from p on. */
static inline __m128i both(const struct cv_literal *l, const struct filter *f, const char *p)
{
	__m128i a = _mm_or_si128(load(p + l->at[0]), f->mask[0]);
	__m128i b = _mm_or_si128(load(p + l->at[1]), f->mask[1]);

	return _mm_and_si128(_mm_cmpeq_epi8(a, f->byte[0]), _mm_cmpeq_epi8(b, f->byte[1]));
}

/* The first of sixteen places where the text is. */
static const char *verify(const struct cv_literal *l, const char *p, __m128i places)
{
	for (unsigned bits = (unsigned)_mm_movemask_epi8(places); bits; bits &= bits - 1) {
		const char *q = p + __builtin_ctz(bits);

		if (is_here(l, q))
			return q;
	}
	return NULL;
}

static const char *find(const struct cv_literal *l, const char *p, const char *last)
{
	/* The sixteen bytes behind either place lie within the buffer. */
	size_t reach = l->len - CV_MAX(l->at[0], l->at[1]) + 15;
	const struct filter f = {
		.byte = {_mm_set1_epi8((char)l->byte[0]), _mm_set1_epi8((char)l->byte[1])},
		.mask = {_mm_set1_epi8((char)l->mask[0]), _mm_set1_epi8((char)l->mask[1])},
	};

	while (p <= last && (size_t)(last - p) >= reach + 48) {
		__m128i places[4] = {both(l, &f, p), both(l, &f, p + 16), both(l, &f, p + 32),
				     both(l, &f, p + 48)};
		__m128i any = _mm_or_si128(_mm_or_si128(places[0], places[1]),
					   _mm_or_si128(places[2], places[3]));

		if (_mm_movemask_epi8(any))
			for (int i = 0; i < 4; i++) {
				const char *q = verify(l, p + 16 * (ptrdiff_t)i, places[i]);

				if (q)
					return q;
			}
		p += 64;
	}
	for (; p <= last && (size_t)(last - p) >= reach; p += 16) {
		const char *q = verify(l, p, both(l, &f, p));

		if (q)
			return q;
	}
	return find_slowly(l, p, last);
}

/* LF in so many blocks of 64 bytes, at most 63, so that no counter of a byte overflows. */
static __m128i count_blocks(const char *p, size_t blocks)
{
	const __m128i lf = _mm_set1_epi8('\n');
	__m128i sum = _mm_setzero_si128();

	for (; blocks > 0; blocks--, p += 64)
		for (int i = 0; i < 4; i++)
			sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(load(p + 16 * (ptrdiff_t)i), lf));
	return _mm_sad_epu8(sum, _mm_setzero_si128());
}

int64_t cv_count_lines(const char *p, const char *end)
{
	__m128i total = _mm_setzero_si128();
	int64_t n;

	while (end - p >= 64) {
		size_t blocks = CV_MIN((size_t)(end - p) / 64, (size_t)63);

		total = _mm_add_epi64(total, count_blocks(p, blocks));
		p += blocks * 64;
	}
	n = _mm_cvtsi128_si64(total) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(total, total));
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}
#else
static const char *find(const struct cv_literal *l, const char *p, const char *last)
{
	for (; p <= last; p++) {
		p = memchr(p + l->at[0], l->byte[0], (size_t)(last - p) + 1);
		if (!p)
			return NULL;
		p -= l->at[0];
		if (is_here(l, p))
			return p;
	}
	return NULL;
}

int64_t cv_count_lines(const char *p, const char *end)
{
	int64_t n = 0;

	for (; p < end; p++)
		n += *p == '\n';
	return n;
}
#endif

const char *cv_literal_find(const struct cv_literal *l, const char *p, const char *end)
{
	if (!p || (size_t)(end - p) < l->len)
		return NULL;
#ifndef __SSE2__
	if (l->mask[0])
		return find_slowly(l, p, end - l->len);
#endif
	return find(l, p, end - l->len);
}
