/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of a sandbox (SBX-6). Each is tried from inside and must fail with what is said here;
 * the host looks whether anything happened all the same.
 */
#include "sandbox/sandbox.h"

#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* Several answers may be right: which one depends on which of several walls is met first. */
struct attempt {
	const char *name;
	const char *arg;
	const char *want; /* names of errno, with blanks between */
};

#define NUMBER_(n) #n
#define NUMBER(n) NUMBER_(n)

static const struct attempt attempts[] = {
	{"mount", "/tmp", "EPERM"},
	{"remount", "/usr", "EPERM"},
	{"remount", "/", "EPERM"},
	{"remount", "/proc/sys", "EPERM"},
	{"unmount", "/usr", "EPERM"},
	{"unmount", "/proc/sys", "EPERM"},
	{"bind", "/tmp", "EPERM"},
	{"fsopen", "", "EPERM"},
	{"open_tree", "/", "EPERM"},
	{"mount_setattr", "/usr", "EPERM"},
	{"pivot_root", "/tmp", "EPERM"},
	{"chroot", "/tmp", "EPERM"},
	{"setns", "/proc/self/ns/mnt", "EPERM"},
	{"setns", "/proc/1/ns/user", "EACCES EPERM"},
	{"setns", "/proc/1/ns/net", "EACCES EPERM"},
	{"unshare", "0x10000000", "EPERM"}, /* user */
	{"unshare", "0x00020000", "EPERM"}, /* mount */
	{"unshare", "0x40000000", "EPERM"}, /* network */
	{"unshare", "0x20000000", "EPERM"}, /* PID */
	{"unshare", "0x02000000", "EPERM"}, /* cgroup */
	{"unshare", "0x00000080", "EPERM"}, /* time */
	{"clone", "0x10000000", "EPERM"},
	{"clone", "0x10020000", "EPERM"},
	{"clone3", "0x10000000", "ENOSYS"},
	{"clone3", "0", "ENOSYS"},
	{"handle", "/usr", "EPERM"},
	{"ptrace", "1", "EPERM"},
	{"readv", "1", "EPERM"},
	{"keyctl", "", "EPERM"},
	{"add_key", "k", "EPERM"},
	{"bpf", "", "EPERM"},
	{"perf", "", "EPERM"},
	{"userfaultfd", "", "EPERM"},
	{"io_uring", "", "ENOSYS"},
	{"tiocsti", "0", "EPERM"},
	{"tiocsti", "0x1", "EPERM"},
	{"tiocsti", "0xffffffff", "EPERM"},
	{"tioclinux", "0", "EPERM"},
	{"tioclinux", "0x8000", "EPERM"},
	{"socket", "17", "EAFNOSUPPORT"}, /* packet */
	{"socket", "40", "EAFNOSUPPORT"}, /* vsock */
	{"socket", "38", "EAFNOSUPPORT"}, /* alg */
	{"raw", "1", "EPERM"},
	{"netlink", "", "EPERM"},
	{"mknod", "/workspace/disk", "EPERM"},
	{"mknod", "/tmp/disk", "EPERM"},
	{"read", "/proc/1/environ", "EACCES"},
	{"read", "/proc/1/mem", "EACCES EPERM"},
	{"list", "/proc/1/root", "EACCES EPERM"},
	{"list", "/proc/1/cwd", "EACCES EPERM"},
	{"read", "/proc/1/fd/0", "EACCES EPERM"},
	{"read", "/proc/2/environ", "EACCES"},
	{"list", "/proc/2/root", "EACCES EPERM"},
	{"list", "/proc/2/cwd", "EACCES EPERM"},
	{"write", "/proc/sys/kernel/core_pattern", "EROFS EACCES"},
	{"write", "/proc/sys/kernel/hostname", "EROFS EACCES"},
	{"write", "/proc/sys/vm/drop_caches", "EROFS EACCES"},
	{"write", "/proc/sysrq-trigger", "EROFS EACCES ENOENT"},
	{"write", "/proc/self/uid_map", "EPERM EROFS"},
	{"write", "/proc/1/oom_score_adj", "EACCES EPERM EROFS"},
	{"read", "/proc/kcore", "EACCES EPERM ENOENT"},
	{"read", "/etc/shadow", "ENOENT"},
	{"read", "/etc/ssl/private", "ENOENT"},
	{"list", "/root", "ENOENT"},
	{"list", "/boot", "ENOENT"},
	{"list", "/sys/kernel", "ENOENT"},
	{"read", "/dev/mem", "ENOENT"},
	{"read", "/dev/kmsg", "ENOENT"},
	{"list", "/dev/disk", "ENOENT"},
	{"chmod", "/dev/null", "EROFS EPERM"}, /* one inode for all of the machine */
	{"chmod", "/dev/tty", "EROFS EPERM"},
	{"chmod", "/proc/self/fd/0", "EROFS EPERM"}, /* null too */
	{"chmod", "/proc/version", "EROFS EPERM"},
	{"chmod", "/proc/meminfo", "EROFS EPERM"},
	{"create", "/usr/planted", "EROFS"},
	{"create", "/etc/planted", "EROFS"},
	{"create", "/planted", "EROFS"},
	{"create", "/dev/planted", "EROFS"},
	{"write", "/etc/passwd", "EROFS EACCES"},
	{"write", "/usr/bin/env", "EROFS EACCES"},
	{"link", "/etc/hostname", "EXDEV"},
	{"link", "/usr/bin/env", "EXDEV"},
	{"setuid", "0", "EPERM EINVAL"},
	{"chown", "0", "EPERM EINVAL"},
	{"chown", "65534", "EPERM EINVAL"},
	{"nice", "-20", "EACCES EPERM"},
	{"hostname", "mine", "EPERM"},
	{"time", "1", "EPERM"},
	{"syscall", NUMBER(__NR_reboot), "EPERM"},
	{"syscall", NUMBER(__NR_swapon), "EPERM"},
	{"syscall", NUMBER(__NR_acct), "EPERM"},
	{"syscall", NUMBER(__NR_init_module), "EPERM"},
	{"syscall", NUMBER(__NR_kexec_load), "EPERM"},
	{"syscall", NUMBER(__NR_syslog), "EPERM"},
	{"syscall", NUMBER(__NR_quotactl), "EPERM"},
	{"syscall", NUMBER(__NR_kcmp), "EPERM"},
#ifdef __NR_iopl
	{"syscall", NUMBER(__NR_iopl), "EPERM"},
	{"syscall", NUMBER(__NR_ioperm), "EPERM"},
#endif
};

