/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of RFC 4648 §4, with padding. */
#ifndef CV_BASE_BASE64_H
#define CV_BASE_BASE64_H

#include <stddef.h>
#include <sys/types.h>

#define CV_BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* dst holds CV_BASE64_LEN(len) bytes; no NUL is added. */
void cv_base64_encode(char *dst, const void *src, size_t len);

/*
 * dst holds len / 4 * 3 bytes; gives the decoded length, or -1 where src is not canonical base64.
 */
ssize_t cv_base64_decode(void *dst, const char *src, size_t len);

#endif
