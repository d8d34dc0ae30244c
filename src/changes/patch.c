/* SPDX-License-Identifier: Apache-2.0 */
/* One change as git writes it: header, modes, then hunks or a binary patch. */
#include "changes/changes.h"
#include "changes/sha1.h"

#include "base/buf.h"

#include <strings.h>

#define CONTEXT 3

/* What is on one side. */
struct side {
	char *data;
	size_t len;
	unsigned mode; /* as git has it; 0: not there */
	char name[41];
};

struct entry {
	const struct cv_pair *pair;
	const atomic_bool *cancel;
	struct side old;
	struct side now;
	struct cv_lines a;
	struct cv_lines b;
};

static void entry_done(struct entry *e)
{
	free(e->old.data);
	free(e->now.data);
	cv_lines_done(&e->a);
	cv_lines_done(&e->b);
}

/* git refuses to touch its own directories, however they are spelt. */
static bool is_in_git(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncasecmp(p, ".git", 4) == 0 && (p[4] == '/' || p[4] == '\0'))
			return true;
	}
	return false;
}

static unsigned git_mode(const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return 0120000;
	if (S_ISREG(st->st_mode))
		return st->st_mode & 0100 ? 0100755 : 0100644;
	return 0;
}

static bool needs_side(const struct cv_pair *p, int side)
{
	if (p->change == COVE_DIFF_DELETED)
		return side == 0;
	return p->change == COVE_DIFF_ADDED ? side == 1 : true;
}

static int load(const struct cv_pair *p, int which, struct side *s)
{
	int rc;

	memset(s->name, '0', 40);
	s->data = NULL;
	s->len = 0;
	if (!needs_side(p, which))
		return 0;
	s->mode = git_mode(&p->st[which]);
	if (!s->mode)
		return 1;
	rc = cv_content(p, which, &s->data, &s->len);
	if (rc == 0)
		cv_blob_name(s->data, s->len, s->name);
	return rc;
}

static int add_modes(struct cv_buf *dst, const struct entry *e)
{
	if (!e->old.mode)
		return cv_buf_addf(dst, "new file mode %06o\n", e->now.mode);
	if (!e->now.mode)
		return cv_buf_addf(dst, "deleted file mode %06o\n", e->old.mode);
	if (e->old.mode != e->now.mode)
		return cv_buf_addf(dst, "old mode %06o\nnew mode %06o\n", e->old.mode, e->now.mode);
	return 0;
}

static int add_head(struct cv_buf *dst, const struct entry *e)
{
	int rc = cv_buf_adds(dst, "diff --git ");

	if (rc == 0)
		rc = cv_quote_name(dst, "a/", e->pair->path);
	if (rc == 0)
		rc = cv_buf_adds(dst, " ");
	if (rc == 0)
		rc = cv_quote_name(dst, "b/", e->pair->path);
	if (rc == 0)
		rc = cv_buf_adds(dst, "\n");
	return rc < 0 ? rc : add_modes(dst, e);
}

/* whole: a binary patch is checked against the names. */
static int add_index(struct cv_buf *dst, const struct entry *e, bool whole)
{
	int digits = whole ? 40 : 7;
	int rc = cv_buf_addf(dst, "index %.*s..%.*s", digits, e->old.name, digits, e->now.name);

	if (rc == 0 && e->old.mode == e->now.mode)
		rc = cv_buf_addf(dst, " %06o", e->now.mode);
	return rc < 0 ? rc : cv_buf_adds(dst, "\n");
}

static int add_file_line(struct cv_buf *dst, const char *mark, const char *prefix,
			 const struct cv_pair *p, bool there)
{
	int rc = cv_buf_adds(dst, mark);

	if (rc < 0 || !there)
		return rc < 0 ? rc : cv_buf_adds(dst, "/dev/null\n");
	rc = cv_quote_name(dst, prefix, p->path);
	/* Behind a blank a name has to be told from what some programs write after it. */
	return rc < 0 ? rc : cv_buf_adds(dst, strchr(p->path, ' ') ? "\t\n" : "\n");
}

static int add_lines(struct cv_buf *dst, char mark, const struct cv_lines *l, size_t from,
		     size_t to)
{
	int rc = 0;

	for (size_t i = from; rc == 0 && i < to; i++) {
		size_t len = l->starts[i + 1] - l->starts[i];
		const char *line = l->text + l->starts[i];

		rc = cv_buf_add(dst, &mark, 1);
		if (rc == 0)
			rc = cv_buf_add(dst, line, len);
		if (rc == 0 && line[len - 1] != '\n')
			rc = cv_buf_adds(dst, "\n\\ No newline at end of file\n");
	}
	return rc;
}

