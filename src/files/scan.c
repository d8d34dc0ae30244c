/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file through one buffer and gives the lines that match. */
#include "files/scan.h"

#include "files/common.h"

#define BUFFER_SIZE ((size_t)256 << 10)
#define SHARED_MAX ((size_t)1 << 20) /* a larger one only one scan has */
#define LARGE_MAX ((size_t)8 << 20)
#define SLACK 4 /* bytes behind the text: see end_text() */

int cv_scan_init(struct cv_scan *s)
{
	s->tools = cv_match_tools_new(s->matcher);
	s->cap = BUFFER_SIZE;
	s->buf = malloc(s->cap + SLACK);
	return s->tools && s->buf ? 0 : -ENOMEM;
}

void cv_scan_done(struct cv_scan *s)
{
	cv_match_tools_free(s->tools);
	free(s->buf);
}

/* 0; -EFBIG: no larger buffer is to be had. */
static int grow(struct cv_scan *s)
{
	size_t cap = s->cap * 2;
	char *buf;

	if (cap > LARGE_MAX)
		return -EFBIG;
	if (cap > SHARED_MAX) {
		int rc = s->large(s->user);

		if (rc < 0)
			return rc;
	}
	buf = realloc(s->buf, cap + SLACK);
	if (!buf)
		return -ENOMEM;
	s->buf = buf;
	s->cap = cap;
	return 0;
}

static void shrink(struct cv_scan *s)
{
	char *buf = s->cap > BUFFER_SIZE ? realloc(s->buf, BUFFER_SIZE + SLACK) : NULL;

	if (buf) {
		s->buf = buf;
		s->cap = BUFFER_SIZE;
	}
}

/* Where the n-th line before p begins, not before the first; *ret_lines: how many it went back. */
static const char *back(const struct cv_scan *s, const char *p, int64_t n, int64_t *ret_lines)
{
	const char *first = s->buf + s->first;

	for (*ret_lines = 0; *ret_lines < n && p > first; (*ret_lines)++) {
		const char *lf = memrchr(first, '\n', (size_t)(p - first - 1));

		p = lf ? lf + 1 : first;
	}
	return p;
}

/* The end of the n-th line after the one that ends at p. */
static const char *forth(const char *p, const char *end, int64_t n)
{
	for (; n > 0 && p < end; n--) {
		const char *lf = memchr(p + 1, '\n', (size_t)(end - p - 1));

		if (p + 1 == end)
			break;
		p = lf ? lf : end;
	}
	return p;
}

static void count_to(struct cv_scan *s, size_t at)
{
	s->line += cv_count_lines(s->buf + s->counted, s->buf + at);
	s->counted = at;
}

static int give(struct cv_scan *s, const struct cv_line *line, const char *end)
{
	struct cv_hit hit = {.line = *line};
	int64_t before = 0;

	count_to(s, (size_t)(line->start - s->buf));
	hit.number = s->line;
	if (s->context > 0) {
		hit.context = back(s, line->start, s->context, &before);
		hit.context_end = forth(line->end, end, s->context);
		hit.context_start = s->line - before;
	}
	return s->hit(s->user, &hit);
}

