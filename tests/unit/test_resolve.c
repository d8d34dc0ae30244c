/* SPDX-License-Identifier: Apache-2.0 */
/* The confined resolver: FILE-1, CASE-46, CASE-47, CASE-48, CASE-50. */
#include "files_fixture.h"

static struct cv_found found;
static struct cv_place place;

/* The code; what was found is closed again, its facts stay. */
static int resolve(const char *path, bool follow)
{
	int rc;

	fx.err = (struct cove_error)COVE_ERROR_INIT;
	rc = cv_resolve(&fx.space, path, follow, &found, &fx.err);
	ck_assert_int_eq(rc == 0, found.fd >= 0);
	cv_found_done(&found);
	if (rc < 0)
		ck_assert_str_eq(fx.err.path, path);
	return rc;
}

static int resolve_place(const char *path, bool follow, bool make_parents)
{
	int rc;

	fx.err = (struct cove_error)COVE_ERROR_INIT;
	rc = cv_resolve_place(&fx.space, path, follow, make_parents, &place, &fx.err);
	ck_assert_int_eq(rc == 0, place.dirfd >= 0);
	cv_place_done(&place);
	if (rc < 0)
		ck_assert_str_eq(fx.err.path, path);
	return rc;
}

static void assert_outside(const char *path)
{
	ck_assert_msg(resolve(path, true) == COVE_E_PERMISSION_DENIED, "'%s': %s", path,
		      fx.err.message);
	ck_assert_msg(resolve_place(path, true, true) == COVE_E_PERMISSION_DENIED, "'%s': %s", path,
		      fx.err.message);
	ck_assert_ptr_nonnull(strstr(fx.err.message, "outside the allowed roots"));
}

static void assert_place(const char *path, bool follow, const char *dir, const char *name)
{
	ck_assert_msg(resolve_place(path, follow, false) == 0, "'%s': %s", path, fx.err.message);
	ck_assert_str_eq(place.dir, at(dir));
	ck_assert_str_eq(place.name, name);
}

START_TEST(file_1_finds_what_is_inside)
{
	make_dir("ws/d");
	put("ws/d/f", "x");
	make_link("d", "ws/l");
	ck_assert_int_eq(resolve("l/f", false), 0);
	ck_assert_str_eq(found.real, at("ws/d/f"));
	ck_assert_int_eq(found.st.st_size, 1);
	ck_assert_int_eq(resolve("l", false), 0);
	ck_assert(S_ISLNK(found.st.st_mode));
	ck_assert_str_eq(found.real, at("ws/l"));
	ck_assert_int_eq(resolve("l", true), 0);
	ck_assert(S_ISDIR(found.st.st_mode));
	ck_assert_int_eq(resolve(at("ws/d/../l/./f"), true), 0);
	ck_assert_int_eq(resolve("../ws/d", true), 0);
	ck_assert_int_eq(resolve("d/missing", true), COVE_E_NOT_FOUND);
	ck_assert_int_eq(resolve("missing/below", true), COVE_E_NOT_FOUND);
	ck_assert_int_eq(resolve("d/f/below", true), COVE_E_NOT_DIRECTORY);
}
END_TEST

START_TEST(case_46_lookalikes_are_outside)
{
	make_dir("ws-evil");
	put("ws-evil/x", "");
	assert_outside("../ws-evil/x");
	assert_outside("../ws-evil/missing");
	assert_outside(at("ws-evil/x"));
	make_link("../ws-evil", "ws/l");
	make_link(at("ws-evil/x"), "ws/abs");
	assert_outside("l/x");
	assert_outside("abs");
	ck_assert(cv_space_inside(&fx.space, fx.ws));
	ck_assert(cv_space_inside(&fx.space, at("ws/x")));
	ck_assert(!cv_space_inside(&fx.space, at("ws-evil")));
	ck_assert(!cv_space_inside(&fx.space, fx.base));
}
END_TEST

