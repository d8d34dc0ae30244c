/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build the new root. All give 0 or -errno; paths are relative to it. */
#ifndef CV_SANDBOX_INTERNAL_H
#define CV_SANDBOX_INTERNAL_H

#include "base/def.h"
#include "sandbox/sandbox.h"

#include <sys/mount.h>

/* A detached copy of a tree, with all that is mounted in it: a descriptor. */
int cv_mount_copy(int dirfd, const char *path);

/* Takes rights away from a detached or attached tree, all of it. */
int cv_mount_restrict(int fd, const char *path, uint64_t attrs);

/* Attaches a detached tree; closes it either way. */
int cv_mount_attach(int tree, int root, const char *target);

/* A new tmpfs, detached. */
int cv_mount_tmpfs(int64_t size_bytes, const char *mode);

/*
 * Directories up to and with this one. They are made on the new root and its scratch only; in what
 * is somebody else's they must be there.
 */
int cv_root_mkdir(const struct cv_root *r, const char *path);

/* A file that something can be mounted on. */
int cv_root_touch(const struct cv_root *r, const char *path);

/* A file with this text. */
int cv_root_write(int root, const char *path, const char *text);

/* etc.c: /etc as commands need it, without what is none of their business. */
int cv_root_etc(struct cv_root *r);

/* devices.c */
int cv_root_open_devices(int trees[]);
int cv_root_make_devices(const struct cv_root *r); /* what they are mounted on */
int cv_root_attach_devices(const struct cv_root *r, int trees[]);
int cv_root_proc(const struct cv_root *r);

/* workspace.c: opens what /workspace needs while the host can be seen, then attaches it. */
struct cv_root_workspace {
	int lower;
	int upper;
	int work;
	int tree;
};
int cv_root_open_workspace(struct cv_root *r, struct cv_root_workspace *w, struct cove_error *err);
int cv_root_attach_workspace(struct cv_root *r, struct cv_root_workspace *w,
			     struct cove_error *err);

#endif
