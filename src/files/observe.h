/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.watch: what happens to a file, to the entries of a directory, or to a whole tree.
 *
 * An observer has one inotify descriptor in the guest's loop and a bounded queue of events that wait
 * to be read. Directories are added through descriptors that were opened without following links,
 * from the proven one on down, so no link leads a watch astray. A directory is added before it is
 * read: what comes into being between the two is found by one or the other. One that appears later
 * is added and read in the same way, and what it holds by then is told as created, so that nothing
 * is missed, but may be told twice. Where the kernel or the queue lost events the reader is told
 * (overflow), and the tree is gone through again.
 *
 * A file is watched by its name in its directory: replacing it, as every write here does, makes
 * another file of that name.
 *
 * Files: observe.c the operations and the queue; observe_tree.c inotify and directories.
 */
#ifndef CV_FILES_OBSERVE_H
#define CV_FILES_OBSERVE_H

#include "files/common.h"

#include "base/loop.h"
#include "ops/reply.h"

#define CV_OBSERVERS_MAX 64
#define CV_OBSERVED_DIRS_MAX 16384
#define CV_OBSERVED_EVENTS_MAX 10000

/* A directory that is watched. */
struct cv_observed {
	int wd;
	char *path; /* below the root; "" for that */
};

struct cv_event {
	int change; /* enum cove_change */
	char *path; /* below the root */
};

struct cv_observer {
	struct cv_observers *all;
	struct cv_observer *next;
	char handle[32];
	char *shown; /* the root as results give paths */
	char *only;  /* the one name that is meant, of a file; NULL: all */
	bool recursive;
	bool ended;    /* the root is gone */
	bool overflow; /* to be told by the next read */
	char *root;    /* where it is; no descriptor, for that would keep it from going away */
	struct stat root_st;
	struct cv_watch in;
	struct cv_observed *dirs; /* by wd */
	size_t dir_count;
	size_t dir_cap;
	struct cv_event *events; /* [event_at, event_count) wait */
	size_t event_at;
	size_t event_count;
	size_t event_cap;
	struct cv_reply *reader; /* who waits for events */
	size_t reader_max;
	struct cv_timer timer;
};

struct cv_observers {
	const struct cv_space *space;
	struct cv_loop *loop;
	struct cv_observer *first;
	int count;
	int64_t last;
};

typedef void cv_observe_fn(struct cv_observers *o, const void *req, struct cv_reply *reply);

cv_observe_fn cv_file_watch;
cv_observe_fn cv_file_watch_read;
cv_observe_fn cv_file_watch_close;

/* observe_tree.c: 0 or -errno; -EMSGSIZE: more directories than are watched. */
int cv_observe_begin(struct cv_observer *o);
void cv_observe_ready(struct cv_watch *in, uint32_t events);
void cv_observe_end(struct cv_observer *o);

/* observe.c: something has happened at a name (or "") of a directory below the root. */
void cv_observer_tell(struct cv_observer *o, const char *dir, const char *name, int change);

/* dir/name below the root, either of which may be empty; fresh memory, or NULL. */
char *cv_observed_path(const char *dir, const char *name);

/* All that was told has been: whoever waits for it gets it. */
void cv_observer_answer(struct cv_observer *o);

#endif
