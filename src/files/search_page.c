/* SPDX-License-Identifier: Apache-2.0 */
/* Hits as bytes: first in the slot of their file, then on the page, last as the result has them. */
#include "base/utf8.h"
#include "files/search.h"

#define FIRST_BYTES 2000 /* where there is one match there are more */

#define RECORD_PATH 'p'
#define RECORD_MATCH 'm'

struct record {
	int64_t line;
	int64_t context_start;
	uint32_t text_len;
	uint32_t context_len; /* 0: none */
	uint32_t match_at;
	uint32_t match_len;
	bool truncated;
};

/* Adds a line, clipped and made UTF-8. 1: nothing had to be replaced, 0, or -errno. */
static int add_line(struct cv_buf *b, const char *s, size_t len, int64_t max, bool *ret_truncated)
{
	size_t cut = len;
	size_t clean;
	int rc;

	*ret_truncated = (int64_t)len > max;
	if (*ret_truncated)
		cut = cv_utf8_cut(s, (size_t)max);
	if (cv_utf8_valid(s, cut)) {
		rc = cv_buf_add(b, s, cut);
		return rc < 0 ? rc : 1;
	}
	clean = cv_utf8_clean_len(s, cut);
	rc = cv_buf_reserve(b, clean);
	if (rc < 0)
		return rc;
	cv_utf8_clean(b->data + b->len, s, cut);
	b->len += clean;
	b->data[b->len] = '\0';
	return 0;
}

static int add_context(struct cv_buf *b, const struct cv_hit *hit, int64_t max)
{
	const char *p = hit->context;

	for (;;) {
		const char *lf = memchr(p, '\n', (size_t)(hit->context_end - p));
		const char *end = lf ? lf : hit->context_end;
		bool truncated;
		int rc = add_line(b, p, (size_t)(end - p), max, &truncated);

		if (rc < 0 || !lf)
			return CV_MIN(rc, 0);
		rc = cv_buf_add(b, "\n", 1);
		if (rc < 0)
			return rc;
		p = lf + 1;
	}
}

int cv_hits_add(struct cv_hits *h, const struct cv_hit *hit, int64_t max_line)
{
	struct record r = {.line = hit->number, .context_start = hit->context_start};
	const struct cv_line *line = &hit->line;
	size_t len = (size_t)(line->end - line->start);
	struct cv_buf *b = &h->bytes;
	size_t at = b->len;
	size_t text_at = at + 1 + sizeof(r);
	size_t room = 1 + sizeof(r) + CV_MIN(len, (size_t)max_line) + 2;
	int rc = cv_buf_reserve(b, at ? room : CV_MAX(room, (size_t)FIRST_BYTES));

	if (rc < 0)
		return rc;
	b->len = text_at;
	rc = add_line(b, line->start, len, max_line, &r.truncated);
	r.text_len = (uint32_t)(b->len - text_at);
	/* Where a replacement has moved things there is no telling. */
	if (rc == 1 && line->match + line->match_len <= line->start + r.text_len) {
		r.match_at = (uint32_t)(line->match - line->start);
		r.match_len = (uint32_t)line->match_len;
	}
	if (rc >= 0)
		rc = cv_buf_add(b, "", 1);
	text_at = b->len;
	if (rc == 0 && hit->context)
		rc = add_context(b, hit, max_line);
	if (rc == 0 && hit->context)
		rc = cv_buf_add(b, "", 1);
	if (rc < 0) {
		b->len = at;
		return rc;
	}
	r.context_len = (uint32_t)(b->len - text_at);
	b->data[at] = RECORD_MATCH;
	memcpy(b->data + at + 1, &r, sizeof(r));
	h->held++;
	h->count++;
	return 0;
}

static size_t record_size(const char *p)
{
	struct record r;

	if (*p == RECORD_PATH)
		return strlen(p) + 1;
	memcpy(&r, p + 1, sizeof(r));
	return 1 + sizeof(r) + r.text_len + 1 + r.context_len;
}

static int add_path(struct cv_page *page, struct cv_hits *h, const char *path)
{
	int rc;

	if (h->has_path)
		return 0;
	h->has_path = true;
	rc = cv_buf_add(&page->bytes, "p", 1);
	return rc < 0 ? rc : cv_buf_add(&page->bytes, path, strlen(path) + 1);
}

/* All at once, where nothing is to be left out. */
static int take_all(struct cv_page *page, struct cv_hits *h, const char *path)
{
	int rc = add_path(page, h, path);

	if (rc == 0)
		rc = cv_buf_add(&page->bytes, h->bytes.data, h->bytes.len);
	page->count += h->held;
	h->held = 0;
	h->bytes.len = 0;
	return rc;
}

int cv_page_take(struct cv_page *page, struct cv_hits *h, const char *path)
{
	const char *p = h->bytes.data;
	const char *end = p + h->bytes.len;
	size_t size;
	int rc = 0;

	if (!h->marked)
		h->mark = (struct cv_page_mark){page->bytes.len, page->count, page->skip};
	h->marked = true;
	if (page->skip == 0 && page->max - page->count >= h->held &&
	    page->bytes.len + h->bytes.len < CV_PAGE_BYTES)
		return take_all(page, h, path);
	for (; p < end && !h->more && rc == 0; p += size) {
		size = record_size(p);
		if (page->skip > 0) {
			page->skip--;
		} else if (page->count == page->max || page->bytes.len >= CV_PAGE_BYTES) {
			h->more = true;
		} else {
			rc = add_path(page, h, path);
			if (rc == 0)
				rc = cv_buf_add(&page->bytes, p, size);
			page->count++;
		}
	}
	h->held = 0;
	h->bytes.len = 0;
	return rc;
}

void cv_page_take_back(struct cv_page *page, struct cv_hits *h)
{
	h->held = 0;
	h->bytes.len = 0;
	h->more = false;
	if (!h->marked)
		return;
	page->bytes.len = h->mark.len;
	page->count = h->mark.count;
	page->skip = h->mark.skip;
}

static void fill(struct cove_match *m, const char *path, const char *p)
{
	struct record r;

	memcpy(&r, p + 1, sizeof(r));
	p += 1 + sizeof(r);
	*m = (struct cove_match){
		.path = path,
		.line = r.line,
		.text = {.data = p, .len = r.text_len},
		.truncated = r.truncated,
		.match_at = r.match_at,
		.match_len = r.match_len,
		.context_start = r.context_start,
	};
	if (r.context_len > 0)
		m->context =
			(struct cove_bytes){.data = p + r.text_len + 1, .len = r.context_len - 1};
}

struct cove_match *cv_page_matches(struct cv_arena *arena, const struct cv_page *page)
{
	struct cove_match *matches =
		cv_arena_array(arena, (size_t)page->count + 1, sizeof(*matches));
	const char *p = page->bytes.data;
	const char *end = p + page->bytes.len;
	const char *path = NULL;
	size_t n = 0;

	for (; matches && p < end; p += record_size(p)) {
		if (*p == RECORD_PATH)
			path = p + 1;
		else
			fill(&matches[n++], path, p);
	}
	return matches;
}
