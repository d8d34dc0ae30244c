/* SPDX-License-Identifier: Apache-2.0 */
/* Copying, moving, truncating: FILE-1, FILE-14, FILE-15, FILE-16; cp -a and mv as oracles. */
#include "files_fixture.h"

#include <sys/wait.h>

static struct cove_file_copy_result copied;

static int do_copy(const char *source, const char *destination, bool replace)
{
	struct cove_file_transfer_opts req = {sizeof(req), source, destination, replace};

	return call(cv_file_copy, &req, &copied, sizeof(copied));
}

static int do_move(const char *source, const char *destination, bool replace)
{
	struct cove_file_transfer_opts req = {sizeof(req), source, destination, replace};
	struct cove_file_move_result moved;

	return call(cv_file_move, &req, &moved, sizeof(moved));
}

static int do_truncate(const char *path, int64_t size)
{
	struct cove_file_truncate_opts req = {sizeof(req), path, size};
	struct cove_file_truncate_result res;

	return call(cv_file_truncate, &req, &res, sizeof(res));
}

static void sh(const char *script)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x: %s", status,
		      script);
}

START_TEST(file_14_copy_as_cp_does)
{
	sh("cd ws && mkdir -p t/d/e t/empty t/ro && echo one >t/one && echo two >t/d/two && "
	   "chmod 751 t/d && chmod 4755 t/one && ln -s ../nowhere t/d/link && ln -s /etc t/out && "
	   "mkfifo t/fifo && truncate -s 8M t/sparse && printf end >>t/sparse && : >t/ro/x && chmod 555 t/ro && "
	   "touch -d 2001-02-03 t/d t/one && touch -h -d 2002-03-04 t/out && cp -a t ../want");
	ck_assert_int_eq(do_copy("t", "c", false), 0);
	ck_assert_int_eq(copied.entries_copied, 12);
	ck_assert_int_eq(copied.bytes_copied, 8 + (8 << 20) + 3);
	sh("list() { (cd $1 && find . -printf '%P %y %m %s %l %T@\\n' | grep -v '^e* ' | sort); }; "
	   "list ws/c | grep -v '^ d' >a; list want | grep -v '^ d' >b; diff a b && rm a b && "
	   "cmp ws/c/sparse want/sparse && [ $(du -k ws/c/sparse | cut -f1) -lt 100 ]");
	ck_assert_int_eq(count_entries("ws"), 2);
	ck_assert_int_eq(do_copy("t/ro", "ro2", false), 0);
	ck_assert_int_eq(stat_of("ws/ro2").st_mode & 07777, 0555);
}
END_TEST

