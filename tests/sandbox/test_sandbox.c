/* SPDX-License-Identifier: Apache-2.0 */
/* What a sandbox holds: workspace, seed, policy, variables, and what is refused. */
#include "sandbox/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static char seed[PATH_MAX + 8];

static void setup_seed(void)
{
	setup_dir();
	snprintf(seed, sizeof(seed), "%s/seed", test_dir);
	ck_assert_int_eq(
		host("mkdir -p '%s/sub/deep' && cd '%s' && echo one > a && echo two > sub/b && "
		     "ln -s a link && chmod 755 a && echo three > sub/deep/c",
		     seed, seed),
		0);
}

static char *hash_of(const char *dir)
{
	static char text[2][128];
	static int turn;
	char command[2 * PATH_MAX];
	FILE *f;

	turn = !turn;
	snprintf(
		command, sizeof(command),
		"cd '%s' && find . -printf '%%P %%m %%y %%l\\n' -type f -exec cat {} + | sort | sha256sum",
		dir);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(text[turn], sizeof(text[turn]), f));
	pclose(f);
	return text[turn];
}

static const char *isolation(const char *mechanism)
{
	static char state[64];
	struct cove_env_describe_result *d = NULL;

	state[0] = '\0';
	ck_assert_int_eq(cove_env_describe(env, &d, &err), 0);
	for (const char *const *i = d->isolation; *i; i++)
		if (strncmp(*i, mechanism, strlen(mechanism)) == 0 &&
		    (*i)[strlen(mechanism)] == '=')
			snprintf(state, sizeof(state), "%s", *i + strlen(mechanism) + 1);
	cove_result_free(d);
	return state;
}

START_TEST(sbx_2_the_seed_is_never_changed)
{
	char before[128];

	setup_seed();
	snprintf(before, sizeof(before), "%s", hash_of(seed));
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed));
	expect_out(
		"cat a sub/b link; echo more >> a; rm sub/b; mkdir new; mv sub/deep/c new/; "
		"chmod 600 a; rm -r sub/deep; mkdir sub/deep; ls sub/deep | wc -l; ln -sf b link; "
		"cat a new/c; stat -c '%a %U' a",
		"one\ntwo\none\n0\none\nmore\nthree\n600 agent\n");
	ck_assert_str_eq(isolation("overlay"), "active");
	ck_assert_str_eq(before, hash_of(seed));
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_str_eq(before, hash_of(seed));
	teardown_dir();
}
END_TEST

START_TEST(sbx_2_a_true_copy)
{
	const char *options[] = {"seed=copy", NULL};

	setup_seed();
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed, .options = options));
	expect_out("cat a; stat -c %a a; readlink link; echo x > a; rm -r sub; ls",
		   "one\n755\na\na\nlink\n");
	ck_assert_str_eq(isolation("overlay"), "inactive");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(host("test -f '%s/sub/b' && grep -qx one '%s/a'", seed, seed), 0);
	teardown_dir();
}
END_TEST

/* Makes one system call fail for this process and what it starts, as a security profile would. */
static void forbid(int number, unsigned arg, unsigned bits, unsigned errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * arg),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST(sbx_2_where_there_is_no_overlay)
{
	setup_seed();
	forbid(__NR_mknodat, 2, S_IFCHR, EPERM);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed));
	expect_out("cat a sub/b; echo x > a", "one\ntwo\n");
	ck_assert_str_eq(isolation("overlay"), "degraded");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(host("grep -qx one '%s/a'", seed), 0);
	teardown_dir();
}
END_TEST

/* CASE-92: refused, with the knob's name, and nothing is left. */
START_TEST(sbx_7_no_user_namespaces)
{
	setup_dir();
	forbid(__NR_clone, 0, CLONE_NEWUSER, EPERM);
	begin_sandbox(NULL);
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_ISOLATION_FAILED);
	ck_assert_ptr_nonnull(strstr(err.message, "namespaces"));
	ck_assert_ptr_nonnull(strstr(err.hint, "seccomp=unconfined"));
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_ISOLATION_FAILED);
	end();
}
END_TEST

