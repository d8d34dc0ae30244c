/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON to structs, by their descriptors.
 *
 * What comes from outside is distrusted field by field: a wrong type, an unknown name or a NUL
 * inside a string is refused with the name of the field. Ranges are checked afterwards by
 * cv_check(), which serves C callers too.
 */
#include "base/base64.h"
#include "base/json.h"
#include "base/view.h"
#include "ops/field.h"

#include <cove/output.h>
#include <cove/process.h>

struct decoder {
	enum cv_form form;
	struct cv_body *body;
	struct cv_arena *arena;
	struct cove_error *err;
	char prefix[64]; /* "env." inside a nested struct */
};

static int decode_struct(struct decoder *d, const struct cv_struct *s, const json_t *j, void *dst);

static const char *full_name(const struct decoder *d, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", d->prefix, name);
	return buf;
}

static int bad_type(struct decoder *d, const char *name, const char *want)
{
	char field[129];
	char hint[64];

	snprintf(hint, sizeof(hint), "give %s", want);
	return cv_fail_arg(d->err, full_name(d, name, field, sizeof(field)), hint,
			   "has the wrong type");
}

static int no_memory(struct decoder *d)
{
	return cv_fail(d->err, COVE_E_INTERNAL, "out of memory");
}

static int bad_int(struct decoder *d, const struct cv_field *f, int64_t n, int64_t min)
{
	char field[129];

	return cv_fail_arg(d->err, full_name(d, f->name, field, sizeof(field)), NULL,
			   "is %lld; it must be %lld..%lld", (long long)n, (long long)min,
			   (long long)f->max);
}

static int decode_int(struct decoder *d, const struct cv_field *f, const json_t *v, int64_t *ret)
{
	if (!json_is_integer(v))
		return bad_type(d, f->name, "an integer");
	*ret = json_integer_value(v);
	/* COVE_ZERO is for C; from outside it is a number like any other, out of range. */
	if (*ret == COVE_ZERO && f->max)
		return bad_int(d, f, COVE_ZERO, f->min);
	if (*ret == 0 && (f->flags & CV_ZERO_OK))
		*ret = COVE_ZERO;
	else if (*ret == 0 && (f->min > 0 || (f->def != 0 && !(f->flags & CV_OMIT))))
		return bad_int(d, f, 0, CV_MAX(f->min, 1));
	return 0;
}

static int decode_string(struct decoder *d, const char *name, const json_t *v, const char **ret)
{
	char field[129];

	if (!json_is_string(v))
		return bad_type(d, name, "a string");
	*ret = json_string_value(v);
	if (strlen(*ret) != json_string_length(v))
		return cv_fail_arg(d->err, full_name(d, name, field, sizeof(field)), "remove it",
				   "holds a NUL");
	return 0;
}

static int decode_strv(struct decoder *d, const struct cv_field *f, const json_t *v,
		       const char ***ret)
{
	size_t n = json_array_size(v);
	const char **items = cv_arena_array(d->arena, n + 1, sizeof(*items));

	if (!json_is_array(v))
		return bad_type(d, f->name, "an array of strings");
	if (!items)
		return no_memory(d);
	for (size_t i = 0; i < n; i++) {
		int rc = decode_string(d, f->name, json_array_get(v, i), &items[i]);

		if (rc < 0)
			return rc;
	}
	*ret = items;
	return 0;
}

static int decode_map(struct decoder *d, const struct cv_field *f, json_t *v, const char ***ret)
{
	const char **items;
	const char *key;
	json_t *item;
	char field[129];
	size_t i = 0;

	if (!json_is_object(v))
		return bad_type(d, f->name, "an object of strings");
	items = cv_arena_array(d->arena, json_object_size(v) + 1, sizeof(*items));
	if (!items)
		return no_memory(d);
	json_object_foreach(v, key, item) {
		const char *value = "";
		int rc = decode_string(d, f->name, item, &value);

		if (rc < 0)
			return rc;
		if (strchr(key, '='))
			return cv_fail_arg(d->err, full_name(d, f->name, field, sizeof(field)),
					   "a name holds no '='", "has a name that can't be");
		items[i] = cv_arena_printf(d->arena, "%s=%s", key, value);
		if (!items[i++])
			return no_memory(d);
	}
	*ret = items;
	return 0;
}

