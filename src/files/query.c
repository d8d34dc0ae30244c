/* SPDX-License-Identifier: Apache-2.0 */
/* Entries below a directory whose paths match a pattern, a page at a time. */
#include "files/common.h"
#include "files/walk.h"

#include <dirent.h>
#include <fcntl.h>

#define PAGE_BYTES ((size_t)4 << 20) /* of paths */

struct query {
	const struct cv_file_ctx *ctx;
	const struct cove_file_query_opts *opts;
	const char *prefix;
	unsigned kinds; /* bit by enum cove_kind */
	struct cv_buf path;
	size_t bytes;
	struct cove_file_found *entries;
	size_t cap;
	size_t count;
};

static void query_done(struct query *q)
{
	cv_buf_done(&q->path);
	free(q->entries);
}

static unsigned wanted_kinds(const char *const *kinds)
{
	static const char *const names[] = {"file", "directory", "symlink", "other"};
	unsigned wanted = 0;

	if (!kinds || !kinds[0])
		return ~0u;
	for (; *kinds; kinds++)
		for (unsigned i = 0; i < CV_LEN(names); i++)
			if (strcmp(*kinds, names[i]) == 0)
				wanted |= 1u << (i + COVE_KIND_FILE);
	return wanted;
}

static int kind_of(unsigned char type)
{
	switch (type) {
	case DT_REG:
		return COVE_KIND_FILE;
	case DT_DIR:
		return COVE_KIND_DIRECTORY;
	case DT_LNK:
		return COVE_KIND_SYMLINK;
	default:
		return COVE_KIND_OTHER;
	}
}

static int grow(struct query *q)
{
	size_t cap = q->cap ? q->cap * 2 : 64;
	struct cove_file_found *entries;

	if (q->count < q->cap)
		return 0;
	entries = reallocarray(q->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	q->entries = entries;
	q->cap = cap;
	return 0;
}

/* Adds an entry to the page. 1, 0 if it has vanished, or -errno. */
static int take(struct query *q, const struct cv_walk_entry *e)
{
	struct cove_file_found found = {.kind = kind_of(e->type)};
	struct stat st;
	int rc = grow(q);

	if (rc < 0)
		return rc;
	if (!q->opts->names_only || e->type == DT_UNKNOWN) {
		if (fstatat(e->dir->fd, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -errno;
		found.kind = kind_of((unsigned char)IFTODT(st.st_mode));
		if (!q->opts->names_only) {
			found.size = st.st_size;
			found.mtime_ns =
				(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		}
	}
	q->path.len = 0;
	rc = cv_walk_path(e, q->prefix, &q->path);
	if (rc < 0)
		return rc;
	found.path = cv_arena_dup(q->ctx->arena, q->path.data, q->path.len);
	if (!found.path)
		return -ENOMEM;
	q->bytes += q->path.len;
	q->entries[q->count++] = found;
	return 1;
}

/* Fills the page; *ret_more: there is at least one entry behind it. */
static int run(struct query *q, struct cv_walk *w, bool *ret_more)
{
	int64_t skip = q->opts->offset;
	struct cv_walk_entry e;
	int rc;

	while ((rc = cv_walk_next(w, &e)) > 0) {
		bool wanted = q->kinds >> kind_of(e.type) & 1;

		if (wanted && skip > 0) {
			skip--;
		} else if (wanted &&
			   ((int64_t)q->count == q->opts->max_results || q->bytes > PAGE_BYTES)) {
			cv_walk_release(w, e.dir);
			*ret_more = true;
			return 0;
		} else if (wanted) {
			rc = take(q, &e);
		}
		cv_walk_release(w, e.dir);
		if (rc < 0)
			break;
	}
	return rc;
}

static int finish(struct query *q, const struct cv_walk *w, struct cove_file_query_result *result)
{
	struct cove_file_found *entries = TAKE(q->entries);

	if (entries && cv_arena_own(q->ctx->arena, free, entries) < 0)
		return -ENOMEM;
	result->entries = entries;
	result->entry_count = q->count;
	result->hidden_count = w->hidden;
	result->skipped_count = w->skipped;
	return 0;
}

static int walk_root(struct query *q, struct cv_walk *w, const struct cv_found *root,
		     struct cove_file_query_result *result, struct cove_error *err)
{
	const char *path = q->opts->root ? q->opts->root : ".";
	int rc;

	w->after = q->opts->after;
	rc = cv_walk_prefix(q->ctx, root, path, "after", &q->prefix, &w->after, err);
	if (rc < 0)
		return rc;
	rc = cv_walk_begin(w, q->ctx, root, path, err);
	if (rc == 0) {
		rc = run(q, w, &result->has_more);
		if (rc == 0)
			rc = finish(q, w, result);
		if (rc < 0)
			rc = cv_walk_fail(q->ctx, rc, path, err);
	}
	cv_walk_done(w);
	return rc;
}

static void free_glob(struct cv_glob *const *g)
{
	cv_glob_free(*g);
}

int cv_file_query(const struct cv_file_ctx *ctx, const void *req, void *res, struct cove_error *err)
{
	const struct cove_file_query_opts *opts = req;
	const char *path = opts->root ? opts->root : ".";
	struct query q __attribute__((cleanup(query_done))) = {
		.ctx = ctx,
		.opts = opts,
		.kinds = wanted_kinds(opts->kinds),
		.path = CV_BUF((size_t)16 << 20),
	};
	struct cv_glob *glob __attribute__((cleanup(free_glob))) = NULL;
	CV_FOUND_SCOPE struct cv_found root;
	struct cv_walk walk = {
		.no_recurse = opts->no_recurse,
		.include_hidden = opts->include_hidden,
		.use_ignore = opts->ignore == COVE_IGNORE_GIT,
	};
	int rc = cv_resolve(ctx->space, path, true, &root, err);

	if (rc < 0)
		return rc;
	if (!S_ISDIR(root.st.st_mode))
		return cv_fail_errno(err, ENOTDIR, path, "cannot look below '%s'", path);
	rc = cv_glob_new(opts->pattern, "pattern", &glob, err);
	if (rc < 0)
		return rc;
	walk.glob = glob;
	return walk_root(&q, &walk, &root, res, err);
}
