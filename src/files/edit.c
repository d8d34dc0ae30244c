/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.edit_text: exact replacements, all or none.
 *
 * All of it happens in memory; the file is replaced once, at the end, and only if it is still what
 * was read (files/change.h).
 */
#include "files/edit.h"

#include "files/change.h"

#include <stdio.h>

#define LINES_TOLD 8
#define SPANS_MAX ((size_t)1000001)

/* "3, 17 and 4 more": where spans begin. */
static void tell_lines(char *dst, size_t size, const struct cove_bytes *text,
		       const struct cv_span *spans, size_t count)
{
	size_t len = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < count && i < LINES_TOLD; i++)
		len += (size_t)snprintf(dst + len, size - len, "%s%lld", i ? ", " : "",
					(long long)cv_edit_line(text, spans[i].start));
	if (count > LINES_TOLD)
		snprintf(dst + len, size - len, " and %zu more", count - LINES_TOLD);
}

/* The first line of a text that is not blank, without the blanks around it. */
static struct cove_bytes first_words(const struct cove_bytes *b)
{
	const char *p = b->data;
	const char *end = b->data + b->len;
	const char *stop;

	while (p < end && strchr(" \t\r\n", *p))
		p++;
	stop = memchr(p, '\n', (size_t)(end - p));
	stop = stop ? stop : end;
	while (stop > p && strchr(" \t\r", stop[-1]))
		stop--;
	return (struct cove_bytes){.data = p, .len = (size_t)(stop - p)};
}

static void hint_at_likes(const struct cove_bytes *text, const struct cove_bytes *old,
			  struct cove_error *err)
{
	struct cove_bytes words = first_words(old);
	struct cv_span spans[LINES_TOLD];
	char lines[200];
	size_t count = 0;

	while (words.len > 0 && count < LINES_TOLD &&
	       cv_edit_find(text, &words, count ? spans[count - 1].end : 0, &spans[count]))
		count++;
	tell_lines(lines, sizeof(lines), text, spans, count);
	if (count > 0)
		cv_err_hint(err, "'old' must be exact; its first line, blanks aside, is on line %s",
			    lines);
	else
		cv_err_hint(err, "read the file again, and give 'old' exactly as it is there");
}

static int refuse(const struct cove_bytes *text, const struct cove_edit *edit,
		  const struct cv_span *spans, size_t count, struct cove_error *err)
{
	bool few = count < (size_t)edit->count;
	char lines[200];
	char times[96];
	int rc;

	tell_lines(lines, sizeof(lines), text, spans, count);
	if (count == 0)
		snprintf(times, sizeof(times), "does not occur");
	else
		snprintf(times, sizeof(times), "occurs %s%zu times, not %lld, on line ",
			 count == SPANS_MAX ? "more than " : "", count, (long long)edit->count);
	rc = cv_fail(err, few ? COVE_E_EDIT_NOT_FOUND : COVE_E_EDIT_AMBIGUOUS,
		     "the text to replace %s%s", times, lines);
	if (!err)
		return rc;
	err->occurrences = (int64_t)count;
	snprintf(err->reason, sizeof(err->reason), "%s%s", times, lines);
	if (count == 0)
		hint_at_likes(text, &edit->old_text, err);
	else
		cv_err_hint(err, "give more of the text around it, or count %zu to replace all",
			    count);
	return rc;
}

/* Finds every place, those that overlap too. */
static int find_all(const struct cove_bytes *text, const struct cove_bytes *old,
		    struct cv_buf *ret_spans)
{
	struct cv_span span;
	size_t from = 0;
	int rc = 0;

	while (rc == 0 && ret_spans->len / sizeof(span) < SPANS_MAX &&
	       cv_edit_find(text, old, from, &span)) {
		rc = cv_buf_add(ret_spans, &span, sizeof(span));
		from = span.start + 1;
	}
	return rc;
}

