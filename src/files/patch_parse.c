/* SPDX-License-Identifier: Apache-2.0 */
/* Reads unified diffs, as diff and git write them. */
#include "files/patch.h"

#include "base/error.h"

#include <stdio.h>

struct parser {
	const char *at; /* the line at hand */
	const char *end;
	int64_t line;
	struct cv_arena *arena;
	struct cove_error *err;
	struct cv_buf files; /* struct cv_file_patch */
	struct cv_buf hunks; /* of the last file */
	bool at_end;	     /* one of them has reached the end of that file */
	struct cv_patch *patch;
};

static int bad(const struct parser *p, const char *why)
{
	return cv_fail_arg(p->err, "patch", "give a unified diff, as diff -u or git diff write it",
			   "is no unified diff: line %lld %s", (long long)p->line, why);
}

static int no_memory(const struct parser *p)
{
	return cv_fail(p->err, COVE_E_INTERNAL, "out of memory");
}

static const char *line_end(const struct parser *p, const char *at)
{
	const char *lf = memchr(at, '\n', (size_t)(p->end - at));

	return lf ? lf : p->end;
}

static void next_line(struct parser *p)
{
	const char *end = line_end(p, p->at);

	p->at = end < p->end ? end + 1 : p->end;
	p->line++;
}

static bool starts(const struct parser *p, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(p->end - p->at) >= len && memcmp(p->at, word, len) == 0;
}

/* A name in C's quotes. */
static const char *unquote(const struct parser *p, const char *s, const char *end,
			   const char **ret_end)
{
	static const char letters[] = "abfnrtv\"\\";
	static const char values[] = "\a\b\f\n\r\t\v\"\\";
	char *name = cv_arena_alloc(p->arena, (size_t)(end - s) + 1);
	size_t n = 0;

	for (s++; name && s < end && *s != '"'; s++) {
		const char *known;

		if (*s != '\\' || s + 1 >= end) {
			name[n++] = *s;
			continue;
		}
		s++;
		known = strchr(letters, *s);
		if (*s >= '0' && *s <= '3' && end - s >= 3) {
			name[n++] = (char)((s[0] - '0') * 64 + (s[1] - '0') * 8 + (s[2] - '0'));
			s += 2;
		} else {
			name[n++] = known ? values[known - letters] : *s;
		}
	}
	*ret_end = s < end ? s + 1 : end;
	return name;
}

/* The name from s on, to a tab or the end of the line. NULL: no memory. */
static const char *read_name(const struct parser *p, const char *s)
{
	const char *end = line_end(p, s);
	const char *tab;
	const char *rest;

	if (s >= end)
		return "";
	if (*s == '"')
		return unquote(p, s, end, &rest);
	tab = memchr(s, '\t', (size_t)(end - s));
	if (tab)
		end = tab;
	else if (end > s && end[-1] == '\r')
		end--;
	return cv_arena_dup(p->arena, s, (size_t)(end - s));
}

static const char *strip(const char *name, char side)
{
	return name[0] == side && name[1] == '/' ? name + 2 : name;
}

/* diff -N writes a file that is missing as one of 1970. */
static bool is_missing(const struct parser *p, const char *name)
{
	const char *end = line_end(p, p->at);
	const char *tab = memchr(p->at, '\t', (size_t)(end - p->at));

	return strcmp(name, "/dev/null") == 0 ||
	       (tab && end - tab >= 20 && memcmp(tab, "\t1970-01-01 00:00:00", 20) == 0 &&
		memmem(tab, (size_t)(end - tab), "+0000", 5));
}

static struct cv_file_patch *last_file(const struct parser *p)
{
	return (void *)(p->files.data + p->files.len - sizeof(struct cv_file_patch));
}

/* The hunks that were read belong to the last file. */
static int end_file(struct parser *p)
{
	struct cv_file_patch *file;

	if (p->files.len == 0)
		return 0;
	file = last_file(p);
	file->hunk_count = p->hunks.len / sizeof(struct cv_hunk);
	file->hunks = cv_arena_raw(p->arena, p->hunks.len + 1);
	if (!file->hunks)
		return no_memory(p);
	if (p->hunks.len)
		memcpy(file->hunks, p->hunks.data, p->hunks.len);
	p->hunks.len = 0;
	return 0;
}

static int begin_file(struct parser *p)
{
	struct cv_file_patch file = {0};
	int rc = end_file(p);

	p->at_end = false;
	if (rc == 0 && cv_buf_add(&p->files, &file, sizeof(file)) < 0)
		rc = no_memory(p);
	return rc;
}

