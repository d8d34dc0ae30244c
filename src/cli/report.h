/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How verbs speak: errors for people and for programs, and output that is all there or known not to
 * be.
 */
#ifndef CV_CLI_REPORT_H
#define CV_CLI_REPORT_H

#include "base/json.h"

/*
 * One line "cove: message" on stderr, then " hint: …" where there is one that the message does not
 * give already.
 */
void report_error(const struct cove_error *err);

/* One line "cove: …" on stderr. */
void report(const char *fmt, ...) CV_PRINTF(1, 2);

/* The error as JSON, to be freed with free(). NULL: no memory. */
char *error_json(const struct cove_error *err);

/*
 * Writes all of it, whatever the descriptor's mode. 0 or -errno; -EINTR once the verb was
 * interrupted.
 */
int put(int fd, const char *data, size_t len);

#endif
