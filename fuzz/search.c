/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions and texts: the lines that match are those that do by themselves, whatever helps to
 * find them faster.
 *
 * Input: a byte of options, a pattern, a NUL, and the text.
 */
#include "target.h"

#include "base/utf8.h"
#include "files/matcher.h"

/* Whether a line matches with nothing but itself before the matcher's eyes. */
static int alone(const struct cv_matcher *m, struct cv_match_tools *t, const char *p, size_t len)
{
	CV_FREE char *line = malloc(len + 4);
	struct cv_line found;

	memcpy(line, p, len);
	memset(line + len, '\n', 4);
	return len == 0 ? -1 : cv_matcher_next(m, t, line, line + len, &found);
}

static void compare(const struct cv_matcher *m, struct cv_match_tools *t, const char *p,
		    const char *end)
{
	const char *next = NULL; /* the line that matches next; end: none does */

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct cv_line line = {.start = end};
		int rc = alone(m, t, p, (size_t)((lf ? lf : end) - p));

		if (!next || next < p) {
			int all = cv_matcher_next(m, t, p, end, &line);

			if (all < 0)
				return;
			next = all == 1 ? line.start : end;
		}
		MUST(rc < 0 || rc == (next == p));
		p = lf ? lf + 1 : end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
	struct cv_match_tools *tools = NULL;
	struct cv_matcher *m = NULL;
	const uint8_t *pattern = data + 1;
	size_t len = nul ? size - (size_t)(nul - data) - 1 : 0;
	CV_FREE char *text = malloc(len + 4);

	if (!nul || nul == pattern || size > 2048 ||
	    memchr(pattern, '\n', (size_t)(nul - pattern)) ||
	    !cv_utf8_valid((const char *)pattern, (size_t)(nul - pattern)))
		return 0;
	memcpy(text, nul + 1, len);
	memset(text + len, '\n', 4);
	if (cv_matcher_new((const char *)pattern, data[0] & 1, data[0] & 2, &m, NULL) < 0)
		return 0;
	tools = cv_match_tools_new(m);
	compare(m, tools, text, text + len);
	cv_match_tools_free(tools);
	cv_matcher_free(m);
	return 0;
}
