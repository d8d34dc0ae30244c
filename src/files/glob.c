/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of query and search: compiled once, then stepped through a tree. */
#include "files/glob.h"

#include "base/buf.h"
#include "files/wild.h"

#define EXPANSIONS_MAX 256
#define EXPANDED_MAX ((size_t)1 << 20)

enum segment_kind {
	SEGMENT_LITERAL,
	SEGMENT_WILD,
	SEGMENT_DIRS, /* a double star */
	SEGMENT_END,
};

struct segment {
	enum segment_kind kind;
	bool dotted; /* its first character is a dot, spelt as such */
	struct cv_wild wild;
};

struct cv_glob {
	struct segment *segments; /* of all patterns, each with an end */
	size_t count;
	size_t cap;
	uint32_t *starts;
	size_t start_count;
};

/* What compiling needs to say what is wrong. */
struct compiler {
	struct cv_glob *glob;
	const char *field;
	struct cove_error *err;
};

/* A stretch of the pattern, or the alternatives of one pair of braces. */
struct piece {
	const char *text; /* of braces: behind the opening one */
	size_t len;
	size_t alternatives; /* 0: it is text */
};

static int no_memory(const struct compiler *c)
{
	return cv_fail(c->err, COVE_E_INTERNAL, "out of memory");
}

static int bad_class(const struct compiler *c, const char *reason)
{
	return cv_fail_arg(c->err, c->field,
			   "a class is [abc], [a-z] or [!abc]; write [[] for the bracket itself",
			   "%s", reason);
}

static int bad_brace(const struct compiler *c, const char *reason)
{
	return cv_fail_arg(c->err, c->field,
			   "braces hold two or more alternatives, {a,b}, and no braces; write [{] "
			   "for the brace itself",
			   "%s", reason);
}

/* The length of the class that s begins with, or a code. */
static int class_length(const struct compiler *c, const char *s)
{
	const char *p = s + 1;

	if (*p == '!' || *p == '^')
		p++;
	if (*p == ']')
		p++;
	for (; *p != ']'; p++) {
		if (*p == '\0')
			return bad_class(c, "has a class that is not closed");
		if (*p == '/')
			return bad_class(c, "has a '/' in a class");
	}
	return (int)(p + 1 - s);
}

static int check_length(const struct compiler *c, const char *pattern)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return cv_fail_arg(c->err, c->field, "'**' matches everything", "is empty");
	if (len > CV_GLOB_MAX)
		return cv_fail_arg(c->err, c->field, "use a wider pattern",
				   "is longer than %d bytes", CV_GLOB_MAX);
	if (strcmp(pattern, "/") == 0)
		return cv_fail_arg(c->err, c->field, "'/*' matches what is in the root",
				   "is only a '/'");
	if (strchr(pattern, '\\'))
		return cv_fail_arg(c->err, c->field,
				   "a class such as [*] stands for the character itself",
				   "holds a backslash");
	return 0;
}

/* Finds the end of the braces that p stands behind; counts the alternatives. */
static int scan_braces(const struct compiler *c, const char *p, struct piece *piece)
{
	bool empty = true;

	piece->text = p;
	for (piece->alternatives = 1;; p++) {
		if (*p == '\0')
			return bad_brace(c, "has a brace that is not closed");
		if (*p == '{')
			return bad_brace(c, "has braces within braces");
		if ((*p == ',' || *p == '}') && empty)
			return bad_brace(c, "has an empty alternative");
		if (*p == '}')
			break;
		empty = *p == ',';
		piece->alternatives += empty;
		if (*p == '[') {
			int n = class_length(c, p);

			if (n < 0)
				return n;
			p += n - 1;
		}
	}
	piece->len = (size_t)(p - piece->text);
	return piece->alternatives > 1 ? 0 : bad_brace(c, "has braces around a single alternative");
}