static bool listed(const char *said, const char *want)
{
	size_t len = strlen(said);

	for (const char *at = want; (at = strstr(at, said)); at += len)
		if ((at == want || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return len > 0;
	return false;
}

START_TEST(sbx_6_ways_out)
{
	int wrong = 0;

	setup_dir();
	begin_sandbox(NULL);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		const struct attempt *a = &attempts[i];
		const char *said = attempt(a->name, a->arg);

		if (listed(said, a->want))
			continue;
		fprintf(stderr, "%s %s: %s, not %s\n", a->name, a->arg, said, a->want);
		wrong++;
	}
	ck_assert_int_eq(wrong, 0);
	end();
}
END_TEST

static char *read_host(const char *path)
{
	static char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* The host's own files, at the paths that it knows them by. */
START_TEST(sbx_6_host_files)
{
	char path[PATH_MAX + 16];
	int fd;

	setup_dir();
	snprintf(path, sizeof(path), "%s/secret", test_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_int_eq(write(fd, "secret", 6), 6);
	close(fd);
	begin_sandbox(NULL);
	ck_assert_str_eq(attempt("read", path), "ENOENT");
	ck_assert_str_eq(attempt("write", path), "ENOENT");
	ck_assert_str_eq(attempt("list", test_dir), "ENOENT");
	snprintf(path, sizeof(path), "/proc/%d/environ", getpid());
	ck_assert_str_eq(attempt("read", path), "ENOENT");
	snprintf(path, sizeof(path), "%d", getpid());
	ck_assert_str_eq(attempt("kill", path), "ESRCH");
	ck_assert_str_eq(attempt("ptrace", path), "ESRCH");
	end();
}
END_TEST

static int listen_on(const struct sockaddr_un *a, size_t path_len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)a,
			      (socklen_t)(sizeof(sa_family_t) + path_len)),
			 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

START_TEST(sbx_6_host_sockets)
{
	struct sockaddr_un named = {.sun_family = AF_UNIX};
	struct sockaddr_un hidden = {.sun_family = AF_UNIX};
	int a, b;

	setup_dir();
	snprintf(named.sun_path, sizeof(named.sun_path), "%.90s/s", test_dir);
	snprintf(hidden.sun_path + 1, sizeof(hidden.sun_path) - 1, "cove-test-%d", getpid());
	a = listen_on(&named, strlen(named.sun_path) + 1);
	b = listen_on(&hidden, strlen(hidden.sun_path + 1) + 1);
	begin_sandbox(NULL);
	ck_assert_str_eq(attempt("unix", named.sun_path), "ENOENT");
	ck_assert_str_eq(attempt("abstract", hidden.sun_path + 1), "ECONNREFUSED");
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	close(a);
	close(b);
	teardown_dir();
}
END_TEST

START_TEST(sbx_6_inherited_descriptors)
{
	int leak;

	setup_dir();
	leak = open(test_dir, O_RDONLY | O_DIRECTORY);
	begin_sandbox(NULL);
	expect_out("ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 "); /* 3 is what ls reads */
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	close(leak);
	teardown_dir();
}
END_TEST

/* A host without standard descriptors gets these numbers for its own: they must not be mixed up. */
START_TEST(sbx_6_no_standard_descriptors)
{
	struct cove_exec_result *r = NULL;
	int saved[3];
	int rc;

	setup_dir();
	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
		close(i);
	}
	rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox",
				     .retain = COVE_RETAIN_NEVER),
			   &env, &err);
	if (rc == 0)
		rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .script = "echo x"), &r, &err);
	cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	ck_assert_msg(rc == 0, "%s", err.message);
	ck_assert_str_eq(r->out.text, "x\n");
	cove_exec_result_free(r);
	teardown_dir();
}
END_TEST