static int put_together(struct cv_buf *out, const struct cove_bytes *text,
			const struct cove_edit *edit, const struct cv_span *spans, size_t count)
{
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = cv_buf_add(out, text->data + at, spans[i].start - at);
		if (rc == 0)
			rc = cv_edit_replace(out, text, edit, &spans[i]);
		at = spans[i].end;
	}
	return rc < 0 ? rc : cv_buf_add(out, text->data + at, text->len - at);
}

static bool overlap(const struct cv_span *spans, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (spans[i].start < spans[i - 1].end)
			return true;
	return false;
}

int cv_edit_apply(struct cv_buf *out, const struct cove_bytes *text, const struct cove_edit *edit,
		  struct cove_error *err)
{
	CV_BUF_SCOPE struct cv_buf found = CV_BUF(SPANS_MAX * sizeof(struct cv_span));
	const struct cv_span *spans;
	size_t count;
	int rc = find_all(text, &edit->old_text, &found);

	if (rc < 0)
		return cv_files_no_memory(err);
	spans = (const void *)found.data;
	count = found.len / sizeof(*spans);
	if (count != (size_t)edit->count)
		return refuse(text, edit, spans, count, err);
	if (overlap(spans, count))
		return cv_fail(err, COVE_E_EDIT_AMBIGUOUS,
			       "the places of the text to replace overlap");
	rc = put_together(out, text, edit, spans, count);
	if (rc == -EMSGSIZE)
		return cv_fail(err, COVE_E_TOO_LARGE, "the result is larger than %zu MiB",
			       CV_CHANGE_MAX >> 20);
	return rc < 0 ? cv_files_no_memory(err) : 0;
}

/* Adds to the error of one edit what its own place knows. */
static int fail_edit(const struct cove_file_edit_text_opts *opts, size_t i, int rc,
		     struct cove_error *err)
{
	char text[512];

	if (!err)
		return rc;
	cv_text_copy(text, sizeof(text), err->message);
	snprintf(err->message, sizeof(err->message), "edit %zu of %zu: %s", i + 1, opts->edit_count,
		 text);
	snprintf(err->field, sizeof(err->field), "edits[%zu].old", i);
	err->edit_index = (int64_t)i;
	cv_err_path(err, opts->path);
	return rc;
}

static int apply_all(const struct cv_file_ctx *ctx, const struct cove_file_edit_text_opts *opts,
		     struct cv_buf *text, struct cove_error *err)
{
	for (size_t i = 0; i < opts->edit_count; i++) {
		CV_BUF_SCOPE struct cv_buf out = CV_BUF(CV_CHANGE_MAX);
		struct cove_bytes now = {.data = text->data, .len = text->len};
		struct cv_buf before = *text;
		int rc = cv_files_cancelled(ctx, err);

		if (rc < 0)
			return rc;
		rc = cv_edit_apply(&out, &now, &opts->edits[i], err);
		if (rc < 0)
			return fail_edit(opts, i, rc, err);
		*text = out;
		out = before;
	}
	return 0;
}

int cv_file_edit_text(const struct cv_file_ctx *ctx, const void *req, void *res,
		      struct cove_error *err)
{
	const struct cove_file_edit_text_opts *opts = req;
	struct cove_file_edit_text_result *result = res;
	CV_CHANGE_SCOPE struct cv_change change = CV_CHANGE_NONE;
	CV_BUF_SCOPE struct cv_buf text = CV_BUF(CV_CHANGE_MAX);
	int rc = cv_files_cancelled(ctx, err);

	if (rc < 0)
		return rc;
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = cv_change_open(&change, ctx, opts->path, CV_EXPECT_FILE, err);
	if (rc == 0)
		rc = cv_change_read(&change, &text.data, &text.len, err);
	if (rc == 0)
		rc = apply_all(ctx, opts, &text, err);
	if (rc == 0)
		rc = cv_change_stage(&change, text.data, text.len, 0, NULL, err);
	if (rc == 0)
		rc = cv_files_cancelled(ctx, err);
	if (rc == 0)
		rc = cv_change_apply(&change, err);
	result->edits_applied = (int64_t)opts->edit_count;
	result->bytes_written = (int64_t)text.len;
	return rc;
}
