/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.copy and file.move.
 *
 * Both work on a name in a proven directory, and on a link itself. A copy is made in a private
 * directory beside its destination and then renamed into place, so that nobody sees half of it and
 * a failure leaves nothing. Neither takes the place of anything without replace, not even of what
 * comes into being at the last moment: the kernel refuses to rename over it.
 */
#include "files/common.h"
#include "files/copy.h"

#include "base/fd.h"
#include "base/tree.h"

#include <fcntl.h>
#include <stdio.h>

struct transfer {
	const struct cv_file_ctx *ctx;
	const struct cove_file_transfer_opts *opts;
	const char *verb;
	struct cove_error *err;
	struct cv_place from;
	struct cv_place to;
	struct stat st; /* of the source */
};

static void transfer_done(struct transfer *t)
{
	cv_place_done(&t->from);
	cv_place_done(&t->to);
}

static int fail(const struct transfer *t, int rc, const char *path)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(t->ctx, t->err);
	return cv_fail_errno(t->err, -rc, path, "cannot %s '%s'", t->verb, path);
}

static int refuse_dots(const struct transfer *t, const char *field, const char *path)
{
	cv_fail_arg(t->err, field, "give it by its name", "ends in '.' or '..', or is a root");
	cv_err_path(t->err, path);
	return COVE_E_INVALID_ARGUMENT;
}

