/* SPDX-License-Identifier: Apache-2.0 */
/* stat, exists, canonical and absolute: FILE-8 and the rules of paths. */
#include "files_fixture.h"

static int do_path(cv_file_fn *fn, const char *path, struct cove_file_path_result *res)
{
	struct cove_file_path_opts req = {.size = sizeof(req), .path = path};

	return call(fn, &req, res, sizeof(*res));
}

START_TEST(file_8_stat_of_a_file)
{
	struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 1700000000, .tv_nsec = 123456789}};
	struct cove_file_entry e;

	make_dir("ws/sub");
	put("ws/sub/f", "hello");
	ck_assert_int_eq(chmod(at("ws/sub/f"), 0640), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, at("ws/sub/f"), times, 0), 0);
	ck_assert_int_eq(do_stat("./sub//f", &e), 0);
	ck_assert_str_eq(e.path, "sub/f");
	ck_assert_str_eq(e.name, "f");
	ck_assert_int_eq(e.kind, COVE_KIND_FILE);
	ck_assert_int_eq(e.size, 5);
	ck_assert_int_eq(e.mode, 0640);
	ck_assert_int_eq(e.mtime_ns, INT64_C(1700000000123456789));
	ck_assert(e.writable);
	ck_assert_ptr_null(e.link_target);
}
END_TEST

START_TEST(file_8_stat_of_a_link_is_of_the_link)
{
	struct cove_file_entry e;

	make_link("nowhere", "ws/l");
	ck_assert_int_eq(do_stat("l", &e), 0);
	ck_assert_str_eq(e.path, "l");
	ck_assert_int_eq(e.kind, COVE_KIND_SYMLINK);
	ck_assert_str_eq(e.link_target, "nowhere");
	make_link("/etc/\xff\xfe", "ws/odd");
	ck_assert_int_eq(do_stat("odd", &e), 0);
	ck_assert_str_eq(e.link_target, "/etc/\xEF\xBF\xBD\xEF\xBF\xBD");
}
END_TEST

START_TEST(file_8_stat_of_directories)
{
	struct cove_file_entry e;

	ck_assert_int_eq(do_stat(".", &e), 0);
	ck_assert_str_eq(e.path, ".");
	ck_assert_str_eq(e.name, "ws");
	ck_assert_int_eq(e.kind, COVE_KIND_DIRECTORY);
	fx.roots[0] = NULL;
	ck_assert_int_eq(do_stat("/", &e), 0);
	ck_assert_str_eq(e.path, "/");
	ck_assert_str_eq(e.name, "/");
	ck_assert_int_eq(do_stat("../out", &e), 0);
	ck_assert_str_eq(e.path, at("out"));
	ck_assert_str_eq(e.name, "out");
}
END_TEST

START_TEST(file_8_stat_of_special_files)
{
	struct cove_file_entry e;

	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(do_stat("fifo", &e), 0);
	ck_assert_int_eq(e.kind, COVE_KIND_OTHER);
	fx.roots[0] = NULL;
	ck_assert_int_eq(do_stat("/dev/null", &e), 0);
	ck_assert_int_eq(e.kind, COVE_KIND_OTHER);
	ck_assert(e.writable);
}
END_TEST

START_TEST(file_8_writable_is_what_the_kernel_says)
{
	bool is_root = geteuid() == 0;
	struct cove_file_entry e;

	put("ws/f", "");
	ck_assert_int_eq(chmod(at("ws/f"), 0444), 0);
	ck_assert_int_eq(do_stat("f", &e), 0);
	ck_assert_int_eq(e.writable, is_root);
	ck_assert_int_eq(do_stat(".", &e), 0);
	ck_assert(e.writable);
	ck_assert_int_eq(chmod(at("ws"), 0555), 0);
	ck_assert_int_eq(do_stat(".", &e), 0);
	ck_assert_int_eq(e.writable, is_root);
	ck_assert_int_eq(chmod(at("ws"), 0755), 0);
}
END_TEST

START_TEST(file_8_exists_is_false_only_for_not_found)
{
	put("ws/f", "");
	make_link("nowhere", "ws/dangling");
	make_link("loop", "ws/loop");
	ck_assert_int_eq(do_exists("f"), 1);
	ck_assert_int_eq(do_exists("dangling"), 1);
	ck_assert_int_eq(do_exists("loop"), 1);
	ck_assert_int_eq(do_exists("missing"), 0);
	ck_assert_int_eq(do_exists("missing/below"), 0);
	ck_assert_int_eq(do_exists("f/below"), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_exists("loop/below"), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_exists("../out/f"), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_exists(""), COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "path");
}
END_TEST

