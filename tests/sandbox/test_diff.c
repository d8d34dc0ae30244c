/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was changed (SBX-3), with git as the judge: each patch turns a copy of the seed into what the
 * workspace holds, and the list is what `git diff --no-index` tells of the two.
 *
 * Trees are generated: scripts of random steps, the first on the host for the seed, the second inside.
 * Each is tried with an overlay, with a sandbox's copy, and with the provider `workspace`.
 */
#define PROVIDERS 3
#include "conformance/fixture.h"
#include "sandbox/host.h"

#define ROUNDS 35
#define STEPS 24

static const char *const providers_of[] = {"sandbox", "sandbox", "workspace"};
static char seed[PATH_MAX + 16];
static unsigned long long state;

static unsigned pick(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

static void open_as(int mode)
{
	char root[PATH_MAX + 8];
	const char *options[] = {root, mode == 1 ? "seed=copy" : NULL, NULL};

	snprintf(root, sizeof(root), "root=%s/root", test_dir);
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_open(COVE_OPTS(cove_env_opts, .provider = providers_of[mode],
					      .seed = seed, .retain = COVE_RETAIN_NEVER,
					      .options = options),
				    &env, &err) == 0,
		      "open: %s", err.message);
}

static void setup_seed(void)
{
	setup_dir();
	snprintf(seed, sizeof(seed), "%s/seed", test_dir);
	ck_assert_int_eq(mkdir(seed, 0755), 0);
}

static void close_env(void)
{
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) == 0, "%s", err.message);
	env = NULL;
}

static struct cove_env_diff_result *diff(int format)
{
	struct cove_env_diff_result *d = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_env_diff(env, COVE_OPTS(cove_env_diff_opts, .format = format), &d, &err);
	ck_assert_msg(rc == 0, "diff: %s", err.message);
	return d;
}

/* A step of a script; names are few, so that steps meet each other's work. */
static const char *const names[] = {"a",       "b",	  "c d",       "e\\\"f", "\303\244",
				    "tab\\tx", "x\\nnew", "back\\\\s", "-dash",	 "\\377raw"};
static const char *const dirs[] = {".", "d", "d/e", "sp ace", "d/e/f"};

static int put_path(char *dst, size_t size)
{
	return snprintf(dst, size, "$'%s/%s'", dirs[pick(5)], names[pick(10)]);
}

static int put_lines(char *dst, size_t size)
{
	unsigned n = pick(40);
	int len = snprintf(dst, size, "printf '");

	for (unsigned i = 0; i < n; i++)
		len += snprintf(dst + len, size - (size_t)len, "line %u\\n", pick(60));
	len += snprintf(dst + len, size - (size_t)len, "%s'", pick(4) ? "" : "no end");
	return len;
}

/* Whatever is in the way of a step may make it fail; the next one goes on. */
static void put_step(FILE *f)
{
	static char lines[4096];
	char a[128];
	char b[128];
	const char *dir = dirs[1 + pick(4)];

	put_path(a, sizeof(a));
	put_path(b, sizeof(b));
	put_lines(lines, sizeof(lines));
	switch (pick(18)) {
	case 0:
	case 1:
	case 2:
	case 3:
		fprintf(f, "mkdir -p \"$(dirname -- %s)x\" '%s'; %s > %s\n", a, dir, lines, a);
		break;
	case 4:
		fprintf(f, "printf 'more\\nlines\\n' >> %s\n", a);
		break;
	case 5:
	case 6:
		fprintf(f, "[ -L %s ] || sed -i '%u s/$/!/; %u d; %u i new' -- %s\n", a,
			1 + pick(20), 1 + pick(30), 1 + pick(25), a);
		break;
	case 7:
		fprintf(f, "rm -rf -- %s\n", a);
		break;
	case 8:
		fprintf(f, "rm -rf '%s'\n", dir);
		break;
	case 9:
		fprintf(f, "rm -rf '%s'; mkdir -p '%s'; %s > '%s/fresh'\n", dir, dir, lines, dir);
		break;
	case 10:
		fprintf(f, "mv -fT -- %s %s\n", a, b);
		break;
	case 11:
		fprintf(f, "mv -T '%s' '%s'\n", dir, dirs[1 + pick(4)]);
		break;
	case 12:
		fprintf(f, "[ -L %s ] || chmod %s -- %s\n", a, pick(2) ? "755" : "644", a);
		break;
	case 13:
		fprintf(f, "rm -rf -- %s; ln -s %s %s\n", a, b, a);
		break;
	case 14:
		fprintf(f, "rm -rf -- %s; mkdir -p %s; %s > %s/in\n", a, a, lines, a);
		break;
	case 15:
		fprintf(f, "rm -rf -- %s; : > %s\n", a, a);
		break;
	case 16:
		fprintf(f, "printf 'bin\\000%u\\001\\377' > %s; head -c %u /dev/urandom >> %s\n",
			pick(9), a, pick(300), a);
		break;
	default:
		fprintf(f, "printf 'dos\\r\\nlines %u\\r\\n' > %s\n", pick(9), a);
	}
}