/* What may not be written over: what there is, or, with replace, what holds the environment. */
static int check_destination(const struct transfer *t)
{
	const char *path = t->opts->destination;
	struct stat st;
	cv_path real;

	if (cv_files_wants_directory(path) && !S_ISDIR(t->st.st_mode))
		return fail(t, -ENOTDIR, path);
	if (fstatat(t->to.dirfd, t->to.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(t, -errno, path);
	if (!t->opts->replace) {
		int rc = fail(t, -EEXIST, path);

		cv_err_hint(t->err, "with replace it would be replaced");
		return rc;
	}
	if (S_ISDIR(st.st_mode) && cv_path_join(real, t->to.dir, t->to.name) == 0 &&
	    cv_files_hold_environment(t->ctx->space, real))
		return fail(t, -EPERM, path);
	return 0;
}

static int reach(struct transfer *t)
{
	const struct cove_file_transfer_opts *o = t->opts;
	const struct cv_space *sp = t->ctx->space;
	int rc = cv_files_cancelled(t->ctx, t->err);

	if (rc == 0)
		rc = cv_resolve_place(sp, o->source, false, false, &t->from, t->err);
	if (rc == 0)
		rc = cv_resolve_place(sp, o->destination, false, false, &t->to, t->err);
	if (rc < 0)
		return rc;
	if (strcmp(t->from.name, ".") == 0)
		return refuse_dots(t, "source", o->source);
	if (strcmp(t->to.name, ".") == 0)
		return refuse_dots(t, "destination", o->destination);
	if (fstatat(t->from.dirfd, t->from.name, &t->st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(t, -errno, o->source);
	if (cv_files_wants_directory(o->source) && !S_ISDIR(t->st.st_mode))
		return fail(t, -ENOTDIR, o->source);
	return check_destination(t);
}

/* Renames dirfd/name to the destination. */
static int put_in_place(const struct transfer *t, int dirfd, const char *name)
{
	const char *path = t->opts->destination;
	unsigned flags = t->opts->replace ? 0 : RENAME_NOREPLACE;

	if (renameat2(dirfd, name, t->to.dirfd, t->to.name, flags) == 0)
		return 0;
	if (errno == EEXIST && flags) {
		cv_fail(t->err, COVE_E_CONFLICT, "somebody else has just made '%s'", path);
		cv_err_path(t->err, path);
		return COVE_E_CONFLICT;
	}
	if (errno == EXDEV || (errno == EINVAL && !S_ISDIR(t->st.st_mode))) {
		cv_fail_errno(t->err, EOPNOTSUPP, path, "cannot %s to '%s' in one step", t->verb,
			      path);
		cv_err_hint(t->err, "copy it, then remove the source");
		return COVE_E_NOT_SUPPORTED;
	}
	return fail(t, errno == EEXIST ? -ENOTEMPTY : -errno, path);
}

int cv_file_move(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	struct cove_file_move_result *result = res;
	struct transfer t __attribute__((cleanup(transfer_done))) = {.ctx = ctx,
								     .opts = req,
								     .verb = "move",
								     .err = err,
								     .from = {.dirfd = -1},
								     .to = {.dirfd = -1}};
	cv_path real;
	int rc;

	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = reach(&t);
	if (rc == 0 && S_ISDIR(t.st.st_mode) && cv_path_join(real, t.from.dir, t.from.name) == 0 &&
	    cv_files_hold_environment(ctx->space, real)) {
		rc = cv_fail(err, COVE_E_PERMISSION_DENIED,
			     "'%s' is or holds the working directory or a root of the environment",
			     t.opts->source);
		cv_err_path(err, t.opts->source);
	}
	return rc < 0 ? rc : put_in_place(&t, t.from.dirfd, t.from.name);
}

/* A directory beside the destination that nobody else sees into. */
static int make_private(const struct transfer *t, char name[16], int *ret_fd)
{
	for (int i = 0; i < 100; i++) {
		memcpy(name, ".cove-", 6);
		cv_random_name(name + 6, 8);
		if (mkdirat(t->to.dirfd, name, 0700) == 0) {
			*ret_fd = openat(t->to.dirfd, name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			return *ret_fd < 0 ? -errno : 0;
		}
		if (errno != EEXIST)
			break;
	}
	name[0] = '\0';
	return -errno;
}

static int fail_inside(const struct transfer *t, int rc, const struct cv_copied *copied)
{
	const char *below = strchr(copied->failed, '/');
	const char *path = t->opts->source;

	if (below)
		path = cv_arena_printf(t->ctx->arena, "%s%s", path, below);
	if (path)
		path = cv_files_clean(t->ctx->arena, path, strlen(path));
	return path ? fail(t, rc, path) : cv_files_no_memory(t->err);
}

/* A directory that its owner can't write to can't change its parent either, unless for a moment. */
static int put_copy_in_place(const struct transfer *t, int dirfd)
{
	mode_t mode = t->st.st_mode & 07777;
	CV_CLOSE int fd = -1;
	int rc;

	if (!S_ISDIR(t->st.st_mode) || (mode & 0700) == 0700)
		return put_in_place(t, dirfd, t->from.name);
	if (fchmodat(dirfd, t->from.name, mode | 0700, 0) < 0)
		return fail(t, -errno, t->opts->destination);
	fd = openat(dirfd, t->from.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(t, -errno, t->opts->destination);
	rc = put_in_place(t, dirfd, t->from.name);
	if (rc == 0 && fchmod(fd, mode) < 0)
		rc = fail(t, -errno, t->opts->destination);
	return rc;
}

static int copy_into(const struct transfer *t, int dirfd, struct cove_file_copy_result *result)
{
	struct cv_copied copied;
	int rc = cv_copy_entry(t->from.dirfd, t->from.name, dirfd, t->ctx->cancel, &copied);

	result->bytes_copied = copied.bytes;
	result->entries_copied = copied.entries;
	if (rc < 0)
		return fail_inside(t, rc, &copied);
	if (copied.entries == 0)
		return fail(t, -ENOENT, t->opts->source); /* it has vanished meanwhile */
	rc = cv_files_cancelled(t->ctx, t->err);
	return rc < 0 ? rc : put_copy_in_place(t, dirfd);
}

static int copy(const struct transfer *t, struct cove_file_copy_result *result)
{
	struct cv_tree_remove sweep = {.force = true, .keep_going = true};
	CV_CLOSE int dirfd = -1;
	char name[16];
	int rc;

	if (S_ISSOCK(t->st.st_mode) || S_ISBLK(t->st.st_mode) || S_ISCHR(t->st.st_mode)) {
		cv_fail_arg(t->err, "source", NULL, "is a socket or device, which is not copied");
		cv_err_path(t->err, t->opts->source);
		return COVE_E_INVALID_ARGUMENT;
	}
	if (cv_copy_would_nest(t->to.dirfd, &t->st)) {
		cv_fail_arg(t->err, "destination", NULL, "lies inside the source");
		cv_err_path(t->err, t->opts->destination);
		return COVE_E_INVALID_ARGUMENT;
	}
	rc = make_private(t, name, &dirfd);
	rc = rc < 0 ? fail(t, rc, t->opts->destination) : copy_into(t, dirfd, result);
	if (name[0])
		cv_tree_remove(t->to.dirfd, name, &sweep);
	return rc;
}

int cv_file_copy(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	struct cove_file_copy_result *result = res;
	struct transfer t __attribute__((cleanup(transfer_done))) = {.ctx = ctx,
								     .opts = req,
								     .verb = "copy",
								     .err = err,
								     .from = {.dirfd = -1},
								     .to = {.dirfd = -1}};
	int rc;

	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = reach(&t);
	return rc < 0 ? rc : copy(&t, result);
}
