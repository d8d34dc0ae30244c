/* SPDX-License-Identifier: Apache-2.0 */
/* The typed functions of the public headers: each is one operation, submitted and waited for. */
#include "env/env.h"

#include <cove/changes.h>
#include <cove/files.h>
#include <cove/output.h>
#include <cove/port.h>
#include <cove/process.h>
#include <cove/watch.h>

#define WITH_RESULT(fn, ID, request, result)                                                       \
	int fn(struct cove_env *env, const struct request *opts, struct result **ret_result,       \
	       struct cove_error *err)                                                             \
	{                                                                                          \
		return cv_env_call(env, CV_OP_ID_##ID, opts, (void **)ret_result, err);            \
	}

#define WITHOUT_RESULT(fn, ID, request)                                                            \
	int fn(struct cove_env *env, const struct request *opts, struct cove_error *err)           \
	{                                                                                          \
		return cv_env_call(env, CV_OP_ID_##ID, opts, NULL, err);                           \
	}

#define WITHOUT_REQUEST(fn, ID, result)                                                            \
	int fn(struct cove_env *env, struct result **ret_result, struct cove_error *err)           \
	{                                                                                          \
		return cv_env_call(env, CV_OP_ID_##ID, NULL, (void **)ret_result, err);            \
	}

#define FREE_RESULT(result)                                                                        \
	void result##_free(struct result *r)                                                       \
	{                                                                                          \
		cove_result_free(r);                                                               \
	}

WITH_RESULT(cove_file_stat, FILE_STAT, cove_file_path_opts, cove_file_entry)
WITH_RESULT(cove_file_exists, FILE_EXISTS, cove_file_path_opts, cove_file_exists_result)
WITH_RESULT(cove_file_list, FILE_LIST, cove_file_list_opts, cove_file_list_result)
WITH_RESULT(cove_file_read_text, FILE_READ_TEXT, cove_file_read_text_opts,
	    cove_file_read_text_result)
WITH_RESULT(cove_file_read_lines, FILE_READ_LINES, cove_file_read_lines_opts,
	    cove_file_read_lines_result)
WITH_RESULT(cove_file_read_bytes, FILE_READ_BYTES, cove_file_read_bytes_opts,
	    cove_file_read_bytes_result)
WITH_RESULT(cove_file_write_text, FILE_WRITE_TEXT, cove_file_write_opts, cove_file_write_result)
WITH_RESULT(cove_file_write_bytes, FILE_WRITE_BYTES, cove_file_write_opts, cove_file_write_result)
WITH_RESULT(cove_file_edit_text, FILE_EDIT_TEXT, cove_file_edit_text_opts,
	    cove_file_edit_text_result)
WITH_RESULT(cove_file_patch_text, FILE_PATCH_TEXT, cove_file_patch_text_opts,
	    cove_file_patch_text_result)
WITH_RESULT(cove_file_query, FILE_QUERY, cove_file_query_opts, cove_file_query_result)
WITH_RESULT(cove_file_search_text, FILE_SEARCH_TEXT, cove_file_search_text_opts,
	    cove_file_search_text_result)
WITH_RESULT(cove_file_mkdir, FILE_MKDIR, cove_file_mkdir_opts, cove_file_mkdir_result)
WITH_RESULT(cove_file_remove, FILE_REMOVE, cove_file_remove_opts, cove_file_remove_result)
WITH_RESULT(cove_file_copy, FILE_COPY, cove_file_transfer_opts, cove_file_copy_result)
WITH_RESULT(cove_file_move, FILE_MOVE, cove_file_transfer_opts, cove_file_move_result)
WITH_RESULT(cove_file_truncate, FILE_TRUNCATE, cove_file_truncate_opts, cove_file_truncate_result)
WITHOUT_RESULT(cove_file_sync, FILE_SYNC, cove_file_path_opts)
WITH_RESULT(cove_file_make_temp, FILE_MAKE_TEMP, cove_file_make_temp_opts, cove_file_path_result)
WITH_RESULT(cove_file_watch, FILE_WATCH, cove_file_watch_opts, cove_file_watch_result)
WITH_RESULT(cove_file_watch_read, FILE_WATCH_READ, cove_file_watch_read_opts,
	    cove_file_watch_read_result)
WITHOUT_RESULT(cove_file_watch_close, FILE_WATCH_CLOSE, cove_file_watch_close_opts)
WITH_RESULT(cove_file_canonical, FILE_CANONICAL, cove_file_path_opts, cove_file_path_result)
WITH_RESULT(cove_file_absolute, FILE_ABSOLUTE, cove_file_path_opts, cove_file_path_result)
FREE_RESULT(cove_file_list_result)
FREE_RESULT(cove_file_read_text_result)
FREE_RESULT(cove_file_read_bytes_result)
FREE_RESULT(cove_file_query_result)
FREE_RESULT(cove_file_search_text_result)

WITH_RESULT(cove_exec, PROCESS_EXEC, cove_exec_opts, cove_exec_result)
WITH_RESULT(cove_process_start, PROCESS_START, cove_exec_opts, cove_process_start_result)
WITH_RESULT(cove_process_wait, PROCESS_WAIT, cove_process_wait_opts, cove_process_wait_result)
WITH_RESULT(cove_process_inspect, PROCESS_INSPECT, cove_process_ref, cove_process_info)
WITHOUT_REQUEST(cove_process_list, PROCESS_LIST, cove_process_list_result)
WITH_RESULT(cove_process_completions, PROCESS_COMPLETIONS, cove_process_completions_opts,
	    cove_process_completions_result)
WITHOUT_RESULT(cove_process_resize, PROCESS_RESIZE, cove_process_resize_opts)
WITHOUT_RESULT(cove_process_signal, PROCESS_SIGNAL, cove_process_signal_opts)
WITH_RESULT(cove_process_kill, PROCESS_KILL, cove_process_kill_opts, cove_process_wait_result)
WITHOUT_RESULT(cove_process_release, PROCESS_RELEASE, cove_process_ref)
WITH_RESULT(cove_process_write_stdin, PROCESS_WRITE_STDIN, cove_process_write_stdin_opts,
	    cove_process_write_stdin_result)
WITHOUT_RESULT(cove_process_close_stdin, PROCESS_CLOSE_STDIN, cove_process_ref)
WITH_RESULT(cove_output_read, OUTPUT_READ, cove_output_read_opts, cove_output_read_result)
FREE_RESULT(cove_exec_result)
FREE_RESULT(cove_process_start_result)
FREE_RESULT(cove_process_wait_result)
FREE_RESULT(cove_output_read_result)

WITHOUT_REQUEST(cove_port_list, PORT_LIST, cove_port_list_result)
WITH_RESULT(cove_port_inspect, PORT_INSPECT, cove_port_opts, cove_port_state_result)
WITH_RESULT(cove_port_wait, PORT_WAIT, cove_port_opts, cove_port_state_result)

WITHOUT_REQUEST(cove_env_describe, ENV_DESCRIBE, cove_env_describe_result)
WITHOUT_REQUEST(cove_env_reset, ENV_RESET, cove_env_reset_result)
WITH_RESULT(cove_env_diff, ENV_DIFF, cove_env_diff_opts, cove_env_diff_result)
WITH_RESULT(cove_env_resolve_tmp, ENV_RESOLVE_TMP, cove_env_resolve_tmp_opts,
	    cove_env_resolve_tmp_result)

int cove_env_ping(struct cove_env *env, struct cove_error *err)
{
	return cv_env_call(env, CV_OP_ID_ENV_PING, NULL, NULL, err);
}
