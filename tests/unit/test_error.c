/* SPDX-License-Identifier: Apache-2.0 */
/* Errors (ERR-1, ERR-3), what is a secret, and how it is kept out of texts (ERR-4). */
#include "unit.h"

#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/utf8.h"

static struct cove_error err = COVE_ERROR_INIT;

START_TEST(err_3_errno_map)
{
	static const struct {
		int errnum;
		int code;
	} map[] = {
		{ENOENT, COVE_E_NOT_FOUND},
		{EEXIST, COVE_E_ALREADY_EXISTS},
		{EACCES, COVE_E_PERMISSION_DENIED},
		{EPERM, COVE_E_PERMISSION_DENIED},
		{EROFS, COVE_E_READ_ONLY},
		{ENOTDIR, COVE_E_NOT_DIRECTORY},
		{EISDIR, COVE_E_IS_DIRECTORY},
		{ENOTEMPTY, COVE_E_NOT_EMPTY},
		{ENOSPC, COVE_E_QUOTA_EXCEEDED},
		{EDQUOT, COVE_E_QUOTA_EXCEEDED},
		{ENOSYS, COVE_E_NOT_SUPPORTED},
		{EOPNOTSUPP, COVE_E_NOT_SUPPORTED},
		{ELOOP, COVE_E_INVALID_ARGUMENT},
		{ENAMETOOLONG, COVE_E_INVALID_ARGUMENT},
		{EINVAL, COVE_E_INVALID_ARGUMENT},
		{EBUSY, COVE_E_BUSY},
		{ETXTBSY, COVE_E_BUSY},
		{ESTALE, COVE_E_STALE},
		{EPIPE, COVE_E_UNAVAILABLE},
		{ECONNRESET, COVE_E_UNAVAILABLE},
		{EIO, COVE_E_INTERNAL},
		{EXDEV, COVE_E_INTERNAL},
		{99999, COVE_E_INTERNAL},
	};

	for (size_t i = 0; i < CV_LEN(map); i++) {
		ck_assert_int_eq(cv_code_of_errno(map[i].errnum), map[i].code);
		ck_assert_int_eq(cv_fail_errno(&err, map[i].errnum, "p", "can't"), map[i].code);
		ck_assert_int_eq(err.sys_errno, map[i].errnum);
		ck_assert_str_eq(err.path, "p");
		ck_assert_ptr_nonnull(strstr(err.message, strerror(map[i].errnum)));
	}
}
END_TEST

START_TEST(err_1_codes_and_names)
{
	for (int code = -1; code >= -30; code--) {
		ck_assert_int_eq(cv_code_of_name(cove_code_name(code)), code);
		ck_assert_int_ge(cove_code_exit(code), 1);
		ck_assert_int_le(cove_code_exit(code), 255);
		if (code != COVE_E_INTERNAL)
			ck_assert_str_ne(cove_code_name(code), "internal");
	}
	ck_assert_str_eq(cove_code_name(0), "ok");
	ck_assert_str_eq(cove_code_name(7), "internal");
	ck_assert_str_eq(cove_code_name(-31), "internal");
	ck_assert_int_eq(cv_code_of_name("ok"), COVE_E_INTERNAL);
	ck_assert_int_eq(cv_code_of_name(NULL), COVE_E_INTERNAL);
	ck_assert_int_eq(cove_code_exit(0), 0);
	ck_assert_int_eq(cove_code_exit(COVE_E_TIMEOUT), 124);
	ck_assert_int_eq(cove_code_exit(COVE_E_INVALID_ARGUMENT), 2);
	ck_assert_int_eq(cove_code_exit(5), 1);
}
END_TEST

START_TEST(err_1_stages_and_retries)
{
	for (int i = COVE_STAGE_NOT_DISPATCHED; i <= COVE_STAGE_UNKNOWN; i++)
		ck_assert_int_eq(cv_stage_of_name(cv_stage_name(i)), i);
	for (int i = COVE_RETRY_NEVER; i <= COVE_RETRY_RECONCILE_FIRST; i++)
		ck_assert_int_eq(cv_retry_of_name(cv_retry_name(i)), i);
	ck_assert_str_eq(cv_stage_name(0), "unknown");
	ck_assert_str_eq(cv_stage_name(9), "unknown");
	ck_assert_str_eq(cv_retry_name(-1), "never");
	ck_assert_int_eq(cv_stage_of_name("nonsense"), 0);
	ck_assert_int_eq(cv_stage_of_name(NULL), 0);
	ck_assert_int_eq(cv_retry_of_name(""), 0);
	cv_fail(&err, COVE_E_OUTCOME_UNKNOWN, "x");
	ck_assert_int_eq(err.retry, COVE_RETRY_RECONCILE_FIRST);
	cv_fail(&err, COVE_E_QUOTA_EXCEEDED, "x");
	ck_assert_int_eq(err.retry, COVE_RETRY_AFTER_CAPACITY);
}
END_TEST

