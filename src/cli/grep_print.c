/* SPDX-License-Identifier: Apache-2.0 */
/* Matches as text for people, or as JSON. */
#include "cli/grep_print.h"

#include "base/json.h"
#include "cli/files.h"

#define OUT_MAX ((size_t)512 << 20)
#define FLUSH ((size_t)256 << 10)

#define PATH_COLOR "\033[35m"
#define NUMBER_COLOR "\033[32m"
#define MATCH_COLOR "\033[1;31m"
#define PLAIN "\033[0m"

const char *const grep_colors[] = {"auto", "always", "never", NULL};

void grep_print_init(struct grep_print *p, int color)
{
	const char *term = getenv("TERM");
	const char *none = getenv("NO_COLOR");

	p->out = CV_BUF(OUT_MAX);
	p->color = color == 2 || (color != 3 && isatty(STDOUT_FILENO) && !(none && *none) && term &&
				  strcmp(term, "dumb") != 0);
}

void grep_print_done(struct grep_print *p)
{
	cv_buf_done(&p->out);
}

static int add(struct grep_print *p, const char *color, const char *s, size_t len)
{
	int rc;

	if (!p->color || !color)
		return cv_buf_add(&p->out, s, len);
	rc = cv_buf_adds(&p->out, color);
	if (rc == 0)
		rc = cv_buf_add(&p->out, s, len);
	return rc < 0 ? rc : cv_buf_adds(&p->out, PLAIN);
}

/* At the end of digits; where it begins. */
static size_t format(int64_t n, char digits[GREP_DIGITS])
{
	size_t at = GREP_DIGITS;

	do
		digits[--at] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	return at;
}

/* A whole line without colours, at once. */
static int add_plain(struct grep_print *p, const struct cove_match *m)
{
	size_t path_len = p->paths ? strlen(m->path) : 0;
	struct cv_buf *b = &p->out;
	int rc = cv_buf_reserve(b, path_len + m->text.len + 32);
	char *s;

	if (rc < 0)
		return rc;
	s = b->data + b->len;
	if (p->paths) {
		memcpy(s, m->path, path_len);
		s += path_len;
		*s++ = ':';
	}
	if (p->numbers) {
		size_t at = format(m->line, p->digits);

		memcpy(s, p->digits + at, sizeof(p->digits) - at);
		s += sizeof(p->digits) - at;
		*s++ = ':';
	}
	memcpy(s, m->text.data, m->text.len);
	s += m->text.len;
	*s++ = '\n';
	b->len = (size_t)(s - b->data);
	return 0;
}

static int add_number(struct grep_print *p, int64_t n)
{
	size_t at = format(n, p->digits);

	return add(p, NUMBER_COLOR, p->digits + at, sizeof(p->digits) - at);
}

/* Path and number before a line; mark stands behind each. */
static int add_front(struct grep_print *p, const char *path, int64_t line, char mark)
{
	int rc = p->paths ? add(p, PATH_COLOR, path, strlen(path)) : 0;

	if (rc == 0 && p->paths)
		rc = cv_buf_add(&p->out, &mark, 1);
	if (rc == 0 && p->numbers)
		rc = add_number(p, line);
	if (rc == 0 && p->numbers)
		rc = cv_buf_add(&p->out, &mark, 1);
	return rc;
}

static int add_match(struct grep_print *p, const struct cove_match *m)
{
	const char *s = m->text.data;
	size_t at = (size_t)m->match_at;
	size_t end = at + (size_t)m->match_len;
	int rc;

	if (!p->color)
		return add_plain(p, m);
	rc = add_front(p, m->path, m->line, ':');
	if (rc == 0 && m->match_len > 0) {
		rc = cv_buf_add(&p->out, s, at);
		if (rc == 0)
			rc = add(p, MATCH_COLOR, s + at, end - at);
		if (rc == 0)
			rc = cv_buf_add(&p->out, s + end, m->text.len - end);
	} else if (rc == 0) {
		rc = cv_buf_add(&p->out, s, m->text.len);
	}
	return rc < 0 ? rc : cv_buf_add(&p->out, "\n", 1);
}

