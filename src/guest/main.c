/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the guest: a clean state, the greeting, the first keeper while everything is small, the
 * loop.
 */
#include "guest/guest.h"

#include "base/fd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void flush_out(struct cv_guest *g)
{
	int rc = cv_conn_flush(&g->conn);
	bool pending = cv_conn_pending(&g->conn);

	if (rc < 0) {
		g->loop.stop = true; /* whoever would listen is gone */
		return;
	}
	if (pending == g->out_blocked)
		return;
	g->out_blocked = pending;
	if (g->conn.rfd == g->conn.wfd)
		cv_watch_mod(&g->loop, &g->in, pending ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void read_frames(struct cv_guest *g)
{
	struct cv_frame f;
	int rc = cv_conn_read(&g->conn);

	if (rc < 0) {
		g->loop.stop = true;
		return;
	}
	while (!g->loop.stop && (rc = cv_conn_next(&g->conn, &f)) > 0)
		cv_guest_on_frame(g, &f);
	if (rc < 0)
		cv_guest_break(g, g->conn.why ? g->conn.why : "out of memory");
}

static void on_input(struct cv_watch *watch, uint32_t events)
{
	struct cv_guest *g = cv_container(watch, struct cv_guest, in);

	if (events & EPOLLOUT)
		flush_out(g);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_frames(g);
}

static void on_output_ready(struct cv_watch *watch, uint32_t events)
{
	struct cv_guest *g = cv_container(watch, struct cv_guest, out);

	(void)events;
	flush_out(g);
}

static void after_round(void *user)
{
	struct cv_guest *g = user;

	if (cv_conn_pending(&g->conn) || g->out_blocked)
		flush_out(g);
	if (g->out.fn && g->conn.rfd != g->conn.wfd) {
		if (g->out_blocked && g->out.fd < 0)
			cv_watch_must(&g->loop, &g->out, g->conn.wfd, EPOLLOUT, on_output_ready);
		else if (!g->out_blocked)
			cv_watch_del(&g->loop, &g->out);
	}
}

void cv_guest_break(struct cv_guest *g, const char *why)
{
	fprintf(stderr, "cove-guest: the host broke the protocol: %s\n", why);
	g->loop.stop = true;
}

static int greet(struct cv_guest *g)
{
	char text[64];
	struct cv_frame f = {.kind = CV_FRAME_HELLO, .payload = text};
	int rc;

	f.len = (size_t)snprintf(text, sizeof(text), "{\"min\":%d,\"max\":%d}", CV_WIRE_VERSION,
				 CV_WIRE_VERSION);
	rc = cv_conn_send_raw(&g->conn, CV_MAGIC, CV_MAGIC_LEN);
	return rc < 0 ? rc : cv_conn_send(&g->conn, &f);
}

/* stdin and stdout are the connection; where they are one socket, one descriptor is enough. */
static int open_conn(struct cv_guest *g)
{
	struct stat in;
	struct stat out;
	int rfd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int wfd;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (rfd < 0 || null < 0 || fstat(STDIN_FILENO, &in) < 0 || fstat(STDOUT_FILENO, &out) < 0)
		return -errno;
	if (S_ISSOCK(in.st_mode) && in.st_ino == out.st_ino && in.st_dev == out.st_dev)
		wfd = rfd;
	else
		wfd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (wfd < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	close(null);
	cv_set_nonblock(rfd, true);
	cv_set_nonblock(wfd, true);
	cv_conn_init(&g->conn, rfd, wfd, false);
	return 0;
}

static int scratch(void *user, const char **ret_path, struct cove_error *err)
{
	struct cv_guest *g = user;
	int rc = cv_guest_tmp(g, err);

	*ret_path = g->setup->tmp_dir;
	return rc;
}

static int start(struct cv_guest *g)
{
	int rc = 0;

	syscall(SYS_close_range, 3, ~0U, 0);
	/* While this process may still open what is its own. */
	if (g->sandboxed)
		rc = cv_procs_go_first();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit is an error, not an end */
	umask(022);
	prctl(PR_SET_NAME, "cove-guest");
#ifndef COVE_SANITIZED
	/*
	 * Its memory and environment hold what commands must not see; leak detection would need
	 * them readable.
	 */
	prctl(PR_SET_DUMPABLE, 0);
#endif
	cv_guest_watch_memory();
	if (rc == 0)
		rc = cv_loop_init(&g->loop);
	if (rc == 0)
		rc = open_conn(g);
	/* The host reads this while the first keeper is forked. */
	if (rc == 0)
		rc = greet(g);
	if (rc == 0)
		rc = cv_procs_init(&g->procs, &g->loop, &g->space);
	if (rc == 0)
		rc = g->sandboxed ? cv_guest_begin_confined(g) : cv_procs_begin(&g->procs);
	g->streams.space = &g->space;
	g->observers.space = &g->space;
	g->observers.loop = &g->loop;
	g->procs.scratch = scratch;
	g->procs.scratch_user = g;
	if (rc == 0)
		rc = cv_workers_init(g);
	if (rc == 0)
		rc = cv_watch_add(&g->loop, &g->in, g->conn.rfd, EPOLLIN, on_input);
	g->out.fn = on_output_ready;
	g->loop.after_round = after_round;
	g->loop.user = g;
	return rc;
}

int main(int argc, char **argv)
{
	static struct cv_guest guest = {
		.out.fd = -1, .tmp_lock = -1, .origin = {.seed = -1, .upper = -1}};
	bool sandboxed = argc > 1 && strcmp(argv[1], "--sandbox") == 0;
	int rc;

	if (argc > 1 && !sandboxed) {
		printf("cove-guest %s: the part of cove that runs inside an environment; it speaks on stdin and stdout\n",
		       cove_version());
		return strcmp(argv[1], "--version") == 0 ? 0 : 2;
	}
	guest.sandboxed = sandboxed;
	rc = start(&guest);
	if (rc < 0)
		fprintf(stderr, "cove-guest: can't start: %s\n", strerror(-rc));
	else
		rc = cv_loop_run(&guest.loop);
	if (guest.loop.why)
		fprintf(stderr, "cove-guest: %s\n", guest.loop.why);
	cv_streams_stop(&guest.streams);
	cv_procs_stop(&guest.procs);
	_exit(rc < 0 ? 1 : 0);
}
