/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation table: every request and result goes both ways in both forms, whatever its fields
 * are; and what a host does not believe. A new row is tested by being there.
 */
#include "ops_fill.h"

#include "ops/fields.h"

#include <cove/output.h>

/*
 * The JSON of a result is for people: it need not be readable where it holds output as text, or
 * null.
 */
static bool is_readable(const struct cv_struct *s, bool is_request)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->fields[i].type == CV_OUTPUT)
			return false;
	return is_request || fill_rarity == 1;
}

static void both_forms(const struct cv_struct *s, const void *src, bool is_request)
{
	there_and_back(s, src, is_request, CV_FORM_WIRE);
	if (is_readable(s, is_request))
		there_and_back(s, src, is_request, CV_FORM_JSON);
}

static void clear_wire_only(const struct cv_struct *s, void *src)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];

		if (f->flags & CV_WIRE_ONLY)
			memset(cv_at(f, src), 0, size_of(f));
		if (f->type != CV_OBJV)
			continue;
		for (size_t k = 0; k < *(size_t *)((char *)src + f->offset2); k++)
			clear_wire_only(f->sub, *(char **)cv_at(f, src) + k * f->sub->size);
	}
}

/* Outputs are always there; a fresh result without them is none that a guest sends. */
static void fill_outputs(const struct cv_struct *s, void *src)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->fields[i].type == CV_OUTPUT)
			fill_field(&s->fields[i], src, false);
}

static void round_trips(const struct cv_struct *s, bool is_request)
{
	void *src;

	for (size_t i = 0; i < s->count; i++)
		for (int n = 0; n < 8; n++) {
			fill_rarity = 2;
			src = fresh(s);
			fill_outputs(s, src);
			fill_field(&s->fields[i], src, is_request);
			there_and_back(s, src, is_request, CV_FORM_WIRE);
			clear_wire_only(s, src);
			both_forms(s, src, is_request);
		}
	for (int n = 0; n < 60; n++) {
		fill_rarity = 1 + (unsigned)n % 3;
		src = fresh(s);
		fill_struct(s, src, is_request);
		there_and_back(s, src, is_request, CV_FORM_WIRE);
		clear_wire_only(s, src);
		both_forms(s, src, is_request);
	}
	fill_rarity = 2;
	src = fresh(s);
	fill_outputs(s, src);
	both_forms(s, src, is_request);
}

START_TEST(requests_go_both_ways)
{
	for (int i = 0; i < CV_OP_COUNT; i++)
		round_trips(cv_operations[i].req, true);
	end_all();
}
END_TEST

START_TEST(results_go_both_ways)
{
	for (int i = 0; i < CV_OP_COUNT; i++)
		round_trips(cv_operations[i].res, false);
	end_all();
}
END_TEST

START_TEST(a_request_says_only_what_was_set)
{
	for (int i = 0; i < CV_OP_COUNT; i++) {
		const struct cv_struct *s = cv_operations[i].req;
		json_t *j = cv_encode(s, fresh(s), true, CV_FORM_JSON, NULL);

		ck_assert_msg(json_object_size(j) == 0, "%s", cv_operations[i].name);
		json_decref(j);
	}
	end_all();
}
END_TEST

/* An empty stdin is not the same as none. */
START_TEST(given_but_empty_bytes_stay_given)
{
	for (int i = 0; i < CV_OP_COUNT; i++)
		for (size_t k = 0; k < cv_operations[i].req->count; k++) {
			const struct cv_field *f = &cv_operations[i].req->fields[k];
			void *src = fresh(cv_operations[i].req);

			if (f->type != CV_BYTES && f->type != CV_TEXT)
				continue;
			*(struct cove_bytes *)cv_at(f, src) = (struct cove_bytes){.data = ""};
			there_and_back(top, src, true, CV_FORM_WIRE);
			ck_assert_ptr_nonnull(((struct cove_bytes *)cv_at(f, got))->data);
			there_and_back(top, src, true, CV_FORM_JSON);
			ck_assert_ptr_nonnull(((struct cove_bytes *)cv_at(f, got))->data);
		}
	end_all();
}
END_TEST

