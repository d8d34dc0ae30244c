/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of file.watch, and the events that wait to be read. */
#include "files/observe.h"

#include "base/clock.h"

#include <cove/process.h>
#include <cove/watch.h>

#include <stdio.h>

/* Of paths in one result; as JSON they may become six times as long, and a message has 16 MiB. */
#define RESULT_BYTES ((size_t)2 << 20)

static void observer_free(struct cv_observer *o)
{
	struct cv_observers *all = o->all;

	for (struct cv_observer **p = &all->first; *p; p = &(*p)->next)
		if (*p == o) {
			*p = o->next;
			all->count--;
			break;
		}
	cv_timer_cancel(all->loop, &o->timer);
	cv_observe_end(o);
	while (o->event_at < o->event_count)
		free(o->events[o->event_at++].path);
	free(o->events);
	free(o->root);
	free(o->shown);
	free(o->only);
	free(o);
}

static int make_room(struct cv_observer *o)
{
	size_t cap = o->event_cap ? 2 * o->event_cap : 32;
	struct cv_event *grown;

	if (o->events && o->event_at > 0) {
		memmove(o->events, o->events + o->event_at,
			(o->event_count - o->event_at) * sizeof(*o->events));
		o->event_count -= o->event_at;
		o->event_at = 0;
	}
	if (o->events && o->event_count < o->event_cap)
		return 0;
	grown = reallocarray(o->events, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	o->events = grown;
	o->event_cap = cap;
	return 0;
}

char *cv_observed_path(const char *dir, const char *name)
{
	char *path;
	int len = asprintf(&path, "%s%s%s", dir, dir[0] && name[0] ? "/" : "", name);

	return len < 0 ? NULL : path;
}

void cv_observer_tell(struct cv_observer *o, const char *dir, const char *name, int change)
{
	const struct cv_event *last =
		o->event_count > o->event_at ? &o->events[o->event_count - 1] : NULL;
	char *path;

	if (o->only && dir[0] == '\0')
		name = "";
	path = cv_observed_path(dir, name);
	if (!path) {
		o->overflow = true;
		return;
	}
	/* The same twice in a row says nothing new. */
	if (last && last->change == change && strcmp(last->path, path) == 0) {
		free(path);
		return;
	}
	if (o->event_count - o->event_at >= CV_OBSERVED_EVENTS_MAX ||
	    ((!o->events || o->event_count == o->event_cap) && make_room(o) < 0)) {
		o->overflow = true;
		free(path);
		return;
	}
	o->events[o->event_count++] = (struct cv_event){.change = change, .path = path};
}

static bool has_news(const struct cv_observer *o)
{
	return o->event_count > o->event_at || o->overflow || o->ended;
}

static const char *show(struct cv_arena *arena, const struct cv_observer *o, const char *path)
{
	const char *whole = o->shown;

	if (path[0] && strcmp(o->shown, ".") == 0)
		whole = cv_files_relative(arena, path);
	else if (path[0])
		whole = cv_arena_printf(arena, "%s/%s", o->shown, path);
	return whole ? cv_files_clean(arena, whole, strlen(whole)) : NULL;
}

/* Fills a result from the queue; the events stay until it is known to be whole. */
static int fill(struct cv_observer *o, size_t max, struct cv_arena *arena,
		struct cove_file_watch_read_result *r)
{
	size_t n = 0;
	size_t size = 0;
	struct cove_file_event *events;

	for (; n < max && o->event_at + n < o->event_count && size < RESULT_BYTES; n++)
		size += strlen(o->shown) + strlen(o->events[o->event_at + n].path);
	events = cv_arena_alloc(arena, (n + 1) * sizeof(*events));
	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct cv_event *e = &o->events[o->event_at + i];

		events[i].change = e->change;
		events[i].path = show(arena, o, e->path);
		if (!events[i].path)
			return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		free(o->events[o->event_at++].path);
	*r = (struct cove_file_watch_read_result){.events = events,
						  .event_count = n,
						  .has_more = o->event_at < o->event_count,
						  .overflow = o->overflow,
						  .ended = o->ended &&
							   o->event_at == o->event_count};
	o->overflow = false;
	return 0;
}

static void answer(struct cv_observer *o, struct cv_reply *reply, size_t max)
{
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_file_watch_read_result r = {0};
	struct cove_error err = COVE_ERROR_INIT;

	if (arena && fill(o, max, arena, &r) == 0) {
		reply->result(reply, &r);
		return;
	}
	cv_files_no_memory(&err);
	reply->error(reply, &err);
}

/* Nobody waits any more. */
static struct cv_reply *take_reader(struct cv_observer *o)
{
	cv_timer_cancel(o->all->loop, &o->timer);
	o->reader->on_cancel = NULL;
	return TAKE(o->reader);
}

void cv_observer_answer(struct cv_observer *o)
{
	if (o->reader && has_news(o))
		answer(o, take_reader(o), o->reader_max);
}

static void on_timeout(struct cv_timer *t)
{
	struct cv_observer *o = cv_container(t, struct cv_observer, timer);

	answer(o, take_reader(o), o->reader_max);
}

static void fail_reader(struct cv_observer *o, int code, const char *why)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_reply *reply = take_reader(o);

	cv_fail(&err, code, "%s", why);
	reply->error(reply, &err);
}

static void on_cancel(struct cv_reply *reply)
{
	fail_reader(reply->user, COVE_E_CANCELLED, "cancelled");
}

