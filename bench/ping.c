/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small calls, against eight bytes to another process and back.
 *
 * Whether both processes share a processor decides how long a message takes, threefold, and the
 * scheduler changes its mind; so they are put where they shall be: the caller on one, guest and
 * echo on another, and once all on the same.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

#define PAIRS 100
#define BLOCK 50
#define TEXT_BYTES 4096
#define READS 100

struct place {
	struct cove_env *env;
	int echo; /* socket of the other process */
	pid_t echo_pid;
	char text[TEXT_BYTES + 1];
};

/* Gives back what it gets, as the guest does: epoll, read, write. */
static void __attribute__((noreturn)) echo(int sock)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN};
	char buf[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	epoll_ctl(epfd, EPOLL_CTL_ADD, sock, &ev);
	for (;;) {
		ssize_t n = epoll_wait(epfd, &ev, 1, -1) == 1 ? read(sock, buf, sizeof(buf)) : -1;

		if (n == 0 || (n < 0 && errno != EINTR) || write(sock, buf, (size_t)n) != n)
			_exit(0);
	}
}

static int start_echo(pid_t *ret_pid)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		echo(pair[1]);
	}
	close(pair[1]);
	*ret_pid = pid;
	return pid < 0 ? -1 : pair[0];
}

static int raw(void *user)
{
	const struct place *p = user;
	char buf[8] = "8 bytes";

	return write(p->echo, buf, 8) == 8 && read(p->echo, buf, 8) == 8 ? 0 : -1;
}

static int ping(void *user)
{
	const struct place *p = user;

	return cove_env_ping(p->env, NULL);
}

static int read_file(void *user)
{
	const struct place *p = user;
	struct cove_file_read_bytes_result *r = NULL;
	int rc = cove_file_read_bytes(
		p->env, COVE_OPTS(cove_file_read_bytes_opts, .path = "read.bin"), &r, NULL);
	bool good = rc >= 0 && r->data.len == 1024;

	cove_file_read_bytes_result_free(r);
	return good ? 0 : -1;
}

/* Many at once: all are sent before the first is taken. */
static int read_many(void *user)
{
	const struct place *p = user;
	struct cove_call *calls[READS];
	int rc = 0;

	for (int i = 0; rc == 0 && i < READS; i++)
		rc = cove_submit(p->env, "file.read_bytes",
				 COVE_OPTS(cove_file_read_bytes_opts, .path = "read.bin"), NULL,
				 &calls[i], NULL);
	for (int i = 0; rc == 0 && i < READS; i++) {
		struct cove_file_read_bytes_result *r = NULL;

		rc = cove_call_take(calls[i], (void **)&r, NULL);
		rc = rc < 0 || r->data.len != 1024 ? -1 : 0;
		cove_file_read_bytes_result_free(r);
	}
	return rc;
}

static int read_direct(void *user)
{
	char buf[4096];
	int rc = 0;

	(void)user;
	for (int i = 0; rc == 0 && i < READS; i++) {
		int fd = open("read.bin", O_RDONLY | O_CLOEXEC);

		rc = read(fd, buf, sizeof(buf)) == 1024 ? 0 : -1;
		close(fd);
	}
	return rc;
}

static int write_file(void *user)
{
	const struct place *p = user;
	struct cove_file_write_result *r = NULL;
	int rc = cove_file_write_text(p->env,
				      COVE_OPTS(cove_file_write_opts, .path = "ours.txt",
						.data = {p->text, TEXT_BYTES},
						.mode = COVE_WRITE_UPSERT),
				      &r, NULL);

	cove_result_free(r);
	return rc;
}

static int write_raw(void *user)
{
	const struct place *p = user;
	int fd = open("base.tmp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, p->text, TEXT_BYTES) == TEXT_BYTES;

	if (fd >= 0)
		close(fd);
	return good && rename("base.tmp", "base.txt") == 0 ? raw(user) : -1;
}

static int make_file(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, data, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return good ? 0 : bench_failed(path, strerror(errno));
}

/* Puts a process on the nth of the processors that there are for all of them. */
static void put(pid_t pid, const cpu_set_t *all, int nth)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	nth %= CPU_COUNT(all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all) && nth-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(pid, sizeof(one), &one);
}

static int compare(struct place *p, struct bench_pair *pair)
{
	pair->user = p;
	pair->pairs = PAIRS;
	pair->block = BLOCK;
	return bench_pairs(pair);
}

static int run_all(struct place *p)
{
	struct bench_pair pairs[] = {
		{.name = "ping.ping",
		 .ours = {"cove_env_ping", ping},
		 .base = {"8 bytes there and back", raw},
		 .bar = 1.8,
		 .aim = 1.4},
		{.name = "ping.read-1k",
		 .ours = {"cove_file_read_bytes", read_file},
		 .base = {"8 bytes there and back", raw},
		 .bar = 2.5,
		 .aim = 1.4},
		{.name = "ping.write-4k",
		 .ours = {"cove_file_write_text", write_file},
		 .base = {"open, write, rename, and 8 bytes there and back", write_raw},
		 .bar = 3},
		{.name = "ping.reads-100",
		 .ours = {"100 cove_file_read_bytes, all sent first", read_many},
		 .base = {"100 times open, read, close", read_direct},
		 .bar = 4,
		 .aim = 2},
	};
	struct bench_pair near = {.name = "ping.same-cpu",
				  .ours = {"cove_env_ping", ping},
				  .base = {"8 bytes there and back", raw}};
	cpu_set_t all;
	int rc = sched_getaffinity(0, sizeof(all), &all);

	put(0, &all, 0);
	put(p->echo_pid, &all, 1);
	put(bench_guest(), &all, 1);
	for (size_t i = 0; rc == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
		rc = compare(p, &pairs[i]);
	put(0, &all, 1);
	return rc == 0 ? compare(p, &near) : rc;
}

int main(void)
{
	struct place p = {.env = bench_env_here()};
	int rc;

	p.echo = start_echo(&p.echo_pid);
	memset(p.text, 'x', TEXT_BYTES);
	rc = p.echo < 0 || !p.env || make_file("read.bin", p.text, 1024) < 0 ? -1 : run_all(&p);
	bench_env_close(p.env);
	return rc != 0;
}
