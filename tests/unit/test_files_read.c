/* SPDX-License-Identifier: Apache-2.0 */
/* Reading pages of text and ranges of bytes: FILE-1, FILE-2, FILE-3. */
#include "files_fixture.h"

#include "base/clock.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MIB ((size_t)1 << 20)

static struct cove_file_read_text_result page;
static struct cove_file_read_bytes_result bytes;

static int read_lines(int64_t offset, int64_t limit)
{
	return do_read_text((struct cove_file_read_text_opts){.line_offset = offset,
							      .line_limit = limit},
			    "f", &page);
}

static int read_clipped(int64_t max_line_length)
{
	return do_read_text((struct cove_file_read_text_opts){.max_line_length = max_line_length},
			    "f", &page);
}

static int read_replacing(struct cove_file_read_text_opts opts)
{
	opts.invalid = COVE_INVALID_REPLACE;
	return do_read_text(opts, "f", &page);
}

/* A file of n times c, and then a text. */
static void put_run(char c, size_t n, const char *end)
{
	char *data = malloc(n + strlen(end) + 1);

	memset(data, c, n);
	memcpy(data + n, end, strlen(end) + 1);
	put_bytes("ws/f", data, n + strlen(end));
	free(data);
}

static void put_sparse(const char *rel, off_t size)
{
	put(rel, "");
	ck_assert_int_eq(truncate(at(rel), size), 0);
}

static int64_t peak_memory_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

START_TEST(file_2_lines_by_lf_with_cr_kept)
{
	put("ws/f", "a\r\nb\n\nc");
	ck_assert_int_eq(read_lines(0, 200), 0);
	ck_assert_str_eq(page.text.data, "a\r\nb\n\nc");
	ck_assert_uint_eq(page.text.len, 7);
	ck_assert_int_eq(page.lines_read, 4);
	ck_assert(!page.has_more);
	ck_assert_uint_eq(page.truncated_line_count, 0);
	ck_assert_int_eq(page.size, 7);
}
END_TEST

START_TEST(file_2_pages_of_lines)
{
	put("ws/f", "1\n2\n3\n4\n");
	ck_assert_int_eq(read_lines(0, 2), 0);
	ck_assert_str_eq(page.text.data, "1\n2\n");
	ck_assert(page.has_more);
	ck_assert_int_eq(read_lines(2, 2), 0);
	ck_assert_str_eq(page.text.data, "3\n4\n");
	ck_assert_int_eq(page.lines_read, 2);
	ck_assert(!page.has_more);
	ck_assert_int_eq(read_lines(3, 200), 0);
	ck_assert_str_eq(page.text.data, "4\n");
	put("ws/f", "1\n2\n3");
	ck_assert_int_eq(read_lines(0, 2), 0);
	ck_assert(page.has_more);
	ck_assert_int_eq(read_lines(2, 1), 0);
	ck_assert_str_eq(page.text.data, "3");
	ck_assert_int_eq(page.lines_read, 1);
	ck_assert(!page.has_more);
}
END_TEST

START_TEST(file_2_past_the_end_is_empty)
{
	put("ws/f", "1\n2\n");
	for (int64_t offset = 2; offset < INT64_C(1) << 40; offset *= 1000) {
		ck_assert_int_eq(read_lines(offset, 200), 0);
		ck_assert_uint_eq(page.text.len, 0);
		ck_assert_str_eq(page.text.data, "");
		ck_assert_int_eq(page.lines_read, 0);
		ck_assert(!page.has_more);
	}
	put("ws/f", "");
	ck_assert_int_eq(read_lines(0, -1), 0);
	ck_assert_str_eq(page.text.data, "");
	ck_assert_int_eq(page.lines_read, 0);
	ck_assert(!page.has_more);
}
END_TEST