static void refuse(struct cv_reply *reply, const struct cove_error *err)
{
	reply->error(reply, err);
}

static struct cv_observer *observer_new(struct cv_observers *all)
{
	struct cv_observer *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->all = all;
	o->in.fd = -1;
	o->next = all->first;
	all->first = o;
	all->count++;
	snprintf(o->handle, sizeof(o->handle), "watch-%lld", (long long)++all->last);
	return o;
}

/* The root: the directory itself, or that of a file, with its name. */
static int reach(struct cv_observer *o, const struct cv_file_ctx *ctx, const char *path,
		 struct cove_error *err)
{
	CV_FOUND_SCOPE struct cv_found found;
	CV_PLACE_SCOPE struct cv_place place = {.dirfd = -1};
	int rc = cv_resolve(ctx->space, path, true, &found, err);
	const char *shown;

	if (rc < 0)
		return rc;
	if (S_ISDIR(found.st.st_mode)) {
		o->root_st = found.st;
		o->root = strdup(found.real);
	} else {
		rc = cv_resolve_place(ctx->space, path, true, false, &place, err);
		if (rc == 0 && fstat(place.dirfd, &o->root_st) < 0)
			rc = cv_fail_errno(err, errno, path, "cannot watch '%s'", path);
		if (rc < 0)
			return rc;
		o->root = strdup(place.dir);
		o->only = strdup(place.name);
	}
	shown = cv_files_show(ctx, found.real, path);
	o->shown = shown ? strdup(shown) : NULL;
	return o->shown && o->root ? 0 : cv_files_no_memory(err);
}

static int begin(struct cv_observer *o, const struct cove_file_watch_opts *opts,
		 struct cove_error *err)
{
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cv_file_ctx ctx = {.space = o->all->space, .arena = arena};
	int rc = arena ? reach(o, &ctx, opts->path, err) : cv_files_no_memory(err);

	if (rc < 0)
		return rc;
	o->recursive = opts->recursive && !o->only;
	rc = cv_observe_begin(o);
	if (rc == 0)
		return 0;
	if (rc == -EMSGSIZE)
		return cv_fail(err, COVE_E_TOO_LARGE, "'%s' has more than %d directories",
			       opts->path, CV_OBSERVED_DIRS_MAX);
	if (rc == -ENOSPC || rc == -EMFILE)
		return cv_fail(
			err, COVE_E_QUOTA_EXCEEDED,
			"cannot watch '%s': this user has no watches left (sysctl fs.inotify)",
			opts->path);
	return cv_fail_errno(err, -rc, opts->path, "cannot watch '%s'", opts->path);
}

void cv_file_watch(struct cv_observers *all, const void *req, struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_file_watch_result r = {0};
	struct cv_observer *o;

	if (all->count >= CV_OBSERVERS_MAX) {
		cv_fail(&err, COVE_E_QUOTA_EXCEEDED, "there are %d watches already", all->count);
		cv_err_hint(&err, "close one with file.watch_close");
		refuse(reply, &err);
		return;
	}
	o = observer_new(all);
	if (!o)
		cv_files_no_memory(&err);
	else if (begin(o, req, &err) < 0)
		observer_free(TAKE(o));
	if (!o) {
		refuse(reply, &err);
		return;
	}
	r.watch = o->handle;
	reply->result(reply, &r);
}

static struct cv_observer *find(const struct cv_observers *all, const char *handle,
				struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;

	for (struct cv_observer *o = all->first; o; o = o->next)
		if (strcmp(o->handle, handle) == 0)
			return o;
	cv_fail(&err, COVE_E_NOT_FOUND, "there is no watch '%s'", handle);
	cv_err_path(&err, handle);
	cv_err_hint(&err, "file.watch gives the handle");
	refuse(reply, &err);
	return NULL;
}

void cv_file_watch_read(struct cv_observers *all, const void *req, struct cv_reply *reply)
{
	const struct cove_file_watch_read_opts *opts = req;
	struct cv_observer *o = find(all, opts->watch, reply);
	struct cove_error err = COVE_ERROR_INIT;

	if (!o)
		return;
	/* What has happened by now is told now. */
	if (!has_news(o))
		cv_observe_ready(&o->in, 0);
	if (o->reader) {
		cv_fail(&err, COVE_E_BUSY, "'%s' is being read already", o->handle);
		refuse(reply, &err);
		return;
	}
	if (has_news(o) || opts->wait_ms == 0) {
		answer(o, reply, (size_t)opts->max_events);
		return;
	}
	o->reader = reply;
	o->reader_max = (size_t)opts->max_events;
	reply->user = o;
	reply->on_cancel = on_cancel;
	if (cv_timer_set(all->loop, &o->timer, cv_now_ns() + opts->wait_ms * 1000000, on_timeout) <
	    0)
		fail_reader(o, COVE_E_INTERNAL, "out of memory");
}

void cv_file_watch_close(struct cv_observers *all, const void *req, struct cv_reply *reply)
{
	const struct cove_file_watch_close_opts *opts = req;
	struct cv_observer *o = find(all, opts->watch, reply);
	struct cove_nothing none = {0};

	if (!o)
		return;
	if (o->reader)
		fail_reader(o, COVE_E_CLOSED, "the watch was closed");
	observer_free(o);
	reply->result(reply, &none);
}
