/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of a directory, a page at a time.
 *
 * All names are read and sorted, for only that gives a page its place; but only the entries of the
 * page are looked at. An entry that has vanished meanwhile is skipped and the next one takes its
 * place in the page, so the next page still begins at offset + entries.
 */
#include "files/common.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <dirent.h>
#include <fcntl.h>

#define NAMES_MAX ((size_t)256 << 20)
#define DENTS_SIZE ((size_t)128 << 10)

struct names {
	struct cv_buf text; /* NUL-terminated names, back to back */
	const char **list;  /* into text, sorted once all are read */
	size_t count;
	int64_t skipped;
	bool hidden; /* names that begin with a dot are wanted too */
};

static void names_done(struct names *n)
{
	cv_buf_done(&n->text);
	free(n->list);
}

static int add_name(struct names *n, const char *name)
{
	size_t len = strlen(name);
	int rc;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (!cv_utf8_valid(name, len)) {
		n->skipped++;
		return 0;
	}
	if (name[0] == '.' && !n->hidden)
		return 0;
	rc = cv_buf_add(&n->text, name, len + 1);
	n->count += rc == 0;
	return rc;
}

static int read_names(const struct cv_file_ctx *ctx, int fd, struct names *n)
{
	CV_FREE char *dents = malloc(DENTS_SIZE);
	ssize_t len;

	if (!dents)
		return -ENOMEM;
	while ((len = getdents64(fd, dents, DENTS_SIZE)) > 0) {
		if (cv_flag_set(ctx->cancel))
			return -ECANCELED;
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(dents + at);
			int rc = add_name(n, e->d_name);

			if (rc < 0)
				return rc;
			at += e->d_reclen;
		}
	}
	return len < 0 ? -errno : 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int sort_names(struct names *n)
{
	const char *p = n->text.data;

	n->list = calloc(n->count + 1, sizeof(*n->list));
	if (!n->list)
		return -ENOMEM;
	for (size_t i = 0; i < n->count; i++) {
		n->list[i] = p;
		p += strlen(p) + 1;
	}
	qsort(n->list, n->count, sizeof(*n->list), compare);
	return 0;
}

/* How results give dir/name; dir is shown already. */
static const char *child_path(const struct cv_file_ctx *ctx, const char *dir, const char *name)
{
	if (strcmp(dir, ".") == 0)
		return cv_files_relative(ctx->arena, name);
	return cv_arena_printf(ctx->arena, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
}

/* Fills result with the entries from offset on. */
static int take_page(const struct cv_file_ctx *ctx, int fd, const char *dir, const struct names *n,
		     const struct cove_file_list_opts *opts, struct cove_file_list_result *result)
{
	size_t at = (size_t)CV_MIN(opts->offset, (int64_t)n->count);
	size_t most = CV_MIN((size_t)opts->max_results, n->count - at);
	struct cove_file_entry *entries = cv_arena_array(ctx->arena, most, sizeof(*entries));
	struct stat st;

	if (!entries)
		return -ENOMEM;
	for (; at < n->count && result->entry_count < most; at++) {
		struct cove_file_entry *e = &entries[result->entry_count];

		if (fstatat(fd, n->list[at], &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return -errno;
		}
		e->path = child_path(ctx, dir, n->list[at]);
		e->name = cv_arena_dup(ctx->arena, n->list[at], strlen(n->list[at]));
		if (!e->path || !e->name ||
		    cv_files_describe(ctx->arena, fd, n->list[at], &st, e) < 0)
			return -ENOMEM;
		result->entry_count++;
	}
	result->entries = entries;
	result->has_more = at < n->count;
	return 0;
}

static int fail(const struct cv_file_ctx *ctx, int rc, const char *path, struct cove_error *err)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(ctx, err);
	if (rc == -ENOMEM)
		return cv_files_no_memory(err);
	if (rc != -EMSGSIZE)
		return cv_fail_errno(err, -rc, path, "cannot list '%s'", path);
	cv_fail(err, COVE_E_TOO_LARGE, "'%s' has more names than can be sorted", path);
	cv_err_path(err, path);
	return COVE_E_TOO_LARGE;
}

int cv_file_list(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	const struct cove_file_list_opts *opts = req;
	struct cove_file_list_result *result = res;
	const char *path = opts->path ? opts->path : ".";
	struct names names __attribute__((cleanup(names_done))) = {.text = CV_BUF(NAMES_MAX),
								   .hidden = opts->include_hidden};
	CV_FOUND_SCOPE struct cv_found found;
	CV_CLOSE int fd = -1;
	const char *dir;
	int rc = cv_resolve(ctx->space, path, true, &found, err);

	if (rc < 0)
		return rc;
	fd = openat(found.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(ctx, -errno, path, err);
	dir = cv_files_show(ctx, found.real, path);
	rc = dir ? read_names(ctx, fd, &names) : -ENOMEM;
	if (rc == 0)
		rc = sort_names(&names);
	if (rc == 0)
		rc = take_page(ctx, fd, dir, &names, opts, result);
	if (rc < 0)
		return fail(ctx, rc, path, err);
	result->skipped_names = names.skipped;
	return 0;
}
