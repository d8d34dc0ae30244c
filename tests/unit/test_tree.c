/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing trees by descriptors: depth, width, failures, cancellation (FILE-14's remove stands on
 * it).
 */
#include "files_fixture.h"

#include <sys/resource.h>

static struct cv_tree_remove job;

static int remove_at(const char *rel, struct cv_tree_remove how)
{
	const char *path = at(rel);
	const char *slash = strrchr(path, '/');
	CV_FREE char *dir = strndup(path, (size_t)(slash - path));
	CV_CLOSE int dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	job = how;
	return cv_tree_remove(dirfd, slash + 1, &job);
}

/* A chain of directories with a file and a link in each. */
static void make_chain(const char *rel, int levels)
{
	int dir = open(at(rel), O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < levels; i++) {
		int below;

		ck_assert_int_eq(mkdirat(dir, "directory", 0755), 0);
		below = openat(dir, "directory", O_PATH | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(below, 0);
		close(dir);
		dir = below;
		close(openat(dir, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		ck_assert_int_eq(symlinkat("..", dir, "link"), 0);
	}
	close(dir);
}

START_TEST(tree_removes_one_entry)
{
	put("ws/f", "");
	make_dir("ws/d");
	put("ws/d/f", "");
	make_link("d", "ws/l");
	ck_assert_int_eq(remove_at("ws/f", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 1);
	ck_assert_int_eq(remove_at("ws/l", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 1);
	ck_assert_str_eq(get("ws/d/f"), "");
	ck_assert_int_eq(remove_at("ws/missing", (struct cv_tree_remove){0}), -ENOENT);
	ck_assert_str_eq(job.failed, "");
}
END_TEST

START_TEST(tree_never_follows_links)
{
	put("out/f", "x");
	make_dir("ws/d");
	make_link(at("out"), "ws/d/abs");
	make_link("../../out", "ws/d/rel");
	make_link("/", "ws/d/root");
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 4);
	ck_assert(!is_there("ws/d"));
	ck_assert_str_eq(get("out/f"), "x");
}
END_TEST

START_TEST(tree_of_3000_levels_with_64_descriptors)
{
	struct rlimit limit;

	make_dir("ws/d");
	make_chain("ws/d", 3000);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)fx.fds + 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 9001);
	ck_assert(!is_there("ws/d"));
}
END_TEST

START_TEST(tree_with_many_directories)
{
	char name[64];

	make_dir("ws/d");
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "ws/d/a-long-name-for-a-directory-%d", i);
		make_dir(name);
	}
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 2001);
}
END_TEST

START_TEST(tree_names_its_first_failure)
{
	if (!mount_tmpfs("tree_names_its_first_failure", "size=1m", 0))
		return;
	make_dir("ws/d");
	make_dir("ws/d/e");
	make_dir("ws/d/e/mounted");
	ck_assert_int_eq(mount("tmpfs", at("ws/d/e/mounted"), "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), -EBUSY);
	ck_assert_str_eq(job.failed, "d/e/mounted");
	put("ws/d/f", "");
	ck_assert_int_eq(remove_at("ws/d/e/mounted", (struct cv_tree_remove){0}), -EBUSY);
	ck_assert_str_eq(job.failed, "mounted");
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){.keep_going = true}), -EBUSY);
	ck_assert_str_eq(job.failed, "d/e/mounted");
	ck_assert_int_eq(job.removed, 1);
	ck_assert(!is_there("ws/d/f"));
	umount2(at("ws/d/e/mounted"), MNT_DETACH);
}
END_TEST

START_TEST(tree_force_opens_directories_of_our_own)
{
	make_dir("ws/d");
	make_dir("ws/d/e");
	put("ws/d/e/f", "");
	ck_assert_int_eq(chmod(at("ws/d/e"), 0), 0);
	ck_assert_int_eq(chmod(at("ws/d"), 0500), 0);
	if (geteuid() != 0) {
		ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), -EACCES);
		ck_assert_str_eq(job.failed, "d/e");
		ck_assert_int_eq(job.removed, 0);
	}
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){.force = true}), 0);
	ck_assert_int_eq(job.removed, 3);
	ck_assert(!is_there("ws/d"));
}
END_TEST

/*
 * rmdir() needs nothing of the directory itself; like rm -r, an empty one goes though it can't be
 * read.
 */
START_TEST(tree_removes_an_empty_directory_that_cannot_be_read)
{
	make_dir("ws/d");
	make_dir("ws/d/e");
	ck_assert_int_eq(chmod(at("ws/d/e"), 0), 0);
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){0}), 0);
	ck_assert_int_eq(job.removed, 2);
}
END_TEST

START_TEST(tree_can_be_cancelled)
{
	atomic_bool cancel = true;

	make_dir("ws/d");
	put("ws/d/f", "");
	ck_assert_int_eq(remove_at("ws/d", (struct cv_tree_remove){.cancel = &cancel}), -ECANCELED);
	ck_assert_str_eq(get("ws/d/f"), "");
	ck_assert_int_eq(job.removed, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		tree_removes_one_entry,
		tree_never_follows_links,
		tree_of_3000_levels_with_64_descriptors,
		tree_with_many_directories,
		tree_names_its_first_failure,
		tree_force_opens_directories_of_our_own,
		tree_removes_an_empty_directory_that_cannot_be_read,
		tree_can_be_cancelled,
	};

	return run_tests("tree", tests, CV_LEN(tests), 60);
}
