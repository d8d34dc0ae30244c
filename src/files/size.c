/* SPDX-License-Identifier: Apache-2.0 */
/* file.truncate and file.sync: a file as it is, changed in size or put on the disk. */
#include "files/common.h"

#include <fcntl.h>

int cv_file_truncate(const struct cv_file_ctx *ctx, const void *req, void *res,
		     struct cove_error *err)
{
	const struct cove_file_truncate_opts *opts = req;
	struct cove_file_truncate_result *result = res;
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	CV_CLOSE int fd = -1;
	int rc = cv_files_cancelled(ctx, err);

	if (rc < 0)
		return rc;
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = cv_resolve(ctx->space, opts->path, true, &found, err);
	if (rc == 0)
		rc = cv_files_refuse_kind(found.st.st_mode, opts->path, err);
	if (rc < 0)
		return rc;
	fd = cv_files_reopen(found.fd, O_WRONLY);
	if (fd < 0 || ftruncate(fd, opts->size_bytes) < 0)
		return cv_fail_errno(err, fd < 0 ? -fd : errno, opts->path, "cannot truncate '%s'",
				     opts->path);
	return 0;
}

int cv_file_sync(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	const struct cove_file_path_opts *opts = req;
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	CV_CLOSE int fd = -1;
	int rc = cv_files_cancelled(ctx, err);

	(void)res;
	if (rc == 0)
		rc = cv_resolve(ctx->space, opts->path, true, &found, err);
	if (rc == 0 && !S_ISDIR(found.st.st_mode))
		rc = cv_files_refuse_kind(found.st.st_mode, opts->path, err);
	if (rc < 0)
		return rc;
	fd = cv_files_reopen(found.fd, O_RDONLY);
	if (fd < 0 || fsync(fd) < 0)
		return cv_fail_errno(err, fd < 0 ? -fd : errno, opts->path, "cannot sync '%s'",
				     opts->path);
	return 0;
}
