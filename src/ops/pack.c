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

static int put_varint(struct cv_buf *b, uint64_t n)
{
	char bytes[VARINT_MAX];
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len++] = (char)(n | 0x80);
	bytes[len++] = (char)n;
	return cv_buf_add(b, bytes, len);
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

/* Its length plus one, the bytes, a NUL; 0 stands for none. */
static int put_string(struct cv_buf *b, const char *s, size_t len)
{
	int rc = put_varint(b, s ? len + 1 : 0);

	if (!s || rc < 0)
		return rc;
	rc = cv_buf_add(b, s, len);
	return rc < 0 ? rc : cv_buf_add(b, "", 1);
}

static int get_string(struct reader *r, const char **ret, size_t *ret_len)
{
	uint64_t n;
	const char *s;

	if (get_varint(r, &n) < 0)
		return -EPROTO;
	*ret = NULL;
	*ret_len = 0;
	if (n == 0)
		return 0;
	if (n > (uint64_t)(r->end - r->p))
		return -EPROTO;
	s = r->p;
	r->p += n;
	if (s[n - 1] != '\0')
		return -EPROTO;
	*ret = s;
	*ret_len = n - 1;
	return 0;
}

static int pack_field(const struct cv_field *f, const void *p, struct cv_buf *dst)
{
	const struct cove_bytes *bytes = p;
	const char *s;

	switch (f->type) {
	case CV_BOOL:
		return put_varint(dst, *(const bool *)p);
	case CV_ENUM:
		return put_varint(dst, (uint64_t) * (const int *)p);
	case CV_INT:
		return put_varint(dst, fold(*(const int64_t *)p));
	case CV_STR:
		s = *(const char *const *)p;
		return put_string(dst, s, s ? strlen(s) : 0);
	case CV_TEXT:
	case CV_BYTES:
		return put_string(dst, bytes->data, bytes->len);
	default:
		return -EPROTO; /* no such list is described */
	}
}

int cv_pack(const struct cv_struct *s, const char *items, size_t count, struct cv_buf *dst)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < s->count; k++) {
			const struct cv_field *f = &s->fields[k];
			int rc = pack_field(f, items + i * s->size + f->offset, dst);

			if (rc < 0)
				return rc;
		}
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

static int unpack_field(const struct cv_field *f, struct reader *r, void *p)
{
	const char *s;
	size_t len;

	if (f->type == CV_INT || f->type == CV_BOOL || f->type == CV_ENUM)
		return unpack_number(f, r, p);
	if (get_string(r, &s, &len) < 0)
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
			int rc = unpack_field(f, &r, items + i * s->size + f->offset);

			if (rc < 0)
				return rc;
		}
	}
	return r.p == r.end ? 0 : -EPROTO;
}
