/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of cove files, and what they share: an environment for one piece of work, and errors
 * told in one way.
 */
#ifndef CV_CLI_FILES_H
#define CV_CLI_FILES_H

#include "cli/env_args.h"

#include "base/buf.h"

#include <cove/files.h>

extern const struct verb verb_files_ls;
extern const struct verb verb_files_find;
extern const struct verb verb_files_grep;
extern const struct verb verb_files_stat;
extern const struct verb verb_files_read;
extern const struct verb verb_files_write;
extern const struct verb verb_files_edit;
extern const struct verb verb_files_patch;
extern const struct verb verb_files_cp;
extern const struct verb verb_files_mv;
extern const struct verb verb_files_rm;
extern const struct verb verb_files_mkdir;

/* The shared options of these verbs, whose arguments begin with a struct env_args. */
extern const struct opt files_options[];

/* How many words a verb takes, those behind -- included. */
#define FILES_WORDS_MAX ((size_t)100000)

/* What a verb works with. */
struct files {
	struct cove_env *env;
	const void *args;
	const char *const *words; /* of either kind, in order */
	size_t count;
};

/* The work of a verb: the exit status, or a negative code with err filled. */
typedef int files_fn(const struct files *f, struct cove_error *err);

/* Checks the words (want says what there should be), opens the environment, works, closes it. */
int files_run(const void *args, const struct words *words, size_t min, size_t max, const char *want,
	      files_fn *work);

/* One operation, which a signal cancels; *ret, where wanted, is freed by cove_result_free(). */
int files_call(const struct files *f, const char *op, const void *request, void *ret,
	       struct cove_error *err);

/*
 * Tells an error and gives the exit status that stands for it; for work that goes on with the next
 * word.
 */
int files_failed(const struct cove_error *err);

/* Reads FILE, or stdin where it is NULL or "-", to its end. */
int files_slurp(const char *file, size_t max, struct cv_buf *b, struct cove_error *err);

/* Writes to stdout, all of it. */
int files_put(const char *data, size_t len, struct cove_error *err);

#endif