/* Splits the pattern into text and braces; their number, or a code. */
static int split(const struct compiler *c, const char *p, struct piece *pieces, size_t max)
{
	size_t product = 1;
	size_t count = 0;

	while (*p) {
		struct piece *piece = &pieces[count++];
		int rc = 0;

		if (count > max)
			return bad_brace(c, "has too many braces");
		*piece = (struct piece){.text = p};
		for (; *p && *p != '{' && *p != '}'; p += rc) {
			rc = *p == '[' ? class_length(c, p) : 1;
			if (rc < 0)
				return rc;
		}
		piece->len = (size_t)(p - piece->text);
		if (*p == '}')
			return bad_brace(c, "has a closing brace that nothing opened");
		if (*p == '\0')
			break;
		if (count == max)
			return bad_brace(c, "has too many braces");
		piece = &pieces[count++];
		rc = scan_braces(c, p + 1, piece);
		if (rc < 0)
			return rc;
		p = piece->text + piece->len + 1;
		product *= piece->alternatives;
		if (product > EXPANSIONS_MAX)
			return cv_fail_arg(c->err, c->field, "use fewer alternatives",
					   "stands for more than %d patterns", EXPANSIONS_MAX);
	}
	return (int)count;
}

/* The n-th alternative of braces. */
static struct piece alternative(const struct piece *braces, size_t n)
{
	struct piece one = {.text = braces->text};
	const char *end = braces->text + braces->len;
	bool class = false;

	for (const char *p = braces->text; p < end; p++) {
		if (*p == '[' && !class) {
			class = true;
			p += p[1] == '!' || p[1] == '^';
			p += p[1] == ']';
		} else if (*p == ']') {
			class = false;
		} else if (*p == ',' && !class) {
			if (n-- == 0) {
				end = p;
				break;
			}
			one.text = p + 1;
		}
	}
	one.len = (size_t)(end - one.text);
	return one;
}

static int add_class(const struct compiler *c, struct cv_wild *w, const char *s, size_t len)
{
	const char *p = s + 1;
	const char *end = s + len - 1;
	int rc = cv_wild_add(w, CV_WILD_CLASS, 0);

	if (rc < 0)
		return no_memory(c);
	w->tokens[w->count - 1].negated = *p == '!' || *p == '^';
	p += w->tokens[w->count - 1].negated;
	while (p < end) {
		uint32_t first;
		uint32_t last;

		p += cv_wild_next(w, p, (size_t)(end - p), &first);
		last = first;
		if (end - p >= 2 && *p == '-') {
			p++;
			p += cv_wild_next(w, p, (size_t)(end - p), &last);
		}
		if (last < first)
			return bad_class(c, "has a class with a range that runs backwards");
		if (cv_wild_add_range(w, first, last) < 0)
			return no_memory(c);
	}
	return 0;
}

static int add_tokens(const struct compiler *c, struct cv_wild *w, const char *s, size_t len)
{
	while (len > 0) {
		size_t n = 1;
		int rc;

		if (*s == '[') {
			rc = class_length(c, s);
			if (rc < 0)
				return rc;
			n = (size_t)rc;
			rc = add_class(c, w, s, n);
		} else if (*s == '*' || *s == '?') {
			rc = cv_wild_add(w, *s == '*' ? CV_WILD_STAR : CV_WILD_ANY, 0);
		} else {
			uint32_t ch;

			n = cv_wild_next(w, s, len, &ch);
			rc = cv_wild_add(w, CV_WILD_CHAR, ch);
		}
		if (rc < 0)
			return rc == -ENOMEM || rc == -EMSGSIZE ? no_memory(c) : rc;
		s += n;
		len -= n;
	}
	return cv_wild_finish(w) < 0 ? no_memory(c) : 0;
}

static int check_segment(const struct compiler *c, const char *s, size_t len)
{
	if (len == 0)
		return cv_fail_arg(c->err, c->field, "'dir/**' matches what is in a directory",
				   "has a '/' with nothing between it and the next, or the end");
	if ((len == 1 && s[0] == '.') || (len == 2 && s[0] == '.' && s[1] == '.'))
		return cv_fail_arg(c->err, c->field, "a pattern starts at the root",
				   "has a segment '%.*s', which no path has", (int)len, s);
	if (len != 2 && memmem(s, len, "**", 2))
		return cv_fail_arg(c->err, c->field, "write 'a/**/b', or 'a*b' within one name",
				   "has a '**' beside other characters of a segment");
	return 0;
}

