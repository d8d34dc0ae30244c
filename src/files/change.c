/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is read, and then made, replaced or deleted as a whole. */
#include "files/change.h"

#include "base/fd.h"

#include <fcntl.h>

static int fail(const struct cv_change *c, int rc, struct cove_error *err)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(c->ctx, err);
	return cv_fail_errno(err, -rc, c->path, "cannot change '%s'", c->path);
}

static int conflict(const struct cv_change *c, struct cove_error *err)
{
	cv_fail(err, COVE_E_CONFLICT, "'%s' is being changed by somebody else", c->path);
	cv_err_path(err, c->path);
	return COVE_E_CONFLICT;
}

/* Looks at a file that must be there. */
static int look(struct cv_change *c, struct cove_error *err)
{
	int rc;

	if (strcmp(c->place.name, ".") == 0)
		return fail(c, -EISDIR, err);
	c->fd = openat(c->place.dirfd, c->place.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (c->fd < 0 || fstat(c->fd, &c->st) < 0)
		return fail(c, -errno, err);
	if (S_ISLNK(c->st.st_mode))
		return conflict(c, err);
	rc = cv_files_refuse_kind(c->st.st_mode, c->path, err);
	if (rc == 0 && cv_files_wants_directory(c->path))
		rc = fail(c, -ENOTDIR, err);
	if (rc == 0 && faccessat(c->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		rc = fail(c, -errno, err);
	return rc;
}

int cv_change_open(struct cv_change *c, const struct cv_file_ctx *ctx, const char *path,
		   enum cv_expect expect, struct cove_error *err)
{
	bool is_new = expect == CV_EXPECT_NOTHING;
	struct stat st;
	int rc;

	*c = CV_CHANGE_NONE;
	c->ctx = ctx;
	c->path = path;
	rc = cv_resolve_place(ctx->space, path, !is_new, is_new, &c->place, err);
	if (rc < 0)
		return rc;
	if (!is_new)
		return look(c, err);
	if (cv_files_wants_directory(path) || strcmp(c->place.name, ".") == 0)
		return fail(c, -EISDIR, err);
	if (fstatat(c->place.dirfd, c->place.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return fail(c, -EEXIST, err);
	return errno == ENOENT ? 0 : fail(c, -errno, err);
}

int cv_change_read(struct cv_change *c, char **ret_data, size_t *ret_len, struct cove_error *err)
{
	CV_CLOSE int fd = cv_files_reopen(c->fd, O_RDONLY);
	CV_FREE char *data = NULL;
	size_t size = (size_t)c->st.st_size;
	ssize_t n;

	if (fd < 0)
		return fail(c, fd, err);
	if (size > CV_CHANGE_MAX) {
		cv_fail(err, COVE_E_TOO_LARGE, "'%s' is larger than %zu MiB", c->path,
			CV_CHANGE_MAX >> 20);
		cv_err_path(err, c->path);
		return COVE_E_TOO_LARGE;
	}
	data = malloc(size + 2);
	if (!data)
		return cv_files_no_memory(err);
	n = cv_read_full(fd, data, size + 1);
	if (n < 0)
		return fail(c, (int)n, err);
	if ((size_t)n != size)
		return conflict(c, err);
	data[n] = '\0';
	*ret_data = TAKE(data);
	*ret_len = size;
	return 0;
}

int cv_change_stage(struct cv_change *c, const char *data, size_t len, mode_t mode,
		    const struct cv_change *like, struct cove_error *err)
{
	struct cv_stage *s = &c->stage;
	int rc;

	like = like ? like : c;
	rc = cv_stage_open(s, c->place.dirfd, like->fd >= 0 ? 0600 : mode ? mode : 0666);
	if (rc == 0)
		rc = cv_stage_write(s, data, len, c->ctx->cancel);
	if (rc == 0 && like->fd >= 0)
		rc = cv_stage_keep(s, like->fd, &like->st);
	if (rc == 0 && mode && like->fd >= 0 && fchmod(s->fd, mode) < 0)
		rc = -errno;
	if (rc == 0)
		rc = cv_stage_flush(s, false);
	c->is_staged = rc == 0;
	return rc < 0 ? fail(c, rc, err) : 0;
}

/* Whether the file at a name is the one that was read, unchanged. */
static bool is_what_was_read(const struct cv_change *c, const char *name)
{
	struct stat now;

	return fstatat(c->place.dirfd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_dev == c->st.st_dev && now.st_ino == c->st.st_ino &&
	       now.st_size == c->st.st_size && now.st_mtim.tv_sec == c->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == c->st.st_mtim.tv_nsec;
}

int cv_change_apply(struct cv_change *c, struct cove_error *err)
{
	struct cv_stage *s = &c->stage;
	const char *name = c->place.name;
	int rc;

	/* Looked at before as well: what never left its place need not go back. */
	if (c->fd >= 0 && !is_what_was_read(c, name))
		return conflict(c, err);
	if (c->fd < 0)
		rc = cv_stage_publish_new(s, name);
	else if (c->is_staged)
		rc = cv_stage_swap(s, name);
	else
		rc = cv_stage_take(s, c->place.dirfd, name);
	if (rc == -EEXIST)
		return conflict(c, err);
	if (rc < 0)
		return fail(c, rc, err);
	if (c->fd >= 0 && !is_what_was_read(c, s->name)) {
		/* A failure here keeps both: the stage's name is not removed. */
		if (cv_stage_give_back(s, name) < 0)
			s->name[0] = '\0';
		return conflict(c, err);
	}
	c->is_applied = true;
	return 0;
}

int cv_change_undo(struct cv_change *c)
{
	struct stat own;
	struct stat now;

	if (!c->is_applied)
		return 0;
	c->is_applied = false;
	if (c->fd >= 0)
		return cv_stage_give_back(&c->stage, c->place.name);
	/* Only what we made ourselves is ours to remove. */
	if (fstat(c->stage.fd, &own) == 0 &&
	    fstatat(c->place.dirfd, c->place.name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    own.st_dev == now.st_dev && own.st_ino == now.st_ino &&
	    unlinkat(c->place.dirfd, c->place.name, 0) < 0)
		return -errno;
	return 0;
}

void cv_change_done(struct cv_change *c)
{
	cv_stage_done(&c->stage);
	cv_place_done(&c->place);
	cv_close(&c->fd);
}
