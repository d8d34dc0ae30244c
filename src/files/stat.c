/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is at a path: stat, exists, canonical, absolute.
 *
 * The first three resolve the path to a proven descriptor and ask that descriptor, so what they say
 * is true of one and the same thing. absolute works on letters and looks at no file.
 */
#include "files/common.h"

#include "base/utf8.h"

static const char *base_name(struct cv_arena *arena, const char *real)
{
	const char *slash = strrchr(real, '/');
	const char *name = slash && slash[1] ? slash + 1 : real;

	return cv_files_clean(arena, name, strlen(name));
}

int cv_file_stat(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	const struct cove_file_path_opts *opts = req;
	struct cove_file_entry *entry = res;
	CV_FOUND_SCOPE struct cv_found found;
	int rc = cv_resolve(ctx->space, opts->path, false, &found, err);

	if (rc < 0)
		return rc;
	entry->path = cv_files_show(ctx, found.real, opts->path);
	entry->name = base_name(ctx->arena, found.real);
	rc = cv_files_describe(ctx->arena, found.fd, "", &found.st, entry);
	return rc < 0 || !entry->path || !entry->name ? cv_files_no_memory(err) : 0;
}

int cv_file_exists(const struct cv_file_ctx *ctx, const void *req, void *res,
		   struct cove_error *err)
{
	const struct cove_file_path_opts *opts = req;
	struct cove_file_exists_result *result = res;
	CV_FOUND_SCOPE struct cv_found found;
	int rc = cv_files_probe(ctx, opts->path, false, &found, err);

	if (rc < 0)
		return rc;
	result->exists = rc > 0;
	return 0;
}

int cv_file_canonical(const struct cv_file_ctx *ctx, const void *req, void *res,
		      struct cove_error *err)
{
	const struct cove_file_path_opts *opts = req;
	struct cove_file_path_result *result = res;
	CV_FOUND_SCOPE struct cv_found found;
	int rc = cv_resolve(ctx->space, opts->path, true, &found, err);

	if (rc < 0)
		return rc;
	if (!cv_utf8_valid(found.real, strlen(found.real))) {
		cv_fail(err, COVE_E_NOT_SUPPORTED, "the path behind '%s' is not UTF-8", opts->path);
		cv_err_path(err, opts->path);
		return COVE_E_NOT_SUPPORTED;
	}
	result->path = cv_arena_dup(ctx->arena, found.real, strlen(found.real));
	return result->path ? 0 : cv_files_no_memory(err);
}

int cv_file_absolute(const struct cv_file_ctx *ctx, const void *req, void *res,
		     struct cove_error *err)
{
	const struct cove_file_path_opts *opts = req;
	struct cove_file_path_result *result = res;
	const struct cv_space *sp = ctx->space;
	cv_path abs;
	int rc = cv_path_expand(opts->path, sp->cwd, sp->home, "path", abs, err);

	if (rc < 0)
		return rc;
	cv_path_normalise(abs);
	result->path = cv_arena_dup(ctx->arena, abs, strlen(abs));
	return result->path ? 0 : cv_files_no_memory(err);
}
