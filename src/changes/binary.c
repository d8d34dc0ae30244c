/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A git binary patch: what it becomes and what it was, each deflated, in base 85, a line for each 52
 * bytes.
 */
#include "changes/changes.h"

#include "base/buf.h"

#include <zlib.h>

#define LINE 52

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			     "!#$%&()*+-;<=>?@^_`{|}~";

/* Four bytes, the last group filled up with zeros, become five digits. */
static char *put_group(char *dst, const unsigned char *data, size_t len)
{
	uint32_t n = 0;

	for (size_t i = 0; i < 4; i++)
		n = n << 8 | (i < len ? data[i] : 0);
	for (int i = 4; i >= 0; i--) {
		dst[i] = digits[n % 85];
		n /= 85;
	}
	return dst + 5;
}

static int add_line(struct cv_buf *dst, const unsigned char *data, size_t len)
{
	char line[1 + LINE / 4 * 5 + 1];
	char *p = line;

	*p++ = (char)(len <= 26 ? 'A' + len - 1 : 'a' + len - 27);
	for (size_t at = 0; at < len; at += 4)
		p = put_group(p, data + at, CV_MIN((size_t)4, len - at));
	*p++ = '\n';
	return cv_buf_add(dst, line, (size_t)(p - line));
}

static int add_literal(struct cv_buf *dst, const char *data, size_t len)
{
	uLongf packed_len = compressBound(len);
	CV_FREE unsigned char *packed = malloc(packed_len);
	int rc;

	if (!packed || compress2(packed, &packed_len, (const Bytef *)data, len, 6) != Z_OK)
		return -ENOMEM;
	rc = cv_buf_addf(dst, "literal %zu\n", len);
	for (size_t at = 0; rc == 0 && at < packed_len; at += LINE)
		rc = add_line(dst, packed + at, CV_MIN((size_t)LINE, packed_len - at));
	return rc < 0 ? rc : cv_buf_adds(dst, "\n");
}

int cv_binary_add(struct cv_buf *dst, const char *old, size_t old_len, const char *data, size_t len)
{
	int rc = cv_buf_adds(dst, "GIT binary patch\n");

	if (rc == 0)
		rc = add_literal(dst, data, len);
	return rc < 0 ? rc : add_literal(dst, old, old_len);
}
