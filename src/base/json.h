/* SPDX-License-Identifier: Apache-2.0 */
/* Glue to jansson: strict loading with errors that say where, and scope cleanup. */
#ifndef CV_BASE_JSON_H
#define CV_BASE_JSON_H

#include "base/error.h"

#include <jansson.h>

static inline void cv_json_scope(json_t *const *j)
{
	json_decref(*j);
}
#define CV_JSON __attribute__((cleanup(cv_json_scope)))

/*
 * Loads one JSON value; duplicate keys and anything behind it are refused. what names the text in
 * errors.
 */
int cv_json_load(const char *data, size_t len, const char *what, json_t **ret,
		 struct cove_error *err);

/* Compact JSON text, to be freed with free(); NULL: no memory. */
char *cv_json_dump(const json_t *j);

/* A JSON string of bytes that may not be UTF-8 (bad ones become U+FFFD). NULL: no memory. */
json_t *cv_json_text(const char *s, size_t len);

#endif