/* No privilege, and no way to one. */
START_TEST(sbx_1_no_privilege)
{
	setup_dir();
	begin_sandbox(NULL);
	expect_out("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | "
		   "tr '\\t\\n' '  '",
		   "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 "
		   "CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 ");
	expect_out("cat /proc/kpage* /proc/vmallocinfo /proc/slabinfo 2>/dev/null | wc -c", "0\n");
	expect_out("id -u; id -un; id -g; hostname; echo $HOME; pwd; stat -c %a /tmp /dev/shm",
		   "1000\nagent\n1000\ncove\n/home/agent\n/workspace\n1777\n1777\n");
	expect_out("test -u /usr/bin/su && (echo | timeout 5 su -c id root) >/dev/null 2>&1 || "
		   "echo refused",
		   "refused\n");
	end();
}
END_TEST

/* Whether a process sees the sandbox's root and no other, without privilege: as the host sees it. */
static void check_confined(pid_t pid)
{
	char path[64];
	char status[4096];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root/usr", pid);
	ck_assert_int_eq(stat(path, &st), 0);
	snprintf(path, sizeof(path), "/proc/%d/root/boot", pid);
	ck_assert_int_ne(stat(path, &st), 0);
	snprintf(path, sizeof(path), "/proc/%d/cwd/boot", pid);
	ck_assert_int_ne(stat(path, &st), 0);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	/* The first keeper gives up what it had while the guest builds, and may not be done. */
	for (int i = 0; i < 1000; i++) {
		snprintf(status, sizeof(status), "%s", read_host(path));
		if (strstr(status, "Seccomp:\t2"))
			break;
		poll(NULL, 0, 1);
	}
	ck_assert_ptr_nonnull(strstr(status, "CapPrm:\t0000000000000000"));
	ck_assert_ptr_nonnull(strstr(status, "CapBnd:\t0000000000000000"));
	ck_assert_ptr_nonnull(strstr(status, "NoNewPrivs:\t1"));
}

/* Keepers are forked before the root is built, and must follow it. */
START_TEST(sbx_1_keepers_are_confined)
{
	char path[64];
	int pids[20];
	int n = 0;
	FILE *f;

	if (geteuid() != 0) {
		printf("who is not root can't look into keepers\n");
		return;
	}
	setup_dir();
	for (int i = 0; i < 30; i++) {
		begin_sandbox(NULL);
		if (i % 2 == 0)
			expect_out("echo x", "x\n");
		else
			ck_assert_int_eq(cove_env_ping(env, &err), 0);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", guest_pid(), guest_pid());
		f = fopen(path, "r");
		for (n = 0; n < 20 && fscanf(f, "%d", &pids[n]) == 1; n++)
			check_confined(pids[n]);
		fclose(f);
		ck_assert_int_ge(n, 1);
		check_confined(guest_pid());
		ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	}
	teardown_dir();
}
END_TEST

