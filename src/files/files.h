/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations, as the guest carries them out.
 *
 * Each handler takes a request whose defaults are resolved and fills a zeroed result; strings and
 * bytes of the result live in ctx->arena. 0, or a negative COVE_E_* with err filled. They block,
 * never call back, and share nothing but the path space, so any number may run in threads.
 */
#ifndef CV_FILES_FILES_H
#define CV_FILES_FILES_H

#include "base/arena.h"
#include "base/resolve.h"

#include <stdatomic.h>

struct cv_file_ctx {
	const struct cv_space *space;
	struct cv_arena *arena;
	const atomic_bool
		*cancel; /* set: stop where nothing is half done, with `cancelled`; NULL none */
};

typedef int cv_file_fn(const struct cv_file_ctx *ctx, const void *req, void *res,
		       struct cove_error *err);

cv_file_fn cv_file_stat;
cv_file_fn cv_file_exists;
cv_file_fn cv_file_list;
cv_file_fn cv_file_read_text;
cv_file_fn cv_file_read_lines;
cv_file_fn cv_file_read_bytes;
cv_file_fn cv_file_write_text;
cv_file_fn cv_file_write_bytes;
cv_file_fn cv_file_edit_text;
cv_file_fn cv_file_patch_text;
cv_file_fn cv_file_query;
cv_file_fn cv_file_search_text;
cv_file_fn cv_file_mkdir;
cv_file_fn cv_file_remove;
cv_file_fn cv_file_copy;
cv_file_fn cv_file_move;
cv_file_fn cv_file_truncate;
cv_file_fn cv_file_sync;
cv_file_fn cv_file_canonical;
cv_file_fn cv_file_absolute;

/*
 * Copies what is in directory src into directory dst, which must exist and be empty: files with
 * mode, times and holes, links as links, FIFOs anew; sockets and devices are left out and counted.
 * src is not followed out of: links are copied, never walked. Cancellable. 0, or a negative code.
 */
int cv_copy_tree(const char *src, const char *dst, const atomic_bool *cancel, int64_t *ret_left_out,
		 struct cove_error *err);

#endif