START_TEST(sbx_7_no_mounts)
{
	setup_dir();
	forbid(__NR_move_mount, 4, MOVE_MOUNT_F_EMPTY_PATH, EPERM);
	begin_sandbox(NULL);
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_ISOLATION_FAILED);
	ck_assert_ptr_nonnull(strstr(err.message, "mounts"));
	end();
}
END_TEST

START_TEST(sbx_2_a_seed_of_somebody_else)
{
	struct stat st;

	if (geteuid() != 0) {
		/* /etc is always somebody else's. */
		setup_dir();
		begin_sandbox(COVE_OPTS(cove_env_opts, .seed = "/usr/share/doc"));
		expect_out(
			"test -d . && ls | head -1 | wc -l; (echo x > copyright.new) && cat copyright.new",
			"1\nx\n");
		end();
		return;
	}
	setup_seed();
	ck_assert_int_eq(host("chown -R 65534:65534 '%s' && chmod 755 '%s'", seed, test_dir), 0);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed));
	expect_out("cat a; (echo x >> a) 2>/dev/null || echo 'not mine'; git init -q /tmp/r && "
		   "cd /tmp/r && git status -sb | head -1",
		   "one\nnot mine\n## No commits yet on master\n");
	end();
	ck_assert_int_ne(stat(seed, &st), 0);
}
END_TEST

START_TEST(sbx_2_git_in_a_seed_of_somebody_else)
{
	setup_seed();
	ck_assert_int_eq(
		host("cd '%s' && git init -q . && git add . && git -c user.name=n -c "
		     "user.email=e commit -qm first && { [ $(id -u) != 0 ] || chown -R 65534 .; }",
		     seed),
		0);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed));
	expect_out("git log --format=%s; git status --short", "first\n");
	end();
}
END_TEST

static void keep(int retain, int outcome, bool with_seed, bool want)
{
	char root[PATH_MAX + 16];
	const char *options[] = {root, NULL};

	snprintf(root, sizeof(root), "root=%s/runs", test_dir);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = with_seed ? seed : NULL, .options = options,
				.job_id = "j", .run_id = "r", .retain = retain));
	cove_exec_result_free(
		sh("echo made > made; rm -f a; mkdir -p sub/deep; rm -rf sub/deep; "
		   "mkdir sub/deep; echo x > sub/deep/new; echo more >> sub/b; ln -s a l2"));
	ck_assert_int_eq(cove_env_close(env, outcome, &err), 0);
	snprintf(root, sizeof(root), "%s/runs/j/r", test_dir);
	if (!want) {
		ck_assert_int_ne(access(root, F_OK), 0);
		ck_assert_int_eq(host("[ -z \"$(find '%s/runs' -mindepth 1)\" ]", test_dir), 0);
		return;
	}
	ck_assert_int_eq(host("cd '%s' && grep -qx made made && [ ! -e a ] && [ -L l2 ] && "
			      "[ \"$(ls sub/deep)\" = new ] && [ $(tail -n 1 sub/b) = more ] && "
			      "[ \"$(ls ..)\" = r ]",
			      root),
			 0);
	if (with_seed)
		ck_assert_int_eq(host("cd '%s' && [ $(head -n 1 sub/b) = two ]", root), 0);
	ck_assert_int_eq(host("rm -r '%s/runs/j'", test_dir), 0);
}

START_TEST(job_6_a_kept_workspace_is_a_plain_directory) /* SBX-2, JOB-6 */
{
	setup_seed();
	for (int with_seed = 0; with_seed < 2; with_seed++) {
		keep(COVE_RETAIN_FAILURE, COVE_OUTCOME_FAILURE, with_seed, true);
		keep(COVE_RETAIN_FAILURE, COVE_OUTCOME_SUCCESS, with_seed, false);
		keep(COVE_RETAIN_ALWAYS, COVE_OUTCOME_SUCCESS, with_seed, true);
		keep(COVE_RETAIN_ABORTED, COVE_OUTCOME_ABORTED, with_seed, true);
		keep(COVE_RETAIN_NEVER, COVE_OUTCOME_FAILURE, with_seed, false);
	}
	teardown_dir();
}
END_TEST