static char *script(void)
{
	static char text[1 << 18];
	FILE *f = fmemopen(text, sizeof(text), "w");

	fprintf(f, "exec 2>/dev/null; umask 022; shopt -u globstar; mkdir -p d/e/f 'sp ace'\n");
	for (int i = 0; i < STEPS; i++)
		put_step(f);
	fprintf(f, "true\n");
	fclose(f);
	return text;
}

#define HASH                                                                                       \
	"find . ! -type d -print0 | LC_ALL=C sort -z | tar -c --null -T - --no-recursion "         \
	"--hard-dereference --mode=go=,u+rw --owner=0 --group=0 --mtime=@0 2>&1 | sha256sum"

static void put_file(const char *name, const char *data, size_t len)
{
	char path[PATH_MAX + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", test_dir, name);
	f = fopen(path, "w");
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	fclose(f);
}

static char *host_output(const char *command)
{
	static char text[1 << 16];
	FILE *f = popen(command, "r");
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	text[n] = '\0';
	pclose(f);
	return text;
}

/* The patch makes the seed's copy what the workspace is. */
static void check_patch(const struct cove_env_diff_result *d, unsigned long long number)
{
	struct cove_exec_result *r;
	char command[PATH_MAX + 400];

	put_file("patch", d->data.data, d->data.len);
	ck_assert_int_eq(host("cd '%s' && rm -rf ref && cp -a seed ref", test_dir), 0);
	if (d->data.len > 0)
		ck_assert_msg(host("cd '%s/ref' && GIT_CEILING_DIRECTORIES='%s' git apply "
				   "--whitespace=nowarn ../patch",
				   test_dir, test_dir) == 0,
			      "tree %llu in %s", number, test_dir);
	snprintf(command, sizeof(command), "cd '%s/ref' && " HASH, test_dir);
	r = sh(HASH);
	ck_assert_msg(strcmp(r->out.text, host_output(command)) == 0, "tree %llu in %s", number,
		      test_dir);
	cove_exec_result_free(r);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each line: what git calls it, and the path. What a name is in a list must be UTF-8. */
static size_t as_git(const struct cove_env_diff_result *d, char **list)
{
	static const char letters[] = "?AMDMM?";
	size_t n = 0;

	for (size_t i = 0; i < d->change_count; i++) {
		const struct cove_env_change *c = &d->changes[i];

		if (c->left_out || strstr(c->path, "raw"))
			continue;
		if (n > 0 && c->change == COVE_DIFF_ADDED && list[n - 1][0] == 'D' &&
		    strcmp(list[n - 1] + 2, c->path) == 0) {
			list[n - 1][0] = 'T';
			continue;
		}
		ck_assert_int_ge(asprintf(&list[n++], "%c %s", letters[c->change], c->path), 0);
	}
	qsort(list, n, sizeof(*list), by_text);
	return n;
}

static void check_list(const struct cove_env_diff_result *d, unsigned long long number)
{
	static char *ours[4096];
	char command[PATH_MAX + 200];
	char *said;
	char *theirs[4096];
	size_t n = as_git(d, ours);
	size_t m = 0;

	snprintf(command, sizeof(command),
		 "cd '%s' && git diff --no-index --no-renames --name-status -z seed ref | "
		 "tr '\\0\\n' '\\n\\001'",
		 test_dir);
	said = host_output(command);
	for (char *status = strtok_r(said, "\n", &said); status;
	     status = strtok_r(NULL, "\n", &said)) {
		char *path = strtok_r(NULL, "\n", &said);

		if (strstr(path, "raw"))
			continue;
		for (char *p = path; *p; p++)
			if (*p == '\001')
				*p = '\n';
		ck_assert_int_ge(asprintf(&theirs[m++], "%c %s", status[0], strchr(path, '/') + 1),
				 0);
	}
	qsort(theirs, m, sizeof(*theirs), by_text);
	for (size_t i = 0; i < n || i < m; i++)
		ck_assert_msg(i < n && i < m && strcmp(ours[i], theirs[i]) == 0,
			      "tree %llu in %s: '%s' for git's '%s'", number, test_dir,
			      i < n ? ours[i] : "", i < m ? theirs[i] : "");
	while (n > 0)
		free(ours[--n]);
	while (m > 0)
		free(theirs[--m]);
}

static void try_tree(int mode, unsigned long long number)
{
	struct cove_env_diff_result *d;

	state = number * 977 + 13;
	ck_assert_int_eq(host("cd '%s' && rm -rf seed && mkdir seed && cd seed && %s", test_dir,
			      script()),
			 0);
	open_as(mode);
	cove_exec_result_free(sh(script()));
	d = diff(COVE_DIFF_PATCH);
	check_patch(d, number);
	check_list(d, number);
	cove_result_free(d);
	close_env();
}

START_TEST(sbx_3_patches_of_generated_trees)
{
	const char *rounds = getenv("COVE_ROUNDS");
	int n = ROUNDS * (rounds ? atoi(rounds) : 1);

	setup_seed();
	for (int i = 0; i < n; i++)
		try_tree(_i, (unsigned long long)i);
	teardown_dir();
}
END_TEST

static const struct cove_env_change *find(const struct cove_env_diff_result *d, const char *path)
{
	for (size_t i = 0; i < d->change_count; i++)
		if (strcmp(d->changes[i].path, path) == 0)
			return &d->changes[i];
	return NULL;
}

static void expect(const struct cove_env_diff_result *d, const char *path, int change, int kind)
{
	const struct cove_env_change *c = find(d, path);

	ck_assert_msg(c, "no change of '%s'", path);
	ck_assert_msg(c->change == change && c->kind == kind, "'%s': %d of %d", path, c->change,
		      c->kind);
}

START_TEST(sbx_3_kinds_of_changes)
{
	struct cove_env_diff_result *d;

	setup_seed();
	ck_assert_int_eq(host("cd '%s' && echo 1 >same && echo 1 >mod && echo 1 >gone && "
			      "echo 1 >mode && ln -s a link && mkdir dir old && echo 1 >old/f && "
			      "echo 1 >type && ln -s x kept",
			      seed),
			 0);
	open_as(_i);
	d = diff(COVE_DIFF_LIST);
	ck_assert_uint_eq(d->change_count, 0);
	cove_result_free(d);
	cove_exec_result_free(
		sh("echo 2 >mod; rm gone; chmod 600 mode; ln -sfn b link; chmod 700 dir; rm -r old;"
		   "mkdir new; echo 1 >new/f; mkfifo pipe; rm type; ln -s t type; touch same;"
		   "mkdir .git; echo 1 >.git/index; chmod 755 same"));
	d = diff(COVE_DIFF_PATCH);
	expect(d, "mod", COVE_DIFF_MODIFIED, COVE_KIND_FILE);
	expect(d, "gone", COVE_DIFF_DELETED, COVE_KIND_FILE);
	expect(d, "mode", COVE_DIFF_MODE, COVE_KIND_FILE);
	expect(d, "same", COVE_DIFF_MODE, COVE_KIND_FILE);
	expect(d, "link", COVE_DIFF_LINK, COVE_KIND_SYMLINK);
	expect(d, "dir", COVE_DIFF_MODE, COVE_KIND_DIRECTORY);
	expect(d, "old", COVE_DIFF_DELETED, COVE_KIND_DIRECTORY);
	expect(d, "old/f", COVE_DIFF_DELETED, COVE_KIND_FILE);
	expect(d, "new", COVE_DIFF_ADDED, COVE_KIND_DIRECTORY);
	expect(d, "new/f", COVE_DIFF_ADDED, COVE_KIND_FILE);
	expect(d, "pipe", COVE_DIFF_ADDED, COVE_KIND_OTHER);
	expect(d, "type", COVE_DIFF_DELETED, COVE_KIND_FILE);
	ck_assert_str_eq(find(d, "link")->link_target, "b");
	ck_assert(find(d, "mode")->left_out && !find(d, "same")->left_out);
	ck_assert(find(d, "pipe")->left_out && find(d, "new")->left_out);
	ck_assert(find(d, ".git/index")->left_out);
	ck_assert_ptr_null(find(d, "kept"));
	ck_assert_uint_eq(d->change_count, 15);
	cove_result_free(d);
	close_env();
	teardown_dir();
}
END_TEST

START_TEST(sbx_3_own_scratch_is_left_out)
{
	struct cove_file_path_result *temp = NULL;
	struct cove_env_diff_result *d;

	setup_seed();
	open_as(_i);
	ck_assert_int_eq(cove_file_make_temp(env, COVE_OPTS(cove_file_make_temp_opts), &temp, &err),
			 0);
	d = diff(COVE_DIFF_LIST);
	ck_assert_uint_eq(d->change_count, 0);
	cove_result_free(d);
	cove_result_free(temp);
	close_env();
	teardown_dir();
}
END_TEST

START_TEST(sbx_3_what_cant_be_read_is_listed)
{
	struct cove_env_diff_result *d;

	setup_seed();
	ck_assert_int_eq(host("cd '%s' && echo 1 >f && mkdir dir && echo 1 >dir/g", seed), 0);
	open_as(_i);
	cove_exec_result_free(sh("echo 2 >f; chmod 0 f; chmod 0 dir; echo 3 >h"));
	d = diff(COVE_DIFF_PATCH);
	expect(d, "h", COVE_DIFF_ADDED, COVE_KIND_FILE);
	ck_assert_ptr_nonnull(find(d, "f"));
	if (geteuid() != 0 || _i != 2) { /* root reads it all the same */
		expect(d, "f", COVE_DIFF_UNREADABLE, COVE_KIND_FILE);
		ck_assert(find(d, "f")->left_out);
	}
	ck_assert_ptr_nonnull(memmem(d->data.data, d->data.len, "+3\n", 3));
	cove_result_free(d);
	close_env();
	teardown_dir();
}
END_TEST

START_TEST(sbx_3_limits)
{
	struct cove_env_diff_result *d = NULL;
	struct cove_env *bound = NULL;

	setup_seed();
	open_as(_i);
	cove_exec_result_free(sh("seq 1 10000 >f"));
	ck_assert_int_eq(cove_env_diff(env,
				       COVE_OPTS(cove_env_diff_opts, .format = COVE_DIFF_PATCH,
						 .max_bytes = 1000),
				       &d, &err),
			 COVE_E_TOO_LARGE);
	ck_assert_str_eq(err.path, "f");
	close_env();
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts,
						 .provider = _i == 2 ? "here" : "sandbox",
						 .dir = seed),
				       &bound, &err),
			 0);
	ck_assert_int_eq(cove_env_diff(bound, COVE_OPTS(cove_env_diff_opts), &d, &err),
			 COVE_E_NOT_SUPPORTED);
	ck_assert_ptr_null(d);
	cove_env_close(bound, COVE_OUTCOME_SUCCESS, NULL);
	teardown_dir();
}
END_TEST