START_TEST(case_46_encoded_dots_are_letters_or_dots)
{
	char url[CV_PATH_MAX + 64];

	make_dir("ws-evil");
	put("ws-evil/x", "");
	ck_assert_int_eq(resolve("%2e%2e%2fws-evil%2fx", true), COVE_E_NOT_FOUND);
	snprintf(url, sizeof(url), "file://%s/%%2e%%2e/ws-evil/x", fx.ws);
	assert_outside(url);
	snprintf(url, sizeof(url), "file://%s%%2F..%%2Fws-evil%%2Fx", fx.ws);
	assert_outside(url);
}
END_TEST

START_TEST(case_47_dots_are_taken_into_account)
{
	make_dir("ws/u1");
	make_dir("ws/u2");
	put("ws/u2/f", "");
	fx.roots[0] = (char *)at("ws/u1");
	memcpy(fx.space.cwd, at("ws/u1"), sizeof(cv_path));
	assert_outside(at("ws/u1/../u2/f"));
	assert_outside("../u2/f");
	assert_outside("../u2/missing");
	assert_outside("./././../u2/missing/deeper");
	ck_assert_int_eq(resolve("../u1", true), 0);
}
END_TEST

START_TEST(case_48_links_out_are_refused_whether_the_target_exists_or_not)
{
	put("out/f", "");
	make_dir("out/d");
	make_link(at("out"), "ws/abs");
	make_link("../out", "ws/rel");
	make_link("/etc", "ws/etc");
	make_link("rel", "ws/chain");
	make_link(at("out/missing"), "ws/dangling");
	make_link("/nowhere/at/all", "ws/nowhere");
	assert_outside("abs/f");
	assert_outside("abs/missing");
	assert_outside("abs/missing/deeper");
	assert_outside("rel/d/../f");
	assert_outside("etc/hostname");
	assert_outside("etc/no-such-file");
	assert_outside("chain/f");
	assert_outside("dangling");
	assert_outside("nowhere");
	assert_outside("/");
	assert_outside("/etc/hostname");
	assert_outside("/nowhere/at/all");
	/* The links themselves lie inside. */
	ck_assert_int_eq(resolve("abs", false), 0);
	ck_assert_int_eq(resolve("nowhere", false), 0);
}
END_TEST

START_TEST(file_1_absolute_links_may_stay_inside)
{
	make_dir("ws/d");
	put("ws/d/f", "");
	make_link(at("ws/d"), "ws/abs");
	make_link("../ws/d", "ws/rel");
	ck_assert_int_eq(resolve("abs/f", true), 0);
	ck_assert_int_eq(resolve("rel/f", true), 0);
	assert_place("abs/new", true, "ws/d", "new");
	assert_place("rel/new", true, "ws/d", "new");
}
END_TEST

