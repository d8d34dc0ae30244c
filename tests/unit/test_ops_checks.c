/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad requests: whatever a row of the operation table says of a field is enforced, and the error
 * names it (ERR-2).
 */
#include "ops_fill.h"

#include "ops/fields.h"

#include <cove/files.h>

static void refused(int rc, const char *field, const char *text)
{
	ck_assert_msg(rc == COVE_E_INVALID_ARGUMENT, "%s: '%s' is not refused: %d", top->name, text,
		      rc);
	ck_assert_msg(strcmp(err.field, field) == 0, "%s: %s blames '%s', not '%s'", top->name,
		      text, err.field, field);
	ck_assert(err.reason[0] && strstr(err.message, err.reason));
	ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	ck_assert_int_eq(err.retry, COVE_RETRY_NEVER);
}

/*
 * Calls fn for each field of requests, nested ones too, with their full names and the brackets
 * around them.
 */
struct visit {
	char name[130];
	char before[200];
	char after[20];
};

typedef void visitor(const struct cv_field *f, const struct visit *v);

static void visit_struct(const struct cv_struct *s, const struct visit *outer, visitor *fn)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_field *f = &s->fields[i];
		struct visit v;

		if (f->flags & CV_WIRE_ONLY)
			continue;
		snprintf(v.name, sizeof(v.name), "%.60s%s", outer->name, f->name);
		snprintf(v.before, sizeof(v.before), "%.100s{\"%s\":", outer->before, f->name);
		snprintf(v.after, sizeof(v.after), "}%s", outer->after);
		fn(f, &v);
		if (f->type != CV_OBJ && f->type != CV_OBJP)
			continue;
		snprintf(v.name + strlen(v.name), 2, ".");
		visit_struct(f->sub, &v, fn);
	}
}

static void visit_requests(visitor *fn)
{
	for (int i = 0; i < CV_OP_COUNT; i++) {
		top = cv_operations[i].req;
		visit_struct(top, &(struct visit){0}, fn);
	}
	end_all();
}

/* Fills in what must be given and is not yet, but for the one that a test has given. */
static void set_required(const struct cv_struct *s, void *p, const char *given)
{
	static const char zeros[64];

	fill_rarity = 1;
	for (size_t i = 0; i < s->count; i++)
		if ((s->fields[i].flags & CV_REQUIRED) && strcmp(s->fields[i].name, given) != 0 &&
		    memcmp(cv_at(&s->fields[i], p), zeros, size_of(&s->fields[i])) == 0)
			fill_field(&s->fields[i], p, true);
}

static int decode_and_check(const struct visit *v, const char *value)
{
	char text[400];
	int rc;

	snprintf(text, sizeof(text), "%s%s%s", v->before, value, v->after);
	rc = decode_json(top, text);
	if (rc < 0)
		return rc;
	if (!fill_arena)
		fill_arena = cv_arena_new(0, NULL);
	set_required(top, got, v->name);
	return cv_check(top, got, &err);
}

static void wrong_types(const struct cv_field *f, const struct visit *v)
{
	static const char *const values[][7] = {
		[CV_BOOL] = {"1", "\"true\"", "null", "[]", "{}"},
		[CV_TRI] = {"1", "\"true\"", "null", "[]", "{}"},
		[CV_INT] = {"\"1\"", "1.5", "true", "null", "[]", "{}"},
		[CV_ENUM] = {"1", "\"no_such\"", "\"\"", "true", "[]", "{}"},
		[CV_STR] = {"1", "null", "true", "[]", "{}", "\"a\\u0000b\""},
		[CV_STRV] = {"\"x\"", "{}", "[1]", "null", "[[]]", "[\"a\\u0000b\"]"},
		[CV_MAP] = {"\"x\"", "[]", "{\"a\":1}", "null", "{\"a\":\"\\u0000\"}",
			    "{\"\":\"x\"}", "{\"a=b\":\"x\"}"},
		[CV_BYTES] = {"1", "null", "\"?\"", "\"AB==\"", "[]", "{}"},
		[CV_TEXT] = {"1", "null", "true", "[]", "{}", "\"a\\u0000b\""},
		[CV_OBJ] = {"1", "null", "\"x\"", "[]", "true"},
		[CV_OBJP] = {"1", "null", "\"x\"", "[]", "true"},
		[CV_OBJV] = {"1", "null", "\"x\"", "{}", "true"},
	};

	ck_assert_uint_lt(f->type, CV_LEN(values));
	for (size_t i = 0; i < 7 && values[f->type][i]; i++) {
		const char *value = values[f->type][i];

		refused(decode_and_check(v, value), v->name, value);
	}
}