START_TEST(bytes_that_are_text_are_a_string)
{
	struct cove_output_read_result r = {.data = {.data = "\xC3\xA9\n", .len = 3}};
	json_t *j;

	for (int text = 0; text < 2; text++) {
		r.is_text = text;
		j = cv_encode(&cv_struct_output_read_result, &r, false, CV_FORM_JSON, NULL);
		ck_assert_int_eq(json_object_get(j, "text") != NULL, text);
		ck_assert_int_eq(json_object_get(j, "data") != NULL, !text);
		ck_assert_str_eq(json_string_value(json_object_get(j, text ? "text" : "data")),
				 text ? "\xC3\xA9\n" : "w6kK");
		ck_assert_ptr_null(json_object_get(j, "is_text"));
		json_decref(j);
	}
}
END_TEST

static void check_resolved(const struct cv_struct *s, const void *p)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];
		const void *v = cv_at(f, p);

		if (f->type == CV_INT)
			ck_assert_msg(*(const int64_t *)v == f->def, "%s.%s", s->name, f->name);
		else if (f->type == CV_ENUM)
			ck_assert_msg(*(const int *)v == f->def, "%s.%s", s->name, f->name);
		else if (f->type == CV_TRI)
			ck_assert_msg(*(const int *)v == 1, "%s.%s", s->name, f->name);
		else if (f->type == CV_OBJ)
			check_resolved(f->sub, v);
	}
}

static void set_zeros(const struct cv_struct *s, void *p)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];

		if (f->type == CV_TRI)
			*(int *)cv_at(f, p) = COVE_ZERO;
		else if (f->type == CV_INT && (f->flags & CV_ZERO_OK))
			*(int64_t *)cv_at(f, p) = COVE_ZERO;
		else if (f->type == CV_OBJ)
			set_zeros(f->sub, cv_at(f, p));
	}
}

static void check_zeros(const struct cv_struct *s, void *p)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];

		if (f->type == CV_TRI)
			ck_assert_msg(*(int *)cv_at(f, p) == 0, "%s.%s", s->name, f->name);
		else if (f->type == CV_INT && (f->flags & CV_ZERO_OK))
			ck_assert_msg(*(int64_t *)cv_at(f, p) == 0, "%s.%s", s->name, f->name);
		else if (f->type == CV_OBJ)
			check_zeros(f->sub, cv_at(f, p));
	}
}

START_TEST(defaults_and_zeros_are_resolved)
{
	for (int i = 0; i < CV_OP_COUNT; i++) {
		const struct cv_struct *s = cv_operations[i].req;
		void *p = fresh(s);

		cv_resolve_defaults(s, p);
		check_resolved(s, p);
		p = fresh(s);
		set_zeros(s, p);
		there_and_back(s, p, true, CV_FORM_JSON);
		there_and_back(s, p, true, CV_FORM_WIRE);
		cv_resolve_defaults(s, got);
		check_zeros(s, got);
	}
	end_all();
}
END_TEST
static bool is_word(const char *s, const char *more)
{
	char known[64];

	snprintf(known, sizeof(known), "abcdefghijklmnopqrstuvwxyz_%s", more);
	return s && s[0] && strspn(s, known) == strlen(s);
}

/* A few words, without a full stop. */
static bool is_doc(const char *s)
{
	size_t len = s ? strlen(s) : 0;

	return len > 3 && (s[len - 1] != '.' || s[len - 2] == ' ');
}

static void check_rows(const struct cv_struct *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];

		ck_assert_msg(is_word(f->name, ""), "%s has a field '%s'", s->name, f->name);
		ck_assert_msg(is_doc(f->doc), "%s.%s", s->name, f->name);
		ck_assert_msg(f->offset + size_of(f) <= s->size, "%s.%s", s->name, f->name);
		ck_assert_msg(f->type != CV_ENUM || f->names, "%s.%s", s->name, f->name);
		ck_assert_msg(f->type != CV_INT || f->min <= f->max || f->max == 0, "%s.%s",
			      s->name, f->name);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(s->fields[k].name, f->name);
		if (f->sub && f->sub != s)
			check_rows(f->sub);
	}
}

START_TEST(the_table_is_sound)
{
	for (int i = 0; i < CV_OP_COUNT; i++) {
		const struct cv_op *op = &cv_operations[i];

		ck_assert_int_eq(op->id, i);
		ck_assert_ptr_eq(cv_op_find(op->name), op);
		ck_assert(strchr(op->name, '.') && is_word(op->name, "."));
		ck_assert(is_doc(op->doc));
		ck_assert_uint_lt(strlen(op->name), sizeof(err.operation));
		ck_assert(op->access == CV_ACCESS_READ || (op->flags & CV_OP_MUTATES));
		check_rows(op->req);
		check_rows(op->res);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(cv_operations[k].name, op->name);
	}
	ck_assert_ptr_null(cv_op_find("no.such"));
	ck_assert_ptr_null(cv_op_find(""));
}
END_TEST