START_TEST(file_2_clipped_lines_are_listed_and_keep_their_lf)
{
	put("ws/f", "short\nabcdefgh\nabcde\n12345678");
	ck_assert_int_eq(read_clipped(5), 0);
	ck_assert_str_eq(page.text.data, "short\nabcde\nabcde\n12345");
	ck_assert_uint_eq(page.truncated_line_count, 2);
	ck_assert_int_eq(page.truncated_lines[0], 2);
	ck_assert_int_eq(page.truncated_lines[1], 4);
	ck_assert_int_eq(page.lines_read, 4);
	/* Numbers count from the file's start, not the page's. */
	ck_assert_int_eq(do_read_text((struct cove_file_read_text_opts){.line_offset = 3,
									.max_line_length = 5},
				      "f", &page),
			 0);
	ck_assert_uint_eq(page.truncated_line_count, 1);
	ck_assert_int_eq(page.truncated_lines[0], 4);
}
END_TEST

START_TEST(file_2_clipping_never_cuts_a_code_point)
{
	put("ws/f", "ab\xe2\x82\xac\xe2\x82\xac\n\xf0\x9f\x98\x80x\n");
	ck_assert_int_eq(read_clipped(7), 0);
	ck_assert_str_eq(page.text.data, "ab\xe2\x82\xac\n\xf0\x9f\x98\x80x\n");
	ck_assert_int_eq(read_clipped(4), 0);
	ck_assert_str_eq(page.text.data, "ab\n\xf0\x9f\x98\x80\n");
	ck_assert_int_eq(read_clipped(1), 0);
	ck_assert_str_eq(page.text.data, "a\n\n");
	ck_assert_uint_eq(page.truncated_line_count, 2);
	ck_assert_int_eq(page.lines_read, 2);
}
END_TEST

static void assert_not_text(const char *what, int line)
{
	char expected[64];

	ck_assert_int_eq(fx.err.code, COVE_E_NOT_SUPPORTED);
	snprintf(expected, sizeof(expected), "line %d holds %s", line, what);
	ck_assert_msg(strstr(fx.err.message, expected) != NULL, "%s", fx.err.message);
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "read_bytes"));
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "invalid=replace"));
	ck_assert_str_eq(fx.err.path, "f");
}

START_TEST(file_2_bad_bytes_in_the_page_are_refused)
{
	put("ws/f", "good\nbad \xff here\n");
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
	assert_not_text("bytes that are not UTF-8", 2);
	put_bytes("ws/f", "a\0b\n", 4);
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
	assert_not_text("a NUL byte", 1);
	put("ws/f", "cut off \xe2\x82");
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
	put("ws/f", "cut off \xe2\x82\nnext\n");
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
	put("ws/f", "surrogate \xed\xa0\x80\n");
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
}
END_TEST

START_TEST(file_2_bad_bytes_in_a_clipped_part_are_refused)
{
	put_run('x', 300000, "\xff\nnext\n");
	ck_assert_int_eq(read_lines(0, 1), COVE_E_NOT_SUPPORTED);
	assert_not_text("bytes that are not UTF-8", 1);
	ck_assert_int_eq(read_lines(1, 1), 0);
	ck_assert_str_eq(page.text.data, "next\n");
}
END_TEST

START_TEST(file_2_bad_bytes_outside_the_page_do_not_matter)
{
	put("ws/f", "\xff\ngood\n\xff\n");
	ck_assert_int_eq(read_lines(1, 1), 0);
	ck_assert_str_eq(page.text.data, "good\n");
	ck_assert(page.has_more);
}
END_TEST

START_TEST(file_2_replace_shows_ufffd)
{
	put_bytes("ws/f", "a\xff\xe2\x82z\0\n", 7);
	ck_assert_int_eq(read_replacing((struct cove_file_read_text_opts){0}), 0);
	ck_assert_str_eq(page.text.data, "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\n");
	/* U+FFFD counts with what it takes, and is never cut. */
	ck_assert_int_eq(read_replacing((struct cove_file_read_text_opts){.max_line_length = 6}),
			 0);
	ck_assert_str_eq(page.text.data, "a\xEF\xBF\xBD\n");
	ck_assert_int_eq(page.truncated_lines[0], 1);
}
END_TEST

