/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file: whole or not at all.
 *
 * The name is resolved to its directory, which is proven to lie inside the roots, and what stands
 * at the name is opened as O_PATH and looked at. Then the content is staged in that directory and
 * published at once (stage.c), so a reader sees the old content or the new. Two ways write into the
 * present file instead: append, in one write that is taken back when it fails half way, and
 * in_place, which makes sure of the room first but is not at once.
 *
 * Somebody else may change the name between the look and the publication. Nothing is overwritten
 * that must not be, and no link is followed: such a race is noticed, and the write begins again
 * (CV_WRITE_RACED).
 *
 * A file that the environment may not write to is not replaced either, though the directory would
 * allow it.
 */
#include "files/write.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <fcntl.h>

void cv_write_done(struct cv_write *j)
{
	cv_place_done(&j->place);
	cv_close(&j->fd);
}

int cv_write_fail(struct cv_write *j, int rc)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(j->ctx, j->err);
	return cv_fail_errno(j->err, -rc, j->opts->path, "cannot write '%s'", j->opts->path);
}

/*
 * `create` never goes through a link: a link is something that is there, wherever it leads inside
 * the roots.
 */
static int refuse_present(struct cv_write *j)
{
	const char *path = j->opts->path;
	CV_FOUND_SCOPE struct cv_found found;
	CV_FOUND_SCOPE struct cv_found behind = {.fd = -1};
	int rc = cv_files_probe(j->ctx, path, false, &found, j->err);

	if (rc <= 0)
		return rc;
	if (S_ISLNK(found.st.st_mode))
		rc = cv_files_probe(j->ctx, path, true, &behind, j->err);
	else
		rc = cv_files_refuse_kind(found.st.st_mode, path, j->err);
	return rc < 0 ? rc : cv_write_fail(j, -EEXIST);
}

/* What a path with a slash at its end can mean. */
static int check_slash(struct cv_write *j)
{
	if (!cv_files_wants_directory(j->opts->path))
		return 0;
	return cv_write_fail(j, j->fd < 0 ? -EISDIR : -ENOTDIR);
}

