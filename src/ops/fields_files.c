/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the file operations. */
#include "base/path.h"
#include "ops/fields.h"

#include <cove/streams.h>

#define MIB (INT64_C(1) << 20)
#define PATH_FIELD                                                                                 \
	F(CV_STR, path, "path", "path", .flags = CV_REQUIRED | CV_IS_PATH, .max = CV_PATH_MAX)
#define RECEIPT F(CV_STR, operation_id, "operation_id", "receipt")

static const char *const kinds[] = {"file", "directory", "symlink", "other", NULL};
static const char *const modes[] = {"create", "replace", "upsert", "append", NULL};
static const char *const statuses[] = {"added", "modified", "deleted", "renamed", "copied", NULL};
static const char *const temps[] = {"file", "directory", NULL};
static const char *const ignores[] = {"none", "git", NULL};
static const char *const invalids[] = {"refuse", "replace", NULL};

#define S struct cove_file_path_opts
static const struct cv_field path_rows[] = {PATH_FIELD};
CV_DESCRIBE(file_path, "path", S, path_rows);
#undef S

#define S struct cove_file_entry
static const struct cv_field entry_rows[] = {
	F(CV_STR, path, "path", "path as operations take it"),
	F(CV_STR, name, "name", "last component"),
	F(CV_ENUM, kind, "kind", "what it is; links are not followed", .names = kinds),
	F(CV_INT, size, "size", "size", .unit = "bytes"),
	F(CV_INT, mtime_ns, "mtime_ns", "last change of the content, since 1970", .unit = "ns"),
	F(CV_INT, mode, "mode", "permission bits"),
	F(CV_BOOL, writable, "writable", "this environment may write to it"),
	F(CV_STR, link_target, "link_target", "of a link", .flags = CV_OMIT),
};
CV_DESCRIBE(file_entry, "entry", S, entry_rows);
#undef S

#define S struct cove_file_exists_result
static const struct cv_field exists_rows[] = {F(CV_BOOL, exists, "exists", "something is there")};
CV_DESCRIBE(file_exists, "exists", S, exists_rows);
#undef S

#define S struct cove_file_list_opts
static const struct cv_field list_rows[] = {
	F(CV_STR, path, "path", "a directory; default .", .flags = CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_INT, max_results, "max_results", "entries at most", .def = 1000, .min = 1,
	  .max = 100000),
	F(CV_INT, offset, "offset", "entries to skip", .max = INT64_C(1) << 40),
	F(CV_BOOL, include_hidden, "include_hidden", "names that begin with a dot too"),
};
CV_DESCRIBE(file_list, "list", S, list_rows);
#undef S

#define S struct cove_file_list_result
static const struct cv_field list_result_rows[] = {
	F(CV_OBJV, entries, "entries", "children in byte order of their names",
	  .sub = &cv_struct_file_entry, OFFSET2(entry_count)),
	F(CV_BOOL, has_more, "has_more", "more follow after these"),
	F(CV_INT, skipped_names, "skipped_names", "names that are not UTF-8"),
};
CV_DESCRIBE(file_list_result, "list_result", S, list_result_rows);
#undef S

#define S struct cove_file_read_text_opts
static const struct cv_field read_text_rows[] = {
	PATH_FIELD,
	F(CV_INT, line_offset, "line_offset", "lines to skip", .max = INT64_C(1) << 40),
	F(CV_INT, line_limit, "line_limit", "lines at most; -1: all", .def = 200, .min = -1,
	  .max = 1000000),
	F(CV_INT, max_line_length, "max_line_length", "longer lines are clipped", .unit = "bytes",
	  .def = 2000, .min = 1, .max = MIB),
	F(CV_ENUM, invalid, "invalid", "bytes that are not UTF-8", .names = invalids,
	  .def = COVE_INVALID_REFUSE),
};
CV_DESCRIBE(file_read_text, "read_text", S, read_text_rows);
#undef S

#define S struct cove_file_read_text_result
static const struct cv_field read_text_result_rows[] = {
	F(CV_TEXT, text, "text", "whole lines with their LF"),
	F(CV_INT, lines_read, "lines_read", "lines in text"),
	F(CV_BOOL, has_more, "has_more", "the file goes on after them"),
	F(CV_INTV, truncated_lines, "truncated_lines", "one-based numbers of clipped lines",
	  OFFSET2(truncated_line_count)),
	F(CV_INT, size, "size", "of the file", .unit = "bytes"),
};
CV_DESCRIBE(file_read_text_result, "read_text_result", S, read_text_result_rows);
#undef S

