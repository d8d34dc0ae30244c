/* SPDX-License-Identifier: Apache-2.0 */
/* Two files: the same or not, and their bytes. */
#include "changes/changes.h"

#include "base/fd.h"

#include <fcntl.h>

#define PIECE ((size_t)64 << 10)

/* Never waits for whoever else has it open, and opens nothing but a plain file. */
static int open_file(const struct cv_pair *p, int side)
{
	struct stat st;
	int fd = openat(p->dirs[side], p->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ELOOP ? -EINVAL : -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int read_link(const struct cv_pair *p, int side, cv_path ret)
{
	ssize_t n = readlinkat(p->dirs[side], p->name, ret, sizeof(cv_path) - 1);

	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return (int)n;
}

static int same_links(const struct cv_pair *p)
{
	cv_path a;
	cv_path b;
	int rc = read_link(p, 0, a);

	if (rc >= 0)
		rc = read_link(p, 1, b);
	return rc < 0 ? rc : strcmp(a, b) == 0;
}

static int same_bytes(int a, int b)
{
	CV_FREE char *buf = malloc(2 * PIECE);
	ssize_t n;
	ssize_t m;

	if (!buf)
		return -ENOMEM;
	do {
		n = cv_read_full(a, buf, PIECE);
		m = cv_read_full(b, buf + PIECE, PIECE);
		if (n < 0 || m < 0)
			return (int)CV_MIN(n, m);
		if (n != m || memcmp(buf, buf + PIECE, (size_t)n) != 0)
			return 0;
	} while (n > 0);
	return 1;
}

int cv_same_content(const struct cv_pair *p)
{
	CV_CLOSE int a = -1;
	CV_CLOSE int b = -1;

	if (S_ISLNK(p->st[1].st_mode))
		return same_links(p);
	if (!S_ISREG(p->st[1].st_mode))
		return 1;
	b = open_file(p, 1);
	if (b < 0)
		return b;
	if (p->st[0].st_size != p->st[1].st_size)
		return 0;
	a = open_file(p, 0);
	return a < 0 ? a : same_bytes(a, b);
}

int cv_content(const struct cv_pair *p, int side, char **ret, size_t *ret_len)
{
	CV_FREE char *data = NULL;
	CV_CLOSE int fd = -1;
	size_t size;
	ssize_t n;

	if (!p->there[side] || S_ISLNK(p->st[side].st_mode)) {
		cv_path target = "";

		n = p->there[side] ? read_link(p, side, target) : 0;
		if (n < 0)
			return (int)n;
		*ret = strdup(target);
		*ret_len = (size_t)n;
		return *ret ? 0 : -ENOMEM;
	}
	fd = open_file(p, side);
	if (fd < 0)
		return fd;
	if ((uint64_t)p->st[side].st_size > CV_CONTENT_MAX)
		return -EFBIG;
	/* It may have grown since; what it has by now is as good. */
	size = (size_t)p->st[side].st_size + 1;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	n = cv_read_full(fd, data, size);
	if (n < 0)
		return (int)n;
	*ret_len = CV_MIN((size_t)n, size - 1);
	*ret = TAKE(data);
	return 0;
}
