/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes changes back to the seed.
 *
 * Each file is written beside its place and renamed into it, so nobody ever sees half of one. What
 * was changed in the seed since the environment began, by its ctime, is left alone and said so, and
 * the others go on. First files go, then directories, the inner ones first; then comes what is new.
 */
#include "cli/changes.h"
#include "cli/report.h"

#include "base/fd.h"
#include "base/missing.h"
#include "base/path.h"

#include <cove/streams.h>

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

struct apply {
	const struct changes_args *args;
	struct cove_env *env;
	int root;
	size_t left;
};

/* Where one change belongs. */
struct place {
	const struct cove_env_change *c;
	int dirfd;
	const char *name;
	bool replaces; /* something is there, unchanged, and may be replaced */
};

static const char changed_meanwhile[] = "was changed meanwhile";

static int leave(struct apply *a, const struct cove_env_change *c, const char *why)
{
	report("'%s' was not applied: %s", c->path, why);
	a->left++;
	return -1;
}

static bool is_in_git(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncasecmp(p, ".git", 4) == 0 && (p[4] == '/' || p[4] == '\0'))
			return true;
	}
	return false;
}

/* The directory it is in, through no link; NULL: fine, else what is wrong. */
static const char *reach(const struct apply *a, struct place *p)
{
	const char *slash = strrchr(p->c->path, '/');
	cv_path parent = ".";

	if (slash)
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - p->c->path), p->c->path);
	p->name = slash ? slash + 1 : p->c->path;
	p->dirfd = cv_openat2(a->root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return p->dirfd < 0 ? strerror(errno) : NULL;
}

/* Whether what is there is what the command began with. */
static const char *check_old(const struct apply *a, struct place *p, bool added)
{
	struct stat st;
	int64_t ctime_ns;

	p->replaces = fstatat(p->dirfd, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!p->replaces)
		return added ? NULL : changed_meanwhile;
	ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
	return S_ISDIR(st.st_mode) || ctime_ns <= a->args->since_ns ? NULL : changed_meanwhile;
}

static int64_t mode_inside(const struct apply *a, const char *path, struct cove_error *err)
{
	struct cove_file_entry *e = NULL;
	int64_t mode;
	int rc = cove_file_stat(a->env, COVE_OPTS(cove_file_path_opts, .path = path), &e, err);

	mode = rc < 0 ? rc : e->mode & 0777;
	cove_result_free(e);
	return mode;
}

/* Puts what lies under a private name in its place; 0 or -errno. */
static int publish(const struct place *p, const char *tmp)
{
	if (renameat2(p->dirfd, tmp, p->dirfd, p->name, p->replaces ? 0 : RENAME_NOREPLACE) == 0)
		return 0;
	return -errno;
}