/* As PID 1 and unreadable the guest can't be stopped, killed or looked into. */
START_TEST(proc_19_kill_everything)
{
	static const char *const signals[] = {"KILL", "STOP", "TERM"};
	char script[100];

	setup_dir();
	begin_sandbox(NULL);
	for (int i = 0; i < 3; i++) {
		struct cove_exec_result *r;

		snprintf(script, sizeof(script),
			 "kill -%s 1; sleep 100 & kill -%s -1; sleep 0.1; echo here", signals[i],
			 signals[i]);
		r = exec_opts(COVE_OPTS(cove_exec_opts, .script = script, .timeout_ms = 5000,
					.grace_ms = 100));
		cove_exec_result_free(r);
		expect_out("echo alive; ps ax | grep -c '[s]leep 100'", "alive\n0\n");
	}
	end();
}
END_TEST

START_TEST(sbx_6_host_settings_are_as_before)
{
	char before[4096];
	char pid_max[32];
	bool own_pid_max;
	struct cove_exec_result *r;

	setup_dir();
	snprintf(before, sizeof(before), "%s", read_host("/proc/sys/kernel/core_pattern"));
	snprintf(pid_max, sizeof(pid_max), "%s", read_host("/proc/sys/kernel/pid_max"));
	begin_sandbox(NULL);
	cove_exec_result_free(
		sh("echo '|/workspace/evil' > /proc/sys/kernel/core_pattern; echo b > "
		   "/proc/sysrq-trigger; hostname evil; ip link set lo down; kill -SEGV $$"));
	/* Without a limit a sandbox can't use up the host's process numbers, where the kernel can. */
	r = sh("cat /proc/sys/kernel/pid_max; uname -r");
	own_pid_max = strverscmp(strchr(r->out.text, '\n') + 1, "6.14") >= 0;
	ck_assert_int_eq(atoi(r->out.text), own_pid_max ? 8192 : atoi(pid_max));
	cove_exec_result_free(r);
	end();
	ck_assert_str_eq(before, read_host("/proc/sys/kernel/core_pattern"));
	ck_assert_str_eq(pid_max, read_host("/proc/sys/kernel/pid_max"));
}
END_TEST

/* The host's cleanup must not be led astray by what was planted for it. */
START_TEST(sbx_6_links_for_the_cleanup)
{
	char path[PATH_MAX + 32];
	char root[PATH_MAX + 8];
	const char *options[] = {root, NULL};
	struct stat st;

	setup_dir();
	snprintf(path, sizeof(path), "%s/victim", test_dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(root, sizeof(root), "root=%s/runs", test_dir);
	begin_sandbox(COVE_OPTS(cove_env_opts, .options = options, .job_id = "j", .run_id = "r",
				.retain = COVE_RETAIN_FAILURE));
	snprintf(root, sizeof(root),
		 "ln -s %s/victim link; mkdir -p a/b; chmod 0 a/b a; mkdir deep; ln -s / deep/up",
		 test_dir);
	cove_exec_result_free(sh(root));
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	snprintf(path, sizeof(path), "%s/runs/j", test_dir);
	ck_assert_int_lt(stat(path, &st), 0);
	teardown_dir();
}
END_TEST

/* Whether this user may make control groups here; where not, the limit must have been refused. */
static bool refused_where_it_must(const char *field)
{
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_env_ping(env, &err);
	if (rc == 0)
		return false;
	ck_assert_int_eq(rc, COVE_E_NOT_SUPPORTED);
	ck_assert_str_eq(err.field, field);
	ck_assert_int_gt(strlen(err.hint), 0);
	end();
	return true;
}

START_TEST(sbx_5_fork_bomb) /* SBX-5, SBX-6, PROC-19 */
{
	struct cove_sandbox_policy policy = {.size = sizeof(policy), .limits = {.processes = 50}};
	const char *argv[] = {TOOL, "forkbomb", NULL};
	struct cove_exec_result *r;

	setup_dir();
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy));
	if (geteuid() == 0 && refused_where_it_must("policy.limits.processes"))
		return;
	r = exec_opts(
		COVE_OPTS(cove_exec_opts, .argv = argv, .timeout_ms = 10000, .grace_ms = 100));
	ck_assert_str_eq(r->out.text, "EAGAIN\n");
	ck_assert_int_lt(r->exit.survivors, 50);
	cove_exec_result_free(r);
	expect_out("echo alive", "alive\n");
	end();
}
END_TEST

