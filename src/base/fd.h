/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: whole reads and writes, flags. All are close-on-exec from birth. */
#ifndef CV_BASE_FD_H
#define CV_BASE_FD_H

#include "base/def.h"

#include <stdbool.h>
#include <sys/types.h>

/* Reads until len bytes or the end; gives how many, or -errno. */
ssize_t cv_read_full(int fd, void *buf, size_t len);

/* Writes all of it; 0 or -errno. */
int cv_write_full(int fd, const void *buf, size_t len);

/*
 * Reads a whole file of at most max bytes into fresh NUL-terminated memory; 0, -errno, or -EFBIG.
 */
int cv_read_file(int dirfd, const char *path, size_t max, char **ret_data, size_t *ret_len);

int cv_set_nonblock(int fd, bool on);

/* Random lower-case letters and digits: n characters and NUL. */
void cv_random_name(char *dst, size_t n);

/* The path that the kernel gives for an open descriptor; 0, or -errno. */
int cv_fd_path(int fd, char *dst, size_t size);

#endif
