/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipes of a command.
 *
 * Output is read into its tape until the pipe has nothing more to give. With a live reader the tape
 * never runs ahead of it: a pipe whose reader has no credit left is not read, and the command
 * waits, which is how no byte is lost. Without one the command never waits. Input is written as far
 * as the pipe takes it and queued behind that.
 */
#include "process/procs_internal.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#define FILL_MOST (1u << 20)
#define QUEUE_MAX (64u << 20)
#define LIVE_MOST (64u << 10)

static void on_output(struct cv_watch *watch, uint32_t events);
static cv_tape_sink send_live;
static void on_stdin(struct cv_watch *watch, uint32_t events);

/* A pipe whose end `ours` (0 reading, 1 writing) does not block. */
static int make_pipe(int ours, int *ret_ours, int *ret_theirs)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	if (fcntl(fds[ours], F_SETFL, O_NONBLOCK | (ours ? O_WRONLY : O_RDONLY)) < 0) {
		int rc = -errno;

		close(fds[0]);
		close(fds[1]);
		return rc;
	}
	*ret_ours = fds[ours];
	*ret_theirs = fds[!ours];
	return 0;
}

static int open_stdin(struct cv_process *p, const struct cove_exec_opts *req, int *child_fd)
{
	p->in.fd = -1;
	p->in.watch.fd = -1;
	p->in.queue = CV_BUF(QUEUE_MAX);
	if (!req->stdin_data.data && !req->keep_stdin_open) {
		*child_fd = p->procs->null_fd;
		return 0;
	}
	return make_pipe(1, &p->in.fd, child_fd);
}

int cv_stdio_open(struct cv_process *p, const struct cove_exec_opts *req, int child_fds[3])
{
	int rc = open_stdin(p, req, &child_fds[0]);

	for (int i = 0; i < 2; i++) {
		struct cv_pipe *pipe = &p->pipes[i];

		pipe->process = p;
		pipe->fd = -1;
		pipe->watch.fd = -1;
		pipe->stream = p->merged ? COVE_STREAM_OUTPUT :
			       i == 0	 ? COVE_STREAM_STDOUT :
					   COVE_STREAM_STDERR;
		cv_tape_init(&pipe->tape, req->output.policy, req->output.retain_bytes,
			     p->is_exec ? (size_t)p->max_output / 2 + 8 : 0);
		pipe->tape.sink = p->live ? send_live : NULL;
		pipe->tape.sink_user = pipe;
		if (rc == 0 && !(p->merged && i == 1))
			rc = make_pipe(0, &pipe->fd, &child_fds[1 + i]);
	}
	if (rc == 0 && p->merged) {
		child_fds[2] = fcntl(child_fds[1], F_DUPFD_CLOEXEC, 3);
		rc = child_fds[2] < 0 ? -errno : 0;
		p->pipes[1].tape.complete = true;
	}
	return rc;
}

int cv_stdio_watch(struct cv_process *p)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++)
		if (p->pipes[i].fd >= 0)
			rc = cv_watch_add(p->procs->loop, &p->pipes[i].watch, p->pipes[i].fd,
					  EPOLLIN, on_output);
	return rc;
}

static void close_pipe(struct cv_pipe *pipe)
{
	cv_watch_del(pipe->process->procs->loop, &pipe->watch);
	cv_close(&pipe->fd);
	pipe->tape.complete = true;
}

static void close_stdin(struct cv_process *p)
{
	cv_watch_del(p->procs->loop, &p->in.watch);
	cv_close(&p->in.fd);
	cv_buf_done(&p->in.queue);
}

void cv_stdio_close(struct cv_process *p)
{
	close_pipe(&p->pipes[0]);
	close_pipe(&p->pipes[1]);
	close_stdin(p);
}

bool cv_stdio_open_pipes(const struct cv_process *p)
{
	return p->pipes[0].fd >= 0 || p->pipes[1].fd >= 0;
}

static size_t credit_of(const struct cv_pipe *pipe)
{
	const struct cv_process *p = pipe->process;
	int slot = pipe->stream == COVE_STREAM_STDERR ? 2 : 1;

	return p->live && p->starter ? p->starter->credit[slot] : FILL_MOST;
}

/* Output goes to the live reader as it is read; credit bounds what is read at a time. */
static void send_live(void *user, const char *data, size_t len)
{
	struct cv_pipe *pipe = user;
	struct cv_process *p = pipe->process;

	for (size_t at = 0; p->starter && at < len;) {
		size_t n = CV_MIN(len - at, (size_t)LIVE_MOST);

		p->starter->live(p->starter, pipe->stream, data + at, n);
		at += n;
	}
}