/* The lines of the context that are numbered from..to. */
static int add_context(struct grep_print *p, const struct cove_match *m, int64_t from, int64_t to)
{
	const char *s = m->context.data;
	const char *end = s + m->context.len;
	int rc = 0;

	for (int64_t n = m->context_start; n <= to && s <= end && rc == 0; n++) {
		const char *lf = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((lf ? lf : end) - s);

		if (n >= from) {
			rc = add_front(p, m->path, n, '-');
			if (rc == 0)
				rc = cv_buf_add(&p->out, s, len);
			if (rc == 0)
				rc = cv_buf_add(&p->out, "\n", 1);
			p->line = n;
		}
		s += len + 1;
	}
	return rc;
}

/* A match with the lines around it that neither it nor its neighbours have printed. */
static int add_block(struct grep_print *p, const struct cove_match *m,
		     const struct cove_match *next)
{
	bool same = strcmp(p->path, m->path) == 0;
	int64_t from = same ? CV_MAX(m->context_start, p->line + 1) : m->context_start;
	int64_t to = INT64_MAX - 1;
	int rc = 0;

	if (p->path[0] && (!same || m->context_start > p->line + 1))
		rc = cv_buf_add(&p->out, "--\n", 3);
	if (rc == 0)
		rc = add_context(p, m, from, m->line - 1);
	if (rc == 0)
		rc = add_match(p, m);
	p->line = m->line;
	if (next && strcmp(next->path, m->path) == 0)
		to = next->line - 1;
	if (rc == 0)
		rc = add_context(p, m, m->line + 1, to);
	cv_text_copy(p->path, sizeof(p->path), m->path);
	return rc;
}

static int add_json(struct grep_print *p, const struct cove_match *m)
{
	CV_JSON json_t *j = json_pack("{s:s,s:I,s:s#,s:b}", "path", m->path, "line",
				      (json_int_t)m->line, "text", m->text.data, (int)m->text.len,
				      "truncated", m->truncated);
	CV_FREE char *text = NULL;

	if (j && m->context.data) {
		json_object_set_new(j, "context_start", json_integer(m->context_start));
		json_object_set_new(j, "context", json_stringn(m->context.data, m->context.len));
	}
	text = j ? cv_json_dump(j) : NULL;
	return text ? cv_buf_addf(&p->out, "%s\n", text) : -ENOMEM;
}

static int add_path(struct grep_print *p, const char *path)
{
	int rc = add(p, PATH_COLOR, path, strlen(path));

	return rc < 0 ? rc : cv_buf_add(&p->out, "\n", 1);
}

static int add_one(struct grep_print *p, const struct cove_match *m, const struct cove_match *next)
{
	p->matches++;
	p->truncated += m->truncated;
	if (p->names)
		return add_path(p, m->path);
	if (p->json)
		return add_json(p, m);
	return p->context ? add_block(p, m, next) : add_match(p, m);
}

static int flush(struct grep_print *p, struct cove_error *err)
{
	int rc = p->out.len > 0 ? files_put(p->out.data, p->out.len, err) : 0;

	p->out.len = 0;
	return rc;
}

static int give(struct grep_print *p, const struct cove_match *m, struct cove_error *err)
{
	if (p->waiting && add_one(p, p->waiting, m) < 0)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	p->waiting = m;
	return p->out.len >= FLUSH ? flush(p, err) : 0;
}

int grep_print_page(struct grep_print *p, const struct cove_file_search_text_result *page,
		    struct cove_error *err)
{
	for (size_t i = 0; i < page->match_count; i++) {
		int rc = give(p, &page->matches[i], err);

		if (rc < 0)
			return rc;
	}
	return flush(p, err);
}

int grep_print_end(struct grep_print *p, struct cove_error *err)
{
	int rc = give(p, NULL, err);

	return rc < 0 ? rc : flush(p, err);
}
