/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes, and other small things to do with a descriptor. */
#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

ssize_t cv_read_full(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, (char *)buf + done, len - done);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int cv_write_full(int fd, const void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

int cv_read_file(int dirfd, const char *path, size_t max, char **ret_data, size_t *ret_len)
{
	CV_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	CV_FREE char *data = NULL;
	size_t cap = 4096;
	size_t len = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *grown = realloc(data, cap + 1);
		ssize_t n;

		if (!grown)
			return -ENOMEM;
		data = grown;
		n = cv_read_full(fd, data + len, cap - len);
		if (n < 0)
			return (int)n;
		len += (size_t)n;
		if (len < cap)
			break;
		if (len > max)
			return -EFBIG;
		cap *= 2;
	}
	if (len > max)
		return -EFBIG;
	data[len] = '\0';
	*ret_data = TAKE(data);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int cv_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

void cv_random_name(char *dst, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t bytes[64];

	for (size_t i = 0; i < n; i++) {
		if (i % sizeof(bytes) == 0 && getrandom(bytes, sizeof(bytes), 0) < 0)
			memset(bytes, (int)getpid(), sizeof(bytes));
		dst[i] = letters[bytes[i % sizeof(bytes)] % (sizeof(letters) - 1)];
	}
	dst[n] = '\0';
}

int cv_fd_path(int fd, char *dst, size_t size)
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, dst, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	dst[n] = '\0';
	return 0;
}