static const char *write_file(const struct apply *a, const struct place *p, const char *tmp,
			      const char *inside, struct cove_error *err)
{
	int64_t mode = mode_inside(a, inside, err);
	int fd = mode < 0 ? -1 :
			    openat(p->dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return mode < 0 ? err->message : strerror(errno);
	rc = cove_file_read_stream(a->env,
				   COVE_OPTS(cove_file_read_stream_opts, .path = inside,
					     .on_data = cove_data_to_fd, .on_data_user = &fd),
				   NULL, err);
	if (rc == 0 && fchmod(fd, (mode_t)mode) < 0) {
		close(fd);
		return strerror(errno);
	}
	if (close(fd) < 0 && rc == 0)
		return strerror(errno);
	return rc < 0 ? err->message : NULL;
}

static const char *put_new(const struct apply *a, const struct place *p, const char *inside,
			   struct cove_error *err)
{
	char tmp[16] = ".cove-";
	const char *why = NULL;
	int rc;

	cv_random_name(tmp + 6, 8);
	if (p->c->kind == COVE_KIND_SYMLINK)
		why = symlinkat(p->c->link_target, p->dirfd, tmp) < 0 ? strerror(errno) : NULL;
	else
		why = write_file(a, p, tmp, inside, err);
	rc = why ? 0 : publish(p, tmp);
	if (why || rc < 0)
		unlinkat(p->dirfd, tmp, 0);
	return rc == -EEXIST ? changed_meanwhile : rc < 0 ? strerror(-rc) : why;
}

static const char *set_mode(const struct apply *a, const struct place *p, const char *inside,
			    struct cove_error *err)
{
	int64_t mode = mode_inside(a, inside, err);

	if (mode < 0)
		return err->message;
	return fchmodat(p->dirfd, p->name, (mode_t)mode, 0) < 0 ? strerror(errno) : NULL;
}

static const char *put_directory(const struct apply *a, const struct place *p, const char *inside,
				 struct cove_error *err)
{
	if (mkdirat(p->dirfd, p->name, 0700) < 0)
		return errno == EEXIST ? changed_meanwhile : strerror(errno);
	return set_mode(a, p, inside, err);
}

static const char *put_change(const struct apply *a, struct place *p, bool replaces)
{
	struct cove_error err = COVE_ERROR_INIT;
	char inside[CV_PATH_MAX + 3];
	static char why[sizeof(err.message)];
	const char *said = check_old(a, p, p->c->change == COVE_DIFF_ADDED && !replaces);

	snprintf(inside, sizeof(inside), "./%s", p->c->path);
	if (!said && p->c->change == COVE_DIFF_MODE)
		said = set_mode(a, p, inside, &err);
	else if (!said && p->c->kind == COVE_KIND_DIRECTORY)
		said = put_directory(a, p, inside, &err);
	else if (!said && p->replaces && p->c->change == COVE_DIFF_ADDED && !replaces)
		said = changed_meanwhile;
	else if (!said)
		said = put_new(a, p, inside, &err);
	if (!said)
		return NULL;
	cv_text_copy(why, sizeof(why), said);
	return why;
}

static const char *drop(const struct apply *a, struct place *p)
{
	bool dir = p->c->kind == COVE_KIND_DIRECTORY;
	const char *why = check_old(a, p, false);

	if (!why && unlinkat(p->dirfd, p->name, dir ? AT_REMOVEDIR : 0) < 0)
		why = errno == ENOTDIR || errno == EISDIR ? changed_meanwhile : strerror(errno);
	return why;
}

static void one(struct apply *a, const struct cove_env_change *c, bool replaces)
{
	struct place p = {.c = c, .dirfd = -1};
	const char *why = reach(a, &p);

	if (!why)
		why = c->change == COVE_DIFF_DELETED ? drop(a, &p) : put_change(a, &p, replaces);
	if (why)
		leave(a, c, why);
	cv_close(&p.dirfd);
}

static bool can_be(struct apply *a, const struct cove_env_change *c)
{
	if (c->change == COVE_DIFF_UNREADABLE)
		return leave(a, c, "it can't be read") == 0;
	if (is_in_git(c->path))
		return leave(a, c, "what is in .git stays as it is") == 0;
	if (c->kind == COVE_KIND_OTHER && c->change != COVE_DIFF_DELETED)
		return leave(a, c, "it is neither file, directory nor link") == 0;
	return true;
}

/* What is deleted here and added again as something that one rename puts in its place. */
static bool is_replaced(const struct cove_env_diff_result *d, size_t i)
{
	const struct cove_env_change *c = &d->changes[i];

	return i + 1 < d->change_count && c[0].change == COVE_DIFF_DELETED &&
	       c[1].change == COVE_DIFF_ADDED && strcmp(c[0].path, c[1].path) == 0 &&
	       c[0].kind != COVE_KIND_DIRECTORY && c[1].kind != COVE_KIND_DIRECTORY;
}

size_t changes_apply(const struct changes_args *args, struct cove_env *env,
		     const struct cove_env_diff_result *d)
{
	struct apply a = {.args = args, .env = env, .root = -1};

	a.root = open(args->seed, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a.root < 0) {
		report("can't write to '%s': %s", args->seed, strerror(errno));
		return d->change_count;
	}
	for (size_t i = 0; i < d->change_count; i++) {
		const struct cove_env_change *c = &d->changes[i];

		if (c->change == COVE_DIFF_DELETED && c->kind != COVE_KIND_DIRECTORY &&
		    !is_replaced(d, i) && can_be(&a, c))
			one(&a, c, false);
	}
	for (size_t i = d->change_count; i-- > 0;)
		if (d->changes[i].change == COVE_DIFF_DELETED &&
		    d->changes[i].kind == COVE_KIND_DIRECTORY && can_be(&a, &d->changes[i]))
			one(&a, &d->changes[i], false);
	for (size_t i = 0; i < d->change_count; i++)
		if (d->changes[i].change != COVE_DIFF_DELETED && can_be(&a, &d->changes[i]))
			one(&a, &d->changes[i], i > 0 && is_replaced(d, i - 1));
	close(a.root);
	return a.left;
}
