/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the operations that watch files. */
#include "base/path.h"
#include "ops/fields.h"

#include <cove/watch.h>

#define HANDLE F(CV_STR, watch, "watch", "handle, such as watch-1", .flags = CV_REQUIRED, .max = 32)

static const char *const changes[] = {"created", "modified", "deleted", "attributes", NULL};

#define S struct cove_file_watch_opts
static const struct cv_field watch_rows[] = {
	F(CV_STR, path, "path", "a file, or a directory and its entries",
	  .flags = CV_REQUIRED | CV_IS_PATH, .max = CV_PATH_MAX),
	F(CV_BOOL, recursive, "recursive", "all below a directory too"),
};
CV_DESCRIBE(file_watch, "watch", S, watch_rows);
#undef S

#define S struct cove_file_watch_result
static const struct cv_field watch_result_rows[] = {F(CV_STR, watch, "watch", "handle")};
CV_DESCRIBE(file_watch_result, "watch_result", S, watch_result_rows);
#undef S

#define S struct cove_file_watch_read_opts
static const struct cv_field watch_read_rows[] = {
	HANDLE,
	F(CV_INT, max_events, "max_events", "events at most", .def = 1000, .min = 1, .max = 10000),
	F(CV_INT, wait_ms, "wait_ms", "how long to wait for the first", .unit = "ms",
	  .max = INT32_MAX),
};
CV_DESCRIBE(file_watch_read, "watch_read", S, watch_read_rows);
#undef S

#define S struct cove_file_event
static const struct cv_field event_rows[] = {
	F(CV_STR, path, "path", "path as operations take it"),
	F(CV_ENUM, change, "change", "what has happened", .names = changes),
};
static const struct cv_struct event_struct = {
	.name = "event", .size = sizeof(S), .fields = event_rows, .count = CV_LEN(event_rows)};
#undef S

#define S struct cove_file_watch_read_result
static const struct cv_field watch_read_result_rows[] = {
	F(CV_OBJV, events, "events", "oldest first", .sub = &event_struct, OFFSET2(event_count)),
	F(CV_BOOL, has_more, "has_more", "more wait to be read"),
	F(CV_BOOL, overflow, "overflow", "some were lost: look at the files themselves"),
	F(CV_BOOL, ended, "ended", "what was watched is gone"),
};
CV_DESCRIBE(file_watch_read_result, "watch_read_result", S, watch_read_result_rows);
#undef S

#define S struct cove_file_watch_close_opts
static const struct cv_field watch_close_rows[] = {HANDLE};
CV_DESCRIBE(file_watch_close, "watch_close", S, watch_close_rows);
#undef S
