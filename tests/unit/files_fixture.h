/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the file operations share.
 *
 * Each test has a fresh directory with `ws`, the only root and the working directory, and `out`,
 * which is outside. Afterwards no descriptor may be left open and no stage file may lie anywhere.
 * Helpers that make or read files for a test take paths relative to that directory and go past the
 * operations; the operations are called directly, with their defaults filled in as the operation
 * table does it.
 */
#ifndef FILES_FIXTURE_H
#define FILES_FIXTURE_H

#include "base/fd.h"
#include "base/tree.h"
#include "files/files.h"

#include <cove/files.h>

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>

struct fixture {
	cv_path base; /* real path of the directory; the process stands in it */
	cv_path ws;
	char *roots[2];
	struct cv_space space;
	struct cv_arena *arena;
	atomic_bool cancel;
	struct cv_file_ctx ctx;
	struct cove_error err;
	int fds; /* open at the start */
	bool mounted;
	char content[8192]; /* of get() */
};

static struct fixture fx;

static inline int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* How often something generated is done: more often in the soak suite, which sets COVE_ROUNDS. */
static inline int rounds(int n)
{
	const char *times = getenv("COVE_ROUNDS");
	int k = times ? atoi(times) : 1;

	return n * (k > 0 ? k : 1);
}

/* A path below the fixture's directory, absolute; the last few stay valid. */
static inline const char *at(const char *rel)
{
	static cv_path paths[8];
	static int next;
	char *path = paths[next++ % 8];

	ck_assert_int_eq(cv_path_join(path, fx.base, rel), 0);
	return path;
}

