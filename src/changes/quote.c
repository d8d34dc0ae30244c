/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a patch. */
#include "changes/changes.h"

#include "base/buf.h"

static const char *const escapes[] = {"\aa", "\bb", "\tt",  "\nn", "\vv",
				      "\ff", "\rr", "\"\"", "\\\\"};

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7F && c != '"' && c != '\\';
}

static int add_escaped(struct cv_buf *dst, unsigned char c)
{
	for (size_t i = 0; i < CV_LEN(escapes); i++)
		if (c == (unsigned char)escapes[i][0])
			return cv_buf_addf(dst, "\\%c", escapes[i][1]);
	return cv_buf_addf(dst, "\\%03o", c);
}

int cv_quote_name(struct cv_buf *dst, const char *prefix, const char *path)
{
	const char *p = path;
	int rc;

	while (*p && is_plain((unsigned char)*p))
		p++;
	if (!*p)
		return cv_buf_addf(dst, "%s%s", prefix, path);
	rc = cv_buf_addf(dst, "\"%s", prefix);
	for (p = path; rc == 0 && *p; p++)
		rc = is_plain((unsigned char)*p) ? cv_buf_add(dst, p, 1) :
						   add_escaped(dst, (unsigned char)*p);
	return rc < 0 ? rc : cv_buf_adds(dst, "\"");
}
