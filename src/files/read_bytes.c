/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file from an offset on.
 *
 * How much there is is found out by reading, never believed: files below /proc say that they hold
 * nothing, and any file may grow or shrink meanwhile. The size that is said only tells how much
 * memory to ask for.
 */
#include "files/common.h"

#include "base/buf.h"

#include <fcntl.h>

#define LENGTH_MAX ((size_t)64 << 20)
#define STEP ((size_t)64 << 10)

/*
 * Reads up to `want` bytes at offset into b; *ret_eof: the file ended before that. Less than was
 * asked for, up to just where the file is said to end (`size`), is the end; anywhere else only a
 * read that gives nothing is.
 */
static int read_range(const struct cv_file_ctx *ctx, int fd, int64_t offset, int64_t size,
		      size_t want, struct cv_buf *b, bool *ret_eof)
{
	*ret_eof = false;
	if (offset > 0 && lseek(fd, offset, SEEK_SET) < 0) {
		/* Beyond what the file system can hold, and so beyond the end. */
		*ret_eof = errno == EINVAL || errno == EOVERFLOW;
		return *ret_eof ? 0 : -errno;
	}
	while (b->len < want) {
		size_t room = b->cap - b->len - 1;
		size_t step = CV_MIN(want - b->len, room ? room : STEP);
		ssize_t n;

		if (cv_flag_set(ctx->cancel))
			return -ECANCELED;
		if (cv_buf_reserve(b, step) < 0)
			return -ENOMEM;
		n = cv_files_read(fd, b->data + b->len, step);
		if (n <= 0) {
			*ret_eof = n == 0;
			return (int)n;
		}
		b->len += (size_t)n;
		*ret_eof = (size_t)n < step && size > 0 && offset + (int64_t)b->len == size;
		if (*ret_eof)
			break;
	}
	return 0;
}

static int too_large(const char *path, struct cove_error *err)
{
	cv_fail(err, COVE_E_TOO_LARGE, "'%s' goes on for more than 64 MiB", path);
	cv_err_hint(err, "give a length of at most 67108864 and read on from the next offset");
	cv_err_path(err, path);
	return COVE_E_TOO_LARGE;
}

/* Memory for what is likely there, plus one byte to see the end. */
static int reserve_guess(struct cv_buf *b, int64_t offset, int64_t size, size_t want)
{
	size_t there = size > offset ? (size_t)(size - offset) : 0;

	return cv_buf_reserve(b, CV_MIN(there, want - 1) + 1);
}

static int fail(const struct cv_file_ctx *ctx, int rc, const char *path, struct cove_error *err)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(ctx, err);
	if (rc == -ENOMEM)
		return cv_files_no_memory(err);
	return cv_fail_errno(err, -rc, path, "cannot read '%s'", path);
}

int cv_file_read_bytes(const struct cv_file_ctx *ctx, const void *req, void *res,
		       struct cove_error *err)
{
	const struct cove_file_read_bytes_opts *opts = req;
	struct cove_file_read_bytes_result *result = res;
	size_t most = opts->length ? (size_t)opts->length : LENGTH_MAX;
	CV_BUF_SCOPE struct cv_buf b = CV_BUF(LENGTH_MAX + 1);
	CV_CLOSE int fd = -1;
	struct stat st;
	bool eof = false;
	int rc;

	if (opts->length < 0 || most > LENGTH_MAX)
		return too_large(opts->path, err);
	fd = cv_files_open_content(ctx, opts->path, &st, err);
	if (fd < 0)
		return fd;
	if (!opts->length && st.st_size > opts->offset &&
	    st.st_size - opts->offset > (int64_t)LENGTH_MAX)
		return too_large(opts->path, err);
	/* One byte more than wanted tells whether the file goes on. */
	rc = reserve_guess(&b, opts->offset, st.st_size, most + 1);
	if (rc == 0)
		rc = read_range(ctx, fd, opts->offset, st.st_size, most + 1, &b, &eof);
	if (rc < 0)
		return fail(ctx, rc, opts->path, err);
	if (!eof && !opts->length)
		return too_large(opts->path, err);
	result->offset = opts->offset;
	result->eof = eof;
	result->size = CV_MAX((int64_t)st.st_size, b.len ? opts->offset + (int64_t)b.len : 0);
	result->data.len = CV_MIN(b.len, most);
	b.data[result->data.len] = '\0';
	result->data.data = b.data;
	return cv_arena_own(ctx->arena, free, TAKE(b.data)) < 0 ? cv_files_no_memory(err) : 0;
}
