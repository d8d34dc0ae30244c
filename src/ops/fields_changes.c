/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the operations that tell what was changed. */
#include "ops/fields.h"

#include <cove/changes.h>

#define PATCH_MAX (64 << 20)

static const char *const formats[] = {"list", "patch", NULL};
static const char *const changes[] = {"added", "modified",   "deleted", "mode",
				      "link",  "unreadable", NULL};
static const char *const kinds[] = {"file", "directory", "symlink", "other", NULL};

#define S struct cove_env_diff_opts
static const struct cv_field diff_rows[] = {
	F(CV_ENUM, format, "format", "whether a patch is wanted too", .names = formats,
	  .def = COVE_DIFF_LIST),
	F(CV_INT, max_bytes, "max_bytes", "of the patch at most", .unit = "bytes", .def = PATCH_MAX,
	  .min = 1, .max = PATCH_MAX),
};
CV_DESCRIBE(env_diff, "diff", S, diff_rows);
#undef S

#define S struct cove_env_change
static const struct cv_field change_rows[] = {
	F(CV_STR, path, "path", "below the workspace"),
	F(CV_ENUM, change, "change", "what has happened", .names = changes),
	F(CV_ENUM, kind, "kind", "what it is, or was", .names = kinds),
	F(CV_STR, link_target, "link_target", "of a link that is there", .flags = CV_OMIT),
	F(CV_BOOL, left_out, "left_out", "not in the patch", .flags = CV_OMIT),
};
static const struct cv_struct change_struct = {
	.name = "change", .size = sizeof(S), .fields = change_rows, .count = CV_LEN(change_rows)};
#undef S

#define S struct cove_env_diff_result
static const struct cv_field diff_result_rows[] = {
	F(CV_OBJV, changes, "changes", "by path", .flags = CV_PACKED, .sub = &change_struct,
	  OFFSET2(change_count)),
	F(CV_BYTES, data, "data", "the patch, where one was asked for", .flags = CV_OMIT),
};
CV_DESCRIBE(env_diff_result, "diff_result", S, diff_result_rows);
#undef S
