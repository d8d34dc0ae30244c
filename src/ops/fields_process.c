/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of commands, processes and their output. */
#include "base/clock.h"
#include "base/path.h"
#include "ops/fields.h"

#include <cove/output.h>
#include <cove/process.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define HANDLE                                                                                     \
	F(CV_STR, process, "process", "handle, such as process-1",                                 \
	  .flags = CV_REQUIRED | CV_IS_PATH, .max = 64),                                           \
		F(CV_INT, generation, "generation", "the one it was given with", .min = 1,         \
		  .max = INT64_MAX)

static const char *const phases[] = {"running", "exited", "signaled", "failed", "lost", NULL};
static const char *const reasons[] = {"exit",	      "signal", "timeout", "cancelled", "oom",
				      "output_limit", "killed", "reset",   NULL};
static const char *const trees[] = {"running", "clean", "failed", NULL};
static const char *const policies[] = {"ring", "head", "fail", NULL};
static const char *const descendants[] = {"kill", "adopt", NULL};
static const char *const untils[] = {"clean", "exited", NULL};
static const char *const streams[] = {"stdout", "stderr", "output", NULL};
static const char *const coverages[] = {"complete", "partial", "unknown", NULL};

#define S struct cove_exit
static const struct cv_field exit_rows[] = {
	F(CV_ENUM, phase, "phase", "what became of the leader", .names = phases),
	F(CV_INT, code, "code", "exit code, when exited", .flags = CV_OMIT, .def = -1),
	F(CV_STR, signal, "signal", "name of the signal, when signaled", .flags = CV_OMIT),
	F(CV_ENUM, reason, "reason", "why it ended", .names = reasons, .flags = CV_OMIT),
	F(CV_ENUM, tree, "tree", "state of the whole tree", .names = trees),
	F(CV_INT, survivors, "survivors", "descendants alive when the leader ended"),
	F(CV_INT, duration_ms, "duration_ms", "from the request to the leader's end", .unit = "ms"),
	F(CV_INT, user_ms, "user_ms", "processor time in user mode", .unit = "ms"),
	F(CV_INT, system_ms, "system_ms", "processor time in the kernel", .unit = "ms"),
	F(CV_INT, max_rss_bytes, "max_rss_bytes", "largest resident memory of one process",
	  .unit = "bytes"),
};
static const struct cv_struct exit_struct = {"exit", sizeof(S), exit_rows, CV_LEN(exit_rows)};
#undef S

#define S struct cove_env_vars
static const struct cv_field env_rows[] = {
	F(CV_MAP, set, "set", "variables to set", .max = 10000),
	F(CV_STRV, unset, "unset", "names to leave out", .max = 10000),
	F(CV_TRI, inherit, "inherit", "start from the environment's variables; default true"),
};
static const struct cv_struct env_struct = {"env", sizeof(S), env_rows, CV_LEN(env_rows)};
#undef S

#define S struct cove_limits
static const struct cv_field limit_rows[] = {
	F(CV_INT, memory_bytes, "memory_bytes", "memory of the tree", .unit = "bytes", .min = 1,
	  .max = INT64_MAX),
	F(CV_INT, processes, "processes", "processes of the tree", .min = 1, .max = 1 << 22),
	F(CV_INT, cpu_ms, "cpu_ms", "processor time of the tree", .unit = "ms", .min = 1,
	  .max = INT64_MAX),
	F(CV_INT, file_size_bytes, "file_size_bytes", "largest file it may write", .unit = "bytes",
	  .min = 1, .max = INT64_MAX),
	F(CV_INT, output_bytes, "output_bytes", "both streams together", .unit = "bytes", .min = 1,
	  .max = INT64_MAX),
};
static const struct cv_struct limit_struct = {"limits", sizeof(S), limit_rows, CV_LEN(limit_rows)};
#undef S

