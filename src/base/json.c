/* SPDX-License-Identifier: Apache-2.0 */
/* Glue to jansson. */
#include "base/json.h"

#include "base/utf8.h"

int cv_json_load(const char *data, size_t len, const char *what, json_t **ret,
		 struct cove_error *err)
{
	json_error_t e;
	json_t *j = json_loadb(data, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);

	if (!j) {
		cv_fail(err, COVE_E_INVALID_ARGUMENT, "%s is not valid JSON: %s at column %d", what,
			e.text, e.column);
		return COVE_E_INVALID_ARGUMENT;
	}
	*ret = j;
	return 0;
}

char *cv_json_dump(const json_t *j)
{
	return json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
}

json_t *cv_json_text(const char *s, size_t len)
{
	CV_FREE char *clean = NULL;

	if (cv_utf8_valid(s, len))
		return json_stringn_nocheck(s, len);
	clean = malloc(cv_utf8_clean_len(s, len) + 1);
	return clean ? json_stringn_nocheck(clean, cv_utf8_clean(clean, s, len)) : NULL;
}
