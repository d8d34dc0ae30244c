/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds on file systems that a seed may well lie on, or that go away. */
#include "sandbox/sandbox.h"

#include <sched.h>
#include <sys/mount.h>

static char seed[PATH_MAX + 8];

static void tell_kernel(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0 && write(fd, text, strlen(text)) > 0, "%s: %s", file,
		      strerror(errno));
	close(fd);
}

/* A mount namespace of our own, in which the test may mount; a user namespace too unless we are root. */
static void may_mount(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	char map[64];

	setup_dir();
	snprintf(seed, sizeof(seed), "%s/seed", test_dir);
	ck_assert_int_eq(unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)), 0);
	if (uid != 0) {
		tell_kernel("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		tell_kernel("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		tell_kernel("/proc/self/gid_map", map);
	}
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mkdir(seed, 0755), 0);
}

static void open_seed(void)
{
	begin_sandbox(COVE_OPTS(cove_env_opts, .seed = seed));
}

static void close_it(void)
{
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
}

START_TEST(sbx_2_a_read_only_file_system)
{
	may_mount();
	ck_assert_int_eq(mount("none", seed, "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(host("cd '%s' && mkdir sub && echo one > a && echo two > sub/b", seed), 0);
	ck_assert_int_eq(mount("none", seed, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
	open_seed();
	expect_out("cat a sub/b; echo more >> a; rm -r sub; mkdir sub; ls sub; cat a",
		   "one\ntwo\none\nmore\n");
	close_it();
	ck_assert_int_eq(host("grep -qx one '%s/a' && grep -qx two '%s/sub/b'", seed, seed), 0);
	ck_assert_int_eq(umount(seed), 0);
	teardown_dir();
}
END_TEST

/* Its layers hold a deleted file, a replaced directory, a changed mode. */
START_TEST(sbx_2_an_overlay)
{
	char layers[4 * PATH_MAX];

	may_mount();
	ck_assert_int_eq(
		host("cd '%s' && mkdir low up work low/dir low/gone && echo low > low/file && "
		     "echo low > low/dir/old && echo low > low/gone/x",
		     test_dir),
		0);
	snprintf(layers, sizeof(layers), "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work,userxattr",
		 test_dir, test_dir, test_dir);
	ck_assert_int_eq(mount("none", seed, "overlay", 0, layers), 0);
	ck_assert_int_eq(
		host("cd '%s' && rm file && rm -r dir gone && mkdir dir && echo up > dir/new",
		     seed),
		0);
	open_seed();
	expect_out("ls . dir; cat dir/new; echo mine > dir/new; echo x > file; cat dir/new file",
		   ".:\ndir\n\ndir:\nnew\nup\nmine\nx\n");
	close_it();
	ck_assert_int_eq(host("cd '%s' && grep -qx up dir/new && [ ! -e file ]", seed), 0);
	ck_assert_int_eq(umount(seed), 0);
	/* The overlay's own working directory belongs to the kernel, with mode 0. */
	ck_assert_int_eq(host("chmod -R u+rwx '%s' && rm -rf '%s'/*", test_dir, test_dir), 0);
	ck_assert_int_eq(rmdir(test_dir), 0);
}
END_TEST

/* Whether it goes before the environment is made ready, or while it is used. */
START_TEST(sbx_2_a_seed_that_vanishes)
{
	may_mount();
	open_seed();
	ck_assert_int_eq(rmdir(seed), 0);
	ck_assert_int_eq(cove_env_ping(env, &err), COVE_E_NOT_FOUND);
	ck_assert_str_eq(err.path, seed);
	ck_assert_ptr_nonnull(strstr(err.message, seed));
	close_it();

	ck_assert_int_eq(host("mkdir '%s' && echo one > '%s/a'", seed, seed), 0);
	open_seed();
	expect_out("cat a", "one\n");
	ck_assert_int_eq(host("rm -r '%s'", seed), 0);
	/* What is seen of it then is the kernel's; the rest works on. */
	expect_out("cat a > /dev/null 2>&1; cd / && echo well", "well\n");
	close_it();
	teardown_dir();
}
END_TEST

/* What it holds can't be used to get anywhere. */
START_TEST(sbx_6_devices_and_suid_in_a_seed)
{
	may_mount();
	ck_assert_int_eq(host("cd '%s' && cp /usr/bin/id id && chmod 6755 id && mkfifo pipe && "
			      "{ mknod null c 1 3 2>/dev/null || : > null; }",
			      seed),
			 0);
	open_seed();
	expect_out("./id -u; [ -p pipe ] && echo pipe; [ -c null ] && { : < null; } 2>/dev/null && "
		   "echo open; rm null pipe; ls",
		   "1000\npipe\nid\n");
	end();
}
END_TEST

static const TTest **const tests[] = {
	&sbx_2_a_read_only_file_system,
	&sbx_2_an_overlay,
	&sbx_2_a_seed_that_vanishes,
	&sbx_6_devices_and_suid_in_a_seed,
};

MAIN("sandbox/seeds")
