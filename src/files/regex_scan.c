/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a regular expression for what helps to search faster. */
#include "files/regex_scan.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "files/literal.h"

struct scanner {
	const char *p;
	const char *end;
	int depth;
	bool lost;	   /* something that is not understood: no literal, line by line */
	bool by_line;	   /* something that an LF could match or be seen by */
	bool alternatives; /* at the top: no text is required */
	struct cv_buf run; /* characters that follow each other at the top */
	struct cv_buf best;
	int rc;
};

static bool at_end(const struct scanner *s)
{
	return s->p >= s->end;
}

/* The run has ended: it is kept if it is the best so far. */
static void end_run(struct scanner *s)
{
	if (s->run.len > 0 && cv_literal_score(s->run.data, s->run.len) >
				      cv_literal_score(s->best.data, s->best.len)) {
		s->best.len = 0;
		s->rc |= cv_buf_add(&s->best, s->run.data, s->run.len);
	}
	s->run.len = 0;
}

/* The length of {n}, {n,} or {n,m} at p; 0: it is none. */
static size_t counted(const char *p, const char *end)
{
	const char *q = p + 1;
	bool digits = q < end && *q >= '0' && *q <= '9';

	while (q < end && ((*q >= '0' && *q <= '9') || *q == ','))
		q++;
	return digits && q < end && *q == '}' ? (size_t)(q + 1 - p) : 0;
}

/* The length of a quantifier at p; 0: none. *ret_optional: it may be zero times. */
static size_t quantifier(struct scanner *s, bool *ret_optional)
{
	size_t n;

	*ret_optional = *s->p != '+';
	if (*s->p == '*' || *s->p == '?' || *s->p == '+')
		return 1;
	if (*s->p != '{')
		return 0;
	n = counted(s->p, s->end);
	s->lost |= n == 0; /* a brace that stands for itself, or is new */
	return n;
}

static void skip_quantifiers(struct scanner *s)
{
	bool optional;
	size_t n;

	while (!at_end(s) && (n = quantifier(s, &optional)) > 0)
		s->p += n;
}

/* One character that stands for itself, with what follows it. */
static void take_char(struct scanner *s, const char *c, size_t len)
{
	bool optional;
	size_t n = at_end(s) ? 0 : quantifier(s, &optional);

	if (c[0] == '\n')
		s->by_line = true;
	if (s->depth > 0) {
		skip_quantifiers(s);
		return;
	}
	if (n > 0 && optional)
		end_run(s);
	else
		s->rc |= cv_buf_add(&s->run, c, len);
	if (n > 0)
		end_run(s);
	skip_quantifiers(s);
}

/* Something that matches one of many characters. */
static void take_other(struct scanner *s)
{
	if (s->depth == 0)
		end_run(s);
	skip_quantifiers(s);
}

static void take_escape(struct scanner *s)
{
	static const char plain[] = "\\.+*?()|[]{}^$#&-~/\"'<>=!:;,@%_` ";
	char c = s->p[1];

	if (s->p + 1 >= s->end) {
		s->lost = true;
		s->p = s->end;
		return;
	}
	s->p += 2;
	if (strchr(plain, c)) {
		take_char(s, s->p - 1, 1);
	} else if (c == 't') {
		take_char(s, "\t", 1);
	} else if (strchr("wdSVNhHbB", c)) {
		/* None of them matches an LF, but for H; \b sees it as the end that it is. */
		s->by_line |= c == 'H';
		take_other(s);
	} else if (strchr("sWD", c)) {
		s->by_line = true;
		take_other(s);
	} else {
		s->lost = true;
	}
}

/* A class; one that excludes something could match an LF. */
static void take_class(struct scanner *s)
{
	const char *p = s->p + 1;

	if (p < s->end && *p == '^') {
		s->by_line = true;
		p++;
	}
	if (p < s->end && *p == ']')
		p++;
	for (; p < s->end && *p != ']'; p++) {
		if (*p == '[' && p + 1 < s->end && strchr(":.=", p[1])) {
			/* A named class, or not: only the plain case is worth it. */
			s->lost = true;
			return;
		}
		if (*p == '\\') {
			p++;
			if (p < s->end && strchr("sWDHNRXnrtbvxopPQEcfae0123456789", *p))
				s->by_line = true;
			if (p < s->end && (*p == 'Q' || *p == 'E'))
				s->lost = true;
		}
	}
	/* A range such as [!-~] has no LF in it unless it begins below one. */
	for (const char *q = s->p; q < p; q++)
		s->by_line |= (unsigned char)*q < ' ';
	s->lost |= p >= s->end;
	s->p = p < s->end ? p + 1 : s->end;
	take_other(s);
}

static void take_group(struct scanner *s)
{
	if (s->depth == 0)
		end_run(s);
	s->p++;
	s->depth++;
	if (at_end(s))
		return;
	if (*s->p == '*') {
		s->lost = true;
	} else if (*s->p == '?') {
		if (s->p + 1 < s->end && s->p[1] == ':')
			s->p += 2;
		else
			s->lost = true; /* options, looking around, names, conditions */
	}
}

static void take_one(struct scanner *s)
{
	char c = *s->p;

	switch (c) {
	case '\\':
		take_escape(s);
		break;
	case '[':
		take_class(s);
		break;
	case '(':
		take_group(s);
		break;
	case ')':
		s->depth--;
		s->lost |= s->depth < 0;
		s->p++;
		take_other(s);
		break;
	case '|':
		s->alternatives |= s->depth == 0;
		s->p++;
		break;
	case '.':
	case '^':
	case '$':
		s->p++;
		take_other(s);
		break;
	default: {
		bool cut;
		int n = cv_utf8_step(s->p, (size_t)(s->end - s->p), &cut);

		s->p += n > 0 ? n : 1;
		s->lost |= n <= 0;
		take_char(s, s->p - (n > 0 ? n : 1), n > 0 ? (size_t)n : 1);
	}
	}
}

int cv_regex_scan(const char *pattern, size_t len, struct cv_regex_scan *ret)
{
	struct scanner s = {
		.p = pattern,
		.end = pattern + len,
		.run = CV_BUF(len + 1),
		.best = CV_BUF(len + 1),
	};

	/* What is at the front may change the meaning of all that follows. */
	if (len >= 2 && pattern[0] == '(' && pattern[1] == '*')
		s.lost = true;
	while (!at_end(&s) && !s.lost)
		take_one(&s);
	end_run(&s);
	cv_buf_done(&s.run);
	*ret = (struct cv_regex_scan){.by_line = s.by_line || s.lost};
	if (s.rc != 0 || s.lost || s.alternatives || s.best.len == 0) {
		cv_buf_done(&s.best);
		return s.rc != 0 ? -ENOMEM : 0;
	}
	ret->literal = s.best.data;
	ret->literal_len = s.best.len;
	return 0;
}
