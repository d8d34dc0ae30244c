/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ignore rules as git reads them, to its corners.
 *
 * The beginning of a rule that has no special character is compared as it stands; only the rest is
 * a pattern, and so a double star right behind that beginning counts as one at the start. Bytes are
 * compared, not code points. A rule whose class or escape is never closed matches nothing.
 */
#include "files/ignore.h"

#include "files/wild.h"

struct rule {
	bool negated;
	bool dirs_only;
	bool by_name; /* against the last component, not the path */
	char *prefix;
	size_t prefix_len;
	bool has_rest;
	struct cv_wild rest;
};

struct cv_ignore {
	struct rule *rules;
	size_t count;
	size_t cap;
};

static bool is_alpha(int c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_graph(int c)
{
	return c > 32 && c < 127;
}

/* Membership of a named class; -1: there is no such class. */
static int named_class(const char *name, size_t len, int c)
{
#define IS(text) (len == sizeof(text) - 1 && memcmp(name, text, len) == 0)
	if (IS("alnum"))
		return is_alpha(c) || is_digit(c);
	if (IS("alpha"))
		return is_alpha(c);
	if (IS("blank"))
		return c == ' ' || c == '\t';
	if (IS("cntrl"))
		return c < 32 || c == 127;
	if (IS("digit"))
		return is_digit(c);
	if (IS("graph"))
		return is_graph(c);
	if (IS("lower"))
		return c >= 'a' && c <= 'z';
	if (IS("print"))
		return is_graph(c) || c == ' ';
	if (IS("punct"))
		return is_graph(c) && !is_alpha(c) && !is_digit(c);
	if (IS("space"))
		return c == ' ' || c == '\t' || c == '\n' || c == '\r';
	if (IS("upper"))
		return c >= 'A' && c <= 'Z';
	if (IS("xdigit"))
		return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
	return -1;
#undef IS
}

static int add_named(struct cv_wild *w, const char *name, size_t len)
{
	for (int c = 0; c < 128; c++) {
		int in = named_class(name, len, c);
		int rc = in > 0 ? cv_wild_add_range(w, (uint32_t)c, (uint32_t)c) : 0;

		if (in < 0)
			return -EINVAL;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* [:name:] at p; *ret is its last character. 0: it is not one. */
static int class_name(struct cv_wild *w, const char *p, const char **ret)
{
	const char *end = strchr(p + 2, ']');

	if (!end)
		return -EINVAL;
	if (end == p + 2 || end[-1] != ':')
		return 0;
	*ret = end;
	return add_named(w, p + 2, (size_t)(end - p - 3)) < 0 ? -EINVAL : 1;
}

/* The class that p begins with; *ret is what is behind it. -EINVAL: it is none. */
static int add_class(struct cv_wild *w, const char *p, const char **ret)
{
	uint32_t prev = 0;
	bool first = true;
	int rc = cv_wild_add(w, CV_WILD_CLASS, 0);

	if (rc < 0)
		return rc;
	p++;
	w->tokens[w->count - 1].negated = *p == '!' || *p == '^';
	p += w->tokens[w->count - 1].negated;
	for (; *p != ']' || first; p++, first = false) {
		uint32_t c = (unsigned char)*p;
		uint32_t from = c;

		if (*p == '-' && prev && p[1] && p[1] != ']') {
			p += p[1] == '\\' ? 2 : 1;
			c = (unsigned char)*p;
			from = prev;
			prev = 0;
		} else if (*p == '[' && p[1] == ':') {
			rc = class_name(w, p, &p);
			if (rc < 0)
				return rc;
			prev = rc == 0 ? c : 0;
			if (rc > 0)
				continue;
		} else {
			p += *p == '\\';
			c = from = (unsigned char)*p;
			prev = c;
		}
		if (*p == '\0')
			return -EINVAL;
		rc = from <= c ? cv_wild_add_range(w, from, c) : 0;
		if (rc < 0)
			return rc;
	}
	*ret = p + 1;
	return 0;
}

/* A run of stars at p; *ret is what is behind what was added. */
static int add_stars(struct cv_wild *w, const char *start, const char *p, bool by_name,
		     const char **ret)
{
	size_t n = strspn(p, "*");
	const char *end = p + n;
	int rc;

	*ret = end;
	if (by_name || n < 2 || (p > start && p[-1] != '/') ||
	    !(*end == '\0' || *end == '/' || (end[0] == '\\' && end[1] == '/')))
		return cv_wild_add(w, CV_WILD_STAR, 0);
	if (*end != '/')
		return cv_wild_add(w, CV_WILD_STARS, 0);
	*ret = end + 1;
	rc = cv_wild_add(w, CV_WILD_DIRS, 0);
	if (rc == 0)
		rc = cv_wild_add(w, CV_WILD_STARS, 0);
	return rc < 0 ? rc : cv_wild_add(w, CV_WILD_CHAR, '/');
}

static int add_tokens(struct cv_wild *w, const char *start, bool by_name)
{
	const char *p = start;
	int rc = 0;

	w->bytes = true;
	while (*p && rc == 0) {
		switch (*p) {
		case '*':
			rc = add_stars(w, start, p, by_name, &p);
			break;
		case '?':
			rc = cv_wild_add(w, CV_WILD_ANY, 0);
			p++;
			break;
		case '[':
			rc = add_class(w, p, &p);
			break;
		default:
			p += *p == '\\';
			if (*p == '\0')
				return -EINVAL;
			rc = cv_wild_add(w, CV_WILD_CHAR, (unsigned char)*p++);
		}
	}
	return rc < 0 ? rc : cv_wild_finish(w);
}

static void rule_done(struct rule *r)
{
	free(r->prefix);
	cv_wild_done(&r->rest);
}

static int add_rule(struct cv_ignore *ig, const struct rule *r)
{
	if (ig->count == ig->cap) {
		size_t cap = ig->cap ? ig->cap * 2 : 8;
		struct rule *rules = reallocarray(ig->rules, cap, sizeof(*rules));

		if (!rules)
			return -ENOMEM;
		ig->rules = rules;
		ig->cap = cap;
	}
	ig->rules[ig->count++] = *r;
	return 0;
}

/* Spaces at the end go, unless a backslash stands before them. */
static void trim(char *line)
{
	char *spaces = NULL;

	for (char *p = line; *p; p++) {
		if (*p == ' ') {
			if (!spaces)
				spaces = p;
			continue;
		}
		spaces = NULL;
		if (*p == '\\' && *++p == '\0')
			return;
	}
	if (spaces)
		*spaces = '\0';
}

/* One line without its end. A rule that can't match is left out. */
static int parse_line(struct cv_ignore *ig, char *line)
{
	struct rule r = {0};
	size_t len;
	int rc = 0;

	trim(line);
	if (*line == '!') {
		r.negated = true;
		line++;
	}
	len = strlen(line);
	if (len > 0 && line[len - 1] == '/') {
		r.dirs_only = true;
		line[--len] = '\0';
	}
	r.by_name = !strchr(line, '/');
	if (*line == '/')
		line++;
	r.prefix_len = strcspn(line, "*?[\\");
	r.has_rest = line[r.prefix_len] != '\0';
	if (r.has_rest && r.by_name)
		r.prefix_len = 0;
	r.prefix = strndup(line, r.prefix_len);
	if (!r.prefix)
		return -ENOMEM;
	if (r.has_rest)
		rc = add_tokens(&r.rest, line + r.prefix_len, r.by_name);
	if (rc == 0)
		rc = add_rule(ig, &r);
	if (rc < 0)
		rule_done(&r);
	return rc == -ENOMEM ? rc : 0;
}

static int add_line(struct cv_ignore *ig, const char *text, size_t len)
{
	/* A NUL ends it too. */
	CV_FREE char *line = strndup(text, len);

	return line ? parse_line(ig, line) : -ENOMEM;
}

int cv_ignore_new(const char *text, size_t len, struct cv_ignore **ret)
{
	struct cv_ignore *ig = calloc(1, sizeof(*ig));
	size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	int rc = ig ? 0 : -ENOMEM;

	while (rc == 0 && at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		if (n > 0 && text[at] != '#')
			rc = add_line(ig, text + at, n - (text[at + n - 1] == '\r'));
		at += n + 1;
	}
	if (rc < 0 || ig->count == 0) {
		cv_ignore_free(ig);
		ig = NULL;
	}
	if (rc == 0)
		*ret = ig;
	return rc;
}

void cv_ignore_free(struct cv_ignore *ig)
{
	if (!ig)
		return;
	for (size_t i = 0; i < ig->count; i++)
		rule_done(&ig->rules[i]);
	free(ig->rules);
	free(ig);
}

static bool rule_matches(const struct rule *r, const char *text, size_t len)
{
	if (len < r->prefix_len || memcmp(text, r->prefix, r->prefix_len) != 0)
		return false;
	text += r->prefix_len;
	len -= r->prefix_len;
	return r->has_rest ? cv_wild_match(&r->rest, text, len) : len == 0;
}

enum cv_ignore_answer cv_ignore_check(const struct cv_ignore *ig, const char *path, size_t len,
				      const char *name, bool is_dir)
{
	size_t name_len = len - (size_t)(name - path);

	for (size_t i = ig->count; i-- > 0;) {
		const struct rule *r = &ig->rules[i];

		if (r->dirs_only && !is_dir)
			continue;
		if (rule_matches(r, r->by_name ? name : path, r->by_name ? name_len : len))
			return r->negated ? CV_IGNORE_NO : CV_IGNORE_YES;
	}
	return CV_IGNORE_SILENT;
}
