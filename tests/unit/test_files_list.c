/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a directory: FILE-9. */
#include "files_fixture.h"

#include "base/clock.h"

#include <pthread.h>

static struct cove_file_list_result res;

static int list(const char *path)
{
	return do_list((struct cove_file_list_opts){0}, path, &res);
}

START_TEST(file_9_children_in_byte_order)
{
	make_dir("ws/d");
	put("ws/b", "12");
	put("ws/B", "");
	put("ws/a.txt", "");
	put("ws/\xc3\xa9", "");
	put("ws/.hidden", "");
	make_link("b", "ws/l");
	ck_assert_int_eq(list(NULL), 0);
	ck_assert_uint_eq(res.entry_count, 6);
	ck_assert_str_eq(res.entries[0].path, "B");
	ck_assert_str_eq(res.entries[1].path, "a.txt");
	ck_assert_str_eq(res.entries[2].path, "b");
	ck_assert_int_eq(res.entries[2].size, 2);
	ck_assert_int_eq(res.entries[2].kind, COVE_KIND_FILE);
	ck_assert_str_eq(res.entries[3].path, "d");
	ck_assert_int_eq(res.entries[3].kind, COVE_KIND_DIRECTORY);
	ck_assert_str_eq(res.entries[4].name, "l");
	ck_assert_str_eq(res.entries[4].link_target, "b");
	ck_assert_str_eq(res.entries[5].path, "\xc3\xa9");
	ck_assert(!res.has_more);
	ck_assert_int_eq(res.skipped_names, 0);
}
END_TEST

START_TEST(file_9_hidden_names_on_request)
{
	put("ws/.hidden", "");
	put("ws/seen", "");
	put("ws/..odd", "");
	ck_assert_int_eq(do_list((struct cove_file_list_opts){.include_hidden = true}, ".", &res),
			 0);
	ck_assert_uint_eq(res.entry_count, 3);
	ck_assert_str_eq(res.entries[0].name, "..odd");
	ck_assert_str_eq(res.entries[1].name, ".hidden");
	ck_assert_str_eq(res.entries[2].name, "seen");
}
END_TEST

START_TEST(file_9_pages)
{
	struct cove_file_list_opts opts = {.max_results = 2, .offset = 1};

	put("ws/a", "");
	put("ws/b", "");
	put("ws/c", "");
	put("ws/d", "");
	ck_assert_int_eq(do_list(opts, ".", &res), 0);
	ck_assert_uint_eq(res.entry_count, 2);
	ck_assert_str_eq(res.entries[0].name, "b");
	ck_assert(res.has_more);
	opts.offset = 3;
	ck_assert_int_eq(do_list(opts, ".", &res), 0);
	ck_assert_uint_eq(res.entry_count, 1);
	ck_assert_str_eq(res.entries[0].name, "d");
	ck_assert(!res.has_more);
	opts.offset = INT64_C(1) << 40;
	ck_assert_int_eq(do_list(opts, ".", &res), 0);
	ck_assert_uint_eq(res.entry_count, 0);
	ck_assert(!res.has_more);
}
END_TEST

START_TEST(file_9_names_that_are_not_utf8_are_counted)
{
	put("ws/ok", "");
	put("ws/bad\xff", "");
	put("ws/\xed\xa0\x80", "");
	ck_assert_int_eq(list("."), 0);
	ck_assert_uint_eq(res.entry_count, 1);
	ck_assert_int_eq(res.skipped_names, 2);
}
END_TEST

START_TEST(file_9_paths_are_arguments)
{
	struct cove_file_entry e;

	make_dir("ws/sub");
	put("ws/sub/f", "x");
	put("out/g", "");
	put("ws/~", "x");
	ck_assert_int_eq(list("sub"), 0);
	ck_assert_str_eq(res.entries[0].path, "sub/f");
	ck_assert_int_eq(list("."), 0);
	ck_assert_str_eq(res.entries[1].path, "./~");
	ck_assert_int_eq(do_stat("./~", &e), 0);
	fx.roots[0] = NULL;
	ck_assert_int_eq(list(at("out")), 0);
	ck_assert_str_eq(res.entries[0].path, at("out/g"));
	ck_assert_int_eq(list("/"), 0);
	ck_assert_int_eq(res.entries[0].path[0], '/');
	ck_assert_int_ne(res.entries[0].path[1], '/');
}
END_TEST

START_TEST(file_9_refusals)
{
	put("ws/f", "");
	make_link("../out", "ws/l");
	make_link("f", "ws/to-file");
	ck_assert_int_eq(list("f"), COVE_E_NOT_DIRECTORY);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_int_eq(list("to-file"), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(list("missing"), COVE_E_NOT_FOUND);
	ck_assert_int_eq(list("l"), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(list(".."), COVE_E_PERMISSION_DENIED);
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(list("."), COVE_E_CANCELLED);
}
END_TEST

static void *come_and_go(void *stop)
{
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[32];

	for (unsigned i = 0; !atomic_load((atomic_bool *)stop); i++) {
		snprintf(name, sizeof(name), "m%u", i % 50);
		close(openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		snprintf(name, sizeof(name), "m%u", (i + 25) % 50);
		unlinkat(dir, name, 0);
	}
	close(dir);
	return NULL;
}

/*
 * What vanishes between the reading of the names and the look at the entry is skipped; the rest
 * fills the page.
 */
START_TEST(file_9_vanished_entries_are_skipped)
{
	atomic_bool stop = false;
	pthread_t thread;

	put("ws/a", "");
	put("ws/z", "");
	ck_assert_int_eq(pthread_create(&thread, NULL, come_and_go, &stop), 0);
	for (int i = 0; i < 500; i++) {
		ck_assert_int_eq(list("."), 0);
		ck_assert_uint_ge(res.entry_count, 2);
		ck_assert_str_eq(res.entries[0].name, "a");
		ck_assert_str_eq(res.entries[res.entry_count - 1].name, "z");
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(file_9_a_hundred_thousand_entries)
{
	struct cove_file_list_opts opts = {.max_results = 3, .offset = 99990};
	int dir = open(at("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[32];
	int64_t start;

	put("ws/first", "");
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "n%05u", (i * 7919) % 100000);
		ck_assert_int_eq(symlinkat("x", dir, name), 0);
	}
	close(dir);
	start = cv_now_ms();
	ck_assert_int_eq(do_list(opts, ".", &res), 0);
	ck_assert_uint_eq(res.entry_count, 3);
	ck_assert_str_eq(res.entries[0].name, "n99989");
	ck_assert(res.has_more);
	/* Only the page is looked at: 100,000 looks under the sanitizers would take longer. */
	ck_assert_int_lt(cv_now_ms() - start, 3000);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_9_children_in_byte_order,
		file_9_hidden_names_on_request,
		file_9_pages,
		file_9_names_that_are_not_utf8_are_counted,
		file_9_paths_are_arguments,
		file_9_refusals,
		file_9_vanished_entries_are_skipped,
		file_9_a_hundred_thousand_entries,
	};

	return run_tests("files_list", tests, CV_LEN(tests), 60);
}
