/* SPDX-License-Identifier: Apache-2.0 */
/* Passes this process's stdin on to a command as bytes arrive. */
#ifndef CV_CLI_STDIN_H
#define CV_CLI_STDIN_H

#include <cove/env.h>

struct stdin_feed {
	int fd; /* -1: there is nothing to pass on, or no more */
	bool eof;
	size_t at; /* bytes of buf that the command has taken */
	size_t len;
	char buf[65536];
};

/* The null device is no stdin to pass on. */
void stdin_feed_init(struct stdin_feed *f);

/* Passes on what can be without waiting. */
void stdin_feed(struct stdin_feed *f, struct cove_call *call);

/* What to watch for POLLIN; -1: nothing, because bytes read before still wait for the command. */
int stdin_feed_fd(const struct stdin_feed *f);

#endif