/* Gives the matches up to limit, where a line ends; context reaches up to end. 1: no more. */
static int match_lines(struct cv_scan *s, size_t limit, size_t end)
{
	while (s->at < limit) {
		struct cv_line line;
		int rc = cv_matcher_next(s->matcher, s->tools, s->buf + s->at, s->buf + limit,
					 &line);

		if (rc <= 0) {
			s->at = limit;
			return rc;
		}
		rc = give(s, &line, s->buf + end);
		s->at = CV_MIN((size_t)(line.end - s->buf) + 1, limit);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Makes room behind what is still to be matched, or to be shown around it. */
static int make_room(struct cv_scan *s)
{
	int64_t lines;
	size_t keep = (size_t)(back(s, s->buf + s->at, s->context, &lines) - s->buf);

	/* Lines far apart need not all be kept. */
	if (s->at - keep > s->cap / 2)
		keep = s->at;
	if (s->counted < keep)
		count_to(s, keep);
	memmove(s->buf, s->buf + keep, s->len - keep);
	s->len -= keep;
	s->at -= keep;
	s->counted -= keep;
	s->first = 0;
	return s->len == s->cap ? grow(s) : 0;
}

/* Up to where lines can be matched now: their ends, and the context behind them, are there. */
static size_t find_limit(const struct cv_scan *s, size_t *ret_end)
{
	const char *start = s->buf + s->at;
	const char *lf = memrchr(start, '\n', s->len - s->at);
	int64_t lines;

	*ret_end = lf ? (size_t)(lf + 1 - s->buf) : s->at;
	if (!lf)
		return s->at;
	return CV_MAX((size_t)(back(s, lf + 1, s->context, &lines) - s->buf), s->at);
}

/*
 * A regular expression may look at what a character that is cut off at the end would go on with;
 * what an earlier file has left there must not complete it.
 */
static void end_text(struct cv_scan *s)
{
	memset(s->buf + s->len, '\n', SLACK);
}

/* What came last is in the buffer: matches what can be matched. */
static int work(struct cv_scan *s, bool eof)
{
	size_t end;
	size_t limit;
	int rc;

	end_text(s);
	if (eof)
		return match_lines(s, s->len, s->len);
	limit = find_limit(s, &end);
	rc = match_lines(s, limit, end);
	if (rc != 0)
		return rc;
	rc = make_room(s);
	if (rc != -EFBIG || s->context == 0)
		return rc;
	/* Not all of the context fits: what there is is shown. */
	find_limit(s, &end);
	if (end == s->at)
		return rc;
	rc = match_lines(s, end, end);
	return rc != 0 ? rc : make_room(s);
}

/* The file is read to its end for a NUL, though nothing more is wanted of it. */
static int read_on(struct cv_scan *s, int fd, int64_t total)
{
	ssize_t n;

	while ((n = cv_files_read(fd, s->buf, s->cap)) > 0) {
		total += n;
		if (memchr(s->buf, 0, (size_t)n) || total > s->max_bytes)
			return CV_SCAN_SKIPPED;
		if (cv_flag_set(s->cancel))
			return -ECANCELED;
		if (cv_flag_set(s->stop))
			break;
	}
	return CV_SCAN_DONE;
}

static void skip_mark(struct cv_scan *s)
{
	if (s->len >= 3 && memcmp(s->buf, "\xEF\xBB\xBF", 3) == 0)
		s->first = s->at = s->counted = 3;
}

static int scan(struct cv_scan *s, int fd, int64_t size)
{
	int64_t total = 0;
	bool eof = false;

	while (!eof) {
		ssize_t n = cv_files_read(fd, s->buf + s->len, s->cap - s->len);
		int rc;

		if (n < 0)
			return (int)n;
		if (memchr(s->buf + s->len, 0, (size_t)n) || total + n > s->max_bytes)
			return CV_SCAN_SKIPPED;
		if (cv_flag_set(s->cancel))
			return -ECANCELED;
		if (cv_flag_set(s->stop))
			return CV_SCAN_DONE;
		s->len += (size_t)n;
		if (total == 0)
			skip_mark(s);
		total += n;
		/* A file that says how large it is need not be asked for more. */
		eof = n == 0 || (total == size && s->len < s->cap);
		if (!eof && s->len < s->cap)
			continue;
		rc = work(s, eof);
		if (rc == 1)
			return eof ? CV_SCAN_DONE : read_on(s, fd, total);
		if (rc < 0)
			return rc == -EFBIG ? CV_SCAN_SKIPPED : rc;
	}
	return CV_SCAN_DONE;
}

int cv_scan_file(struct cv_scan *s, int fd, int64_t size)
{
	int rc;

	if (size > s->max_bytes)
		return CV_SCAN_SKIPPED;
	s->len = s->first = s->at = s->counted = 0;
	s->line = 1;
	rc = scan(s, fd, size);
	shrink(s);
	return rc;
}
