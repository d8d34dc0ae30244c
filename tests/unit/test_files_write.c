/* SPDX-License-Identifier: Apache-2.0 */
/* Writing files: FILE-1, FILE-4, FILE-5, FILE-16. */
#include "files_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define WITH(...) ((struct cove_file_write_opts){__VA_ARGS__})

static struct cove_file_write_result done;

static char *run_of(char c, size_t n)
{
	char *data = malloc(n + 1);

	memset(data, c, n);
	data[n] = '\0';
	return data;
}

START_TEST(file_4_create_never_overwrites)
{
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_CREATE), "f", "new\n", &done), 0);
	ck_assert_str_eq(get("ws/f"), "new\n");
	ck_assert(done.created);
	ck_assert_int_eq(done.bytes_written, 4);
	ck_assert_int_eq(stat_of("ws/f").st_mode & 07777, 0644);
	ck_assert_int_eq(do_write("f", "other", COVE_WRITE_CREATE), COVE_E_ALREADY_EXISTS);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_str_eq(get("ws/f"), "new\n");
	make_link("nowhere", "ws/dangling");
	ck_assert_int_eq(do_write("dangling", "x", COVE_WRITE_CREATE), COVE_E_ALREADY_EXISTS);
	ck_assert(!is_there("ws/nowhere"));
	make_link("f", "ws/l");
	ck_assert_int_eq(do_write("l", "x", COVE_WRITE_CREATE), COVE_E_ALREADY_EXISTS);
}
END_TEST

START_TEST(file_4_replace_must_exist)
{
	ck_assert_int_eq(do_write("sub/f", "x", COVE_WRITE_REPLACE), COVE_E_NOT_FOUND);
	ck_assert(!is_there("ws/sub"));
	ck_assert_int_eq(do_write("f", "x", COVE_WRITE_REPLACE), COVE_E_NOT_FOUND);
	ck_assert(!is_there("ws/f"));
	put("ws/f", "old and longer");
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_REPLACE), "f", "new", &done), 0);
	ck_assert_str_eq(get("ws/f"), "new");
	ck_assert(!done.created);
}
END_TEST

START_TEST(file_4_upsert_does_either)
{
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT), "f", "1", &done), 0);
	ck_assert(done.created);
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT), "f", "", &done), 0);
	ck_assert(!done.created);
	ck_assert_str_eq(get("ws/f"), "");
}
END_TEST

START_TEST(file_4_append_adds_and_creates)
{
	ino_t inode;

	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_APPEND), "f", "a\n", &done), 0);
	ck_assert(done.created);
	inode = stat_of("ws/f").st_ino;
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_APPEND), "f", "b\n", &done), 0);
	ck_assert(!done.created);
	ck_assert_int_eq(done.bytes_written, 2);
	ck_assert_str_eq(get("ws/f"), "a\nb\n");
	ck_assert_uint_eq(stat_of("ws/f").st_ino, inode);
}
END_TEST

START_TEST(file_4_parents)
{
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_CREATE, .parents = COVE_ZERO),
				       "a/b/f", "x", NULL),
			 COVE_E_NOT_FOUND);
	ck_assert_str_eq(fx.err.path, "a/b/f");
	ck_assert(!is_there("ws/a"));
	ck_assert_int_eq(do_write("a/b/f", "x", COVE_WRITE_CREATE), 0);
	ck_assert_str_eq(get("ws/a/b/f"), "x");
	ck_assert_int_eq(stat_of("ws/a/b").st_mode & 07777, 0755);
	ck_assert_int_eq(do_write("a/b/f/g", "x", COVE_WRITE_UPSERT), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_write("../out/d/f", "x", COVE_WRITE_UPSERT), COVE_E_PERMISSION_DENIED);
	ck_assert(!is_there("out/d"));
}
END_TEST

