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

static inline int cv_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline int cv_execveat(int fd, const char *path, char *const *argv, char *const *envp,
			      int flags)
{
	return (int)syscall(SYS_execveat, fd, path, argv, envp, flags);
}

#endif