static int decode_enum(struct decoder *d, const struct cv_field *f, const json_t *v, int *ret)
{
	const char *s = json_string_value(v);
	char field[129];
	char known[200] = "use one of";

	for (int i = 0; s && f->names[i]; i++)
		if (strcmp(f->names[i], s) == 0) {
			*ret = i + 1;
			return 0;
		}
	for (int i = 0; f->names[i]; i++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof(known) - len, "%s %s", i ? "," : "", f->names[i]);
	}
	return cv_fail_arg(d->err, full_name(d, f->name, field, sizeof(field)), known,
			   s ? "is '%s', which is unknown" : "has the wrong type%s", s ? s : "");
}

/* Takes n raw bytes from behind the message. */
static int take_body(struct decoder *d, const json_t *v, struct cove_bytes *ret)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (size_t)n > d->body->len - d->body->at)
		return cv_fail(d->err, COVE_E_PROTOCOL_ERROR,
			       "a message announces more bytes than follow it");
	ret->len = (size_t)n;
	ret->data = cv_arena_dup(d->arena, n ? d->body->data + d->body->at : "", ret->len);
	d->body->at += ret->len;
	return ret->data ? 0 : no_memory(d);
}

static int decode_bytes(struct decoder *d, const struct cv_field *f, const json_t *v,
			struct cove_bytes *ret)
{
	size_t len = json_string_length(v);
	char field[129];
	ssize_t n;
	char *data;

	if (d->form == CV_FORM_WIRE)
		return take_body(d, v, ret);
	if (!json_is_string(v))
		return bad_type(d, f->name, f->type == CV_TEXT ? "a string" : "a base64 string");
	if (f->type == CV_TEXT) {
		*ret = (struct cove_bytes){.data = json_string_value(v), .len = len};
		return 0;
	}
	data = cv_arena_alloc(d->arena, len / 4 * 3 + 1);
	if (!data)
		return no_memory(d);
	n = cv_base64_decode(data, json_string_value(v), len);
	if (n < 0)
		return cv_fail_arg(d->err, full_name(d, f->name, field, sizeof(field)),
				   "RFC 4648, with padding", "is not base64");
	*ret = (struct cove_bytes){.data = data, .len = (size_t)n};
	return 0;
}

static int decode_intv(struct decoder *d, const struct cv_field *f, const json_t *v, int64_t **ret,
		       size_t *ret_count)
{
	size_t n = json_array_size(v);
	int64_t *items = cv_arena_array(d->arena, n, sizeof(*items));

	if (!json_is_array(v))
		return bad_type(d, f->name, "an array of integers");
	if (!items)
		return no_memory(d);
	for (size_t i = 0; i < n; i++)
		items[i] = json_integer_value(json_array_get(v, i));
	*ret = items;
	*ret_count = n;
	return 0;
}

static int decode_nested(struct decoder *d, const struct cv_struct *s, const char *name,
			 const json_t *v, void *dst)
{
	char saved[sizeof(d->prefix)];
	int rc;

	memcpy(saved, d->prefix, sizeof(saved));
	snprintf(d->prefix, sizeof(d->prefix), "%.30s%.30s.", saved, name);
	rc = decode_struct(d, s, v, dst);
	memcpy(d->prefix, saved, sizeof(saved));
	return rc;
}

static int decode_objv(struct decoder *d, const struct cv_field *f, const json_t *v, char **ret,
		       size_t *ret_count)
{
	size_t n = json_array_size(v);
	char *items = cv_arena_array(d->arena, n, f->sub->size);
	char name[40];

	if (!json_is_array(v))
		return bad_type(d, f->name, "an array of objects");
	if (!items)
		return no_memory(d);
	for (size_t i = 0; i < n; i++) {
		int rc;

		snprintf(name, sizeof(name), "%.18s[%zu]", f->name, i);
		rc = decode_nested(d, f->sub, name, json_array_get(v, i), items + i * f->sub->size);
		if (rc < 0)
			return rc;
	}
	*ret = items;
	*ret_count = n;
	return 0;
}