/* Reads once as much as there is and may be; false when the pipe has ended. */
static bool fill(struct cv_pipe *pipe, size_t most)
{
	ssize_t n = cv_tape_fill(&pipe->tape, pipe->fd, most);

	if (pipe->tape.over)
		cv_process_end(pipe->process, COVE_END_OUTPUT_LIMIT, 0);
	return n > 0 || n == -EAGAIN;
}

static void on_output(struct cv_watch *watch, uint32_t events)
{
	struct cv_pipe *pipe = cv_container(watch, struct cv_pipe, watch);
	struct cv_process *p = pipe->process;
	size_t credit = CV_MIN(credit_of(pipe), (size_t)FILL_MOST);

	(void)events;
	if (credit == 0) {
		/*
		 * Not even a hang-up may wake us until credit comes, so the descriptor leaves the
		 * set.
		 */
		cv_watch_del(p->procs->loop, &pipe->watch);
		return;
	}
	if (!fill(pipe, credit))
		close_pipe(pipe);
	cv_waits_check(p);
	cv_exec_on_output(p);
}

void cv_stdio_resume(struct cv_process *p)
{
	for (int i = 0; i < 2; i++) {
		struct cv_pipe *pipe = &p->pipes[i];

		if (pipe->fd >= 0 && pipe->watch.fd < 0 && credit_of(pipe) > 0)
			cv_watch_add(p->procs->loop, &pipe->watch, pipe->fd, EPOLLIN, on_output);
	}
	if (p->state == CV_PROCESS_CLEAN)
		cv_process_settle(p);
}

/*
 * What is in a pipe now was written before this moment; what a stranger adds later is none of the
 * command's.
 */
static bool drain_pipe(struct cv_pipe *pipe)
{
	int left = 0;

	if (pipe->fd < 0)
		return true;
	if (ioctl(pipe->fd, FIONREAD, &left) < 0)
		left = 0;
	while (left > 0) {
		size_t most = CV_MIN((size_t)left, credit_of(pipe));
		int64_t before = pipe->tape.produced;

		if (most == 0)
			return false;
		if (!fill(pipe, most) || pipe->tape.produced == before)
			break;
		left -= (int)(pipe->tape.produced - before);
	}
	return true;
}

bool cv_stdio_drain(struct cv_process *p)
{
	bool out = drain_pipe(&p->pipes[0]);
	bool err = drain_pipe(&p->pipes[1]);

	return out && err;
}

static void stdin_broken(struct cv_process *p)
{
	p->in.broken = true;
	close_stdin(p);
}

static void took(struct cv_process *p, size_t n)
{
	p->in.taken += (int64_t)n;
	if (p->starter && p->starter->has_stdin && n > 0)
		p->starter->want_stdin(p->starter, n);
}

/* Writes from the queue until the pipe is full. */
static void push_stdin(struct cv_process *p)
{
	while (p->in.fd >= 0 && p->in.queue.len > 0) {
		ssize_t n = write(p->in.fd, p->in.queue.data,
				  CV_MIN(p->in.queue.len, (size_t)FILL_MOST));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (p->in.watch.fd < 0)
				cv_watch_add(p->procs->loop, &p->in.watch, p->in.fd, EPOLLOUT,
					     on_stdin);
			return;
		}
		if (n < 0) {
			stdin_broken(p);
			return;
		}
		cv_buf_consume(&p->in.queue, (size_t)n);
		took(p, (size_t)n);
	}
	if (p->in.fd < 0)
		return;
	cv_watch_del(p->procs->loop, &p->in.watch);
	if (p->in.close_after)
		close_stdin(p);
}

static void on_stdin(struct cv_watch *watch, uint32_t events)
{
	struct cv_process *p = cv_container(watch, struct cv_process, in.watch);

	(void)events;
	push_stdin(p);
	cv_waits_check(p);
}

int cv_stdin_add(struct cv_process *p, const char *data, size_t len)
{
	p->in.queued += (int64_t)len;
	if (p->in.fd < 0) {
		took(p, p->in.broken ? len : 0);
		return 0;
	}
	if (cv_buf_add(&p->in.queue, data, len) < 0)
		return -ENOMEM;
	push_stdin(p);
	return 0;
}

void cv_stdin_finish(struct cv_process *p)
{
	p->in.close_after = true;
	push_stdin(p);
}
