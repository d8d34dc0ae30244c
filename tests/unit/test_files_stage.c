/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage file where the kernel offers less: no O_TMPFILE, no rename without replacing, short
 * writes, failures at any step (FILE-4, CASE-69). The calls below stand in for libc's.
 */
#include "files_fixture.h"
#include "files/stage.h"

#include <stdarg.h>
#include <sys/syscall.h>

static bool no_tmpfile;
static int rename_errno;  /* of renameat2() */
static int replace_errno; /* of renameat() */
static int link_errno;
static size_t short_write; /* at most so many bytes at once, if not 0 */
static bool watched;	   /* count and perhaps fail the writes */
static int write_countdown;

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	errno = rename_errno;
	return rename_errno ? -1 : (int)syscall(SYS_renameat2, from, a, to, b, flags);
}

int renameat(int from, const char *a, int to, const char *b)
{
	errno = replace_errno;
	return replace_errno ? -1 : (int)syscall(SYS_renameat2, from, a, to, b, 0);
}

int linkat(int from, const char *a, int to, const char *b, int flags)
{
	errno = link_errno;
	return link_errno ? -1 : (int)syscall(SYS_linkat, from, a, to, b, flags);
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (watched && write_countdown > 0 && --write_countdown == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (watched && short_write)
		len = CV_MIN(len, short_write);
	return syscall(SYS_write, fd, data, len);
}

static void assert_all_modes_work(void)
{
	ck_assert_int_eq(do_write("f", "create", COVE_WRITE_CREATE), 0);
	ck_assert_str_eq(get("ws/f"), "create");
	ck_assert_int_eq(stat_of("ws/f").st_mode & 07777, 0644);
	ck_assert_int_eq(do_write("f", "again", COVE_WRITE_CREATE), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(chmod(at("ws/f"), 0640), 0);
	ck_assert_int_eq(do_write("f", "replace", COVE_WRITE_REPLACE), 0);
	ck_assert_str_eq(get("ws/f"), "replace");
	ck_assert_int_eq(stat_of("ws/f").st_mode & 07777, 0640);
	ck_assert_int_eq(do_write("f", "upsert", COVE_WRITE_UPSERT), 0);
	ck_assert_str_eq(get("ws/f"), "upsert");
	ck_assert_int_eq(do_write("g", "append", COVE_WRITE_APPEND), 0);
	ck_assert_str_eq(get("ws/g"), "append");
	ck_assert_int_eq(count_entries("ws"), 2);
}

START_TEST(file_4_without_o_tmpfile)
{
	no_tmpfile = true;
	assert_all_modes_work();
}
END_TEST

START_TEST(file_4_without_o_tmpfile_and_renameat2)
{
	no_tmpfile = true;
	rename_errno = EINVAL;
	assert_all_modes_work();
}
END_TEST

/* What loses the race at publication leaves nothing, with and without a name of its own. */
START_TEST(file_4_publish_new_never_overwrites)
{
	struct cv_stage s;
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	put("ws/f", "first");
	for (int i = 0; i < 3; i++) {
		no_tmpfile = i > 0;
		rename_errno = i > 1 ? ENOSYS : 0;
		ck_assert_int_eq(cv_stage_open(&s, dir, 0600), 0);
		ck_assert_int_eq(cv_stage_write(&s, "second", 6, NULL), 0);
		ck_assert_int_eq(count_entries("ws"), no_tmpfile ? 2 : 1);
		ck_assert_int_eq(cv_stage_publish_new(&s, "f"), -EEXIST);
		cv_stage_done(&s);
		ck_assert_int_eq(count_entries("ws"), 1);
	}
	ck_assert_str_eq(get("ws/f"), "first");
	close(dir);
}
END_TEST

START_TEST(case_69_short_writes_are_completed)
{
	watched = true;
	short_write = 3;
	assert_all_modes_work();
	ck_assert_int_eq(do_write("g", " in many steps", COVE_WRITE_APPEND), 0);
	watched = false;
	ck_assert_str_eq(get("ws/g"), "append in many steps");
}
END_TEST

START_TEST(case_69_a_failure_at_any_write_leaves_the_old_content)
{
	put("ws/f", "old");
	short_write = 3;
	for (int named = 0; named < 2; named++) {
		no_tmpfile = named;
		for (int n = 1; n <= 4; n++) {
			for (int mode = COVE_WRITE_REPLACE; mode <= COVE_WRITE_APPEND; mode++) {
				int rc;

				watched = true;
				write_countdown = n;
				rc = do_write("f", "0123456789", mode);
				watched = false;
				ck_assert_int_eq(rc, COVE_E_QUOTA_EXCEEDED);
				ck_assert_str_eq(get("ws/f"), "old");
				ck_assert_int_eq(count_entries("ws"), 1);
			}
		}
	}
}
END_TEST

START_TEST(file_4_a_failure_to_publish_leaves_nothing)
{
	put("ws/f", "old");
	replace_errno = EBUSY;
	for (int named = 0; named < 2; named++) {
		no_tmpfile = named;
		ck_assert_int_eq(do_write("f", "new", COVE_WRITE_REPLACE), COVE_E_BUSY);
		ck_assert_ptr_nonnull(strstr(fx.err.hint, "in_place"));
		ck_assert_int_eq(count_entries("ws"), 1);
	}
	replace_errno = 0;
	no_tmpfile = false;
	link_errno = EMLINK;
	ck_assert_int_eq(do_write("new", "new", COVE_WRITE_CREATE), COVE_E_INTERNAL);
	ck_assert_int_eq(fx.err.sys_errno, EMLINK);
	ck_assert_int_eq(do_write("f", "new", COVE_WRITE_REPLACE), COVE_E_INTERNAL);
	ck_assert_str_eq(get("ws/f"), "old");
	ck_assert_int_eq(count_entries("ws"), 1);
}
END_TEST

START_TEST(file_4_cancelled_while_writing)
{
	struct cv_stage s;
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	atomic_store(&fx.cancel, true);
	no_tmpfile = true;
	ck_assert_int_eq(cv_stage_open(&s, dir, 0600), 0);
	ck_assert_int_eq(cv_stage_write(&s, "x", 1, &fx.cancel), -ECANCELED);
	cv_stage_done(&s);
	ck_assert_int_eq(count_entries("ws"), 0);
	close(dir);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_4_without_o_tmpfile,
		file_4_without_o_tmpfile_and_renameat2,
		file_4_publish_new_never_overwrites,
		case_69_short_writes_are_completed,
		case_69_a_failure_at_any_write_leaves_the_old_content,
		file_4_a_failure_to_publish_leaves_nothing,
		file_4_cancelled_while_writing,
	};

	return run_tests("files_stage", tests, CV_LEN(tests), 30);
}