#define S struct cove_tty
static const struct cv_field tty_rows[] = {
	F(CV_INT, rows, "rows", "height", .def = 24, .min = 1, .max = 65535),
	F(CV_INT, cols, "cols", "width", .def = 80, .min = 1, .max = 65535),
};
static const struct cv_struct tty_struct = {"tty", sizeof(S), tty_rows, CV_LEN(tty_rows)};
#undef S

#define S struct cove_spill
static const struct cv_field spill_rows[] = {
	F(CV_INT, after_bytes, "after_bytes", "both streams exceed so many", .unit = "bytes",
	  .def = 50000, .max = 64 * MIB, .flags = CV_ZERO_OK),
	F(CV_INT, after_lines, "after_lines", "or so many lines", .min = 1, .max = 10000000),
	F(CV_BOOL, required, "required", "a failing spill ends the command"),
};
static const struct cv_struct spill_struct = {"spill", sizeof(S), spill_rows, CV_LEN(spill_rows)};
#undef S

#define S struct cove_output_opts
static const struct cv_field output_rows[] = {
	F(CV_BOOL, merge, "merge", "one stream `output` in arrival order"),
	F(CV_INT, retain_bytes, "retain_bytes", "kept per stream", .unit = "bytes", .def = 16 * MIB,
	  .min = 1, .max = GIB),
	F(CV_ENUM, policy, "policy", "what happens beyond that", .names = policies,
	  .def = COVE_POLICY_RING),
	F(CV_OBJP, spill, "spill", "all of it in a file", .sub = &spill_struct),
	F(CV_BOOL, render, "render", "exec: texts as a terminal would show them"),
};
static const struct cv_struct output_struct = {"output", sizeof(S), output_rows,
					       CV_LEN(output_rows)};
#undef S

#define S struct cove_exec_opts
#define COMMAND_FIELDS                                                                             \
	F(CV_STRV, argv, "argv", "program and arguments, no shell", .flags = CV_EMPTY_OK,          \
	  .max = 100000),                                                                          \
		F(CV_STR, script, "script", "shell script, up to 1 MiB", .max = MIB),              \
		F(CV_STR, cwd, "cwd", "working directory", .max = CV_PATH_MAX,                     \
		  .flags = CV_IS_PATH),                                                            \
		F(CV_OBJ, env, "env", "variables", .sub = &env_struct),                            \
		F(CV_BYTES, stdin_data, "stdin", "written to its stdin, which is then closed",     \
		  .max = 16 * MIB),                                                                \
		F(CV_BOOL, keep_stdin_open, "keep_stdin_open",                                     \
		  "leave its stdin open for further writes"),                                      \
		F(CV_OBJP, tty, "tty", "a terminal as stdin and merged output",                    \
		  .sub = &tty_struct),                                                             \
		F(CV_INT, timeout_ms, "timeout_ms", "deadline", .unit = "ms", .min = 1,            \
		  .max = CV_MS_MAX),                                                               \
		F(CV_INT, grace_ms, "grace_ms", "from TERM to KILL", .unit = "ms", .def = 2000,    \
		  .max = CV_MS_MAX, .flags = CV_ZERO_OK),                                          \
		F(CV_OBJ, limits, "limits", "limits", .sub = &limit_struct),                       \
		F(CV_OBJ, output, "output", "how output is kept", .sub = &output_struct),          \
		F(CV_STR, id, "id", "caller's id of the command", .max = 128)
static const struct cv_field start_rows[] = {COMMAND_FIELDS};
static const struct cv_field exec_rows[] = {
	COMMAND_FIELDS,
	F(CV_ENUM, descendants, "descendants", "what happens to processes that outlive it",
	  .names = descendants, .def = COVE_DESCENDANTS_KILL),
	F(CV_INT, max_output_bytes, "max_output_bytes", "budget of each text in the result",
	  .unit = "bytes", .def = 50000, .min = 1, .max = 16 * MIB),
	F(CV_BOOL, keep, "keep", "keep the record as a numbered process"),
	F(CV_INT, yield_ms, "yield_ms", "still running then, it becomes a numbered process",
	  .unit = "ms", .min = 1, .max = CV_MS_MAX),
	F(CV_STR, session, "session", "keeps directory, variables, functions, aliases", .max = 128),
	F(CV_FN, on_output, "live", "output is wanted as it arrives", .flags = CV_WIRE_ONLY),
};
CV_DESCRIBE(process_start, "start", S, start_rows);
CV_DESCRIBE(process_exec, "exec", S, exec_rows);
#undef S

