/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and signalling the processes below one, safe in a forked child: system calls only, no
 * allocation.
 *
 * No number of a reaped process is ever signalled. The caller is the parent, and the only reaper,
 * of the processes right below it, so their numbers can't be reused while it doesn't wait. One
 * further down is opened as a pidfd first; then its parent is asked for, and only a process whose
 * parent was found on the way is signalled, through the pidfd.
 */
#ifndef CV_PROCESS_TREE_H
#define CV_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Scratch of a sweep, 48 KiB; static, because a keeper has one thread. Later sweeps find what did
 * not fit.
 */
#define CV_SWEEP_MAX 4096

/* Says of a process right below the caller that it does not belong to the tree. */
typedef bool cv_sweep_skip(pid_t pid, void *user);

/*
 * Sends sig to every process below the caller, parents before children, and gives how many were
 * alive (zombies don't count). sig 0 only counts. skip may be NULL.
 */
int cv_tree_signal(int sig, cv_sweep_skip *skip, void *user);

#endif