#define S struct cove_file_read_bytes_opts
static const struct cv_field read_bytes_rows[] = {
	PATH_FIELD,
	F(CV_INT, offset, "offset", "first byte", .unit = "bytes", .max = INT64_MAX),
	F(CV_INT, length, "length", "bytes at most; default: to the end", .unit = "bytes", .min = 1,
	  .max = 64 * MIB),
};
CV_DESCRIBE(file_read_bytes, "read_bytes", S, read_bytes_rows);
#undef S

#define S struct cove_file_read_bytes_result
static const struct cv_field read_bytes_result_rows[] = {
	F(CV_BYTES, data, "data", "the bytes"),
	F(CV_INT, offset, "offset", "of the first byte", .unit = "bytes"),
	F(CV_INT, size, "size", "of the file", .unit = "bytes"),
	F(CV_BOOL, eof, "eof", "data reaches the end"),
};
CV_DESCRIBE(file_read_bytes_result, "read_bytes_result", S, read_bytes_result_rows);
#undef S

#define S struct cove_file_read_lines_opts
static const struct cv_field read_lines_rows[] = {
	PATH_FIELD,
	F(CV_INT, max_lines, "max_lines", "lines at most; default: all", .min = 1, .max = 1000000),
};
CV_DESCRIBE(file_read_lines, "read_lines", S, read_lines_rows);
#undef S

#define S struct cove_file_read_lines_result
static const struct cv_field read_lines_result_rows[] = {
	F(CV_STRV, lines, "lines", "without their LF", .flags = CV_EMPTY_OK)};
CV_DESCRIBE(file_read_lines_result, "read_lines_result", S, read_lines_result_rows);
#undef S

#define S struct cove_file_read_stream_opts
static const struct cv_field read_stream_rows[] = {
	PATH_FIELD,
	F(CV_INT, offset, "offset", "first byte", .unit = "bytes", .max = INT64_MAX),
	F(CV_INT, length, "length", "bytes at most; default: to the end", .unit = "bytes", .min = 1,
	  .max = INT64_MAX),
};
CV_DESCRIBE(file_read_stream, "read_stream", S, read_stream_rows);
#undef S

#define S struct cove_file_read_stream_result
static const struct cv_field read_stream_result_rows[] = {
	F(CV_INT, bytes_read, "bytes_read", "given to the callback", .unit = "bytes"),
	F(CV_BOOL, eof, "eof", "they reach the end"),
};
CV_DESCRIBE(file_read_stream_result, "read_stream_result", S, read_stream_result_rows);
#undef S

#define S struct cove_file_write_opts
#define WRITE_FIELDS                                                                               \
	F(CV_ENUM, mode, "mode", "how to treat what is there", .names = modes,                     \
	  .flags = CV_REQUIRED),                                                                   \
		F(CV_TRI, parents, "parents", "make missing directories; default true"),           \
		F(CV_BOOL, durable, "durable", "flush to the disk before returning"),              \
		F(CV_BOOL, in_place, "in_place",                                                   \
		  "write into the present file instead of replacing it"),                          \
		F(CV_INT, file_mode, "file_mode", "permission bits of a new file", .min = 1,       \
		  .max = 0777)
static const struct cv_field write_text_rows[] = {
	PATH_FIELD,
	F(CV_TEXT, data, "text", "UTF-8 without NUL", .flags = CV_REQUIRED, .max = 64 * MIB),
	WRITE_FIELDS,
};
static const struct cv_field write_bytes_rows[] = {
	PATH_FIELD,
	F(CV_BYTES, data, "data", "the bytes", .flags = CV_REQUIRED, .max = 64 * MIB),
	WRITE_FIELDS,
};
CV_DESCRIBE(file_write_text, "write_text", S, write_text_rows);
CV_DESCRIBE(file_write_bytes, "write_bytes", S, write_bytes_rows);
#undef S

#define S struct cove_file_write_stream_opts
static const struct cv_field write_stream_rows[] = {PATH_FIELD, WRITE_FIELDS};
CV_DESCRIBE(file_write_stream, "write_stream", S, write_stream_rows);
#undef S

