/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file: large ranges are copied by the kernel (which may share blocks instead), holes
 * are skipped.
 */
#include "files/copy_internal.h"

/* Copied between two looks at the cancel flag. */
#define CHUNK ((size_t)8 << 20)

/* Copies until len bytes or the end; gives how many, or -errno. */
static off_t copy_by_hand(struct cv_copier *c, int in, int out, off_t at, off_t len)
{
	off_t done = 0;

	while (done < len) {
		size_t want = (size_t)CV_MIN(len - done, (off_t)CV_COPY_BUFFER);
		ssize_t n = pread(in, c->buffer, want, at + done);
		ssize_t put = 0;

		if (cv_copy_stopped(c->team))
			return -ECANCELED;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : done;
		while (put < n) {
			ssize_t m =
				pwrite(out, c->buffer + put, (size_t)(n - put), at + done + put);

			if (m < 0 && errno != EINTR)
				return -errno;
			put += m < 0 ? 0 : m;
		}
		done += n;
	}
	return done;
}

static bool is_refusal(int errnum)
{
	return errnum == EXDEV || errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ENOSYS;
}

/*
 * The same by the kernel as far as it will; 0 bytes may mean that it can't read this kind of file.
 */
static off_t copy_range(struct cv_copier *c, int in, int out, off_t at, off_t len)
{
	off_t done = 0;
	off_t rest;

	while (done < len && !c->by_hand) {
		loff_t from = at + done;
		loff_t to = from;
		size_t want = (size_t)CV_MIN(len - done, (off_t)CHUNK);
		ssize_t n = copy_file_range(in, &from, out, &to, want, 0);

		if (cv_copy_stopped(c->team))
			return -ECANCELED;
		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !is_refusal(errno))
			return -errno;
		c->by_hand = n < 0;
		done += n < 0 ? 0 : n;
	}
	if (done == len)
		return done;
	rest = copy_by_hand(c, in, out, at + done, len - done);
	return rest < 0 ? rest : done + rest;
}

/* Moves *at to the next data and sets *ret_end to where it ends, both at most size. */
static void next_data(int in, off_t size, off_t *at, off_t *ret_end)
{
	off_t data = lseek(in, *at, SEEK_DATA);
	off_t hole = data < 0 ? -1 : lseek(in, data, SEEK_HOLE);

	if (data < 0 && errno == ENXIO)
		*at = size;
	else if (data >= 0)
		*at = CV_MIN(data, size);
	*ret_end = hole < 0 ? size : CV_MIN(hole, size);
}

int cv_copy_content(struct cv_copier *c, int in, int out, const struct stat *st)
{
	bool has_holes = (off_t)st->st_blocks * 512 < st->st_size;
	off_t at = 0;
	off_t n;

	if (st->st_size == 0) {
		n = copy_by_hand(c, in, out, 0, INT64_MAX); /* as below /proc */
		return n < 0 ? (int)n : 0;
	}
	/* Asking the kernel to do it costs more than doing it, where one piece is all. */
	if (!has_holes && st->st_size <= (off_t)CV_COPY_BUFFER) {
		n = copy_by_hand(c, in, out, 0, st->st_size);
		return n < 0 ? (int)n : 0;
	}
	while (at < st->st_size) {
		off_t end = st->st_size;

		if (has_holes)
			next_data(in, st->st_size, &at, &end);
		n = copy_range(c, in, out, at, end - at);
		if (n < 0)
			return (int)n;
		if (n < end - at)
			return 0; /* it has become shorter meanwhile */
		at = end;
	}
	return has_holes && ftruncate(out, st->st_size) < 0 ? -errno : 0;
}