/* What even its owner may not read is kept as it is. */
START_TEST(job_6_kept_whatever_the_modes)
{
	char root[PATH_MAX + 16];
	const char *options[] = {root, NULL};

	setup_seed();
	snprintf(root, sizeof(root), "root=%s/runs", test_dir);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed, .options = options, .job_id = "j",
				.run_id = "r", .retain = COVE_RETAIN_ALWAYS));
	cove_exec_result_free(sh("mkdir -p d/e; echo x > d/e/f; chmod 0 d/e/f d/e d; echo y > g; "
				 "chmod 0 g; chmod 0 ."));
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_msg(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) == 0, "%s", err.message);
	ck_assert_int_eq(
		host("cd '%s/runs/j' && [ \"$(stat -c %%a r)\" = 0 ] && chmod 700 r && cd r && "
		     "[ \"$(stat -c %%a d)$(stat -c %%a g)\" = 00 ] && chmod 700 d && "
		     "chmod 700 d/e && chmod 600 d/e/f g && [ $(cat d/e/f)$(cat g) = xy ]",
		     test_dir),
		0);
	teardown_dir();
}
END_TEST

/* The guest is dead, and what the run wrote is kept all the same. */
START_TEST(job_6_kept_after_the_guest_died)
{
	char root[PATH_MAX + 16];
	const char *options[] = {root, NULL};

	setup_seed();
	snprintf(root, sizeof(root), "root=%s/runs", test_dir);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed, .options = options, .job_id = "j",
				.run_id = "r", .retain = COVE_RETAIN_ABORTED));
	cove_exec_result_free(sh("echo made > made; rm a"));
	ck_assert_int_eq(kill(guest_pid(), SIGKILL), 0);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_ABORTED, &err), 0);
	ck_assert_int_eq(
		host("cd '%s/runs/j/r' && grep -qx made made && [ ! -e a ] && [ -e sub/b ]",
		     test_dir),
		0);
	teardown_dir();
}
END_TEST

START_TEST(sbx_1_a_bound_directory)
{
	setup_seed();
	begin_sandbox(COVE_OPTS(cove_env_opts, .dir = seed));
	expect_out("cat a; echo new > made; pwd", "one\n/workspace\n");
	end();
	ck_assert_int_ne(access(seed, F_OK), 0);
}
END_TEST

START_TEST(sbx_1_read_only) /* CASE-79 */
{
	const char *options[] = {"access=ro", NULL};

	setup_seed();
	begin_sandbox(COVE_OPTS(cove_env_opts, .dir = seed, .options = options));
	expect_out("cat a; (echo x > made) 2>/dev/null || echo no; echo t > /tmp/t && cat /tmp/t",
		   "one\nno\nt\n");
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_file_write_text(env,
					      COVE_OPTS(cove_file_write_opts, .path = "made",
							.data = {.data = "x", .len = 1},
							.mode = COVE_WRITE_UPSERT),
					      NULL, &err),
			 COVE_E_READ_ONLY);
	ck_assert_int_eq(cove_file_remove(env, COVE_OPTS(cove_file_remove_opts, .path = "a"), NULL,
					  &err),
			 COVE_E_READ_ONLY);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(host("[ ! -e '%s/made' ] && [ -e '%s/a' ]", seed, seed), 0);
	teardown_dir();
}
END_TEST

START_TEST(sbx_1_policy)
{
	char data[PATH_MAX + 16];
	const char *masked[] = {"/usr/share/doc", "/etc/services", NULL};
	const char *variables[] = {"COVE_TEST_A", "COVE_TEST_MISSING", NULL};
	struct cove_sandbox_mount mounts[] = {
		{.source = seed, .target = "/data"},
		{.source = data, .target = "/writable", .rw = true},
		{.target = "/cache", .tmpfs_bytes = 1 << 20},
		{.target = "/cache/inner", .tmpfs_bytes = 1 << 20},
		{.source = seed, .target = "/home/agent/project"},
	};
	struct cove_sandbox_policy policy = {
		.size = sizeof(policy),
		.mounts = mounts,
		.mount_count = 5,
		.masked = masked,
		.env = variables,
		.hostname = "box-7",
		.uid = 4711,
	};

	setup_seed();
	snprintf(data, sizeof(data), "%s/data", test_dir);
	ck_assert_int_eq(mkdir(data, 0755), 0);
	setenv("COVE_TEST_A", "a value", 1);
	setenv("COVE_TEST_B", "hidden", 1);
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy));
	expect_out(
		"cat /data/a /home/agent/project/sub/b; (echo x > /data/x) 2>/dev/null || echo ro; "
		"echo out > /writable/out; echo c > /cache/c; echo d > /cache/inner/d; "
		"ls /usr/share/doc | wc -l; wc -c < /etc/services; hostname; id -u; "
		"echo $COVE_TEST_A${COVE_TEST_B-none}; "
		"head -c 2000000 /dev/zero > /cache/big 2>/dev/null || echo full",
		"one\ntwo\nro\n0\n0\nbox-7\n4711\na valuenone\nfull\n");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(host("grep -qx out '%s/out'", data), 0);
	teardown_dir();
}
END_TEST