/* Of a hunk, in lines: [from, to) of each side. */
struct hunk {
	size_t a0, a1, b0, b1;
};

/* The next run of changed lines at or behind the given places; false: no more. */
static bool next_run(const struct entry *e, size_t i, size_t j, struct hunk *ret)
{
	while (i < e->a.count && j < e->b.count && !e->a.mark[i] && !e->b.mark[j]) {
		i++;
		j++;
	}
	ret->a0 = i;
	ret->b0 = j;
	while (i < e->a.count && e->a.mark[i])
		i++;
	while (j < e->b.count && e->b.mark[j])
		j++;
	ret->a1 = i;
	ret->b1 = j;
	return ret->a0 < i || ret->b0 < j;
}

/* Runs of changed lines that are so near to each other that their context would touch. */
static struct hunk join_runs(const struct entry *e, struct hunk h)
{
	struct hunk run;

	while (next_run(e, h.a1, h.b1, &run) && run.a0 - h.a1 <= (size_t)2 * CONTEXT) {
		h.a1 = run.a1;
		h.b1 = run.b1;
	}
	return h;
}

static int add_range(struct cv_buf *dst, char sign, size_t from, size_t count)
{
	if (count == 1)
		return cv_buf_addf(dst, " %c%zu", sign, from + 1);
	return cv_buf_addf(dst, " %c%zu,%zu", sign, count ? from + 1 : from, count);
}

static int add_hunk(struct cv_buf *dst, const struct entry *e, const struct hunk *h)
{
	size_t before = CV_MIN((size_t)CONTEXT, h->a0);
	size_t after = CV_MIN((size_t)CONTEXT, e->a.count - h->a1);
	size_t i = h->a0 - before;
	size_t j = h->b0 - before;
	struct hunk run;
	int rc = cv_buf_adds(dst, "@@");

	if (rc == 0)
		rc = add_range(dst, '-', i, h->a1 + after - i);
	if (rc == 0)
		rc = add_range(dst, '+', j, h->b1 + after - j);
	if (rc == 0)
		rc = cv_buf_adds(dst, " @@\n");
	while (rc == 0 && (i < h->a1 || j < h->b1)) {
		next_run(e, i, j, &run);
		rc = add_lines(dst, ' ', &e->a, i, run.a0);
		if (rc == 0)
			rc = add_lines(dst, '-', &e->a, run.a0, run.a1);
		if (rc == 0)
			rc = add_lines(dst, '+', &e->b, run.b0, run.b1);
		i = run.a1;
		j = run.b1;
	}
	return rc < 0 ? rc : add_lines(dst, ' ', &e->a, h->a1, h->a1 + after);
}

static int add_text(struct cv_buf *dst, struct entry *e)
{
	struct hunk h = {0};
	int rc;

	e->a.text = e->old.data;
	e->a.len = e->old.len;
	e->b.text = e->now.data;
	e->b.len = e->now.len;
	rc = cv_lines_compare(&e->a, &e->b, e->cancel);
	if (rc == 0)
		rc = add_file_line(dst, "--- ", "a/", e->pair, e->old.mode);
	if (rc == 0)
		rc = add_file_line(dst, "+++ ", "b/", e->pair, e->now.mode);
	while (rc == 0 && next_run(e, h.a1, h.b1, &h)) {
		h = join_runs(e, h);
		rc = add_hunk(dst, e, &h);
	}
	return rc;
}

static bool is_text(const struct side *s)
{
	return s->len == 0 || !memchr(s->data, '\0', s->len);
}

static int add(struct cv_buf *dst, struct entry *e)
{
	bool same = e->old.mode && e->now.mode && strcmp(e->old.name, e->now.name) == 0;
	bool binary = !is_text(&e->old) || !is_text(&e->now);
	int rc;

	if (same && e->old.mode == e->now.mode)
		return 0;
	rc = add_head(dst, e);
	if (rc < 0 || same)
		return rc < 0 ? rc : 1;
	rc = add_index(dst, e, binary);
	if (rc == 0 && binary)
		rc = cv_binary_add(dst, e->old.data, e->old.len, e->now.data, e->now.len);
	else if (rc == 0 && (e->old.len > 0 || e->now.len > 0))
		rc = add_text(dst, e);
	return rc < 0 ? rc : 1;
}

int cv_patch_add(const struct cv_pair *p, const atomic_bool *cancel, struct cv_buf *dst)
{
	struct entry e __attribute__((cleanup(entry_done))) = {.pair = p, .cancel = cancel};
	int rc;

	if (is_in_git(p->path) || p->change == COVE_DIFF_UNREADABLE)
		return 0;
	rc = load(p, 0, &e.old);
	if (rc == 0)
		rc = load(p, 1, &e.now);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	return add(dst, &e);
}
