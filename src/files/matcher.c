/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that match a text or an expression. */
#include "files/matcher.h"

#include "files/regex_scan.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Steps of one match; some tens of milliseconds. */
#define MATCH_LIMIT_JIT 4000000
#define MATCH_LIMIT 500000
#define REPETITIONS_MAX 65535
#define DEPTH_LIMIT 20000
#define HEAP_LIMIT_KIB 4096
#define JIT_STACK_MIN ((size_t)32 << 10)
#define JIT_STACK_MAX ((size_t)512 << 10)
#define FIXED_OPTIONS                                                                              \
	(PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |                       \
	 PCRE2_NEVER_BACKSLASH_C)

struct cv_matcher {
	bool has_filter;
	struct cv_literal filter; /* what every match holds */
	pcre2_code *code;	  /* NULL: the filter decides */
	bool jit;
	bool by_line;
};

struct cv_match_tools {
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

static int no_memory(struct cove_error *err)
{
	return cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

/* The number of a {n} that p is the opening brace of; 0: it is none. */
static long repetitions(const char *p)
{
	char *end;
	long n = *p == '{' ? strtol(p + 1, &end, 10) : 0;

	return n > 0 && *end == '}' ? n : 0;
}

/* Whether a{n}{m} ends at `at`, and stands for more than an expression may be long. */
static bool repeats_too_often(const char *pattern, size_t at)
{
	const char *last = memrchr(pattern, '{', at);
	const char *first = last > pattern ? memrchr(pattern, '{', (size_t)(last - pattern)) : NULL;

	return first && last[-1] == '}' && repetitions(first) * repetitions(last) > REPETITIONS_MAX;
}

static int bad_pattern(const char *pattern, int code, size_t at, size_t shift,
		       struct cove_error *err)
{
	PCRE2_UCHAR text[256];

	if (pcre2_get_error_message(code, text, sizeof(text)) < 0)
		text[0] = '\0';
	switch (code) {
	case PCRE2_ERROR_QUANTIFIER_INVALID:
		if (!repeats_too_often(pattern, at))
			break;
		/* fall through */
	case PCRE2_ERROR_PATTERN_TOO_LARGE:
	case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
	case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
	case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
		cv_fail(err, COVE_E_TOO_LARGE,
			"the regular expression is too large once it is written out");
		cv_err_hint(err, "use smaller numbers of repetitions");
		return COVE_E_TOO_LARGE;
	case PCRE2_ERROR_HEAP_FAILED:
		return no_memory(err);
	default:
		break;
	}
	return cv_fail_arg(err, "pattern", "leave regex out to look for the text itself",
			   "is no regular expression: %s at byte %zu", text, at + shift);
}

static int compile(struct cv_matcher *m, const char *pattern, uint32_t options, size_t shift,
		   struct cove_error *err)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_SIZE at = 0;
	int code = 0;

	if (!context)
		return no_memory(err);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	m->code = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern), options, &code, &at, context);
	pcre2_compile_context_free(context);
	if (!m->code)
		return bad_pattern(pattern, code, at, shift, err);
	m->jit = pcre2_jit_compile(m->code, PCRE2_JIT_COMPLETE) == 0;
	return 0;
}

/* A letter whose case has more than the two ASCII forms: the Kelvin sign, the long s. */
static bool has_odd_case(unsigned char c)
{
	return c >= 0x80 || (c | 0x20) == 'k' || (c | 0x20) == 's';
}

/* The best stretch of text that the filter can find in either case. *ret_whole: it is all. */
static size_t foldable(const char *text, size_t len, size_t *ret_start, bool *ret_whole)
{
	size_t best = 0;
	size_t best_len = 0;

	for (size_t i = 0; i < len;) {
		size_t n = 0;

		while (i + n < len && !has_odd_case((unsigned char)text[i + n]))
			n++;
		if (n > 0 &&
		    cv_literal_score(text + i, n) > cv_literal_score(text + best, best_len)) {
			best = i;
			best_len = n;
		}
		i += n + 1;
	}
	*ret_start = best;
	*ret_whole = best_len == len;
	return best_len;
}

static int set_filter(struct cv_matcher *m, const char *text, size_t len, bool fold,
		      bool *ret_whole)
{
	size_t start = 0;

	*ret_whole = true;
	if (fold)
		len = foldable(text, len, &start, ret_whole);
	if (len == 0)
		return 0;
	m->has_filter = true;
	return cv_literal_init(&m->filter, text + start, len, fold);
}

static int make_text(struct cv_matcher *m, const char *pattern, bool fold, struct cove_error *err)
{
	bool whole;

	if (set_filter(m, pattern, strlen(pattern), fold, &whole) < 0)
		return no_memory(err);
	if (whole)
		return 0;
	return compile(m, pattern,
		       PCRE2_LITERAL | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_CASELESS, 0,
		       err);
}

/*
 * The length of a .* in front, which says nothing of whether a line matches; but it would be tried
 * at the beginning of a line only, and not behind bytes that are no characters.
 */
static size_t any_prefix(const char *pattern)
{
	size_t n = strncmp(pattern, ".*", 2) == 0 ? 2 : 0;

	if (n > 0 && pattern[n] == '?')
		n++;
	return n > 0 && pattern[n] != '\0' && !strchr("+*?{|", pattern[n]) ? n : 0;
}

