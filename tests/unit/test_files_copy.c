/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a tree, as a workspace is made from its seed: CASE-58 and the limits of FILE-14's copy.
 */
#include "files_fixture.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static int64_t left_out;
static int refuse_with; /* errno of copy_file_range(), -1: it copies nothing, 0: the real one */

/* Stands in for libc's. */
ssize_t copy_file_range(int in, loff_t *from, int out, loff_t *to, size_t len, unsigned flags)
{
	if (refuse_with < 0)
		return 0;
	errno = refuse_with;
	return refuse_with ? -1 : syscall(SYS_copy_file_range, in, from, out, to, len, flags);
}

static int copy(void)
{
	fx.err = (struct cove_error)COVE_ERROR_INIT;
	return cv_copy_tree(at("ws"), at("out"), &fx.cancel, &left_out, &fx.err);
}

static void assert_same_file(const char *a, const char *b)
{
	struct stat sa = stat_of(a);
	struct stat sb = stat_of(b);

	ck_assert_int_eq(sa.st_mode, sb.st_mode);
	ck_assert_int_eq(sa.st_size, sb.st_size);
	ck_assert_int_eq(sa.st_mtim.tv_sec, sb.st_mtim.tv_sec);
	ck_assert_int_eq(sa.st_mtim.tv_nsec, sb.st_mtim.tv_nsec);
}

static void age(const char *rel, time_t secs)
{
	struct timespec times[2] = {{.tv_sec = secs}, {.tv_sec = secs, .tv_nsec = 987654321}};

	ck_assert_int_eq(utimensat(AT_FDCWD, at(rel), times, AT_SYMLINK_NOFOLLOW), 0);
}

START_TEST(copy_keeps_content_modes_and_times)
{
	static const mode_t modes[] = {0644, 0755, 0400, 04755, 0666};
	char a[32];
	char b[32];

	make_dir("ws/d");
	for (size_t i = 0; i < CV_LEN(modes); i++) {
		snprintf(a, sizeof(a), "ws/d/f%zu", i);
		put(a, a);
		ck_assert_int_eq(chmod(at(a), modes[i]), 0);
		age(a, 1000000 + (time_t)i);
	}
	ck_assert_int_eq(chmod(at("ws/d"), 01751), 0);
	age("ws/d", 2000000);
	ck_assert_int_eq(copy(), 0);
	ck_assert_int_eq(left_out, 0);
	for (size_t i = 0; i < CV_LEN(modes); i++) {
		snprintf(a, sizeof(a), "ws/d/f%zu", i);
		snprintf(b, sizeof(b), "out/d/f%zu", i);
		assert_same_file(a, b);
		ck_assert_str_eq(get(b), a);
	}
	assert_same_file("ws/d", "out/d");
	ck_assert_int_eq(stat_of("out").st_mode & 07777, 0755);
}
END_TEST

/* They can only be filled while they may be written to, and filling changes their times. */
START_TEST(copy_sets_modes_of_directories_after_filling)
{
	make_dir("ws/d");
	make_dir("ws/d/e");
	put("ws/d/e/f", "x");
	age("ws/d/e", 3000000);
	age("ws/d", 3000001);
	ck_assert_int_eq(chmod(at("ws/d/e"), 0555), 0);
	ck_assert_int_eq(chmod(at("ws/d"), 0500), 0);
	ck_assert_int_eq(copy(), 0);
	ck_assert_str_eq(get("out/d/e/f"), "x");
	assert_same_file("ws/d", "out/d");
	assert_same_file("ws/d/e", "out/d/e");
}
END_TEST

START_TEST(case_58_links_are_copied_as_links)
{
	static const char *const targets[] = {"d/f", "missing", "/etc/passwd", "..", "loop"};
	char name[32];
	char target[64];

	make_dir("ws/d");
	put("ws/d/f", "");
	for (size_t i = 0; i < CV_LEN(targets); i++) {
		snprintf(name, sizeof(name), "ws/loop%zu", i);
		make_link(targets[i], name);
		age(name, 4000000);
	}
	make_link("loop", "ws/loop");
	make_link(at("ws"), "ws/d/up");
	ck_assert_int_eq(copy(), 0);
	for (size_t i = 0; i < CV_LEN(targets); i++) {
		ssize_t n;

		snprintf(name, sizeof(name), "out/loop%zu", i);
		n = readlink(at(name), target, sizeof(target) - 1);
		ck_assert_int_gt(n, 0);
		target[n] = '\0';
		ck_assert_str_eq(target, targets[i]);
		ck_assert_int_eq(stat_of(name).st_mtim.tv_sec, 4000000);
	}
	ck_assert(S_ISLNK(stat_of("out/d/up").st_mode));
}
END_TEST

