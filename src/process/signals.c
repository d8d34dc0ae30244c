/* SPDX-License-Identifier: Apache-2.0 */
/* Names of signals. */
#include "base/def.h"
#include "process/procs.h"

#include <signal.h>
#include <strings.h>

int cv_signal_number(const char *name)
{
	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (known && strcasecmp(known, name) == 0)
			return i;
	}
	return 0;
}

const char *cv_signal_name(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? name : "RT";
}