START_TEST(sbx_1_another_root)
{
	char root[PATH_MAX + 16];
	struct cove_sandbox_policy policy = {.size = sizeof(policy), .rootfs = root};

	setup_dir();
	snprintf(root, sizeof(root), "%s/image", test_dir);
	ck_assert_int_eq(
		host("mkdir -p '%s/bin' '%s/etc' '%s/opt/tool' && cp /bin/bash /bin/cat '%s/bin/' && "
		     "ln -s bash '%s/bin/sh' && echo image > '%s/etc/issue' && "
		     "ldd /bin/bash /bin/cat | grep -o '/[^ ]*' | grep -v ':$' | sort -u | "
		     "while read l; do mkdir -p '%s'/$(dirname $l); cp -n $l '%s'/$l; done",
		     root, root, root, root, root, root, root, root),
		0);
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy));
	expect_out(
		"cat /etc/issue; pwd; echo $(echo /*)",
		"image\n/workspace\n/attempts /bin /dev /etc /home /lib /lib64 /opt /proc /run /tmp /var /workspace\n");
	end();
}
END_TEST

static void refused_policy(const struct cove_sandbox_policy *policy, int code, const char *field)
{
	struct cove_env *e = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .policy = policy), &e,
			   &err);
	ck_assert_msg(rc == code, "%s: %s, not %s: %s", field, cove_code_name(rc),
		      cove_code_name(code), err.message);
	ck_assert_str_eq(err.field, field);
	ck_assert_ptr_null(e);
}

static void refused_mounts(struct cove_sandbox_mount first, struct cove_sandbox_mount second,
			   int code, const char *field)
{
	struct cove_sandbox_mount mounts[] = {first, second};

	refused_policy(&(struct cove_sandbox_policy){.size = sizeof(struct cove_sandbox_policy),
						     .mounts = mounts,
						     .mount_count = second.target ? 2 : 1},
		       code, field);
}

#define POLICY(...)                                                                                \
	(&(struct cove_sandbox_policy){.size = sizeof(struct cove_sandbox_policy), __VA_ARGS__})
#define MOUNT(...) ((struct cove_sandbox_mount){__VA_ARGS__})