/* n times é, after an "a" or none: every limit falls inside a code point once. */
static const char *accents(size_t n, bool shifted)
{
	static char text[8192];
	char *p = text;

	if (shifted)
		*p++ = 'a';
	for (size_t i = 0; i < n; i++) {
		*p++ = '\xC3';
		*p++ = '\xA9';
	}
	*p = '\0';
	return text;
}

static void is_cut(const char *s, size_t size)
{
	ck_assert_uint_lt(strlen(s), size);
	ck_assert_uint_ge(strlen(s) + 4, size - 1);
	ck_assert_msg(cv_utf8_valid(s, strlen(s)), "'%s' ends inside a code point", s);
}

START_TEST(err_1_texts_are_cut_on_a_code_point)
{
	for (int shifted = 0; shifted < 2; shifted++) {
		const char *text = accents(4000, shifted);

		cv_fail(&err, COVE_E_INTERNAL, "%s", text);
		is_cut(err.message, sizeof(err.message));
		cv_err_path(&err, text);
		is_cut(err.path, sizeof(err.path));
		cv_err_hint(&err, "%s", text);
		is_cut(err.hint, sizeof(err.hint));
		cv_fail_errno(&err, EIO, text, "%s", text);
		is_cut(err.message, sizeof(err.message));
		cv_fail_errno(&err, EIO, NULL, "%s", accents(505, shifted));
		is_cut(err.message, sizeof(err.message));
		cv_fail_arg(&err, text, text, "%s", text);
		is_cut(err.field, sizeof(err.field));
		is_cut(err.reason, sizeof(err.reason));
		is_cut(err.hint, sizeof(err.hint));
		ck_assert(cv_utf8_valid(err.message, strlen(err.message)));
	}
	ck_assert_uint_eq(sizeof(err.message), 1025);
	ck_assert_uint_eq(sizeof(err.field), 129);
}
END_TEST

START_TEST(err_1_no_error_wanted)
{
	ck_assert_int_eq(cv_fail(NULL, COVE_E_BUSY, "x"), COVE_E_BUSY);
	ck_assert_int_eq(cv_fail_errno(NULL, ENOENT, "p", "x"), COVE_E_NOT_FOUND);
	ck_assert_int_eq(cv_fail_arg(NULL, "f", "h", "x"), COVE_E_INVALID_ARGUMENT);
	cv_err_path(NULL, "p");
	cv_err_hint(NULL, "h");
	cv_err_operation(NULL, "o");
}
END_TEST

START_TEST(err_1_filling_starts_afresh)
{
	cv_fail_errno(&err, ENOENT, "p", "x");
	cv_err_operation(&err, "first");
	cv_err_operation(&err, "second");
	ck_assert_str_eq(err.operation, "first");
	ck_assert_uint_eq(err.size, sizeof(err));
	cv_fail(&err, COVE_E_BUSY, "y");
	ck_assert_str_eq(err.path, "");
	ck_assert_str_eq(err.operation, "");
	ck_assert_int_eq(err.sys_errno, 0);
	ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	cv_fail_arg(&err, "f", "be right", "is %s", "wrong");
	ck_assert_str_eq(err.message, "'f' is wrong; be right");
	ck_assert_str_eq(err.reason, "is wrong");
	cv_fail_arg(&err, "f", NULL, "is wrong");
	ck_assert_str_eq(err.message, "'f' is wrong");
}
END_TEST

