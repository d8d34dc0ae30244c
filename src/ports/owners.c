/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets are ours: a process that descends from one of our keepers has them open.
 *
 * A process may come, go or hand a socket on meanwhile; what is told is what was seen.
 */
#include "ports/ports.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define CLIMB_MAX 64

static pid_t parent_of(pid_t pid)
{
	char path[40];
	char text[512];
	const char *p;
	ssize_t n;
	CV_CLOSE int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : cv_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* Behind the name, which may hold anything: state and parent. */
	p = strrchr(text, ')');
	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

static const struct cv_worker *keeper_of(const struct cv_procs *procs, pid_t pid)
{
	for (int i = 0; pid > 1 && i < CLIMB_MAX; i++) {
		pid = parent_of(pid);
		for (const struct cv_worker *w = procs->workers; w; w = w->next)
			if (w->pid == pid)
				return w;
	}
	return NULL;
}

/* Only the socket itself tells whether it is for IPv6 alone. */
static bool asks_v6only(pid_t pid, int number)
{
	CV_CLOSE int process = (int)syscall(SYS_pidfd_open, pid, 0);
	CV_CLOSE int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
	int on = 0;
	socklen_t len = sizeof(on);

	return fd >= 0 && getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, &len) == 0 && on;
}

static void mark(struct cv_sockets *s, uint32_t inode, pid_t pid, int fd,
		 const struct cv_process *owner)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].inode != inode)
			continue;
		if (s->list[i].family == AF_INET6 && !s->list[i].ours)
			s->list[i].v6only = asks_v6only(pid, fd);
		s->list[i].ours = true;
		if (owner && owner->number > 0)
			s->list[i].process = owner->handle;
	}
}

static void look_at_files(struct cv_sockets *s, pid_t pid, const struct cv_process *owner)
{
	char path[40];
	const struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

		if (n <= 8 || strncmp(link, "socket:[", 8) != 0)
			continue;
		link[n] = '\0';
		mark(s, (uint32_t)strtoul(link + 8, NULL, 10), pid,
		     (int)strtol(e->d_name, NULL, 10), owner);
	}
	if (dir)
		closedir(dir);
}

void cv_sockets_own(struct cv_sockets *s, const struct cv_procs *procs)
{
	const struct dirent *e;
	DIR *dir = s->count > 0 ? opendir("/proc") : NULL;

	while (dir && (e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		const struct cv_worker *w = pid > 0 ? keeper_of(procs, pid) : NULL;

		if (w)
			look_at_files(s, pid, w->owner);
	}
	if (dir)
		closedir(dir);
}
