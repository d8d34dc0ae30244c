/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and results of every operation: decoded, checked, encoded, and a request decoded to the
 * same again.
 *
 * Input: a letter (q request, r result; capital: the wire's form), the operation, LF, JSON, LF,
 * raw bytes.
 */
#include "target.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "ops/table.h"

/* What the decoded struct says, with its raw bytes behind it; false where it is refused. */
static bool pass(const struct cv_op *op, bool is_request, enum cv_form form, const char *text,
		 size_t len, struct cv_buf *ret)
{
	const struct cv_struct *s = is_request ? op->req : op->res;
	size_t end = (size_t)((const char *)memchr(text, '\n', len) - text);
	CV_JSON json_t *j = json_loadb(text, end, JSON_ALLOW_NUL, NULL);
	struct cv_body in = {.data = text + end + 1, .len = len - end - 1};
	struct cv_body out __attribute__((cleanup(cv_body_done))) = {0};
	struct cove_error err = COVE_ERROR_INIT;
	void *p;
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(s->size, &p);
	CV_JSON json_t *again = NULL;
	CV_FREE char *said = NULL;
	int rc = j ? cv_decode(s, j, form, &in, arena, p, &err) : COVE_E_INVALID_ARGUMENT;

	if (rc == 0 && is_request)
		rc = cv_op_check(op, p, &err);
	MUST(rc <= 0 && cv_utf8_valid(err.message, strlen(err.message)));
	if (rc < 0)
		return false;
	again = cv_encode(s, p, is_request, is_request ? form : CV_FORM_JSON, &out);
	said = cv_json_dump(again);
	MUST(said && cv_buf_addf(ret, "%s\n", said) == 0);
	for (size_t i = 0; i < out.count; i++)
		MUST(cv_buf_add(ret, out.parts[i].data, out.parts[i].len) == 0);
	cv_resolve_defaults(s, p);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = size ? memchr(data, '\n', size) : NULL;
	size_t at = line ? (size_t)(line - (const char *)data) : 0;
	bool is_request = at && (data[0] | 0x20) == 'q';
	enum cv_form form = at && data[0] < 'a' ? CV_FORM_WIRE : CV_FORM_JSON;
	CV_BUF_SCOPE struct cv_buf first = CV_BUF(1u << 26);
	CV_BUF_SCOPE struct cv_buf second = CV_BUF(1u << 26);
	char name[64] = "";
	const struct cv_op *op;

	if (at == 0 || at > sizeof(name) || !memchr(line + 1, '\n', size - at - 1))
		return 0;
	memcpy(name, data + 1, at - 1);
	op = cv_op_find(name);
	if (!op || !pass(op, is_request, form, line + 1, size - at - 1, &first) || !is_request)
		return 0;
	MUST(pass(op, true, form, first.data, first.len, &second));
	MUST(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	return 0;
}
