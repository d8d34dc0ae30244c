/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching files: what happens to a file, a directory or a tree, whoever does it.
 *
 * A watch covers its path from the moment it is given; its events wait in the environment, at most
 * 10,000 of them, until they are read.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_file_watch_result *w = NULL;
 *		struct cove_file_watch_read_result *news = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace"), &env, NULL) < 0)
 *			return 1;
 *		int rc = cove_file_watch(env, COVE_OPTS(cove_file_watch_opts, .path = ".",
 *							.recursive = true), &w, NULL);
 *		if (rc >= 0)
 *			rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .script = "mkdir d; >d/f"),
 *				       NULL, NULL);
 *		if (rc >= 0)
 *			rc = cove_file_watch_read(env, COVE_OPTS(cove_file_watch_read_opts,
 *								 .watch = w->watch,
 *								 .wait_ms = 1000), &news, NULL);
 *		for (size_t i = 0; rc >= 0 && i < news->event_count; i++)
 *			printf("%s\n", news->events[i].path);
 *		cove_result_free(news);
 *		cove_result_free(w);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_WATCH_H
#define COVE_WATCH_H

#include <cove/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What has happened to a path. A rename is a deletion of one and a creation of the other. */
enum cove_change {
	COVE_CHANGE_CREATED = 1,
	COVE_CHANGE_MODIFIED, /* its content */
	COVE_CHANGE_DELETED,
	COVE_CHANGE_ATTRIBUTES, /* mode, owner, times, number of links */
};

/* Request of cove_file_watch(). */
struct cove_file_watch_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required; a file (by its name), or a directory and its entries */
	bool recursive;	  /* all below a directory too; links are not followed */
};

/* Result of cove_file_watch(). */
struct cove_file_watch_result {
	const char *watch; /* handle: watch-1, watch-2, ... */
};

/* Request of cove_file_watch_read(). */
struct cove_file_watch_read_opts {
	size_t size;	    /* set by COVE_OPTS */
	const char *watch;  /* required; the handle */
	int64_t max_events; /* 1..10,000; default 1,000 */
	int64_t wait_ms;    /* how long to wait for the first event, 0..2^31-1; default 0 */
};

/* One event. */
struct cove_file_event {
	const char *path; /* as results give paths */
	int change;	  /* enum cove_change */
};

/* Result of cove_file_watch_read(). */
struct cove_file_watch_read_result {
	const struct cove_file_event *events; /* oldest first */
	size_t event_count;		      /* entries; 0 where nothing happened in time */
	bool has_more;			      /* more wait to be read */
	bool overflow; /* some were lost since the last read: look at the files themselves */
	bool ended;    /* what was watched is gone, and no more will come */
};

/* Request of cove_file_watch_close(). */
struct cove_file_watch_close_opts {
	size_t size;	   /* set by COVE_OPTS */
	const char *watch; /* required; the handle */
};

/* The errors are those of files.h, besides what is listed with each. */

/**
 * Begins to watch a path: everything that happens there after this has returned is an event.
 *
 * A file is watched by its name, so that replacing it is seen. In a recursive watch directories that
 * appear later are covered too, and what they hold by then is told as created; such an event may
 * come twice.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_watch_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_TOO_LARGE (more than 16,384 directories), COVE_E_QUOTA_EXCEEDED (64 watches
 * already, or as many as the kernel gives this user), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_watch(struct cove_env *env, const struct cove_file_watch_opts *opts,
			     struct cove_file_watch_result **ret_result, struct cove_error *err);

/**
 * Takes events of a watch, oldest first; each is told once.
 *
 * Waits for the first one where wait_ms says so; at the end of that time the result has none.
 *
 * @param env environment.
 * @param opts see struct cove_file_watch_read_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND (the handle), COVE_E_BUSY (another call waits for the same watch),
 * COVE_E_CLOSED (it was closed meanwhile), or the errors of every operation (see process.h).
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_watch_read(struct cove_env *env,
				  const struct cove_file_watch_read_opts *opts,
				  struct cove_file_watch_read_result **ret_result,
				  struct cove_error *err);

/**
 * Ends a watch. Watches also end with their environment.
 *
 * @param env environment.
 * @param opts see struct cove_file_watch_close_opts.
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_FOUND (the handle), or the errors of every operation (see process.h).
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_watch_close(struct cove_env *env,
				   const struct cove_file_watch_close_opts *opts,
				   struct cove_error *err);

#ifdef __cplusplus
}
#endif
#endif
