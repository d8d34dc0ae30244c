/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a text file: a page of them, or the first of them one by one.
 *
 * The file streams through one buffer of fixed size, whatever its length and that of its lines.
 * Lines before the page are only counted. A line of the page is checked to its end, also where it
 * is clipped, and its visible part is gathered in `text`. The page ends with the line limit, or
 * before a line that does not fit the budget any more: that line is taken back and begins the next
 * page, so nothing that may be wrong with it is held against this one. Only the first line is cut
 * to fit, for a page must make progress.
 *
 * With line_limit -1 the whole rest is wanted: no line is clipped, and more than the budget is an
 * error.
 */
#include "files/common.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <fcntl.h>

#define BUFFER_SIZE ((size_t)128 << 10)
#define PAGE_MAX ((size_t)1 << 20)
#define WHOLE_MAX ((size_t)16 << 20)
/* Of lines as JSON: a message has 16 MiB. */
#define LINES_MAX ((size_t)15 << 20)
#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

struct reader {
	int fd;
	bool eof;
	char *buf;
	size_t at; /* what lies in [at, end) is still to be looked at */
	size_t end;
	int64_t seen; /* bytes read so far */
	const atomic_bool *cancel;
};

struct page {
	const struct cove_file_read_text_opts *opts;
	struct cv_buf text;
	struct cv_buf clipped; /* int64_t numbers of the clipped lines */
	size_t budget;	       /* of text */
	size_t line_max;       /* of a line, without its LF */
	int64_t lines;	       /* complete */
	bool is_whole;	       /* more than the budget is an error, and no line is clipped */
	bool full;	       /* the next line does not fit */
	/* The line at hand: */
	size_t start; /* in text */
	bool is_open;
	bool is_clipped;
	const char *flaw; /* what is wrong with it, if anything */
};

/* Inner results, besides -errno: the page is refused. */
enum {
	NOT_TEXT = -100000,
	TOO_LARGE = -100001
};

static void reader_done(struct reader *r)
{
	cv_close(&r->fd);
	free(r->buf);
}

static void page_done(struct page *p)
{
	cv_buf_done(&p->text);
	cv_buf_done(&p->clipped);
}

/* Reads on behind what is left, which must be less than the buffer. */
static int fill(struct reader *r)
{
	ssize_t n;

	if (cv_flag_set(r->cancel))
		return -ECANCELED;
	memmove(r->buf, r->buf + r->at, r->end - r->at);
	r->end -= r->at;
	r->at = 0;
	n = cv_files_read(r->fd, r->buf + r->end, BUFFER_SIZE - r->end);
	if (n < 0)
		return (int)n;
	r->eof = n == 0;
	r->end += (size_t)n;
	r->seen += n;
	return 0;
}

