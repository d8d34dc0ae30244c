/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a task file.
 *
 * A regular file is read twice, so that nothing runs unless all of it is good and no more than one
 * line is in memory: once to check and count, once record by record. That it is the same both times
 * is proven by its size and time. From a pipe a line is read when a run has room for it, and only
 * after poll(2) said that there is something to read.
 */
#include "jobs/prompts.h"

#include "base/buf.h"
#include "base/path.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/stat.h>

#define CHUNK ((size_t)64 << 10)

struct cv_prompts {
	int fd;
	bool regular;
	bool eof;
	struct stat st; /* regular: as it was when it was opened */
	off_t offset;	/* regular: of the next byte to read */
	struct cv_buf buf;
	size_t pos;	/* first byte of buf that belongs to no line given out yet */
	size_t scanned; /* bytes behind pos that hold no line end */
	int64_t line;	/* lines given out */
	int64_t number; /* records among them */
	int64_t taken;	/* wanted records among those */
	int64_t total;
	struct cv_selection want;
	cv_path path; /* absolute */
};

static int check_unchanged(const struct cv_prompts *p, struct cove_error *err)
{
	struct stat now;

	if (fstat(p->fd, &now) == 0 && now.st_size == p->st.st_size &&
	    now.st_mtim.tv_sec == p->st.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == p->st.st_mtim.tv_nsec)
		return 0;
	cv_fail(err, COVE_E_CONFLICT, "'%s' was changed while the job was reading it", p->path);
	return err ? cv_err_path(err, p->path) : COVE_E_CONFLICT;
}

static ssize_t read_some(struct cv_prompts *p, char *chunk)
{
	struct pollfd in = {.fd = p->fd, .events = POLLIN};

	if (p->regular)
		return pread(p->fd, chunk, CHUNK, p->offset);
	if (poll(&in, 1, 0) > 0)
		return read(p->fd, chunk, CHUNK);
	errno = EAGAIN;
	return -1;
}

/* 1: there is more in buf, or the end was reached. */
static int fill(struct cv_prompts *p, struct cove_error *err)
{
	char chunk[CHUNK];
	ssize_t n;
	int rc = p->regular ? check_unchanged(p, err) : 0;

	if (rc < 0)
		return rc;
	n = read_some(p, chunk);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return CV_PROMPTS_WAIT;
	if (n < 0)
		return cv_fail_errno(err, errno, p->path, "can't read '%s'", p->path);
	p->eof = n == 0;
	p->offset += n;
	if (p->pos > 0)
		cv_buf_consume(&p->buf, p->pos);
	p->pos = 0;
	if (cv_buf_add(&p->buf, chunk, (size_t)n) < 0)
		return cv_fail(err, COVE_E_INTERNAL, "no memory for a line of '%s'", p->path);
	return 1;
}

/* 1: a line without its end, borrowed until the next call. 0: no more. */
static int next_line(struct cv_prompts *p, const char **ret, size_t *ret_len,
		     struct cove_error *err)
{
	for (;;) {
		const char *start = p->buf.data + p->pos;
		size_t len = p->buf.len - p->pos;
		const char *end = len > 0 ? memchr(start + p->scanned, '\n', len - p->scanned) :
					    NULL;
		bool last = !end && p->eof;
		int rc;

		p->scanned = end || last ? 0 : len;
		len = end ? (size_t)(end - start) : len;
		if (len > CV_LINE_MAX)
			return cv_record_refuse(p->path, p->line + 1, NULL, NULL, err,
						"the line is longer than 16 MiB");
		if (end || (last && len > 0)) {
			p->pos += len + (end ? 1 : 0);
			p->line++;
			*ret = start;
			*ret_len = len;
			return 1;
		}
		if (last)
			return 0;
		if ((rc = fill(p, err)) != 1)
			return rc;
	}
}

static bool is_blank(const char *text, size_t len)
{
	while (len > 0 && strchr(" \t\r", text[len - 1]) && text[len - 1])
		len--;
	return len == 0;
}

