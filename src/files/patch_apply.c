/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out the hunks of one file on a text in memory.
 *
 * A hunk goes where its old lines are, exactly: at the place that is nearest to the stated line,
 * and nowhere if two places are equally near. As in git, one without context at its end belongs at
 * the end of the file if it fits there. All places are found in the text as it was.
 */
#include "files/change.h"
#include "files/patch.h"

#include <stdio.h>

struct line {
	const char *s;
	size_t len;   /* without its ending */
	size_t whole; /* with it */
	bool has_lf;
};

/* One line of a hunk. */
struct entry {
	char kind;
	struct line line;
};

struct applier {
	const struct cv_file_patch *file;
	struct cove_error *err;
	struct cv_buf *out;
	bool exact; /* CR before LF is content */
	struct line *lines;
	size_t count;
	size_t done; /* lines that were taken over */
	struct entry *entries;
	size_t entry_count;
	size_t hunk; /* from 0 */
};

static struct line line_at(const char *s, const char *end, bool exact)
{
	const char *lf = memchr(s, '\n', (size_t)(end - s));
	struct line l = {.s = s, .has_lf = lf};

	l.len = (size_t)((lf ? lf : end) - s);
	l.whole = l.len + (lf ? 1 : 0);
	if (!exact && lf && l.len > 0 && s[l.len - 1] == '\r')
		l.len--;
	return l;
}

/* Splits data into lines; NULL: no memory. */
static struct line *split(const char *data, size_t len, bool exact, size_t *ret_count)
{
	const char *end = data + len;
	struct line *lines;
	size_t n = 0;

	for (const char *s = data; s < end; n++) {
		const char *lf = memchr(s, '\n', (size_t)(end - s));

		s = lf ? lf + 1 : end;
	}
	*ret_count = 0;
	lines = calloc(n + 1, sizeof(*lines));
	if (!lines)
		return NULL;
	for (const char *s = data; s < end; s += lines[(*ret_count)++].whole)
		lines[*ret_count] = line_at(s, end, exact);
	return lines;
}

/* The lines of a hunk; "no newline" goes to the line before it. */
static int read_entries(struct applier *a, const struct cv_hunk *h)
{
	size_t n;
	CV_FREE struct line *lines = split(h->body, (size_t)(h->end - h->body), true, &n);

	free(a->entries);
	a->entry_count = 0;
	a->entries = calloc(n + 1, sizeof(*a->entries));
	if (!lines || !a->entries)
		return cv_files_no_memory(a->err);
	for (size_t i = 0; i < n; i++) {
		struct line l = lines[i];
		struct entry *e = &a->entries[a->entry_count];

		if (l.s[0] == '\\') {
			e[-1].line.has_lf = false;
			continue;
		}
		e->kind = l.len == 0 || l.s[0] == '\r' ? ' ' : l.s[0];
		if (l.len > 0 && l.s[0] != '\r') {
			l.s++;
			l.len--;
		}
		l.has_lf = true;
		e->line = l;
		a->entry_count++;
	}
	return 0;
}

static bool same_line(const struct line *a, const struct line *b)
{
	return a->len == b->len && a->has_lf == b->has_lf && memcmp(a->s, b->s, a->len) == 0;
}

/* Whether the hunk's old lines stand at line `at`, and its new ones can. */
static bool fits(const struct applier *a, const struct cv_hunk *h, size_t at)
{
	size_t k = at;

	if (at > a->count || h->old_count > a->count - at)
		return false;
	for (size_t i = 0; i < a->entry_count; i++) {
		const struct entry *e = &a->entries[i];

		if (e->kind == '+') {
			if (!e->line.has_lf && at + h->old_count != a->count)
				return false;
			continue;
		}
		if (!same_line(&e->line, &a->lines[k++]))
			return false;
	}
	/* Behind a line without an end nothing can be put. */
	return h->old_count > 0 || at == 0 || a->lines[at - 1].has_lf;
}

static int conflict(const struct applier *a, const char *fmt, ...) CV_PRINTF(2, 3);

static int conflict(const struct applier *a, const char *fmt, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	cv_fail(a->err, COVE_E_CONFLICT, "hunk %zu of %zu %s", a->hunk + 1, a->file->hunk_count,
		reason);
	if (!a->err)
		return COVE_E_CONFLICT;
	a->err->edit_index = (int64_t)a->hunk;
	cv_text_copy(a->err->reason, sizeof(a->err->reason), reason);
	cv_err_hint(a->err, "read the file again; context and removed lines must be exact");
	return COVE_E_CONFLICT;
}