static inline void put_bytes(const char *rel, const void *data, size_t len)
{
	int fd = open(at(rel), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_msg(fd >= 0, "open %s: %s", rel, strerror(errno));
	ck_assert_int_eq(cv_write_full(fd, data, len), 0);
	close(fd);
}

static inline void put(const char *rel, const char *text)
{
	put_bytes(rel, text, strlen(text));
}

/* A short file's content as a string, or "(missing)". */
static inline const char *get(const char *rel)
{
	int fd = open(at(rel), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return "(missing)";
	n = cv_read_full(fd, fx.content, sizeof(fx.content) - 1);
	ck_assert_int_ge(n, 0);
	fx.content[n] = '\0';
	close(fd);
	return fx.content;
}

static inline void make_dir(const char *rel)
{
	ck_assert_msg(mkdir(at(rel), 0755) == 0, "mkdir %s: %s", rel, strerror(errno));
}

static inline void make_link(const char *target, const char *rel)
{
	ck_assert_msg(symlink(target, at(rel)) == 0, "symlink %s: %s", rel, strerror(errno));
}

static inline struct stat stat_of(const char *rel)
{
	struct stat st;

	ck_assert_msg(lstat(at(rel), &st) == 0, "lstat %s: %s", rel, strerror(errno));
	return st;
}

static inline bool is_there(const char *rel)
{
	struct stat st;

	return lstat(at(rel), &st) == 0;
}

static inline int count_entries(const char *rel)
{
	DIR *dir = opendir(at(rel));
	int n = -2;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static inline int no_stage_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	ck_assert_msg(strncmp(path + ftw->base, ".cove-", 6) != 0, "stage file left: %s", path);
	return 0;
}

static inline void setup(void)
{
	const char *tmp = getenv("TMPDIR");
	char template[CV_PATH_MAX];

	umask(022);
	memset(&fx, 0, sizeof(fx));
	snprintf(template, sizeof(template), "%s/cove-files.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(template));
	ck_assert_ptr_nonnull(realpath(template, fx.base));
	ck_assert_int_eq(chdir(fx.base), 0);
	make_dir("ws");
	make_dir("out");
	memcpy(fx.ws, at("ws"), sizeof(fx.ws));
	memcpy(fx.space.cwd, fx.ws, sizeof(fx.ws));
	memcpy(fx.space.home, fx.ws, sizeof(fx.ws));
	fx.roots[0] = fx.ws;
	fx.space.roots = fx.roots;
	fx.arena = cv_arena_new(0, NULL);
	fx.ctx = (struct cv_file_ctx){.space = &fx.space, .arena = fx.arena, .cancel = &fx.cancel};
	fx.err = (struct cove_error)COVE_ERROR_INIT;
	fx.fds = count_fds();
}

static inline void teardown(void)
{
	struct cv_tree_remove job = {.force = true, .keep_going = true};

	cv_arena_free(fx.arena);
	ck_assert_int_eq(count_fds(), fx.fds);
	nftw(fx.base, no_stage_file, 32, FTW_PHYS);
	if (fx.mounted)
		umount2(fx.ws, MNT_DETACH);
	ck_assert_int_eq(chdir(".."), 0);
	cv_tree_remove(AT_FDCWD, strrchr(fx.base, '/') + 1, &job);
}

static inline void write_proc(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		cv_write_full(fd, text, strlen(text));
	close(fd);
}

/*
 * Mounts a tmpfs over ws in namespaces of this process's own; false, and said, where that is
 * refused.
 */
static inline bool mount_tmpfs(const char *test, const char *options, unsigned long flags)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		printf("\n# SKIP %s: no user namespaces here: %s\n", test, strerror(errno));
		fflush(stdout);
		return false;
	}
	prctl(PR_SET_DUMPABLE, 1);
	write_proc("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_proc("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_proc("/proc/self/gid_map", map);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", fx.ws, "tmpfs", flags, options) < 0) {
		printf("\n# SKIP %s: no mounts in a user namespace: %s\n", test, strerror(errno));
		fflush(stdout);
		return false;
	}
	fx.mounted = true;
	return true;
}

/* Calls an operation with a fresh arena and error: what it gave before is gone. */
static inline int call(cv_file_fn *fn, const void *req, void *res, size_t res_size)
{
	int rc;

	cv_arena_free(fx.arena);
	fx.arena = cv_arena_new(0, NULL);
	fx.ctx.arena = fx.arena;
	fx.err = (struct cove_error)COVE_ERROR_INIT;
	memset(res, 0, res_size);
	rc = fn(&fx.ctx, req, res, &fx.err);
	ck_assert_int_eq(fx.err.code, rc < 0 ? rc : 0);
	if (rc < 0)
		ck_assert_str_ne(fx.err.message, "");
	return rc;
}

static inline int do_stat(const char *path, struct cove_file_entry *res)
{
	struct cove_file_path_opts req = {.size = sizeof(req), .path = path};

	return call(cv_file_stat, &req, res, sizeof(*res));
}

/* 1, 0, or a code. */
static inline int do_exists(const char *path)
{
	struct cove_file_path_opts req = {.size = sizeof(req), .path = path};
	struct cove_file_exists_result res;
	int rc = call(cv_file_exists, &req, &res, sizeof(res));

	return rc < 0 ? rc : res.exists;
}

static inline int do_write_with(struct cove_file_write_opts req, const char *path, const char *text,
				struct cove_file_write_result *res)
{
	struct cove_file_write_result own;

	req.size = sizeof(req);
	req.path = path;
	if (text)
		req.data = (struct cove_bytes){.data = text, .len = strlen(text)};
	if (req.parents == COVE_ZERO)
		req.parents = 0;
	else
		req.parents = 1;
	res = res ? res : &own;
	return call(cv_file_write_text, &req, res, sizeof(*res));
}

static inline int do_write(const char *path, const char *text, int mode)
{
	return do_write_with((struct cove_file_write_opts){.mode = mode}, path, text, NULL);
}

static inline int do_read_text(struct cove_file_read_text_opts req, const char *path,
			       struct cove_file_read_text_result *res)
{
	req.size = sizeof(req);
	req.path = path;
	req.line_limit = req.line_limit ? req.line_limit : 200;
	req.max_line_length = req.max_line_length ? req.max_line_length : 2000;
	req.invalid = req.invalid ? req.invalid : COVE_INVALID_REFUSE;
	return call(cv_file_read_text, &req, res, sizeof(*res));
}

/* The text of a first page with all defaults; NULL after a failure. */
static inline const char *text_of(const char *path)
{
	static struct cove_file_read_text_result res;

	return do_read_text((struct cove_file_read_text_opts){0}, path, &res) < 0 ? NULL :
										    res.text.data;
}

static inline int do_read_bytes(const char *path, int64_t offset, int64_t length,
				struct cove_file_read_bytes_result *res)
{
	struct cove_file_read_bytes_opts req = {
		.size = sizeof(req), .path = path, .offset = offset, .length = length};

	return call(cv_file_read_bytes, &req, res, sizeof(*res));
}

static inline int do_list(struct cove_file_list_opts req, const char *path,
			  struct cove_file_list_result *res)
{
	req.size = sizeof(req);
	req.path = path;
	req.max_results = req.max_results ? req.max_results : 1000;
	return call(cv_file_list, &req, res, sizeof(*res));
}

static inline int do_mkdir(const char *path, bool parents, bool exist_ok,
			   struct cove_file_mkdir_result *res)
{
	struct cove_file_mkdir_opts req = {
		.size = sizeof(req), .path = path, .parents = parents, .exist_ok = exist_ok};
	struct cove_file_mkdir_result own;

	res = res ? res : &own;
	return call(cv_file_mkdir, &req, res, sizeof(*res));
}

/* Entries removed, or a code. */
static inline int do_remove(const char *path, bool recursive, bool missing_ok)
{
	struct cove_file_remove_opts req = {.size = sizeof(req),
					    .path = path,
					    .recursive = recursive,
					    .missing_ok = missing_ok};
	struct cove_file_remove_result res;
	int rc = call(cv_file_remove, &req, &res, sizeof(res));

	return rc < 0 ? rc : (int)res.removed_entries;
}

/* Runs one suite with one case that holds these tests. */
static inline int run_tests(const char *name, const TTest *const *tests, size_t count,
			    double timeout)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, timeout);
	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
