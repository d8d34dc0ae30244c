/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a file, a link itself, or a directory.
 *
 * The name is removed relative to its proven directory and no link is followed on the way down
 * (base/tree.c). Once it has begun it goes on to the end: a tree that is half gone is what nobody
 * asked for. The working directory, a root, and what holds one of them are never removed.
 */
#include "files/common.h"

#include "base/tree.h"
#include "base/utf8.h"

#include <fcntl.h>

struct removal {
	const struct cv_file_ctx *ctx;
	const struct cove_file_remove_opts *opts;
	struct cove_file_remove_result *result;
	struct cove_error *err;
};

static int refuse(const struct removal *r, const struct cv_place *place)
{
	bool is_dots = strcmp(place->name, ".") == 0;
	const char *path = r->opts->path;
	cv_path real;

	if (is_dots)
		memcpy(real, place->dir, sizeof(real));
	else if (cv_path_join(real, place->dir, place->name) < 0)
		return 0; /* longer than any root can be */
	if (cv_files_hold_environment(r->ctx->space, real)) {
		cv_fail(r->err, COVE_E_PERMISSION_DENIED,
			"'%s' is or holds the working directory or a root of the environment",
			path);
		cv_err_path(r->err, path);
		return COVE_E_PERMISSION_DENIED;
	}
	if (!is_dots)
		return 0;
	cv_fail_arg(r->err, "path", "give the directory by its name", "ends in '.' or '..'");
	cv_err_path(r->err, path);
	return COVE_E_INVALID_ARGUMENT;
}

static int fail(const struct removal *r, int errnum)
{
	const char *path = r->opts->path;
	int rc;

	if (errnum == ENOENT && r->opts->missing_ok)
		return 0;
	/* Some file systems say EEXIST of a directory that is not empty. */
	rc = cv_fail_errno(r->err, errnum == EEXIST ? ENOTEMPTY : errnum, path,
			   "cannot remove '%s'", path);
	if (rc == COVE_E_NOT_EMPTY)
		cv_err_hint(r->err, "use recursive to remove a directory with all that is in it");
	return rc;
}

/* The path of what could not be removed, as it continues what the caller wrote. */
static int fail_inside(const struct removal *r, int errnum, const struct cv_tree_remove *tree)
{
	const char *path = r->opts->path;
	const char *below = strchr(tree->failed, '/');
	size_t len = strlen(path);
	const char *whole;
	int rc;

	if (!below)
		return fail(r, errnum);

	while (len > 1 && path[len - 1] == '/')
		len--;
	whole = cv_arena_printf(r->ctx->arena, "%.*s%s", (int)len, path, below);
	if (whole)
		whole = cv_files_clean(r->ctx->arena, whole, strlen(whole));
	if (!whole)
		return cv_files_no_memory(r->err);
	rc = cv_fail_errno(r->err, errnum, whole, "cannot remove '%s'", whole);
	cv_err_hint(r->err, "%lld entries were removed before it", (long long)tree->removed);
	return rc;
}

static int remove_tree(const struct removal *r, const struct cv_place *place)
{
	struct cv_tree_remove tree = {0};
	int rc = cv_tree_remove(place->dirfd, place->name, &tree);

	if (rc < 0)
		return fail_inside(r, -rc, &tree);
	r->result->removed_entries = tree.removed;
	return 0;
}

static int remove_one(const struct removal *r, const struct cv_place *place)
{
	const struct cove_file_remove_opts *opts = r->opts;
	struct stat st;

	if (fstatat(place->dirfd, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(r, errno);
	if (!S_ISDIR(st.st_mode) && cv_files_wants_directory(opts->path))
		return fail(r, ENOTDIR);
	if (S_ISDIR(st.st_mode) && opts->recursive)
		return remove_tree(r, place);
	if (unlinkat(place->dirfd, place->name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		return fail(r, errno);
	r->result->removed_entries = 1;
	return 0;
}

int cv_file_remove(const struct cv_file_ctx *ctx, const void *req, void *res,
		   struct cove_error *err)
{
	struct cove_file_remove_result *result = res;
	const struct cove_file_remove_opts *opts = req;
	struct removal r = {.ctx = ctx, .opts = opts, .result = result, .err = err};
	CV_PLACE_SCOPE struct cv_place place = {.dirfd = -1};
	struct cove_error reach = COVE_ERROR_INIT;
	int rc = cv_files_cancelled(ctx, err);

	if (rc < 0)
		return rc;
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = cv_resolve_place(ctx->space, opts->path, false, false, &place, &reach);
	if (rc == COVE_E_NOT_FOUND && opts->missing_ok)
		return 0;
	if (rc < 0 && err)
		*err = reach;
	if (rc == 0)
		rc = refuse(&r, &place);
	return rc < 0 ? rc : remove_one(&r, &place);
}
