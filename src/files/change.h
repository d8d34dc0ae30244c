/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is read, and then made, replaced or deleted as a whole, if it is still what was read.
 *
 * The new content changes places with the old in one step, and only then is looked at what came
 * out: where somebody else has changed the file meanwhile, it goes back and the change is a
 * `conflict`. Until cv_change_done() the old file is kept under a name of its own, so that several
 * changes can be undone together.
 */
#ifndef CV_FILES_CHANGE_H
#define CV_FILES_CHANGE_H

#include "files/common.h"
#include "files/stage.h"

/* The largest file that is changed this way, before and after. */
#define CV_CHANGE_MAX ((size_t)64 << 20)

struct cv_change {
	const struct cv_file_ctx *ctx;
	const char *path; /* as the caller spelt it */
	struct cv_place place;
	int fd; /* O_PATH, of what is there; -1: nothing */
	struct stat st;
	struct cv_stage stage;
	bool is_staged;
	bool is_applied;
};

#define CV_CHANGE_NONE                                                                             \
	((struct cv_change){.place = {.dirfd = -1}, .fd = -1, .stage = {.dirfd = -1, .fd = -1}})

/* Whether something must be, or must not be, at the path of a change. */
enum cv_expect {
	CV_EXPECT_FILE,
	CV_EXPECT_NOTHING, /* missing directories on the way are made */
};

/* Reaches a path. All of these give 0 or a negative code. */
int cv_change_open(struct cv_change *c, const struct cv_file_ctx *ctx, const char *path,
		   enum cv_expect expect, struct cove_error *err);

/* Reads what is there into fresh memory; `too_large` above the maximum. */
int cv_change_read(struct cv_change *c, char **ret_data, size_t *ret_len, struct cove_error *err);

/*
 * Makes the new content ready: like the old file (`like`: or another) in mode and owner; mode 0:
 * that, or the umask's.
 */
int cv_change_stage(struct cv_change *c, const char *data, size_t len, mode_t mode,
		    const struct cv_change *like, struct cove_error *err);

/* Puts it in place; what was not staged is deleted. */
int cv_change_apply(struct cv_change *c, struct cove_error *err);

/* Takes that back. 0 or -errno. */
int cv_change_undo(struct cv_change *c);

/* Ends it, and with it the old file. */
void cv_change_done(struct cv_change *c);
#define CV_CHANGE_SCOPE __attribute__((cleanup(cv_change_done)))

#endif