START_TEST(file_4_mode_bits_are_kept)
{
	static const mode_t modes[] = {0600, 0755, 0640, 0666, 04711};

	put("ws/f", "old");
	for (size_t i = 0; i < CV_LEN(modes); i++) {
		ck_assert_int_eq(chmod(at("ws/f"), modes[i]), 0);
		ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT, .file_mode = 0777),
					       "f", "new", NULL),
				 0);
		ck_assert_int_eq(stat_of("ws/f").st_mode & 07777, modes[i]);
	}
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_CREATE, .file_mode = 0766), "new",
				       "x", NULL),
			 0);
	ck_assert_int_eq(stat_of("ws/new").st_mode & 07777, 0766);
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_APPEND, .file_mode = 0400), "app",
				       "x", NULL),
			 0);
	ck_assert_int_eq(stat_of("ws/app").st_mode & 07777, 0400);
}
END_TEST

START_TEST(file_4_owner_and_attributes_are_kept)
{
	char value[16] = {0};
	bool has_xattr;

	put("ws/f", "old");
	has_xattr = setxattr(at("ws/f"), "user.note", "hello", 5, 0) == 0;
	if (geteuid() == 0)
		ck_assert_int_eq(chown(at("ws/f"), 1234, 2345), 0);
	ck_assert_int_eq(do_write("f", "new", COVE_WRITE_REPLACE), 0);
	ck_assert_str_eq(get("ws/f"), "new");
	if (geteuid() == 0) {
		ck_assert_int_eq(stat_of("ws/f").st_uid, 1234);
		ck_assert_int_eq(stat_of("ws/f").st_gid, 2345);
	}
	if (has_xattr) {
		ck_assert_int_eq(getxattr(at("ws/f"), "user.note", value, sizeof(value)), 5);
		ck_assert_str_eq(value, "hello");
	}
}
END_TEST

/* A reader that has the old file open keeps it; a new one gets the new: nobody sees half. */
START_TEST(file_4_replacement_is_at_once)
{
	int old;

	put("ws/f", "old");
	ck_assert_int_eq(link(at("ws/f"), at("ws/hard")), 0);
	old = open(at("ws/f"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT, .durable = true), "f", "new",
				       NULL),
			 0);
	ck_assert_int_eq(pread(old, fx.content, 3, 0), 3);
	ck_assert_int_eq(memcmp(fx.content, "old", 3), 0);
	close(old);
	ck_assert_str_eq(get("ws/hard"), "old");
	ck_assert_str_eq(get("ws/f"), "new");
}
END_TEST

START_TEST(file_4_in_place_keeps_the_inode)
{
	struct cove_file_write_opts opts = {
		.mode = COVE_WRITE_UPSERT, .in_place = true, .durable = true};
	ino_t inode;

	ck_assert_int_eq(do_write_with(opts, "f", "first and long", &done), 0);
	ck_assert(done.created);
	inode = stat_of("ws/f").st_ino;
	ck_assert_int_eq(link(at("ws/f"), at("ws/hard")), 0);
	ck_assert_int_eq(do_write_with(opts, "f", "short", &done), 0);
	ck_assert(!done.created);
	ck_assert_uint_eq(stat_of("ws/f").st_ino, inode);
	ck_assert_str_eq(get("ws/hard"), "short");
	ck_assert_int_eq(do_write_with(opts, "f", "longer than before", NULL), 0);
	ck_assert_str_eq(get("ws/hard"), "longer than before");
	opts.mode = COVE_WRITE_CREATE;
	ck_assert_int_eq(do_write_with(opts, "f", "x", NULL), COVE_E_ALREADY_EXISTS);
}
END_TEST

START_TEST(file_4_links_are_written_through)
{
	make_dir("ws/d");
	put("ws/d/f", "old");
	make_link("d/f", "ws/l");
	make_link(at("ws/l"), "ws/ll");
	make_link("d/new", "ws/dangling");
	ck_assert_int_eq(do_write("ll", "new", COVE_WRITE_REPLACE), 0);
	ck_assert_str_eq(get("ws/d/f"), "new");
	ck_assert(S_ISLNK(stat_of("ws/l").st_mode));
	ck_assert(S_ISLNK(stat_of("ws/ll").st_mode));
	ck_assert_int_eq(do_write("l", "+", COVE_WRITE_APPEND), 0);
	ck_assert_str_eq(get("ws/d/f"), "new+");
	ck_assert_int_eq(do_write("dangling", "x", COVE_WRITE_UPSERT), 0);
	ck_assert_str_eq(get("ws/d/new"), "x");
}
END_TEST

