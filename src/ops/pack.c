/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of small structs as raw bytes: what a search finds by the thousand would cost more as JSON
 * than to find.
 */
#include "base/buf.h"
#include "base/utf8.h"
#include "ops/field.h"

#define VARINT_MAX 10

struct reader {
	const char *p;
	const char *end;
};

static char *put_varint(char *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (char)(n | 0x80);
	*p++ = (char)n;
	return p;
}

static int get_varint(struct reader *r, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; r->p < r->end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*r->p++;

		n |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80) {
			*ret = n;
			return 0;
		}
	}
	return -EPROTO;
}

/* Small numbers of either sign are short. */
static uint64_t fold(int64_t n)
{
	return (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0);
}

static int64_t unfold(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

/*
 * What stands before a string: that there is none, that it is the one of the struct before, or its
 * length and this. The bytes and a NUL follow.
 */
enum string_mark {
	STRING_NONE,
	STRING_SAME,
	STRING_HERE,
};

/* A string of a field; of one that can't be packed none. */
static struct cove_bytes string_of(const struct cv_field *f, const char *item)
{
	const void *p = item + f->offset;
	const char *s;

	if (f->type == CV_TEXT || f->type == CV_BYTES)
		return *(const struct cove_bytes *)p;
	s = f->type == CV_STR ? *(const char *const *)p : NULL;
	return (struct cove_bytes){.data = s, .len = s ? strlen(s) : 0};
}

static char *put_string(char *p, const struct cv_field *f, const char *item, const char *before)
{
	struct cove_bytes s = string_of(f, item);

	if (!s.data)
		return put_varint(p, STRING_NONE);
	if (before && string_of(f, before).data == s.data && f->type == CV_STR)
		return put_varint(p, STRING_SAME);
	p = put_varint(p, s.len + STRING_HERE);
	memcpy(p, s.data, s.len);
	p[s.len] = '\0';
	return p + s.len + 1;
}

/* n is what stood before it. */
static int get_string(struct reader *r, uint64_t n, const char **ret, size_t *ret_len)
{
	const char *s = r->p;
	size_t len = n - STRING_HERE;

	if (n - STRING_HERE >= (uint64_t)(r->end - r->p) || s[len] != '\0')
		return -EPROTO;
	r->p += len + 1;
	*ret = s;
	*ret_len = len;
	return 0;
}

static bool is_number(const struct cv_field *f)
{
	return f->type == CV_INT || f->type == CV_BOOL || f->type == CV_ENUM;
}

/* At most so many bytes. */
static size_t room_for(const struct cv_struct *s, const char *item)
{
	size_t room = 0;

	for (size_t k = 0; k < s->count; k++) {
		room += VARINT_MAX + 1;
		if (!is_number(&s->fields[k]))
			room += string_of(&s->fields[k], item).len;
	}
	return room;
}

static char *pack_number(char *dst, const struct cv_field *f, const void *p)
{
	switch (f->type) {
	case CV_BOOL:
		return put_varint(dst, *(const bool *)p);
	case CV_ENUM:
		return put_varint(dst, (uint64_t) * (const int *)p);
	default:
		return put_varint(dst, fold(*(const int64_t *)p));
	}
}

int cv_pack(const struct cv_struct *s, const char *items, size_t count, struct cv_buf *dst)
{
	const char *before = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *item = items + i * s->size;
		int rc = cv_buf_reserve(dst, room_for(s, item));
		char *p;

		if (rc < 0)
			return rc;
		p = dst->data + dst->len;
		for (size_t k = 0; k < s->count; k++) {
			const struct cv_field *f = &s->fields[k];

			p = is_number(f) ? pack_number(p, f, item + f->offset) :
					   put_string(p, f, item, before);
		}
		dst->len = (size_t)(p - dst->data);
		before = item;
	}
	return 0;
}

static int unpack_number(const struct cv_field *f, struct reader *r, void *p)
{
	uint64_t n;
	int known = 0;

	if (get_varint(r, &n) < 0)
		return -EPROTO;
	if (f->type == CV_INT) {
		*(int64_t *)p = unfold(n);
		return 0;
	}
	if (f->type == CV_BOOL) {
		*(bool *)p = n == 1;
		return n > 1 ? -EPROTO : 0;
	}
	while (f->names[known])
		known++;
	*(int *)p = (int)n;
	return n > (uint64_t)known ? -EPROTO : 0;
}

/* before: the same field of the struct before, or NULL. */
static int unpack_string(const struct cv_field *f, struct reader *r, void *p, const void *before)
{
	const char *s = NULL;
	size_t len = 0;
	uint64_t n;

	if (get_varint(r, &n) < 0)
		return -EPROTO;
	if (n == STRING_SAME) {
		if (f->type != CV_STR || !before)
			return -EPROTO;
		*(const char **)p = *(const char *const *)before;
		return 0;
	}
	if (n != STRING_NONE && get_string(r, n, &s, &len) < 0)
		return -EPROTO;
	if (f->type != CV_BYTES && s && !cv_utf8_valid(s, len))
		return -EPROTO;
	if (f->type == CV_STR) {
		*(const char **)p = s;
		return s && strlen(s) != len ? -EPROTO : 0;
	}
	*(struct cove_bytes *)p = (struct cove_bytes){.data = s, .len = len};
	return 0;
}

int cv_unpack(const struct cv_struct *s, const char *data, size_t len, char *items, size_t count)
{
	struct reader r = {.p = data, .end = data + len};

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < s->count; k++) {
			const struct cv_field *f = &s->fields[k];
			char *p = items + i * s->size + f->offset;
			int rc = is_number(f) ? unpack_number(f, &r, p) :
						unpack_string(f, &r, p, i ? p - s->size : NULL);

			if (rc < 0)
				return rc;
		}
	}
	return r.p == r.end ? 0 : -EPROTO;
}
