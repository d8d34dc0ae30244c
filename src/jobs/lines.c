/* SPDX-License-Identifier: Apache-2.0 */
/* Appends whole lines; what a full disk cut short is cut off again. */
#include "jobs/lines.h"

#define PARTS_MAX 4

static void advance(struct iovec **parts, size_t *count, size_t n)
{
	while (*count > 0 && n >= (*parts)->iov_len) {
		n -= (*parts)->iov_len;
		(*parts)++;
		(*count)--;
	}
	if (*count > 0) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + n;
		(*parts)->iov_len -= n;
	}
}

/* A regular file takes all at once, or says with the next write why it did not. */
static int write_parts(int fd, struct iovec *parts, size_t count)
{
	while (count > 0) {
		ssize_t n = writev(fd, parts, (int)count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		advance(&parts, &count, (size_t)n);
	}
	return 0;
}

int cv_lines_append(struct cv_lines *l, const struct iovec *parts, size_t count,
		    struct cove_error *err)
{
	struct iovec left[PARTS_MAX];
	int64_t total = 0;
	int rc = 0;

	count = CV_MIN(count, CV_LEN(left));
	for (size_t i = 0; i < count; i++) {
		left[i] = parts[i];
		total += (int64_t)parts[i].iov_len;
	}
	if (l->torn && ftruncate(l->fd, l->len) < 0)
		rc = -errno;
	if (rc == 0) {
		rc = write_parts(l->fd, left, count);
		l->torn = rc < 0 && ftruncate(l->fd, l->len) < 0;
	}
	if (rc < 0)
		return cv_fail_errno(err, -rc, l->path, "can't write '%s'", l->path);
	l->len += total;
	return 0;
}
