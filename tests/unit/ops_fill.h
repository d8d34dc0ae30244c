/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills structs with random values, sends them there and back, compares them: by their descriptors
 * and nothing else.
 */
#ifndef OPS_FILL_H
#define OPS_FILL_H

#include "unit.h"

#include "base/json.h"
#include "base/view.h"
#include "ops/table.h"

#include <cove/process.h>

/* Which fields are filled: all, or one in so many. */
static unsigned fill_rarity UNUSED = 1;
static struct cv_arena *fill_arena UNUSED;

static void fill_struct(const struct cv_struct *s, void *dst, bool is_request);
static bool same_struct(const struct cv_struct *s, const void *a, const void *b);

static const char *fill_text(size_t max)
{
	static const char *const pieces[] = {"a", "Z9",	  "\xC3\xA9", "\xE2\x82\xAC",	 " ",
					     "/", "\"\\", "\n",	      "\xF0\x9F\x98\x80"};
	char text[64] = "x"; /* never empty */

	for (size_t n = rng(20); n > 0; n--) {
		const char *p = pieces[rng(CV_LEN(pieces))];

		if (strlen(text) + strlen(p) >= CV_MIN(max, sizeof(text)))
			break;
		memcpy(text + strlen(text), p, strlen(p) + 1);
	}
	return cv_arena_dup(fill_arena, text, strlen(text));
}

static const char *const *fill_list(const struct cv_field *f)
{
	size_t n = rng(4);
	const char **items = cv_arena_array(fill_arena, n + 1, sizeof(*items));

	/* Names differ, so that an object holds them all; values may hold the sign between them. */
	for (size_t i = 0; i < n; i++)
		items[i] = f->type == CV_MAP ?
				   cv_arena_printf(fill_arena, "N%zu=%s=", i, fill_text(32)) :
				   fill_text(32);
	return items;
}

static struct cove_bytes fill_bytes(const struct cv_field *f)
{
	size_t len = rng(3) ? rng(40) : rng(3);
	char *data = cv_arena_alloc(fill_arena, len + 1);

	rng_fill(data, len);
	for (size_t i = 0; f->type == CV_TEXT && i < len; i++)
		data[i] = (char)('a' + (data[i] & 15));
	return (struct cove_bytes){.data = data, .len = len};
}

static int64_t fill_int(const struct cv_field *f, bool is_request)
{
	int64_t lo = CV_MAX(f->min, 1);
	int64_t hi = f->max ? f->max : INT64_C(1) << 40;

	if (is_request && (f->flags & CV_ZERO_OK) && rng(4) == 0)
		return COVE_ZERO;
	if (is_request && f->min < 0 && rng(4) == 0)
		return f->min;
	switch (rng(3)) {
	case 0:
		return lo;
	case 1:
		return hi;
	default:
		return lo + (int64_t)rng((uint64_t)(hi - lo) | 1);
	}
}

/* As a guest fills it: all of the output, with the budget where `shown` is. */
static void fill_output(struct cove_output *out)
{
	static const struct cv_field raw = {.type = CV_BYTES};
	struct cove_bytes b = fill_bytes(&raw);

	*out = (struct cove_output){.data = b.data, .data_len = b.len, .head_len = b.len};
	out->bytes = (int64_t)b.len;
	out->shown = (int64_t)rng(60);
}

static int fill_callback(void *user, int stream, const char *data, size_t len)
{
	(void)user;
	return stream + (int)len + (data != NULL);
}

static void fill_many(const struct cv_field *f, void *p, void *count, bool is_request)
{
	size_t n = rng(4);
	size_t size = f->type == CV_INTV ? sizeof(int64_t) : f->sub->size;
	char *items = cv_arena_array(fill_arena, n, size);

	for (size_t i = 0; i < n; i++)
		if (f->type == CV_INTV)
			((int64_t *)(void *)items)[i] = (int64_t)rng(1000);
		else
			fill_struct(f->sub, items + i * size, is_request);
	*(void **)p = items;
	*(size_t *)count = n;
}

