/* SPDX-License-Identifier: Apache-2.0 */
/* Exact edits of text files: FILE-6, FILE-16, CASE-61, CASE-63. */
#include "files_fixture.h"

#include <sys/wait.h>

#define TEXT(s) ((struct cove_bytes){.data = (s), .len = strlen(s)})
#define EDIT(old, new, n) ((struct cove_edit){TEXT(old), TEXT(new), n})

static struct cove_file_edit_text_result done;

static int do_edits(const char *path, const struct cove_edit *edits, size_t count)
{
	struct cove_file_edit_text_opts req = {
		.size = sizeof(req), .path = path, .edits = edits, .edit_count = count};

	return call(cv_file_edit_text, &req, &done, sizeof(done));
}

static int do_edit(const char *path, const char *old, const char *new)
{
	return do_edits(path, &EDIT(old, new, 1), 1);
}

/* What one edit makes of a text; its code where it is refused. */
static const char *edited(const char *text, const char *old, const char *new)
{
	int rc;

	put("ws/f", text);
	rc = do_edit("f", old, new);
	if (rc < 0)
		ck_assert_str_eq(get("ws/f"), text);
	return rc < 0 ? cove_code_name(rc) : get("ws/f");
}

START_TEST(file_6_exactly_once)
{
	ck_assert_str_eq(edited("one two three", "two", "2"), "one 2 three");
	ck_assert_int_eq(done.edits_applied, 1);
	ck_assert_int_eq(done.bytes_written, 11);
	ck_assert_str_ne(done.operation_id, "");
	ck_assert_str_eq(edited("one", "two", "2"), "edit_not_found");
	ck_assert_str_eq(edited("", "two", "2"), "edit_not_found");
	ck_assert_str_eq(edited("x x", "x", "y"), "edit_ambiguous");
	ck_assert_str_eq(edited("aaa", "aa", "b"), "edit_ambiguous"); /* twice: overlapping */
	ck_assert_str_eq(edited("whole", "whole", ""), "");
	ck_assert_str_eq(edited("tab\there\n", "\t", "  "), "tab  here\n");
	ck_assert_str_eq(edited("é à é", "à", "ü"), "é ü é");
}
END_TEST

START_TEST(file_6_errors_say_where)
{
	const struct cove_edit edits[] = {EDIT("a", "A", 1), EDIT("x", "y", 1)};

	put("ws/f", "a\nx\n\n x\nend x\n");
	ck_assert_int_eq(do_edits("f", edits, 2), COVE_E_EDIT_AMBIGUOUS);
	ck_assert_int_eq(fx.err.edit_index, 1);
	ck_assert_int_eq(fx.err.occurrences, 3);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_str_eq(fx.err.reason, "occurs 3 times, not 1, on line 2, 4, 5");
	ck_assert_ptr_nonnull(strstr(fx.err.message, "edit 2 of 2"));
	ck_assert_str_eq(get("ws/f"), "a\nx\n\n x\nend x\n");
	ck_assert_int_eq(do_edit("f", "\tx\n\n", "y"), COVE_E_EDIT_NOT_FOUND);
	ck_assert_int_eq(fx.err.edit_index, 0);
	ck_assert_int_eq(fx.err.occurrences, 0);
	ck_assert_ptr_nonnull(strstr(fx.err.hint, "on line 2, 4, 5"));
	ck_assert_int_eq(do_edits("f", &EDIT("x", "y", 4), 1), COVE_E_EDIT_NOT_FOUND);
	ck_assert_int_eq(fx.err.occurrences, 3);
	ck_assert_int_eq(do_edits("f", &EDIT("x", "yy", 3), 1), 0);
	ck_assert_str_eq(get("ws/f"), "a\nyy\n\n yy\nend yy\n");
}
END_TEST

