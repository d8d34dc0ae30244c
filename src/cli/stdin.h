/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a file, or this process's stdin, on to a command as bytes arrive. */
#ifndef CV_CLI_STDIN_H
#define CV_CLI_STDIN_H

#include <cove/env.h>

struct stdin_feed {
	int fd;		/* -1: there is nothing to pass on, or no more */
	bool eof;	/* nothing more is to be read */
	bool closed;	/* and the command knows */
	int read_error; /* errno of a read that failed, which ends the feed */
	size_t at;	/* bytes of buf that the command has taken */
	size_t len;
	char buf[65536];
};

/*
 * From a file, or from this process's stdin where it is NULL or "-". The null device has ended from
 * the start: fd is -1. 0 or -errno; a FIFO is waited for.
 */
int stdin_feed_open(struct stdin_feed *f, const char *file);
void stdin_feed_close(struct stdin_feed *f);

/* Passes on what can be without waiting. */
void stdin_feed(struct stdin_feed *f, struct cove_call *call);

/* Reads without waiting where all that was read before is taken. */
void stdin_feed_read(struct stdin_feed *f);

/* What to watch for POLLIN; -1: nothing, because bytes read before still wait for the command. */
int stdin_feed_fd(const struct stdin_feed *f);

#endif
