/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by the table of well-formed sequences in the Unicode Standard, version 15, table 3-7. */
#include "base/utf8.h"

#include "base/def.h"

#include <stdint.h>

/* The bounds of the second byte depend on the first; all further bytes are 80..BF. */
static int sequence(uint8_t first, uint8_t *lo, uint8_t *hi)
{
	*lo = 0x80;
	*hi = 0xBF;
	if (first < 0x80)
		return 1;
	if (first >= 0xC2 && first <= 0xDF)
		return 2;
	if (first >= 0xE0 && first <= 0xEF) {
		*lo = first == 0xE0 ? 0xA0 : 0x80;
		*hi = first == 0xED ? 0x9F : 0xBF;
		return 3;
	}
	if (first >= 0xF0 && first <= 0xF4) {
		*lo = first == 0xF0 ? 0x90 : 0x80;
		*hi = first == 0xF4 ? 0x8F : 0xBF;
		return 4;
	}
	return 0;
}

int cv_utf8_step(const char *s, size_t len, bool *ret_short)
{
	const uint8_t *p = (const uint8_t *)s;
	uint8_t lo;
	uint8_t hi;
	int n = sequence(p[0], &lo, &hi);

	if (ret_short)
		*ret_short = false;
	if (n <= 1)
		return n == 1 ? 1 : -1;
	for (int i = 1; i < n; i++) {
		if ((size_t)i == len) {
			if (ret_short)
				*ret_short = true;
			return -i;
		}
		if (p[i] < lo || p[i] > hi)
			return -i;
		lo = 0x80;
		hi = 0xBF;
	}
	return n;
}

/* Skips ASCII eight bytes at a time: most of all text. */
size_t cv_utf8_ascii(const char *s, size_t len)
{
	size_t i = 0;

	while (i + 8 <= len) {
		uint64_t word;

		memcpy(&word, s + i, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
		i += 8;
	}
	while (i < len && (uint8_t)s[i] < 0x80)
		i++;
	return i;
}

bool cv_utf8_valid(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		int n;

		i += cv_utf8_ascii(s + i, len - i);
		if (i == len)
			break;
		n = cv_utf8_step(s + i, len - i, NULL);
		if (n < 0)
			return false;
		i += (size_t)n;
	}
	return true;
}

size_t cv_utf8_cut(const char *s, size_t at)
{
	size_t back = 0;
	bool is_short = false;

	while (back < 3 && back < at && ((uint8_t)s[at - 1 - back] & 0xC0) == 0x80)
		back++;
	if (back == at)
		return at;
	back++;
	cv_utf8_step(s + at - back, back, &is_short);
	return is_short ? at - back : at;
}

size_t cv_utf8_clean_len(const char *s, size_t len)
{
	size_t out = 0;
	size_t i = 0;

	while (i < len) {
		size_t ascii = cv_utf8_ascii(s + i, len - i);
		int n;

		i += ascii;
		out += ascii;
		if (i == len)
			break;
		n = cv_utf8_step(s + i, len - i, NULL);
		out += n > 0 ? (size_t)n : CV_REPLACEMENT_LEN;
		i += (size_t)(n > 0 ? n : -n);
	}
	return out;
}

size_t cv_utf8_clean(char *dst, const char *s, size_t len)
{
	size_t out = 0;
	size_t i = 0;

	while (i < len) {
		size_t ascii = cv_utf8_ascii(s + i, len - i);
		int n;

		memcpy(dst + out, s + i, ascii);
		i += ascii;
		out += ascii;
		if (i == len)
			break;
		n = cv_utf8_step(s + i, len - i, NULL);
		if (n > 0) {
			memcpy(dst + out, s + i, (size_t)n);
			out += (size_t)n;
			i += (size_t)n;
		} else {
			memcpy(dst + out, CV_REPLACEMENT, CV_REPLACEMENT_LEN);
			out += CV_REPLACEMENT_LEN;
			i += (size_t)-n;
		}
	}
	return out;
}
