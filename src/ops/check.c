/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, lengths and defaults of requests, by their descriptors (ERR-2). */
#include "base/utf8.h"
#include "ops/field.h"

#define STR_MAX (INT64_C(1) << 20)

struct checker {
	struct cove_error *err;
	char prefix[64];
};

static int bad(struct checker *c, const struct cv_field *f, const char *hint, const char *reason)
{
	char field[129];

	snprintf(field, sizeof(field), "%s%s", c->prefix, f->name);
	return cv_fail_arg(c->err, field, hint, "%s", reason);
}

static int check_int(struct checker *c, const struct cv_field *f, int64_t n)
{
	char reason[200];

	if (n == 0 && (f->flags & CV_REQUIRED))
		return bad(c, f, "it has no default", "is missing");
	if (n == 0 || (n == COVE_ZERO && (f->flags & CV_ZERO_OK)))
		return 0;
	if (n >= f->min && n <= f->max && n != COVE_ZERO)
		return 0;
	snprintf(reason, sizeof(reason), "is %lld; it must be %lld..%lld%s%s",
		 n == COVE_ZERO ? 0LL : (long long)n, (long long)f->min, (long long)f->max,
		 f->unit ? " " : "", f->unit ? f->unit : "");
	return bad(c, f, NULL, reason);
}

static int check_enum(struct checker *c, const struct cv_field *f, int n)
{
	int count = 0;

	while (f->names[count])
		count++;
	if (n == 0 && (f->flags & CV_REQUIRED))
		return bad(c, f, "it has no default", "is missing");
	return n < 0 || n > count ? bad(c, f, "see the header", "is no value of its enum") : 0;
}

static int check_len(struct checker *c, const struct cv_field *f, size_t len)
{
	int64_t max = f->max ? f->max : STR_MAX;
	char reason[128];

	if ((int64_t)len <= max)
		return 0;
	snprintf(reason, sizeof(reason), "has %zu bytes; it may have %lld", len, (long long)max);
	return bad(c, f, NULL, reason);
}

static int check_str(struct checker *c, const struct cv_field *f, const char *s)
{
	int rc;

	if (!s)
		return f->flags & CV_REQUIRED ? bad(c, f, "it has no default", "is missing") : 0;
	if (!s[0] && !(f->flags & CV_EMPTY_OK))
		rc = bad(c, f, NULL, "is empty");
	else
		rc = check_len(c, f, strlen(s));
	if (rc == 0 && !cv_utf8_valid(s, strlen(s)))
		rc = bad(c, f, "strings are UTF-8", "is not UTF-8");
	if (rc < 0 && (f->flags & CV_IS_PATH))
		cv_err_path(c->err, s);
	return rc;
}

static int check_strv(struct checker *c, const struct cv_field *f, const char *const *items)
{
	int64_t n = 0;

	for (; items && items[n]; n++) {
		const char *eq = strchr(items[n], '=');

		if (!cv_utf8_valid(items[n], strlen(items[n])))
			return bad(c, f, "strings are UTF-8", "has an entry that is not UTF-8");
		if (f->type == CV_MAP && (!eq || eq == items[n]))
			return bad(c, f, "entries are NAME=VALUE",
				   "has an entry that is not NAME=VALUE");
		if (f->type == CV_STRV && !items[n][0] && !(f->flags & CV_EMPTY_OK))
			return bad(c, f, NULL, "has an empty entry");
	}
	return f->max && n > f->max ? bad(c, f, NULL, "has too many entries") : 0;
}

static int check_bytes(struct checker *c, const struct cv_field *f, const struct cove_bytes *b)
{
	if (!b->data && b->len > 0)
		return bad(c, f, NULL, "has a length but no data");
	if (!b->data && (f->flags & CV_REQUIRED))
		return bad(c, f, "it has no default", "is missing");
	if (f->type == CV_TEXT && b->data &&
	    (!cv_utf8_valid(b->data, b->len) || memchr(b->data, 0, b->len)))
		return bad(c, f, "write bytes instead", "is not UTF-8 text without NUL");
	return check_len(c, f, b->len);
}

