/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making errors.
 *
 * A function that fails returns what one of these returns, in one expression; each takes a NULL
 * err. The place that knows a thing's name says it: once.
 */
#ifndef CV_BASE_ERROR_H
#define CV_BASE_ERROR_H

#include "base/def.h"

#include <cove/error.h>

#include <stdarg.h>

/* Fills err with a code and a message; returns code. */
int cv_fail(struct cove_error *err, int code, const char *fmt, ...) CV_PRINTF(3, 4);

/* The same from errno: the message gets ": what errno means" at its end. path may be NULL. */
int cv_fail_errno(struct cove_error *err, int errnum, const char *path, const char *fmt, ...)
	CV_PRINTF(4, 5);

/*
 * A bad argument: which field, what is wrong with it, what would be right (NULL: nothing to say).
 */
int cv_fail_arg(struct cove_error *err, const char *field, const char *hint, const char *reason,
		...) CV_PRINTF(4, 5);

/* Adds to an error that is filled already. Return err->code, or 0 for NULL. */
int cv_err_path(struct cove_error *err, const char *path);
int cv_err_hint(struct cove_error *err, const char *fmt, ...) CV_PRINTF(2, 3);
void cv_err_operation(struct cove_error *err, const char *op);

/* The code that stands for an errno (ERR-3). */
int cv_code_of_errno(int errnum);

/* The code with a name on the wire; COVE_E_INTERNAL for a name that is none. */
int cv_code_of_name(const char *name);

const char *cv_stage_name(int stage);
const char *cv_retry_name(int retry);
int cv_stage_of_name(const char *name);
int cv_retry_of_name(const char *name);

/* Copies text of any length into a fixed field, cut on a code point. */
void cv_text_copy(char *dst, size_t size, const char *src);

#endif
