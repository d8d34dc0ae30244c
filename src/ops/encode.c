/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs to JSON, by their descriptors.
 *
 * A request leaves out what is zero, so that a message holds only what the caller said. A result is
 * complete but for fields marked CV_OMIT. In the wire form bytes are replaced by their length and
 * follow the message raw.
 */
#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "ops/field.h"

#include <cove/output.h>
#include <cove/process.h>

#if defined(__GNUC__) && !defined(__clang__)
/* The body owns its parts; the analyzer loses sight of it behind the encoder. */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define PACKED_MAX ((size_t)64 << 20)

struct encoder {
	bool is_request;
	enum cv_form form;
	struct cv_body *body;
};

void cv_body_done(struct cv_body *body)
{
	for (size_t i = 0; i < body->count; i++)
		if (body->parts[i].owned)
			free((char *)body->parts[i].data);
	free(body->parts);
	*body = (struct cv_body){0};
}

static int body_add(struct cv_body *body, const char *data, size_t len)
{
	if (body->count == body->cap) {
		size_t cap = body->cap ? body->cap * 2 : 4;
		struct cv_bytes_ref *parts = reallocarray(body->parts, cap, sizeof(*parts));

		if (!parts)
			return -ENOMEM;
		body->parts = parts;
		body->cap = cap;
	}
	body->parts[body->count++] = (struct cv_bytes_ref){.data = data, .len = len};
	body->total += len;
	return 0;
}

static json_t *encode_struct(const struct encoder *e, const struct cv_struct *s, const void *src);

static json_t *encode_bytes(const struct encoder *e, const struct cove_bytes *b, bool is_text)
{
	CV_FREE char *text = NULL;

	if (e->form == CV_FORM_WIRE)
		return body_add(e->body, b->data, b->len) < 0 ? NULL :
								json_integer((json_int_t)b->len);
	if (is_text)
		return cv_json_text(b->data ? b->data : "", b->len);
	text = malloc(CV_BASE64_LEN(b->len) + 1);
	if (!text)
		return NULL;
	cv_base64_encode(text, b->data, b->len);
	return json_stringn_nocheck(text, CV_BASE64_LEN(b->len));
}

static json_t *encode_strv(const char *const *items)
{
	json_t *a = json_array();

	for (; items && *items; items++)
		json_array_append_new(a, cv_json_text(*items, strlen(*items)));
	return a;
}

static json_t *encode_map(const char *const *items)
{
	json_t *o = json_object();

	for (; items && *items; items++) {
		const char *eq = strchr(*items, '=');
		CV_FREE char *name = strndup(*items, eq ? (size_t)(eq - *items) : strlen(*items));

		if (name)
			json_object_set_new(o, name, json_string(eq ? eq + 1 : ""));
	}
	return o;
}

static json_t *encode_intv(const int64_t *items, size_t count)
{
	json_t *a = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(a, json_integer(items[i]));
	return a;
}

static json_t *encode_objv(const struct encoder *e, const struct cv_field *f, const char *items,
			   size_t count)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < count; i++)
		json_array_append_new(a, encode_struct(e, f->sub, items + i * f->sub->size));
	return a;
}

/* [how many, length], and the structs behind the message. */
static json_t *encode_packed(const struct encoder *e, const struct cv_field *f, const char *items,
			     size_t count)
{
	CV_BUF_SCOPE struct cv_buf packed = CV_BUF(PACKED_MAX);
	size_t len;

	if (cv_pack(f->sub, items, count, &packed) < 0)
		return NULL;
	len = packed.len;
	if (body_add(e->body, packed.data, len) < 0)
		return NULL;
	packed.data = NULL;
	e->body->parts[e->body->count - 1].owned = true;
	return json_pack("[I,I]", (json_int_t)count, (json_int_t)len);
}

static json_t *encode_enum(const struct cv_field *f, int value)
{
	for (int i = 0; f->names[i]; i++)
		if (i + 1 == value)
			return json_string_nocheck(f->names[i]);
	return json_null();
}

