/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: validity, cutting between code points, replacement of bad bytes. */
#ifndef CV_BASE_UTF8_H
#define CV_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* U+FFFD, which stands for bytes that are not UTF-8. */
#define CV_REPLACEMENT "\xEF\xBF\xBD"
#define CV_REPLACEMENT_LEN 3

/*
 * Looks at the first code point of s (len > 0). Gives its length, 1..4, where it is valid (shortest
 * form, no surrogate, ≤ U+10FFFF). Else gives minus the number of bytes (1..3) that one U+FFFD
 * should replace, the maximal subpart of Unicode 15 §3.9. `*ret_short` is set where the bytes are a
 * valid beginning that len cuts off.
 */
int cv_utf8_step(const char *s, size_t len, bool *ret_short);

/* How many bytes at the beginning of s are ASCII. */
size_t cv_utf8_ascii(const char *s, size_t len);

/* Whether all of s is valid UTF-8. NUL counts as valid. */
bool cv_utf8_valid(const char *s, size_t len);

/*
 * The largest n ≤ at such that s[0..n) does not end inside a code point; s must be readable up to
 * at.
 */
size_t cv_utf8_cut(const char *s, size_t at);

/* Length of s[0..len) with each bad sequence replaced by U+FFFD. */
size_t cv_utf8_clean_len(const char *s, size_t len);

/* Writes that; dst must hold cv_utf8_clean_len() bytes. Gives the length. */
size_t cv_utf8_clean(char *dst, const char *s, size_t len);

#endif