START_TEST(err_2_wrong_types)
{
	visit_requests(wrong_types);
	for (int i = 0; i < CV_OP_COUNT; i++) {
		top = cv_operations[i].req;
		refused(decode_json(top, "[]"), "arguments", "[]");
		refused(decode_json(top, "\"x\""), "arguments", "x");
		refused(decode_json(top, "null"), "arguments", "null");
	}
	end_all();
}
END_TEST

static void unknown_within(const struct cv_field *f, const struct visit *v)
{
	char name[160];

	if (f->type != CV_OBJ && f->type != CV_OBJP)
		return;
	snprintf(name, sizeof(name), "%s.no_such", v->name);
	refused(decode_and_check(v, "{\"no_such\":1}"), name, "no_such");
	ck_assert_ptr_nonnull(strstr(err.hint, f->sub->fields[0].name));
}

START_TEST(err_2_unknown_fields)
{
	for (int i = 0; i < CV_OP_COUNT; i++) {
		const struct cv_struct *s = top = cv_operations[i].req;

		refused(decode_json(s, "{\"no_such\":1}"), "no_such", "no_such");
		if (s->count > 0)
			ck_assert_ptr_nonnull(strstr(err.hint, s->fields[0].name));
		/* Where size is a field, it is not the one that every options struct begins with. */
		if (i != CV_OP_ID_FILE_TRUNCATE)
			refused(decode_json(s, "{\"size\":1}"), "size", "size");
		refused(decode_json(s, "{\"\":1}"), "", "an empty name");
		for (size_t k = 0; k < s->count; k++) {
			char text[100];

			snprintf(text, sizeof(text), "{\"%s\":true}", s->fields[k].name);
			if (s->fields[k].flags & CV_WIRE_ONLY)
				refused(decode_json(s, text), s->fields[k].name, text);
		}
	}
	visit_requests(unknown_within);
}
END_TEST

/* A name longer than any field, cut on a code point (ERR-1). */
START_TEST(err_2_an_unknown_field_of_any_length)
{
	char text[700] = "{\"x";

	while (strlen(text) < 600)
		memcpy(text + strlen(text), "\xC3\xA9", 3);
	memcpy(text + strlen(text), "\":1}", 5);
	ck_assert_int_eq(decode_json(&cv_struct_file_path, text), COVE_E_INVALID_ARGUMENT);
	ck_assert_uint_le(strlen(err.field), 128);
	ck_assert_uint_ge(strlen(err.field), 126);
	ck_assert_uint_eq(strlen(err.field) % 2, 1);
	end_all();
}
END_TEST

static void out_of_range(const struct cv_field *f, const struct visit *v)
{
	const int64_t values[] = {
		f->min - 1, f->max == INT64_MAX ? INT64_MIN : f->max + 1,
		INT64_MIN,  f->max == INT64_MAX ? INT64_MIN : INT64_MAX,
		COVE_ZERO,  f->min > 0 || (f->def && !(f->flags & CV_ZERO_OK)) ? 0 : -2};
	char value[32];

	if (f->type != CV_INT)
		return;
	for (size_t i = 0; i < CV_LEN(values); i++) {
		if (values[i] == 0 && i == 0)
			continue;
		snprintf(value, sizeof(value), "%lld", (long long)values[i]);
		refused(decode_and_check(v, value), v->name, value);
	}
}

static void in_range(const struct cv_field *f, const struct visit *v)
{
	const int64_t values[] = {f->min, f->max, CV_MAX(f->min, 1)};
	char value[32];

	if (f->type != CV_INT)
		return;
	for (size_t i = 0; i < CV_LEN(values); i++) {
		if (values[i] == 0 && f->def != 0 && !(f->flags & CV_ZERO_OK))
			continue;
		snprintf(value, sizeof(value), "%lld", (long long)values[i]);
		err.field[0] = '\0';
		decode_and_check(v, value);
		ck_assert_msg(strcmp(err.field, v->name) != 0, "%s: %s", top->name, err.message);
	}
}