static int make_regex(struct cv_matcher *m, const char *pattern, bool fold, struct cove_error *err)
{
	struct cv_regex_scan scan;
	size_t shift = 0;
	bool whole;
	int rc;

	if (strncmp(pattern, "(?i)", 4) == 0) {
		fold = true;
		shift = 4;
	}
	shift += any_prefix(pattern + shift);
	rc = compile(m, pattern + shift, FIXED_OPTIONS | (fold ? PCRE2_CASELESS : 0), shift, err);
	if (rc < 0)
		return rc;
	rc = cv_regex_scan(pattern + shift, strlen(pattern + shift), &scan);
	if (rc == 0 && scan.literal)
		rc = set_filter(m, scan.literal, scan.literal_len, fold, &whole);
	m->by_line = scan.by_line;
	free(scan.literal);
	return rc < 0 ? no_memory(err) : 0;
}

int cv_matcher_new(const char *pattern, bool regex, bool ignore_case, struct cv_matcher **ret,
		   struct cove_error *err)
{
	struct cv_matcher *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return no_memory(err);
	if (regex)
		rc = make_regex(m, pattern, ignore_case, err);
	else
		rc = make_text(m, pattern, ignore_case, err);
	if (rc < 0) {
		cv_matcher_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}

void cv_matcher_free(struct cv_matcher *m)
{
	if (!m)
		return;
	cv_literal_done(&m->filter);
	pcre2_code_free(m->code);
	free(m);
}

struct cv_match_tools *cv_match_tools_new(const struct cv_matcher *m)
{
	struct cv_match_tools *t = calloc(1, sizeof(*t));

	if (!t || !m->code)
		return t;
	t->data = pcre2_match_data_create(1, NULL);
	t->context = pcre2_match_context_create(NULL);
	if (m->jit)
		t->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
	if (!t->data || !t->context || (m->jit && !t->stack)) {
		cv_match_tools_free(t);
		return NULL;
	}
	if (m->jit)
		pcre2_jit_stack_assign(t->context, NULL, t->stack);
	pcre2_set_match_limit(t->context, m->jit ? MATCH_LIMIT_JIT : MATCH_LIMIT);
	pcre2_set_depth_limit(t->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(t->context, HEAP_LIMIT_KIB);
	return t;
}

void cv_match_tools_free(struct cv_match_tools *t)
{
	if (!t)
		return;
	pcre2_match_data_free(t->data);
	pcre2_match_context_free(t->context);
	pcre2_jit_stack_free(t->stack);
	free(t);
}

/* 1 and where the match is, 0, or -errno. */
static int match(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
		 const char *end, const char **ret, size_t *ret_len)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)p;
	size_t len = (size_t)(end - p);
	const PCRE2_SIZE *at;
	int rc = m->jit ? pcre2_jit_match(m->code, subject, len, 0, 0, t->data, t->context) :
			  pcre2_match(m->code, subject, len, 0, 0, t->data, t->context);

	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc == PCRE2_ERROR_NOMEMORY)
		return -ENOMEM;
	if (rc < 0)
		return -EOVERFLOW;
	at = pcre2_get_ovector_pointer(t->data);
	*ret = p + at[0];
	*ret_len = at[1] > at[0] ? at[1] - at[0] : 0;
	return 1;
}

/* The line of [p, end) that q is in; p begins one. */
static void find_line(const char *p, const char *end, const char *q, struct cv_line *ret)
{
	const char *lf = memrchr(p, '\n', (size_t)(q - p));

	ret->start = lf ? lf + 1 : p;
	lf = memchr(q, '\n', (size_t)(end - q));
	ret->end = lf ? lf : end;
}

static int next_filtered(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
			 const char *end, struct cv_line *ret)
{
	while (p < end) {
		const char *q = cv_literal_find(&m->filter, p, end);
		int rc = 1;

		if (!q)
			return 0;
		find_line(p, end, q, ret);
		ret->match = q;
		ret->match_len = m->filter.len;
		if (m->code)
			rc = match(m, t, ret->start, ret->end, &ret->match, &ret->match_len);
		if (rc != 0)
			return rc;
		p = ret->end + 1;
	}
	return 0;
}

static int next_by_line(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
			const char *end, struct cv_line *ret)
{
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		int rc;

		ret->start = p;
		ret->end = lf ? lf : end;
		rc = match(m, t, p, ret->end, &ret->match, &ret->match_len);
		if (rc != 0)
			return rc;
		p = ret->end + 1;
	}
	return 0;
}

int cv_matcher_next(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
		    const char *end, struct cv_line *ret)
{
	int rc;

	if (m->has_filter)
		return next_filtered(m, t, p, end, ret);
	if (m->by_line)
		return next_by_line(m, t, p, end, ret);
	rc = p < end ? match(m, t, p, end, &ret->match, &ret->match_len) : 0;
	/* Too much for all lines at once need not be too much for each. */
	if (rc == -EOVERFLOW)
		return next_by_line(m, t, p, end, ret);
	if (rc <= 0 || (ret->match == end && end[-1] == '\n'))
		return rc < 0 ? rc : 0;
	find_line(p, end, ret->match, ret);
	return 1;
}
