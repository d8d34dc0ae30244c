/* SPDX-License-Identifier: Apache-2.0 */
/* System calls for which glibc 2.36 has no wrapper. Each returns -1 and sets errno on failure. */
#ifndef CV_BASE_MISSING_H
#define CV_BASE_MISSING_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int cv_openat2(int dirfd, const char *path, uint64_t flags, uint64_t mode,
			     uint64_t resolve)
{
	struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

#endif
