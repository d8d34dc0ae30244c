/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the tree below the calling process through /proc/PID/task/TID/children, top down.
 *
 * The kernel promises a whole list only for processes that stand still. That is enough: whoever
 * wants a tree gone sweeps until there is nothing left to wait for, and the child of a killed
 * process turns up right below the subreaper in the next sweep.
 */
#include "process/tree.h"

#include "base/def.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>

struct found {
	pid_t pid;
	pid_t parent;
};

struct sweep {
	int count;
	struct found list[CV_SWEEP_MAX];
};

static struct sweep sweep_scratch;

static void add(struct sweep *s, pid_t pid, pid_t parent)
{
	if (s->count < CV_SWEEP_MAX)
		s->list[s->count++] = (struct found){.pid = pid, .parent = parent};
}

/* Decimal, without stdio: this runs where another thread may have held its locks. */
static char *put_number(char *dst, long n)
{
	char digits[24];
	int len = 0;

	do
		digits[len++] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	while (len > 0)
		*dst++ = digits[--len];
	return dst;
}

static char *put_text(char *dst, const char *s)
{
	size_t len = strlen(s);

	memcpy(dst, s, len + 1);
	return dst + len;
}

static void add_children_of_task(struct sweep *s, pid_t pid, long tid)
{
	char path[96];
	char buf[4096];
	char *p = put_number(put_text(path, "/proc/"), pid);
	long number = 0;
	bool in_number = false;
	ssize_t n;
	int fd;

	put_text(put_number(put_text(p, "/task/"), tid), "/children");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				number = number * 10 + (buf[i] - '0');
				in_number = true;
			} else if (in_number) {
				add(s, (pid_t)number, pid);
				number = 0;
				in_number = false;
			}
		}
	}
	close(fd);
}

struct dirent64_raw {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Children belong to the thread that made them. */
static void add_children(struct sweep *s, pid_t pid)
{
	char path[64];
	_Alignas(struct dirent64_raw) char buf[2048];
	long n;
	int fd;

	put_text(put_number(put_text(path, "/proc/"), pid), "/task");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64_raw *e = (const void *)(buf + at);

			at += e->reclen;
			if (e->name[0] >= '1' && e->name[0] <= '9')
				add_children_of_task(s, pid, strtol(e->name, NULL, 10));
		}
	}
	close(fd);
}

/* State letter and parent of a process; false: gone. */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
	char path[64];
	char buf[512];
	const char *p = NULL;
	ssize_t n;
	int fd;

	put_text(put_number(put_text(path, "/proc/"), pid), "/stat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	/* The name may hold anything, so the fields begin behind the last bracket. */
	p = memrchr(buf, ')', (size_t)n);
	if (!p || p[1] != ' ')
		return false;
	*ret_state = p[2];
	*ret_parent = (pid_t)strtol(p + 4, NULL, 10);
	return true;
}

/* Signals one process if it is still the one that was found. True: it was alive. */
static bool signal_one(const struct found *f, pid_t self, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	char state;
	pid_t parent;
	bool alive;

	if (fd < 0)
		return false;
	alive = read_stat(f->pid, &state, &parent) && (parent == f->parent || parent == self) &&
		state != 'Z' && state != 'X';
	if (alive && sig != 0) {
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		/* A stopped process would sit on any other signal. */
		if (sig == SIGTERM || sig == SIGHUP || sig == SIGINT)
			syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
	}
	close(fd);
	return alive;
}

int cv_tree_signal(int sig, cv_sweep_skip *skip, void *user)
{
	struct sweep *s = &sweep_scratch;
	pid_t self = getpid();
	int alive = 0;

	s->count = 0;
	add_children(s, self);
	if (skip) {
		int kept = 0;

		for (int i = 0; i < s->count; i++)
			if (!skip(s->list[i].pid, user))
				s->list[kept++] = s->list[i];
		s->count = kept;
	}
	for (int i = 0; i < s->count; i++) {
		struct found f = s->list[i];

		add_children(s, f.pid);
		alive += signal_one(&f, self, sig);
	}
	return alive;
}