static void put(json_t *o, const char *key, const char *value)
{
	if (value && value[0])
		json_object_set_new_nocheck(o, key, cv_json_text(value, strlen(value)));
}

/* In the wire form raw bytes and where their gap is; in JSON the text and what was done to it. */
static int encode_output(const struct encoder *e, const struct cv_field *f, const void *src,
			 json_t *o)
{
	const struct cove_output *out = cv_at(f, src);
	bool merged = *(const bool *)((const char *)src + f->offset2);
	const char *name = merged ? f->alt : f->name;
	char info[32];
	json_t *about;

	if (!name)
		return 0;
	if (e->form == CV_FORM_WIRE) {
		if (body_add(e->body, out->data, out->data_len) < 0)
			return -ENOMEM;
		return json_object_set_new_nocheck(
			o, f->name,
			json_pack("[I,I,I,I,s?,s?]", (json_int_t)out->data_len,
				  (json_int_t)out->head_len, (json_int_t)out->bytes,
				  (json_int_t)out->shown, out->spill_path, out->spill_error));
	}
	snprintf(info, sizeof(info), "%s_info", name);
	json_object_set_new_nocheck(
		o, name, json_stringn_nocheck(out->text ? out->text : "", out->text_len));
	about = json_pack("{s:I,s:I,s:b,s:b}", "bytes", (json_int_t)out->bytes, "shown",
			  (json_int_t)out->shown, "truncated", out->truncated, "lossy", out->lossy);
	put(about, "spill_path", out->spill_path);
	put(about, "spill_error", out->spill_error);
	return json_object_set_new_nocheck(o, info, about);
}

/* Whether a field says nothing and is left out. */
static bool is_silent(const struct encoder *e, const struct cv_field *f, const void *p)
{
	if (!e->is_request && !(f->flags & CV_OMIT))
		return false;
	switch (f->type) {
	case CV_BOOL:
		return !*(const bool *)p;
	case CV_TRI:
	case CV_ENUM:
		return *(const int *)p == 0;
	case CV_INT:
		/* In a result whose "none" is -1, such as an exit code, 0 is a value. */
		if (!e->is_request && f->def < 0)
			return *(const int64_t *)p < 0;
		return *(const int64_t *)p == 0;
	case CV_BYTES:
	case CV_TEXT:
		return !((const struct cove_bytes *)p)->data;
	case CV_STR:
	case CV_STRV:
	case CV_MAP:
	case CV_INTV:
	case CV_OBJP:
	case CV_OBJV:
	case CV_FN:
		return !*(const void *const *)p;
	default:
		return false;
	}
}

static json_t *encode_value(const struct encoder *e, const struct cv_field *f, const void *src)
{
	const void *p = cv_at(f, src);
	int64_t n;

	switch (f->type) {
	case CV_BOOL:
		return json_boolean(*(const bool *)p);
	case CV_TRI:
		return json_boolean(*(const int *)p == 1);
	case CV_INT:
		n = *(const int64_t *)p;
		return json_integer(e->is_request && n == COVE_ZERO ? 0 : n);
	case CV_ENUM:
		return encode_enum(f, *(const int *)p);
	case CV_STR:
		return *(const char *const *)p ? cv_json_text(*(const char *const *)p,
							      strlen(*(const char *const *)p)) :
						 json_null();
	case CV_STRV:
		return encode_strv(*(const char *const *const *)p);
	case CV_MAP:
		return encode_map(*(const char *const *const *)p);
	case CV_INTV:
		return encode_intv(*(const int64_t *const *)p,
				   *(const size_t *)((const char *)src + f->offset2));
	case CV_BYTES:
	case CV_TEXT:
		return encode_bytes(e, p, f->type == CV_TEXT);
	case CV_OBJ:
		return encode_struct(e, f->sub, p);
	case CV_OBJP:
		return *(const void *const *)p ? encode_struct(e, f->sub, *(const void *const *)p) :
						 json_null();
	case CV_OBJV:
		if ((f->flags & CV_PACKED) && e->form == CV_FORM_WIRE)
			return encode_packed(e, f, *(const char *const *)p,
					     *(const size_t *)((const char *)src + f->offset2));
		return encode_objv(e, f, *(const char *const *)p,
				   *(const size_t *)((const char *)src + f->offset2));
	case CV_FN:
		return json_true();
	default:
		return NULL;
	}
}