static void fill_field(const struct cv_field *f, void *dst, bool is_request)
{
	void *p = cv_at(f, dst);
	int n = 0;

	switch (f->type) {
	case CV_BOOL:
		*(bool *)p = true;
		break;
	case CV_TRI:
		*(int *)p = rng(2) ? 1 : COVE_ZERO;
		break;
	case CV_INT:
		*(int64_t *)p = fill_int(f, is_request);
		break;
	case CV_ENUM:
		while (f->names[n])
			n++;
		*(int *)p = 1 + (int)rng((uint64_t)n);
		break;
	case CV_STR:
		*(const char **)p = fill_text(f->max ? (size_t)f->max : 64);
		break;
	case CV_STRV:
	case CV_MAP:
		*(const char *const **)p = fill_list(f);
		break;
	case CV_BYTES:
	case CV_TEXT:
		*(struct cove_bytes *)p = fill_bytes(f);
		break;
	case CV_OBJ:
		fill_struct(f->sub, p, is_request);
		break;
	case CV_OBJP:
		*(void **)p = cv_arena_alloc(fill_arena, f->sub->size);
		fill_struct(f->sub, *(void **)p, is_request);
		break;
	case CV_INTV:
	case CV_OBJV:
		fill_many(f, p, (char *)dst + f->offset2, is_request);
		break;
	case CV_OUTPUT:
		fill_output(p);
		break;
	case CV_FN:
		*(cove_output_fn *)p = fill_callback;
		break;
	default:
		ck_abort_msg("a type of field that this test does not know");
	}
}

static void fill_struct(const struct cv_struct *s, void *dst, bool is_request)
{
	for (size_t i = 0; i < s->count; i++)
		if (rng(fill_rarity) == 0 || s->fields[i].type == CV_OUTPUT)
			fill_field(&s->fields[i], dst, is_request);
}

