/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confinement of whole operations, also while somebody changes the tree: FILE-1, CASE-46, CASE-48,
 * CASE-50, CASE-52, CASE-53.
 */
#include "files_fixture.h"

#include <pthread.h>

#define FLIP_WRITES 10000

static struct cove_file_read_bytes_result bytes;
static struct cove_file_list_result listed;

static void assert_denied(const char *path)
{
	struct cove_file_entry e;

	for (int mode = COVE_WRITE_CREATE; mode <= COVE_WRITE_APPEND; mode++)
		ck_assert_int_eq(do_write(path, "evil", mode), COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(fx.err.path, path);
	ck_assert_int_eq(do_write_with((struct cove_file_write_opts){.mode = COVE_WRITE_UPSERT,
								     .in_place = true},
				       path, "evil", NULL),
			 COVE_E_PERMISSION_DENIED);
	ck_assert_ptr_null(text_of(path));
	ck_assert_int_eq(fx.err.code, COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_read_bytes(path, 0, 0, &bytes), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_mkdir(path, true, true, NULL), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_list((struct cove_file_list_opts){0}, path, &listed),
			 COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_stat(path, &e) == 0 && e.kind != COVE_KIND_SYMLINK, 0);
}

/* The same, and its last component is no link that could be removed itself. */
static void assert_denied_wholly(const char *path)
{
	assert_denied(path);
	ck_assert_int_eq(do_exists(path), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_remove(path, true, true), COVE_E_PERMISSION_DENIED);
}

START_TEST(case_46_no_operation_reaches_a_lookalike)
{
	make_dir("ws-evil");
	put("ws-evil/x", "old");
	assert_denied_wholly("../ws-evil/x");
	assert_denied_wholly("../ws-evil/new");
	assert_denied_wholly(at("ws-evil/x"));
	ck_assert_str_eq(get("ws-evil/x"), "old");
	ck_assert_int_eq(count_entries("ws-evil"), 1);
}
END_TEST

START_TEST(case_48_no_operation_follows_a_link_out)
{
	put("out/f", "old");
	make_link(at("out"), "ws/l");
	make_link("../out/f", "ws/f");
	make_link("../out/new", "ws/new");
	assert_denied_wholly("l/f");
	assert_denied_wholly("l/new");
	assert_denied("f");
	assert_denied("new");
	assert_denied("l");
	ck_assert_str_eq(get("out/f"), "old");
	ck_assert_int_eq(count_entries("out"), 1);
	/* The links themselves are inside: they can be seen and removed. */
	ck_assert_int_eq(do_exists("new"), 1);
	ck_assert_int_eq(do_remove("l", true, false), 1);
	ck_assert_str_eq(get("out/f"), "old");
}
END_TEST

START_TEST(case_50_no_new_file_below_a_link_out)
{
	make_link(at("out"), "ws/d");
	ck_assert_int_eq(do_write("d/new", "x", COVE_WRITE_CREATE), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_write("d/a/b/new", "x", COVE_WRITE_UPSERT), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_mkdir("d/a/b", true, false, NULL), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

/*
 * A hard link can't be told from a file; but a write replaces it, and so leaves what lies outside
 * alone.
 */
START_TEST(case_52_a_replaced_hard_link_leaves_the_other_name_alone)
{
	put("out/f", "old");
	ck_assert_int_eq(link(at("out/f"), at("ws/h")), 0);
	ck_assert_int_eq(do_write("h", "new", COVE_WRITE_REPLACE), 0);
	ck_assert_str_eq(get("ws/h"), "new");
	ck_assert_str_eq(get("out/f"), "old");
}
END_TEST

struct flipper {
	atomic_bool stop;
	const char *a;
	const char *b;
};

/* Exchanges two names as fast as it can. */
static void *flip(void *arg)
{
	struct flipper *f = arg;

	while (!atomic_load(&f->stop))
		renameat2(AT_FDCWD, f->a, AT_FDCWD, f->b, RENAME_EXCHANGE);
	return NULL;
}

static void start_flipping(struct flipper *f, pthread_t *thread, const char *a, const char *b)
{
	f->a = a;
	f->b = b;
	atomic_store(&f->stop, false);
	ck_assert_int_eq(pthread_create(thread, NULL, flip, f), 0);
}

static void stop_flipping(struct flipper *f, pthread_t thread)
{
	atomic_store(&f->stop, true);
	pthread_join(thread, NULL);
}

START_TEST(case_53_a_directory_flips_to_a_link_while_writing)
{
	struct flipper flipper;
	pthread_t thread;
	int written = 0;
	int denied = 0;

	make_dir("ws/d");
	put("out/f", "victim");
	make_link(at("out"), "ws/flip");
	start_flipping(&flipper, &thread, at("ws/d"), at("ws/flip"));
	for (int i = 0; i < rounds(FLIP_WRITES); i++) {
		int mode = i % 3 == 0 ? COVE_WRITE_UPSERT : i % 3 == 1 ? COVE_WRITE_APPEND : 0;
		int rc = mode ? do_write("d/f", "evil", mode) : do_remove("d/f", true, true);

		written += rc >= 0;
		denied += rc == COVE_E_PERMISSION_DENIED;
		ck_assert_msg(rc >= 0 || rc == COVE_E_PERMISSION_DENIED, "%s", fx.err.message);
	}
	stop_flipping(&flipper, thread);
	ck_assert_int_gt(written, 0);
	ck_assert_int_gt(denied, 0);
	ck_assert_str_eq(get("out/f"), "victim");
	ck_assert_int_eq(count_entries("out"), 1);
}
END_TEST

/*
 * Only the writes that open the present file: the others would replace the link, and end the race.
 */
START_TEST(case_53_a_file_flips_to_a_link_while_writing)
{
	struct flipper flipper;
	pthread_t thread;
	int written = 0;

	put("out/f", "victim");
	put("ws/f", "mine");
	make_link("../out/f", "ws/flip");
	start_flipping(&flipper, &thread, at("ws/f"), at("ws/flip"));
	for (int i = 0; i < rounds(FLIP_WRITES); i++) {
		struct cove_file_write_opts opts = {.mode = COVE_WRITE_UPSERT + i % 2,
						    .in_place = true};
		int rc = do_write_with(opts, "f", "evil", NULL);
		const char *text;

		written += rc >= 0;
		ck_assert_msg(rc >= 0 || rc == COVE_E_PERMISSION_DENIED || rc == COVE_E_CONFLICT,
			      "%s", fx.err.message);
		text = text_of("f");
		if (text)
			ck_assert_ptr_null(strstr(text, "victim"));
	}
	stop_flipping(&flipper, thread);
	ck_assert_int_gt(written, 0);
	ck_assert_str_eq(get("out/f"), "victim");
	ck_assert_int_eq(count_entries("ws"), 2);
}
END_TEST

START_TEST(case_53_a_directory_flips_to_a_link_while_parents_are_made)
{
	struct flipper flipper;
	pthread_t thread;

	make_dir("ws/d");
	make_link(at("out"), "ws/flip");
	start_flipping(&flipper, &thread, at("ws/d"), at("ws/flip"));
	for (int i = 0; i < rounds(FLIP_WRITES / 4); i++) {
		ck_assert_int_ne(do_mkdir("d/a/b/c", true, true, NULL), COVE_E_INTERNAL);
		ck_assert_int_ne(do_remove("d/a", true, true), COVE_E_INTERNAL);
	}
	stop_flipping(&flipper, thread);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		case_46_no_operation_reaches_a_lookalike,
		case_48_no_operation_follows_a_link_out,
		case_50_no_new_file_below_a_link_out,
		case_52_a_replaced_hard_link_leaves_the_other_name_alone,
		case_53_a_directory_flips_to_a_link_while_writing,
		case_53_a_file_flips_to_a_link_while_writing,
		case_53_a_directory_flips_to_a_link_while_parents_are_made,
	};

	return run_tests("files_confined", tests, CV_LEN(tests), 120);
}
