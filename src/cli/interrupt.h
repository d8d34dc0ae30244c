/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP as cancellation: the first asks for a clean end, a later one does not
 * wait for it.
 */
#ifndef CV_CLI_INTERRUPT_H
#define CV_CLI_INTERRUPT_H

#include <cove/base.h>

/*
 * Installs the handlers; once. From the signal numbered exit_at on the process exits at once. 0 or
 * -errno.
 */
int interrupt_install(int exit_at);

/* Fired by the first signal, and by the second. */
struct cove_cancel *interrupt_first(void);
struct cove_cancel *interrupt_second(void);

/* Called before such an exit, inside of a signal handler; NULL: nothing. */
void interrupt_before_exit(void (*fn)(void));

/* The first signal that came; 0: none yet. */
int interrupt_signal(void);

#endif
