/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the operations on an environment as a whole. */
#include "base/clock.h"
#include "base/path.h"
#include "ops/fields.h"
#include "ops/table.h"

#include <cove/env.h>
#include <cove/process.h>

const struct cv_struct cv_struct_nothing = {.name = "nothing", .size = sizeof(struct cove_nothing)};

#define S struct cove_describe_limits
static const struct cv_field limit_rows[] = {
	F(CV_INT, message_bytes, "message_bytes", "largest message of the connection",
	  .unit = "bytes"),
	F(CV_INT, script_bytes, "script_bytes", "longest script", .unit = "bytes"),
	F(CV_INT, read_bytes, "read_bytes", "most bytes of one read", .unit = "bytes"),
	F(CV_INT, records, "records", "finished processes that are kept"),
};
static const struct cv_struct limit_struct = {"limits", sizeof(S), limit_rows, CV_LEN(limit_rows)};
#undef S

#define S struct cove_env_describe_result
static const struct cv_field describe_rows[] = {
	F(CV_STR, provider, "provider", "its provider"),
	F(CV_STR, namespace_id, "namespace_id", "id of its file namespace"),
	F(CV_STR, cwd, "cwd", "where relative paths start"),
	F(CV_STR, tmp_dir, "tmp_dir", "its own scratch directory", .flags = CV_OMIT),
	F(CV_STRV, roots, "roots", "allowed roots"),
	F(CV_STR, home, "home", "what ~ means"),
	F(CV_STR, shell, "shell", "shell of scripts", .flags = CV_OMIT),
	F(CV_STR, platform, "platform", "system and machine"),
	F(CV_STRV, operations, "operations", "permitted operations"),
	F(CV_OBJ, limits, "limits", "limits of requests", .sub = &limit_struct),
	F(CV_STRV, isolation, "isolation", "mechanism=state"),
	F(CV_STRV, facets, "facets", "facet=state"),
	F(CV_STR, text, "text", "the same in a few words"),
};
CV_DESCRIBE(env_describe_result, "describe", S, describe_rows);
#undef S

#define S struct cove_env_reset_result
static const struct cv_field reset_rows[] = {
	F(CV_INT, generation, "generation", "of the processes from now on"),
};
CV_DESCRIBE(env_reset_result, "reset", S, reset_rows);
#undef S

#define S struct cove_env_resolve_tmp_opts
static const struct cv_field resolve_rows[] = {
	F(CV_STR, path, "path", "relative path", .flags = CV_REQUIRED | CV_IS_PATH,
	  .max = CV_PATH_MAX),
};
CV_DESCRIBE(env_resolve_tmp, "resolve_tmp", S, resolve_rows);
#undef S

#define S struct cv_guest_setup
static const struct cv_field setup_rows[] = {
	F(CV_STR, provider, "provider", "its provider", .flags = CV_REQUIRED, .max = 64),
	F(CV_STR, namespace_id, "namespace_id", "id of the file namespace", .flags = CV_REQUIRED,
	  .max = 256),
	F(CV_STR, cwd, "cwd", "where relative paths start", .flags = CV_REQUIRED,
	  .max = CV_PATH_MAX),
	F(CV_STR, home, "home", "what ~ means", .flags = CV_REQUIRED, .max = CV_PATH_MAX),
	F(CV_STR, tmp_dir, "tmp_dir", "scratch directory", .max = CV_PATH_MAX),
	F(CV_STR, shell, "shell", "shell of scripts", .max = CV_PATH_MAX),
	F(CV_STR, seed, "seed", "copied into cwd first", .max = CV_PATH_MAX),
	F(CV_STRV, roots, "roots", "allowed roots", .max = 1000),
	F(CV_STRV, env, "env", "variables of every command", .max = 10000),
	F(CV_STRV, isolation, "isolation", "mechanism=state", .max = 100),
	F(CV_STR, text, "text", "for a model", .max = 4096, .flags = CV_EMPTY_OK),
	F(CV_INT, timeout_ms, "timeout_ms", "deadline of a command that gives none", .unit = "ms",
	  .min = 1, .max = CV_MS_MAX),
	F(CV_BOOL, fresh, "fresh", "cwd holds the seed alone"),
	F(CV_OBJP, sandbox, "sandbox", "what to build first", .sub = &cv_struct_sandbox_plan),
};
CV_DESCRIBE(guest_setup, "setup", S, setup_rows);
#undef S
