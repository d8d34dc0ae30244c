/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that end a verb.
 *
 * SIGINT is handled even where it was ignored: a job started in the background of a script must be
 * stoppable too. A SIGHUP that nohup(1) had ignored stays ignored. SIGPIPE and SIGXFSZ get a
 * handler that does nothing, so that the call fails instead and programs that are started from here
 * get the default again.
 */
#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static struct {
	struct cove_cancel *first;
	struct cove_cancel *second;
	volatile sig_atomic_t signal;
	volatile sig_atomic_t count;
	int exit_at;
	void (*before_exit)(void);
} state;

static void on_signal(int sig)
{
	if (!state.signal)
		state.signal = sig;
	state.count = state.count + 1;
	if (state.count >= state.exit_at) {
		if (state.before_exit)
			state.before_exit();
		_exit(128 + sig);
	}
	cove_cancel_fire(state.count == 1 ? state.first : state.second);
}

static void on_nothing(int sig)
{
	(void)sig;
}

int interrupt_install(int exit_at)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct sigaction nothing = {.sa_handler = on_nothing};
	struct sigaction hup;

	state.exit_at = exit_at;
	state.first = cove_cancel_new();
	state.second = cove_cancel_new();
	if (!state.first || !state.second)
		return -ENOMEM;
	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGINT);
	sigaddset(&act.sa_mask, SIGTERM);
	sigaddset(&act.sa_mask, SIGHUP);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &act, NULL);
	sigaction(SIGPIPE, &nothing, NULL);
	sigaction(SIGXFSZ, &nothing, NULL);
	return 0;
}

struct cove_cancel *interrupt_first(void)
{
	return state.first;
}

struct cove_cancel *interrupt_second(void)
{
	return state.second;
}

void interrupt_before_exit(void (*fn)(void))
{
	state.before_exit = fn;
}

int interrupt_signal(void)
{
	return state.signal;
}
