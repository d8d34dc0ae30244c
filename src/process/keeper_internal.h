/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the keeper process. */
#ifndef CV_PROCESS_KEEPER_INTERNAL_H
#define CV_PROCESS_KEEPER_INTERNAL_H

#include "base/def.h"
#include "process/keeper_msg.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#define CV_KEEPER_FDS 6

/* Where the leader finds a long script. */
#define CV_SCRIPT_FD 9

/* What a command could change in its keeper; taken at birth, compared before the next command. */
struct cv_keeper_state {
	struct rlimit limits[RLIM_NLIMITS];
	cpu_set_t cpus;
	int priority;
	int policy;
	int oom_score_adj;
	unsigned long cgroup; /* hash of /proc/self/cgroup */
};

struct cv_keeper {
	int sock;
	int sigfd;
	bool has_default_signals;
	pid_t leader; /* 0 once it was reaped */
	bool busy;    /* a command's tree may have members */
	bool killing;
	int sweep_ms;
	int status;
	int64_t user_us;
	int64_t system_us;
	int64_t max_rss_bytes;
	struct cv_keeper_state born;
	union {
		struct cv_keeper_run run;
		struct cv_keeper_word word;
		char bytes[CV_KEEPER_INLINE + sizeof(struct cv_keeper_run)];
	} inbox;
};

/* The keeper's life, to its end. */
void CV_NORETURN cv_keeper_main(int sock);

/* Notes the state at birth; false where it already differs from that of the first keeper. */
bool cv_keeper_born(struct cv_keeper *k);
bool cv_keeper_unchanged(const struct cv_keeper *k);

/* Starts the leader: 0, or -1 with *failed filled and nothing running. */
int cv_keeper_spawn(struct cv_keeper *k, const struct cv_keeper_run *run, size_t len, int *fds,
		    int nfds, struct cv_keeper_failed *failed);

/* One datagram with descriptors. */
ssize_t cv_send_fds(int sock, const void *msg, size_t len, const int *fds, int nfds);
ssize_t cv_recv_fds(int sock, void *msg, size_t size, int *fds, int *ret_nfds, int max);

#endif