/* What files change meanwhile is seen or not; the answer comes in any case. */
START_TEST(sbx_3_while_files_change)
{
	struct cove_env_diff_result *d;
	const char *process;

	setup_seed();
	ck_assert_int_eq(host("cd '%s' && for i in $(seq 50); do echo $i >f$i; done", seed), 0);
	open_as(_i);
	process = start_opts(COVE_OPTS(
		cove_exec_opts,
		.script =
			"while :; do for i in 1 2 3 4 5; do rm -rf d; mkdir d; seq 1 $RANDOM >d/f;"
			"rm -f f$i; ln -s x f$i; rm f$i; mkdir f$i; rmdir f$i; seq 9 >f$i; done; done"));
	for (int i = 0; i < 200; i++) {
		d = diff(i % 2 ? COVE_DIFF_PATCH : COVE_DIFF_LIST);
		cove_result_free(d);
	}
	ck_assert_int_eq(cove_process_kill(env,
					   COVE_OPTS(cove_process_kill_opts, .process = process),
					   NULL, &err),
			 0);
	close_env();
	teardown_dir();
}
END_TEST

static const TTest **const tests[] = {
	&sbx_3_patches_of_generated_trees,  &sbx_3_kinds_of_changes, &sbx_3_own_scratch_is_left_out,
	&sbx_3_what_cant_be_read_is_listed, &sbx_3_limits,	     &sbx_3_while_files_change,
};

MAIN("sandbox/diff")