/* Every way in which a buffer's end can fall into a code point. */
START_TEST(file_2_code_points_across_reads)
{
	static const char end[] = "\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9";

	for (size_t n = 131072 - 10; n <= 131072 + 2; n++) {
		put_run('x', n, end);
		ck_assert_int_eq(read_lines(0, -1), 0);
		ck_assert_uint_eq(page.text.len, n + strlen(end));
		ck_assert_str_eq(page.text.data + n, end);
		put_run('x', n, "\xf0\x9f\x98");
		ck_assert_int_eq(read_lines(0, -1), COVE_E_NOT_SUPPORTED);
		ck_assert_int_eq(
			read_replacing((struct cove_file_read_text_opts){.line_limit = -1}), 0);
		ck_assert_uint_eq(page.text.len, n + 3);
		ck_assert_str_eq(page.text.data + n, "\xEF\xBF\xBD");
	}
}
END_TEST

START_TEST(file_2_a_page_is_at_most_a_mib_of_whole_lines)
{
	char *data = malloc(3 * MIB);
	int64_t lines = 0;

	for (size_t i = 0; i < 3 * MIB; i++)
		data[i] = i % 1000 == 999 ? '\n' : 'x';
	put_bytes("ws/f", data, 3 * MIB);
	while (true) {
		ck_assert_int_eq(read_lines(lines, 1000000), 0);
		ck_assert_uint_le(page.text.len, MIB);
		ck_assert_uint_eq(page.truncated_line_count, 0);
		ck_assert_int_eq(memcmp(page.text.data, data + lines * 1000, page.text.len), 0);
		lines += page.lines_read;
		if (!page.has_more)
			break;
		ck_assert_uint_gt(page.text.len, MIB - 1000);
		ck_assert_int_eq(page.text.data[page.text.len - 1], '\n');
	}
	ck_assert_int_eq(lines, (int64_t)(3 * MIB / 1000 + 1));
	free(data);
}
END_TEST

START_TEST(file_2_a_huge_line_is_cut_and_the_page_makes_progress)
{
	struct cove_file_read_text_opts opts = {.max_line_length = (int64_t)MIB};

	put_run('x', 3 * MIB, "\nnext\n");
	ck_assert_int_eq(do_read_text(opts, "f", &page), 0);
	ck_assert_uint_eq(page.text.len, MIB);
	ck_assert_int_eq(page.text.data[MIB - 1], '\n');
	ck_assert_int_eq(page.lines_read, 1);
	ck_assert_uint_eq(page.truncated_line_count, 1);
	ck_assert(page.has_more);
	/* Just as long as a page, with and without room for its LF. */
	put_run('x', MIB - 1, "\n");
	ck_assert_int_eq(do_read_text(opts, "f", &page), 0);
	ck_assert_uint_eq(page.text.len, MIB);
	ck_assert_uint_eq(page.truncated_line_count, 0);
	put_run('x', MIB, "");
	ck_assert_int_eq(do_read_text(opts, "f", &page), 0);
	ck_assert_uint_eq(page.text.len, MIB);
	ck_assert_uint_eq(page.truncated_line_count, 0);
	put_run('x', MIB - 3, "\xe2\x82\xac\n");
	ck_assert_int_eq(do_read_text(opts, "f", &page), 0);
	ck_assert_uint_eq(page.text.len, MIB - 2);
	ck_assert_uint_eq(page.truncated_line_count, 1);
	ck_assert_int_eq(page.text.data[MIB - 3], '\n');
}
END_TEST

/*
 * The line that does not fit begins the next page, and what is wrong with it is that page's error.
 */