static int skip_lines(struct reader *r, int64_t count)
{
	while (count > 0 && !r->eof) {
		const char *lf = NULL;

		if (r->at < r->end)
			lf = memchr(r->buf + r->at, '\n', r->end - r->at);
		if (lf) {
			r->at = (size_t)(lf - r->buf) + 1;
			count--;
		} else {
			int rc;

			r->at = r->end;
			rc = fill(r);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* How much of s is UTF-8 without NUL. */
static size_t good_run(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint64_t word;
		int n;

		if (i + 8 <= len) {
			memcpy(&word, s + i, 8);
			if (((word | (word - ONES)) & HIGHS) == 0) {
				i += 8;
				continue;
			}
		}
		n = s[i] == '\0' ? -1 : cv_utf8_step(s + i, len - i, NULL);
		if (n < 0)
			break;
		i += (size_t)n;
	}
	return i;
}

/* The line at hand does not fit: it is left to the next page. */
static int put_off(struct page *p)
{
	if (p->is_whole)
		return TOO_LARGE;
	p->text.len = p->start;
	p->full = true;
	return 0;
}

/* Adds whole code points to the line at hand, as far as it may grow. */
static int add(struct page *p, const char *s, size_t len)
{
	size_t fits = p->line_max - (p->text.len - p->start);
	size_t room = p->budget - p->text.len;

	if (p->is_clipped)
		return 0;
	if (len > CV_MIN(fits, room)) {
		if (fits > room && (p->lines > 0 || p->is_whole))
			return put_off(p);
		len = cv_utf8_cut(s, CV_MIN(fits, room));
		p->is_clipped = true;
	}
	return cv_buf_add(&p->text, s, len);
}

/* A flaw ends the call as soon as it is certain that its line belongs to the page. */
static int note_flaw(struct page *p, const char *flaw)
{
	if (!p->flaw)
		p->flaw = flaw;
	return p->lines == 0 || p->budget - p->start > p->line_max ? NOT_TEXT : 0;
}

/*
 * Adds bytes of one line. `whole`: no more of it follows; else up to 3 bytes of a code point that
 * is cut off may be left over. Gives how many were used, or an error.
 */
static ssize_t add_bytes(struct page *p, const char *s, size_t len, bool whole)
{
	size_t i = 0;

	p->is_open = p->is_open || len > 0;
	if (p->is_clipped && p->opts->invalid == COVE_INVALID_REPLACE)
		return (ssize_t)len; /* nothing of it is shown, and nothing in it is wrong */
	while (i < len && !p->full) {
		size_t run = good_run(s + i, len - i);
		bool is_short = false;
		int rc = add(p, s + i, run);
		int bad;

		i += run;
		if (rc < 0)
			return rc;
		if (i == len || p->full)
			break;
		bad = s[i] ? cv_utf8_step(s + i, len - i, &is_short) : -1;
		if (is_short && !whole)
			break;
		if (p->opts->invalid == COVE_INVALID_REPLACE)
			rc = add(p, CV_REPLACEMENT, CV_REPLACEMENT_LEN);
		else
			rc = note_flaw(p, s[i] ? "bytes that are not UTF-8" : "a NUL byte");
		if (rc < 0)
			return rc;
		i += (size_t)-bad;
	}
	return (ssize_t)i;
}

static int end_line(struct page *p, bool has_lf)
{
	int64_t number = p->opts->line_offset + p->lines + 1;
	int rc = 0;

	if (has_lf && p->text.len == p->budget) {
		if (p->lines > 0 || p->is_whole)
			return put_off(p);
		p->text.len = cv_utf8_cut(p->text.data, p->budget - 1);
		p->is_clipped = true;
	}
	if (p->flaw)
		return NOT_TEXT;
	if (has_lf)
		rc = cv_buf_add(&p->text, "\n", 1);
	if (rc == 0 && p->is_clipped)
		rc = cv_buf_add(&p->clipped, &number, sizeof(number));
	p->lines++;
	p->start = p->text.len;
	p->is_open = false;
	p->is_clipped = false;
	return rc;
}

/* Takes what the buffer holds of one line. */
static int take(struct page *p, struct reader *r)
{
	const char *s = r->buf + r->at;
	size_t have = r->end - r->at;
	const char *lf = memchr(s, '\n', have);
	size_t len = lf ? (size_t)(lf - s) : have;
	ssize_t used = add_bytes(p, s, len, lf || r->eof);

	if (used < 0)
		return (int)used;
	if (!lf || p->full) {
		r->at += (size_t)used;
		return 0;
	}
	r->at += len + 1;
	return end_line(p, true);
}

static int read_page(struct page *p, struct reader *r, bool *ret_more)
{
	int64_t limit = p->opts->line_limit < 0 ? INT64_MAX : p->opts->line_limit;
	int rc = skip_lines(r, p->opts->line_offset);

	while (rc == 0 && !p->full && p->lines < limit) {
		size_t left = r->end - r->at;

		if (left > 0)
			rc = take(p, r);
		if (rc < 0 || r->end - r->at != left)
			continue;
		/* Nothing is left that can be taken as it is. */
		if (r->eof)
			break;
		rc = fill(r);
	}
	if (rc == 0 && p->is_open && !p->full)
		rc = end_line(p, false);
	if (rc == 0 && !p->full && r->at == r->end && !r->eof)
		rc = fill(r);
	*ret_more = p->full || r->at < r->end;
	return rc;
}

static int not_text(const struct page *p, struct cove_error *err)
{
	long long line = p->opts->line_offset + p->lines + 1;
	const char *path = p->opts->path;

	cv_fail(err, COVE_E_NOT_SUPPORTED, "'%s' is not text: its line %lld holds %s", path, line,
		p->flaw);
	cv_err_hint(err, "use file.read_bytes, or invalid=replace to see U+FFFD instead");
	cv_err_path(err, path);
	return COVE_E_NOT_SUPPORTED;
}

static int fail(const struct cv_file_ctx *ctx, int rc, const struct page *p, struct cove_error *err)
{
	const char *path = p->opts->path;

	switch (rc) {
	case NOT_TEXT:
		return not_text(p, err);
	case TOO_LARGE:
		cv_fail(err, COVE_E_TOO_LARGE, "'%s' has more than 16 MiB to read at once", path);
		cv_err_hint(err, "read pages with line_limit, or use file.read_bytes");
		cv_err_path(err, path);
		return COVE_E_TOO_LARGE;
	case -ECANCELED:
		return cv_files_cancelled(ctx, err);
	case -ENOMEM:
		return cv_files_no_memory(err);
	default:
		return cv_fail_errno(err, -rc, path, "cannot read '%s'", path);
	}
}

/* Hands the page's memory to the result. */
static int give(const struct cv_file_ctx *ctx, struct page *p,
		struct cove_file_read_text_result *result)
{
	int rc = cv_buf_reserve(&p->text, 0);

	if (rc < 0)
		return rc;
	p->text.data[p->text.len] = '\0';
	result->lines_read = p->lines;
	result->text = (struct cove_bytes){.data = p->text.data, .len = p->text.len};
	result->truncated_lines = (const int64_t *)(const void *)p->clipped.data;
	result->truncated_line_count = p->clipped.len / sizeof(int64_t);
	rc = cv_arena_own(ctx->arena, free, TAKE(p->text.data));
	if (rc == 0 && p->clipped.data)
		rc = cv_arena_own(ctx->arena, free, TAKE(p->clipped.data));
	return rc;
}

static void page_init(struct page *p, const struct cove_file_read_text_opts *opts, bool is_whole)
{
	*p = (struct page){.opts = opts,
			   .is_whole = is_whole,
			   .budget = is_whole ? WHOLE_MAX : PAGE_MAX,
			   .line_max = is_whole ? SIZE_MAX : (size_t)opts->max_line_length};
	p->text = CV_BUF(p->budget);
	p->clipped = CV_BUF(SIZE_MAX / 2);
}

/* Reads what p asks for; *ret_size: of the file. */
static int read_file(const struct cv_file_ctx *ctx, struct page *p, bool *ret_more,
		     int64_t *ret_size, struct cove_error *err)
{
	struct reader r __attribute__((cleanup(reader_done))) = {.cancel = ctx->cancel};
	struct stat st;
	int rc;

	r.fd = cv_files_open_content(ctx, p->opts->path, &st, err);
	if (r.fd < 0)
		return r.fd;
	r.buf = malloc(BUFFER_SIZE);
	rc = r.buf ? read_page(p, &r, ret_more) : -ENOMEM;
	*ret_size = CV_MAX((int64_t)st.st_size, r.seen);
	return rc < 0 ? fail(ctx, rc, p, err) : 0;
}

int cv_file_read_text(const struct cv_file_ctx *ctx, const void *req, void *res,
		      struct cove_error *err)
{
	const struct cove_file_read_text_opts *opts = req;
	struct cove_file_read_text_result *result = res;
	struct page p __attribute__((cleanup(page_done)));
	int rc;

	page_init(&p, opts, opts->line_limit < 0);
	rc = read_file(ctx, &p, &result->has_more, &result->size, err);
	if (rc == 0 && give(ctx, &p, result) < 0)
		rc = cv_files_no_memory(err);
	return rc;
}

/* Bytes that a line takes in a result, at most. */
static size_t json_size(const char *s, size_t len)
{
	size_t size = len + sizeof("\"\",") - 1;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ')
			size += sizeof("\\u0001") - 2;
		else if (s[i] == '"' || s[i] == '\\')
			size++;
	return size;
}

/* Cuts the page's text into lines, in place. -EMSGSIZE: no result holds them. */
static int cut_lines(const struct cv_file_ctx *ctx, struct page *p,
		     struct cove_file_read_lines_result *result)
{
	const char **lines = cv_arena_alloc(ctx->arena, ((size_t)p->lines + 1) * sizeof(*lines));
	char *at = p->text.data;
	size_t size = 0;

	if (!lines)
		return -ENOMEM;
	result->lines = lines;
	for (int64_t i = 0; i < p->lines; i++) {
		char *end = p->text.data + p->text.len;
		char *lf = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((lf ? lf : end) - at);

		size += json_size(at, len);
		if (size > LINES_MAX)
			return -EMSGSIZE;
		at[len] = '\0';
		lines[i] = at;
		at += len + 1;
	}
	return p->text.data ? cv_arena_own(ctx->arena, free, TAKE(p->text.data)) : 0;
}

int cv_file_read_lines(const struct cv_file_ctx *ctx, const void *req, void *res,
		       struct cove_error *err)
{
	const struct cove_file_read_lines_opts *opts = req;
	const struct cove_file_read_text_opts page_opts = {
		.path = opts->path,
		.line_limit = opts->max_lines ? opts->max_lines : -1,
		.invalid = COVE_INVALID_REFUSE};
	struct page p __attribute__((cleanup(page_done)));
	bool more;
	int64_t size;
	int rc;

	page_init(&p, &page_opts, true);
	rc = read_file(ctx, &p, &more, &size, err);
	if (rc < 0)
		return rc;
	rc = cv_buf_reserve(&p.text, 0);
	if (rc == 0)
		rc = cut_lines(ctx, &p, res);
	return rc < 0 ? fail(ctx, rc == -EMSGSIZE ? TOO_LARGE : rc, &p, err) : 0;
}