START_TEST(file_4_directories_are_refused)
{
	make_dir("ws/d");
	make_link("d", "ws/l");
	for (int mode = COVE_WRITE_CREATE; mode <= COVE_WRITE_APPEND; mode++) {
		ck_assert_int_eq(do_write("d", "x", mode), COVE_E_IS_DIRECTORY);
		ck_assert_int_eq(do_write("d/", "x", mode), COVE_E_IS_DIRECTORY);
		ck_assert_int_eq(do_write("d/.", "x", mode), COVE_E_IS_DIRECTORY);
		ck_assert_int_eq(do_write(".", "x", mode), COVE_E_IS_DIRECTORY);
	}
	ck_assert_int_eq(do_write("l", "x", COVE_WRITE_UPSERT), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(do_write("new/", "x", COVE_WRITE_UPSERT), COVE_E_IS_DIRECTORY);
	ck_assert(!is_there("ws/new"));
	put("ws/f", "old");
	ck_assert_int_eq(do_write("f/", "x", COVE_WRITE_UPSERT), COVE_E_NOT_DIRECTORY);
	ck_assert_str_eq(get("ws/f"), "old");
}
END_TEST

/* Renaming over a file does not ask whether it may be written; a write does. */
START_TEST(file_4_what_is_not_writable_is_not_replaced)
{
	if (geteuid() == 0)
		return;
	put("ws/f", "old");
	ck_assert_int_eq(chmod(at("ws/f"), 0444), 0);
	for (int mode = COVE_WRITE_REPLACE; mode <= COVE_WRITE_APPEND; mode++) {
		ck_assert_int_eq(do_write("f", "x", mode), COVE_E_PERMISSION_DENIED);
		ck_assert_str_eq(fx.err.path, "f");
	}
	ck_assert_str_eq(get("ws/f"), "old");
	make_dir("ws/d");
	put("ws/d/f", "old");
	ck_assert_int_eq(chmod(at("ws/d"), 0555), 0);
	ck_assert_int_eq(do_write("d/new", "x", COVE_WRITE_UPSERT), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_write("d/f", "x", COVE_WRITE_UPSERT), COVE_E_PERMISSION_DENIED);
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "in_place"));
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT, .in_place = true), "d/f",
				       "new", NULL),
			 0);
	ck_assert_str_eq(get("ws/d/f"), "new");
}
END_TEST

START_TEST(file_4_text_is_utf8_without_nul)
{
	struct cove_file_write_opts opts = {
		.size = sizeof(opts), .path = "d/f", .mode = COVE_WRITE_UPSERT, .parents = 1};

	opts.data = (struct cove_bytes){.data = "a\0b", .len = 3};
	ck_assert_int_eq(call(cv_file_write_text, &opts, &done, sizeof(done)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "text");
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "write_bytes"));
	opts.data = (struct cove_bytes){.data = "\xc3", .len = 1};
	ck_assert_int_eq(call(cv_file_write_text, &opts, &done, sizeof(done)),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert(!is_there("ws/d"));
	opts.data = (struct cove_bytes){.data = "a\0\xff", .len = 3};
	ck_assert_int_eq(call(cv_file_write_bytes, &opts, &done, sizeof(done)), 0);
	ck_assert_int_eq(done.bytes_written, 3);
	ck_assert_int_eq(stat_of("ws/d/f").st_size, 3);
	opts.data = (struct cove_bytes){0};
	ck_assert_int_eq(call(cv_file_write_text, &opts, &done, sizeof(done)), 0);
	ck_assert_int_eq(stat_of("ws/d/f").st_size, 0);
}
END_TEST

START_TEST(file_5_each_write_has_a_receipt)
{
	char first[32];

	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT), "f", "x", &done), 0);
	ck_assert_uint_eq(strlen(done.operation_id), 15);
	ck_assert_int_eq(strncmp(done.operation_id, "op-", 3), 0);
	snprintf(first, sizeof(first), "%s", done.operation_id);
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT), "f", "x", &done), 0);
	ck_assert_str_ne(done.operation_id, first);
}
END_TEST

