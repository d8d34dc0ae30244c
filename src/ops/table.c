/* SPDX-License-Identifier: Apache-2.0 */
/* The operation table, made from operations.def and the descriptors. */
#include "ops/table.h"

#include "base/path.h"
#include "ops/fields.h"

#include <cove/files.h>
#include <cove/process.h>

#include <stdio.h>

const char *const cv_facet_names[6] = {"files", "shell", "processes", "outputs", "ports", "state"};

const struct cv_op cv_operations[CV_OP_COUNT] = {
#define CV_OPERATION(ID, op_name, op_facet, op_access, request, result, op_flags, op_doc)          \
	{.name = (op_name),                                                                        \
	 .doc = (op_doc),                                                                          \
	 .req = &cv_struct_##request,                                                              \
	 .res = &cv_struct_##result,                                                               \
	 .id = CV_OP_ID_##ID,                                                                      \
	 .facet = CV_FACET_##op_facet,                                                             \
	 .access = CV_ACCESS_##op_access,                                                          \
	 .flags = (op_flags)},
#include "ops/operations.def"
#undef CV_OPERATION
};

const struct cv_op *cv_op_find(const char *name)
{
	for (size_t i = 0; i < CV_OP_COUNT; i++)
		if (strcmp(cv_operations[i].name, name) == 0)
			return &cv_operations[i];
	return NULL;
}

/* A command is argv or script, not both and not neither; start has none of the fields of exec. */
static int check_command(const struct cove_exec_opts *o, bool is_exec, struct cove_error *err)
{
	if (!o->argv && !o->script)
		return cv_fail_arg(err, "argv", "give argv or script", "is missing");
	if (o->argv && o->script)
		return cv_fail_arg(err, "script", "give only one of argv and script",
				   "is given beside argv");
	if (o->argv && (!o->argv[0] || !o->argv[0][0]))
		return cv_fail_arg(err, "argv", "its first entry is the program", "is empty");
	if (o->stdin_data.data && o->keep_stdin_open && is_exec)
		return cv_fail_arg(err, "keep_stdin_open",
				   "give stdin, or feed it through the call, not both",
				   "is given beside stdin");
	if (!is_exec && (o->descendants || o->max_output_bytes || o->keep || o->on_output ||
			 o->yield_ms || o->session || o->output.render))
		return cv_fail_arg(err, "keep",
				   "descendants, max_output_bytes, keep, yield_ms, session, "
				   "output.render and on_output belong to exec",
				   "is not an option of process.start");
	if (o->session && !o->script)
		return cv_fail_arg(err, "session", "give a script", "goes with a script only");
	if (o->session && !cv_id_valid(o->session))
		return cv_fail_arg(err, "session", "[A-Za-z0-9][A-Za-z0-9_-]{0,127}",
				   "is '%.100s', which is no name", o->session);
	return 0;
}

/* An edit must have something to find, and must change it. */
static int check_edits(const struct cove_file_edit_text_opts *o, struct cove_error *err)
{
	char field[64];

	for (size_t i = 0; i < o->edit_count; i++) {
		const struct cove_bytes *old = &o->edits[i].old_text;
		const struct cove_bytes *new = &o->edits[i].new_text;

		snprintf(field, sizeof(field), "edits[%zu].%s", i, old->len ? "new" : "old");
		if (old->len == 0)
			return cv_fail_arg(err, field, "give the text that is to be replaced",
					   "is empty");
		if (old->len == new->len && memcmp(old->data, new->data, old->len) == 0)
			return cv_fail_arg(err, field, "leave the edit out", "is the same as old");
	}
	return 0;
}

static int check_kinds(const struct cove_file_query_opts *o, struct cove_error *err)
{
	static const char *const known[] = {"file", "directory", "symlink", "other"};

	for (size_t i = 0; o->kinds && o->kinds[i]; i++) {
		size_t k = 0;

		while (k < CV_LEN(known) && strcmp(known[k], o->kinds[i]) != 0)
			k++;
		if (k == CV_LEN(known))
			return cv_fail_arg(err, "kinds",
					   "use some of file, directory, symlink, other",
					   "has '%.100s', which is unknown", o->kinds[i]);
	}
	return 0;
}

/* A pattern of one line: no line holds an LF. */
static int check_search(const struct cove_file_search_text_opts *o, struct cove_error *err)
{
	if (strchr(o->pattern, '\n'))
		return cv_fail_arg(err, "pattern", "search for one line at a time",
				   "holds a line end, which no line does");
	if (o->after_line && !o->after_path)
		return cv_fail_arg(err, "after_line", "give after_path too",
				   "is given without after_path");
	return 0;
}

int cv_op_check(const struct cv_op *op, const void *req, struct cove_error *err)
{
	int rc = req ? cv_check(op->req, req, err) : 0;

	if (rc == 0 && req && (op->id == CV_OP_ID_PROCESS_START || op->id == CV_OP_ID_PROCESS_EXEC))
		rc = check_command(req, op->id == CV_OP_ID_PROCESS_EXEC, err);
	if (rc == 0 && req && op->id == CV_OP_ID_FILE_EDIT_TEXT)
		rc = check_edits(req, err);
	if (rc == 0 && req && op->id == CV_OP_ID_FILE_QUERY)
		rc = check_kinds(req, err);
	if (rc == 0 && req && op->id == CV_OP_ID_FILE_SEARCH_TEXT)
		rc = check_search(req, err);
	if (rc < 0)
		cv_err_operation(err, op->name);
	return rc;
}
