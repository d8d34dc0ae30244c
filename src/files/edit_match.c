/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and replacing pieces of a text whose lines may end in LF or CRLF. */
#include "files/edit.h"

static bool has_cr(const struct cove_bytes *b)
{
	return b->len > 0 && memchr(b->data, '\r', b->len);
}

static bool is_crlf(const struct cove_bytes *text, size_t at)
{
	return at + 1 < text->len && text->data[at] == '\r' && text->data[at + 1] == '\n';
}

/*
 * Walks n bytes of old along the text from at on, an LF along a CRLF too. Where it ends, or
 * SIZE_MAX where they differ.
 */
static size_t walk(const struct cove_bytes *text, size_t at, const char *old, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (at >= text->len)
			return SIZE_MAX;
		if (old[i] == '\n' && is_crlf(text, at))
			at++;
		if (text->data[at] != old[i])
			return SIZE_MAX;
		at++;
	}
	return at;
}

/* Finds the first line of old, or its LF where that line is empty; SIZE_MAX: not there. */
static size_t find_start(const struct cove_bytes *text, const struct cove_bytes *old, size_t from)
{
	const char *lf = memchr(old->data, '\n', old->len);
	size_t len = lf ? (size_t)(lf - old->data) : old->len;
	const char *hit;

	if (from >= text->len)
		return SIZE_MAX;
	hit = memmem(text->data + from, text->len - from, len ? old->data : "\n", len ? len : 1);
	if (!hit)
		return SIZE_MAX;
	if (len == 0 && hit > text->data + from && hit[-1] == '\r')
		hit--;
	return (size_t)(hit - text->data);
}

bool cv_edit_find(const struct cove_bytes *text, const struct cove_bytes *old, size_t from,
		  struct cv_span *ret)
{
	if (has_cr(old)) {
		const char *hit = from < text->len ? memmem(text->data + from, text->len - from,
							    old->data, old->len) :
						     NULL;

		ret->start = hit ? (size_t)(hit - text->data) : 0;
		ret->end = ret->start + old->len;
		return hit;
	}
	for (; (from = find_start(text, old, from)) != SIZE_MAX; from++) {
		/* The LF of a CRLF that was looked at already. */
		if (old->data[0] == '\n' && from > 0 && is_crlf(text, from - 1))
			continue;
		ret->start = from;
		ret->end = walk(text, from, old->data, old->len);
		if (ret->end != SIZE_MAX)
			return true;
	}
	return false;
}

int64_t cv_edit_line(const struct cove_bytes *text, size_t at)
{
	int64_t line = 1;

	for (const char *p = text->data; (p = memchr(p, '\n', at - (size_t)(p - text->data))); p++)
		line++;
	return line;
}

/* Whether a line that is put between start and end shall end in CRLF: the nearest line decides. */
static bool neighbour_has_crlf(const struct cove_bytes *text, size_t start, size_t end)
{
	const char *before = start > 0 ? memrchr(text->data, '\n', start) : NULL;
	const char *behind = end < text->len ? memchr(text->data + end, '\n', text->len - end) :
					       NULL;
	bool at_line_start = before && before + 1 == text->data + start;
	const char *lf = before && (at_line_start || !behind) ? before : behind;

	return lf && lf > text->data && lf[-1] == '\r';
}

/* The endings of the lines that are replaced, one after the other; then as the last of them. */
struct endings {
	const struct cove_bytes *text;
	size_t at;
	size_t end;
	bool crlf;
};

static bool next_ending(struct endings *e)
{
	const char *lf = e->at < e->end ? memchr(e->text->data + e->at, '\n', e->end - e->at) :
					  NULL;

	if (lf) {
		e->crlf = lf > e->text->data && lf[-1] == '\r';
		e->at = (size_t)(lf - e->text->data) + 1;
	}
	return e->crlf;
}

static int add_lines(struct cv_buf *out, const char *lines, size_t len, struct endings *e)
{
	int rc = 0;

	while (len > 0 && rc == 0) {
		const char *lf = memchr(lines, '\n', len);
		size_t n = lf ? (size_t)(lf - lines) : len;

		rc = cv_buf_add(out, lines, n);
		if (rc == 0 && lf)
			rc = cv_buf_adds(out, next_ending(e) ? "\r\n" : "\n");
		n += lf ? 1 : 0;
		lines += n;
		len -= n;
	}
	return rc;
}

int cv_edit_replace(struct cv_buf *out, const struct cove_bytes *text, const struct cove_edit *edit,
		    const struct cv_span *span)
{
	const struct cove_bytes *old = &edit->old_text;
	const struct cove_bytes *new = &edit->new_text;
	size_t most = CV_MIN(old->len, new->len);
	struct endings e = {.text = text};
	size_t head = 0;
	size_t tail = 0;
	size_t end;
	int rc;

	if (has_cr(old) || has_cr(new))
		return cv_buf_add(out, new->data, new->len);
	while (head < most && old->data[head] == new->data[head])
		head++;
	while (tail < most - head &&
	       old->data[old->len - tail - 1] == new->data[new->len - tail - 1])
		tail++;
	e.at = walk(text, span->start, old->data, head);
	end = walk(text, e.at, old->data + head, old->len - head - tail);
	e.end = end;
	e.crlf = neighbour_has_crlf(text, e.at, end);
	rc = cv_buf_add(out, text->data + span->start, e.at - span->start);
	if (rc == 0)
		rc = add_lines(out, new->data + head, new->len - head - tail, &e);
	return rc < 0 ? rc : cv_buf_add(out, text->data + end, span->end - end);
}
