/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the file operations share: opening for content, kinds, paths as results show them, receipts.
 */
#ifndef CV_FILES_COMMON_H
#define CV_FILES_COMMON_H

#include "files/files.h"

#include <cove/files.h>

static inline bool cv_flag_set(const atomic_bool *flag)
{
	return flag && atomic_load_explicit(flag, memory_order_relaxed);
}

/* 0, or `cancelled` once the call's flag is set. */
int cv_files_cancelled(const struct cv_file_ctx *ctx, struct cove_error *err);

int cv_files_no_memory(struct cove_error *err);

/*
 * 1 and ret filled where something is at path, 0 for not_found (ret holds nothing, err is
 * untouched), or a code.
 */
int cv_files_probe(const struct cv_file_ctx *ctx, const char *path, bool follow,
		   struct cv_found *ret, struct cove_error *err);

/*
 * 0 for a regular file; is_directory or invalid_argument for what must not be opened for content.
 */
int cv_files_refuse_kind(mode_t mode, const char *path, struct cove_error *err);

/*
 * Opens what an O_PATH descriptor stands for; its kind must have been checked. Never blocks and
 * never becomes the controlling terminal. A descriptor or -errno.
 */
int cv_files_reopen(int fd, int flags);

/* Opens a regular file for reading; ret_st tells what it is. A descriptor or a code. */
int cv_files_open_content(const struct cv_file_ctx *ctx, const char *path, struct stat *ret_st,
			  struct cove_error *err);

/*
 * read(2) that is not interrupted, and takes "nothing there now" of a file such as /proc/kmsg as
 * the end.
 */
ssize_t cv_files_read(int fd, void *buf, size_t len);

/*
 * A real path as results give it. `path` is what the caller wrote to get there: it is given back,
 * absolute, where the real path can't be an argument because it is not UTF-8. NULL: no memory.
 */
const char *cv_files_show(const struct cv_file_ctx *ctx, const char *real, const char *path);

/*
 * A copy of a path or name below the working directory that is an argument as it stands. NULL: no
 * memory.
 */
const char *cv_files_relative(struct cv_arena *arena, const char *path);

/* Text of the kernel's with U+FFFD in place of what is not UTF-8. NULL: no memory. */
const char *cv_files_clean(struct cv_arena *arena, const char *s, size_t len);

/* A fresh operation id. NULL: no memory. */
const char *cv_files_receipt(const struct cv_file_ctx *ctx);

/* Whether path ends in a slash, and so can only mean a directory. */
bool cv_files_wants_directory(const char *path);

/* Whether the working directory or a root is at real or below: it must stay where it is. */
bool cv_files_hold_environment(const struct cv_space *sp, const char *real);

/*
 * Fills all of an entry but path and name. It is dirfd/name, or dirfd itself where name is "". 0,
 * or -ENOMEM.
 */
int cv_files_describe(struct cv_arena *arena, int dirfd, const char *name, const struct stat *st,
		      struct cove_file_entry *entry);

#endif