/* `diff --git a/NAME b/NAME`: the only place of the name where neither content nor name changes. */
static int git_names(struct parser *p)
{
	const char *s = p->at + strlen("diff --git ");
	const char *end = line_end(p, s);
	const char *rest = NULL;
	const char *name = NULL;
	struct cv_file_patch *file;
	size_t len;

	if (begin_file(p) < 0)
		return COVE_E_INTERNAL;
	if (end > s && end[-1] == '\r')
		end--;
	len = (size_t)(end - s);
	if (s < end && *s == '"')
		name = strip(unquote(p, s, end, &rest), 'a');
	else if (len % 2 == 1 && len > 5 && s[len / 2] == ' ' &&
		 memcmp(s + 2, s + len / 2 + 3, len / 2 - 2) == 0)
		name = strip(cv_arena_dup(p->arena, s, len / 2), 'a');
	file = last_file(p);
	file->old_name = name;
	file->new_name = name;
	next_line(p);
	return 0;
}

static int refuse_mode(const struct parser *p, int mode)
{
	return cv_fail(p->err, COVE_E_NOT_SUPPORTED,
		       "line %lld of the patch is about a %s; only regular files are patched",
		       (long long)p->line, (mode & 0170000) == 0160000 ? "submodule" : "link");
}

/* The lines between `diff --git` and `---`. 1: it was one of them. */
static int git_header(struct parser *p)
{
	static const char *const passed[] = {"index ", "similarity index ", "dissimilarity index ",
					     "old mode ", NULL};
	struct cv_file_patch *f = last_file(p);
	int mode = 0;

	if (starts(p, "new file mode ") || starts(p, "deleted file mode ") ||
	    starts(p, "new mode ")) {
		f->is_new |= starts(p, "new file");
		f->is_deleted |= starts(p, "deleted");
		mode = (int)strtol(strstr(p->at, "mode ") + 5, NULL, 8);
		f->mode = f->is_deleted ? 0 : mode;
	} else if (starts(p, "rename from ") || starts(p, "copy from ")) {
		f->is_rename |= *p->at == 'r';
		f->is_copy |= *p->at == 'c';
		f->old_name = read_name(p, strstr(p->at, "from ") + 5);
	} else if (starts(p, "rename to ") || starts(p, "copy to ")) {
		f->new_name = read_name(p, strstr(p->at, "to ") + 3);
	} else if (starts(p, "GIT binary patch") || starts(p, "Binary files ")) {
		return cv_fail(p->err, COVE_E_NOT_SUPPORTED,
			       "line %lld of the patch is about a binary file", (long long)p->line);
	} else {
		bool known = false;

		for (size_t i = 0; passed[i]; i++)
			known |= starts(p, passed[i]);
		if (!known)
			return 0;
	}
	if (mode && (mode & 0170000) != 0100000)
		return refuse_mode(p, mode);
	next_line(p);
	return 1;
}

/* `---` and `+++`. */
static int file_names(struct parser *p, bool is_git)
{
	struct cv_file_patch *f;
	const char *name;

	if (!is_git && begin_file(p) < 0)
		return COVE_E_INTERNAL;
	f = last_file(p);
	name = read_name(p, p->at + 4);
	if (name && is_missing(p, name))
		f->is_new = true;
	else if (name && !f->is_rename && !f->is_copy)
		f->old_name = strip(name, 'a');
	next_line(p);
	if (!name)
		return no_memory(p);
	name = read_name(p, p->at + 4);
	if (name && is_missing(p, name))
		f->is_deleted = true;
	else if (name && !f->is_rename && !f->is_copy)
		f->new_name = strip(name, 'b');
	next_line(p);
	if (f->is_new)
		f->old_name = NULL;
	if (f->is_deleted)
		f->new_name = NULL;
	return name ? 0 : no_memory(p);
}

/* "START,COUNT" or "START"; where it ends, or NULL. */
static const char *read_range(const char *s, const char *end, size_t *ret_start, size_t *ret_count)
{
	size_t *into[2] = {ret_start, ret_count};

	*ret_count = 1;
	for (int i = 0; i < 2; i++) {
		size_t n = 0;
		const char *first = s;

		for (; s < end && *s >= '0' && *s <= '9' && s - first < 10; s++)
			n = n * 10 + (size_t)(*s - '0');
		if (s == first)
			return NULL;
		*into[i] = n;
		if (i == 1 || s == end || *s != ',')
			break;
		s++;
	}
	return s;
}

/*
 * Whether "no newline at end of file" can stand behind a line: nothing may follow on its side, and
 * without its end an empty line would be none.
 */
static bool can_end_file(const char *last, size_t old_left, size_t new_left)
{
	return last && strchr(" +-", *last) && last[1] != '\n' && (*last == '+' || old_left == 0) &&
	       (*last == '-' || new_left == 0);
}

