/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cancellation flag: an eventfd that is written once and never read, so that it wakes every
 * waiter.
 */
#include "base/cancel.h"

#include "base/def.h"

#include <stdatomic.h>
#include <sys/eventfd.h>

struct cove_cancel {
	int fd;
	atomic_bool fired;
};

struct cove_cancel *cove_cancel_new(void)
{
	struct cove_cancel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd < 0)
		free(TAKE(c));
	return c;
}

void cove_cancel_fire(struct cove_cancel *cancel)
{
	uint64_t one = 1;
	int saved = errno;

	if (cancel && !atomic_exchange(&cancel->fired, true))
		while (write(cancel->fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	errno = saved;
}

bool cove_cancel_fired(const struct cove_cancel *cancel)
{
	return cancel && atomic_load(&cancel->fired);
}

void cove_cancel_free(struct cove_cancel *cancel)
{
	if (cancel)
		close(cancel->fd);
	free(cancel);
}

int cv_cancel_fd(const struct cove_cancel *cancel)
{
	return cancel ? cancel->fd : -1;
}

const char *cove_version(void)
{
	return COVE_VERSION;
}
