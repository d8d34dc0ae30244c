/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and output of the command line. */
#include "cli/report.h"

#include "cli/interrupt.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

void report_error(const struct cove_error *err)
{
	fprintf(stderr, "cove: %s\n", err->message);
	if (err->hint[0] && !strstr(err->message, err->hint))
		fprintf(stderr, "  hint: %s\n", err->hint);
}

void report(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "cove: %s\n", text);
}

static int add_text(json_t *j, const char *key, const char *text)
{
	return *text ? json_object_set_new(j, key, cv_json_text(text, strlen(text))) : 0;
}

char *error_json(const struct cove_error *err)
{
	CV_JSON json_t *j = json_pack("{s:s}", "code", cove_code_name(err->code));

	if (!j || add_text(j, "message", err->message) < 0 ||
	    add_text(j, "operation", err->operation) < 0 || add_text(j, "path", err->path) < 0 ||
	    add_text(j, "field", err->field) < 0 || add_text(j, "reason", err->reason) < 0 ||
	    add_text(j, "hint", err->hint) < 0)
		return NULL;
	if (err->sys_errno && json_object_set_new(j, "errno", json_integer(err->sys_errno)) < 0)
		return NULL;
	if (err->code == COVE_E_EDIT_NOT_FOUND || err->code == COVE_E_EDIT_AMBIGUOUS) {
		json_object_set_new(j, "edit_index", json_integer(err->edit_index));
		json_object_set_new(j, "occurrences", json_integer(err->occurrences));
	}
	json_object_set_new(j, "stage", json_string(cv_stage_name(err->stage)));
	json_object_set_new(j, "retry", json_string(cv_retry_name(err->retry)));
	return cv_json_dump(j);
}

int put(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		struct pollfd out = {.fd = fd, .events = POLLOUT};

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&out, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
		if (len > 0 && interrupt_signal())
			return -EINTR;
	}
	return 0;
}
