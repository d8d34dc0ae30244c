/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was changed in an environment's workspace since it began.
 *
 * The workspace is compared with the seed it began with, or with nothing where it began empty. A
 * renamed file is one deleted and one added. The environment's own scratch directory is left out.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_env_diff_result *d = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "workspace"), &env, NULL) < 0)
 *			return 1;
 *		int rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .script = "echo hello > new"),
 *				   NULL, NULL);
 *		if (rc >= 0)
 *			rc = cove_env_diff(env, COVE_OPTS(cove_env_diff_opts,
 *							  .format = COVE_DIFF_PATCH), &d, NULL);
 *		if (rc >= 0)
 *			fwrite(d->data.data, 1, d->data.len, stdout);
 *		cove_result_free(d);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_CHANGES_H
#define COVE_CHANGES_H

#include <cove/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What cove_env_diff() gives besides the list of changes. */
enum cove_diff_format {
	COVE_DIFF_LIST = 1, /* nothing (default) */
	COVE_DIFF_PATCH,    /* a unified diff that `git apply` takes in the seed */
};

/* What has happened to a path. What became something of another kind is deleted, then added. */
enum cove_diff_change {
	COVE_DIFF_ADDED = 1,
	COVE_DIFF_MODIFIED, /* a file's content, and maybe its mode */
	COVE_DIFF_DELETED,
	COVE_DIFF_MODE,	      /* nothing but its mode */
	COVE_DIFF_LINK,	      /* where a link points */
	COVE_DIFF_UNREADABLE, /* it may have changed: it can't be read */
};

/* Request of cove_env_diff(). */
struct cove_env_diff_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* enum cove_diff_format; default list */
	int format;
	/* of the patch, 1..67108864; default 67108864; a larger one is too_large */
	int64_t max_bytes;
};

/* One change. */
struct cove_env_change {
	/* below the workspace; what is not UTF-8 has become U+FFFD */
	const char *path;
	/* enum cove_diff_change */
	int change;
	/* enum cove_kind of what is there, of a deleted one what was there */
	int kind;
	/* of a link that is there; NULL else */
	const char *link_target;
	/* a patch does not have it: a directory, a mode beyond executable or not, a FIFO, what lies
	 * in a .git, what can't be read */
	bool left_out;
};

/* Result of cove_env_diff(). */
struct cove_env_diff_result {
	/* in byte order of their paths, what is in a directory behind it */
	struct cove_env_change *changes;
	size_t change_count;
	/* the patch, where one was asked for */
	struct cove_bytes data;
};

/**
 * Tells what was changed in the workspace since it began.
 *
 * Where the workspace is an overlay of its seed the cost is by what was changed, else by what the
 * workspace holds. Commands that run meanwhile are not stopped: what they change is seen or not, file
 * by file. The patch turns a copy of the seed into what the workspace holds: text by hunks, other
 * files as git binary patches, executable bits, links; empty directories are not part of a patch.
 *
 * @param env environment; prepared if need be.
 * @param opts format and limit.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (a directory of the host is the workspace itself, and nothing
 * tells what it was), COVE_E_TOO_LARGE (a patch beyond max_bytes, a file beyond 32 MiB in it, more
 * than 200,000 changes), COVE_E_NOT_FOUND (the seed has vanished), COVE_E_CANCELLED.
 * Threads: any. @since 0.1
 */
COVE_API int cove_env_diff(struct cove_env *env, const struct cove_env_diff_opts *opts,
			   struct cove_env_diff_result **ret_result, struct cove_error *err);

#ifdef __cplusplus
}
#endif
#endif