START_TEST(file_6_in_order_on_the_result)
{
	const struct cove_edit chain[] = {EDIT("a", "b", 1), EDIT("bb", "c", 1), EDIT("c", "a", 1)};
	const struct cove_edit broken[] = {EDIT("a", "b", 1), EDIT("a", "c", 1)};

	put("ws/f", "ab");
	ck_assert_int_eq(do_edits("f", chain, 3), 0);
	ck_assert_str_eq(get("ws/f"), "a");
	ck_assert_int_eq(do_edits("f", broken, 2), COVE_E_EDIT_NOT_FOUND);
	ck_assert_int_eq(fx.err.edit_index, 1);
	ck_assert_str_eq(get("ws/f"), "a");
}
END_TEST

START_TEST(file_6_line_endings) /* CASE-61 */
{
	ck_assert_str_eq(edited("a\r\nb\nc", "c", "X\nY"), "a\r\nb\nX\nY");
	ck_assert_str_eq(edited("a\r\nb\r\nc\r\n", "a\nb\n", "a\nX\nb\n"), "a\r\nX\r\nb\r\nc\r\n");
	ck_assert_str_eq(edited("a\r\nb\r\n", "b", "b1\nb2"), "a\r\nb1\r\nb2\r\n");
	ck_assert_str_eq(edited("a\r\nb", "a\nb", "a\nb\n"), "a\r\nb\r\n");
	ck_assert_str_eq(edited("a", "a", "a\nb\n"), "a\nb\n");
	ck_assert_str_eq(edited("a\r\n", "a", "x\ny"), "x\r\ny\r\n");
	ck_assert_str_eq(edited("a\nb\r\nc\n", "a\nb\nc", "A\nB\nC\nD"), "A\nB\r\nC\r\nD\n");
	ck_assert_str_eq(edited("a\r\n\r\nb", "\n\n", "\n"), "a\r\nb");
	ck_assert_str_eq(edited("a\r\nb", "\n", "-"), "a-b");
	ck_assert_str_eq(edited("a\r\nb\n", "a\r\n", "x\n"), "x\nb\n"); /* it says CR itself */
	ck_assert_str_eq(edited("a\nb\n", "a\r\n", "x"), "edit_not_found");
	ck_assert_str_eq(edited("a\rb\n", "a\nb", "x"), "edit_not_found");
	ck_assert_str_eq(edited("\xEF\xBB\xBF"
				"a\r\nb\r\n",
				"a\n", "z\ny\n"),
			 "\xEF\xBB\xBF"
			 "z\r\ny\r\nb\r\n");
}
END_TEST

START_TEST(file_6_bytes_that_are_no_text_stay)
{
	char data[] = "\0\xff\xfe one \r \r\r\n\0two";
	char want[] = "\0\xff\xfe 1111 \r \r\r\n\0two";

	put_bytes("ws/f", data, sizeof(data));
	ck_assert_int_eq(do_edit("f", "one", "1111"), 0);
	ck_assert_uint_eq((size_t)stat_of("ws/f").st_size, sizeof(want));
	get("ws/f");
	ck_assert_int_eq(memcmp(fx.content, want, sizeof(want)), 0);
}
END_TEST

/* As plain replacement would do it, where there is only LF; as with LF alone, where there is only CRLF. */
START_TEST(file_6_same_as_plain_replacement)
{
	static const char letters[] = "aab\n";
	unsigned seed = 7;

	for (int round = 0; round < rounds(3000); round++) {
		char text[40] = "";
		char crlf[80] = "";
		char want[80] = "";
		char old[5] = "";
		char new[5] = "";
		const char *hit;
		size_t n = 0;
		int rc;

		for (size_t i = 0; i < 30; i++)
			text[i] = letters[(size_t)rand_r(&seed) % 4];
		for (size_t i = 0; i < 1 + (size_t)rand_r(&seed) % 4; i++)
			old[i] = letters[(size_t)rand_r(&seed) % 4];
		for (size_t i = 0; i < (size_t)rand_r(&seed) % 5; i++)
			new[i] = letters[(size_t)rand_r(&seed) % 4];
		for (hit = text; (hit = strstr(hit, old)); hit++)
			n++;
		put("ws/f", text);
		rc = do_edit("f", old, new);
		ck_assert_int_eq(rc, n == 1 ? 0 :
				     n	    ? COVE_E_EDIT_AMBIGUOUS :
					      COVE_E_EDIT_NOT_FOUND);
		if (rc < 0) {
			ck_assert_int_eq(fx.err.occurrences, (int64_t)n);
			continue;
		}
		hit = strstr(text, old);
		snprintf(want, sizeof(want), "%.*s%s%s", (int)(hit - text), text, new,
			 hit + strlen(old));
		ck_assert_str_eq(get("ws/f"), want);
		for (size_t i = 0, k = 0; text[i]; i++) {
			if (text[i] == '\n')
				crlf[k++] = '\r';
			crlf[k++] = text[i];
		}
		put("ws/f", crlf);
		ck_assert_int_eq(do_edit("f", old, new), 0);
		if (strchr(text, '\n')) {
			size_t k = 0;

			get("ws/f");
			for (size_t i = 0; fx.content[i]; i++) {
				ck_assert(fx.content[i] != '\n' || fx.content[i - 1] == '\r');
				if (fx.content[i] != '\r')
					fx.content[k++] = fx.content[i];
			}
			fx.content[k] = '\0';
			ck_assert_str_eq(fx.content, want);
		}
	}
}
END_TEST

