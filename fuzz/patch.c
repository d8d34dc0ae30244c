/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified diffs: read, and carried out; what comes out has as many lines as the hunks say.
 *
 * Input: two bytes with the length of the text, the text, and the diff.
 */
#include "target.h"

#include "base/utf8.h"
#include "files/patch.h"

#include <stdio.h>

static size_t count_lines(const char *s, size_t len)
{
	size_t n = len > 0 && s[len - 1] != '\n';

	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n';
	return n;
}

static void carry_out(const struct cv_file_patch *file, bool exact, const struct cove_bytes *text)
{
	CV_BUF_SCOPE struct cv_buf out = CV_BUF(1u << 26);
	CV_BUF_SCOPE struct cv_buf again = CV_BUF(1u << 26);
	struct cove_error err = COVE_ERROR_INIT;
	size_t lines = count_lines(text->data, text->len);
	int rc = cv_patch_apply(file, exact, text, &out, &err);

	MUST(rc <= 0 && rc == err.code && cv_utf8_valid(err.message, strlen(err.message)));
	if (rc < 0)
		return;
	for (size_t i = 0; i < file->hunk_count; i++) {
		lines += file->hunks[i].new_count;
		MUST(lines >= file->hunks[i].old_count);
		lines -= file->hunks[i].old_count;
	}
	MUST(count_lines(out.data, out.len) == lines);
	MUST(cv_patch_apply(file, exact, text, &again, NULL) == 0 && again.len == out.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size < 2 ? 0 : (size_t)(data[0] + data[1] * 256u);
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_patch patch = {0};
	CV_FREE char *diff = NULL;
	struct cove_bytes text;

	if (size < 2 || len > size - 2)
		return 0;
	text = (struct cove_bytes){.data = (const char *)data + 2, .len = len};
	diff = calloc(1, size - len);
	memcpy(diff, data + 2 + len, size - 2 - len);
	if (cv_patch_parse(&(struct cove_bytes){.data = diff, .len = size - 2 - len}, arena, &patch,
			   &err) == 0)
		for (size_t i = 0; i < patch.count; i++)
			carry_out(&patch.files[i], patch.has_cr, &text);
	return 0;
}
