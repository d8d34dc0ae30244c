/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of bounded length from a descriptor. */
#ifndef CV_CLI_LINES_H
#define CV_CLI_LINES_H

#include "base/buf.h"

#include <stdbool.h>

/* Arguments of 16 MiB, and room for what stands around them. */
#define LINE_MAX_BYTES (((size_t)16 << 20) + 4096)

struct line_reader {
	int fd;
	bool eof;
	bool skipping; /* what comes belongs to a line that was too long */
	size_t used;   /* bytes of buf that were given out */
	size_t scanned;
	struct cv_buf buf;
};

/* Borrowed until the next one is read. */
struct line {
	const char *text; /* without its end */
	size_t len;
	bool too_long; /* there is no text then */
};

void line_reader_init(struct line_reader *r, int fd);
void line_reader_done(struct line_reader *r);

/* The next line that is not blank. 1: a line, 0: the end, or stop was fired; -errno. */
int line_reader_next(struct line_reader *r, const struct cove_cancel *stop, struct line *ret);

#endif