/* The nearest place to `want`; SIZE_MAX: none. *ret_other is another that is as near, or SIZE_MAX. */
static size_t nearest(const struct applier *a, const struct cv_hunk *h, size_t want,
		      size_t *ret_other)
{
	*ret_other = SIZE_MAX;
	for (size_t d = 0; d <= a->count + want; d++) {
		bool up = d <= want && fits(a, h, want - d);
		bool down = d > 0 && fits(a, h, want + d);

		if (up && down)
			*ret_other = want + d;
		if (up || down)
			return up ? want - d : want + d;
	}
	return SIZE_MAX;
}

static int find_place(const struct applier *a, const struct cv_hunk *h, size_t *ret)
{
	size_t want = h->old_count > 0 ? h->old_start - 1 : h->old_start;
	char last = a->entry_count ? a->entries[a->entry_count - 1].kind : ' ';
	size_t other;

	if (h->old_count == 0) {
		/* There is nothing to look for: where it says, and from nothing only into nothing. */
		if (want > a->count || (want == 0 && a->count > 0) || !fits(a, h, want))
			return conflict(a, "adds lines behind line %zu, and has no context to find",
					want);
		*ret = want;
		return 0;
	}
	*ret = want == 0 && fits(a, h, 0) ? 0 : SIZE_MAX;
	if (*ret == SIZE_MAX && last != ' ' && h->old_count <= a->count &&
	    fits(a, h, a->count - h->old_count))
		*ret = a->count - h->old_count;
	if (*ret != SIZE_MAX)
		return 0;
	*ret = nearest(a, h, want, &other);
	if (*ret == SIZE_MAX)
		return conflict(a, "does not match at line %zu, nor anywhere else", want + 1);
	if (other != SIZE_MAX)
		return conflict(a, "matches at lines %zu and %zu, as near to line %zu", *ret + 1,
				other + 1, want + 1);
	return 0;
}

/* Added lines end as the text does around them, unless the diff itself tells CRLF from LF. */
static int add_new(struct applier *a, const struct line *l, size_t at)
{
	const struct line *near = at > 0 ? &a->lines[at - 1] : a->count ? &a->lines[0] : NULL;
	bool crlf;
	int rc;

	if (near && !near->has_lf && at > 1)
		near = &a->lines[at - 2];
	crlf = !a->exact && near && near->has_lf && near->whole == near->len + 2;
	rc = cv_buf_add(a->out, l->s, l->len);
	if (rc == 0 && l->has_lf)
		rc = cv_buf_adds(a->out, crlf ? "\r\n" : "\n");
	return rc;
}

static int copy_lines(struct applier *a, size_t upto)
{
	int rc = 0;

	if (a->done < upto) {
		const struct line *last = &a->lines[upto - 1];

		rc = cv_buf_add(a->out, a->lines[a->done].s,
				(size_t)(last->s + last->whole - a->lines[a->done].s));
	}
	a->done = upto;
	return rc;
}

static int apply_hunk(struct applier *a, const struct cv_hunk *h)
{
	size_t at = 0;
	int rc = read_entries(a, h);

	if (rc == 0)
		rc = find_place(a, h, &at);
	if (rc < 0)
		return rc;
	if (at < a->done)
		return conflict(a, "matches at line %zu, before the end of the hunk before it",
				at + 1);
	rc = copy_lines(a, at);
	for (size_t i = 0; i < a->entry_count && rc == 0; i++) {
		const struct entry *e = &a->entries[i];

		if (e->kind == '+')
			rc = add_new(a, &e->line, a->done);
		else if (e->kind == ' ')
			rc = copy_lines(a, a->done + 1);
		else
			a->done++;
	}
	return rc == -EMSGSIZE ? cv_fail(a->err, COVE_E_TOO_LARGE, "the result is too large") :
	       rc == -ENOMEM   ? cv_files_no_memory(a->err) :
				 rc;
}

int cv_patch_apply(const struct cv_file_patch *file, bool exact_endings,
		   const struct cove_bytes *text, struct cv_buf *out, struct cove_error *err)
{
	struct applier a = {.file = file, .err = err, .out = out, .exact = exact_endings};
	CV_FREE struct line *lines = split(text->data, text->len, exact_endings, &a.count);
	int rc = 0;

	a.lines = lines;
	if (!lines)
		return cv_files_no_memory(err);
	for (; a.hunk < file->hunk_count && rc == 0; a.hunk++)
		rc = apply_hunk(&a, &file->hunks[a.hunk]);
	free(a.entries);
	if (rc < 0)
		return rc;
	rc = copy_lines(&a, a.count);
	if (rc == -EMSGSIZE)
		return cv_fail(err, COVE_E_TOO_LARGE, "the result is larger than %zu MiB",
			       CV_CHANGE_MAX >> 20);
	return rc < 0 ? cv_files_no_memory(err) : 0;
}