static bool same_list(const char *const *a, const char *const *b)
{
	size_t n = 0;
	size_t m = 0;

	while (a && a[n])
		n++;
	while (b && b[m])
		m++;
	if (n != m)
		return false;
	while (n > 0 && strcmp(a[n - 1], b[n - 1]) == 0)
		n--;
	return n == 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_bytes(const struct cove_bytes *a, const struct cove_bytes *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* What came out must be what the public bounding helper makes of all bytes. */
static bool same_output(const struct cove_output *in, const struct cove_output *out)
{
	char text[256];
	struct cove_bound_info info;
	size_t n = cove_bound(text, (size_t)in->shown, in->data, in->data_len, &info);

	return out->data_len == in->data_len && out->head_len == in->head_len &&
	       (in->data_len == 0 || memcmp(in->data, out->data, in->data_len) == 0) &&
	       out->text_len == n && memcmp(out->text, text, n + 1) == 0 &&
	       out->bytes == in->bytes && out->shown == info.shown &&
	       out->truncated == info.truncated && out->lossy == info.lossy;
}

static bool same_many(const struct cv_field *f, const void *a, const void *b)
{
	const char *x = *(const char *const *)cv_at(f, a);
	const char *y = *(const char *const *)cv_at(f, b);
	size_t n = *(const size_t *)(const void *)((const char *)a + f->offset2);
	size_t m = *(const size_t *)(const void *)((const char *)b + f->offset2);

	if (n != m)
		return false;
	if (f->type == CV_INTV)
		return n == 0 || memcmp(x, y, n * sizeof(int64_t)) == 0;
	for (size_t i = 0; i < n; i++)
		if (!same_struct(f->sub, x + i * f->sub->size, y + i * f->sub->size))
			return false;
	return true;
}

static bool same_field(const struct cv_field *f, const void *a, const void *b)
{
	const void *p = cv_at(f, a);
	const void *q = cv_at(f, b);
	const void *p1;
	const void *q1;

	switch (f->type) {
	case CV_BOOL:
		return *(const bool *)p == *(const bool *)q;
	case CV_TRI:
	case CV_ENUM:
		return *(const int *)p == *(const int *)q;
	case CV_INT:
		return *(const int64_t *)p == *(const int64_t *)q;
	case CV_STR:
		return same_text(*(const char *const *)p, *(const char *const *)q);
	case CV_STRV:
	case CV_MAP:
		return same_list(*(const char *const *const *)p, *(const char *const *const *)q);
	case CV_BYTES:
	case CV_TEXT:
		return same_bytes(p, q);
	case CV_OBJ:
		return same_struct(f->sub, p, q);
	case CV_OBJP:
		p1 = *(const void *const *)p;
		q1 = *(const void *const *)q;
		return p1 && q1 ? same_struct(f->sub, p1, q1) : p1 == q1;
	case CV_OUTPUT:
		/* One that is merged into the other does not travel. */
		if (!f->alt && *(const bool *)((const char *)a + f->offset2))
			return ((const struct cove_output *)q)->data_len == 0;
		return same_output(p, q);
	case CV_FN:
		return !*(const cove_output_fn *)p == !*(const cove_output_fn *)q;
	default:
		return same_many(f, a, b);
	}
}

static bool same_struct(const struct cv_struct *s, const void *a, const void *b)
{
	for (size_t i = 0; i < s->count; i++)
		if (!same_field(&s->fields[i], a, b))
			return false;
	return true;
}

static struct cove_error err = COVE_ERROR_INIT;
static const struct cv_struct *top; /* the struct that is tested */
static void *got;		    /* what was decoded last */
static struct cv_arena *got_arena;
static json_t *got_json;

static UNUSED void forget(void)
{
	cv_arena_free(got_arena);
	got_arena = NULL;
	json_decref(got_json);
	got_json = NULL;
}

/* A fresh struct of this kind; everything that was filled before is gone. */
static UNUSED void *fresh(const struct cv_struct *s)
{
	void *p;

	cv_arena_free(fill_arena);
	fill_arena = cv_arena_new(s->size, &p);
	top = s;
	return p;
}

static UNUSED void end_all(void)
{
	forget();
	cv_arena_free(fill_arena);
	fill_arena = NULL;
}

/* Decodes the text of a request or result into got. */
static UNUSED int decode_text(const struct cv_struct *s, const char *text, enum cv_form form,
			      const char *raw, size_t len)
{
	struct cv_body body = {.data = raw, .len = len};

	forget();
	err = (struct cove_error)COVE_ERROR_INIT;
	got_arena = cv_arena_new(s->size, &got);
	got_json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	ck_assert_msg(got_json != NULL, "not JSON: %s", text);
	return cv_decode(s, got_json, form, &body, got_arena, got, &err);
}

static UNUSED int decode_json(const struct cv_struct *s, const char *text)
{
	return decode_text(s, text, CV_FORM_JSON, NULL, 0);
}

static UNUSED char *join(const struct cv_body *body)
{
	char *raw = malloc(body->total + 1);
	size_t at = 0;

	for (size_t i = 0; i < body->count; i++) {
		if (body->parts[i].len > 0)
			memcpy(raw + at, body->parts[i].data, body->parts[i].len);
		at += body->parts[i].len;
	}
	ck_assert_uint_eq(at, body->total);
	return raw;
}

/* Encodes, decodes again, and compares. */
static UNUSED void there_and_back(const struct cv_struct *s, const void *src, bool is_request,
				  enum cv_form form)
{
	struct cv_body body __attribute__((cleanup(cv_body_done))) = {0};
	json_t *j = cv_encode(s, src, is_request, form, &body);
	CV_FREE char *text = cv_json_dump(j);
	CV_FREE char *raw = join(&body);
	int rc;

	json_decref(j);
	rc = decode_text(s, text, form, raw, body.total);
	ck_assert_msg(rc == 0, "%s: %s: %s", s->name, text, err.message);
	ck_assert_msg(same_struct(s, src, got), "%s changed: %s", s->name, text);
}

static UNUSED size_t size_of(const struct cv_field *f)
{
	static const size_t sizes[] = {[CV_BOOL] = sizeof(bool),
				       [CV_TRI] = sizeof(int),
				       [CV_ENUM] = sizeof(int),
				       [CV_BYTES] = sizeof(struct cove_bytes),
				       [CV_TEXT] = sizeof(struct cove_bytes),
				       [CV_OUTPUT] = sizeof(struct cove_output),
				       [CV_FN] = sizeof(void *)};

	if (f->type == CV_OBJ)
		return f->sub->size;
	return sizes[f->type] ? sizes[f->type] : 8;
}

#endif