/* Bytes that are text, as a flag of the result says: in JSON a string under another name. */
static bool is_text(const struct encoder *e, const struct cv_field *f, const void *src)
{
	return f->type == CV_BYTES && f->alt && e->form == CV_FORM_JSON &&
	       *(const bool *)((const char *)src + f->offset2);
}

static json_t *encode_struct(const struct encoder *e, const struct cv_struct *s, const void *src)
{
	json_t *o = json_object();

	for (size_t i = 0; o && i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];
		json_t *v;

		if ((f->flags & CV_WIRE_ONLY) && e->form == CV_FORM_JSON)
			continue;
		if (f->type == CV_OUTPUT) {
			if (encode_output(e, f, src, o) < 0) {
				json_decref(o);
				return NULL;
			}
			continue;
		}
		if (is_silent(e, f, cv_at(f, src)))
			continue;
		if (is_text(e, f, src)) {
			v = encode_bytes(e, cv_at(f, src), true);
			if (!v || json_object_set_new_nocheck(o, f->alt, v) == 0)
				continue;
		}
		v = encode_value(e, f, src);
		if (v && e->is_request && f->type == CV_OBJ && json_object_size(v) == 0) {
			json_decref(v);
			continue;
		}
		if (!v || json_object_set_new_nocheck(o, f->name, v) < 0) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

json_t *cv_encode(const struct cv_struct *s, const void *src, bool is_request, enum cv_form form,
		  struct cv_body *body)
{
	struct encoder e = {.is_request = is_request, .form = form, .body = body};

	return encode_struct(&e, s, src);
}

json_t *cv_error_encode(const struct cove_error *err)
{
	json_t *o = json_object();

	put(o, "code", cove_code_name(err->code));
	put(o, "message", err->message);
	put(o, "operation", err->operation);
	put(o, "path", err->path);
	put(o, "field", err->field);
	put(o, "reason", err->reason);
	put(o, "hint", err->hint);
	if (err->sys_errno)
		json_object_set_new_nocheck(o, "errno", json_integer(err->sys_errno));
	if (err->code == COVE_E_EDIT_NOT_FOUND || err->code == COVE_E_EDIT_AMBIGUOUS) {
		json_object_set_new_nocheck(o, "edit_index", json_integer(err->edit_index));
		json_object_set_new_nocheck(o, "occurrences", json_integer(err->occurrences));
	} else if (err->code == COVE_E_CONFLICT && err->edit_index > 0) {
		json_object_set_new_nocheck(o, "edit_index", json_integer(err->edit_index));
	}
	put(o, "stage", cv_stage_name(err->stage));
	put(o, "retry", cv_retry_name(err->retry));
	return o;
}

static void get(const json_t *o, const char *key, char *dst, size_t size)
{
	const char *s = json_string_value(json_object_get(o, key));

	cv_text_copy(dst, size, s ? s : "");
}

int cv_error_decode(const json_t *j, struct cove_error *err)
{
	int code = cv_code_of_name(json_string_value(json_object_get(j, "code")));

	if (!err)
		return code;
	cv_fail(err, code, "%s", "");
	get(j, "message", err->message, sizeof(err->message));
	get(j, "operation", err->operation, sizeof(err->operation));
	get(j, "path", err->path, sizeof(err->path));
	get(j, "field", err->field, sizeof(err->field));
	get(j, "reason", err->reason, sizeof(err->reason));
	get(j, "hint", err->hint, sizeof(err->hint));
	err->sys_errno = (int)json_integer_value(json_object_get(j, "errno"));
	err->edit_index = json_integer_value(json_object_get(j, "edit_index"));
	err->occurrences = json_integer_value(json_object_get(j, "occurrences"));
	err->stage = cv_stage_of_name(json_string_value(json_object_get(j, "stage")));
	err->retry = cv_retry_of_name(json_string_value(json_object_get(j, "retry")));
	return code;
}