START_TEST(copy_of_special_files)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "ws/sock"};
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int devices;

	ck_assert_int_eq(bind(sock, (struct sockaddr *)&name, sizeof(name)), 0);
	close(sock);
	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(chmod(at("ws/fifo"), 0622), 0);
	devices = mknod(at("ws/null"), S_IFCHR | 0666, makedev(1, 3)) == 0;
	ck_assert_int_eq(copy(), 0);
	ck_assert_int_eq(left_out, 1 + devices);
	ck_assert(S_ISFIFO(stat_of("out/fifo").st_mode));
	ck_assert_int_eq(stat_of("out/fifo").st_mode & 07777, 0622);
	ck_assert_int_eq(count_entries("out"), 1);
}
END_TEST

/* A program that runs as its owner must not come to run as whoever copied it. */
START_TEST(copy_drops_setuid_of_others)
{
	if (geteuid() != 0)
		return;
	put("ws/f", "");
	ck_assert_int_eq(chown(at("ws/f"), 1234, 2345), 0);
	ck_assert_int_eq(chmod(at("ws/f"), 06755), 0);
	ck_assert_int_eq(copy(), 0);
	ck_assert_int_eq(stat_of("out/f").st_mode & 07777, 0755);
	ck_assert_int_eq(stat_of("out/f").st_uid, 0);
}
END_TEST

