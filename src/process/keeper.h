/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a child of the guest that owns one command's whole process tree.
 *
 * It is a child subreaper, so every descendant of the command, daemons that fork twice included,
 * ends up below it and nowhere else. It starts the leader with vfork, tells the guest when the
 * leader has ended and when nothing is left (wait says ECHILD), and kills until then when asked, or
 * when the guest goes away. Clean, and unchanged by its command, it takes the next one.
 *
 * Keepers are forked while the guest is tiny: forking is what starting a command would cost
 * otherwise. The first one, the nursery, never runs a command; it makes all others as its siblings
 * (CLONE_PARENT), so that the guest never forks from memory that has grown. Nothing here is exec'd;
 * a keeper has the guest's image and calls the kernel only.
 */
#ifndef CV_PROCESS_KEEPER_H
#define CV_PROCESS_KEEPER_H

#include <linux/filter.h>
#include <sys/types.h>

/*
 * Forks the nursery; gives its pid and the guest's end of its socket. Of the guest's descriptors
 * only stderr stays open in it, and does so as long as any keeper lives. 0 or -errno.
 */
int cv_keeper_fork(pid_t *ret_pid, int *ret_sock);

/*
 * Keepers and their commands go first when memory runs out, not the guest, which all of them need.
 * To be called while this process may still be looked into by itself; 0 or -errno.
 */
int cv_keeper_go_first(void);

/*
 * What every keeper forked from now on does first: give_up, which makes system calls only and
 * returns 0 or -errno, then the seccomp filter. Their commands inherit both. NULL: nothing.
 */
void cv_keeper_confine(int (*give_up)(void), const struct sock_fprog *program);

#endif
