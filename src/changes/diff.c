/* SPDX-License-Identifier: Apache-2.0 */
/* The operation env.diff. */
#include "changes/changes.h"

#include "base/buf.h"
#include "base/fd.h"
#include "files/common.h"

#include <fcntl.h>

#define CHANGES_MAX 200000

struct diff {
	const struct cv_file_ctx *ctx;
	bool want_patch;
	struct cv_buf list; /* of struct cove_env_change */
	struct cv_buf patch;
	const char *too_large; /* the path that was */
	bool too_many;
};

static void diff_done(struct diff *d)
{
	cv_buf_done(&d->list);
	cv_buf_done(&d->patch);
}

static int kind_of(mode_t mode)
{
	return S_ISREG(mode) ? COVE_KIND_FILE :
	       S_ISDIR(mode) ? COVE_KIND_DIRECTORY :
	       S_ISLNK(mode) ? COVE_KIND_SYMLINK :
			       COVE_KIND_OTHER;
}

static int set_target(struct diff *d, const struct cv_pair *p, struct cove_env_change *c)
{
	char *target = NULL;
	size_t len;
	int rc = 0;

	if (c->kind != COVE_KIND_SYMLINK || c->change == COVE_DIFF_DELETED)
		return 0;
	rc = cv_content(p, 1, &target, &len);
	if (rc == 0) {
		c->link_target = cv_files_clean(d->ctx->arena, target, len);
		rc = c->link_target ? 0 : -ENOMEM;
	}
	free(target);
	return rc == -ENOMEM ? rc : 0;
}

/* 1: the patch has it, 0: not. */
static int patch(struct diff *d, const struct cv_pair *p)
{
	size_t len = d->patch.len;
	int rc = cv_patch_add(p, d->ctx->cancel, &d->patch);

	if (rc > 0)
		return 1;
	if (d->patch.data)
		d->patch.data[len] = '\0';
	d->patch.len = len;
	if (rc == -EFBIG || rc == -EMSGSIZE) {
		d->too_large = cv_files_clean(d->ctx->arena, p->path, strlen(p->path));
		return -EFBIG;
	}
	/* What can't be read, or is gone by now, is left out and said so. */
	return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
}

static int take(void *user, const struct cv_pair *p)
{
	struct diff *d = user;
	struct cove_env_change c = {
		.change = p->change,
		.kind = kind_of(p->st[p->which].st_mode),
	};
	int rc;

	if (d->list.len / sizeof(c) >= CHANGES_MAX) {
		d->too_many = true;
		return -EFBIG;
	}
	c.path = cv_files_clean(d->ctx->arena, p->path, strlen(p->path));
	if (!c.path)
		return -ENOMEM;
	rc = set_target(d, p, &c);
	if (rc == 0 && d->want_patch)
		rc = patch(d, p);
	if (rc < 0)
		return rc;
	c.left_out = d->want_patch && rc == 0;
	return cv_buf_add(&d->list, &c, sizeof(c));
}

static int compare(struct diff *d, const struct cv_origin *origin, const char *workspace,
		   const char *scratch, struct cove_error *err)
{
	CV_CLOSE int fd = origin->upper < 0 ? open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC) :
					      -1;
	struct cv_compare c = {
		.origin = origin,
		.now = origin->upper < 0 ? fd : origin->upper,
		.scratch = scratch && cv_path_below(scratch, workspace) ?
				   scratch + strlen(workspace) + 1 :
				   NULL,
		.cancel = d->ctx->cancel,
		.fn = take,
		.user = d,
	};
	int rc = c.now < 0 ? -errno : cv_compare_trees(&c);

	if (rc == 0)
		return 0;
	if (rc == -ECANCELED)
		return cv_fail(err, COVE_E_CANCELLED, "cancelled");
	if (rc != -EFBIG && rc != -EMSGSIZE)
		return cv_fail_errno(err, -rc, workspace, "can't compare '%s'", workspace);
	if (d->too_many || !d->too_large) {
		cv_fail(err, COVE_E_TOO_LARGE, "more than %d files were changed", CHANGES_MAX);
	} else {
		cv_fail(err, COVE_E_TOO_LARGE, "the patch is too large with '%s'", d->too_large);
		cv_err_hint(err, "take the list, and read the files by themselves");
		cv_err_path(err, d->too_large);
	}
	return COVE_E_TOO_LARGE;
}

static int fill(struct diff *d, struct cove_env_diff_result *r, struct cove_error *err)
{
	char *text;

	r->change_count = d->list.len / sizeof(*r->changes);
	r->changes = cv_arena_array(d->ctx->arena, r->change_count + 1, sizeof(*r->changes));
	if (!r->changes)
		return cv_files_no_memory(err);
	if (d->list.len > 0)
		memcpy(r->changes, d->list.data, d->list.len);
	if (!d->want_patch)
		return 0;
	r->data.len = d->patch.len;
	r->data.data = d->patch.data ? d->patch.data : "";
	text = TAKE(d->patch.data);
	return text && cv_arena_own(d->ctx->arena, free, text) < 0 ? cv_files_no_memory(err) : 0;
}

int cv_env_diff(const struct cv_file_ctx *ctx, const struct cv_origin *origin,
		const char *workspace, const char *scratch, const void *req, void *res,
		struct cove_error *err)
{
	const struct cove_env_diff_opts *opts = req;
	struct diff d __attribute__((cleanup(diff_done))) = {
		.ctx = ctx,
		.want_patch = opts->format == COVE_DIFF_PATCH,
		.list = CV_BUF((CHANGES_MAX + 1) * sizeof(struct cove_env_change)),
		.patch = CV_BUF((size_t)opts->max_bytes),
	};
	int rc;

	if (!origin->known) {
		cv_fail(err, COVE_E_NOT_SUPPORTED,
			"nothing tells what the directory was before: it is the workspace itself");
		cv_err_hint(err, "start from it as a seed, which a run never changes");
		return COVE_E_NOT_SUPPORTED;
	}
	rc = compare(&d, origin, workspace, scratch, err);
	return rc < 0 ? rc : fill(&d, res, err);
}