#define S struct cove_file_write_result
static const struct cv_field write_result_rows[] = {
	F(CV_INT, bytes_written, "bytes_written", "bytes written", .unit = "bytes"),
	F(CV_BOOL, created, "created", "it did not exist before"),
	RECEIPT,
};
CV_DESCRIBE(file_write_result, "write_result", S, write_result_rows);
#undef S

#define S struct cove_edit
static const struct cv_field edit_rows[] = {
	F(CV_TEXT, old_text, "old", "text that is there, exactly; not empty", .flags = CV_REQUIRED,
	  .max = 16 * MIB),
	F(CV_TEXT, new_text, "new", "what stands there afterwards; may be empty",
	  .flags = CV_REQUIRED, .max = 16 * MIB),
	F(CV_INT, count, "count", "how often old must occur", .def = 1, .min = 1, .max = 1000000),
};
static const struct cv_struct edit_struct = {"edit", sizeof(S), edit_rows, CV_LEN(edit_rows)};
#undef S

#define S struct cove_file_edit_text_opts
static const struct cv_field edit_text_rows[] = {
	PATH_FIELD,
	F(CV_OBJV, edits, "edits", "carried out in order, each on what the one before left",
	  .flags = CV_REQUIRED, .max = 10000, .sub = &edit_struct, OFFSET2(edit_count)),
};
CV_DESCRIBE(file_edit_text, "edit_text", S, edit_text_rows);
#undef S

#define S struct cove_file_edit_text_result
static const struct cv_field edit_text_result_rows[] = {
	F(CV_INT, edits_applied, "edits_applied", "all of them"),
	F(CV_INT, bytes_written, "bytes_written", "size of the file now", .unit = "bytes"),
	RECEIPT,
};
CV_DESCRIBE(file_edit_text_result, "edit_text_result", S, edit_text_result_rows);
#undef S

#define S struct cove_file_patch_text_opts
static const struct cv_field patch_text_rows[] = {
	F(CV_STR, path, "path", "a file, or the directory that the diff's names are relative to",
	  .flags = CV_REQUIRED | CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_TEXT, patch, "patch", "a unified diff", .flags = CV_REQUIRED, .max = 16 * MIB),
};
CV_DESCRIBE(file_patch_text, "patch_text", S, patch_text_rows);
#undef S

#define S struct cove_patched
static const struct cv_field patched_rows[] = {
	F(CV_STR, path, "path", "where it is now, or was"),
	F(CV_ENUM, status, "status", "what became of it", .names = statuses),
};
static const struct cv_struct patched_struct = {"patched", sizeof(S), patched_rows,
						CV_LEN(patched_rows)};
#undef S

#define S struct cove_file_patch_text_result
static const struct cv_field patch_text_result_rows[] = {
	F(CV_INT, hunks_applied, "hunks_applied", "all of them"),
	F(CV_OBJV, files, "files", "in the order of the diff", .sub = &patched_struct,
	  OFFSET2(file_count)),
	RECEIPT,
};
CV_DESCRIBE(file_patch_text_result, "patch_text_result", S, patch_text_result_rows);
#undef S

#define PATTERN_MAX 16384
#define WALK_FIELDS                                                                                \
	F(CV_BOOL, include_hidden, "include_hidden", "names that begin with a dot too"),           \
		F(CV_ENUM, ignore, "ignore", "ignore files to obey; default none",                 \
		  .names = ignores, .def = COVE_IGNORE_NONE)

#define S struct cove_file_query_opts
static const struct cv_field query_rows[] = {
	F(CV_STR, root, "root", "a directory; default .", .flags = CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_STR, pattern, "pattern", "* ? [a-z] ** {a,b}; without a slash the last component",
	  .flags = CV_REQUIRED, .max = PATTERN_MAX),
	F(CV_INT, max_results, "max_results", "entries at most", .def = 1000, .min = 1,
	  .max = 100000),
	F(CV_BOOL, no_recurse, "no_recurse", "children of root only"),
	WALK_FIELDS,
	F(CV_STRV, kinds, "kinds", "of file, directory, symlink, other; default all", .max = 4),
	F(CV_INT, offset, "offset", "entries to skip", .max = INT64_C(1) << 40),
	F(CV_STR, after, "after", "path of an entry: only what comes behind it",
	  .flags = CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_BOOL, names_only, "names_only", "leave size and mtime_ns 0, which is faster"),
};
CV_DESCRIBE(file_query, "query", S, query_rows);
#undef S

