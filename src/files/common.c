/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the file operations share.
 *
 * Content is reached in two steps. The resolver gives an O_PATH descriptor that was proven to lie
 * inside the roots; opening it touched nothing. Only when fstat() says that it is a regular file is
 * the same inode opened again, through /proc/self/fd, for reading or writing. So a FIFO, a socket
 * or a device is never opened, whatever stands at the name meanwhile.
 */
#include "files/common.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <stdio.h>

#define RECEIPT_LETTERS 12

int cv_files_cancelled(const struct cv_file_ctx *ctx, struct cove_error *err)
{
	return cv_flag_set(ctx->cancel) ? cv_fail(err, COVE_E_CANCELLED, "cancelled") : 0;
}

int cv_files_no_memory(struct cove_error *err)
{
	return cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

int cv_files_probe(const struct cv_file_ctx *ctx, const char *path, bool follow,
		   struct cv_found *ret, struct cove_error *err)
{
	struct cove_error probe = COVE_ERROR_INIT;
	int rc = cv_resolve(ctx->space, path, follow, ret, &probe);

	if (rc == COVE_E_NOT_FOUND)
		return 0;
	if (rc < 0 && err)
		*err = probe;
	return rc < 0 ? rc : 1;
}

int cv_files_refuse_kind(mode_t mode, const char *path, struct cove_error *err)
{
	if (S_ISREG(mode))
		return 0;
	if (S_ISDIR(mode))
		return cv_fail_errno(err, EISDIR, path, "cannot open '%s'", path);
	cv_fail_arg(err, "path", "give a regular file",
		    "names a FIFO, socket or device, which is never opened");
	cv_err_path(err, path);
	return COVE_E_INVALID_ARGUMENT;
}

int cv_files_reopen(int fd, int flags)
{
	char link[40];
	int again;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return again < 0 ? -errno : again;
}

int cv_files_open_content(const struct cv_file_ctx *ctx, const char *path, struct stat *ret_st,
			  struct cove_error *err)
{
	CV_FOUND_SCOPE struct cv_found found;
	int rc = cv_resolve(ctx->space, path, true, &found, err);

	if (rc == 0)
		rc = cv_files_refuse_kind(found.st.st_mode, path, err);
	if (rc < 0)
		return rc;
	*ret_st = found.st;
	rc = cv_files_reopen(found.fd, O_RDONLY);
	return rc < 0 ? cv_fail_errno(err, -rc, path, "cannot open '%s'", path) : rc;
}

ssize_t cv_files_read(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

const char *cv_files_clean(struct cv_arena *arena, const char *s, size_t len)
{
	char *text = cv_arena_alloc(arena, cv_utf8_clean_len(s, len) + 1);

	if (text)
		cv_utf8_clean(text, s, len);
	return text;
}

const char *cv_files_show(const struct cv_file_ctx *ctx, const char *real, const char *path)
{
	const char *shown = cv_path_show(real, ctx->space->cwd);
	cv_path spelt;

	if (!cv_utf8_valid(real, strlen(real))) {
		if (cv_path_expand(path, ctx->space->cwd, ctx->space->home, "path", spelt, NULL) <
		    0)
			return cv_files_clean(ctx->arena, real, strlen(real));
		shown = spelt;
	}
	return cv_files_relative(ctx->arena, shown);
}

const char *cv_files_relative(struct cv_arena *arena, const char *path)
{
	/* A file that is called `~` is not the home directory. */
	if (path[0] == '~' && (path[1] == '\0' || path[1] == '/'))
		return cv_arena_printf(arena, "./%s", path);
	return cv_arena_dup(arena, path, strlen(path));
}

const char *cv_files_receipt(const struct cv_file_ctx *ctx)
{
	char letters[RECEIPT_LETTERS + 1];

	cv_random_name(letters, RECEIPT_LETTERS);
	return cv_arena_printf(ctx->arena, "op-%s", letters);
}

bool cv_files_wants_directory(const char *path)
{
	return path[0] != '\0' && path[strlen(path) - 1] == '/';
}

bool cv_files_hold_environment(const struct cv_space *sp, const char *real)
{
	if (cv_path_below(sp->cwd, real))
		return true;
	for (char **root = sp->roots; root && *root; root++)
		if (cv_path_below(*root, real))
			return true;
	return false;
}

static int kind_of(mode_t mode)
{
	if (S_ISREG(mode))
		return COVE_KIND_FILE;
	if (S_ISDIR(mode))
		return COVE_KIND_DIRECTORY;
	return S_ISLNK(mode) ? COVE_KIND_SYMLINK : COVE_KIND_OTHER;
}

int cv_files_describe(struct cv_arena *arena, int dirfd, const char *name, const struct stat *st,
		      struct cove_file_entry *entry)
{
	int at = AT_EACCESS | (name[0] ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH);
	char target[CV_PATH_MAX];
	ssize_t n;

	entry->kind = kind_of(st->st_mode);
	entry->size = st->st_size;
	entry->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	entry->mode = st->st_mode & 07777;
	entry->writable = faccessat(dirfd, name, W_OK, at) == 0;
	entry->link_target = NULL;
	if (!S_ISLNK(st->st_mode))
		return 0;
	n = readlinkat(dirfd, name, target, sizeof(target));
	entry->link_target = cv_files_clean(arena, target, n < 0 ? 0 : (size_t)n);
	return entry->link_target ? 0 : -ENOMEM;
}
