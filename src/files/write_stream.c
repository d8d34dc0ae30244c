/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of any size, written from bytes that still come.
 *
 * The place is reached and looked at before the first byte is asked for, and again at the end: what
 * changed there meanwhile is treated as it is then. The stage stays in the directory that was proven
 * first, so at the end the path must still lead there. What goes into the present file, by append or
 * in_place, is staged too and copied at the end.
 */
#include "files/streams.h"

#include "files/write.h"

#include "base/fd.h"

#include <cove/streams.h>

#include <sys/mman.h>

struct cv_stream_write {
	struct cv_streams *all;
	struct cv_stream_write *next;
	struct cv_reply *reply;
	struct cv_arena *arena;
	struct cv_file_ctx ctx;
	struct cove_file_write_opts opts;
	struct cove_file_write_result result;
	struct cove_error err;
	struct cv_write at; /* as it was reached first */
	struct cv_stage stage;
	int64_t len;
};

static void writing_free(struct cv_stream_write *w)
{
	for (struct cv_stream_write **p = &w->all->writes; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			break;
		}
	cv_stage_done(&w->stage);
	cv_write_done(&w->at);
	cv_arena_free(w->arena);
	free(w);
}

static void answer_bad(struct cv_stream_write *w)
{
	struct cv_reply *reply = w->reply;
	struct cove_error err = w->err;

	writing_free(w); /* whoever is told that it failed finds nothing of it */
	reply->error(reply, &err);
}

static int reach(struct cv_stream_write *w, struct cv_write *j)
{
	*j = (struct cv_write){.ctx = &w->ctx,
			       .opts = &w->opts,
			       .result = &w->result,
			       .err = &w->err,
			       .place = {.dirfd = -1},
			       .fd = -1};
	return cv_write_reach(j);
}

static bool same_directory(int a, int b)
{
	struct stat one;
	struct stat other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* What was staged, into the present file. */
static int pour(struct cv_stream_write *w, struct cv_write *j)
{
	size_t len = (size_t)w->len;
	void *map = len ? mmap(NULL, len, PROT_READ, MAP_SHARED, w->stage.fd, 0) : NULL;
	struct cove_bytes data = {.data = map ? map : "", .len = len};
	int rc;

	if (map == MAP_FAILED)
		return cv_write_fail(j, -errno);
	rc = cv_write_into(j, &data);
	if (map)
		munmap(map, len);
	return rc;
}

static int publish_once(struct cv_stream_write *w)
{
	struct cv_write j __attribute__((cleanup(cv_write_done)));
	int rc = reach(w, &j);

	if (rc != 0)
		return rc;
	w->result.created = j.fd < 0;
	if (cv_write_is_into(&j))
		return pour(w, &j);
	/* A stage that was begun as private must not become the file without its mode. */
	if (!same_directory(j.place.dirfd, w->at.place.dirfd) ||
	    (j.fd < 0 && w->at.fd >= 0 && !w->opts.file_mode))
		return cv_write_conflict(w->opts.path, &w->err);
	return cv_write_publish(&j, &w->stage);
}

/* The end of the bytes. */
static void finish(struct cv_stream_write *w)
{
	struct cv_reply *reply = w->reply;
	int rc = CV_WRITE_RACED;

	for (int i = 0; i < CV_WRITE_TRIES && rc == CV_WRITE_RACED; i++)
		rc = publish_once(w);
	if (rc == CV_WRITE_RACED)
		rc = cv_write_conflict(w->opts.path, &w->err);
	if (rc < 0) {
		answer_bad(w);
		return;
	}
	w->result.bytes_written = w->len;
	reply->result(reply, &w->result);
	writing_free(w);
}

static void take(struct cv_reply *reply, const char *data, size_t len)
{
	struct cv_stream_write *w = reply->user;
	int rc;

	if (len == 0) {
		finish(w);
		return;
	}
	rc = cv_stage_write(&w->stage, data, len, NULL);
	if (rc < 0) {
		cv_write_fail(&w->at, rc);
		answer_bad(w);
		return;
	}
	w->len += (int64_t)len;
	reply->want_stdin(reply, len);
}

static void cancel(struct cv_reply *reply)
{
	struct cv_stream_write *w = reply->user;

	cv_fail(&w->err, COVE_E_CANCELLED, "cancelled");
	answer_bad(w);
}

static int start(struct cv_stream_write *w)
{
	int rc = CV_WRITE_RACED;

	w->result.operation_id = cv_files_receipt(&w->ctx);
	if (!w->result.operation_id)
		return cv_files_no_memory(&w->err);
	for (int i = 0; i < CV_WRITE_TRIES && rc == CV_WRITE_RACED; i++) {
		cv_write_done(&w->at);
		rc = reach(w, &w->at);
	}
	if (rc == CV_WRITE_RACED)
		return cv_write_conflict(w->opts.path, &w->err);
	if (rc < 0)
		return rc;
	rc = cv_write_open_stage(&w->at, &w->stage);
	return rc < 0 ? cv_write_fail(&w->at, rc) : 0;
}

static struct cv_stream_write *writing_new(struct cv_streams *s, struct cv_reply *reply,
					   const struct cove_file_write_stream_opts *opts)
{
	struct cv_stream_write *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->all = s;
	w->next = s->writes;
	s->writes = w;
	w->reply = reply;
	w->err = (struct cove_error)COVE_ERROR_INIT;
	w->at.place.dirfd = -1;
	w->at.fd = -1;
	w->stage = CV_STAGE_NONE;
	w->arena = cv_arena_new(0, NULL);
	w->ctx = (struct cv_file_ctx){.space = s->space, .arena = w->arena};
	w->opts = (struct cove_file_write_opts){.size = sizeof(w->opts),
						.path = opts->path,
						.mode = opts->mode,
						.parents = opts->parents,
						.durable = opts->durable,
						.in_place = opts->in_place,
						.file_mode = opts->file_mode};
	if (!w->arena) {
		writing_free(w);
		return NULL;
	}
	return w;
}

void cv_file_write_stream(struct cv_streams *s, const void *req, struct cv_reply *reply)
{
	struct cv_stream_write *w = writing_new(s, reply, req);
	struct cove_error err = COVE_ERROR_INIT;

	if (!w) {
		cv_files_no_memory(&err);
		reply->error(reply, &err);
		return;
	}
	if (!reply->has_stdin) {
		cv_fail(&w->err, COVE_E_NOT_SUPPORTED, "there is nothing that the bytes come from");
		answer_bad(w);
		return;
	}
	if (start(w) < 0) {
		answer_bad(w);
		return;
	}
	reply->user = w;
	reply->on_cancel = cancel;
	reply->on_stdin = take;
}

void cv_streams_stop(struct cv_streams *s)
{
	while (s->writes)
		writing_free(s->writes);
}