START_TEST(err_1_errors_name_the_path_as_it_was_spelt)
{
	struct cove_file_entry e;

	ck_assert_int_eq(do_stat("./a/../b//c", &e), COVE_E_NOT_FOUND);
	ck_assert_str_eq(fx.err.path, "./a/../b//c");
	ck_assert_int_eq(fx.err.sys_errno, ENOENT);
	ck_assert_ptr_nonnull(strstr(fx.err.message, "'./a/../b//c'"));
}
END_TEST

START_TEST(file_paths_home_and_urls)
{
	struct cove_file_entry e;
	char url[CV_PATH_MAX + 64];

	make_dir("ws/home");
	put("ws/home/f x", "");
	put("ws/~", "");
	memcpy(fx.space.home, at("ws/home"), sizeof(cv_path));
	ck_assert_int_eq(do_stat("~/f x", &e), 0);
	ck_assert_str_eq(e.path, "home/f x");
	snprintf(url, sizeof(url), "file://%s/home/f%%20x", fx.ws);
	ck_assert_int_eq(do_stat(url, &e), 0);
	ck_assert_str_eq(e.path, "home/f x");
	ck_assert_int_eq(do_stat("~", &e), 0);
	ck_assert_str_eq(e.path, "home");
	/* A file that is called `~` is shown as something that means it. */
	ck_assert_int_eq(do_stat("./~", &e), 0);
	ck_assert_str_eq(e.path, "./~");
	ck_assert_str_eq(e.name, "~");
}
END_TEST

START_TEST(file_paths_shown_are_usable_whatever_the_links_lead_to)
{
	struct cove_file_entry e;
	cv_path shown;

	make_dir("ws/bad\xff");
	put("ws/bad\xff/f", "x");
	make_link("bad\xff", "ws/good");
	ck_assert_int_eq(do_stat("good/f", &e), 0);
	snprintf(shown, sizeof(shown), "%s", e.path);
	ck_assert_int_eq(do_stat(shown, &e), 0);
	ck_assert_int_eq(e.size, 1);
	ck_assert_int_eq(do_exists("bad\xff"), COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(file_8_canonical_resolves_links)
{
	struct cove_file_path_result res;

	make_dir("ws/d");
	put("ws/d/f", "");
	make_link("d", "ws/l");
	make_link("nowhere", "ws/dangling");
	make_dir("ws/bad\xff");
	make_link("bad\xff", "ws/good");
	ck_assert_int_eq(do_path(cv_file_canonical, "l/../l/./f", &res), 0);
	ck_assert_str_eq(res.path, at("ws/d/f"));
	ck_assert_int_eq(do_path(cv_file_canonical, ".", &res), 0);
	ck_assert_str_eq(res.path, fx.ws);
	ck_assert_int_eq(do_path(cv_file_canonical, "dangling", &res), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_path(cv_file_canonical, "missing", &res), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_path(cv_file_canonical, "good", &res), COVE_E_NOT_SUPPORTED);
	ck_assert_str_eq(fx.err.path, "good");
}
END_TEST

START_TEST(file_8_absolute_is_lexical)
{
	struct cove_file_path_result res;

	ck_assert_int_eq(do_path(cv_file_absolute, "a/./b//../c", &res), 0);
	ck_assert_str_eq(res.path, at("ws/a/c"));
	ck_assert_int_eq(do_path(cv_file_absolute, "/../..", &res), 0);
	ck_assert_str_eq(res.path, "/");
	ck_assert_int_eq(do_path(cv_file_absolute, "/nowhere/../else/", &res), 0);
	ck_assert_str_eq(res.path, "/else");
	ck_assert_int_eq(do_path(cv_file_absolute, "", &res), COVE_E_INVALID_ARGUMENT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_8_stat_of_a_file,
		file_8_stat_of_a_link_is_of_the_link,
		file_8_stat_of_directories,
		file_8_stat_of_special_files,
		file_8_writable_is_what_the_kernel_says,
		file_8_exists_is_false_only_for_not_found,
		err_1_errors_name_the_path_as_it_was_spelt,
		file_paths_home_and_urls,
		file_paths_shown_are_usable_whatever_the_links_lead_to,
		file_8_canonical_resolves_links,
		file_8_absolute_is_lexical,
	};

	return run_tests("files_stat", tests, CV_LEN(tests), 10);
}