START_TEST(err_1_json_that_is_none_says_where)
{
	json_t *j = NULL;

	ck_assert_int_eq(cv_json_load("{\"a\":1,\"a\":2}", 13, "the text", &j, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cv_json_load("{} x", 4, "the text", &j, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cv_json_load("", 0, "the text", &j, NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cv_json_load("[1,\n2,]", 7, "the text", &j, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(strncmp(err.message, "the text is not valid JSON", 26), 0);
	ck_assert_ptr_null(j);
	ck_assert_int_eq(cv_json_load("[1]", 3, "the text", &j, &err), 0);
	json_decref(j);
	j = cv_json_text("a\xFFz", 3);
	ck_assert_str_eq(json_string_value(j), "a\xEF\xBF\xBDz");
	json_decref(j);
}
END_TEST

static bool is_secret(const char *name)
{
	return cv_secret_name(name, strlen(name));
}

START_TEST(err_4_names_of_secrets)
{
	static const char *const yes[] = {"OPENAI_API_KEY", "aws_secret_access_key",
					  "GITHUB_TOKEN",   "X_SECRET",
					  "PGPASSWORD",	    "MY_PASSWORD_FILE",
					  "DB_PASSWD",	    "SSH_AUTH_SOCK",
					  "DOCKER_HOST",    "TOKEN",
					  "secret",	    "X_KEY_2"};
	static const char *const no[] = {"PATH", "HOME", "KEYBOARD",  "TOKENIZER", "MONKEY",
					 "",	 "KEY",	 "SECRETARY", "LANG",	   "PASS"};

	for (size_t i = 0; i < CV_LEN(yes); i++)
		ck_assert_msg(is_secret(yes[i]), "'%s'", yes[i]);
	for (size_t i = 0; i < CV_LEN(no); i++)
		ck_assert_msg(!is_secret(no[i]), "'%s'", no[i]);
	/* Only the name counts, not what stands behind it. */
	ck_assert(!cv_secret_name("A=B_KEY", 1));
}
END_TEST

static void redacted(const char *text, const char *want)
{
	char copy[200];

	snprintf(copy, sizeof(copy), "%s", text);
	cv_redact(copy);
	ck_assert_str_eq(copy, want);
}

START_TEST(err_4_redaction)
{
	redacted("", "");
	redacted("A_KEY=abc def", "A_KEY=*** def");
	redacted("x A_KEY='a b' y", "x A_KEY='***' y");
	redacted("A_TOKEN=\"a'b\" y", "A_TOKEN=\"***\" y");
	redacted("A_KEY=", "A_KEY=");
	redacted("A_KEY='never closed", "A_KEY='************");
	redacted("PATH=/bin A_KEY=\xC3\xA9x", "PATH=/bin A_KEY=***");
	redacted("Authorization: Bearer abc.DEF-1", "Authorization: Bearer *********");
	redacted("bearer a=/+~b, c", "bearer ******, c");
	redacted("use sk-abcdefgh now", "use sk-******** now");
	redacted("task-abcdefghij", "task-abcdefghij");
	redacted("sk-short", "sk-short");
	redacted("--token=abc", "--token=***");
	redacted("A_KEY=a\nB_KEY=b\n", "A_KEY=*\nB_KEY=*\n");
	redacted("nothing here", "nothing here");
}
END_TEST

START_TEST(err_4_redaction_keeps_length_and_validity)
{
	static const char *const pieces[] = {"A_KEY=", "bearer ", "sk-",      "abc", " ",
					     "\"",     "'",	  "\xC3\xA9", "=",   "_TOKEN",
					     "\n",     "x",	  "12345678"};

	for (int i = 0; i < 20000; i++) {
		char text[100] = "";
		size_t len = 0;

		while (len < 80) {
			const char *p = pieces[rng(CV_LEN(pieces))];

			memcpy(text + len, p, strlen(p));
			len += strlen(p);
		}
		cv_redact(text);
		if (strlen(text) != len || !cv_utf8_valid(text, len))
			ck_abort_msg("'%s'", text);
	}
}
END_TEST

START_TEST(err_4_errors_are_redacted)
{
	cv_fail(&err, COVE_E_INTERNAL, "can't use A_KEY=%s", "hush");
	ck_assert_str_eq(err.message, "can't use A_KEY=****");
	cv_fail_errno(&err, EIO, NULL, "bearer %s", "hush");
	ck_assert_ptr_null(strstr(err.message, "hush"));
	cv_fail_arg(&err, "env.set", NULL, "has A_TOKEN=%s", "hush");
	ck_assert_ptr_null(strstr(err.message, "hush"));
	ck_assert_ptr_null(strstr(err.reason, "hush"));
	/* Also where a limit falls inside the secret. */
	cv_fail_arg(&err, "f", NULL, "%0246d sk-0123456789abcdef", 0);
	ck_assert_ptr_null(strstr(err.reason, "sk-0"));
	cv_fail(&err, COVE_E_INTERNAL, "%01015d sk-0123456789abcdef", 0);
	ck_assert_ptr_null(strstr(err.message, "sk-0"));
}
END_TEST

UNIT_MAIN("error", err_3_errno_map, err_1_codes_and_names, err_1_stages_and_retries,
	  err_1_texts_are_cut_on_a_code_point, err_1_no_error_wanted, err_1_filling_starts_afresh,
	  err_1_json_that_is_none_says_where, err_4_names_of_secrets, err_4_redaction,
	  err_4_redaction_keeps_length_and_validity, err_4_errors_are_redacted)
