/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text files that match: the request, and the answer. */
#include "files/search.h"

#include <fcntl.h>
#include <sched.h>

struct job {
	struct cv_matcher *matcher;
	struct cv_glob *glob;
	struct cv_walk walk;
	struct cv_search search;
};

static void job_done(struct job *j)
{
	cv_buf_done(&j->search.page.bytes);
	cv_matcher_free(j->matcher);
	cv_glob_free(j->glob);
}

/* The processors that this process may use. */
static int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CV_MAX(CPU_COUNT(&set), 1);
}

static int fail(const struct job *j, int rc, const char *path, struct cove_error *err)
{
	const struct cv_search *s = &j->search;

	if (rc == -E2BIG) {
		cv_fail(err, COVE_E_TOO_LARGE, "there are more than %lld files to search in '%s'",
			(long long)s->opts->max_files, path);
		cv_err_hint(err, "raise max_files, or narrow root or include");
		return COVE_E_TOO_LARGE;
	}
	if (rc == -EOVERFLOW) {
		const char *file = s->where[0] ? s->where : path;

		cv_fail(err, COVE_E_TOO_LARGE,
			"the regular expression takes too long on a line of '%s'", file);
		cv_err_path(err, file);
		cv_err_hint(err, "use one without repetitions inside repetitions");
		return COVE_E_TOO_LARGE;
	}
	return cv_walk_fail(s->ctx, rc, path, err);
}

static void free_bytes(void *data)
{
	free(data);
}

static int finish(struct job *j, struct cove_file_search_text_result *result)
{
	struct cv_search *s = &j->search;
	struct cv_page *page = &s->page;
	char *data = page->bytes.data;

	result->matches = cv_page_matches(s->ctx->arena, page);
	page->bytes.data = NULL;
	if (data && cv_arena_own(s->ctx->arena, free_bytes, data) < 0)
		return -ENOMEM;
	if (!result->matches)
		return -ENOMEM;
	result->match_count = (size_t)page->count;
	result->has_more = s->has_more;
	result->files_searched = s->searched;
	result->files_skipped = s->skipped;
	result->hidden_count = s->hidden;
	return 0;
}

static int search_file(struct job *j, const struct cv_found *root, const char *path,
		       struct cove_error *err)
{
	const char *shown = cv_files_show(j->search.ctx, root->real, path);
	int rc = cv_files_refuse_kind(root->st.st_mode, path, err);
	CV_CLOSE int fd = -1;

	if (rc < 0)
		return rc;
	if (!shown)
		return cv_files_no_memory(err);
	fd = cv_files_reopen(root->fd, O_RDONLY);
	rc = fd < 0 ? fd : cv_search_file(&j->search, fd, root->st.st_size, shown);
	return rc < 0 ? fail(j, rc, path, err) : 0;
}

static int search_tree(struct job *j, const struct cv_found *root, const char *path,
		       struct cove_error *err)
{
	const struct cove_file_search_text_opts *opts = j->search.opts;
	struct cv_walk *walk = &j->walk;
	int rc = cv_glob_new(opts->include ? opts->include : "**", "include", &j->glob, err);

	*walk = (struct cv_walk){
		.glob = j->glob,
		.include_hidden = opts->include_hidden,
		.use_ignore = opts->ignore == COVE_IGNORE_GIT,
		.after = opts->after_path,
		.after_too = opts->after_line > 0,
	};
	if (rc == 0)
		rc = cv_walk_prefix(j->search.ctx, root, path, "after_path", &j->search.prefix,
				    &walk->after, err);
	if (rc < 0)
		return rc;
	rc = cv_walk_begin(walk, j->search.ctx, root, path, err);
	if (rc == 0) {
		j->search.walk = walk;
		rc = cv_search_tree(&j->search);
		if (rc < 0)
			rc = fail(j, rc, path, err);
	}
	cv_walk_done(walk);
	return rc;
}

int cv_file_search_text(const struct cv_file_ctx *ctx, const void *req, void *res,
			struct cove_error *err)
{
	const struct cove_file_search_text_opts *opts = req;
	const char *path = opts->root ? opts->root : ".";
	struct job job __attribute__((cleanup(job_done))) = {
		.search = {.ctx = ctx, .opts = opts, .threads = count_processors()},
	};
	CV_FOUND_SCOPE struct cv_found root;
	int rc = cv_resolve(ctx->space, path, true, &root, err);

	if (rc == 0)
		rc = cv_matcher_new(opts->pattern, opts->regex, opts->ignore_case, &job.matcher,
				    err);
	if (rc < 0)
		return rc;
	job.search.matcher = job.matcher;
	if (S_ISDIR(root.st.st_mode))
		rc = search_tree(&job, &root, path, err);
	else
		rc = search_file(&job, &root, path, err);
	if (rc == 0 && finish(&job, res) < 0)
		rc = cv_files_no_memory(err);
	return rc;
}