#define S struct cove_exec_result
static const struct cv_field exec_result_rows[] = {
	F(CV_OBJ, exit, "exit", "how it ended", .sub = &exit_struct),
	F(CV_OUTPUT, out, "stdout", "head and tail of its stdout", .alt = "output",
	  OFFSET2(merged)),
	F(CV_OUTPUT, err, "stderr", "head and tail of its stderr", OFFSET2(merged)),
	F(CV_BOOL, merged, "merged", "stdout holds both", .flags = CV_WIRE_ONLY),
	F(CV_STR, process, "process", "handle, where a record was kept", .flags = CV_OMIT),
	F(CV_INT, generation, "generation", "of the handle", .flags = CV_OMIT),
};
CV_DESCRIBE(process_exec_result, "exec_result", S, exec_result_rows);
#undef S

#define S struct cove_process_start_result
static const struct cv_field start_result_rows[] = {
	F(CV_STR, process, "process", "handle"),
	F(CV_INT, generation, "generation", "of the handle"),
};
CV_DESCRIBE(process_start_result, "start_result", S, start_result_rows);
#undef S

#define S struct cove_process_wait_opts
static const struct cv_field wait_rows[] = {
	HANDLE,
	F(CV_ENUM, until, "until", "which moment", .names = untils, .def = COVE_UNTIL_CLEAN),
	F(CV_INT, timeout_ms, "timeout_ms", "how long at most; 0: only look", .unit = "ms",
	  .def = -1, .max = CV_MS_MAX, .flags = CV_ZERO_OK),
};
CV_DESCRIBE(process_wait, "wait", S, wait_rows);
#undef S

#define S struct cove_process_wait_result
static const struct cv_field wait_result_rows[] = {
	F(CV_OBJ, exit, "exit", "the state now", .sub = &exit_struct),
};
CV_DESCRIBE(process_wait_result, "wait_result", S, wait_result_rows);
#undef S

#define S struct cove_process_ref
static const struct cv_field ref_rows[] = {HANDLE};
CV_DESCRIBE(process_ref, "process", S, ref_rows);
#undef S

#define S struct cove_process_info
static const struct cv_field info_rows[] = {
	F(CV_STR, process, "process", "handle"),
	F(CV_INT, generation, "generation", "of the handle"),
	F(CV_STR, command, "command", "program and arguments, or script"),
	F(CV_OBJ, exit, "exit", "how it stands", .sub = &exit_struct),
};
CV_DESCRIBE(process_info, "info", S, info_rows);
#undef S

#define S struct cove_process_list_result
static const struct cv_field process_list_rows[] = {
	F(CV_OBJV, processes, "processes", "in the order of their numbers",
	  .sub = &cv_struct_process_info, OFFSET2(process_count)),
};
CV_DESCRIBE(process_list_result, "process_list", S, process_list_rows);
#undef S

#define S struct cove_process_completions_opts
static const struct cv_field completions_rows[] = {
	F(CV_INT, max, "max", "entries at most", .def = 100, .min = 1, .max = 1000),
	F(CV_INT, wait_ms, "wait_ms", "wait so long for a first one", .unit = "ms",
	  .max = CV_MS_MAX),
};
CV_DESCRIBE(process_completions, "completions", S, completions_rows);
#undef S

#define S struct cove_process_completions_result
static const struct cv_field completions_result_rows[] = {
	F(CV_OBJV, completions, "completions", "in the order in which they became clean",
	  .sub = &cv_struct_process_info, OFFSET2(completion_count)),
	F(CV_BOOL, has_more, "has_more", "more wait to be told"),
};
CV_DESCRIBE(process_completions_result, "completions_result", S, completions_result_rows);
#undef S

