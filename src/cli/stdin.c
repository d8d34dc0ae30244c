/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a command's stdin from ours. */
#include "cli/stdin.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_null_device(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

void stdin_feed_init(struct stdin_feed *f)
{
	f->fd = is_null_device(STDIN_FILENO) ? -1 : STDIN_FILENO;
	f->eof = false;
	f->at = f->len = 0;
}

int stdin_feed_fd(const struct stdin_feed *f)
{
	return f->at == f->len && !f->eof ? f->fd : -1;
}

/* Only after poll(2) said that read(2) won't wait, since others may share the descriptor's mode. */
static void read_more(struct stdin_feed *f)
{
	struct pollfd in = {.fd = f->fd, .events = POLLIN};
	ssize_t n;

	if (poll(&in, 1, 0) <= 0)
		return;
	n = read(f->fd, f->buf, sizeof(f->buf));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	f->eof = n <= 0;
	f->at = 0;
	f->len = n > 0 ? (size_t)n : 0;
}

void stdin_feed(struct stdin_feed *f, struct cove_call *call)
{
	int64_t n = 0;

	if (f->fd < 0)
		return;
	if (f->at == f->len && !f->eof)
		read_more(f);
	if (f->at < f->len)
		n = cove_call_write(call, f->buf + f->at, f->len - f->at, NULL);
	if (n > 0)
		f->at += (size_t)n;
	if (f->eof && f->at == f->len)
		cove_call_write(call, "", 0, NULL);
	if (n < 0 || (f->eof && f->at == f->len))
		f->fd = -1;
}