START_TEST(sbx_5_memory) /* SBX-5, PROC-6 */
{
	struct cove_sandbox_policy policy = {.size = sizeof(policy),
					     .limits = {.memory_bytes = 64 << 20}};
	const char *argv[] = {"python3", "-c", "x = bytearray(300000000)", NULL};
	struct cove_exec_result *r;

	/* A sanitizer's memory would be the first to go. */
	if (!strstr(getenv("COVE_GUEST") ? getenv("COVE_GUEST") : "", "/build/")) {
		printf("memory is not limited: COVE_GUEST names no release guest\n");
		return;
	}
	setup_dir();
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy));
	if (refused_where_it_must("policy.limits.memory_bytes"))
		return;
	r = exec_opts(COVE_OPTS(cove_exec_opts, .argv = argv, .timeout_ms = 20000));
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_SIGNALED);
	ck_assert_int_eq(r->exit.reason, COVE_END_OOM);
	cove_exec_result_free(r);
	r = sh("kill -9 $$");
	ck_assert_int_eq(r->exit.reason, COVE_END_SIGNAL);
	cove_exec_result_free(r);
	/* What a tmpfs holds counts too; the guest outlives whoever fills it. */
	r = sh("exec head -c 200000000 /dev/zero > /tmp/fill");
	ck_assert_int_eq(r->exit.reason, COVE_END_OOM);
	cove_exec_result_free(r);
	ck_assert_int_eq(cove_file_remove(env,
					  COVE_OPTS(cove_file_remove_opts, .path = "/tmp/fill"),
					  NULL, &err),
			 0);
	expect_out("echo alive", "alive\n");
	end();
}
END_TEST

/* A group that somebody else is in can't be removed: that is told, and all else is removed. */
START_TEST(env_9_a_group_in_use)
{
	struct cove_sandbox_policy policy = {.size = sizeof(policy),
					     .limits = {.memory_bytes = 256 << 20}};
	char path[PATH_MAX + 64];
	char root[PATH_MAX + 16];
	const char *options[] = {root, NULL};
	char *line;
	bool v1;
	pid_t pid;
	FILE *f;

	setup_dir();
	snprintf(root, sizeof(root), "root=%s/runs", test_dir);
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy, .options = options,
				.seed = "/usr/include/linux", .retain = COVE_RETAIN_ALWAYS));
	if (refused_where_it_must("policy.limits.memory_bytes"))
		return;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", guest_pid());
	line = read_host(path);
	v1 = strstr(line, ":memory:") != NULL;
	line = strstr(line, v1 ? ":memory:" : "::/") + (v1 ? 8 : 2);
	line[strcspn(line, "\n")] = '\0';
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/cgroup.procs", v1 ? "/memory" : "", line);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", pid);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), COVE_E_CLEANUP_FAILED);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(rmdir(path), 0);
	teardown_dir();
}
END_TEST

START_TEST(sbx_5_full_disk) /* SBX-5, SBX-6 */
{
	struct cove_sandbox_policy policy = {.size = sizeof(policy),
					     .limits = {.disk_bytes = 8 << 20}};

	setup_dir();
	begin_sandbox(COVE_OPTS(cove_env_opts, .policy = &policy));
	expect_out("for d in /tmp /workspace /home/agent /dev/shm /var/tmp /run; do "
		   "head -c 20000000 /dev/zero > $d/fill 2>/tmp/err && echo $d has room; done; "
		   "cat /*/fill /home/agent/fill /dev/shm/fill /var/tmp/fill | wc -c | "
		   "awk '{print $1 <= 8388608}'",
		   "1\n");
	expect_out("rm /tmp/fill /workspace/fill; echo again > /tmp/x; cat /tmp/x", "again\n");
	end();
}
END_TEST

static int inotify_works(void)
{
	int fd = inotify_init1(IN_CLOEXEC);
	int rc = inotify_add_watch(fd, "/", IN_CREATE);

	close(fd);
	return rc;
}

START_TEST(sbx_6_inotify)
{
	setup_dir();
	begin_sandbox(NULL);
	ck_assert_str_ne(attempt("inotify", ""), "done");
	expect_out("rm -rf /tmp/w*; echo alive", "alive\n");
	end();
	/* What was used up inside is no loss outside. */
	ck_assert_int_ge(inotify_works(), 0);
}
END_TEST

static const TTest **const tests[] = {
	&sbx_6_ways_out,
	&sbx_6_host_files,
	&sbx_6_host_sockets,
	&sbx_6_inherited_descriptors,
	&sbx_6_no_standard_descriptors,
	&sbx_1_no_privilege,
	&sbx_1_keepers_are_confined,
	&proc_19_kill_everything,
	&sbx_6_host_settings_are_as_before,
	&sbx_6_links_for_the_cleanup,
	&sbx_5_fork_bomb,
	&sbx_5_memory,
	&env_9_a_group_in_use,
	&sbx_5_full_disk,
	&sbx_6_inotify,
};

MAIN("escape")
