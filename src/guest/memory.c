/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether JSON ran out of memory.
 *
 * When memory runs out the parser calls a text invalid, or drops a character of a string and goes
 * on, and a value that could not be added to an object is just not there. None of that may be told
 * or done as if it were so: the guest asks here first.
 */
#include "guest/guest.h"

#include "base/json.h"

/* Only the loop's thread has to do with JSON. */
static bool failed;

static void *noting_malloc(size_t size)
{
	void *p = malloc(size);

	failed |= !p;
	return p;
}

void cv_guest_watch_memory(void)
{
	json_set_alloc_funcs(noting_malloc, free);
}

bool cv_guest_memory_failed(void)
{
	bool was = failed;

	failed = false;
	return was;
}
