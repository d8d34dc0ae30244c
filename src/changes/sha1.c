/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 as FIPS 180-4 has it, and the names of blobs. */
#include "changes/sha1.h"

#include <endian.h>
#include <stdio.h>

struct sha1 {
	uint32_t h[5];
	uint64_t len;
	unsigned char block[64];
	size_t used;
};

static uint32_t rotate(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static void expand(const unsigned char *block, uint32_t w[80])
{
	for (int i = 0; i < 16; i++) {
		memcpy(&w[i], block + (ptrdiff_t)4 * i, 4);
		w[i] = be32toh(w[i]);
	}
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

static uint32_t mix(int i, uint32_t b, uint32_t c, uint32_t d)
{
	if (i < 20)
		return ((b & c) | (~b & d)) + 0x5A827999;
	if (i < 40)
		return (b ^ c ^ d) + 0x6ED9EBA1;
	if (i < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
	return (b ^ c ^ d) + 0xCA62C1D6;
}

static void take_block(struct sha1 *s, const unsigned char *block)
{
	uint32_t w[80];
	uint32_t v[5];

	expand(block, w);
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < 80; i++) {
		uint32_t t = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = t;
	}
	for (int i = 0; i < 5; i++)
		s->h[i] += v[i];
}

static void take(struct sha1 *s, const void *data, size_t len)
{
	const unsigned char *p = data;

	s->len += len;
	while (len > 0) {
		size_t n = CV_MIN(len, sizeof(s->block) - s->used);

		if (s->used == 0 && len >= sizeof(s->block)) {
			take_block(s, p);
			n = sizeof(s->block);
		} else {
			memcpy(s->block + s->used, p, n);
			s->used += n;
			if (s->used == sizeof(s->block)) {
				take_block(s, s->block);
				s->used = 0;
			}
		}
		p += n;
		len -= n;
	}
}

static void finish(struct sha1 *s)
{
	static const unsigned char padding[64] = {0x80};
	uint64_t bits = htobe64(s->len * 8);

	take(s, padding, 1 + (119 - s->used) % 64);
	take(s, &bits, sizeof(bits));
}

void cv_blob_name(const char *data, size_t len, char ret[41])
{
	struct sha1 s = {
		.h = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0},
	};
	char head[32];
	int n = snprintf(head, sizeof(head), "blob %zu", len);

	take(&s, head, (size_t)n + 1);
	take(&s, data, len);
	finish(&s);
	for (int i = 0; i < 5; i++)
		snprintf(ret + (ptrdiff_t)8 * i, 9, "%08x", s.h[i]);
}