/* Any record, wanted or not. */
static int next_record(struct cv_prompts *p, struct cv_record *ret, struct cove_error *err)
{
	const char *text = NULL;
	size_t len = 0;
	int rc;

	do
		rc = next_line(p, &text, &len, err);
	while (rc == 1 && is_blank(text, len));
	if (rc != 1)
		return rc;
	*ret = (struct cv_record){.number = ++p->number, .line = p->line};
	rc = cv_record_parse(ret, p->path, text, len, err);
	return rc < 0 ? rc : 1;
}

static bool wanted(const struct cv_prompts *p, int64_t number)
{
	return p->want.shard_count == 0 ||
	       (number - 1) % p->want.shard_count == p->want.shard_index - 1;
}

static bool enough(const struct cv_prompts *p)
{
	return p->want.limit > 0 && p->taken >= p->want.limit;
}

int cv_prompts_next(struct cv_prompts *p, struct cv_record *ret, struct cove_error *err)
{
	while (!enough(p)) {
		int rc = next_record(p, ret, err);

		if (rc != 1)
			return rc;
		if (wanted(p, ret->number)) {
			p->taken++;
			return 1;
		}
		cv_record_done(ret);
	}
	return 0;
}

static void rewind_to_start(struct cv_prompts *p)
{
	p->eof = false;
	p->offset = 0;
	p->buf.len = p->pos = p->scanned = 0;
	p->line = p->number = p->taken = 0;
}

/* The whole file, also what the selection leaves out. */
static int check_all(struct cv_prompts *p, struct cove_error *err)
{
	struct cv_record rec;
	int rc;

	while ((rc = next_record(p, &rec, err)) == 1 || rc == CV_PROMPTS_WAIT) {
		if (rc == CV_PROMPTS_WAIT)
			continue;
		if (!enough(p) && wanted(p, rec.number))
			p->taken++;
		cv_record_done(&rec);
	}
	p->total = p->taken;
	rewind_to_start(p);
	return rc;
}

static int make_absolute(struct cv_prompts *p, const char *path, struct cove_error *err)
{
	CV_FREE char *cwd = path[0] == '/' ? strdup("/") : getcwd(NULL, 0);
	int rc = cv_path_check(path, "tasks", err);

	if (rc < 0)
		return rc;
	if (strcmp(path, "-") == 0)
		path = "/dev/stdin";
	if (!cwd)
		return cv_fail_errno(err, errno, NULL, "can't tell the current directory");
	if (path[0] == '/')
		cv_text_copy(p->path, sizeof(p->path), path);
	else if (cv_path_join(p->path, cwd, path) < 0)
		return cv_fail_arg(err, "tasks", "at most 4096 bytes",
				   "is longer than a path can be");
	cv_path_normalise(p->path);
	return 0;
}

/* O_NONBLOCK: opening a FIFO doesn't wait for its writer. */
static int open_input(struct cv_prompts *p, const char *path, struct cove_error *err)
{
	bool from_stdin = strcmp(path, "-") == 0;

	p->fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
			     open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (p->fd < 0 || fstat(p->fd, &p->st) < 0)
		return cv_fail_errno(err, errno, p->path, "can't read '%s'", p->path);
	if (S_ISDIR(p->st.st_mode))
		return cv_fail_errno(err, EISDIR, p->path, "can't read '%s'", p->path);
	p->regular = S_ISREG(p->st.st_mode) && !from_stdin;
	return 0;
}

int cv_prompts_open(const char *path, const struct cv_selection *want, struct cv_prompts **ret,
		    struct cove_error *err)
{
	CV_PROMPTS_SCOPE struct cv_prompts *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	p->fd = -1;
	p->total = -1;
	p->want = *want;
	p->buf = CV_BUF(CV_LINE_MAX + 2 * CHUNK);
	if ((rc = make_absolute(p, path, err)) < 0 || (rc = open_input(p, path, err)) < 0)
		return rc;
	if (p->regular && (rc = check_all(p, err)) < 0)
		return rc;
	*ret = TAKE(p);
	return 0;
}

void cv_prompts_free(struct cv_prompts *p)
{
	if (!p)
		return;
	cv_close(&p->fd);
	cv_buf_done(&p->buf);
	free(p);
}

int64_t cv_prompts_total(const struct cv_prompts *p)
{
	return p->total;
}

int cv_prompts_fd(const struct cv_prompts *p)
{
	return p->fd;
}