START_TEST(file_1_links_of_proc_are_proven_too)
{
	int fd = open(at("out"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[64];

	put("out/f", "");
	snprintf(path, sizeof(path), "/proc/self/fd/%d/f", fd);
	assert_outside(path);
	assert_outside("/proc/self/root/etc/hostname");
	close(fd);
}
END_TEST

START_TEST(file_1_loops_end)
{
	make_link("loop", "ws/loop");
	make_link("b", "ws/a");
	make_link("a", "ws/b");
	ck_assert_int_eq(resolve("loop", true), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(resolve("a/x", true), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(resolve_place("loop", true, true), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(resolve_place("a/x", true, true), COVE_E_INVALID_ARGUMENT);
	assert_place("loop", false, "ws", "loop");
}
END_TEST

START_TEST(case_50_a_new_name_below_a_link_out)
{
	make_link(at("out"), "ws/d");
	make_link("../out", "ws/r");
	assert_outside("d/new");
	assert_outside("r/new");
	assert_outside("d/a/b/new");
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

START_TEST(place_of_names)
{
	make_dir("ws/d");
	put("ws/f", "");
	assert_place("new", true, "ws", "new");
	assert_place("d/new", true, "ws/d", "new");
	assert_place("d//new/", true, "ws/d", "new");
	assert_place("d/./new", true, "ws/d", "new");
	assert_place("d/../new", true, "ws", "new");
	assert_place(".", true, "ws", ".");
	assert_place("d/.", true, "ws/d", ".");
	assert_place("d/..", true, "ws", ".");
	assert_place("../ws/new", true, "ws", "new");
	ck_assert_int_eq(resolve_place("f/new", true, true), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(resolve_place("a/new", true, false), COVE_E_NOT_FOUND);
	/* The parent of a root lies outside. */
	ck_assert_int_eq(resolve_place(fx.ws, true, false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(resolve_place("..", true, false), COVE_E_PERMISSION_DENIED);
}
END_TEST

START_TEST(place_of_a_link_is_that_of_its_target)
{
	make_dir("ws/d");
	make_link("d/target", "ws/l");
	make_link("l", "ws/ll");
	make_link("d/", "ws/dir");
	assert_place("l", true, "ws/d", "target");
	assert_place("ll", true, "ws/d", "target");
	assert_place("ll", false, "ws", "ll");
	assert_place("dir", true, "ws", "d");
	assert_place("dir/new", false, "ws/d", "new");
}
END_TEST

START_TEST(place_makes_parents)
{
	make_link("made/by/link", "ws/l");
	ck_assert_int_eq(resolve_place("a/b/c/new", true, true), 0);
	ck_assert_str_eq(place.dir, at("ws/a/b/c"));
	ck_assert_str_eq(place.name, "new");
	ck_assert(!is_there("ws/a/b/c/new"));
	ck_assert_int_eq(resolve_place("l/sub/new", true, true), 0);
	ck_assert_str_eq(place.dir, at("ws/made/by/link/sub"));
	ck_assert_int_eq(resolve_place("x/../../out/y/new", true, true), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

START_TEST(names_that_are_too_long)
{
	char name[300];
	char *deep = malloc(CV_PATH_MAX + 2);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(resolve(name, true), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(resolve_place(name, true, true), COVE_E_INVALID_ARGUMENT);
	name[256] = '/';
	ck_assert_int_eq(resolve_place(name, true, true), COVE_E_INVALID_ARGUMENT);
	name[255] = '\0';
	ck_assert_int_eq(resolve_place(name, true, true), 0);
	ck_assert_str_eq(place.name, name);
	memset(deep, 'a', CV_PATH_MAX + 1);
	deep[CV_PATH_MAX + 1] = '\0';
	ck_assert_int_eq(cv_resolve(&fx.space, deep, true, &found, &fx.err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_str_eq(fx.err.field, "path");
	free(deep);
}
END_TEST

START_TEST(no_roots_means_everything)
{
	fx.roots[0] = NULL;
	ck_assert_int_eq(resolve("/", true), 0);
	ck_assert_str_eq(found.real, "/");
	ck_assert_int_eq(resolve("../out", true), 0);
	ck_assert_int_eq(resolve_place("/", true, false), 0);
	ck_assert_str_eq(place.dir, "/");
	ck_assert_str_eq(place.name, ".");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_1_finds_what_is_inside,
		case_46_lookalikes_are_outside,
		case_46_encoded_dots_are_letters_or_dots,
		case_47_dots_are_taken_into_account,
		case_48_links_out_are_refused_whether_the_target_exists_or_not,
		file_1_absolute_links_may_stay_inside,
		file_1_links_of_proc_are_proven_too,
		file_1_loops_end,
		case_50_a_new_name_below_a_link_out,
		place_of_names,
		place_of_a_link_is_that_of_its_target,
		place_makes_parents,
		names_that_are_too_long,
		no_roots_means_everything,
	};

	return run_tests("resolve", tests, CV_LEN(tests), 30);
}
