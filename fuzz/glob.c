/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns: refused with a reason, or the same answer whichever way they are written.
 *
 * Input: a pattern, a NUL, and a path.
 */
#include "target.h"

#include "base/utf8.h"
#include "files/glob.h"

static int match(const char *pattern, const char *path)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_glob *g = NULL;
	int rc = cv_glob_new(pattern, "pattern", &g, &err);

	if (rc < 0) {
		MUST(err.code == rc && (rc != COVE_E_INVALID_ARGUMENT || err.hint[0]));
		return -1;
	}
	rc = cv_glob_match(g, path);
	MUST(rc == 0 || rc == 1);
	cv_glob_free(g);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t len = nul ? (size_t)(nul - data) : 0;
	CV_FREE char *pattern = NULL;
	CV_FREE char *path = NULL;
	CV_FREE char *deeper = NULL;
	int rc;

	if (!nul || size > 4096 || !cv_utf8_valid((const char *)data, len))
		return 0;
	pattern = strndup((const char *)data, len);
	path = strndup((const char *)nul + 1, size - len - 1);
	rc = match(pattern, path);
	/* Without a slash the depth does not matter. */
	if (rc >= 0 && !strchr(pattern, '/') && strcmp(pattern, "**") != 0) {
		MUST(asprintf(&deeper, "**/%s", pattern) > 0);
		MUST(strpbrk(pattern, "{}") || match(deeper, path) == rc);
	}
	return 0;
}
