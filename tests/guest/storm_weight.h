/* SPDX-License-Identifier: Apache-2.0 */
/* What output, idle processes and large trees cost (OUT-7, CASE-33, PROC-13). */
#ifndef GUEST_STORM_WEIGHT_H
#define GUEST_STORM_WEIGHT_H

#include "guest/storm.h"

#define RING_BYTES (INT64_C(16) << 20)
#define SLACK_KB (8 * 1024)
#define PRIVATE_KB_MAX 64

/* A number behind a name in a file of /proc, in kB; the sum where the name begins several. -1: none. */
static UNUSED long proc_kb(pid_t pid, const char *file, const char *name)
{
	char text[4096];
	long sum = -1;

	read_proc(pid, file, text, sizeof(text));
	for (const char *p = text; (p = strstr(p, name)); p += strlen(name)) {
		const char *colon = strchr(p, ':');

		if (colon)
			sum = (sum < 0 ? 0 : sum) + strtol(colon + 1, NULL, 10);
	}
	return sum;
}

static UNUSED struct cove_output_read_result *read_from(const char *process, int64_t offset)
{
	struct cove_output_read_result *r = NULL;
	int rc = cove_output_read(
		env, COVE_OPTS(cove_output_read_opts, .process = process, .offset = offset), &r,
		&err);

	ck_assert_msg(rc == 0, "read: %s", err.message);
	return r;
}

/* Nobody reads: the command is not held back, and only the ring is kept. */
static UNUSED void flood(int seconds)
{
	struct cove_output_read_result *r;
	struct cove_exit e;
	char process[32];
	pid_t guest;
	long before;
	long after;

	begin(STORM_IN);
	assert_usable();
	guest = guest_pid();
	before = proc_kb(guest, "status", "VmRSS");
	snprintf(process, sizeof(process), "%s",
		 start_opts(COVE_OPTS(cove_exec_opts, .script = "exec yes",
				      .timeout_ms = (int64_t)seconds * 1000)));
	e = wait_for(process, COVE_UNTIL_CLEAN, 0);
	ck_assert_int_eq(e.reason, COVE_END_TIMEOUT);
	after = proc_kb(guest, "status", "VmHWM");
	r = read_from(process, 0);
	ck_assert_int_gt(r->produced, RING_BYTES);
	ck_assert_int_eq(r->produced - r->dropped, RING_BYTES);
	ck_assert_int_eq(r->offset, r->available_start);
	ck_assert_int_eq(r->available_start, r->dropped);
	ck_assert_int_eq(r->coverage, COVE_COVERAGE_PARTIAL);
	printf("flood: %lld MiB in %d s, the guest grew by %ld KiB\n",
	       (long long)(r->produced >> 20), seconds, after - before);
	cove_output_read_result_free(r);
	if (guest_is_static())
		ck_assert_int_le(after - before, RING_BYTES / 1024 + SLACK_KB);
	end();
}

static UNUSED void start_idle(int processes)
{
	char script[64];

	snprintf(script, sizeof(script), "exec sleep %s", mark());
	for (int i = 0; i < processes; i++)
		start_opts(COVE_OPTS(cove_exec_opts, .script = script));
}

static UNUSED unsigned long ticks_of(pid_t guest, const pid_t *keepers, int n)
{
	unsigned long sum = 0;
	struct process_stat st;

	ck_assert(read_stat(guest, &st));
	sum = st.ticks;
	for (int i = 0; i < n; i++) {
		ck_assert(read_stat(keepers[i], &st));
		sum += st.ticks;
	}
	return sum;
}

static UNUSED void weigh_keepers(const pid_t *keepers, int n)
{
	long total = 0;
	long most = 0;

	for (int i = 0; i < n; i++) {
		long kb = proc_kb(keepers[i], "smaps_rollup", "Private_");

		if (kb < 0) {
			printf("memory is not judged: this user can't look at a keeper's\n");
			return;
		}
		total += kb;
		most = kb > most ? kb : most;
	}
	printf("idle: %d keepers, %ld KiB of private memory each, %ld KiB at most\n", n, total / n,
	       most);
	if (guest_is_static())
		ck_assert_int_le(total / n, PRIVATE_KB_MAX);
}

/* Processes that do nothing cost no processor time, and of memory only their keeper's. */
static UNUSED void idlers(int processes)
{
	static pid_t keepers[PIDS_MAX];
	pid_t guest;
	unsigned long before;
	int64_t t;
	int n;

	begin(STORM_IN);
	start_idle(processes);
	guest = guest_pid();
	n = children_of(guest, "cove-keeper", keepers);
	ck_assert_int_ge(n, processes);
	await_processes(mark(), processes);
	before = ticks_of(guest, keepers, n);
	sleep_ms(1000);
	ck_assert_int_eq(ticks_of(guest, keepers, n), before);
	weigh_keepers(keepers, n);
	t = now_ms();
	ck_assert_int_eq(cove_env_close(env, COVE_OUTCOME_SUCCESS, &err), 0);
	printf("idle: %d processes ended in %d ms\n", processes, (int)(now_ms() - t));
	assert_gone(mark());
	teardown_dir();
}

/* Ten shells with ten sleepers each, all deaf to TERM. */
static UNUSED void stubborn_tree(int grace_ms)
{
	struct cove_process_wait_result *w = NULL;
	char script[256];
	char process[32];
	int64_t took;

	begin(STORM_IN);
	snprintf(script, sizeof(script),
		 "trap '' TERM; for i in 1 2 3 4 5 6 7 8 9 10; do "
		 "(for j in 1 2 3 4 5 6 7 8 9; do sleep %s & done; wait) & done; wait",
		 mark());
	snprintf(process, sizeof(process), "%s",
		 start_opts(COVE_OPTS(cove_exec_opts, .script = script)));
	/* The shells have the mark in their script, the sleepers as an argument. */
	await_processes(mark(), 101);
	took = now_ms();
	ck_assert_int_eq(cove_process_kill(env,
					   COVE_OPTS(cove_process_kill_opts, .process = process,
						     .grace_ms = grace_ms),
					   &w, &err),
			 0);
	took = now_ms() - took;
	printf("stubborn: 101 processes ended %d ms after the grace of %d ms (the aim: 150)\n",
	       (int)took - grace_ms, grace_ms);
	ck_assert_int_eq(w->exit.tree, COVE_TREE_CLEAN);
	ck_assert_str_eq(w->exit.signal, "KILL");
	ck_assert_int_ge(took, grace_ms);
	ck_assert_int_le(took, grace_ms + 1000);
	cove_process_wait_result_free(w);
	assert_gone(mark());
	end();
}

#endif
