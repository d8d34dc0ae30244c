/* SPDX-License-Identifier: Apache-2.0 */
/* Unified diffs, carried out as git does it: FILE-7, CASE-61, CASE-63, CASE-65. */
#include "files_fixture.h"

#include <sys/wait.h>

#define PAIRS 200

static struct cove_file_patch_text_result done;

static int do_patch(const char *path, const char *patch)
{
	struct cove_file_patch_text_opts req = {
		.size = sizeof(req), .path = path, .patch = {patch, strlen(patch)}};

	return call(cv_file_patch_text, &req, &done, sizeof(done));
}

static const char *patched(const char *text, const char *patch)
{
	int rc;

	put("ws/f", text);
	rc = do_patch("f", patch);
	if (rc < 0)
		ck_assert_str_eq(get("ws/f"), text);
	return rc < 0 ? cove_code_name(rc) : get("ws/f");
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

START_TEST(file_7_one_file)
{
	ck_assert_str_eq(patched("a\nb\nc\n",
				 "--- x\n+++ y\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+b2\n c\n"),
			 "a\nB\nb2\nc\n");
	ck_assert_int_eq(done.hunks_applied, 1);
	ck_assert_uint_eq(done.file_count, 1);
	ck_assert_str_eq(done.files[0].path, "f");
	ck_assert_int_eq(done.files[0].status, COVE_PATCHED_MODIFIED);
	ck_assert_str_eq(patched("a\nb",
				 "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"),
			 "a\nc\n");
	ck_assert_str_eq(patched("a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n"),
			 "a\nb");
	ck_assert_str_eq(patched("", "@@ -0,0 +1 @@\n+a\n"), "a\n");
	ck_assert_str_eq(patched("x\n", "@@ -0,0 +1 @@\n+a\n"), "conflict");
	ck_assert_str_eq(patched("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), "conflict");
	ck_assert_str_eq(patched("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), "a\n\nc\n");
	ck_assert_str_eq(patched("a\n", "@@ -1 +0,0 @@\n-a\n"), "");
}
END_TEST

START_TEST(file_7_conflicts_say_which_hunk) /* CASE-63 */
{
	const char *two = "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-x\n+X\n";

	ck_assert_str_eq(patched("a\nb\nc\n", two), "conflict");
	ck_assert_int_eq(fx.err.edit_index, 1);
	ck_assert_str_eq(fx.err.path, "f");
	ck_assert_ptr_nonnull(strstr(fx.err.message, "hunk 2 of 2 does not match at line 3"));
	ck_assert_str_eq(patched("1\nx {\n2\nx {\n3\n", "@@ -3,1 +3,1 @@ f\n-x {\n+y {\n \n"),
			 "invalid_argument");
	ck_assert_str_eq(patched("0\nx {\n2\nx {\n3\n", "@@ -3,1 +3,2 @@ f\n x {\n+y {\n"),
			 "conflict");
	ck_assert_ptr_nonnull(strstr(fx.err.reason, "matches at lines 2 and 4"));
}
END_TEST

START_TEST(file_7_line_endings) /* CASE-61 */
{
	ck_assert_str_eq(patched("a\r\nb\nc\n", "@@ -1,2 +1,3 @@\n a\n+n\n b\n"),
			 "a\r\nn\r\nb\nc\n");
	ck_assert_str_eq(patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n"), "a\r\nc\n");
	ck_assert_str_eq(patched("a\nb\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"), "conflict");
}
END_TEST

START_TEST(file_7_what_is_no_patch)
{
	static const char *const bad[] = {
		"hello\n",
		"@@ -1 +1 @@\n-a\n",
		"@@ -1 +1 @@\n-a\n+b\n c\n@@ -x +1 @@\n",
		"@@ -1,2 +1 @@\n-a\n*b\n",
		"@@ -0,1 +1 @@\n-a\n+b\n",
		"@@ -1 +1 @@\n\\ No newline\n-a\n+b\n",
		"@@ -1 +1,2 @@\n-a\n+b\n\\ No newline\n+c\n",
		"@@ -1 +1 @@\n-a\n+b\n\\ No newline\n\\ No newline\n",
		"@@ -1 +1,2 @@\n a\n+\n\\ No newline\n",
		"@@ -0,0 +1 @@\n+b\n\\ No newline\n@@ -1 +2 @@\n-a\n+b\n",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
	};

	for (size_t i = 0; i < CV_LEN(bad); i++) {
		ck_assert_str_eq(patched("a\n", bad[i]), "invalid_argument");
		ck_assert_str_eq(fx.err.field, "patch");
	}
	ck_assert_str_eq(
		patched("a\n", "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n"),
		"not_supported");
	ck_assert_str_eq(patched("a\n", "diff --git a/x b/x\nnew file mode 120000\n"),
			 "not_supported");
}
END_TEST

/* A random text of few different lines, so that hunks have lookalikes. */
static size_t random_text(char *dst, unsigned *seed, int lines, bool crlf)
{
	size_t n = 0;

	for (int i = 0; i < lines; i++)
		n += (size_t)snprintf(dst + n, 64, "%s%d%s", rand_r(seed) % 9 ? "line " : "",
				      rand_r(seed) % 12, crlf ? "\r\n" : "\n");
	if (n > 0 && rand_r(seed) % 4 == 0)
		n--;
	dst[n] = '\0';
	return n;
}

/* Some lines changed, added or left out. */
static size_t change_text(char *dst, const char *src, unsigned *seed, int rate)
{
	size_t n = 0;

	while (*src) {
		size_t len = strcspn(src, "\n");

		len += src[len] == '\n';
		if (rand_r(seed) % rate == 0)
			n += (size_t)snprintf(dst + n, 64, "new %d\n", rand_r(seed) % 20);
		if (rand_r(seed) % rate != 0) {
			memcpy(dst + n, src, len);
			n += len;
		}
		src += len;
	}
	dst[n] = '\0';
	return n;
}

/* A patch goes where git apply puts it, on the very file and on one that has changed meanwhile. */
START_TEST(file_7_same_as_git_apply)
{
	unsigned seed = 20;
	int pairs = rounds(PAIRS);
	int accepted = 0;
	int both = 0;
	char script[512];

	sh("mkdir -p out/a out/b out/o out/p out/r");
	for (int i = 0; i < pairs; i++) {
		static char a[4096];
		static char b[8192];
		static char c[8192];
		char name[32];
		int lines = rand_r(&seed) % 4 ? rand_r(&seed) % 60 : rand_r(&seed) % 3;
		size_t n = random_text(a, &seed, lines, i % 5 == 4);
		size_t m = change_text(b, a, &seed, 8);
		size_t k = change_text(c, a, &seed, 20);

		snprintf(name, sizeof(name), "out/a/%d", i);
		put_bytes(name, a, n);
		snprintf(name, sizeof(name), "out/b/%d", i);
		put_bytes(name, b, m);
		snprintf(name, sizeof(name), "out/o/%d", i);
		put_bytes(name, i % 2 ? c : a, i % 2 ? k : n);
		snprintf(name, sizeof(name), "ws/%d", i);
		put_bytes(name, i % 2 ? c : a, i % 2 ? k : n);
	}
	snprintf(
		script, sizeof(script),
		"cd out; i=0; while [ $i -lt %d ]; do "
		"if [ $((i %% 3)) = 0 ]; then git diff --no-index --no-prefix a/$i b/$i; else diff -u a/$i b/$i; fi >p/$i; "
		"if [ -s p/$i ]; then (cd o && git apply ../p/$i 2>/dev/null; echo $? >../r/$i); fi; "
		"i=$((i + 1)); done",
		pairs);
	sh(script);
	for (int i = 0; i < pairs; i++) {
		CV_FREE char *patch = NULL;
		CV_FREE char *want = NULL;
		char name[32];
		bool git_did;
		size_t len;
		int rc;

		snprintf(name, sizeof(name), "out/p/%d", i);
		ck_assert_int_eq(cv_read_file(AT_FDCWD, at(name), 1 << 20, &patch, &len), 0);
		if (len == 0)
			continue;
		snprintf(name, sizeof(name), "out/r/%d", i);
		git_did = get(name)[0] == '0';
		snprintf(name, sizeof(name), "%d", i);
		rc = do_patch(name, patch);
		ck_assert_msg(rc == 0 || rc == COVE_E_CONFLICT, "%d: %s", i, fx.err.message);
		ck_assert_msg(i % 2 || (rc == 0 && git_did), "%d: %s", i, fx.err.message);
		accepted += rc == 0;
		if (rc < 0 || !git_did)
			continue;
		both++;
		snprintf(name, sizeof(name), "out/o/%d", i);
		ck_assert_int_eq(cv_read_file(AT_FDCWD, at(name), 1 << 20, &want, &len), 0);
		snprintf(name, sizeof(name), "ws/%d", i);
		ck_assert_msg(strcmp(get(name), want) == 0, "%d: is\n%s\nnot\n%s\npatch\n%s", i,
			      fx.content, want, patch);
	}
	ck_assert_int_gt(accepted, pairs / 3);
	ck_assert_int_gt(both, pairs / 3);
}
END_TEST

/* git diff of two commits, on a tree that is the first: the tree is then the second. */
START_TEST(file_7_whole_trees)
{
	CV_FREE char *patch = NULL;
	size_t len;

	sh("cd out && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 && git init -q . && git config user.email a@b && "
	   "git config user.name n && mkdir -p d/e && seq 50 >keep && seq 30 >d/e/mod && seq 40 >moved && "
	   "seq 60 80 >renamed && echo x >'sp ace' && printf 'a\\r\\nb\\r\\n' >crlf && : >empty && echo gone >gone && "
	   "echo s >script && echo t >t && chmod +x t && echo ü >'ü\"' && git add . && git commit -qm 1 && "
	   "cp -r keep d moved renamed 'sp ace' crlf empty gone script t 'ü\"' ../ws && "
	   "sed -i 's/^7$/seven/; s/^23$//' d/e/mod && mkdir new && git mv moved new/place && "
	   "git mv renamed other && sed -i s/70/seventy/ other && echo y >>'sp ace' && "
	   "printf 'a\\r\\nc\\r\\n' >crlf && git rm -q empty gone && : >empty2 && printf 'no nl' >new/file && "
	   "chmod +x script && chmod -x t && echo ö >>'ü\"' && cp /bin/true x && rm x && "
	   "git add . && git diff --cached -M >../p && rm -rf .git");
	ck_assert_int_eq(cv_read_file(AT_FDCWD, at("p"), 1 << 20, &patch, &len), 0);
	ck_assert_msg(do_patch(".", patch) == 0, "%s\n%s", fx.err.message, patch);
	sh("diff -r ws out && [ -x ws/script ] && [ ! -x ws/t ]");
	ck_assert_uint_ge(done.file_count, 11);
	ck_assert_int_lt(do_patch(".", patch), 0);
	sh("diff -r ws out");
}
END_TEST

START_TEST(file_7_all_files_or_none) /* CASE-65 */
{
	const char *patch = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-1\n+I\n"
			    "--- /dev/null\n+++ b/sub/two\n@@ -0,0 +1 @@\n+II\n"
			    "--- a/three\n+++ b/three\n@@ -1 +1 @@\n-3\n+III\n";

	put("ws/one", "1\n");
	put("ws/three", "THREE\n");
	ck_assert_int_eq(do_patch(".", patch), COVE_E_CONFLICT);
	ck_assert_str_eq(fx.err.path, "three");
	ck_assert_str_eq(get("ws/one"), "1\n");
	ck_assert_int_eq(count_entries("ws"), 2);
	put("ws/three", "3\n");
	ck_assert_int_eq(do_patch(fx.ws, patch), 0);
	ck_assert_str_eq(get("ws/one"), "I\n");
	ck_assert_str_eq(get("ws/sub/two"), "II\n");
	ck_assert_str_eq(get("ws/three"), "III\n");
	ck_assert_int_eq(done.files[1].status, COVE_PATCHED_ADDED);
	ck_assert_int_eq(do_patch("sub", "--- a/../one\n+++ b/../one\n@@ -1 +1 @@\n-I\n+1\n"),
			 COVE_E_INVALID_ARGUMENT);
	put("out/f", "x\n");
	make_link("../out", "ws/way");
	ck_assert_int_eq(do_patch(".", "--- a/way/f\n+++ b/way/f\n@@ -1 +1 @@\n-x\n+y\n"),
			 COVE_E_PERMISSION_DENIED);
	ck_assert_str_eq(get("out/f"), "x\n");
}
END_TEST

START_TEST(file_7_adding_and_deleting_one)
{
	ck_assert_int_eq(do_patch("n/f", "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n"), 0);
	ck_assert_str_eq(get("ws/n/f"), "x\n");
	ck_assert_int_eq(do_patch("n/f", "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n"),
			 COVE_E_ALREADY_EXISTS);
	ck_assert_int_eq(do_patch("n/f", "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"),
			 COVE_E_CONFLICT);
	ck_assert_int_eq(do_patch("n/f", "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), 0);
	ck_assert_int_eq(done.files[0].status, COVE_PATCHED_DELETED);
	ck_assert(!is_there("ws/n/f"));
	ck_assert_int_eq(do_patch("n/f", "@@ -1 +1 @@\n-x\n+y\n"), COVE_E_NOT_FOUND);
	ck_assert_int_eq(count_entries("ws/n"), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		file_7_one_file,	  file_7_conflicts_say_which_hunk, file_7_line_endings,
		file_7_what_is_no_patch,  file_7_same_as_git_apply,	   file_7_whole_trees,
		file_7_all_files_or_none, file_7_adding_and_deleting_one,
	};

	return run_tests("patch", tests, CV_LEN(tests), 120);
}
