/* SPDX-License-Identifier: Apache-2.0 */
/* Which ignore files an entry is judged by: those of its directory and above, in its repository. */
#include "base/fd.h"
#include "files/common.h"
#include "files/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#define RULES_MAX ((size_t)1 << 20) /* bytes of one ignore file */

void cv_scope_free(struct cv_scope *s)
{
	if (!s)
		return;
	cv_ignore_free(s->rules);
	free(s);
}

/* The text of a regular file; 0 bytes where there is none that can be read. */
static int read_rules(int dirfd, const char *name, char **ret, size_t *ret_len)
{
	CV_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	*ret_len = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (st.st_size > (off_t)RULES_MAX)
		return -EFBIG;
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret)
		return -ENOMEM;
	n = cv_read_full(fd, *ret, (size_t)st.st_size);
	*ret_len = n < 0 ? 0 : (size_t)n;
	return 0;
}

static int add_scope(int dirfd, const char *name, size_t base, struct cv_scope **scope,
		     struct cv_scope **own)
{
	CV_FREE char *text = NULL;
	struct cv_ignore *rules = NULL;
	size_t len;
	int rc = read_rules(dirfd, name, &text, &len);

	if (rc == 0 && len > 0)
		rc = cv_ignore_new(text, len, &rules);
	if (rc < 0 || !rules)
		return rc;
	*own = calloc(1, sizeof(**own));
	if (!*own) {
		cv_ignore_free(rules);
		return -ENOMEM;
	}
	**own = (struct cv_scope){.up = *scope, .rules = rules, .base = base};
	*scope = *own;
	return 0;
}

static int open_dir(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* .git/info/exclude, without following a link. */
static int add_exclude(int dirfd, size_t base, struct cv_scope **scope, struct cv_scope **own)
{
	CV_CLOSE int git = open_dir(dirfd, ".git");
	CV_CLOSE int info = git < 0 ? -1 : open_dir(git, "info");

	return info < 0 ? 0 : add_scope(info, "exclude", base, scope, own);
}

int cv_scope_enter(int dirfd, bool has_file, bool is_repository, size_t base,
		   struct cv_scope **scope, struct cv_scope *own[2])
{
	int rc = 0;

	if (is_repository) {
		*scope = NULL;
		rc = add_exclude(dirfd, base, scope, &own[0]);
	}
	if (rc == 0 && has_file)
		rc = add_scope(dirfd, ".gitignore", base, scope, &own[1]);
	return rc;
}

/* The length of the path of the repository that real is below; 0: it is in none that is allowed. */
static size_t find_repository(const struct cv_file_ctx *ctx, const char *real)
{
	size_t len = strlen(real);

	while (len > 0) {
		CV_FREE char *dir = strndup(real, CV_MAX(len, (size_t)1));
		CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
		struct stat st;

		if (!dir || !cv_space_inside(ctx->space, dir) ||
		    cv_resolve(ctx->space, dir, false, &found, NULL) < 0)
			return 0;
		if (fstatat(found.fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0)
			return len;
		while (len > 0 && real[len - 1] != '/')
			len--;
		len -= len > 0;
	}
	return 0;
}

/* Links a directory's scopes in front of the list of those above the root. */
static int enter_above(const struct cv_file_ctx *ctx, const char *dir, bool is_repository,
		       size_t base, struct cv_scope **list)
{
	CV_FOUND_SCOPE struct cv_found found = {.fd = -1};
	struct cv_scope *own[2] = {NULL, NULL};

	if (cv_resolve(ctx->space, dir, false, &found, NULL) < 0)
		return 0;
	return cv_scope_enter(found.fd, true, is_repository, base, list, own);
}

int cv_scope_above(const struct cv_file_ctx *ctx, const char *real, struct cv_scope **ret,
		   struct cv_buf *ret_path)
{
	size_t top = find_repository(ctx, real);
	size_t len = strlen(real);
	int rc = 0;

	if (top == 0 || top == len)
		return 0;
	for (size_t at = top; at < len && rc == 0;) {
		CV_FREE char *dir = strndup(real, at);
		size_t base = at - top;

		if (!dir)
			return -ENOMEM;
		rc = enter_above(ctx, dir, at == top, base, ret);
		at++;
		while (at < len && real[at] != '/')
			at++;
	}
	if (rc == 0)
		rc = cv_buf_add(ret_path, real + top + 1, len - top - 1);
	return rc < 0 ? rc : cv_buf_add(ret_path, "/", 1);
}

bool cv_scope_ignores(const struct cv_scope *s, const char *path, size_t len, const char *name,
		      bool is_dir)
{
	for (; s; s = s->up) {
		enum cv_ignore_answer answer =
			cv_ignore_check(s->rules, path + s->base, len - s->base, name, is_dir);

		if (answer != CV_IGNORE_SILENT)
			return answer == CV_IGNORE_YES;
	}
	return false;
}
