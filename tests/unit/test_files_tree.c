/* SPDX-License-Identifier: Apache-2.0 */
/* Making and removing: FILE-14, FILE-16. */
#include "files_fixture.h"

#include <sys/resource.h>

static struct cove_file_mkdir_result made;

START_TEST(file_14_mkdir)
{
	ck_assert_int_eq(do_mkdir("d", false, false, &made), 0);
	ck_assert(made.created);
	ck_assert_int_eq(strncmp(made.operation_id, "op-", 3), 0);
	ck_assert_int_eq(stat_of("ws/d").st_mode & 07777, 0755);
	ck_assert_int_eq(do_mkdir("d", false, false, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert_str_eq(fx.err.path, "d");
	ck_assert_int_eq(do_mkdir("d", true, false, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_mkdir("d", false, true, &made), 0);
	ck_assert(!made.created);
	ck_assert_ptr_nonnull(made.operation_id);
	ck_assert_int_eq(do_mkdir("e/", false, true, &made), 0);
	ck_assert(made.created);
}
END_TEST

START_TEST(file_14_mkdir_with_parents)
{
	ck_assert_int_eq(do_mkdir("a/b/c", false, false, NULL), COVE_E_NOT_FOUND);
	ck_assert_str_eq(fx.err.path, "a/b/c");
	ck_assert(!is_there("ws/a"));
	ck_assert_int_eq(do_mkdir("a/b/c", true, false, &made), 0);
	ck_assert(made.created);
	ck_assert(S_ISDIR(stat_of("ws/a/b/c").st_mode));
	ck_assert_int_eq(do_mkdir("a/b/c", true, true, &made), 0);
	ck_assert(!made.created);
	ck_assert_int_eq(do_mkdir("a/b/d/../e", true, false, &made), 0);
	ck_assert(S_ISDIR(stat_of("ws/a/b/e").st_mode));
}
END_TEST

START_TEST(file_14_mkdir_where_something_else_is)
{
	put("ws/f", "");
	make_link("nowhere", "ws/dangling");
	make_dir("ws/d");
	make_link("d", "ws/l");
	ck_assert_int_eq(do_mkdir("f", false, true, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_mkdir("f", true, true, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_mkdir("f/d", true, true, NULL), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_mkdir("dangling", true, true, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert(!is_there("ws/nowhere"));
	ck_assert_int_eq(do_mkdir("l", false, true, &made), 0);
	ck_assert(!made.created);
	ck_assert_int_eq(do_mkdir("l", false, false, NULL), COVE_E_ALREADY_EXISTS);
}
END_TEST

START_TEST(file_14_mkdir_of_roots_and_dots)
{
	ck_assert_int_eq(do_mkdir(".", false, true, &made), 0);
	ck_assert(!made.created);
	ck_assert_int_eq(do_mkdir(fx.ws, true, true, &made), 0);
	ck_assert(!made.created);
	ck_assert_int_eq(do_mkdir(".", false, false, NULL), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_mkdir("..", true, true, NULL), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_mkdir("../new", true, true, NULL), COVE_E_PERMISSION_DENIED);
	make_link("../out", "ws/l");
	ck_assert_int_eq(do_mkdir("l", true, true, NULL), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_mkdir("l/new", true, true, NULL), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

START_TEST(file_14_remove_one_entry)
{
	struct cove_file_remove_opts req = {.size = sizeof(req), .path = "f"};
	struct cove_file_remove_result res;

	put("ws/f", "");
	ck_assert_int_eq(call(cv_file_remove, &req, &res, sizeof(res)), 0);
	ck_assert_int_eq(res.removed_entries, 1);
	ck_assert_int_eq(strncmp(res.operation_id, "op-", 3), 0);
	ck_assert(!is_there("ws/f"));
	ck_assert_int_eq(do_remove("f", false, false), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_remove("f/below", true, false), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_remove("f", false, true), 0);
	ck_assert_int_eq(do_remove("f/below", true, true), 0);
	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(do_remove("fifo", false, false), 1);
	put("ws/f", "");
	ck_assert_int_eq(do_remove("f/", false, false), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_remove("f/below", false, true), COVE_E_NOT_DIRECTORY);
}
END_TEST

START_TEST(file_14_remove_a_link_never_its_target)
{
	make_dir("ws/d");
	put("ws/d/f", "");
	put("out/f", "");
	make_link("d", "ws/l");
	make_link("../out", "ws/out");
	make_link("nowhere", "ws/dangling");
	ck_assert_int_eq(do_remove("l/", true, false), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_remove("l", true, false), 1);
	ck_assert_int_eq(do_remove("out", true, false), 1);
	ck_assert_int_eq(do_remove("dangling", false, false), 1);
	ck_assert(is_there("ws/d/f"));
	ck_assert(is_there("out/f"));
}
END_TEST

START_TEST(file_14_remove_directories)
{
	make_dir("ws/d");
	make_dir("ws/d/e");
	put("ws/d/f", "");
	ck_assert_int_eq(do_remove("d", false, false), COVE_E_NOT_EMPTY);
	ck_assert_str_eq(fx.err.path, "d");
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "recursive"));
	ck_assert_int_eq(do_remove("d/e/", false, false), 1);
	make_dir("ws/d/e");
	ck_assert_int_eq(do_remove("d", true, false), 3);
	ck_assert(!is_there("ws/d"));
}
END_TEST

START_TEST(file_14_remove_reports_the_path_of_a_failure)
{
	if (!mount_tmpfs("file_14_remove_reports_the_path_of_a_failure", "size=1m", 0))
		return;
	make_dir("ws/d");
	make_dir("ws/d/e");
	make_dir("ws/d/e/mounted");
	put("ws/d/f", "");
	ck_assert_int_eq(mount("tmpfs", at("ws/d/e/mounted"), "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(do_remove("./d//", true, false), COVE_E_BUSY);
	ck_assert_str_eq(fx.err.path, "./d/e/mounted");
	ck_assert_ptr_nonnull(strstr(fx.err.message, "'./d/e/mounted'"));
	ck_assert_str_eq(fx.err.hint, "1 entries were removed before it");
	ck_assert_int_eq(do_remove("d/e/mounted", true, false), COVE_E_BUSY);
	ck_assert_str_eq(fx.err.path, "d/e/mounted");
	umount2(at("ws/d/e/mounted"), MNT_DETACH);
}
END_TEST

START_TEST(file_14_the_environment_itself_is_not_removed)
{
	make_dir("ws/d");
	for (int recursive = 0; recursive < 2; recursive++) {
		ck_assert_int_eq(do_remove(".", recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove("d/..", recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove(fx.ws, recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove("..", recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove("/", recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove("../out", recursive, true), COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(do_remove("d/.", recursive, true), COVE_E_INVALID_ARGUMENT);
	}
	/* Where everything is allowed, what holds the working directory still stays. */
	fx.roots[0] = NULL;
	ck_assert_int_eq(do_remove("/", true, true), COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(fx.err.path, "/");
	ck_assert_int_eq(do_remove("..", true, true), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_remove(fx.base, true, true), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_remove(fx.ws, true, true), COVE_E_PERMISSION_DENIED);
	ck_assert(is_there("ws/d"));
	ck_assert_int_eq(do_remove(at("out"), true, true), 1);
}
END_TEST

START_TEST(file_14_a_root_below_the_target_is_not_removed)
{
	char *roots[] = {fx.ws, (char[CV_PATH_MAX + 1]){0}, NULL};

	make_dir("ws/holds");
	make_dir("ws/holds/root");
	memcpy(roots[1], at("ws/holds/root"), CV_PATH_MAX);
	fx.space.roots = roots;
	ck_assert_int_eq(do_remove("holds", true, false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_remove("holds/root", true, false), COVE_E_PERMISSION_DENIED);
	ck_assert(is_there("ws/holds/root"));
}
END_TEST

START_TEST(file_16_cancelled_at_the_call)
{
	make_dir("ws/d");
	put("ws/d/f", "");
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(do_remove("d", true, true), COVE_E_CANCELLED);
	ck_assert_int_eq(do_mkdir("new", true, true, NULL), COVE_E_CANCELLED);
	ck_assert(is_there("ws/d/f"));
	ck_assert(!is_there("ws/new"));
}
END_TEST

START_TEST(file_14_remove_1000_levels)
{
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct rlimit limit;

	for (int i = 0; i < 1000; i++) {
		int below;

		ck_assert_int_eq(mkdirat(dir, "directory", 0755), 0);
		below = openat(dir, "directory", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = below;
	}
	close(dir);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)fx.fds + 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(do_remove("directory", true, false), 1000);
	ck_assert_int_eq(count_entries("ws"), 0);
}
END_TEST

START_TEST(file_14_remove_100000_entries)
{
	int dir;
	char name[32];

	make_dir("ws/d");
	dir = open(at("ws/d"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "n%05u", i);
		ck_assert_int_eq(symlinkat("x", dir, name), 0);
	}
	close(dir);
	ck_assert_int_eq(do_remove("d", true, false), 100001);
	ck_assert(!is_there("ws/d"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_14_mkdir,
		file_14_mkdir_with_parents,
		file_14_mkdir_where_something_else_is,
		file_14_mkdir_of_roots_and_dots,
		file_14_remove_one_entry,
		file_14_remove_a_link_never_its_target,
		file_14_remove_directories,
		file_14_remove_reports_the_path_of_a_failure,
		file_14_the_environment_itself_is_not_removed,
		file_14_a_root_below_the_target_is_not_removed,
		file_16_cancelled_at_the_call,
		file_14_remove_1000_levels,
		file_14_remove_100000_entries,
	};

	return run_tests("files_tree", tests, CV_LEN(tests), 60);
}