START_TEST(file_14_nothing_is_overwritten)
{
	put("ws/a", "a");
	put("ws/b", "b");
	make_dir("ws/d");
	put("ws/d/f", "f");
	make_link("nowhere", "ws/l");
	ck_assert_int_eq(do_copy("a", "b", false), COVE_E_ALREADY_EXISTS);
	ck_assert_str_eq(fx.err.path, "b");
	ck_assert_int_eq(do_move("a", "b", false), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_move("a", "l", false), COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_move("a", "d", true), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(do_copy("a", "d", true), COVE_E_IS_DIRECTORY);
	make_dir("ws/e");
	ck_assert_int_eq(do_copy("e", "d", true), COVE_E_NOT_EMPTY);
	ck_assert_int_eq(do_move("e", "d", true), COVE_E_NOT_EMPTY);
	ck_assert_int_eq(do_copy("d", "e", true), 0);
	ck_assert_str_eq(get("ws/e/f"), "f");
	ck_assert_int_eq(do_copy("a", "b", true), 0);
	ck_assert_str_eq(get("ws/b"), "a");
	put("ws/a", "A");
	ck_assert_int_eq(do_move("a", "b", true), 0);
	ck_assert_str_eq(get("ws/b"), "A");
	ck_assert(!is_there("ws/a"));
	ck_assert_int_eq(do_move("l", "k", false), 0);
	ck_assert(S_ISLNK(stat_of("ws/k").st_mode));
	ck_assert_int_eq(do_move("d", "d2", false), 0);
	ck_assert_str_eq(get("ws/d2/f"), "f");
	ck_assert_int_eq(count_entries("ws"), 4);
}
END_TEST

START_TEST(file_14_refusals)
{
	put("out/f", "victim");
	put("ws/f", "x");
	make_dir("ws/d");
	make_link("../out", "ws/way");
	ck_assert_int_eq(do_copy("way/f", "g", false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_copy("f", "way/g", false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_move("../out/f", "g", false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_move("f", "../out/f", true), COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(get("out/f"), "victim");
	ck_assert_int_eq(do_copy("missing", "g", false), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_copy("f", "no/g", false), COVE_E_NOT_FOUND);
	ck_assert_int_eq(do_copy("d", "d/e", false), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_move("d", "d/e", false), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_copy(".", "d/e", false), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_move(fx.ws, "d/e", false), COVE_E_PERMISSION_DENIED);
	ck_assert_int_eq(do_copy("f", "g/", false), COVE_E_NOT_DIRECTORY);
	ck_assert_int_eq(do_copy("f/", "g", false), COVE_E_NOT_DIRECTORY);
	atomic_store(&fx.cancel, true);
	ck_assert_int_eq(do_copy("f", "g", false), COVE_E_CANCELLED);
	ck_assert_int_eq(do_move("f", "g", false), COVE_E_CANCELLED);
	ck_assert_int_eq(count_entries("ws"), 3);
}
END_TEST

/* Of those who move to the same name at once one wins; what the others have stays where it is. */
START_TEST(file_14_one_winner)
{
	int won = 0;

	for (int round = 0; round < 50; round++) {
		char name[16];

		for (int p = 0; p < 4; p++) {
			snprintf(name, sizeof(name), "ws/s%d", p);
			put(name, name);
		}
		for (int p = 0; p < 4; p++)
			if (fork() == 0) {
				int rc;

				snprintf(name, sizeof(name), "s%d", p);
				rc = do_move(name, "goal", false);
				_exit(rc == 0						   ? 1 :
				      rc == COVE_E_CONFLICT || rc == COVE_E_ALREADY_EXISTS ? 0 :
											     2);
			}
		won = 0;
		for (int p = 0; p < 4; p++) {
			int status;

			ck_assert_int_gt(wait(&status), 0);
			ck_assert_int_lt(WEXITSTATUS(status), 2);
			won += WEXITSTATUS(status);
		}
		ck_assert_int_eq(won, 1);
		ck_assert_int_eq(count_entries("ws"), 4);
		unlink(at("ws/goal"));
	}
}
END_TEST

/* A component changes between a directory and a link out all the time: nothing gets out. */
START_TEST(file_1_flipping_component)
{
	pid_t pid;
	int inside = 0;
	int status;

	put("out/victim", "victim");
	make_dir("ws/real");
	make_link("../out", "ws/link");
	pid = fork();
	if (pid == 0)
		for (;;)
			renameat2(AT_FDCWD, at("ws/real"), AT_FDCWD, at("ws/link"),
				  RENAME_EXCHANGE);
	put("ws/src", "attack");
	for (int i = 0; i < rounds(2500); i++) {
		inside += do_write("real/victim", "attack", COVE_WRITE_UPSERT) == 0;
		do_copy("src", "real/victim", true);
		do_move("real/victim", "taken", true);
		do_copy("src", "real/new", true);
		do_remove("real/victim", false, true);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_str_eq(get("out/victim"), "victim");
	ck_assert_int_eq(count_entries("out"), 1);
	ck_assert_int_gt(inside, 0);
}
END_TEST

START_TEST(file_15_truncate)
{
	put("ws/f", "0123456789");
	ck_assert_int_eq(do_truncate("f", 4), 0);
	ck_assert_str_eq(get("ws/f"), "0123");
	ck_assert_int_eq(do_truncate("f", 6), 0);
	ck_assert_int_eq(stat_of("ws/f").st_size, 6);
	ck_assert_int_eq(do_truncate("f", 0), 0);
	ck_assert_str_eq(get("ws/f"), "");
	ck_assert_int_eq(do_truncate(".", 0), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(do_truncate("missing", 0), COVE_E_NOT_FOUND);
	ck_assert(!is_there("ws/missing"));
	ck_assert_int_eq(mkfifo(at("ws/fifo"), 0600), 0);
	ck_assert_int_eq(do_truncate("fifo", 0), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(do_truncate("../out/f", 0), COVE_E_PERMISSION_DENIED);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_14_copy_as_cp_does, file_14_nothing_is_overwritten, file_14_refusals,
		file_14_one_winner,	 file_1_flipping_component,	 file_15_truncate,
	};

	return run_tests("transfer", tests, CV_LEN(tests), 120);
}
