/* SPDX-License-Identifier: Apache-2.0 */
/* What a command changed: shown, and written back to where its workspace came from. */
#ifndef CV_CLI_CHANGES_H
#define CV_CLI_CHANGES_H

#include <cove/changes.h>

#include <stdbool.h>
#include <stdint.h>

struct changes_args {
	bool diff;
	const char *diff_to; /* a file; NULL none */
	bool apply;
	bool yes;
	const char *seed; /* absolute; NULL none */
	int64_t since_ns; /* when the environment began, by changes_clock() */
};

/* Now, on a clock that the times of files are not ahead of. */
int64_t changes_clock(void);

/* What is wrong with them, said; 0 or an exit code. */
int changes_check(const struct changes_args *args, bool json);

/* Does what is asked for. ok: the command succeeded. 0, or -1 once what failed was said. */
int changes_do(const struct changes_args *args, struct cove_env *env, bool ok);

/* apply.c: writes changes back; gives how many could not be, each said. */
size_t changes_apply(const struct changes_args *args, struct cove_env *env,
		     const struct cove_env_diff_result *d);

#endif
