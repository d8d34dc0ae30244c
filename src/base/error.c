/* SPDX-License-Identifier: Apache-2.0 */
/* Makes errors: codes, names, the errno map, and texts that are cut rather than overflow. */
#include "base/error.h"

#include "base/secret.h"
#include "base/utf8.h"

#include <stdio.h>

static const struct {
	int code;
	int exit_code;
	const char *name;
} codes[] = {
#define COVE_ERROR(NAME, name, value, cli, rpc, http) {COVE_E_##NAME, cli, #name},
#include <cove/errors.def>
#undef COVE_ERROR
};

static const char *const stages[] = {"", "not_dispatched", "dispatched", "completed", "unknown"};
static const char *const retries[] = {
	"", "never", "same_request", "after_refresh", "after_capacity", "reconcile_first"};

const char *cove_code_name(int code)
{
	if (code == 0)
		return "ok";
	for (size_t i = 0; i < CV_LEN(codes); i++)
		if (codes[i].code == code)
			return codes[i].name;
	return "internal";
}

int cove_code_exit(int code)
{
	if (code == 0)
		return 0;
	for (size_t i = 0; i < CV_LEN(codes); i++)
		if (codes[i].code == code)
			return codes[i].exit_code;
	return 1;
}

int cv_code_of_name(const char *name)
{
	for (size_t i = 0; name && i < CV_LEN(codes); i++)
		if (strcmp(codes[i].name, name) == 0)
			return codes[i].code;
	return COVE_E_INTERNAL;
}

static int index_of(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 1; name && i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return 0;
}

const char *cv_stage_name(int stage)
{
	return stage > 0 && (size_t)stage < CV_LEN(stages) ? stages[stage] : "unknown";
}

const char *cv_retry_name(int retry)
{
	return retry > 0 && (size_t)retry < CV_LEN(retries) ? retries[retry] : "never";
}

int cv_stage_of_name(const char *name)
{
	return index_of(stages, CV_LEN(stages), name);
}

int cv_retry_of_name(const char *name)
{
	return index_of(retries, CV_LEN(retries), name);
}

int cv_code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
		return COVE_E_NOT_FOUND;
	case EEXIST:
		return COVE_E_ALREADY_EXISTS;
	case EACCES:
	case EPERM:
		return COVE_E_PERMISSION_DENIED;
	case EROFS:
		return COVE_E_READ_ONLY;
	case ENOTDIR:
		return COVE_E_NOT_DIRECTORY;
	case EISDIR:
		return COVE_E_IS_DIRECTORY;
	case ENOTEMPTY:
		return COVE_E_NOT_EMPTY;
	case ENOSPC:
	case EDQUOT:
		return COVE_E_QUOTA_EXCEEDED;
	case ENOSYS:
	case EOPNOTSUPP:
		return COVE_E_NOT_SUPPORTED;
	case ELOOP:
	case ENAMETOOLONG:
	case EINVAL:
		return COVE_E_INVALID_ARGUMENT;
	case EBUSY:
	case ETXTBSY:
		return COVE_E_BUSY;
	case ESTALE:
		return COVE_E_STALE;
	case EPIPE:
	case ECONNRESET:
		return COVE_E_UNAVAILABLE;
	default:
		return COVE_E_INTERNAL;
	}
}

static int retry_of_code(int code)
{
	switch (code) {
	case COVE_E_QUOTA_EXCEEDED:
		return COVE_RETRY_AFTER_CAPACITY;
	case COVE_E_BUSY:
	case COVE_E_TIMEOUT:
	case COVE_E_CANCELLED:
		return COVE_RETRY_SAME_REQUEST;
	case COVE_E_STALE:
	case COVE_E_CONFLICT:
	case COVE_E_CURSOR_INVALID:
	case COVE_E_EDIT_NOT_FOUND:
	case COVE_E_EDIT_AMBIGUOUS:
		return COVE_RETRY_AFTER_REFRESH;
	case COVE_E_OUTCOME_UNKNOWN:
		return COVE_RETRY_RECONCILE_FIRST;
	default:
		return COVE_RETRY_NEVER;
	}
}

void cv_text_copy(char *dst, size_t size, const char *src)
{
	size_t len = strnlen(src, size - 1);

	len = cv_utf8_cut(src, len);
	memcpy(dst, src, len);
	dst[len] = '\0';
}

static void reset(struct cove_error *err, int code)
{
	size_t size = err->size;

	memset(err, 0, CV_MIN(size ? size : sizeof(*err), sizeof(*err)));
	err->size = size;
	err->code = code;
	err->stage = COVE_STAGE_NOT_DISPATCHED;
	err->retry = retry_of_code(code);
}

/* Redacts before it cuts: a part of a secret may no longer look like one. */
static void set_text(char *dst, size_t size, const char *fmt, va_list ap)
{
	char text[4 * sizeof(((struct cove_error *)NULL)->message)];

	vsnprintf(text, sizeof(text), fmt, ap);
	cv_redact(text);
	cv_text_copy(dst, size, text);
}

int cv_fail(struct cove_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	reset(err, code);
	va_start(ap, fmt);
	set_text(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return code;
}

int cv_fail_errno(struct cove_error *err, int errnum, const char *path, const char *fmt, ...)
{
	int code = cv_code_of_errno(errnum);
	size_t len;
	va_list ap;

	if (!err)
		return code;
	reset(err, code);
	err->sys_errno = errnum;
	va_start(ap, fmt);
	set_text(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s", strerror(errnum));
	if (path)
		cv_text_copy(err->path, sizeof(err->path), path);
	return code;
}

int cv_fail_arg(struct cove_error *err, const char *field, const char *hint, const char *reason,
		...)
{
	va_list ap;

	if (!err)
		return COVE_E_INVALID_ARGUMENT;
	reset(err, COVE_E_INVALID_ARGUMENT);
	cv_text_copy(err->field, sizeof(err->field), field);
	va_start(ap, reason);
	set_text(err->reason, sizeof(err->reason), reason, ap);
	va_end(ap);
	if (hint)
		cv_text_copy(err->hint, sizeof(err->hint), hint);
	snprintf(err->message, sizeof(err->message), "'%s' %s%s%s", err->field, err->reason,
		 hint ? "; " : "", hint ? err->hint : "");
	return COVE_E_INVALID_ARGUMENT;
}

int cv_err_path(struct cove_error *err, const char *path)
{
	if (!err)
		return COVE_E_INTERNAL;
	if (path)
		cv_text_copy(err->path, sizeof(err->path), path);
	return err->code;
}

int cv_err_hint(struct cove_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return COVE_E_INTERNAL;
	va_start(ap, fmt);
	set_text(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return err->code;
}

void cv_err_operation(struct cove_error *err, const char *op)
{
	if (err && err->operation[0] == '\0')
		cv_text_copy(err->operation, sizeof(err->operation), op);
}