START_TEST(file_2_a_line_that_does_not_fit_is_put_off)
{
	struct cove_file_read_text_opts opts = {.max_line_length = (int64_t)MIB};
	char *data = malloc(2 * MIB);

	memset(data, 'x', 2 * MIB);
	data[MIB / 2] = '\n';
	data[MIB / 2 + 10] = '\xff';
	put_bytes("ws/f", data, 2 * MIB);
	free(data);
	ck_assert_int_eq(do_read_text(opts, "f", &page), 0);
	ck_assert_int_eq(page.lines_read, 1);
	ck_assert_uint_eq(page.text.len, MIB / 2 + 1);
	ck_assert(page.has_more);
	opts.line_offset = 1;
	ck_assert_int_eq(do_read_text(opts, "f", &page), COVE_E_NOT_SUPPORTED);
	assert_not_text("bytes that are not UTF-8", 2);
}
END_TEST

START_TEST(file_2_line_limit_minus_1_lifts_the_limits)
{
	put_run('x', 16 * MIB - 1, "\n");
	ck_assert_int_eq(read_lines(0, -1), 0);
	ck_assert_uint_eq(page.text.len, 16 * MIB);
	ck_assert_uint_eq(page.truncated_line_count, 0);
	ck_assert(!page.has_more);
	put_run('\n', 16 * MIB, "");
	ck_assert_int_eq(read_lines(0, -1), 0);
	ck_assert_int_eq(page.lines_read, (int64_t)(16 * MIB));
	put_run('\n', 16 * MIB, "x");
	ck_assert_int_eq(read_lines(0, -1), COVE_E_TOO_LARGE);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_int_eq(read_lines(1, -1), 0);
	put_run('x', 16 * MIB, "\n");
	ck_assert_int_eq(read_lines(0, -1), COVE_E_TOO_LARGE);
}
END_TEST

