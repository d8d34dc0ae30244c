/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests do on the host's side of a wall. */
#ifndef SANDBOX_HOST_H
#define SANDBOX_HOST_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a script on the host: its exit status, -1 where a signal ended it. */
static __attribute__((unused, format(printf, 1, 2))) int host(const char *format, ...)
{
	static char script[1 << 16];
	va_list ap;
	pid_t pid;
	int status = -1;

	va_start(ap, format);
	vsnprintf(script, sizeof(script), format, ap);
	va_end(ap);
	pid = fork();
	if (pid == 0) {
		execl("/bin/bash", "bash", "-c", script, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