/* Takes the lines of a hunk until both counts are reached. */
static int hunk_body(struct parser *p, struct cv_hunk *h)
{
	size_t old_left = h->old_count;
	size_t new_left = h->new_count;
	const char *last = NULL;

	h->body = p->at;
	while (old_left > 0 || new_left > 0 || (p->at < p->end && *p->at == '\\')) {
		/* Some programs strip the blank of an empty line. */
		char kind = p->at == p->end ? 0 :
			    *p->at == '\n' || (*p->at == '\r' && p->at + 1 < p->end &&
					       p->at[1] == '\n') ?
					      ' ' :
					      *p->at;
		const char *end = line_end(p, p->at);

		if (kind == 0 || !strchr(" +-\\", kind) ||
		    (kind == '\\' && !can_end_file(last, old_left, new_left)))
			return bad(p, "is in the middle of a hunk, whose header promises more");
		if ((kind != '+' && kind != '\\' && old_left == 0) ||
		    (kind != '-' && kind != '\\' && new_left == 0))
			return bad(p, "is more than the header of its hunk promises");
		old_left -= kind == ' ' || kind == '-';
		new_left -= kind == ' ' || kind == '+';
		p->patch->has_cr |= kind != '\\' && end > p->at && end[-1] == '\r';
		p->at_end |= kind == '\\';
		last = p->at;
		next_line(p);
	}
	h->end = p->at;
	/* Counts that are too small would lose these silently; "-- " is the end of a mail. */
	if (p->at < p->end && (strchr("+ ", *p->at) || (*p->at == '-' && !starts(p, "--"))))
		return bad(p, "is more than the header of its hunk promises");
	return 0;
}

static int read_hunk(struct parser *p)
{
	const char *end = line_end(p, p->at);
	struct cv_hunk h = {0};
	size_t new_start;
	const char *s = read_range(p->at + 4, end, &h.old_start, &h.old_count);
	int rc;

	if (s && end - s > 2 && s[0] == ' ' && s[1] == '+')
		s = read_range(s + 2, end, &new_start, &h.new_count);
	else
		s = NULL;
	if (!s || end - s < 3 || memcmp(s, " @@", 3) != 0)
		return bad(p, "is no header of a hunk (@@ -LINE,COUNT +LINE,COUNT @@)");
	if (h.old_count > 0 && h.old_start == 0)
		return bad(p, "begins a hunk at line 0, which has lines");
	if (p->files.len == 0 && begin_file(p) < 0)
		return COVE_E_INTERNAL;
	if (p->at_end)
		return bad(p, "follows a hunk that reaches the end of the file");
	next_line(p);
	rc = hunk_body(p, &h);
	if (rc == 0 && cv_buf_add(&p->hunks, &h, sizeof(h)) < 0)
		rc = no_memory(p);
	return rc;
}

static bool at_names(const struct parser *p)
{
	const char *next = line_end(p, p->at);

	return starts(p, "--- ") && p->end - next > 5 && memcmp(next, "\n+++ ", 5) == 0;
}

static int parse(struct parser *p)
{
	bool in_git = false; /* between `diff --git` and the hunks */
	int rc = 0;

	while (rc >= 0 && p->at < p->end) {
		if (starts(p, "diff --git ")) {
			rc = git_names(p);
			in_git = true;
		} else if (at_names(p)) {
			rc = file_names(p, in_git);
			in_git = false;
		} else if (starts(p, "@@ -")) {
			rc = read_hunk(p);
			in_git = false;
		} else {
			rc = in_git ? git_header(p) : 0;
			if (rc == 0)
				next_line(p);
		}
	}
	return rc < 0 ? rc : end_file(p);
}

int cv_patch_parse(const struct cove_bytes *text, struct cv_arena *arena, struct cv_patch *ret,
		   struct cove_error *err)
{
	struct parser p = {.at = text->data,
			   .end = text->data + text->len,
			   .line = 1,
			   .arena = arena,
			   .err = err,
			   .files = CV_BUF(SIZE_MAX / 4),
			   .hunks = CV_BUF(SIZE_MAX / 4),
			   .patch = ret};
	int rc;

	*ret = (struct cv_patch){0};
	rc = parse(&p);
	if (rc == 0) {
		ret->count = p.files.len / sizeof(struct cv_file_patch);
		ret->files =
			(void *)cv_arena_dup(arena, p.files.len ? p.files.data : "", p.files.len);
		if (!ret->files)
			rc = no_memory(&p);
	}
	cv_buf_done(&p.files);
	cv_buf_done(&p.hunks);
	if (rc == 0 && ret->count == 0)
		rc = cv_fail_arg(err, "patch",
				 "give a unified diff, as diff -u or git diff write it",
				 "is no unified diff: it has no header of a file or hunk");
	return rc;
}