static int bad_packed(struct decoder *d)
{
	return cv_fail(d->err, COVE_E_PROTOCOL_ERROR, "a message holds a list that can't be");
}

static int decode_packed(struct decoder *d, const struct cv_field *f, const json_t *v, char **ret,
			 size_t *ret_count)
{
	json_int_t count = json_integer_value(json_array_get(v, 0));
	struct cove_bytes data = {0};
	char *items;
	int rc = take_body(d, json_array_get(v, 1), &data);

	if (rc < 0)
		return rc;
	/* Each field is a byte at least. */
	if (count < 0 || (size_t)count > data.len / f->sub->count)
		return bad_packed(d);
	items = cv_arena_array(d->arena, (size_t)count, f->sub->size);
	if (!items)
		return no_memory(d);
	if (cv_unpack(f->sub, data.data, data.len, items, (size_t)count) < 0)
		return bad_packed(d);
	*ret = items;
	*ret_count = (size_t)count;
	return 0;
}

static int decode_pointed(struct decoder *d, const struct cv_field *f, const json_t *v, void **ret)
{
	*ret = cv_arena_alloc(d->arena, f->sub->size);
	return *ret ? decode_nested(d, f->sub, f->name, v, *ret) : no_memory(d);
}

/*
 * Raw windows of a stream, from which the text is made here: [data, head, bytes, budget]. Wire form
 * only.
 */
static int decode_output(struct decoder *d, const json_t *v, struct cove_output *out)
{
	json_int_t head = json_integer_value(json_array_get(v, 1));
	json_int_t bytes = json_integer_value(json_array_get(v, 2));
	json_int_t budget = json_integer_value(json_array_get(v, 3));
	struct cove_bound_info info;
	struct cove_bytes data = {0};
	struct cv_window win;
	char *text;
	int rc = take_body(d, json_array_get(v, 0), &data);

	if (rc < 0)
		return rc;
	if (head < 0 || (size_t)head > data.len || bytes < (json_int_t)data.len || budget < 0 ||
	    budget > (64 << 20))
		return cv_fail(d->err, COVE_E_PROTOCOL_ERROR,
			       "a message describes output that can't be");
	text = cv_arena_raw(d->arena, (size_t)CV_MIN(budget, (json_int_t)data.len * 3 + 128) + 1);
	if (!text)
		return no_memory(d);
	win = (struct cv_window){
		.head = data.data, .head_len = (size_t)head, .total = (uint64_t)bytes};
	/* The windows overlap only where all there is was sent as one. */
	win.tail = bytes == head ? data.data : data.data + head;
	win.tail_len = bytes == head ? data.len : data.len - (size_t)head;
	out->text_len = cv_view(text, (size_t)budget, false, &win, &info);
	out->text = text;
	out->data = data.data;
	out->data_len = data.len;
	out->head_len = (size_t)head;
	out->bytes = info.bytes;
	out->shown = info.shown;
	out->truncated = info.truncated;
	out->lossy = info.lossy;
	out->spill_path = json_string_value(json_array_get(v, 4));
	out->spill_error = json_string_value(json_array_get(v, 5));
	return 0;
}

static int decode_bool(struct decoder *d, const struct cv_field *f, const json_t *v, void *p)
{
	if (!json_is_boolean(v))
		return bad_type(d, f->name, "true or false");
	if (f->type == CV_BOOL)
		*(bool *)p = json_is_true(v);
	else
		*(int *)p = json_is_true(v) ? 1 : COVE_ZERO;
	return 0;
}

/* The guest only needs to know that there is a callback; it never calls this. */
static int no_callback(void *user, int stream, const char *data, size_t len)
{
	(void)user;
	(void)stream;
	(void)data;
	(void)len;
	return 0;
}

