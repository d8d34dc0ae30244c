/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command on a terminal of its own, with the caller's terminal as its screen and keyboard. */
#ifndef CV_CLI_TTY_H
#define CV_CLI_TTY_H

#include "cli/stdin.h"

#include <cove/process.h>

/* Size of the caller's terminal: that of stdout, else of stdin; without one 24 rows of 80. */
struct cove_tty tty_size(void);

/* What became of it. */
struct tty_end {
	char *json;	 /* result of process.wait; free with cove_result_free() */
	int put_error;	 /* errno of the first write to stdout that failed */
	int64_t dropped; /* bytes that were not shown, because the terminal was too slow */
};

/*
 * Starts a command whose opts have a tty and sees it to the end of its leader. Where feed reads
 * from a terminal, that is raw meanwhile, and again as it was on every way out. A signal (see
 * interrupt.h) ends the command. 0, or the error of the operation that failed.
 */
int tty_run(struct cove_env *env, const struct cove_exec_opts *opts, struct stdin_feed *feed,
	    struct tty_end *ret, struct cove_error *err);

#endif
