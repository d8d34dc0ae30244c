/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.patch_text: a unified diff of one file, or of several below a directory.
 *
 * Everything that can be refused is refused before anything is changed: all files are read, all
 * hunks placed, all new content written beside its place. Only then are the files exchanged, one
 * after the other; where that fails, those before it are exchanged back (files/change.h).
 */
#include "files/patch.h"

#include "files/change.h"

#include <fcntl.h>
#include <stdio.h>

/* Each has up to six descriptors while it is under way. */
#define FILES_MAX 128

/* One file of the diff. */
struct item {
	const struct cv_file_patch *patch;
	const char *path;     /* that is there, as errors tell it; NULL: nothing is */
	const char *new_path; /* that comes into being; NULL: none does */
	struct cv_change old;
	struct cv_change new;
	struct cv_buf content;
	bool goes; /* deleted, or renamed away */
	int status;
};

struct job {
	const struct cv_file_ctx *ctx;
	const struct cove_file_patch_text_opts *opts;
	struct cove_error *err;
	struct cv_patch patch;
	struct item *items;
};

static void job_done(struct job *j)
{
	for (size_t i = 0; j->items && i < j->patch.count; i++) {
		cv_change_done(&j->items[i].old);
		cv_change_done(&j->items[i].new);
		cv_buf_done(&j->items[i].content);
	}
}

static int bad_name(const struct job *j, const char *name)
{
	return cv_fail_arg(j->err, "patch", "names are relative to the directory and stay below it",
			   name ? "names '%.100s', which is not below the directory" :
				  "does not say which file it is about%s",
			   name ? name : "");
}

static bool stays_below(const char *name)
{
	size_t len;

	if (!name || name[0] == '/' || name[0] == '\0')
		return false;
	for (const char *p = name; *p; p += len + (p[len] == '/')) {
		len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.')
			return false;
	}
	return true;
}

static int full_path(const struct job *j, const char *name, const char **ret)
{
	const char *root = j->opts->path;
	size_t len = strlen(root);

	if (!stays_below(name))
		return bad_name(j, name);
	while (len > 1 && root[len - 1] == '/')
		len--;
	*ret = strcmp(root, ".") == 0 ?
		       cv_files_relative(j->ctx->arena, name) :
		       cv_arena_printf(j->ctx->arena, "%.*s/%s", (int)len, root, name);
	return *ret ? 0 : cv_files_no_memory(j->err);
}

/* With a file as path its diff's names don't matter; with a directory they are below it. */
static int name_item(const struct job *j, struct item *it, bool in_directory)
{
	const struct cv_file_patch *p = it->patch;
	bool moves = in_directory && (p->is_rename || p->is_copy);
	const char *name = p->new_name ? p->new_name : p->old_name;
	const char *path = j->opts->path;
	const char *to = path;
	int rc = 0;

	if (in_directory) {
		rc = full_path(j, moves ? p->old_name : name, &path);
		if (rc == 0)
			rc = full_path(j, moves ? p->new_name : name, &to);
	}
	it->path = p->is_new ? NULL : path;
	it->new_path = p->is_new || moves ? to : NULL;
	it->goes = p->is_deleted || (moves && p->is_rename);
	it->status = p->is_new	   ? COVE_PATCHED_ADDED :
		     p->is_deleted ? COVE_PATCHED_DELETED :
		     !moves	   ? COVE_PATCHED_MODIFIED :
		     p->is_rename  ? COVE_PATCHED_RENAMED :
				     COVE_PATCHED_COPIED;
	return rc;
}

static int refuse_present(const struct job *j, const char *path)
{
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	int rc = cv_files_probe(j->ctx, path, false, &found, j->err);

	return rc <= 0 ? rc : cv_fail_errno(j->err, EEXIST, path, "cannot add '%s'", path);
}

/* Adds to the error of one file's hunks which file it is. */
static int fail_item(const struct job *j, const struct item *it, int rc)
{
	const char *path = it->path ? it->path : it->new_path;
	char text[512];

	if (!j->err)
		return rc;
	cv_text_copy(text, sizeof(text), j->err->message);
	snprintf(j->err->message, sizeof(j->err->message), "cannot patch '%.400s': %s", path, text);
	cv_err_path(j->err, path);
	return rc;
}

/* Reads the file and makes its new content, in memory. */
static int prepare(const struct job *j, struct item *it)
{
	CV_FREE char *data = NULL;
	struct cove_bytes text = {.data = "", .len = 0};
	int rc = cv_files_cancelled(j->ctx, j->err);

	if (rc == 0 && it->new_path)
		rc = refuse_present(j, it->new_path);
	if (rc == 0 && it->path) {
		rc = cv_change_open(&it->old, j->ctx, it->path, CV_EXPECT_FILE, j->err);
		if (rc == 0)
			rc = cv_change_read(&it->old, &data, &text.len, j->err);
		text.data = data ? data : "";
	}
	if (rc < 0)
		return rc;
	it->content = CV_BUF(CV_CHANGE_MAX);
	rc = cv_patch_apply(it->patch, j->patch.has_cr, &text, &it->content, j->err);
	if (rc == 0 && it->patch->is_deleted && it->content.len > 0) {
		rc = cv_fail(j->err, COVE_E_CONFLICT,
			     "it shall be deleted, but would not be empty");
	}
	return rc < 0 ? fail_item(j, it, rc) : 0;
}

