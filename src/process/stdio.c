/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output pipes of a command.
 *
 * A pipe is read into its tape until it has nothing more to give. With a live reader the tape never
 * runs ahead of it: a pipe whose reader has no credit left is not read, and the command waits,
 * which is how no byte is lost. Without one the command never waits.
 */
#include "process/procs_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>

#define FILL_MOST (1u << 20)

static void on_output(struct cv_watch *watch, uint32_t events);

/* A pipe whose end `ours` (0 reading, 1 writing) does not block. */
int cv_pipe_make(int ours, int *ret_ours, int *ret_theirs)
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

int cv_stdio_open(struct cv_process *p, const struct cove_exec_opts *req, int child_fds[3])
{
	int rc = p->tty ? cv_tty_open(p, req->tty, child_fds) :
			  cv_stdin_open(p, req, &child_fds[0]);

	for (int i = 0; i < 2; i++) {
		struct cv_pipe *pipe = &p->pipes[i];

		pipe->process = p;
		pipe->stream = p->merged ? COVE_STREAM_OUTPUT :
			       i == 0	 ? COVE_STREAM_STDOUT :
					   COVE_STREAM_STDERR;
		cv_tape_init(&pipe->tape, req->output.policy, req->output.retain_bytes,
			     p->is_exec ? (size_t)p->max_output / 2 + 8 : 0);
		cv_capture_open(pipe);
		if (rc == 0 && !p->tty && !(p->merged && i == 1))
			rc = cv_pipe_make(0, &pipe->fd, &child_fds[1 + i]);
	}
	if (p->merged)
		p->pipes[1].tape.complete = true;
	if (rc == 0 && p->merged && !p->tty) {
		child_fds[2] = fcntl(child_fds[1], F_DUPFD_CLOEXEC, 3);
		rc = child_fds[2] < 0 ? -errno : 0;
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

void cv_stdio_close(struct cv_process *p)
{
	close_pipe(&p->pipes[0]);
	close_pipe(&p->pipes[1]);
	cv_stdin_close(p);
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

static bool beyond_limit(const struct cv_process *p)
{
	return p->output_limit &&
	       p->pipes[0].tape.produced + p->pipes[1].tape.produced > p->output_limit;
}

/* Reads once as much as there is and may be; false when the pipe has ended. */
static bool fill(struct cv_pipe *pipe, size_t most)
{
	ssize_t n = cv_tape_fill(&pipe->tape, pipe->fd, most);

	if (pipe->tape.over || beyond_limit(pipe->process))
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
			cv_watch_must(p->procs->loop, &pipe->watch, pipe->fd, EPOLLIN, on_output);
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
	/* A terminal does not say how much it holds, but nobody outside of the tree can have it. */
	if (pipe->process->tty)
		left = INT_MAX;
	else if (ioctl(pipe->fd, FIONREAD, &left) < 0)
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