static struct segment *add_segment(const struct compiler *c, enum segment_kind kind)
{
	struct cv_glob *g = c->glob;

	if (g->count == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 8;
		struct segment *segments = reallocarray(g->segments, cap, sizeof(*segments));

		if (!segments)
			return NULL;
		g->segments = segments;
		g->cap = cap;
	}
	g->segments[g->count] = (struct segment){.kind = kind};
	return &g->segments[g->count++];
}

static int compile_segment(const struct compiler *c, const char *s, size_t len)
{
	struct segment *seg;
	int rc = check_segment(c, s, len);

	if (rc < 0)
		return rc;
	if (len == 2 && s[0] == '*' && s[1] == '*') {
		/* Two in a row say no more than one. */
		const struct cv_glob *g = c->glob;

		if (g->count > g->starts[g->start_count - 1] &&
		    g->segments[g->count - 1].kind == SEGMENT_DIRS)
			return 0;
		return add_segment(c, SEGMENT_DIRS) ? 0 : no_memory(c);
	}
	seg = add_segment(c, SEGMENT_WILD);
	if (!seg)
		return no_memory(c);
	seg->dotted = s[0] == '.';
	rc = add_tokens(c, &seg->wild, s, len);
	if (seg->wild.shape == CV_WILD_EXACT)
		seg->kind = SEGMENT_LITERAL;
	return rc;
}

/* One pattern without braces. */
static int compile(const struct compiler *c, const char *s)
{
	struct cv_glob *g = c->glob;
	int rc;

	g->starts[g->start_count++] = (uint32_t)g->count;
	if (!strchr(s, '/') && strcmp(s, "**") != 0 && !add_segment(c, SEGMENT_DIRS))
		return no_memory(c);
	if (*s == '/')
		s++;
	for (;;) {
		const char *slash = strchrnul(s, '/');

		rc = compile_segment(c, s, (size_t)(slash - s));
		if (rc < 0)
			return rc;
		if (*slash == '\0')
			break;
		s = slash + 1;
	}
	return add_segment(c, SEGMENT_END) ? 0 : no_memory(c);
}

