/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying, moving and removing of generated trees, against cp -a, mv and rm -r (FILE-14): links,
 * FIFOs, sparse files, odd modes and times, and names of any bytes.
 */
#include "files_fixture.h"

#include <sys/wait.h>

#define TREES 150
#define MOVES 200

static unsigned seed = 14;

static int draw(int n)
{
	return (int)((unsigned)rand_r(&seed) % (unsigned)n);
}

static void sh(const char *script)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/bash", "bash", "-c", script, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x: %s", status,
		      script);
}

/* Any bytes that a name can have; two of them may be the same, and then one is not made. */
static void draw_name(char *name)
{
	int len = 1 + draw(draw(8) ? 6 : 200);

	for (int i = 0; i < len; i++)
		do
			name[i] = (char)(draw(4) ? 'a' + draw(26) : 1 + draw(255));
		while (name[i] == '/');
	name[len] = '\0';
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		name[0] = 'x';
}

static void set_time(int dirfd, const char *name)
{
	struct timespec times[2] = {{.tv_sec = draw(2000000000), .tv_nsec = draw(1000000000)},
				    {.tv_sec = draw(2000000000), .tv_nsec = draw(1000000000)}};

	ck_assert_int_eq(utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void make_file(int dirfd, const char *name)
{
	static const mode_t modes[] = {0644, 0600, 0755, 0400, 0444, 0666, 04755, 02711, 0, 0222};
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char data[3000];
	int len = draw(3) ? draw(100) : draw((int)sizeof(data));

	if (fd < 0)
		return;
	for (int i = 0; i < len; i++)
		data[i] = (char)draw(256);
	ck_assert_int_eq(cv_write_full(fd, data, (size_t)len), 0);
	if (draw(10) == 0) {
		ck_assert_int_eq(lseek(fd, (1 + draw(20)) * 65536, SEEK_CUR) > 0, 1);
		ck_assert_int_eq(cv_write_full(fd, data, (size_t)len), 0);
		ck_assert_int_eq(ftruncate(fd, lseek(fd, 0, SEEK_CUR) + draw(3) * 100000), 0);
	}
	ck_assert_int_eq(fchmod(fd, modes[draw(geteuid() == 0 ? 10 : 8)]), 0);
	close(fd);
	set_time(dirfd, name);
}

static void make_symlink(int dirfd, const char *name)
{
	static const char *const targets[] = {"/etc/passwd", "..", "missing", "\377\200",
					      "a/b/../c"};

	if (symlinkat(draw(6) ? targets[draw(5)] : name, dirfd, name) == 0)
		set_time(dirfd, name);
}

/* A tree of some entries; gives what it is one level of. */
static void make_tree(int dirfd, const char *name, int depth)
{
	static const mode_t modes[] = {0755, 0700, 0750, 0711, 01777, 02755, 0500, 0555};
	int fd;

	if (mkdirat(dirfd, name, 0700) < 0)
		return;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = draw(9); i > 0; i--) {
		int what = draw(10);
		char below[256];

		draw_name(below);
		if (what < 5)
			make_file(fd, below);
		else if (what < 7)
			make_symlink(fd, below);
		else if (what < 8 && mkfifoat(fd, below, 0640) == 0)
			set_time(fd, below);
		else if (what >= 8 && depth > 0)
			make_tree(fd, below, depth - 1);
	}
	ck_assert_int_eq(fchmod(fd, modes[draw(8)]), 0);
	close(fd);
	set_time(dirfd, name);
}

/* Anything: a tree, or one entry. */
static void make_any(int dirfd, const char *name)
{
	int what = draw(6);

	if (what == 0)
		make_file(dirfd, name);
	else if (what == 1)
		make_symlink(dirfd, name);
	else if (what == 2)
		ck_assert_int_eq(mkfifoat(dirfd, name, 0600), 0);
	else
		make_tree(dirfd, name, what - 2);
}

/* The lists of two directories, names and bytes of everything; they must be the same. */
#define COMPARE                                                                                    \
	"list() { cd \"$1\" && find . -mindepth 1 -printf '%P %y %m %l ' "                         \
	"\\( ! -type d -printf '%s ' -o -true \\) -printf \"$2\\\\0\" | sort -z; "                 \
	"find . -type f -print0 | sort -z | xargs -0r sha256sum; }; "                              \
	"cmp <(list \"$A\" \"$T\") <(list \"$B\" \"$T\") || "                                      \
	"{ diff -a <(list \"$A\" \"$T\" | tr '\\0' '\\n') "                                        \
	"<(list \"$B\" \"$T\" | tr '\\0' '\\n') | head -20 | cat -v; exit 1; }"

static int transfer(cv_file_fn *fn, const char *from, const char *to, bool replace)
{
	struct cove_file_transfer_opts req = {sizeof(req), from, to, replace};
	struct cove_file_copy_result result;

	return call(fn, &req, &result, sizeof(result));
}

START_TEST(copies_are_those_of_cp)
{
	int n = rounds(TREES);
	int dir;
	char from[32];
	char to[32];

	make_dir("ws/s");
	make_dir("ws/got");
	dir = open(at("ws/s"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < n; i++) {
		snprintf(from, sizeof(from), "%d", i);
		make_any(dir, from);
	}
	sh("cp -a ws/s out/want");
	for (int i = 0; i < n; i++) {
		snprintf(from, sizeof(from), "s/%d", i);
		snprintf(to, sizeof(to), "got/%d", i);
		ck_assert_msg(transfer(cv_file_copy, from, to, false) == 0, "%d: %s", i,
			      fx.err.message);
	}
	sh("A=ws/got B=out/want T=%T@; " COMPARE);
	sh("a=$(du -s ws/got | cut -f1) b=$(du -s out/want | cut -f1); [ $a -le $((b * 11 / 10)) ]");
	sh("chmod -R u+rwx ws out");
	close(dir);
}
END_TEST

/* Of each pair what is there is moved over what is there, or not, as mv does. */
START_TEST(moves_are_those_of_mv)
{
	int n = rounds(MOVES);
	CV_FREE char *status = NULL;
	int did = 0;
	size_t len;

	for (int i = 0; i < n; i++) {
		char name[32];
		int dir;

		snprintf(name, sizeof(name), "ws/%d", i);
		make_dir(name);
		dir = open(at(name), O_PATH | O_DIRECTORY | O_CLOEXEC);
		make_any(dir, "a");
		if (draw(4) == 0)
			ck_assert_int_eq(mkdirat(dir, "b", 0755), 0);
		else if (draw(3))
			make_any(dir, "b");
		close(dir);
	}
	sh("cp -a ws out/m && cd out/m && for ((i = 0; i < $(ls | wc -l); i++)); do "
	   "mv -T -f $i/a $i/b 2>/dev/null; echo -n $? >>../status; done");
	ck_assert_int_eq(cv_read_file(AT_FDCWD, at("out/status"), 1 << 20, &status, &len), 0);
	ck_assert_int_eq(len, n);
	for (int i = 0; i < n; i++) {
		char from[32];
		char to[32];
		int rc;

		snprintf(from, sizeof(from), "%d/a", i);
		snprintf(to, sizeof(to), "%d/b", i);
		rc = transfer(cv_file_move, from, to, true);
		ck_assert_msg((rc == 0) == (status[i] == '0'), "%d: %s, %c of mv", i,
			      fx.err.message, status[i]);
		did += rc == 0;
	}
	sh("touch -d @0 ws/* out/m/*; A=ws B=out/m T=%T@; " COMPARE);
	ck_assert_int_gt(did, n / 4);
	ck_assert_int_lt(did, n);
	sh("chmod -R u+rwx ws out");
}
END_TEST

/* As rm -r: all of it, and nothing that a link in it leads to. */
START_TEST(removals_are_those_of_rm)
{
	int n = rounds(TREES);
	int64_t removed = 0;
	int dir;

	make_dir("out/victim");
	put("out/victim/f", "victim");
	make_dir("ws/s");
	dir = open(at("ws/s"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%d", i);
		make_tree(dir, name, 4);
	}
	sh("chmod -R u+rwx ws; for d in ws/s/*; do ln -s ../../../out/victim $d/out-link; done; "
	   "cp -a ws/s out/m; find out/m -mindepth 1 -printf x | wc -c >out/count; rm -r out/m/* && "
	   "[ -z \"$(ls -A out/m)\" ]");
	close(dir);
	for (int i = 0; i < n; i++) {
		struct cove_file_remove_result result;
		char path[32];
		struct cove_file_remove_opts req = {
			.size = sizeof(req), .path = path, .recursive = true};

		snprintf(path, sizeof(path), "s/%d", i);
		ck_assert_msg(call(cv_file_remove, &req, &result, sizeof(result)) == 0, "%d: %s", i,
			      fx.err.message);
		removed += result.removed_entries;
	}
	ck_assert_int_eq(removed, atoi(get("out/count")));
	ck_assert_int_eq(count_entries("ws/s"), 0);
	ck_assert_str_eq(get("out/victim/f"), "victim");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		copies_are_those_of_cp,
		moves_are_those_of_mv,
		removals_are_those_of_rm,
	};

	return run_tests("files_oracle", tests, CV_LEN(tests), 120);
}
