/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a job.
 *
 * `<output>.partial` belongs to the process that holds its lock; the name is created exclusively,
 * so of two jobs one wins. Each of its lines is {"record":N,"trace":{…}}. In memory is only where
 * each trace begins. The output is written beside its final place and renamed, so under its name is
 * always a whole one: the old, or the new.
 */
#include "jobs/ledger.h"

#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define CHUNK ((size_t)64 << 10)

/* Where a trace stands in the partial file. */
struct span {
	int64_t record;
	int64_t at;
	size_t len;
};

struct cv_ledger {
	bool overwrite;
	int dirfd;
	cv_path output;	  /* absolute, not a link */
	const char *name; /* its last component */
	struct cv_lines partial;
	struct cv_lines failures;
	struct span *spans;
	size_t count;
	size_t cap;
};

/* Makes the output's path absolute and follows a final link, since rename(2) would replace it. */
static int find_output(struct cv_ledger *l, const char *output, struct cove_error *err)
{
	CV_FREE char *cwd = getcwd(NULL, 0);
	CV_FREE char *real = NULL;
	char *slash;
	int rc = cv_path_check(output, "output", err);

	if (rc < 0)
		return rc;
	real = realpath(output, NULL);
	if (real || output[0] == '/')
		cv_text_copy(l->output, sizeof(l->output), real ? real : output);
	else if (!cwd || cv_path_join(l->output, cwd, output) < 0)
		return cv_fail_arg(err, "output", NULL, "can't be made an absolute path");
	slash = strrchr(l->output, '/');
	l->name = slash ? slash + 1 : "";
	if (!slash || *l->name == '\0' || strcmp(l->name, ".") == 0 || strcmp(l->name, "..") == 0)
		return cv_fail_arg(err, "output", "give the path of a file", "is a directory");
	*slash = '\0';
	l->dirfd = open(slash == l->output ? "/" : l->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	if (l->dirfd < 0)
		return cv_fail_errno(err, errno, output, "can't open the directory of '%s'",
				     output);
	return 0;
}

static int conflict(struct cove_error *err, const char *path, const char *hint, const char *what)
{
	cv_fail(err, COVE_E_CONFLICT, "'%s' %s", path, what);
	if (hint)
		cv_err_hint(err, "%s", hint);
	return err ? cv_err_path(err, path) : COVE_E_CONFLICT;
}

static int check_output(const struct cv_ledger *l, const char *tasks, struct cove_error *err)
{
	struct stat st;
	struct stat in;

	if (fstatat(l->dirfd, l->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 :
					 cv_fail_errno(err, errno, l->output, "can't look at '%s'",
						       l->output);
	if (S_ISDIR(st.st_mode))
		return cv_fail_errno(err, EISDIR, l->output, "can't write '%s'", l->output);
	if (!S_ISREG(st.st_mode))
		return cv_fail_arg(err, "output", "give the path of a file",
				   "is not a regular file");
	if (tasks && stat(tasks, &in) == 0 && in.st_dev == st.st_dev && in.st_ino == st.st_ino)
		return cv_fail_arg(err, "output", "give another path", "is the task file itself");
	if (!l->overwrite)
		return conflict(err, l->output,
				"--overwrite replaces it when the new one is complete",
				"already exists");
	return 0;
}

/* Locks the file behind fd, and proves that it is still the one with the partial's name. */
static int lock(const struct cv_ledger *l, int fd, const char *name, struct cove_error *err)
{
	struct stat here;
	struct stat there;

	bool held = flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (!held && errno != EWOULDBLOCK)
		return cv_fail_errno(err, errno, l->partial.path, "can't lock '%s'",
				     l->partial.path);
	if (!held || fstat(fd, &here) < 0 ||
	    fstatat(l->dirfd, name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		return conflict(err, l->partial.path, NULL, "is in use by another job");
	if (!S_ISREG(here.st_mode))
		return conflict(err, l->partial.path, NULL, "is not a regular file");
	return 0;
}

static int open_partial(struct cv_ledger *l, struct cove_error *err)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	const char *name = strrchr(l->partial.path, '/') + 1;
	CV_CLOSE int fd = openat(l->dirfd, name, flags | O_CREAT | O_EXCL, 0666);
	bool existed = fd < 0 && errno == EEXIST;
	int rc;

	if (existed)
		fd = openat(l->dirfd, name, flags);
	if (fd < 0)
		return cv_fail_errno(err, errno, l->partial.path, "can't create '%s'",
				     l->partial.path);
	if ((rc = lock(l, fd, name, err)) < 0)
		return rc;
	if (existed && !l->overwrite)
		return conflict(err, l->partial.path,
				"it holds what an earlier job completed; --overwrite starts afresh",
				"already exists");
	if (existed && ftruncate(fd, 0) < 0)
		return cv_fail_errno(err, errno, l->partial.path, "can't empty '%s'",
				     l->partial.path);
	l->partial.fd = TAKE_FD(fd);
	return 0;
}

static int name_beside(const struct cv_ledger *l, const char *suffix, cv_path dst,
		       struct cove_error *err)
{
	int n = snprintf(dst, sizeof(cv_path), "%s%s", l->output, suffix);

	if (n < 0 || (size_t)n >= sizeof(cv_path) || strlen(l->name) + strlen(suffix) > NAME_MAX)
		return cv_fail_arg(err, "output", NULL, "is too long a name to stand before '%s'",
				   suffix);
	return 0;
}

/* The failures of an earlier job, or somebody else's file: not to be lost without being asked. */
static int check_failures(const struct cv_ledger *l, struct cove_error *err)
{
	struct stat st;
	const char *name = strrchr(l->failures.path, '/') + 1;

	if (l->overwrite || fstatat(l->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return conflict(err, l->failures.path, "--overwrite replaces it", "already exists");
}

int cv_ledger_open(const char *output, const char *tasks, bool overwrite, struct cv_ledger **ret,
		   struct cove_error *err)
{
	struct cv_ledger *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	l->dirfd = l->partial.fd = l->failures.fd = -1;
	l->name = "";
	l->overwrite = overwrite;
	if ((rc = find_output(l, output, err)) < 0 || (rc = check_output(l, tasks, err)) < 0 ||
	    (rc = name_beside(l, ".partial", l->partial.path, err)) < 0 ||
	    (rc = name_beside(l, ".failures", l->failures.path, err)) < 0 ||
	    (rc = check_failures(l, err)) < 0 || (rc = open_partial(l, err)) < 0) {
		cv_ledger_free(l);
		return rc;
	}
	*ret = l;
	return 0;
}

void cv_ledger_discard(struct cv_ledger *l)
{
	unlinkat(l->dirfd, strrchr(l->partial.path, '/') + 1, 0);
}

void cv_ledger_free(struct cv_ledger *l)
{
	if (!l)
		return;
	cv_close(&l->dirfd);
	cv_lines_done(&l->partial);
	cv_lines_done(&l->failures);
	free(l->spans);
	free(l);
}

static struct span *add_span(struct cv_ledger *l)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct span *grown = reallocarray(l->spans, cap, sizeof(*grown));

		if (!grown)
			return NULL;
		l->spans = grown;
		l->cap = cap;
	}
	return &l->spans[l->count];
}

int cv_ledger_trace(struct cv_ledger *l, int64_t record, const char *json, size_t len,
		    struct cove_error *err)
{
	struct span *span = add_span(l);
	char head[64];
	int head_len =
		snprintf(head, sizeof(head), "{\"record\":%lld,\"trace\":", (long long)record);
	struct iovec parts[] = {{head, (size_t)head_len}, {(void *)json, len}, {(void *)"}\n", 2}};
	int64_t at = l->partial.len + head_len;
	int rc;

	if (!span)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	rc = cv_lines_append(&l->partial, parts, CV_LEN(parts), err);
	if (rc < 0)
		return rc;
	*span = (struct span){.record = record, .at = at, .len = len};
	l->count++;
	return 0;
}

static int open_failures(struct cv_ledger *l, struct cove_error *err)
{
	const char *name = strrchr(l->failures.path, '/') + 1;

	if (l->overwrite && unlinkat(l->dirfd, name, 0) < 0 && errno != ENOENT)
		return cv_fail_errno(err, errno, l->failures.path, "can't replace '%s'",
				     l->failures.path);
	l->failures.fd =
		openat(l->dirfd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (l->failures.fd < 0)
		return cv_fail_errno(err, errno, l->failures.path, "can't create '%s'",
				     l->failures.path);
	return 0;
}

int cv_ledger_failure(struct cv_ledger *l, const char *json, size_t len, struct cove_error *err)
{
	struct iovec parts[] = {{(void *)json, len}, {(void *)"\n", 1}};
	int rc = l->failures.fd < 0 ? open_failures(l, err) : 0;

	return rc < 0 ? rc : cv_lines_append(&l->failures, parts, CV_LEN(parts), err);
}

static int by_record(const void *a, const void *b)
{
	const struct span *x = a;
	const struct span *y = b;

	return (x->record > y->record) - (x->record < y->record);
}

/* 0 or -errno. */
static int copy_span(const struct cv_ledger *l, const struct span *span, int to)
{
	char chunk[CHUNK];
	size_t done = 0;
	int rc = 0;

	while (done < span->len && rc == 0) {
		ssize_t n = pread(l->partial.fd, chunk, CV_MIN(sizeof(chunk), span->len - done),
				  (off_t)span->at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		rc = cv_write_full(to, chunk, (size_t)n);
		done += (size_t)n;
	}
	return rc < 0 ? rc : cv_write_full(to, "\n", 1);
}

static int write_ordered(struct cv_ledger *l, const char *temp)
{
	CV_CLOSE int fd = openat(l->dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc = fd < 0 ? -errno : 0;

	if (l->count > 0)
		qsort(l->spans, l->count, sizeof(*l->spans), by_record);
	for (size_t i = 0; i < l->count && rc == 0; i++)
		rc = copy_span(l, &l->spans[i], fd);
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	return rc;
}

/* Without --overwrite, an output that has appeared in the meantime is not replaced either. */
static int rename_output(const struct cv_ledger *l, const char *temp)
{
	if (l->overwrite)
		return renameat(l->dirfd, temp, l->dirfd, l->name) < 0 ? -errno : 0;
	if (renameat2(l->dirfd, temp, l->dirfd, l->name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (linkat(l->dirfd, temp, l->dirfd, l->name, 0) < 0)
		return -errno;
	return unlinkat(l->dirfd, temp, 0) < 0 ? -errno : 0;
}

int cv_ledger_publish(struct cv_ledger *l, struct cove_error *err)
{
	char random[13];
	char temp[32];
	int rc;

	cv_random_name(random, sizeof(random) - 1);
	snprintf(temp, sizeof(temp), ".cove-%s.tmp", random);
	rc = write_ordered(l, temp);
	if (rc == 0 && l->failures.fd >= 0 && fsync(l->failures.fd) < 0)
		rc = -errno;
	if (rc == 0)
		rc = rename_output(l, temp);
	if (rc < 0) {
		unlinkat(l->dirfd, temp, 0);
		return rc == -EEXIST ?
			       conflict(err, l->output, NULL, "has appeared since the job began") :
			       cv_fail_errno(err, -rc, l->output, "can't write '%s'", l->output);
	}
	if (l->failures.fd < 0 && l->overwrite)
		unlinkat(l->dirfd, strrchr(l->failures.path, '/') + 1, 0);
	fsync(l->dirfd);
	cv_ledger_discard(l);
	return 0;
}