static int decode_value(struct decoder *d, const struct cv_field *f, json_t *v, char *dst)
{
	void *p = dst + f->offset;
	void *p2 = dst + f->offset2;

	switch (f->type) {
	case CV_BOOL:
	case CV_TRI:
		return decode_bool(d, f, v, p);
	case CV_INT:
		return decode_int(d, f, v, p);
	case CV_ENUM:
		return json_is_null(v) ? 0 : decode_enum(d, f, v, p);
	case CV_STR:
		/* A result says null for a text that it does not have. */
		return d->form == CV_FORM_WIRE && json_is_null(v) ? 0 :
								    decode_string(d, f->name, v, p);
	case CV_STRV:
		return decode_strv(d, f, v, p);
	case CV_MAP:
		return decode_map(d, f, v, p);
	case CV_INTV:
		return decode_intv(d, f, v, p, p2);
	case CV_BYTES:
	case CV_TEXT:
		return decode_bytes(d, f, v, p);
	case CV_OBJ:
		return decode_nested(d, f->sub, f->name, v, p);
	case CV_OBJP:
		return decode_pointed(d, f, v, p);
	case CV_OBJV:
		if ((f->flags & CV_PACKED) && d->form == CV_FORM_WIRE)
			return decode_packed(d, f, v, p, p2);
		return decode_objv(d, f, v, p, p2);
	case CV_OUTPUT:
		return decode_output(d, v, p);
	case CV_FN:
		*(cove_output_fn *)p = no_callback;
		return 0;
	default:
		return 0;
	}
}

static const struct cv_field *find_field(const struct decoder *d, const struct cv_struct *s,
					 const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->fields[i].name, name) == 0 &&
		    (d->form == CV_FORM_WIRE || !(s->fields[i].flags & CV_WIRE_ONLY)))
			return &s->fields[i];
	return NULL;
}

static int unknown_field(struct decoder *d, const struct cv_struct *s, const char *name)
{
	char field[129];
	char known[250] = "known:";

	for (size_t i = 0; i < s->count; i++) {
		size_t len = strlen(known);

		if (!(s->fields[i].flags & CV_WIRE_ONLY))
			snprintf(known + len, sizeof(known) - len, " %s", s->fields[i].name);
	}
	return cv_fail_arg(d->err, full_name(d, name, field, sizeof(field)),
			   s->count ? known : "it takes none", "is not a field of this operation");
}

static int not_object(struct decoder *d)
{
	char field[sizeof(d->prefix)];

	/* The prefix of what would be inside, without its full stop. */
	snprintf(field, sizeof(field), "%.*s", (int)CV_MAX(strlen(d->prefix), 1) - 1, d->prefix);
	return cv_fail_arg(d->err, field[0] ? field : "arguments", "give an object",
			   "has the wrong type");
}

/* Raw bytes follow in the order of the descriptors, so that order is the one of decoding. */
static int decode_struct(struct decoder *d, const struct cv_struct *s, const json_t *j, void *dst)
{
	const char *key;
	json_t *v;

	if (!json_is_object(j))
		return not_object(d);
	json_object_foreach((json_t *)j, key, v) {
		if (!find_field(d, s, key))
			return unknown_field(d, s, key);
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];
		int rc;

		v = json_object_get(j, f->name);
		if (!v && f->type == CV_INT && (f->flags & CV_OMIT))
			*(int64_t *)cv_at(f, dst) = f->def;
		if (!v || ((f->flags & CV_WIRE_ONLY) && d->form == CV_FORM_JSON))
			continue;
		rc = decode_value(d, f, v, dst);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int cv_decode(const struct cv_struct *s, const json_t *j, enum cv_form form, struct cv_body *body,
	      struct cv_arena *arena, void *dst, struct cove_error *err)
{
	struct decoder d = {.form = form, .body = body, .arena = arena, .err = err};

	return decode_struct(&d, s, j, dst);
}
