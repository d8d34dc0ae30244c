/* SPDX-License-Identifier: Apache-2.0 */
/* Files of any size: a call that moves bytes while it waits. */
#include "base/buf.h"
#include "env/env.h"

#include <cove/streams.h>

#include <poll.h>

#define PIECE ((size_t)64 << 10)

int cove_file_read_stream(struct cove_env *env, const struct cove_file_read_stream_opts *opts,
			  struct cove_file_read_stream_result **ret_result, struct cove_error *err)
{
	return cv_env_call(env, CV_OP_ID_FILE_READ_STREAM, opts, (void **)ret_result, err);
}

/* Waits, unless the call is done, until all was taken. 0, or a code. */
static int send_all(struct cove_call *call, const char *data, size_t len, struct cove_error *err)
{
	size_t at = 0;

	while (at < len) {
		int64_t n = cove_call_write(call, data + at, len - at, err);

		if (n < 0)
			return (int)n;
		at += (size_t)n;
		if (n == 0 && cv_call_wait_credit(call))
			return 0;
	}
	return 0;
}

/* 0: to its end, or the call has ended before. 1: the source failed. */
static int pass_on(struct cove_call *call, const struct cove_file_write_stream_opts *opts,
		   char *buf, struct cove_error *err)
{
	int rc = 0;

	while (rc == 0 && !cove_call_poll(call)) {
		int64_t n = opts->source(opts->source_user, buf, PIECE);

		if (n < 0 || n > (int64_t)PIECE)
			return 1;
		if (n == 0)
			return (int)cove_call_write(call, NULL, 0, err);
		rc = send_all(call, buf, (size_t)n, err);
	}
	return rc;
}

/* The end was not told, so nothing was written: the guest confirms that. */
static int source_failed(struct cove_call *call, struct cove_error *err)
{
	struct cove_error why = COVE_ERROR_INIT;
	int rc;

	cove_call_cancel(call);
	rc = cove_call_take(call, NULL, &why);
	if (rc < 0 && rc != COVE_E_CANCELLED) {
		if (err)
			*err = why;
		return rc;
	}
	cv_fail(err, COVE_E_CALLBACK_FAILED,
		"file.write_stream: the source failed, and nothing was written");
	cv_err_operation(err, "file.write_stream");
	if (err)
		err->stage = COVE_STAGE_COMPLETED;
	return COVE_E_CALLBACK_FAILED;
}

int cove_file_write_stream(struct cove_env *env, const struct cove_file_write_stream_opts *opts,
			   struct cove_file_write_result **ret_result, struct cove_error *err)
{
	CV_FREE char *buf = malloc(PIECE);
	struct cove_call *call = NULL;
	int rc;

	if (!buf)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	if (!opts || opts->size < sizeof(*opts) || !opts->source)
		return cv_fail_arg(err, "source", "give a function, such as cove_source_fd()",
				   "is missing");
	rc = cove_submit(env, "file.write_stream", opts, NULL, &call, err);
	if (rc < 0)
		return rc;
	rc = pass_on(call, opts, buf, err);
	if (rc == 0)
		return cove_call_take(call, (void **)ret_result, err);
	if (rc > 0)
		return source_failed(call, err);
	cove_call_free(call);
	return rc;
}

static void wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	poll(&p, 1, -1);
}

int64_t cove_source_fd(void *user, char *buf, size_t size)
{
	int fd = *(int *)user;
	ssize_t n;

	while ((n = read(fd, buf, size)) < 0) {
		if (errno == EAGAIN)
			wait_for(fd, POLLIN);
		else if (errno != EINTR)
			return -1;
	}
	return n;
}

int cove_data_to_fd(void *user, const char *data, size_t len)
{
	int fd = *(int *)user;

	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			wait_for(fd, POLLOUT);
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}