static int check_struct(struct checker *c, const struct cv_struct *s, const void *src);

static int check_nested(struct checker *c, const struct cv_struct *s, const char *name,
			const void *src)
{
	char saved[sizeof(c->prefix)];
	int rc;

	memcpy(saved, c->prefix, sizeof(saved));
	snprintf(c->prefix, sizeof(c->prefix), "%.30s%.30s.", saved, name);
	rc = check_struct(c, s, src);
	memcpy(c->prefix, saved, sizeof(saved));
	return rc;
}

static int check_objv(struct checker *c, const struct cv_field *f, const char *items, size_t count)
{
	char name[40];
	int rc = 0;

	if (!items && count > 0 && !(f->flags & CV_REQUIRED))
		return bad(c, f, NULL, "has a count but no entries");
	if ((count == 0 || !items) && (f->flags & CV_REQUIRED))
		return bad(c, f, "it has no default", items ? "is empty" : "is missing");
	if (f->max && (int64_t)count > f->max)
		return bad(c, f, NULL, "has too many entries");
	for (size_t i = 0; i < count && rc == 0; i++) {
		snprintf(name, sizeof(name), "%.18s[%zu]", f->name, i);
		rc = check_nested(c, f->sub, name, items + i * f->sub->size);
	}
	return rc;
}

static int check_field(struct checker *c, const struct cv_field *f, const void *src)
{
	const void *p = cv_at(f, src);
	int rc;

	switch (f->type) {
	case CV_TRI:
		rc = *(const int *)p;
		return rc == 0 || rc == 1 || rc == COVE_ZERO ?
			       0 :
			       bad(c, f, NULL, "must be 0, 1 or COVE_ZERO");
	case CV_INT:
		return check_int(c, f, *(const int64_t *)p);
	case CV_ENUM:
		return check_enum(c, f, *(const int *)p);
	case CV_STR:
		return check_str(c, f, *(const char *const *)p);
	case CV_STRV:
	case CV_MAP:
		return check_strv(c, f, *(const char *const *const *)p);
	case CV_BYTES:
	case CV_TEXT:
		return check_bytes(c, f, p);
	case CV_OBJP:
		p = *(const void *const *)p;
		if (!p)
			return 0;
		/* fall through */
	case CV_OBJ:
		return check_nested(c, f->sub, f->name, p);
	case CV_OBJV:
		return check_objv(c, f, *(const char *const *)p,
				  *(const size_t *)((const char *)src + f->offset2));
	default:
		return 0;
	}
}

static int check_struct(struct checker *c, const struct cv_struct *s, const void *src)
{
	for (size_t i = 0; i < s->count; i++) {
		int rc = check_field(c, &s->fields[i], src);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int cv_check(const struct cv_struct *s, const void *src, struct cove_error *err)
{
	struct checker c = {.err = err};

	return check_struct(&c, s, src);
}

void cv_resolve_defaults(const struct cv_struct *s, void *dst)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];
		void *p = cv_at(f, dst);

		switch (f->type) {
		case CV_TRI:
			*(int *)p = *(int *)p != COVE_ZERO;
			break;
		case CV_INT:
			if (*(int64_t *)p == 0)
				*(int64_t *)p = f->def;
			else if (*(int64_t *)p == COVE_ZERO)
				*(int64_t *)p = 0;
			break;
		case CV_ENUM:
			if (*(int *)p == 0)
				*(int *)p = (int)f->def;
			break;
		case CV_OBJ:
			cv_resolve_defaults(f->sub, p);
			break;
		case CV_OBJP:
			if (*(void **)p)
				cv_resolve_defaults(f->sub, *(void **)p);
			break;
		case CV_OBJV:
			for (size_t k = 0; k < *(size_t *)((char *)dst + f->offset2); k++)
				cv_resolve_defaults(f->sub, *(char **)p + k * f->sub->size);
			break;
		default:
			break;
		}
	}
}
