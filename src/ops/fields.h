/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of every request and result struct, and the macros that write them. */
#ifndef CV_OPS_FIELDS_H
#define CV_OPS_FIELDS_H

#include "ops/field.h"

/* F(type, member, "name", "doc", .more = …) describes a member of the struct named by S. */
#define F(kind, member, field_name, field_doc, ...)                                                \
	{                                                                                          \
		.name = (field_name), .doc = (field_doc), .type = (kind),                          \
		.offset = offsetof(S, member), ##__VA_ARGS__                                       \
	}
#define OFFSET2(member) .offset2 = offsetof(S, member)

#define CV_DESCRIBE(symbol, text, type, rows)                                                      \
	const struct cv_struct cv_struct_##symbol = {                                              \
		.name = (text), .size = sizeof(type), .fields = (rows), .count = CV_LEN(rows)}

extern const struct cv_struct cv_struct_nothing;
extern const struct cv_struct cv_struct_sandbox_policy;
extern const struct cv_struct cv_struct_sandbox_plan;

extern const struct cv_struct cv_struct_file_path;
extern const struct cv_struct cv_struct_file_entry;
extern const struct cv_struct cv_struct_file_exists;
extern const struct cv_struct cv_struct_file_list;
extern const struct cv_struct cv_struct_file_list_result;
extern const struct cv_struct cv_struct_file_read_text;
extern const struct cv_struct cv_struct_file_read_text_result;
extern const struct cv_struct cv_struct_file_read_bytes;
extern const struct cv_struct cv_struct_file_read_bytes_result;
extern const struct cv_struct cv_struct_file_read_lines;
extern const struct cv_struct cv_struct_file_read_lines_result;
extern const struct cv_struct cv_struct_file_read_stream;
extern const struct cv_struct cv_struct_file_read_stream_result;
extern const struct cv_struct cv_struct_file_write_stream;
extern const struct cv_struct cv_struct_file_write_text;
extern const struct cv_struct cv_struct_file_write_bytes;
extern const struct cv_struct cv_struct_file_write_result;
extern const struct cv_struct cv_struct_file_edit_text;
extern const struct cv_struct cv_struct_file_edit_text_result;
extern const struct cv_struct cv_struct_file_patch_text;
extern const struct cv_struct cv_struct_file_patch_text_result;
extern const struct cv_struct cv_struct_file_query;
extern const struct cv_struct cv_struct_file_query_result;
extern const struct cv_struct cv_struct_file_search_text;
extern const struct cv_struct cv_struct_file_search_text_result;
extern const struct cv_struct cv_struct_file_mkdir;
extern const struct cv_struct cv_struct_file_mkdir_result;
extern const struct cv_struct cv_struct_file_remove;
extern const struct cv_struct cv_struct_file_remove_result;
extern const struct cv_struct cv_struct_file_transfer;
extern const struct cv_struct cv_struct_file_copy_result;
extern const struct cv_struct cv_struct_file_move_result;
extern const struct cv_struct cv_struct_file_truncate;
extern const struct cv_struct cv_struct_file_truncate_result;
extern const struct cv_struct cv_struct_file_make_temp;
extern const struct cv_struct cv_struct_file_path_result;
extern const struct cv_struct cv_struct_file_watch;
extern const struct cv_struct cv_struct_file_watch_result;
extern const struct cv_struct cv_struct_file_watch_read;
extern const struct cv_struct cv_struct_file_watch_read_result;
extern const struct cv_struct cv_struct_file_watch_close;

extern const struct cv_struct cv_struct_process_start;
extern const struct cv_struct cv_struct_process_start_result;
extern const struct cv_struct cv_struct_process_exec;
extern const struct cv_struct cv_struct_process_exec_result;
extern const struct cv_struct cv_struct_process_wait;
extern const struct cv_struct cv_struct_process_wait_result;
extern const struct cv_struct cv_struct_process_ref;
extern const struct cv_struct cv_struct_process_info;
extern const struct cv_struct cv_struct_process_list_result;
extern const struct cv_struct cv_struct_process_completions;
extern const struct cv_struct cv_struct_process_completions_result;
extern const struct cv_struct cv_struct_process_resize;
extern const struct cv_struct cv_struct_process_signal;
extern const struct cv_struct cv_struct_process_kill;
extern const struct cv_struct cv_struct_process_write_stdin;
extern const struct cv_struct cv_struct_process_write_stdin_result;
extern const struct cv_struct cv_struct_output_read;
extern const struct cv_struct cv_struct_output_read_result;

extern const struct cv_struct cv_struct_port_list_result;
extern const struct cv_struct cv_struct_port_inspect;
extern const struct cv_struct cv_struct_port_wait;
extern const struct cv_struct cv_struct_port_state_result;

extern const struct cv_struct cv_struct_env_describe_result;
extern const struct cv_struct cv_struct_env_reset_result;
extern const struct cv_struct cv_struct_env_resolve_tmp;
extern const struct cv_struct cv_struct_env_diff;
extern const struct cv_struct cv_struct_env_diff_result;
extern const struct cv_struct cv_struct_guest_setup;

#endif
