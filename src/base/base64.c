/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of RFC 4648 §4; decoding accepts only what encoding gives. */
#include "base/base64.h"

#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void cv_base64_encode(char *dst, const void *src, size_t len)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		v |= i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0;
		v |= i + 2 < len ? p[i + 2] : 0;
		*dst++ = letters[v >> 18];
		*dst++ = letters[v >> 12 & 63];
		*dst++ = i + 1 < len ? letters[v >> 6 & 63] : '=';
		*dst++ = i + 2 < len ? letters[v & 63] : '=';
	}
}

static int value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ssize_t cv_base64_decode(void *dst, const char *src, size_t len)
{
	uint8_t *out = dst;
	size_t pad = 0;

	if (len % 4 != 0)
		return -1;
	while (pad < 2 && pad < len && src[len - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < len; i += 4) {
		size_t n = i + 4 == len ? 4 - pad : 4;
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++) {
			int d = k < n ? value(src[i + k]) : 0;

			if (d < 0)
				return -1;
			v = v << 6 | (uint32_t)d;
		}
		if ((n == 2 && (v & 0xFFFF)) || (n == 3 && (v & 0xFF)))
			return -1;
		*out++ = (uint8_t)(v >> 16);
		if (n > 2)
			*out++ = (uint8_t)(v >> 8);
		if (n > 3)
			*out++ = (uint8_t)v;
	}
	return out - (uint8_t *)dst;
}