START_TEST(file_6_the_file_is_the_same_otherwise)
{
	put("ws/f", "old");
	ck_assert_int_eq(chmod(at("ws/f"), 0751), 0);
	make_link("f", "ws/l");
	ck_assert_int_eq(do_edit("l", "old", "new"), 0);
	ck_assert_str_eq(get("ws/f"), "new");
	ck_assert(S_ISLNK(stat_of("ws/l").st_mode));
	ck_assert_int_eq(stat_of("ws/f").st_mode & 07777, 0751);
	ck_assert_int_eq(count_entries("ws"), 2);
}
END_TEST

START_TEST(file_6_refusals)
{
	ck_assert_int_eq(do_edit("missing", "a", "b"), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_edit(".", "a", "b"), COVE_E_IS_DIRECTORY);
	put("out/f", "a");
	make_link("../out/f", "ws/l");
	ck_assert_int_eq(do_edit("l", "a", "b"), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_edit("../out/f", "a", "b"), COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(get("out/f"), "a");
	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(do_edit("fifo", "a", "b"), COVE_E_INVALID_ARGUMENT);
	put("ws/big", "a");
	ck_assert_int_eq(truncate(at("ws/big"), (64 << 20) + 1), 0);
	ck_assert_int_eq(do_edit("big", "a", "b"), COVE_E_TOO_LARGE);
	put("ws/f", "a");
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(do_edit("f", "a", "b"), COVE_E_CANCELLED);
	ck_assert_str_eq(get("ws/f"), "a");
}
END_TEST

/* Of several who edit the same file at once nobody's edit is lost: it is there, or it was refused. */
START_TEST(file_6_concurrent_edits_are_not_lost)
{
	int applied = 0;
	int found = 0;

	put("ws/f", "[]");
	for (int p = 0; p < 4; p++)
		if (fork() == 0) {
			int mine = 0;

			for (int i = 0; i < 50; i++) {
				char new[16];
				int rc;

				snprintf(new, sizeof(new), "%c]", 'a' + p);
				rc = do_edit("f", "]", new);
				if (rc < 0 && rc != COVE_E_CONFLICT && rc != COVE_E_NOT_FOUND)
					_exit(255);
				mine += rc == 0;
			}
			_exit(mine);
		}
	for (int p = 0; p < 4; p++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 50);
		applied += WEXITSTATUS(status);
	}
	get("ws/f");
	for (const char *p = fx.content; *p; p++)
		found += *p >= 'a' && *p <= 'd';
	ck_assert_int_eq(found, applied);
	ck_assert_int_gt(applied, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_6_exactly_once,
		file_6_errors_say_where,
		file_6_in_order_on_the_result,
		file_6_line_endings,
		file_6_bytes_that_are_no_text_stay,
		file_6_same_as_plain_replacement,
		file_6_the_file_is_the_same_otherwise,
		file_6_refusals,
		file_6_concurrent_edits_are_not_lost,
	};

	return run_tests("edit", tests, CV_LEN(tests), 60);
}