/* Looks at what stands at the name. */
static int look(struct cv_write *j)
{
	int rc;

	if (strcmp(j->place.name, ".") == 0)
		return cv_write_fail(j, -EISDIR);
	j->fd = openat(j->place.dirfd, j->place.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (j->fd < 0 && errno != ENOENT)
		return cv_write_fail(j, -errno);
	if (j->fd < 0)
		return j->opts->mode == COVE_WRITE_REPLACE ? cv_write_fail(j, -ENOENT) :
							     check_slash(j);
	if (fstat(j->fd, &j->st) < 0)
		return cv_write_fail(j, -errno);
	if (S_ISLNK(j->st.st_mode))
		return CV_WRITE_RACED;
	rc = cv_files_refuse_kind(j->st.st_mode, j->opts->path, j->err);
	if (rc == 0)
		rc = check_slash(j);
	if (rc == 0 && faccessat(j->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		rc = cv_write_fail(j, -errno);
	return rc;
}

int cv_write_open_stage(const struct cv_write *j, struct cv_stage *s)
{
	/* Until it has its final mode nobody else may read it, unless that is left to the umask. */
	return cv_stage_open(s, j->place.dirfd, j->fd < 0 && !j->opts->file_mode ? 0666 : 0600);
}

/* The directory would not have it; the file itself might. */
static int fail_stage(struct cv_write *j, int rc)
{
	rc = cv_write_fail(j, rc);
	if (j->fd >= 0 && (rc == COVE_E_PERMISSION_DENIED || rc == COVE_E_BUSY))
		cv_err_hint(j->err, "where only the file itself may be written, use in_place");
	return rc;
}

/* What is staged gets its mode and owner. */
static int finish_stage(const struct cv_write *j, struct cv_stage *s)
{
	int rc = 0;

	if (j->fd >= 0)
		rc = cv_stage_keep(s, j->fd, &j->st);
	else if (j->opts->file_mode && fchmod(s->fd, (mode_t)j->opts->file_mode) < 0)
		rc = -errno;
	return rc < 0 ? rc : cv_stage_flush(s, j->opts->durable);
}

static int publish(struct cv_write *j, struct cv_stage *s)
{
	int rc;

	if (cv_flag_set(j->ctx->cancel))
		return -ECANCELED;
	if (j->fd >= 0)
		return cv_stage_publish_over(s, j->place.name);
	rc = cv_stage_publish_new(s, j->place.name);
	return rc == -EEXIST && j->opts->mode != COVE_WRITE_CREATE ? CV_WRITE_RACED : rc;
}

static int flush_directory(struct cv_write *j, int dirfd)
{
	int rc = dirfd >= 0 && fsync(dirfd) < 0 ? cv_write_fail(j, -errno) : 0;

	if (rc < 0 && j->err)
		j->err->stage = COVE_STAGE_COMPLETED;
	return rc;
}

int cv_write_publish(struct cv_write *j, struct cv_stage *s)
{
	CV_CLOSE int dirfd = -1;
	int rc;

	if (j->opts->durable) {
		dirfd = openat(j->place.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dirfd < 0)
			return cv_write_fail(j, -errno);
	}
	rc = finish_stage(j, s);
	if (rc == 0)
		rc = publish(j, s);
	if (rc != 0)
		return rc < 0 ? fail_stage(j, rc) : rc;
	return flush_directory(j, dirfd);
}

static int write_staged(struct cv_write *j)
{
	CV_STAGE_SCOPE struct cv_stage s = CV_STAGE_NONE;
	int rc = cv_write_open_stage(j, &s);

	if (rc < 0)
		return fail_stage(j, rc);
	rc = cv_stage_write(&s, j->opts->data.data, j->opts->data.len, j->ctx->cancel);
	return rc < 0 ? cv_write_fail(j, rc) : cv_write_publish(j, &s);
}

/*
 * One write, so that lines of several appenders don't mix; a part of it that was written is taken
 * back.
 */
static int append_all(int fd, const char *data, size_t len)
{
	off_t start = -1;
	size_t done = 0;
	struct stat st;

	while (done < len) {
		ssize_t n = write(fd, data + done, len - done);
		int saved = errno;

		if (n < 0 && saved == EINTR)
			continue;
		if (n < 0) {
			/* Only while nobody else has appended: their bytes are not ours to cut. */
			if (done > 0 && start >= 0 && fstat(fd, &st) == 0 &&
			    st.st_size == start + (off_t)done && ftruncate(fd, start) < 0)
				return -errno;
			return -saved;
		}
		if (done == 0)
			start = lseek(fd, 0, SEEK_CUR) - n;
		done += (size_t)n;
	}
	return 0;
}

static int write_at(int fd, const char *data, size_t len, off_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(fd, data + done, len - done, at + (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

/* What needs new room is written first: where there is none, the old content is still there. */
static int overwrite(int fd, const char *data, size_t len, off_t old_size)
{
	size_t old = CV_MIN((size_t)old_size, len);
	int rc = write_at(fd, data + old, len - old, old_size);

	if (rc < 0)
		return ftruncate(fd, old_size) < 0 ? -errno : rc;
	rc = write_at(fd, data, old, 0);
	if (rc == 0 && (off_t)len < old_size && ftruncate(fd, (off_t)len) < 0)
		rc = -errno;
	return rc;
}

int cv_write_into(struct cv_write *j, const struct cove_bytes *data)
{
	bool is_append = j->opts->mode == COVE_WRITE_APPEND;
	CV_CLOSE int fd = cv_files_reopen(j->fd, O_WRONLY | (is_append ? O_APPEND : 0));
	int rc;

	if (fd < 0)
		return cv_write_fail(j, fd);
	if (is_append)
		rc = append_all(fd, data->data, data->len);
	else
		rc = overwrite(fd, data->data, data->len, j->st.st_size);
	if (rc == 0 && j->opts->durable && fsync(fd) < 0)
		rc = -errno;
	return rc < 0 ? cv_write_fail(j, rc) : 0;
}

int cv_write_reach(struct cv_write *j)
{
	const struct cove_file_write_opts *opts = j->opts;
	bool make = opts->parents && opts->mode != COVE_WRITE_REPLACE;
	int rc = opts->mode == COVE_WRITE_CREATE ? refuse_present(j) : 0;

	if (rc == 0)
		rc = cv_resolve_place(j->ctx->space, opts->path, true, make, &j->place, j->err);
	if (rc == 0)
		rc = look(j);
	if (rc == 0 && j->fd >= 0 && opts->mode == COVE_WRITE_CREATE)
		rc = cv_write_fail(j, -EEXIST);
	return rc;
}

bool cv_write_is_into(const struct cv_write *j)
{
	return j->fd >= 0 && (j->opts->mode == COVE_WRITE_APPEND || j->opts->in_place);
}

/* One attempt; CV_WRITE_RACED: somebody else changed the name meanwhile, nothing was done. */
static int attempt(struct cv_write *j)
{
	int rc = cv_write_reach(j);

	if (rc != 0)
		return rc;
	rc = cv_write_is_into(j) ? cv_write_into(j, &j->opts->data) : write_staged(j);
	j->result->created = j->fd < 0;
	return rc;
}

int cv_write_conflict(const char *path, struct cove_error *err)
{
	cv_fail(err, COVE_E_CONFLICT, "'%s' is being changed by somebody else", path);
	cv_err_path(err, path);
	return COVE_E_CONFLICT;
}

static int write_file(const struct cv_file_ctx *ctx, const struct cove_file_write_opts *opts,
		      struct cove_file_write_result *result, struct cove_error *err)
{
	int rc = cv_files_cancelled(ctx, err);

	/* Before anything happens: afterwards there would be no way to say that it did. */
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	for (int i = 0; i < CV_WRITE_TRIES && rc == 0; i++) {
		struct cv_write j __attribute__((cleanup(cv_write_done))) = {
			.ctx = ctx, .opts = opts, .result = result, .err = err, .fd = -1};

		j.place.dirfd = -1;
		rc = attempt(&j);
		if (rc == CV_WRITE_RACED) {
			rc = 0;
			continue;
		}
		result->bytes_written = (int64_t)opts->data.len;
		return rc;
	}
	return rc < 0 ? rc : cv_write_conflict(opts->path, err);
}

int cv_file_write_bytes(const struct cv_file_ctx *ctx, const void *req, void *res,
			struct cove_error *err)
{
	return write_file(ctx, req, res, err);
}

int cv_file_write_text(const struct cv_file_ctx *ctx, const void *req, void *res,
		       struct cove_error *err)
{
	const struct cove_file_write_opts *opts = req;
	const struct cove_bytes *data = &opts->data;
	const char *hint = "use file.write_bytes for bytes that are not text";

	if (data->len > 0 && memchr(data->data, '\0', data->len))
		return cv_fail_arg(err, "text", hint, "holds a NUL byte");
	if (!cv_utf8_valid(data->data, data->len))
		return cv_fail_arg(err, "text", hint, "is not UTF-8");
	return write_file(ctx, opts, res, err);
}
