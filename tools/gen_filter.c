/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the filter of the sandbox's commands as C: instructions of classic BPF, made by libseccomp
 * when cove is built, so that the guest needs no library for it.
 *
 * The filter allows by default. A command has no capabilities and no way to get any; what is refused
 * here is what the kernel would let it try all the same: new namespaces, and doors into the kernel
 * that are wide, young, or reach beyond the sandbox.
 */
#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEW_NAMESPACES                                                                             \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

/* linux/time_namespace, which glibc's headers don't name everywhere. */
#define NEW_TIME 0x00000080

static scmp_filter_ctx ctx;

static void must(int rc, const char *what)
{
	if (rc >= 0 || rc == -EDOM)
		return;
	fprintf(stderr, "gen_filter: %s: error %d\n", what, -rc);
	exit(1);
}

static void refuse(int errnum, const char *const *names)
{
	for (; *names; names++) {
		int number = seccomp_syscall_resolve_name(*names);

		/* A name that this libseccomp or architecture does not know needs no rule. */
		if (number != __NR_SCMP_ERROR)
			must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(errnum), number, 0), *names);
	}
}

/* clone and unshare stay, without the flags that make namespaces: one rule for each flag. */
static void refuse_namespaces(void)
{
	for (int bit = 0; bit < 32; bit++) {
		unsigned long flag = 1ul << bit;

		if (!(NEW_NAMESPACES & flag))
			continue;
		must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)),
		     "clone");
		must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)),
		     "unshare");
	}
	must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1,
			      SCMP_A0(SCMP_CMP_MASKED_EQ, NEW_TIME, NEW_TIME)),
	     "unshare");
	/* Its flags lie in memory that a filter can't read; programs fall back to clone. */
	must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), "clone3");
}

/* Typing into a terminal, and its selection and keyboard. The kernel looks at 32 bits only. */
static void refuse_ioctls(void)
{
	static const unsigned int numbers[] = {TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				      SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, numbers[i])),
		     "ioctl");
}

/* Sockets of the machine rather than of the network namespace, and of rarely used code. */
static void refuse_sockets(void)
{
	static const int families[] = {AF_PACKET, AF_VSOCK, AF_ALG,   AF_BLUETOOTH, AF_CAN,
				       AF_TIPC,	  AF_RDS,   AF_KCM,   AF_XDP,	    AF_NFC,
				       AF_IB,	  AF_X25,   AF_AX25,  AF_NETROM,    AF_ROSE,
				       AF_DECnet, AF_LLC,   AF_PHONET};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		must(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
				      SCMP_A0_32(SCMP_CMP_EQ, (unsigned)families[i])),
		     "socket");
}

static void fill(void)
{
	static const char *const never[] = {"mount",
					    "umount2",
					    "umount",
					    "pivot_root",
					    "chroot",
					    "setns",
					    "fsopen",
					    "fsmount",
					    "fsconfig",
					    "fspick",
					    "move_mount",
					    "open_tree",
					    "open_tree_attr",
					    "mount_setattr",
					    "statmount",
					    "listmount",
					    "swapon",
					    "swapoff",
					    "acct",
					    "quotactl",
					    "quotactl_fd",
					    "reboot",
					    "kexec_load",
					    "kexec_file_load",
					    "init_module",
					    "finit_module",
					    "delete_module",
					    "create_module",
					    "query_module",
					    "get_kernel_syms",
					    "iopl",
					    "ioperm",
					    "add_key",
					    "request_key",
					    "keyctl",
					    "bpf",
					    "perf_event_open",
					    "userfaultfd",
					    "open_by_handle_at",
					    "name_to_handle_at",
					    "fanotify_init",
					    "lookup_dcookie",
					    "kcmp",
					    "syslog",
					    "_sysctl",
					    "sysfs",
					    "uselib",
					    "ustat",
					    "vhangup",
					    "nfsservctl",
					    "settimeofday",
					    "clock_settime",
					    "clock_adjtime",
					    "adjtimex",
					    "stime",
					    "sethostname",
					    "setdomainname",
					    "vm86",
					    "vm86old",
					    "modify_ldt",
					    "move_pages",
					    "migrate_pages",
					    "process_madvise",
					    "memfd_secret",
					    "lsm_set_self_attr",
					    NULL};
	/* Programs that can do without them look for this answer. */
	static const char *const absent[] = {"io_uring_setup", "io_uring_enter",
					     "io_uring_register", NULL};

	refuse(EPERM, never);
	refuse(ENOSYS, absent);
	refuse_namespaces();
	refuse_ioctls();
	refuse_sockets();
}

static void print(int fd)
{
	struct sock_filter code;
	int count = 0;

	printf("/* Made by tools/gen_filter.c when cove is built. */\n");
	printf("static struct sock_filter filter_code[] = {\n");
	while (read(fd, &code, sizeof(code)) == (ssize_t)sizeof(code)) {
		printf("\t{0x%04x, %u, %u, 0x%08x},\n", code.code, code.jt, code.jf, code.k);
		count++;
	}
	printf("};\n/* %d instructions */\n", count);
}

int main(void)
{
	FILE *bpf = tmpfile();

	ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (!ctx || !bpf)
		return 1;
	/* Calls of another architecture would get around the numbers. */
	must(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)),
	     "architecture");
	must(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
	fill();
	must(seccomp_export_bpf(ctx, fileno(bpf)), "export");
	lseek(fileno(bpf), 0, SEEK_SET);
	print(fileno(bpf));
	seccomp_release(ctx);
	return 0;
}