START_TEST(err_2_integers_out_of_range)
{
	visit_requests(out_of_range);
	visit_requests(in_range);
}
END_TEST

static char *long_text(size_t len)
{
	char *s = malloc(len + 1);

	memset(s, 'a', len);
	s[len] = '\0';
	return s;
}

/* Longest and one more, in C structs. */
static void lengths(const struct cv_field *f, void *p)
{
	size_t max = (size_t)(f->max ? f->max : INT64_C(1) << 20);
	CV_FREE char *s = long_text(max + 1);

	if (f->type == CV_STR)
		*(const char **)cv_at(f, p) = s;
	else
		*(struct cove_bytes *)cv_at(f, p) = (struct cove_bytes){.data = s, .len = max + 1};
	refused(cv_check(top, p, &err), f->name, "too long");
	s[max] = '\0';
	if (f->type != CV_STR)
		((struct cove_bytes *)cv_at(f, p))->len = max;
	ck_assert_int_eq(cv_check(top, p, &err), 0);
	if (f->type == CV_BYTES)
		return;
	s[max / 2] = '\xFF';
	refused(cv_check(top, p, &err), f->name, "not UTF-8");
	if (f->type == CV_STR) {
		s[0] = '\0';
		ck_assert_int_eq(cv_check(top, p, &err) == 0, (f->flags & CV_EMPTY_OK) != 0);
	}
}

START_TEST(err_2_lengths)
{
	for (int i = 0; i < CV_OP_COUNT; i++)
		for (size_t k = 0; k < cv_operations[i].req->count; k++) {
			const struct cv_field *f = &cv_operations[i].req->fields[k];
			void *p = fresh(cv_operations[i].req);

			set_required(top, p, "");
			if (f->type == CV_STR || f->type == CV_BYTES || f->type == CV_TEXT)
				lengths(f, p);
		}
	end_all();
}
END_TEST

static void entries(const struct cv_field *f, void *p)
{
	size_t max = (size_t)f->max;
	const char **items = calloc(max + 2, sizeof(*items));

	for (size_t i = 0; i <= max; i++)
		items[i] = "A=1";
	*(const char *const **)cv_at(f, p) = items;
	refused(cv_check(top, p, &err), f->name, "too many entries");
	free(items);
}

START_TEST(err_2_lists)
{
	struct cove_exec_opts o = {.size = sizeof(o)};
	static const char *const list[][2] = {{"no sign"}, {"=x"}, {"\xFF=x"}};

	top = &cv_struct_process_exec;
	for (size_t i = 0; i < CV_LEN(list); i++) {
		o.env.set = list[i];
		refused(cv_check(top, &o, &err), "env.set", list[i][0]);
	}
	o.env = (struct cove_env_vars){.unset = (const char *const[]){"", NULL}};
	refused(cv_check(top, &o, &err), "env.unset", "an empty name");
	o.env = (struct cove_env_vars){.inherit = 2};
	refused(cv_check(top, &o, &err), "env.inherit", "2");
	o.env.inherit = 0;
	for (size_t k = 0; k < top->count; k++)
		if (top->fields[k].type == CV_STRV)
			entries(&top->fields[k], &o);
}
END_TEST

/* Random edits need not be such that they change something. */
static void set_edits(void *p)
{
	static const struct cove_edit edit = {.old_text = {"a", 1}, .new_text = {"b", 1}};
	struct cove_file_edit_text_opts *o = p;

	o->edits = &edit;
	o->edit_count = 1;
}