/* What a guest may send and a host must not believe. */
START_TEST(wire_more_bytes_than_follow)
{
	static const char *const texts[] = {"{\"data\":4}", "{\"data\":-1}", "{\"data\":\"YQ==\"}",
					    "{\"data\":9223372036854775807}", "{\"data\":null}"};

	for (size_t i = 0; i < CV_LEN(texts); i++)
		ck_assert_int_eq(decode_text(&cv_struct_file_read_bytes_result, texts[i],
					     CV_FORM_WIRE, "abc", 3),
				 COVE_E_PROTOCOL_ERROR);
	ck_assert_int_eq(decode_text(&cv_struct_file_read_bytes_result, "{\"data\":3}",
				     CV_FORM_WIRE, "abc", 3),
			 0);
	end_all();
}
END_TEST

static int output(const char *numbers, const char *raw, size_t len)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"stdout\":%s}", numbers);
	return decode_text(&cv_struct_process_exec_result, text, CV_FORM_WIRE, raw, len);
}

START_TEST(wire_output_that_can_not_be)
{
	static const char *const bad[] = {
		"[10,11,10,50]",    "[10,-1,10,50]",
		"[10,10,9,50]",	    "[10,10,10,-1]",
		"[11,10,11,50]",    "[10,10,10,99999999]",
		"[-1,0,0,50]",	    "[]",
		"[10,5,-5,50]",	    "5",
		"[10,\"x\",-1,50]", "{}",
	};

	for (size_t i = 0; i < CV_LEN(bad); i++)
		ck_assert_msg(output(bad[i], "0123456789", 10) == COVE_E_PROTOCOL_ERROR, "%s",
			      bad[i]);
	ck_assert_int_eq(output("[10,10,10,50]", "0123456789", 10), 0);
	ck_assert_str_eq(((struct cove_exec_result *)got)->out.text, "0123456789");
	end_all();
}
END_TEST

/* A gap behind everything that was sent: nothing may be shown twice, nor more than was sent. */
START_TEST(wire_output_with_its_gap_at_the_end)
{
	char raw[1000];
	const struct cove_output *out;

	memset(raw, 0xFF, sizeof(raw));
	ck_assert_int_eq(output("[1000,1000,1001,67108864]", raw, sizeof(raw)), 0);
	out = &((struct cove_exec_result *)got)->out;
	ck_assert(out->truncated && out->lossy);
	ck_assert_int_eq(out->shown, 1000);
	ck_assert_ptr_nonnull(strstr(out->text, "[... 1 bytes left out ...]"));
	ck_assert_int_eq(output("[1000,0,1001,67108864]", raw, sizeof(raw)), 0);
	ck_assert_int_eq(((struct cove_exec_result *)got)->out.shown, 1000);
	end_all();
}
END_TEST

START_TEST(errors_go_both_ways)
{
	struct cove_error back = COVE_ERROR_INIT;
	json_t *j;

	for (int code = -1; code >= -30; code--) {
		cv_fail_arg(&err, "env.set", "be right", "is wrong");
		cv_err_path(&err, "/a\"b");
		cv_err_operation(&err, "file.stat");
		err.code = code;
		err.sys_errno = -code;
		err.stage = 1 + -code % 4;
		err.retry = 1 + -code % 5;
		j = cv_error_encode(&err);
		ck_assert_int_eq(cv_error_decode(j, &back), code);
		ck_assert_int_eq(cv_error_decode(j, NULL), code);
		ck_assert_mem_eq(&back, &err, sizeof(err));
		json_decref(j);
	}
	ck_assert_int_eq(cv_error_decode(NULL, &back), COVE_E_INTERNAL);
	ck_assert_str_eq(back.message, "");
}
END_TEST

UNIT_MAIN("ops", requests_go_both_ways, results_go_both_ways, a_request_says_only_what_was_set,
	  given_but_empty_bytes_stay_given, bytes_that_are_text_are_a_string,
	  defaults_and_zeros_are_resolved, the_table_is_sound, wire_more_bytes_than_follow,
	  wire_output_that_can_not_be, wire_output_with_its_gap_at_the_end, errors_go_both_ways)
