/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as letters: checking, joining, normalising. Nothing here looks at a file. */
#ifndef CV_BASE_PATH_H
#define CV_BASE_PATH_H

#include "base/error.h"

#include <stdbool.h>

#define CV_PATH_MAX 4096

/* Room for a path and its NUL. */
typedef char cv_path[CV_PATH_MAX + 1];

/* Refuses an empty path, one that is too long, or not UTF-8. field names the argument. */
int cv_path_check(const char *path, const char *field, struct cove_error *err);

/*
 * The absolute form of a path as a user may write it: file:// URLs, ~, and paths relative to cwd.
 * `..` and links are left alone. 0, or invalid_argument.
 */
int cv_path_expand(const char *path, const char *cwd, const char *home, const char *field,
		   cv_path dst, struct cove_error *err);

/* Removes `.`, `..` and doubled slashes of an absolute path by its letters, in place. */
void cv_path_normalise(char *path);

/*
 * Whether path is root or lies below it, both absolute and normal; `/ws-evil` is not below `/ws`.
 */
bool cv_path_below(const char *path, const char *root);

/* dir + "/" + name; 0 or -ENAMETOOLONG. */
int cv_path_join(cv_path dst, const char *dir, const char *name);

/*
 * How results give an absolute path: relative to cwd below it, else as it is; "." for cwd. Points
 * into path.
 */
const char *cv_path_show(const char *path, const char *cwd);

/* Whether id has the form [A-Za-z0-9][A-Za-z0-9_-]{0,127}. */
bool cv_id_valid(const char *id);

#endif