START_TEST(sbx_7_bad_policies) /* ERR-2, SBX-5 */
{
	static const char *const relative[] = {"usr", NULL};
	static const char *const valued[] = {"A=1", NULL};
	char link[PATH_MAX + 16];
	struct cove_sandbox_mount none = {0};

	setup_seed();
	snprintf(link, sizeof(link), "%s/link", test_dir);
	ck_assert_int_eq(symlink(seed, link), 0);
	refused_mounts(MOUNT(.source = "/no/such", .target = "/x"), none, COVE_E_NOT_FOUND,
		       "policy.mounts[0].source");
	refused_mounts(MOUNT(.source = link, .target = "/x"), none, COVE_E_INVALID_ARGUMENT,
		       "policy.mounts[0].source");
	refused_mounts(MOUNT(.source = "rel", .target = "/x"), none, COVE_E_INVALID_ARGUMENT,
		       "policy.mounts[0].source");
	refused_mounts(MOUNT(.source = "/dev/null", .target = "/x"), none, COVE_E_INVALID_ARGUMENT,
		       "policy.mounts[0].source");
	for (const char **t = (const char *[]){"/", "/proc", "/proc/sys", "/dev/shm", "/workspace",
					       "/workspace/x", "x", "/a/../b", "/a/", NULL};
	     *t; t++)
		refused_mounts(MOUNT(.source = "/usr", .target = *t), none, COVE_E_INVALID_ARGUMENT,
			       "policy.mounts[0].target");
	refused_mounts(MOUNT(.source = "/usr", .target = "/x"),
		       MOUNT(.source = "/usr", .target = "/x"), COVE_E_INVALID_ARGUMENT,
		       "policy.mounts[1].target");
	refused_mounts(MOUNT(.source = "/usr", .target = "/x/y"),
		       MOUNT(.source = "/usr", .target = "/x"), COVE_E_INVALID_ARGUMENT,
		       "policy.mounts[1].target");
	refused_policy(POLICY(.masked = relative), COVE_E_INVALID_ARGUMENT, "policy.masked");
	refused_policy(POLICY(.env = valued), COVE_E_INVALID_ARGUMENT, "policy.env");
	refused_policy(POLICY(.hostname = "a b"), COVE_E_INVALID_ARGUMENT, "policy.hostname");
	refused_policy(POLICY(.rootfs = "image"), COVE_E_INVALID_ARGUMENT, "policy.rootfs");
	teardown_dir();
}
END_TEST

static void refused_options(const char *option, int code, const char *says)
{
	const char *options[] = {option, NULL};
	struct cove_env *e = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(
		cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .options = options),
			      &e, &err),
		code);
	ck_assert_msg(strstr(err.message, says) != NULL, "'%s' says: %s", option, err.message);
}

START_TEST(sbx_7_bad_options) /* ERR-2 */
{
	char path[PATH_MAX + 32];
	char file[PATH_MAX + 16];
	struct cove_env *e = NULL;

	setup_seed();
	snprintf(file, sizeof(file), "%s/policy.json", test_dir);
	snprintf(path, sizeof(path), "policy=%s", file);
	refused_options(path, COVE_E_NOT_FOUND, "policy");
	ck_assert_int_eq(host("echo '{\"network\":\"none\",\"colour\":1}' > '%s'", file), 0);
	refused_options(path, COVE_E_INVALID_ARGUMENT, "colour");
	ck_assert_int_eq(host("echo '{\"limits\":{\"processes\":1}}' > '%s'", file), 0);
	refused_options(path, COVE_E_INVALID_ARGUMENT, "processes");
	ck_assert_int_eq(host("echo '{' > '%s'", file), 0);
	refused_options(path, COVE_E_INVALID_ARGUMENT, "JSON");
	refused_options("network=all", COVE_E_INVALID_ARGUMENT, "network");
	refused_options("seed=link", COVE_E_INVALID_ARGUMENT, "seed");
	refused_options("access=maybe", COVE_E_INVALID_ARGUMENT, "access");
	ck_assert_int_eq(cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = seed,
						 .dir = seed),
				       &e, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(
		cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = "rel"), &e,
			      &err),
		COVE_E_INVALID_ARGUMENT);
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = "/no/such/seed"));
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.field, "seed");
	end();
}
END_TEST

START_TEST(sbx_4_network) /* SBX-4 */
{
	const char *options[] = {"network=host", NULL};

	setup_dir();
	begin_sandbox(NULL);
	ck_assert_str_eq(isolation("network_namespace"), "active");
	/* CASE-88: a server and its client, both inside. */
	expect_out("python3 -c 'import socket,threading\n"
		   "s=socket.create_server((\"127.0.0.1\",0))\n"
		   "threading.Thread(target=lambda:s.accept()[0].sendall(b\"served\")).start()\n"
		   "print(socket.create_connection(s.getsockname()).recv(9).decode())'",
		   "served\n");
	expect_out("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n");
	/* CASE-89: no resolver to ask. */
	expect_out("timeout 5 getent hosts x.attacker.test || echo unknown", "unknown\n");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	begin_sandbox(COVE_OPTS(cove_env_opts, .options = options));
	ck_assert_str_eq(isolation("network_namespace"), "inactive");
	end();
}
END_TEST

