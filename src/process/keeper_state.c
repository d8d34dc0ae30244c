/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a keeper is as it was born: a command must not weaken the one that runs its successor
 * (PROC-4).
 */
#include "process/keeper_internal.h"

#include <stdlib.h>
#include <sys/syscall.h>

static unsigned long hash_file(const char *path)
{
	char buf[1024];
	unsigned long h = 5381;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		h = h * 33 + (unsigned char)buf[i];
	return h;
}

static int read_number(const char *path)
{
	char buf[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	return (int)strtol(buf, NULL, 10);
}

static void take(struct cv_keeper_state *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < RLIM_NLIMITS; i++)
		syscall(SYS_prlimit64, 0, i, NULL, &s->limits[i]);
	sched_getaffinity(0, sizeof(s->cpus), &s->cpus);
	s->priority = getpriority(PRIO_PROCESS, 0);
	s->policy = sched_getscheduler(0);
	s->oom_score_adj = read_number("/proc/self/oom_score_adj");
	s->cgroup = hash_file("/proc/self/cgroup");
}

bool cv_keeper_unchanged(const struct cv_keeper *k)
{
	struct cv_keeper_state now;

	take(&now);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (now.limits[i].rlim_cur != k->born.limits[i].rlim_cur ||
		    now.limits[i].rlim_max != k->born.limits[i].rlim_max)
			return false;
	return CPU_EQUAL(&now.cpus, &k->born.cpus) && now.priority == k->born.priority &&
	       now.policy == k->born.policy && now.oom_score_adj == k->born.oom_score_adj &&
	       now.cgroup == k->born.cgroup;
}

bool cv_keeper_born(struct cv_keeper *k)
{
	static bool first_done;

	/* A sibling inherits the first one's memory, and with it what it must look like. */
	if (first_done)
		return cv_keeper_unchanged(k);
	take(&k->born);
	first_done = true;
	return true;
}
