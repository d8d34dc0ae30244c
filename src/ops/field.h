/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors: what a struct of the public headers holds, field by field.
 *
 * Everything that must know the fields of a request or result is made from these rows: JSON in both
 * directions, wire messages, checks of ranges, defaults, help and docs. A request struct goes
 * through three forms: as the caller filled it (zero means default, COVE_ZERO means zero), checked,
 * and resolved (defaults filled in, COVE_ZERO replaced by 0), which is what handlers see.
 */
#ifndef CV_OPS_FIELD_H
#define CV_OPS_FIELD_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>

enum cv_type {
	CV_BOOL,   /* bool */
	CV_TRI,	   /* int: 0 default, 1 yes, COVE_ZERO no; the default is yes */
	CV_INT,	   /* int64_t */
	CV_ENUM,   /* int: 1.. by `names`; 0 unset */
	CV_STR,	   /* const char * */
	CV_STRV,   /* const char *const *, NULL at the end */
	CV_MAP,	   /* the same, of "NAME=VALUE"; an object in JSON */
	CV_INTV,   /* const int64_t *, count at offset2 */
	CV_BYTES,  /* struct cove_bytes; base64 in JSON, raw on the wire */
	CV_TEXT,   /* struct cove_bytes of UTF-8; a string in JSON, raw on the wire */
	CV_OBJ,	   /* a nested struct in place */
	CV_OBJP,   /* pointer to a nested struct; NULL: not given */
	CV_OBJV,   /* pointer to structs, count at offset2 */
	CV_OUTPUT, /* struct cove_output; offset2: bool that says "merged" */
	CV_FN,	   /* a callback: on the wire, whether there is one */
};

enum cv_field_flags {
	CV_REQUIRED = 1,
	CV_ZERO_OK = 2,	  /* 0 is a value of its own, COVE_ZERO in C */
	CV_OMIT = 4,	  /* results: left out when NULL, zero, or negative */
	CV_WIRE_ONLY = 8, /* not in JSON */
	CV_EMPTY_OK = 16, /* an empty string is fine */
	CV_IS_PATH = 32,  /* a string that errors give as the path */
	CV_PACKED = 64,	  /* CV_OBJV of results: on the wire as raw bytes, for there may be many */
};

struct cv_struct;

struct cv_field {
	const char *name;
	const char *doc;
	const char *unit;	     /* "ms", "bytes", … or NULL */
	const char *const *names;    /* CV_ENUM: value i is names[i - 1]; NULL at the end */
	const struct cv_struct *sub; /* CV_OBJ, CV_OBJV */
	const char *alt;	     /* CV_OUTPUT: name when merged, NULL: left out then;
					CV_BYTES: name in JSON when the flag at offset2 says text */
	int64_t def;		     /* what 0 resolves to */
	int64_t min;
	int64_t max; /* of an integer; of a string or bytes, its length; of a list, its entries */
	uint16_t offset;
	uint16_t offset2;
	uint8_t type;
	uint8_t flags;
};

struct cv_struct {
	const char *name;
	size_t size;
	const struct cv_field *fields;
	size_t count;
};

/* How values travel: JSON for people, or a JSON header with raw bytes behind it. */
enum cv_form {
	CV_FORM_JSON,
	CV_FORM_WIRE
};

/* The raw bytes behind a wire message: appended in the order of fields. */
struct cv_body {
	struct cv_bytes_ref {
		const char *data;
		size_t len;
		bool owned;
	} * parts; /* encoding: borrowed, unless owned */
	size_t count;
	size_t cap;
	size_t total;
	const char *data; /* decoding */
	size_t len;
	size_t at;
};

void cv_body_done(struct cv_body *body);

/*
 * Struct to JSON. is_request: zero fields are left out. NULL: no memory. Bytes go to body in the
 * wire form.
 */
json_t *cv_encode(const struct cv_struct *s, const void *src, bool is_request, enum cv_form form,
		  struct cv_body *body);

/*
 * JSON to struct, zeroed before. Strings and arrays live in the arena or are borrowed from j, which
 * the caller gives to the arena. Unknown fields, wrong types and values out of range are
 * invalid_argument with field and hint.
 */
int cv_decode(const struct cv_struct *s, const json_t *j, enum cv_form form, struct cv_body *body,
	      struct cv_arena *arena, void *dst, struct cove_error *err);

/* Checks a caller's struct: ranges, lengths, UTF-8, required fields. */
int cv_check(const struct cv_struct *s, const void *src, struct cove_error *err);

/* Fills defaults in and replaces COVE_ZERO, in place. */
void cv_resolve_defaults(const struct cv_struct *s, void *dst);

/*
 * Structs back to back as bytes: numbers as varints, strings and texts with their length and a NUL
 * at the end. 0, or -ENOMEM, or -EMSGSIZE.
 */
struct cv_buf;
int cv_pack(const struct cv_struct *s, const char *items, size_t count, struct cv_buf *dst);

/* Fills zeroed structs; strings are borrowed from data. 0, or -EPROTO. */
int cv_unpack(const struct cv_struct *s, const char *data, size_t len, char *items, size_t count);

/* Errors as JSON, both ways. */
json_t *cv_error_encode(const struct cove_error *err);
int cv_error_decode(const json_t *j, struct cove_error *err);

static inline void *cv_at(const struct cv_field *f, const void *base)
{
	return (char *)base + f->offset;
}

#endif
