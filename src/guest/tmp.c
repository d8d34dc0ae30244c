/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment's own scratch directory, made when it is first needed.
 *
 * It is private, tells git to look away, and is locked as long as the guest lives. Whoever makes
 * one first sweeps the neighbours whose lock is free: their owner is dead. Age never decides.
 */
#include "guest/guest.h"

#include "base/fd.h"
#include "base/tree.h"

#include <cove/env.h>
#include <cove/files.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define PREFIX "cove-"
#define RANDOM_LETTERS 10
#define NAME_TRIES 100

/*
 * A directory of our own that nobody else may change (forbidden mode bits); made if it is missing.
 */
static int own_dir(const char *path, mode_t forbidden, bool *ret_made)
{
	CV_CLOSE int fd = -1;
	struct stat st;

	*ret_made = mkdir(path, 0700) == 0;
	if (!*ret_made && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & forbidden))
		return -EPERM;
	return TAKE_FD(fd);
}

static int put_file(int dirfd, const char *name, const char *text)
{
	CV_CLOSE int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Removes what belongs to no living guest. */
static void sweep(int parent, const char *own)
{
	DIR *dir = fdopendir(openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		CV_CLOSE int fd = -1;
		CV_CLOSE int lock = -1;
		struct cv_tree_remove job = {.force = true};

		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0 || strcmp(e->d_name, own) == 0)
			continue;
		fd = openat(parent, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		lock = fd < 0 ? -1 : openat(fd, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
			cv_tree_remove(parent, e->d_name, &job);
	}
	if (dir)
		closedir(dir);
}

static int make(struct cv_guest *g, const char *path)
{
	cv_path parent;
	const char *slash = strrchr(path, '/');
	CV_CLOSE int up = -1;
	CV_CLOSE int fd = -1;
	bool made;
	int rc;

	cv_text_copy(parent, sizeof(parent), path);
	parent[slash - path] = '\0';
	up = own_dir(parent, 022, &made);
	if (up < 0)
		return up;
	if (made)
		put_file(up, ".gitignore", "*\n");
	sweep(up, slash + 1);
	fd = own_dir(path, 077, &made);
	if (fd < 0)
		return fd;
	rc = put_file(fd, ".gitignore", "*\n");
	if (rc == 0)
		rc = put_file(fd, ".lock", "");
	if (rc < 0)
		return rc;
	g->tmp_lock = openat(fd, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (g->tmp_lock < 0 || flock(g->tmp_lock, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return 0;
}

int cv_guest_tmp(struct cv_guest *g, struct cove_error *err)
{
	const char *path = g->setup->tmp_dir;
	int rc;

	if (!path)
		return cv_fail(err, COVE_E_NOT_SUPPORTED,
			       "this environment has no scratch directory");
	if (g->has_tmp)
		return 0;
	rc = make(g, path);
	if (rc < 0)
		return cv_fail_errno(err, -rc, path, "can't make the scratch directory '%s'", path);
	g->has_tmp = true;
	return 0;
}

/* Relative, and never above the root even on the way. */
static bool stays_inside(const char *path)
{
	int depth = 0;

	for (const char *p = path; *p;) {
		size_t len = strcspn(p, "/");

		if (len == 2 && p[0] == '.' && p[1] == '.')
			depth--;
		else if (len > 0 && !(len == 1 && p[0] == '.'))
			depth++;
		if (depth < 0)
			return false;
		p += len + (p[len] == '/');
	}
	return path[0] != '/';
}

void cv_guest_resolve_tmp(struct cv_guest *g, const void *request, struct cv_reply *reply)
{
	const struct cove_env_resolve_tmp_opts *req = request;
	struct cove_env_resolve_tmp_result r;
	struct cove_error err = COVE_ERROR_INIT;
	cv_path path;
	int rc = 0;

	if (!stays_inside(req->path)) {
		rc = cv_fail_arg(&err, "path",
				 "a relative path without a way out, . for the directory itself",
				 "is absolute or leads out of the scratch directory");
		cv_err_path(&err, req->path);
	}
	if (rc == 0)
		rc = cv_guest_tmp(g, &err);
	if (rc == 0 && cv_path_join(path, g->setup->tmp_dir, req->path) < 0)
		rc = cv_fail_arg(&err, "path", "at most 4096 bytes in all", "is too long");
	if (rc < 0) {
		reply->error(reply, &err);
		return;
	}
	cv_path_normalise(path);
	r.path = cv_path_show(path, g->space.cwd);
	reply->result(reply, &r);
}

/* A part of a name must not lead anywhere. */
static int check_part(const char *part, const char *field, struct cove_error *err)
{
	if (!part || !strchr(part, '/'))
		return 0;
	return cv_fail_arg(err, field, "give a part of a name", "holds a '/'");
}

/* Makes it under a fresh name; 0 or -errno. */
static int make_entry(int dirfd, const struct cove_file_make_temp_opts *req, char name[256])
{
	const char *prefix = req->prefix ? req->prefix : "tmp-";
	const char *suffix = req->suffix ? req->suffix : "";
	char letters[RANDOM_LETTERS + 1];
	int rc = -EEXIST;

	for (int i = 0; i < NAME_TRIES && rc == -EEXIST; i++) {
		CV_CLOSE int fd = -1;

		cv_random_name(letters, RANDOM_LETTERS);
		snprintf(name, 256, "%s%s%s", prefix, letters, suffix);
		if (req->kind == COVE_TEMP_DIRECTORY) {
			rc = mkdirat(dirfd, name, 0700) < 0 ? -errno : 0;
			continue;
		}
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = fd < 0 ? -errno : 0;
	}
	return rc;
}

void cv_guest_make_temp(struct cv_guest *g, const void *request, struct cv_reply *reply)
{
	const struct cove_file_make_temp_opts *req = request;
	struct cove_file_path_result r;
	struct cove_error err = COVE_ERROR_INIT;
	CV_CLOSE int dirfd = -1;
	char name[256];
	cv_path path;
	int rc = check_part(req->prefix, "prefix", &err);

	if (rc == 0)
		rc = check_part(req->suffix, "suffix", &err);
	if (rc == 0)
		rc = cv_guest_tmp(g, &err);
	if (rc == 0) {
		dirfd = open(g->setup->tmp_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = dirfd < 0 ? -errno : make_entry(dirfd, req, name);
		if (rc == 0)
			rc = cv_path_join(path, g->setup->tmp_dir, name);
		if (rc < 0)
			rc = cv_fail_errno(&err, -rc, g->setup->tmp_dir,
					   "can't make a file in '%s'", g->setup->tmp_dir);
	}
	if (rc < 0) {
		reply->error(reply, &err);
		return;
	}
	r.path = cv_path_show(path, g->space.cwd);
	reply->result(reply, &r);
}