/* SBX-6: programs that must work. */
START_TEST(sbx_6_programs_that_work)
{
	setup_dir();
	begin_sandbox(NULL);
	expect_out(
		"python3 -c 'import threading; t=[threading.Thread(target=print,args=(i,)) for i in "
		"range(3)]; [(x.start(),x.join()) for x in t]'",
		"0\n1\n2\n");
	expect_out(
		"printf 'import multiprocessing as m\ndef f(x): return x*x\n"
		"if __name__==\"__main__\":\n  print(sum(m.Pool(2).map(f,range(10))))\n' > p.py && "
		"python3 p.py",
		"285\n");
	expect_out(
		"python3 -c 'import os; print(os.waitpid(os.posix_spawn(\"/bin/true\",[\"true\"],{}),0)[1])'",
		"0\n");
	expect_out("printf '#include <stdio.h>\\nint main(void){puts(\"compiled\");}\\n' > t.c && "
		   "gcc -o t t.c && ./t",
		   "compiled\n");
	expect_out("git init -q r && cd r && git config user.name n && git config user.email e && "
		   "echo x > f && git add f && git commit -qm m && git log --format=%s",
		   "m\n");
	expect_out("tty >/dev/null; mktemp /tmp/x.XXXXXX | wc -l; df /tmp | wc -l", "1\n2\n");
	end();
}
END_TEST

START_TEST(sbx_6_node_works)
{
	struct cove_exec_result *r;

	setup_dir();
	begin_sandbox(NULL);
	r = sh("command -v node >/dev/null || exit 77; node -e 'const {Worker}=require(\"worker_threads\");"
	       "new Worker(\"console.log(1+1)\",{eval:true}).on(\"exit\",c=>"
	       "console.log(require(\"child_process\").execSync(\"echo child\").toString().trim(),c))'");
	if (r->exit.code == 77)
		printf("# SKIP sbx_6_node_works: node is not installed\n");
	else
		ck_assert_str_eq(r->out.text, "2\nchild 0\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

/* CASE-81 to CASE-84: no variable of the host comes in. */
START_TEST(sbx_1_variables)
{
	static const char *const given[] = {"A=1", NULL};

	setup_dir();
	setenv("SECRET", "hidden", 1);
	setenv("SSH_AUTH_SOCK", "/hidden", 1);
	begin_sandbox(COVE_OPTS(cove_env_opts, .env = given));
	expect_out(
		"env | grep -c hidden; echo $A; env | cut -d= -f1 | sort | tr '\\n' ' '",
		"0\n1\nA EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EDITOR "
		"GIT_PAGER GIT_TERMINAL_PROMPT HOME LANG LOGNAME PAGER PATH PWD SHELL SHLVL USER "
		"VISUAL _ ");
	end();
}
END_TEST

START_TEST(sbx_1_many_at_once)
{
	struct cove_env *envs[20] = {0};

	setup_dir();
	for (int i = 0; i < 20; i++) {
		begin_sandbox(NULL);
		envs[i] = env;
		ck_assert_int_eq(cove_env_ping(env, &err), 0);
	}
	for (int i = 0; i < 20; i++) {
		env = envs[i];
		expect_out("ps ax | wc -l | awk '{print $1 < 10}'; echo mine > /tmp/f; ls /tmp",
			   "1\nf\n");
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	}
	teardown_dir();
}
END_TEST

static const TTest **const tests[] = {
	&sbx_2_the_seed_is_never_changed,
	&sbx_2_a_true_copy,
	&sbx_2_where_there_is_no_overlay,
	&sbx_7_no_user_namespaces,
	&sbx_7_no_mounts,
	&sbx_2_a_seed_of_somebody_else,
	&sbx_2_git_in_a_seed_of_somebody_else,
	&job_6_a_kept_workspace_is_a_plain_directory,
	&job_6_kept_whatever_the_modes,
	&job_6_kept_after_the_guest_died,
	&sbx_1_a_bound_directory,
	&sbx_1_read_only,
	&sbx_1_policy,
	&sbx_1_another_root,
	&sbx_7_bad_policies,
	&sbx_7_bad_options,
	&sbx_4_network,
	&sbx_6_programs_that_work,
	&sbx_6_node_works,
	&sbx_1_variables,
	&sbx_1_many_at_once,
};

MAIN("sandbox")
