/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stdin of a command: written as far as the pipe takes it, queued behind that.
 *
 * A terminal has no end to close; its end of input is a character (EOT) that the line discipline
 * understands.
 */
#include "process/procs_internal.h"

#include <fcntl.h>

#define PUSH_MOST (1u << 20)
#define EOT "\x04"

static void on_stdin(struct cv_watch *watch, uint32_t events);

int cv_stdin_open(struct cv_process *p, const struct cove_exec_opts *req, int *child_fd)
{
	if (!req->stdin_data.data && !req->keep_stdin_open) {
		*child_fd = p->procs->null_fd;
		return 0;
	}
	return cv_pipe_make(1, &p->in.fd, child_fd);
}

void cv_stdin_close(struct cv_process *p)
{
	cv_watch_del(p->procs->loop, &p->in.watch);
	cv_close(&p->in.fd);
	cv_buf_done(&p->in.queue);
}

static void stdin_broken(struct cv_process *p)
{
	p->in.broken = true;
	cv_stdin_close(p);
}

static void took(struct cv_process *p, size_t n)
{
	p->in.taken += (int64_t)n;
	if (p->starter && p->starter->has_stdin && n > 0)
		p->starter->want_stdin(p->starter, n);
}

/* Drops what was written, seldom enough that moving the rest costs little. */
static void compact(struct cv_stdin *in)
{
	if (in->queue_at < in->queue.len && in->queue_at < in->queue.len / 2)
		return;
	cv_buf_consume(&in->queue, in->queue_at);
	in->queue_at = 0;
}

/* Writes from the queue until the pipe is full. */
static void push_stdin(struct cv_process *p)
{
	while (p->in.fd >= 0 && p->in.queue.len > p->in.queue_at) {
		ssize_t n = write(p->in.fd, p->in.queue.data + p->in.queue_at,
				  CV_MIN(p->in.queue.len - p->in.queue_at, (size_t)PUSH_MOST));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (p->in.watch.fd < 0)
				cv_watch_must(p->procs->loop, &p->in.watch, p->in.fd, EPOLLOUT,
					      on_stdin);
			return;
		}
		if (n < 0) {
			stdin_broken(p);
			return;
		}
		p->in.queue_at += (size_t)n;
		compact(&p->in);
		took(p, (size_t)n);
	}
	if (p->in.fd < 0)
		return;
	cv_watch_del(p->procs->loop, &p->in.watch);
	if (p->in.close_after && !p->tty)
		cv_stdin_close(p);
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
	if (p->in.fd < 0) {
		p->in.queued += (int64_t)len;
		took(p, p->in.broken ? len : 0);
		return 0;
	}
	if (cv_buf_add(&p->in.queue, data, len) < 0)
		return -ENOMEM;
	p->in.queued += (int64_t)len;
	push_stdin(p);
	return 0;
}

void cv_stdin_finish(struct cv_process *p)
{
	if (p->tty && !p->in.close_after && p->in.fd >= 0)
		cv_buf_adds(&p->in.queue, EOT EOT);
	p->in.close_after = true;
	push_stdin(p);
}