START_TEST(file_16_cancelled_at_the_call)
{
	put("ws/f", "old");
	atomic_store(&fx.cancel, true);
	for (int mode = COVE_WRITE_CREATE; mode <= COVE_WRITE_APPEND; mode++)
		ck_assert_int_eq(do_write("d/f", "new", mode), COVE_E_CANCELLED);
	ck_assert_int_eq(do_write("f", "new", COVE_WRITE_REPLACE), COVE_E_CANCELLED);
	ck_assert_str_eq(get("ws/f"), "old");
	ck_assert_int_eq(count_entries("ws"), 1);
}
END_TEST

/* The kernel takes 100,000 bytes of a larger write and refuses the rest. */
START_TEST(case_69_a_short_write_is_not_published)
{
	struct rlimit limit = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
	char *data = run_of('x', 300000);

	put("ws/f", "old");
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_REPLACE), COVE_E_INTERNAL);
	ck_assert_int_eq(fx.err.sys_errno, EFBIG);
	ck_assert_int_eq(do_write("new", data, COVE_WRITE_CREATE), COVE_E_INTERNAL);
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_APPEND), COVE_E_INTERNAL);
	ck_assert_str_eq(get("ws/f"), "old");
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_REPLACE, .in_place = true), "f",
				       data, NULL),
			 COVE_E_INTERNAL);
	ck_assert_str_eq(get("ws/f"), "old");
	ck_assert_int_eq(count_entries("ws"), 1);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_REPLACE), 0);
	ck_assert_int_eq(stat_of("ws/f").st_size, 300000);
	free(data);
}
END_TEST

START_TEST(file_4_no_room_leaves_the_old_content)
{
	char *data = run_of('x', 200000);

	if (!mount_tmpfs("file_4_no_room_leaves_the_old_content", "size=64k,mode=755", 0)) {
		free(data);
		return;
	}
	put("ws/f", "old");
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_REPLACE), COVE_E_QUOTA_EXCEEDED);
	ck_assert_int_eq(fx.err.retry, COVE_RETRY_AFTER_CAPACITY);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_UPSERT), COVE_E_QUOTA_EXCEEDED);
	ck_assert_int_eq(do_write("new", data, COVE_WRITE_CREATE), COVE_E_QUOTA_EXCEEDED);
	ck_assert_int_eq(do_write("f", data, COVE_WRITE_APPEND), COVE_E_QUOTA_EXCEEDED);
	ck_assert_int_eq(do_write_with(WITH(.mode = COVE_WRITE_UPSERT, .in_place = true), "f", data,
				       NULL),
			 COVE_E_QUOTA_EXCEEDED);
	ck_assert_str_eq(get("ws/f"), "old");
	ck_assert_int_eq(count_entries("ws"), 1);
	/* All of the room is given back. */
	data[50000] = '\0';
	ck_assert_int_eq(do_write("new", data, COVE_WRITE_CREATE), 0);
	free(data);
}
END_TEST

/* CASE-66: what was appended of a line is taken back, so the next line stands alone. */
START_TEST(case_66_a_torn_append_is_taken_back)
{
	char line[1001];
	int64_t size = 0;

	if (!mount_tmpfs("case_66_a_torn_append_is_taken_back", "size=64k,mode=755", 0))
		return;
	memset(line, 'x', 999);
	memcpy(line + 999, "\n", 2);
	put("ws/ballast", "1234");
	while (do_write("log", line, COVE_WRITE_APPEND) == 0)
		size += 1000;
	ck_assert_int_eq(fx.err.code, COVE_E_QUOTA_EXCEEDED);
	ck_assert_int_gt(size, 10000);
	ck_assert_int_eq(stat_of("ws/log").st_size, size);
	ck_assert_int_eq(unlink(at("ws/ballast")), 0);
	ck_assert_int_eq(do_write("log", line, COVE_WRITE_APPEND), 0);
	ck_assert_int_eq(stat_of("ws/log").st_size, size + 1000);
}
END_TEST

