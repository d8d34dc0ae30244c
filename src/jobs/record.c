/* SPDX-License-Identifier: Apache-2.0 */
/* Checks one record of a task file. */
#include "jobs/record.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define BOM "\xEF\xBB\xBF"

int cv_record_refuse(const char *path, int64_t line, const char *field, const char *hint,
		     struct cove_error *err, const char *reason, ...)
{
	char text[sizeof(err->reason)];
	va_list ap;

	va_start(ap, reason);
	vsnprintf(text, sizeof(text), reason, ap);
	va_end(ap);
	cv_fail(err, COVE_E_INVALID_ARGUMENT, "%s:%lld: %s%s%s%s", path, (long long)line,
		field ? "'" : "", field ? field : "", field ? "' " : "", text);
	if (!err)
		return COVE_E_INVALID_ARGUMENT;
	cv_text_copy(err->reason, sizeof(err->reason), text);
	cv_text_copy(err->field, sizeof(err->field), field ? field : "");
	cv_text_copy(err->hint, sizeof(err->hint), hint ? hint : "");
	return cv_err_path(err, path);
}

/* Length of the white space that s begins with, as Unicode sees it; 0: none. */
static size_t blank_len(const char *s)
{
	static const char *const wide[] = {
		"\xC2\x85",	"\xC2\xA0",	"\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
		"\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
		"\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
		"\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80",
	};

	if (*s == ' ' || (*s >= '\t' && *s <= '\r') || (*s >= '\x1C' && *s <= '\x1F'))
		return 1;
	for (size_t i = 0; i < CV_LEN(wide); i++)
		if (strncmp(s, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

static bool is_blank(const json_t *j)
{
	const char *s = json_string_value(j);
	const char *end = s + json_string_length(j);

	while (s < end && blank_len(s) > 0)
		s += blank_len(s);
	return s == end;
}

/* What is wrong with a prompt; NULL: nothing. */
static const char *prompt_fault(const json_t *j)
{
	if (!json_is_string(j))
		return "is not a string";
	return is_blank(j) ? "is blank" : NULL;
}

static int check_prompt(const struct cv_record *rec, const char *path, struct cove_error *err)
{
	static const char hint[] =
		"give a string that is not blank, or a non-empty array of such strings";
	const json_t *prompt = json_object_get(rec->json, "prompt");
	char field[32];

	if (!prompt)
		return cv_record_refuse(path, rec->line, "prompt", hint, err, "is missing");
	if (!json_is_array(prompt)) {
		const char *fault = prompt_fault(prompt);

		return fault ? cv_record_refuse(path, rec->line, "prompt", hint, err, "%s", fault) :
			       0;
	}
	if (json_array_size(prompt) == 0)
		return cv_record_refuse(path, rec->line, "prompt", hint, err, "is an empty array");
	for (size_t i = 0; i < json_array_size(prompt); i++) {
		const char *fault = prompt_fault(json_array_get(prompt, i));

		snprintf(field, sizeof(field), "prompt[%zu]", i);
		if (fault)
			return cv_record_refuse(path, rec->line, field, hint, err, "%s", fault);
	}
	return 0;
}

static int check_keys(const struct cv_record *rec, const char *path, struct cove_error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(rec->json, key, value) {
		if (strcmp(key, "metadata") == 0 && !json_is_object(value))
			return cv_record_refuse(path, rec->line, key, NULL, err,
						"is not an object");
		if (strcmp(key, "metadata") != 0 && strcmp(key, "prompt") != 0)
			return cv_record_refuse(
				path, rec->line, key,
				"a record has prompt and metadata; put more into metadata", err,
				"is an unknown key");
	}
	return 0;
}

int cv_record_parse(struct cv_record *rec, const char *path, const char *text, size_t len,
		    struct cove_error *err)
{
	struct cove_error why = COVE_ERROR_INIT;
	int rc;

	if (rec->line == 1 && len >= 3 && memcmp(text, BOM, 3) == 0)
		return cv_record_refuse(path, 1, NULL, "save it as UTF-8 without a mark", err,
					"the file begins with a byte order mark");
	if (cv_json_load(text, len, "the line", &rec->json, &why) < 0)
		return cv_record_refuse(path, rec->line, NULL, NULL, err, "%s", why.message);
	if (!json_is_object(rec->json))
		rc = cv_record_refuse(path, rec->line, NULL, NULL, err,
				      "the line is not a JSON object");
	else if ((rc = check_keys(rec, path, err)) >= 0)
		rc = check_prompt(rec, path, err);
	if (rc < 0)
		cv_record_done(rec);
	return rc;
}

void cv_record_done(struct cv_record *rec)
{
	json_decref(TAKE(rec->json));
}

size_t cv_record_turns(const struct cv_record *rec)
{
	const json_t *prompt = json_object_get(rec->json, "prompt");

	return json_is_array(prompt) ? json_array_size(prompt) : 1;
}

const json_t *cv_record_prompt(const struct cv_record *rec, size_t turn)
{
	const json_t *prompt = json_object_get(rec->json, "prompt");

	return json_is_array(prompt) ? json_array_get(prompt, turn) : prompt;
}

json_t *cv_record_metadata(const struct cv_record *rec)
{
	json_t *metadata = json_object_get(rec->json, "metadata");

	return metadata ? json_incref(metadata) : json_object();
}