static void make_sparse(void)
{
	int fd = open(at("ws/sparse"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	ck_assert_int_eq(ftruncate(fd, (off_t)4 << 30), 0);
	ck_assert_int_eq(pwrite(fd, "middle", 6, (off_t)1 << 30), 6);
	ck_assert_int_eq(pwrite(fd, "late", 4, (off_t)3 << 30), 4);
	close(fd);
}

static void assert_sparse_copy(void)
{
	int fd = open(at("out/sparse"), O_RDONLY | O_CLOEXEC);
	struct stat st = stat_of("out/sparse");
	char data[6];

	ck_assert_int_eq(st.st_size, (off_t)4 << 30);
	ck_assert_int_lt(st.st_blocks * 512, 1 << 20);
	ck_assert_int_eq(pread(fd, data, 6, (off_t)1 << 30), 6);
	ck_assert_int_eq(memcmp(data, "middle", 6), 0);
	ck_assert_int_eq(pread(fd, data, 4, (off_t)3 << 30), 4);
	ck_assert_int_eq(memcmp(data, "late", 4), 0);
	close(fd);
}

START_TEST(copy_keeps_holes)
{
	make_sparse();
	ck_assert_int_eq(copy(), 0);
	assert_sparse_copy();
}
END_TEST

START_TEST(copy_falls_back_to_read_and_write)
{
	static const int refusals[] = {EXDEV, EINVAL, EOPNOTSUPP, ENOSYS, -1};
	size_t len = 1000003;
	char *data = malloc(len);
	char *back = malloc(len);

	make_sparse();
	for (size_t i = 0; i < len; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	put_bytes("ws/f", data, len);
	for (size_t i = 0; i < CV_LEN(refusals); i++) {
		int fd;

		refuse_with = refusals[i];
		ck_assert_int_eq(copy(), 0);
		assert_sparse_copy();
		fd = open(at("out/f"), O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(cv_read_full(fd, back, len), (ssize_t)len);
		close(fd);
		ck_assert_int_eq(memcmp(data, back, len), 0);
		ck_assert_int_eq(unlink(at("out/f")), 0);
		ck_assert_int_eq(unlink(at("out/sparse")), 0);
	}
	refuse_with = EIO;
	ck_assert_int_eq(copy(), COVE_E_INTERNAL);
	ck_assert_int_eq(fx.err.sys_errno, EIO);
	refuse_with = 0;
	free(data);
	free(back);
}
END_TEST

START_TEST(copy_of_files_without_a_size)
{
	ck_assert_int_eq(cv_copy_tree("/proc/self/fdinfo", at("out"), NULL, &left_out, &fx.err), 0);
	ck_assert_ptr_nonnull(strstr(get("out/1"), "flags:"));
}
END_TEST

static void make_chain(int levels)
{
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < levels; i++) {
		int below;
		int fd;

		ck_assert_int_eq(mkdirat(dir, "directory", 0755), 0);
		ck_assert_int_eq(mkdirat(dir, "another", 0755), 0);
		below = openat(dir, "directory", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd = openat(below, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		ck_assert_int_eq(write(fd, "x", 1), 1);
		close(fd);
		close(dir);
		dir = below;
	}
	close(dir);
}

START_TEST(copy_of_1000_levels_with_64_descriptors)
{
	struct cv_tree_remove job = {0};
	int out = open(at("out"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct rlimit limit;

	make_chain(1000);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)fx.fds + 65;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(copy(), 0);
	ck_assert_int_eq(cv_tree_remove(out, "directory", &job), 0);
	ck_assert_int_eq(job.removed, 1000 + 999 + 1000);
	close(out);
}
END_TEST

START_TEST(copy_names_what_it_could_not_read)
{
	if (geteuid() == 0)
		return;
	make_dir("ws/d");
	make_dir("ws/d/e");
	put("ws/d/e/secret", "");
	ck_assert_int_eq(chmod(at("ws/d/e/secret"), 0), 0);
	ck_assert_int_eq(copy(), COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(fx.err.path, at("ws/d/e/secret"));
	ck_assert_ptr_nonnull(strstr(fx.err.message, "/ws/d/e/secret'"));
	ck_assert_int_eq(chmod(at("ws/d/e"), 0), 0);
	make_dir("second");
	ck_assert_int_eq(cv_copy_tree(at("ws"), at("second"), NULL, NULL, &fx.err),
			 COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(fx.err.path, at("ws/d/e"));
	ck_assert_int_eq(chmod(at("ws/d/e"), 0700), 0);
}
END_TEST

START_TEST(copy_refuses_bad_ends)
{
	put("ws/f", "");
	ck_assert_int_eq(cv_copy_tree(at("ws/f"), at("out"), NULL, NULL, &fx.err),
			 COVE_E_NOT_DIRECTORY);
	ck_assert_str_eq(fx.err.path, at("ws/f"));
	ck_assert_int_eq(cv_copy_tree(at("ws"), at("missing"), NULL, NULL, &fx.err),
			 COVE_E_NOT_FOUND);
	ck_assert_str_eq(fx.err.path, at("missing"));
	make_dir("ws/sub");
	ck_assert_int_eq(cv_copy_tree(at("ws"), at("ws/sub"), NULL, NULL, &fx.err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cv_copy_tree(at("ws"), at("ws"), NULL, NULL, &fx.err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(count_entries("ws/sub"), 0);
	put("out/f", "mine");
	ck_assert_int_eq(copy(), COVE_E_ALREADY_EXISTS);
	ck_assert_str_eq(get("out/f"), "mine");
}
END_TEST

START_TEST(copy_can_be_cancelled)
{
	put("ws/f", "");
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(copy(), COVE_E_CANCELLED);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

START_TEST(copy_between_file_systems_and_without_room)
{
	char *data = calloc(1, 300000);

	memset(data, 'x', 299999);
	put("out/small", "small");
	put_bytes("out/large", data, 299999);
	free(data);
	if (!mount_tmpfs("copy_between_file_systems_and_without_room", "size=64k", 0))
		return;
	ck_assert_int_eq(cv_copy_tree(at("out"), at("ws"), NULL, NULL, &fx.err),
			 COVE_E_QUOTA_EXCEEDED);
	ck_assert_str_eq(fx.err.path, at("out/large"));
	ck_assert_int_eq(unlink(at("out/large")), 0);
	unlink(at("ws/large"));
	unlink(at("ws/small"));
	ck_assert_int_eq(cv_copy_tree(at("out"), at("ws"), NULL, NULL, &fx.err), 0);
	ck_assert_str_eq(get("ws/small"), "small");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		copy_keeps_content_modes_and_times,
		copy_sets_modes_of_directories_after_filling,
		case_58_links_are_copied_as_links,
		copy_of_special_files,
		copy_drops_setuid_of_others,
		copy_keeps_holes,
		copy_falls_back_to_read_and_write,
		copy_of_files_without_a_size,
		copy_of_1000_levels_with_64_descriptors,
		copy_names_what_it_could_not_read,
		copy_refuses_bad_ends,
		copy_can_be_cancelled,
		copy_between_file_systems_and_without_room,
	};

	return run_tests("files_copy", tests, CV_LEN(tests), 60);
}
