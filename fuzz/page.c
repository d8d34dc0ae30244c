/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of a text file: the same text whether it comes at once, in pages of any number of lines, or
 * across the edge of the reader's buffer.
 *
 * Input: a byte each with lines per page, longest line, and where the buffer's edge is; the text.
 */
#include "target.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "files/files.h"

#include <cove/files.h>

#include <fcntl.h>
#include <stdio.h>

#define BUFFER ((size_t)128 << 10)

static char path[64];

static void forget_file(void)
{
	unlink(path);
}

static void put(const char *head, size_t head_len, const uint8_t *data, size_t size)
{
	int fd;

	if (!path[0]) {
		snprintf(path, sizeof(path), "/tmp/cove-fuzz-page.%d", getpid());
		atexit(forget_file);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && cv_write_full(fd, head, head_len) == 0 &&
	     cv_write_full(fd, data, size) == 0);
	close(fd);
}

/* Appends the text from a line on, in pages of so many lines. 0, or the code that refused one. */
static int read_pages(int64_t from, int64_t limit, int64_t longest, int invalid, struct cv_buf *b)
{
	bool more = true;

	for (int64_t line = from; more;) {
		CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
		struct cv_space space = {.cwd = "/", .home = "/"};
		struct cv_file_ctx ctx = {.space = &space, .arena = arena};
		struct cove_file_read_text_result r = {0};
		struct cove_error err = COVE_ERROR_INIT;
		struct cove_file_read_text_opts opts = {.size = sizeof(opts),
							.path = path,
							.line_offset = line,
							.line_limit = limit,
							.max_line_length = longest,
							.invalid = invalid};
		int rc = cv_file_read_text(&ctx, &opts, &r, &err);

		if (rc < 0)
			return rc;
		MUST(cv_utf8_valid(r.text.data, r.text.len) &&
		     (limit < 0 || r.lines_read <= limit));
		MUST(r.lines_read > 0 || !r.has_more);
		MUST(cv_buf_add(b, r.text.data, r.text.len) == 0);
		line += r.lines_read;
		more = r.has_more;
	}
	return 0;
}

static void same(int64_t from, int64_t limit, int64_t longest, int invalid, const char *want,
		 size_t len, int want_rc)
{
	CV_BUF_SCOPE struct cv_buf got = CV_BUF(1u << 26);
	int rc = read_pages(from, limit, longest, invalid, &got);

	MUST(rc == want_rc);
	MUST(rc < 0 || (got.len == len && (len == 0 || memcmp(got.data, want, len) == 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char pad[BUFFER];
	CV_BUF_SCOPE struct cv_buf whole = CV_BUF(1u << 26);
	CV_BUF_SCOPE struct cv_buf clipped = CV_BUF(1u << 26);
	int64_t limit = size < 3 ? 0 : data[0] + 1;
	int64_t longest = size < 3 ? 0 : data[1] + 1;

	if (size < 3 || size > 65536)
		return 0;
	put("", 0, data + 3, size - 3);
	for (int invalid = COVE_INVALID_REFUSE; invalid <= COVE_INVALID_REPLACE; invalid++) {
		int rc;

		whole.len = clipped.len = 0;
		put("", 0, data + 3, size - 3);
		rc = read_pages(0, -1, 1, invalid, &whole);
		same(0, limit, 1 << 20, invalid, whole.data, whole.len, rc);
		MUST(read_pages(0, 1000000, longest, invalid, &clipped) == rc);
		same(0, limit, longest, invalid, clipped.data, clipped.len, rc);
		memset(pad, 'x', sizeof(pad));
		pad[BUFFER - 1 - CV_MIN((size_t)data[2], size - 3)] = '\n';
		put(pad, BUFFER - CV_MIN((size_t)data[2], size - 3), data + 3, size - 3);
		same(1, limit, longest, invalid, clipped.data, clipped.len, rc);
	}
	return 0;
}
