/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ignore files: any text has a meaning, and a line that is put behind it decides.
 *
 * Input: a path, a NUL, and the text.
 */
#include "target.h"

#include "files/ignore.h"

static enum cv_ignore_answer ask(const char *text, size_t len, const char *path)
{
	struct cv_ignore *ig = NULL;
	const char *slash = strrchr(path, '/');
	enum cv_ignore_answer answer = CV_IGNORE_SILENT;

	MUST(cv_ignore_new(text, len, &ig) == 0);
	if (ig)
		answer = cv_ignore_check(ig, path, strlen(path), slash ? slash + 1 : path, true);
	cv_ignore_free(ig);
	return answer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t len = nul ? size - (size_t)(nul - data) - 1 : 0;
	CV_FREE char *text = NULL;
	CV_FREE char *path = NULL;

	if (!nul || size > 4096)
		return 0;
	path = strndup((const char *)data, (size_t)(nul - data));
	text = malloc(len + 8);
	memcpy(text, nul + 1, len);
	ask(text, len, path);
	memcpy(text + len, "\n!/**\n*", 7);
	MUST(path[0] == '\0' || ask(text, len + 5, path) == CV_IGNORE_NO);
	MUST(ask(text, len + 7, path) == CV_IGNORE_YES);
	return 0;
}