START_TEST(file_2_size_of_the_file_does_not_matter)
{
	int64_t before = peak_memory_kib();

	put_sparse("ws/f", (off_t)10 << 30);
	ck_assert_int_eq(read_lines(0, 200), COVE_E_NOT_SUPPORTED);
	ck_assert_int_eq(read_lines(0, -1), COVE_E_NOT_SUPPORTED);
	put_run('x', 1000, "\nsecond\n");
	ck_assert_int_eq(truncate(at("ws/f"), (off_t)10 << 30), 0);
	ck_assert_int_eq(read_lines(0, 2), 0);
	ck_assert_int_eq(page.lines_read, 2);
	ck_assert(page.has_more);
	ck_assert_int_eq(page.size, INT64_C(10) << 30);
	/* One line of 512 MiB: streamed, clipped, and listed. */
	put_sparse("ws/f", (off_t)512 << 20);
	ck_assert_int_eq(read_replacing((struct cove_file_read_text_opts){.max_line_length = 9}),
			 0);
	ck_assert_str_eq(page.text.data, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
	ck_assert_int_eq(page.truncated_lines[0], 1);
	ck_assert_int_lt(peak_memory_kib() - before, 64 * 1024);
}
END_TEST

START_TEST(file_2_files_of_proc)
{
	fx.roots[0] = NULL;
	ck_assert_ptr_nonnull(text_of("/proc/self/status"));
	ck_assert_ptr_nonnull(strstr(text_of("/proc/self/status"), "VmRSS"));
	ck_assert_int_eq(do_read_text((struct cove_file_read_text_opts){.line_limit = 1},
				      "/proc/self/status", &page),
			 0);
	ck_assert_int_eq(page.lines_read, 1);
	ck_assert(page.has_more);
	ck_assert_int_eq(do_read_bytes("/proc/self/status", 0, 0, &bytes), 0);
	ck_assert_uint_gt(bytes.data.len, 100);
	ck_assert_int_eq(bytes.size, (int64_t)bytes.data.len);
	ck_assert(bytes.eof);
	ck_assert_int_eq(do_read_bytes("/proc/self/status", 5, 10, &bytes), 0);
	ck_assert_uint_eq(bytes.data.len, 10);
	ck_assert(!bytes.eof);
}
END_TEST

static void *shrink_and_grow(void *stop)
{
	int fd = open(at("ws/f"), O_WRONLY | O_CLOEXEC);

	for (int i = 0; !atomic_load((atomic_bool *)stop); i++)
		ck_assert_int_eq(ftruncate(fd, i % 2 ? 0 : (off_t)MIB), 0);
	close(fd);
	return NULL;
}

START_TEST(file_2_a_file_that_shrinks_meanwhile)
{
	atomic_bool stop = false;
	pthread_t thread;

	put_run('x', MIB, "\n");
	ck_assert_int_eq(pthread_create(&thread, NULL, shrink_and_grow, &stop), 0);
	for (int i = 0; i < 300; i++) {
		ck_assert_int_eq(
			read_replacing((struct cove_file_read_text_opts){.line_limit = -1}), 0);
		ck_assert_int_eq(do_read_bytes("f", 0, 0, &bytes), 0);
		ck_assert_uint_le(bytes.data.len, MIB + 1);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(file_3_ranges_of_bytes)
{
	put_bytes("ws/f",
		  "a\0\xff"
		  "defgh",
		  8);
	ck_assert_int_eq(do_read_bytes("f", 0, 0, &bytes), 0);
	ck_assert_uint_eq(bytes.data.len, 8);
	ck_assert_int_eq(memcmp(bytes.data.data,
				"a\0\xff"
				"defgh",
				9),
			 0);
	ck_assert_int_eq(bytes.size, 8);
	ck_assert(bytes.eof);
	ck_assert_int_eq(do_read_bytes("f", 2, 3, &bytes), 0);
	ck_assert_str_eq(bytes.data.data, "\xff"
					  "de");
	ck_assert_int_eq(bytes.offset, 2);
	ck_assert(!bytes.eof);
	ck_assert_int_eq(do_read_bytes("f", 5, 3, &bytes), 0);
	ck_assert_str_eq(bytes.data.data, "fgh");
	ck_assert(bytes.eof);
	ck_assert_int_eq(do_read_bytes("f", 5, 100, &bytes), 0);
	ck_assert_str_eq(bytes.data.data, "fgh");
	ck_assert(bytes.eof);
}
END_TEST

START_TEST(file_3_offset_past_the_end)
{
	put("ws/f", "abc");
	for (int i = 0; i < 4; i++) {
		int64_t offset = (int64_t[]){3, 4, INT64_C(1) << 50, INT64_MAX}[i];

		for (int64_t length = 0; length < 2; length++) {
			ck_assert_int_eq(do_read_bytes("f", offset, length, &bytes), 0);
			ck_assert_uint_eq(bytes.data.len, 0);
			ck_assert_str_eq(bytes.data.data, "");
			ck_assert(bytes.eof);
			ck_assert_int_eq(bytes.size, 3);
		}
	}
}
END_TEST

START_TEST(file_3_bounded_by_64_mib)
{
	put_sparse("ws/f", (off_t)(64 * MIB + 1));
	ck_assert_int_eq(do_read_bytes("f", 0, 0, &bytes), COVE_E_TOO_LARGE);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_int_eq(do_read_bytes("f", 0, (int64_t)(64 * MIB + 1), &bytes), COVE_E_TOO_LARGE);
	ck_assert_int_eq(do_read_bytes("f", 1, 0, &bytes), 0);
	ck_assert_uint_eq(bytes.data.len, 64 * MIB);
	ck_assert(bytes.eof);
	ck_assert_int_eq(do_read_bytes("f", 0, (int64_t)(64 * MIB), &bytes), 0);
	ck_assert_uint_eq(bytes.data.len, 64 * MIB);
	ck_assert(!bytes.eof);
	put_sparse("ws/f", (off_t)10 << 30);
	ck_assert_int_eq(do_read_bytes("f", (INT64_C(10) << 30) - 1, 5, &bytes), 0);
	ck_assert_uint_eq(bytes.data.len, 1);
	ck_assert(bytes.eof);
}
END_TEST

/*
 * None of them may block, and none is opened: a reader would wake up a writer that waits for one.
 */
START_TEST(file_1_special_files_are_never_opened)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "ws/sock"};
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(bind(sock, (struct sockaddr *)&name, sizeof(name)), 0);
	close(sock);
	make_link("fifo", "ws/to-fifo");
	ck_assert_ptr_null(text_of("fifo"));
	ck_assert_int_eq(fx.err.code, COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.path, "fifo");
	ck_assert_ptr_null(text_of("to-fifo"));
	ck_assert_int_eq(fx.err.code, COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_read_bytes("sock", 0, 0, &bytes), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_write("fifo", "x", COVE_WRITE_UPSERT), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_write("fifo", "x", COVE_WRITE_APPEND), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_write("sock", "x", COVE_WRITE_CREATE), COVE_E_INVALID_ARGUMENT);
	ck_assert(S_ISFIFO(stat_of("ws/fifo").st_mode));
	fx.roots[0] = NULL;
	ck_assert_int_eq(do_read_bytes("/dev/zero", 0, 0, &bytes), COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(file_1_directories_and_missing_files)
{
	put("ws/f", "");
	ck_assert_ptr_null(text_of("."));
	ck_assert_int_eq(fx.err.code, COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(do_read_bytes(".", 0, 0, &bytes), COVE_E_IS_DIRECTORY);
	ck_assert_ptr_null(text_of("missing"));
	ck_assert_int_eq(fx.err.code, COVE_E_NOT_FOUND);
	ck_assert_ptr_null(text_of("f/below"));
	ck_assert_int_eq(fx.err.code, COVE_E_NOT_DIRECTORY);
	ck_assert_ptr_null(text_of("f/"));
	ck_assert_int_eq(fx.err.code, COVE_E_NOT_DIRECTORY);
	if (geteuid() != 0) {
		ck_assert_int_eq(chmod(at("ws/f"), 0), 0);
		ck_assert_ptr_null(text_of("f"));
		ck_assert_int_eq(fx.err.code, COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(fx.err.sys_errno, EACCES);
	}
}
END_TEST

START_TEST(file_16_cancelled_reads)
{
	put("ws/f", "x");
	atomic_store(&fx.cancel, true);
	ck_assert_ptr_null(text_of("f"));
	ck_assert_int_eq(fx.err.code, COVE_E_CANCELLED);
	ck_assert_int_eq(do_read_bytes("f", 0, 0, &bytes), COVE_E_CANCELLED);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_2_lines_by_lf_with_cr_kept,
		file_2_pages_of_lines,
		file_2_past_the_end_is_empty,
		file_2_clipped_lines_are_listed_and_keep_their_lf,
		file_2_clipping_never_cuts_a_code_point,
		file_2_bad_bytes_in_the_page_are_refused,
		file_2_bad_bytes_in_a_clipped_part_are_refused,
		file_2_bad_bytes_outside_the_page_do_not_matter,
		file_2_replace_shows_ufffd,
		file_2_code_points_across_reads,
		file_2_a_page_is_at_most_a_mib_of_whole_lines,
		file_2_a_huge_line_is_cut_and_the_page_makes_progress,
		file_2_a_line_that_does_not_fit_is_put_off,
		file_2_line_limit_minus_1_lifts_the_limits,
		file_2_size_of_the_file_does_not_matter,
		file_2_files_of_proc,
		file_2_a_file_that_shrinks_meanwhile,
		file_3_ranges_of_bytes,
		file_3_offset_past_the_end,
		file_3_bounded_by_64_mib,
		file_1_special_files_are_never_opened,
		file_1_directories_and_missing_files,
		file_16_cancelled_reads,
	};

	return run_tests("files_read", tests, CV_LEN(tests), 60);
}