/* Writes braces out, one pattern after the other, and compiles each. */
static int expand(const struct compiler *c, const struct piece *pieces, size_t count)
{
	CV_BUF_SCOPE struct cv_buf one = CV_BUF(CV_GLOB_MAX + 1);
	size_t total = 0;
	size_t patterns = 1;

	for (size_t i = 0; i < count; i++)
		patterns *= CV_MAX(pieces[i].alternatives, (size_t)1);
	for (size_t n = 0; n < patterns; n++) {
		size_t rest = n;
		int rc = 0;

		one.len = 0;
		for (size_t i = 0; i < count && rc == 0; i++) {
			struct piece p = pieces[i];

			if (p.alternatives) {
				p = alternative(&pieces[i], rest % pieces[i].alternatives);
				rest /= pieces[i].alternatives;
			}
			rc = cv_buf_add(&one, p.text, p.len);
		}
		if (rc < 0)
			return no_memory(c);
		total += one.len;
		if (total > EXPANDED_MAX)
			return cv_fail_arg(c->err, c->field, "use fewer alternatives",
					   "is longer than %zu bytes once its braces are written "
					   "out",
					   EXPANDED_MAX);
		rc = compile(c, one.data);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int cv_glob_new(const char *pattern, const char *field, struct cv_glob **ret,
		struct cove_error *err)
{
	struct compiler c = {.glob = calloc(1, sizeof(*c.glob)), .field = field, .err = err};
	struct piece pieces[64] = {0};
	int rc;

	if (!c.glob)
		return no_memory(&c);
	c.glob->starts = calloc(EXPANSIONS_MAX, sizeof(*c.glob->starts));
	if (!c.glob->starts) {
		cv_glob_free(c.glob);
		return no_memory(&c);
	}
	rc = check_length(&c, pattern);
	if (rc == 0)
		rc = split(&c, pattern, pieces, CV_LEN(pieces));
	if (rc > 0)
		rc = expand(&c, pieces, (size_t)rc);
	if (rc < 0) {
		cv_glob_free(c.glob);
		return rc;
	}
	*ret = c.glob;
	return 0;
}

void cv_glob_free(struct cv_glob *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->count; i++)
		cv_wild_done(&g->segments[i].wild);
	free(g->segments);
	free(g->starts);
	free(g);
}

void cv_glob_state_done(struct cv_glob_state *s)
{
	free(s->at);
	*s = (struct cv_glob_state){0};
}

/* A double star at the end wants at least one name; one before that may stand for nothing. */
static void add_state(const struct cv_glob *g, struct cv_glob_state *s, size_t at)
{
	s->at[s->count++] = (uint32_t)at;
	if (g->segments[at].kind == SEGMENT_DIRS && g->segments[at + 1].kind != SEGMENT_END)
		s->at[s->count++] = (uint32_t)at + 1;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a;
	const uint32_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void drop_doubles(struct cv_glob_state *s)
{
	size_t kept = 0;

	if (s->count < 2)
		return;
	qsort(s->at, s->count, sizeof(*s->at), compare);
	for (size_t i = 1; i < s->count; i++)
		if (s->at[i] != s->at[kept])
			s->at[++kept] = s->at[i];
	s->count = kept + 1;
}

int cv_glob_start(const struct cv_glob *g, struct cv_glob_state *ret)
{
	struct cv_glob_state s = {.at = calloc(2 * g->start_count, sizeof(*s.at))};

	if (!s.at)
		return -ENOMEM;
	for (size_t i = 0; i < g->start_count; i++)
		add_state(g, &s, g->starts[i]);
	*ret = s;
	return 0;
}

/* Whether a segment takes a name that should not be seen. */
static bool lifts(const struct segment *seg, unsigned veil)
{
	return !veil || seg->kind == SEGMENT_LITERAL || (seg->dotted && veil == CV_VEIL_HIDDEN);
}

static bool takes(const struct segment *seg, const char *name, size_t len, unsigned veil)
{
	switch (seg->kind) {
	case SEGMENT_DIRS:
		return !veil;
	case SEGMENT_END:
		return false;
	default:
		return lifts(seg, veil) && cv_wild_match(&seg->wild, name, len);
	}
}

int cv_glob_step(const struct cv_glob *g, const struct cv_glob_state *s, const char *name,
		 size_t len, unsigned veil, struct cv_glob_state *ret_below)
{
	struct cv_glob_state below = {0};
	int result = 0;

	if (ret_below) {
		below.at = calloc(2 * s->count + 1, sizeof(*below.at));
		if (!below.at)
			return -ENOMEM;
	}
	for (size_t i = 0; i < s->count; i++) {
		size_t at = s->at[i];
		const struct segment *seg = &g->segments[at];

		if (!takes(seg, name, len, veil))
			continue;
		if (seg[1].kind == SEGMENT_END)
			result |= CV_GLOB_MATCH;
		if (seg->kind != SEGMENT_DIRS)
			at++;
		if (g->segments[at].kind == SEGMENT_END)
			continue;
		result |= CV_GLOB_BELOW;
		if (ret_below)
			add_state(g, &below, at);
	}
	if (ret_below) {
		drop_doubles(&below);
		*ret_below = below;
	}
	return result;
}

int cv_glob_match(const struct cv_glob *g, const char *path)
{
	struct cv_glob_state state = {0};
	int rc = cv_glob_start(g, &state);

	while (rc >= 0) {
		const char *slash = strchrnul(path, '/');
		struct cv_glob_state below = {0};

		rc = cv_glob_step(g, &state, path, (size_t)(slash - path), 0, &below);
		cv_glob_state_done(&state);
		state = below;
		if (*slash == '\0' || rc < 0)
			break;
		path = slash + 1;
	}
	cv_glob_state_done(&state);
	return rc < 0 ? rc : (rc & CV_GLOB_MATCH) != 0;
}
