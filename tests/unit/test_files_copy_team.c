/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a tree that is large enough for a second thread (FILE-14): nothing is lost between the
 * two, and what fails is told the same way each time.
 */
#include "files_fixture.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define DIRS 120
#define FILES_EACH 6

static atomic_bool refuse; /* opening what is called secret */
static atomic_int threads; /* that have opened a file of the source */
static __thread bool counted;

/* Stands in for libc's. */
int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (atomic_load(&refuse) && strncmp(path, "secret", 6) == 0) {
		errno = EACCES;
		return -1;
	}
	if (!counted && strncmp(path, "file", 4) == 0)
		atomic_fetch_add(&threads, 1);
	counted |= strncmp(path, "file", 4) == 0;
	return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

static int copy(const char *dst)
{
	make_dir(dst);
	fx.err = (struct cove_error)COVE_ERROR_INIT;
	return cv_copy_tree(at("ws"), at(dst), &fx.cancel, NULL, &fx.err);
}

/* Directory n lies below one with a smaller number. */
static void dir_name(int n, char *name, size_t size)
{
	char up[512];

	if (n == 0) {
		snprintf(name, size, "ws");
		return;
	}
	dir_name(n / 4, up, sizeof(up));
	snprintf(name, size, "%s/dir%d", up, n);
}

static void make_tree(void)
{
	static const mode_t modes[] = {0644, 0600, 0755, 0444, 0400, 0664};
	char name[600];

	for (int i = 1; i < DIRS; i++) {
		dir_name(i, name, 512);
		make_dir(name);
	}
	for (int i = 0; i < DIRS; i++)
		for (int k = 0; k < FILES_EACH; k++) {
			dir_name(i, name, 512);
			snprintf(name + strlen(name), 32, "/file%d", k);
			put(name, name);
			ck_assert_int_eq(chmod(at(name), modes[(i + k) % 6]), 0);
		}
	for (int i = DIRS - 1; i > 0; i--) {
		struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 2000 + i}};

		dir_name(i, name, 512);
		ck_assert_int_eq(utimensat(AT_FDCWD, at(name), times, 0), 0);
		ck_assert_int_eq(chmod(at(name), i % 3 ? 0755 : 0500), 0);
	}
}

static int differs(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	static cv_path other;
	struct stat copied;

	(void)ftw;
	ck_assert_int_eq(cv_path_join(other, fx.base, "out/copy"), 0);
	ck_assert_int_lt(strlen(other) + strlen(path), sizeof(other));
	memcpy(other + strlen(other), path + strlen(fx.ws), strlen(path + strlen(fx.ws)) + 1);
	ck_assert_msg(lstat(other, &copied) == 0, "missing: %s", other);
	if (strcmp(path, fx.ws) == 0)
		return 0;
	ck_assert_msg(copied.st_mode == st->st_mode, "mode of %s", other);
	ck_assert_msg(copied.st_mtim.tv_sec == st->st_mtim.tv_sec &&
			      copied.st_mtim.tv_nsec == st->st_mtim.tv_nsec,
		      "time of %s", other);
	ck_assert_int_eq(copied.st_size, flag == FTW_F ? st->st_size : copied.st_size);
	return 0;
}

START_TEST(two_threads_copy_everything_once)
{
	make_tree();
	for (int i = 0; i < rounds(20); i++) {
		struct cv_tree_remove job = {.force = true};
		int out = open(at("out"), O_PATH | O_DIRECTORY | O_CLOEXEC);

		ck_assert_int_eq(copy("out/copy"), 0);
		ck_assert_int_eq(nftw(fx.ws, differs, 16, FTW_PHYS), 0);
		ck_assert_int_eq(cv_tree_remove(out, "copy", &job), 0);
		ck_assert_int_eq(job.removed, DIRS + DIRS * FILES_EACH);
		close(out);
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		ck_assert_int_gt(atomic_load(&threads), 1);
}
END_TEST

/* Of all that can't be read the first in byte order, whichever thread met which first. */
START_TEST(two_threads_tell_the_same_failure)
{
	char want[600];
	char name[600];

	make_tree();
	for (int i = 1; i < DIRS; i += 7) {
		dir_name(i, name, 512);
		ck_assert_int_eq(chmod(at(name), 0755), 0);
		snprintf(name + strlen(name), 32, "/secret%d", i);
		put(name, "x");
		if (i == 1 || strcmp(name, want) < 0)
			memcpy(want, name, sizeof(want));
	}
	atomic_store(&refuse, true);
	for (int i = 0; i < rounds(20); i++) {
		snprintf(name, sizeof(name), "out/copy%d", i);
		ck_assert_int_eq(copy(name), COVE_E_PERMISSION_DENIED);
		ck_assert_str_eq(fx.err.path, at(want));
	}
	atomic_store(&refuse, false);
}
END_TEST

static void *cancel_soon(void *arg)
{
	usleep(*(useconds_t *)arg);
	atomic_store(&fx.cancel, true);
	return NULL;
}

/* FILE-16 */
START_TEST(two_threads_are_cancelled)
{
	char name[32];

	make_tree();
	for (useconds_t us = 0; us < 20000; us += 1000) {
		pthread_t thread;
		int rc;

		snprintf(name, sizeof(name), "out/copy%u", us);
		ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &us), 0);
		rc = copy(name);
		pthread_join(thread, NULL);
		ck_assert(rc == 0 || rc == COVE_E_CANCELLED);
		atomic_store(&fx.cancel, false);
	}
}
END_TEST

START_TEST(two_threads_without_room)
{
	const char *path;

	if (!mount_tmpfs("two_threads_without_room", "size=16m,nr_inodes=300", 0))
		return;
	for (int i = 0; i < 40; i++) {
		char name[64];

		snprintf(name, sizeof(name), "out/d%d", i);
		make_dir(name);
		for (int k = 0; k < 20; k++) {
			snprintf(name, sizeof(name), "out/d%d/file%d", i, k);
			put(name, name);
		}
	}
	ck_assert_int_eq(cv_copy_tree(at("out"), at("ws"), NULL, NULL, &fx.err),
			 COVE_E_QUOTA_EXCEEDED);
	path = fx.err.path;
	ck_assert_int_eq(strncmp(path, at("out/d"), strlen(at("out/d"))), 0);
}
END_TEST

/* A umask that takes bits away is no reason to lose them in the copy. */
START_TEST(modes_survive_the_umask)
{
	make_tree();
	put("ws/all", "x");
	ck_assert_int_eq(chmod(at("ws/all"), 01777), 0);
	for (mode_t mask = 0; mask <= 077; mask = mask * 8 + 7) {
		struct cv_tree_remove job = {.force = true};
		int out = open(at("out"), O_PATH | O_DIRECTORY | O_CLOEXEC);

		make_dir("out/copy");
		umask(mask);
		ck_assert_int_eq(cv_copy_tree(at("ws"), at("out/copy"), NULL, NULL, &fx.err), 0);
		umask(022);
		ck_assert_int_eq(nftw(fx.ws, differs, 16, FTW_PHYS), 0);
		ck_assert_int_eq(cv_tree_remove(out, "copy", &job), 0);
		close(out);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		two_threads_copy_everything_once, two_threads_tell_the_same_failure,
		two_threads_are_cancelled,	  two_threads_without_room,
		modes_survive_the_umask,
	};

	return run_tests("files_copy_team", tests, CV_LEN(tests), 60);
}