START_TEST(case_79_a_read_only_mount_says_so)
{
	struct cove_file_entry e;

	if (!mount_tmpfs("case_79_a_read_only_mount_says_so", "size=64k,mode=755", 0))
		return;
	put("ws/f", "old");
	make_dir("ws/d");
	ck_assert_int_eq(mount("none", fx.ws, NULL, MS_REMOUNT | MS_RDONLY | MS_BIND, NULL), 0);
	for (int mode = COVE_WRITE_REPLACE; mode <= COVE_WRITE_APPEND; mode++)
		ck_assert_int_eq(do_write("f", "x", mode), COVE_E_READ_ONLY);
	ck_assert_int_eq(do_write("new", "x", COVE_WRITE_CREATE), COVE_E_READ_ONLY);
	ck_assert_int_eq(do_write("a/b/new", "x", COVE_WRITE_CREATE), COVE_E_READ_ONLY);
	ck_assert_str_eq(fx.err.path, "a/b/new");
	ck_assert_int_eq(do_mkdir("new", false, false, NULL), COVE_E_READ_ONLY);
	ck_assert_int_eq(do_remove("f", false, false), COVE_E_READ_ONLY);
	ck_assert_int_eq(do_remove("d", true, false), COVE_E_READ_ONLY);
	ck_assert_int_eq(do_stat("f", &e), 0);
	ck_assert(!e.writable);
}
END_TEST

/* CASE-71: each append is one write, so lines of several writers don't mix. */
START_TEST(case_71_appenders_do_not_mix)
{
	enum {
		WRITERS = 4,
		LINES = 100,
		LENGTH = 9000
	};
	static char data[WRITERS * LINES * LENGTH];
	char *line;

	put("ws/log", "");
	for (int w = 0; w < WRITERS; w++) {
		if (fork() != 0)
			continue;
		line = run_of((char)('a' + w), LENGTH);
		line[LENGTH - 1] = '\n';
		for (int i = 0; i < LINES; i++)
			if (do_write("log", line, COVE_WRITE_APPEND) < 0)
				_exit(1);
		_exit(0);
	}
	for (int w = 0, status; w < WRITERS; w++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	int fd = open(at("ws/log"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(cv_read_full(fd, data, sizeof(data)), sizeof(data));
	close(fd);
	for (size_t i = 0; i < sizeof(data); i += LENGTH) {
		ck_assert_int_eq(data[i + LENGTH - 1], '\n');
		ck_assert_int_eq(memcmp(data + i, data + i + 1, LENGTH - 2), 0);
	}
}
END_TEST

/* Of many creators of one name exactly one wins, and its content stays. */
START_TEST(file_4_create_has_one_winner)
{
	int winners = 0;

	for (int w = 0; w < 8; w++) {
		if (fork() != 0)
			continue;
		for (int i = 0; i < 50; i++) {
			char name[16];
			int rc;

			snprintf(name, sizeof(name), "f%d", i);
			rc = do_write(name, "mine", COVE_WRITE_CREATE);
			if (rc != 0 && rc != COVE_E_ALREADY_EXISTS)
				_exit(255);
			winners += rc == 0;
		}
		_exit(winners);
	}
	for (int w = 0, status; w < 8; w++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 255);
		winners += WEXITSTATUS(status);
	}
	ck_assert_int_eq(winners, 50);
	ck_assert_int_eq(count_entries("ws"), 50);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_4_create_never_overwrites,
		file_4_replace_must_exist,
		file_4_upsert_does_either,
		file_4_append_adds_and_creates,
		file_4_parents,
		file_4_mode_bits_are_kept,
		file_4_owner_and_attributes_are_kept,
		file_4_replacement_is_at_once,
		file_4_in_place_keeps_the_inode,
		file_4_links_are_written_through,
		file_4_directories_are_refused,
		file_4_what_is_not_writable_is_not_replaced,
		file_4_text_is_utf8_without_nul,
		file_5_each_write_has_a_receipt,
		file_16_cancelled_at_the_call,
		case_69_a_short_write_is_not_published,
		file_4_no_room_leaves_the_old_content,
		case_66_a_torn_append_is_taken_back,
		case_79_a_read_only_mount_says_so,
		case_71_appenders_do_not_mix,
		file_4_create_has_one_winner,
	};

	return run_tests("files_write", tests, CV_LEN(tests), 60);
}
