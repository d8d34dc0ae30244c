/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a command's stdin from a file or from ours. */
#include "cli/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_null_device(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

static bool is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

int stdin_feed_open(struct stdin_feed *f, const char *file)
{
	f->eof = f->closed = false;
	f->read_error = 0;
	f->at = f->len = 0;
	f->fd = STDIN_FILENO;
	if (file && strcmp(file, "-") != 0)
		f->fd = open(file, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return -errno;
	if (is_directory(f->fd)) {
		stdin_feed_close(f);
		return -EISDIR;
	}
	f->eof = is_null_device(f->fd);
	if (f->eof)
		stdin_feed_close(f);
	return 0;
}

void stdin_feed_close(struct stdin_feed *f)
{
	if (f->fd > STDERR_FILENO)
		close(f->fd);
	f->fd = -1;
}

int stdin_feed_fd(const struct stdin_feed *f)
{
	return f->at == f->len && !f->eof ? f->fd : -1;
}

/* Only after poll(2) said that read(2) won't wait, since others may share the descriptor's mode. */
void stdin_feed_read(struct stdin_feed *f)
{
	struct pollfd in = {.fd = stdin_feed_fd(f), .events = POLLIN};
	ssize_t n;

	if (in.fd < 0 || poll(&in, 1, 0) <= 0)
		return;
	n = read(f->fd, f->buf, sizeof(f->buf));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	f->read_error = n < 0 ? errno : 0;
	f->eof = n <= 0;
	f->at = 0;
	f->len = n > 0 ? (size_t)n : 0;
}

void stdin_feed(struct stdin_feed *f, struct cove_call *call)
{
	int64_t n = 0;

	if (f->closed)
		return;
	stdin_feed_read(f);
	if (f->at < f->len)
		n = cove_call_write(call, f->buf + f->at, f->len - f->at, NULL);
	if (n > 0)
		f->at += (size_t)n;
	if (n >= 0 && !(f->eof && f->at == f->len))
		return;
	cove_call_write(call, "", 0, NULL);
	stdin_feed_close(f);
	f->closed = true;
}