#define S struct cove_process_resize_opts
static const struct cv_field resize_rows[] = {
	HANDLE,
	F(CV_INT, rows, "rows", "height", .flags = CV_REQUIRED, .min = 1, .max = 65535),
	F(CV_INT, cols, "cols", "width", .flags = CV_REQUIRED, .min = 1, .max = 65535),
};
CV_DESCRIBE(process_resize, "resize", S, resize_rows);
#undef S

#define S struct cove_process_signal_opts
static const struct cv_field signal_rows[] = {
	HANDLE,
	F(CV_STR, signal, "signal", "name, such as INT", .flags = CV_REQUIRED, .max = 16),
};
CV_DESCRIBE(process_signal, "signal", S, signal_rows);
#undef S

#define S struct cove_process_kill_opts
static const struct cv_field kill_rows[] = {
	HANDLE,
	F(CV_INT, grace_ms, "grace_ms", "from TERM to KILL", .unit = "ms", .def = 2000,
	  .max = CV_MS_MAX, .flags = CV_ZERO_OK),
};
CV_DESCRIBE(process_kill, "kill", S, kill_rows);
#undef S

#define S struct cove_process_write_stdin_opts
static const struct cv_field write_stdin_rows[] = {
	HANDLE,
	F(CV_BYTES, data, "data", "the bytes", .flags = CV_REQUIRED, .max = 16 * MIB),
};
CV_DESCRIBE(process_write_stdin, "write_stdin", S, write_stdin_rows);
#undef S

#define S struct cove_process_write_stdin_result
static const struct cv_field write_stdin_result_rows[] = {
	F(CV_INT, bytes_written, "bytes_written", "bytes that the pipe took", .unit = "bytes"),
};
CV_DESCRIBE(process_write_stdin_result, "write_stdin_result", S, write_stdin_result_rows);
#undef S

#define S struct cove_output_read_opts
static const struct cv_field read_rows[] = {
	HANDLE,
	F(CV_ENUM, stream, "stream", "stdout, stderr, or output of a merged process",
	  .names = streams),
	F(CV_INT, offset, "offset", "first byte", .unit = "bytes", .max = INT64_MAX),
	F(CV_INT, max_bytes, "max_bytes", "bytes at most", .unit = "bytes", .def = 65536, .min = 1,
	  .max = 4 * MIB),
	F(CV_INT, wait_ms, "wait_ms", "wait so long for a first byte", .unit = "ms",
	  .max = CV_MS_MAX),
	F(CV_BOOL, text, "text", "as text: cut on code points, U+FFFD for what is not UTF-8"),
};
CV_DESCRIBE(output_read, "read", S, read_rows);
#undef S

#define S struct cove_output_read_result
static const struct cv_field read_result_rows[] = {
	F(CV_BYTES, data, "data", "the bytes; or `text`, where it was asked for", .alt = "text",
	  OFFSET2(is_text)),
	F(CV_BOOL, is_text, "is_text", "data is text", .flags = CV_WIRE_ONLY),
	F(CV_INT, offset, "offset", "of the first byte", .unit = "bytes"),
	F(CV_INT, next_offset, "next_offset", "where to go on", .unit = "bytes"),
	F(CV_INT, available_start, "available_start", "oldest byte kept", .unit = "bytes"),
	F(CV_INT, produced, "produced", "written so far", .unit = "bytes"),
	F(CV_INT, dropped, "dropped", "of them no longer kept", .unit = "bytes"),
	F(CV_BOOL, producer_complete, "producer_complete", "nothing more will be written"),
	F(CV_BOOL, content_complete, "content_complete", "and this page reaches the end"),
	F(CV_ENUM, coverage, "coverage", "whether all is still kept", .names = coverages),
	F(CV_STR, coverage_reason, "coverage_reason", "why not", .flags = CV_OMIT),
};
CV_DESCRIBE(output_read_result, "read_result", S, read_result_rows);
#undef S