#define S struct cove_file_found
static const struct cv_field found_rows[] = {
	F(CV_STR, path, "path", "path as operations take it"),
	F(CV_ENUM, kind, "kind", "what it is; links are not followed", .names = kinds),
	F(CV_INT, size, "size", "size", .unit = "bytes"),
	F(CV_INT, mtime_ns, "mtime_ns", "last change of the content, since 1970", .unit = "ns"),
};
static const struct cv_struct found_struct = {"found", sizeof(S), found_rows, CV_LEN(found_rows)};
#undef S

#define S struct cove_file_query_result
static const struct cv_field query_result_rows[] = {
	F(CV_OBJV, entries, "entries", "depth first, names in byte order", .flags = CV_PACKED,
	  .sub = &found_struct, OFFSET2(entry_count)),
	F(CV_BOOL, has_more, "has_more", "more follow after these"),
	F(CV_INT, hidden_count, "hidden_count", "entries left out as hidden or ignored"),
	F(CV_INT, skipped_count, "skipped_count",
	  "directories that can't be read, and names that are not UTF-8"),
};
CV_DESCRIBE(file_query_result, "query_result", S, query_result_rows);
#undef S

#define S struct cove_file_search_text_opts
static const struct cv_field search_text_rows[] = {
	F(CV_STR, root, "root", "a directory or a file; default .", .flags = CV_IS_PATH,
	  .max = CV_PATH_MAX),
	F(CV_STR, pattern, "pattern", "what to look for in each line", .flags = CV_REQUIRED,
	  .max = PATTERN_MAX),
	F(CV_BOOL, regex, "regex", "pattern is a regular expression"),
	F(CV_BOOL, ignore_case, "ignore_case", "upper and lower case are the same"),
	F(CV_STR, include, "include", "which files, a pattern as of file.query; default **/*",
	  .max = PATTERN_MAX),
	WALK_FIELDS,
	F(CV_INT, context, "context", "lines around each match", .max = 20),
	F(CV_INT, max_matches, "max_matches", "matches at most", .def = 1000, .min = 1,
	  .max = 100000),
	F(CV_INT, offset, "offset", "matches to skip", .max = INT64_C(1) << 40),
	F(CV_INT, max_matches_per_file, "max_matches_per_file", "of one file at most", .min = 1,
	  .max = INT64_C(1) << 40),
	F(CV_INT, max_files, "max_files", "a search that comes to more fails", .min = 1,
	  .max = INT64_C(1) << 40),
	F(CV_INT, max_file_bytes, "max_file_bytes", "larger files are skipped", .unit = "bytes",
	  .def = 64 * MIB, .min = 1, .max = INT64_C(1) << 50),
	F(CV_INT, max_line_length, "max_line_length", "longer lines are clipped", .unit = "bytes",
	  .def = 2000, .min = 1, .max = MIB),
	F(CV_STR, after_path, "after_path", "path of a match: only what comes behind it",
	  .flags = CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_INT, after_line, "after_line", "line of that match", .max = INT64_C(1) << 40),
};
CV_DESCRIBE(file_search_text, "search_text", S, search_text_rows);
#undef S

#define S struct cove_match
static const struct cv_field match_rows[] = {
	F(CV_STR, path, "path", "path as operations take it"),
	F(CV_INT, line, "line", "one-based"),
	F(CV_TEXT, text, "text", "the line without its end"),
	F(CV_BOOL, truncated, "truncated", "text was clipped"),
	F(CV_INT, match_at, "match_at", "where the match begins", .unit = "bytes",
	  .flags = CV_WIRE_ONLY),
	F(CV_INT, match_len, "match_len", "its length", .unit = "bytes", .flags = CV_WIRE_ONLY),
	F(CV_INT, context_start, "context_start", "line number of the first line of context",
	  .flags = CV_OMIT),
	F(CV_TEXT, context, "context", "the line with those around it", .flags = CV_OMIT),
};
static const struct cv_struct match_struct = {"match", sizeof(S), match_rows, CV_LEN(match_rows)};
#undef S