START_TEST(err_2_missing)
{
	for (int i = 0; i < CV_OP_COUNT; i++)
		for (size_t k = 0; k < cv_operations[i].req->count; k++) {
			const struct cv_field *f = &cv_operations[i].req->fields[k];
			void *p = fresh(cv_operations[i].req);

			if (!(f->flags & CV_REQUIRED))
				continue;
			set_required(top, p, "");
			if (i == CV_OP_ID_FILE_EDIT_TEXT)
				set_edits(p);
			/* Random ones may hold a line end. */
			if (i == CV_OP_ID_FILE_SEARCH_TEXT)
				((struct cove_file_search_text_opts *)p)->pattern = "x";
			ck_assert_int_eq(cv_op_check(&cv_operations[i], p, &err), 0);
			memset(cv_at(f, p), 0, size_of(f));
			refused(cv_op_check(&cv_operations[i], p, &err), f->name, "nothing");
			ck_assert_str_eq(err.reason, "is missing");
			ck_assert_str_eq(err.operation, cv_operations[i].name);
		}
	end_all();
}
END_TEST

static void command(const struct cv_op *op, const struct cove_exec_opts *o, const char *field)
{
	err.field[0] = '\0';
	top = op->req;
	if (field)
		refused(cv_op_check(op, o, &err), field, "a command");
	else
		ck_assert_int_eq(cv_op_check(op, o, &err), 0);
}

START_TEST(err_2_searches)
{
	static const char *const kinds[] = {"file", "socket", NULL};
	const struct cv_op *search = cv_op_find("file.search_text");
	const struct cv_op *query = cv_op_find("file.query");

	top = search->req;
	refused(cv_op_check(search, &(struct cove_file_search_text_opts){.pattern = "a\nb"}, &err),
		"pattern", "a line end");
	refused(cv_op_check(search, &(struct cove_file_search_text_opts){.pattern = ""}, &err),
		"pattern", "nothing");
	refused(cv_op_check(search,
			    &(struct cove_file_search_text_opts){.pattern = "a", .after_line = 1},
			    &err),
		"after_line", "no path");
	refused(cv_op_check(search,
			    &(struct cove_file_search_text_opts){.pattern = "a", .context = 21},
			    &err),
		"context", "21");
	top = query->req;
	refused(cv_op_check(query, &(struct cove_file_query_opts){.pattern = "a", .kinds = kinds},
			    &err),
		"kinds", "socket");
}
END_TEST

START_TEST(err_2_commands)
{
	const struct cv_op *exec = cv_op_find("process.exec");
	const struct cv_op *start = cv_op_find("process.start");
	const char *const argv[] = {"true", "", NULL};
	const char *const none[] = {NULL};
	const char *const unnamed[] = {"", NULL};

	command(exec, &(struct cove_exec_opts){0}, "argv");
	command(exec, &(struct cove_exec_opts){.argv = none}, "argv");
	command(exec, &(struct cove_exec_opts){.argv = unnamed}, "argv");
	command(exec, &(struct cove_exec_opts){.argv = argv, .script = "x"}, "script");
	command(exec, &(struct cove_exec_opts){.argv = argv}, NULL);
	command(exec, &(struct cove_exec_opts){.script = "x", .keep = true}, NULL);
	command(exec,
		&(struct cove_exec_opts){
			.script = "x", .keep_stdin_open = true, .stdin_data = {.data = ""}},
		"keep_stdin_open");
	command(start, &(struct cove_exec_opts){.script = "x"}, NULL);
	command(start, &(struct cove_exec_opts){.script = "x", .keep = true}, "keep");
	command(start, &(struct cove_exec_opts){.script = "x", .max_output_bytes = 5}, "keep");
	command(start, &(struct cove_exec_opts){.script = "x", .on_output = fill_callback}, "keep");
}
END_TEST
static void requests_have_bounds(const struct cv_field *f, const struct visit *v)
{
	if (f->type == CV_INT)
		ck_assert_msg(f->max > 0 && f->max >= f->min, "%s of %s", v->name, top->name);
	if (f->type == CV_INT && f->def > 0)
		ck_assert_msg(f->def >= f->min && f->def <= f->max, "%s of %s", v->name, top->name);
}
START_TEST(err_2_every_integer_has_bounds)
{
	visit_requests(requests_have_bounds);
}
END_TEST

UNIT_MAIN("ops_checks", err_2_wrong_types, err_2_unknown_fields,
	  err_2_an_unknown_field_of_any_length, err_2_integers_out_of_range, err_2_lengths,
	  err_2_lists, err_2_missing, err_2_searches, err_2_commands,
	  err_2_every_integer_has_bounds)
