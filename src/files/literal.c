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
/* Where both bytes are, of sixteen places from p on. */
static unsigned candidates(const struct cv_literal *l, const char *p)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + l->at[0]));
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + l->at[1]));

	a = _mm_or_si128(a, _mm_set1_epi8((char)l->mask[0]));
	b = _mm_or_si128(b, _mm_set1_epi8((char)l->mask[1]));
	a = _mm_cmpeq_epi8(a, _mm_set1_epi8((char)l->byte[0]));
	b = _mm_cmpeq_epi8(b, _mm_set1_epi8((char)l->byte[1]));
	return (unsigned)_mm_movemask_epi8(_mm_and_si128(a, b));
}

static const char *find(const struct cv_literal *l, const char *p, const char *last)
{
	/* The sixteen bytes behind either place lie within the buffer. */
	size_t reach = l->len - CV_MAX(l->at[0], l->at[1]) + 15;

	while (p <= last && (size_t)(last - p) >= reach) {
		for (unsigned bits = candidates(l, p); bits; bits &= bits - 1) {
			const char *q = p + __builtin_ctz(bits);

			if (is_here(l, q))
				return q;
		}
		p += 16;
	}
	return find_slowly(l, p, last);
}

int64_t cv_count_lines(const char *p, const char *end)
{
	const __m128i zero = _mm_setzero_si128();
	const __m128i lf = _mm_set1_epi8('\n');
	__m128i total = zero;
	int64_t n = 0;

	while (end - p >= 16) {
		__m128i sum = zero;

		/* Each of sixteen counters holds up to 255. */
		for (int i = 0; i < 255 && end - p >= 16; i++, p += 16)
			sum = _mm_sub_epi8(
				sum,
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p),
					       lf));
		total = _mm_add_epi64(total, _mm_sad_epu8(sum, zero));
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
	if ((size_t)(end - p) < l->len)
		return NULL;
#ifndef __SSE2__
	if (l->mask[0])
		return find_slowly(l, p, end - l->len);
#endif
	return find(l, p, end - l->len);
}