#define S struct cove_file_search_text_result
static const struct cv_field search_text_result_rows[] = {
	F(CV_OBJV, matches, "matches", "in the order of paths, then of lines", .flags = CV_PACKED,
	  .sub = &match_struct, OFFSET2(match_count)),
	F(CV_BOOL, has_more, "has_more", "more follow after these"),
	F(CV_INT, files_searched, "files_searched", "as far as the search went"),
	F(CV_INT, files_skipped, "files_skipped",
	  "binary, too large, with an endless line, or not readable"),
	F(CV_INT, hidden_count, "hidden_count", "entries left out as hidden or ignored"),
};
CV_DESCRIBE(file_search_text_result, "search_text_result", S, search_text_result_rows);
#undef S

#define S struct cove_file_mkdir_opts
static const struct cv_field mkdir_rows[] = {
	PATH_FIELD,
	F(CV_BOOL, parents, "parents", "make missing parents too"),
	F(CV_BOOL, exist_ok, "exist_ok", "an existing directory is fine"),
};
CV_DESCRIBE(file_mkdir, "mkdir", S, mkdir_rows);
#undef S

#define S struct cove_file_mkdir_result
static const struct cv_field mkdir_result_rows[] = {
	F(CV_BOOL, created, "created", "false: it was there"),
	RECEIPT,
};
CV_DESCRIBE(file_mkdir_result, "mkdir_result", S, mkdir_result_rows);
#undef S

#define S struct cove_file_remove_opts
static const struct cv_field remove_rows[] = {
	PATH_FIELD,
	F(CV_BOOL, recursive, "recursive", "a directory with all that is in it"),
	F(CV_BOOL, missing_ok, "missing_ok", "nothing there is fine"),
};
CV_DESCRIBE(file_remove, "remove", S, remove_rows);
#undef S

#define S struct cove_file_remove_result
static const struct cv_field remove_result_rows[] = {
	F(CV_INT, removed_entries, "removed_entries", "entries removed"),
	RECEIPT,
};
CV_DESCRIBE(file_remove_result, "remove_result", S, remove_result_rows);
#undef S

#define S struct cove_file_transfer_opts
static const struct cv_field transfer_rows[] = {
	F(CV_STR, source, "source", "what is copied or moved; a link itself",
	  .flags = CV_REQUIRED | CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_STR, destination, "destination", "its new path, not a directory to put it in",
	  .flags = CV_REQUIRED | CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_BOOL, replace, "replace", "in place of a file, a link or an empty directory"),
};
CV_DESCRIBE(file_transfer, "transfer", S, transfer_rows);
#undef S

#define S struct cove_file_copy_result
static const struct cv_field copy_result_rows[] = {
	F(CV_INT, bytes_copied, "bytes_copied", "sizes of the files", .unit = "bytes"),
	F(CV_INT, entries_copied, "entries_copied", "entries, the named one included"),
	RECEIPT,
};
CV_DESCRIBE(file_copy_result, "copy_result", S, copy_result_rows);
#undef S

#define S struct cove_file_move_result
static const struct cv_field move_result_rows[] = {RECEIPT};
CV_DESCRIBE(file_move_result, "move_result", S, move_result_rows);
#undef S

#define S struct cove_file_truncate_opts
static const struct cv_field truncate_rows[] = {
	PATH_FIELD,
	F(CV_INT, size_bytes, "size", "new size", .unit = "bytes",
	  .flags = CV_REQUIRED | CV_ZERO_OK, .max = INT64_C(1) << 50),
};
CV_DESCRIBE(file_truncate, "truncate", S, truncate_rows);
#undef S

#define S struct cove_file_truncate_result
static const struct cv_field truncate_result_rows[] = {RECEIPT};
CV_DESCRIBE(file_truncate_result, "truncate_result", S, truncate_result_rows);
#undef S

#define S struct cove_file_make_temp_opts
static const struct cv_field make_temp_rows[] = {
	F(CV_ENUM, kind, "kind", "what to make", .names = temps, .def = COVE_TEMP_FILE),
	F(CV_STR, prefix, "prefix", "begins its name; default tmp-", .max = 100),
	F(CV_STR, suffix, "suffix", "ends its name", .max = 100),
};
CV_DESCRIBE(file_make_temp, "make_temp", S, make_temp_rows);
#undef S

#define S struct cove_file_path_result
static const struct cv_field path_result_rows[] = {F(CV_STR, path, "path", "path")};
CV_DESCRIBE(file_path_result, "path_result", S, path_result_rows);
#undef S
