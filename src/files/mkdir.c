/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a directory.
 *
 * What is there already decides first, and is reached like any other path: a link to a directory
 * inside the roots counts as one. With exist_ok a directory is fine and anything else is
 * `already_exists`, a dangling link too.
 */
#include "files/common.h"

static int exists(const char *path, struct cove_error *err)
{
	return cv_fail_errno(err, EEXIST, path, "cannot make directory '%s'", path);
}

/* 1: made, 0: it was there. */
static int make(const struct cv_file_ctx *ctx, const struct cove_file_mkdir_opts *opts,
		struct cove_error *err)
{
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	CV_FOUND_SCOPE struct cv_found again = {.fd = -1};
	CV_PLACE_SCOPE struct cv_place place = {.dirfd = -1};
	int rc = cv_files_probe(ctx, opts->path, true, &found, err);

	if (rc < 0)
		return rc;
	if (rc > 0)
		return opts->exist_ok && S_ISDIR(found.st.st_mode) ? 0 : exists(opts->path, err);
	rc = cv_resolve_place(ctx->space, opts->path, false, opts->parents, &place, err);
	if (rc < 0)
		return rc;
	if (mkdirat(place.dirfd, place.name, 0777) == 0)
		return 1;
	if (errno != EEXIST)
		return cv_fail_errno(err, errno, opts->path, "cannot make directory '%s'",
				     opts->path);
	/* Somebody else was faster, or it is a dangling link, or parents made it (`new/sub/..`). */
	rc = opts->exist_ok ? cv_files_probe(ctx, opts->path, true, &again, err) : 0;
	if (rc < 0)
		return rc;
	return rc > 0 && S_ISDIR(again.st.st_mode) ? 0 : exists(opts->path, err);
}

int cv_file_mkdir(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	struct cove_file_mkdir_result *result = res;
	int rc = cv_files_cancelled(ctx, err);

	if (rc < 0)
		return rc;
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = make(ctx, req, err);
	result->created = rc > 0;
	return rc < 0 ? rc : 0;
}
