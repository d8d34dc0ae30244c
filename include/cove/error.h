/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one closed set of codes and one struct, the same in C, on the wire and on the command
 * line.
 *
 * Functions that can fail return a negative COVE_E_* and, where `err` is not NULL, fill it. On
 * success `err` is left untouched. The struct lives on the caller's stack and needs no freeing.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_error err = COVE_ERROR_INIT;
 *		struct cove_env *env = NULL;
 *		int rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "nowhere"), &env, &err);
 *		if (rc < 0)
 *			printf("%s: %s\n", cove_code_name(rc), err.message);
 *		return rc == COVE_E_INVALID_ARGUMENT ? 0 : 1;
 *	}
 */
#ifndef COVE_ERROR_H
#define COVE_ERROR_H

#include <cove/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The error codes, all negative; errors.def lists them. */
enum cove_code {
	COVE_OK = 0,
#define COVE_ERROR(NAME, name, value, cli, rpc, http) COVE_E_##NAME = (value),
#include <cove/errors.def>
#undef COVE_ERROR
};

/* How far the operation had come when it failed. */
enum cove_stage {
	/* refused before anything was sent: nothing happened */
	COVE_STAGE_NOT_DISPATCHED = 1,
	/* sent, and refused or failed by the environment */
	COVE_STAGE_DISPATCHED,
	/* the operation itself was done; what failed came after it */
	COVE_STAGE_COMPLETED,
	/* sent, but the answer was lost */
	COVE_STAGE_UNKNOWN,
};

/* What a caller may do about it. */
enum cove_retry {
	/* the same request fails again */
	COVE_RETRY_NEVER = 1,
	/* the same request may succeed later */
	COVE_RETRY_SAME_REQUEST,
	/* look at the present state first (stale handle, changed file) */
	COVE_RETRY_AFTER_REFRESH,
	/* make room first (disk, processes) */
	COVE_RETRY_AFTER_CAPACITY,
	/* find out whether it happened before doing it again */
	COVE_RETRY_RECONCILE_FIRST,
};

/*
 * What went wrong, for a person and for a program. Strings are NUL-terminated UTF-8 and empty where
 * unknown.
 */
struct cove_error {
	size_t size;		 /* set by COVE_ERROR_INIT */
	int code;		 /* COVE_E_* */
	int sys_errno;		 /* the kernel's errno, 0 where there was none */
	int stage;		 /* enum cove_stage */
	int retry;		 /* enum cove_retry */
	char operation[48];	 /* such as "file.read_text" */
	char field[129];	 /* the argument at fault, such as "env.set" */
	char reason[256];	 /* what is wrong with it */
	char hint[256];		 /* what would be right */
	char message[1025];	 /* one sentence: lower case, no full stop */
	char path[4097];	 /* the path or handle at fault, as the caller spelt it */
	int64_t edit_index;	 /* edits and patches: which one failed, from 0; else 0 */
	int64_t occurrences;	 /* edits: how often the text was found; else 0 */
	const void *reserved[6]; /* zero */
};

#define COVE_ERROR_INIT                                                                            \
	{                                                                                          \
		.size = sizeof(struct cove_error)                                                  \
	}

/**
 * Gives the name of an error code as it stands on the wire, such as `not_found`.
 *
 * @param code a COVE_E_* value, or 0.
 * @return a static string; `ok` for 0, `internal` for a number that is no code.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_code_name(int code);

/**
 * Gives the exit code that the command line uses for an error.
 *
 * @param code a COVE_E_* value, or 0.
 * @return 0 for 0, else 1..255.
 * Threads: any. @since 0.1
 */
COVE_API int cove_code_exit(int code);

#ifdef __cplusplus
}
#endif
#endif
