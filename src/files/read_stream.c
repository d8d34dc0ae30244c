/* SPDX-License-Identifier: Apache-2.0 */
/* A file of any size, read piece by piece as the receiver has room. */
#include "files/streams.h"

#include "files/common.h"

#include "base/fd.h"

#include <cove/streams.h>

#define PIECE ((size_t)64 << 10)

struct reading {
	struct cv_reply *reply;
	struct cv_arena *arena;
	const char *path; /* as the caller spelt it; lives as long as the request */
	int fd;
	int64_t left;
	struct cove_file_read_stream_result result;
	char buf[PIECE];
};

static void reading_free(struct reading *r)
{
	cv_close(&r->fd);
	cv_arena_free(r->arena);
	free(r);
}

static void finish(struct reading *r, bool eof)
{
	r->result.eof = eof;
	r->reply->result(r->reply, &r->result);
	reading_free(r);
}

static void finish_bad(struct reading *r, int rc)
{
	struct cove_error err = COVE_ERROR_INIT;

	cv_fail_errno(&err, -rc, r->path, "cannot read '%s'", r->path);
	r->reply->error(r->reply, &err);
	reading_free(r);
}

/* Fills a piece; less only at the end. */
static ssize_t next_piece(struct reading *r, size_t want)
{
	size_t len = 0;

	while (len < want) {
		ssize_t n = cv_files_read(r->fd, r->buf + len, want - len);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

/* Sends as much as the receiver has room for. */
static void pump(struct cv_reply *reply)
{
	struct reading *r = reply->user;

	while (r->left > 0 && reply->credit[1] >= CV_MIN(PIECE, (size_t)r->left)) {
		size_t want = CV_MIN(PIECE, (size_t)r->left);
		ssize_t n = next_piece(r, want);

		if (n < 0) {
			finish_bad(r, (int)n);
			return;
		}
		if (n > 0)
			reply->live(reply, 1, r->buf, (size_t)n);
		r->result.bytes_read += n;
		r->left -= n;
		if ((size_t)n < want) {
			finish(r, true);
			return;
		}
	}
	if (r->left == 0)
		finish(r, cv_files_read(r->fd, r->buf, 1) == 0);
}

static void cancel(struct cv_reply *reply)
{
	struct reading *r = reply->user;
	struct cove_error err = COVE_ERROR_INIT;

	cv_fail(&err, COVE_E_CANCELLED, "cancelled");
	reply->error(reply, &err);
	reading_free(r);
}

static int start(struct reading *r, const struct cv_space *space,
		 const struct cove_file_read_stream_opts *opts, struct cove_error *err)
{
	struct cv_file_ctx ctx = {.space = space, .arena = r->arena};
	struct stat st;

	r->fd = cv_files_open_content(&ctx, opts->path, &st, err);
	if (r->fd < 0)
		return r->fd;
	if (opts->offset == 0 || lseek(r->fd, opts->offset, SEEK_SET) >= 0)
		return 0;
	/* Beyond what the file system can hold, and so beyond the end. */
	if ((errno == EINVAL || errno == EOVERFLOW) && lseek(r->fd, 0, SEEK_END) >= 0)
		return 0;
	return cv_fail_errno(err, errno, opts->path, "cannot read '%s'", opts->path);
}

void cv_file_read_stream(struct cv_streams *s, const void *req, struct cv_reply *reply)
{
	const struct cove_file_read_stream_opts *opts = req;
	struct cove_error err = COVE_ERROR_INIT;
	struct reading *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		cv_files_no_memory(&err);
		reply->error(reply, &err);
		return;
	}
	*r = (struct reading){.reply = reply,
			      .arena = cv_arena_new(0, NULL),
			      .path = opts->path,
			      .fd = -1,
			      .left = opts->length ? opts->length : INT64_MAX};
	rc = r->arena ? start(r, s->space, opts, &err) : cv_files_no_memory(&err);
	if (rc < 0) {
		reply->error(reply, &err);
		reading_free(r);
		return;
	}
	reply->user = r;
	reply->on_cancel = cancel;
	reply->on_credit = pump;
	pump(reply);
}