/* No file twice: the second would be read as it was before the first. */
static int refuse_twice(const struct job *j)
{
	for (size_t i = 0; i < j->patch.count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct item *a = &j->items[i];
			const struct item *b = &j->items[k];
			bool same = a->path && b->path && a->old.st.st_dev == b->old.st.st_dev &&
				    a->old.st.st_ino == b->old.st.st_ino &&
				    !(a->patch->is_copy && b->patch->is_copy);

			same |= a->new_path && b->new_path && strcmp(a->new_path, b->new_path) == 0;
			if (same)
				return cv_fail_arg(j->err, "patch", "give one diff of each file",
						   "is about '%.150s' twice",
						   a->path ? a->path : a->new_path);
		}
	return 0;
}

/* Only the x bits of git's modes mean something. */
static mode_t mode_of(const struct item *it)
{
	mode_t old = it->old.st.st_mode & 07777;

	if (!it->patch->mode)
		return 0;
	if (!it->path)
		return it->patch->mode & 0100 ? 0777 : 0666;
	return it->patch->mode & 0100 ? old | ((old & 0444) >> 2) : old & ~(mode_t)0111;
}

static int stage(const struct job *j, struct item *it)
{
	struct cv_change *to = it->new_path ? &it->new : &it->old;
	int rc = 0;

	if (it->new_path)
		rc = cv_change_open(&it->new, j->ctx, it->new_path, CV_EXPECT_NOTHING, j->err);
	if (rc < 0 || it->patch->is_deleted)
		return rc;
	return cv_change_stage(to, it->content.data, it->content.len, mode_of(it),
			       it->path ? &it->old : NULL, j->err);
}

static int apply(const struct job *j, struct item *it)
{
	int rc = it->new_path ? cv_change_apply(&it->new, j->err) : 0;

	if (rc == 0 && it->path && (it->goes || !it->new_path))
		rc = cv_change_apply(&it->old, j->err);
	return rc;
}

static int apply_all(const struct job *j)
{
	int rc = cv_files_cancelled(j->ctx, j->err);
	size_t n = 0;

	while (n < j->patch.count && rc == 0)
		rc = apply(j, &j->items[n++]);
	if (rc == 0)
		return 0;
	while (n-- > 0) {
		int undone = cv_change_undo(&j->items[n].old);
		int gone = cv_change_undo(&j->items[n].new);

		if (undone < 0 || gone < 0)
			cv_err_hint(j->err, "'%s' could not be put back",
				    undone < 0 ? j->items[n].path : j->items[n].new_path);
	}
	return rc;
}

static int tell(const struct job *j, struct cove_file_patch_text_result *result)
{
	struct cove_patched *files = cv_arena_array(j->ctx->arena, j->patch.count, sizeof(*files));

	if (!files)
		return cv_files_no_memory(j->err);
	for (size_t i = 0; i < j->patch.count; i++) {
		const struct item *it = &j->items[i];

		files[i].path = it->new_path ? it->new_path : it->path;
		files[i].status = it->status;
		result->hunks_applied += (int64_t)it->patch->hunk_count;
	}
	result->files = files;
	result->file_count = j->patch.count;
	return 0;
}

/* Whether the path is a directory, so that the diff's names count. 1, 0, or a code. */
static int is_directory(const struct job *j)
{
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	int rc = cv_files_probe(j->ctx, j->opts->path, true, &found, j->err);

	if (rc <= 0)
		return rc;
	return S_ISDIR(found.st.st_mode);
}

static int prepare_all(struct job *j)
{
	size_t count = j->patch.count;
	int in_directory = is_directory(j);
	int rc = in_directory < 0 ? in_directory : 0;

	if (rc == 0 && !in_directory && count > 1)
		return cv_fail_arg(j->err, "patch", "give a directory as path",
				   "is about %zu files, and path is one file", count);
	if (rc == 0 && count > FILES_MAX)
		return cv_fail(j->err, COVE_E_TOO_LARGE,
			       "the patch is about %zu files; at most %d at once", count,
			       FILES_MAX);
	j->items = cv_arena_array(j->ctx->arena, count, sizeof(*j->items));
	if (!j->items)
		return cv_files_no_memory(j->err);
	for (size_t i = 0; i < count; i++) {
		j->items[i].old = CV_CHANGE_NONE;
		j->items[i].new = CV_CHANGE_NONE;
		j->items[i].patch = &j->patch.files[i];
	}
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = name_item(j, &j->items[i], in_directory);
		if (rc == 0)
			rc = prepare(j, &j->items[i]);
	}
	if (rc == 0)
		rc = refuse_twice(j);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = stage(j, &j->items[i]);
	return rc;
}

int cv_file_patch_text(const struct cv_file_ctx *ctx, const void *req, void *res,
		       struct cove_error *err)
{
	const struct cove_file_patch_text_opts *opts = req;
	struct cove_file_patch_text_result *result = res;
	struct job j __attribute__((cleanup(job_done))) = {.ctx = ctx, .opts = opts, .err = err};
	int rc = cv_files_cancelled(ctx, err);

	if (rc < 0)
		return rc;
	result->operation_id = cv_files_receipt(ctx);
	if (!result->operation_id)
		return cv_files_no_memory(err);
	rc = cv_patch_parse(&opts->patch, ctx->arena, &j.patch, err);
	if (rc == 0)
		rc = prepare_all(&j);
	if (rc == 0)
		rc = tell(&j, result);
	return rc < 0 ? rc : apply_all(&j);
}
