/* SPDX-License-Identifier: Apache-2.0 */
/* What is left after kill -9 of a keeper, of the guest, of the host: nothing (PROC-19, CASE-94). */
#ifndef GUEST_STORM_DEATHS_H
#define GUEST_STORM_DEATHS_H

#include "guest/storm.h"

/* A tree that would run on for ever, begun and left to itself; half of them under a handle. */
static UNUSED struct cove_call *begin_tree(int64_t timeout_ms)
{
	struct cove_call *call = NULL;
	int rc = cove_submit(env, below(2) ? "process.exec" : "process.start",
			     COVE_OPTS(cove_exec_opts, .script = tree_script(),
				       .timeout_ms = timeout_ms, .grace_ms = 100),
			     NULL, &call, &err);

	ck_assert_msg(rc == 0, "submit: %s", err.message);
	return call;
}

/* Moves the connection for so long. */
static UNUSED void drive_for(struct cove_call *call, int ms)
{
	cove_call_wait(call, ms);
}

/* Kills one of the guest's keepers, whichever it is: of a command, idle, or the one that makes others. */
static UNUSED void kill_a_keeper(void)
{
	pid_t pids[PIDS_MAX];
	int n = children_of(guest_pid(), "cove-keeper", pids);

	if (n > 0)
		kill(pids[below((unsigned)n)], SIGKILL);
}

/*
 * Whatever the moment was: the call gives a result or a typed error, the tree is gone by then, and
 * the environment works on.
 */
static UNUSED void storm_of_keeper_deaths(int times)
{
	int lost = 0;

	begin(STORM_IN);
	assert_usable();
	for (int i = 0; i < times; i++) {
		struct cove_call *call = begin_tree(400);
		void *r = NULL;
		int rc;

		drive_for(call, (int)below(40));
		kill_a_keeper();
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_msg(cove_call_wait(call, 20000), "round %d: the call does not end", i);
		rc = cove_call_take(call, &r, &err);
		ck_assert_msg(rc == 0 || rc == COVE_E_SPAWN_FAILED || rc == COVE_E_UNAVAILABLE,
			      "round %d: %s: %s", i, cove_code_name(rc), err.message);
		lost += rc == 0;
		cove_result_free(r);
		kill_all();
		assert_gone(mark());
		assert_all_clean();
		release_all();
		assert_usable();
	}
	printf("keepers killed: %d, commands that had begun: %d\n", times, lost);
	end();
}

/* The keeper of a running command for certain: its status is lost, its tree is not. */
static UNUSED void death_of_the_owner(void)
{
	struct cove_exit e;
	pid_t pids[PIDS_MAX];
	pid_t tree[PIDS_MAX];
	char process[32];
	int n;

	begin(STORM_IN);
	snprintf(process, sizeof(process), "%s",
		 start_opts(COVE_OPTS(cove_exec_opts, .script = tree_script())));
	n = children_of(guest_pid(), "cove-keeper", pids);
	for (int i = 0; i < n; i++)
		if (children_of(pids[i], NULL, tree) > 0)
			kill(pids[i], SIGKILL);
	e = wait_for(process, COVE_UNTIL_CLEAN, 20000);
	ck_assert_int_eq(e.phase, COVE_PHASE_LOST);
	ck_assert_int_eq(e.tree, COVE_TREE_CLEAN);
	assert_gone(mark());
	assert_usable();
	end();
}

static UNUSED void storm_of_guest_deaths(int times)
{
	for (int i = 0; i < times; i++) {
		struct cove_call *call;
		void *r = NULL;
		int64_t t;
		int rc;

		begin(STORM_IN);
		if (below(2))
			assert_usable();
		call = begin_tree(0);
		drive_for(call, (int)below(60));
		kill(guest_pid(), SIGKILL);
		t = now_ms();
		err = (struct cove_error)COVE_ERROR_INIT;
		ck_assert_msg(cove_call_wait(call, 20000), "round %d: the call does not end", i);
		rc = cove_call_take(call, &r, &err);
		/* A start may have been answered before, and a guest not even have greeted. */
		ck_assert_msg(rc == 0 || rc == COVE_E_OUTCOME_UNKNOWN || rc == COVE_E_UNAVAILABLE ||
				      rc == COVE_E_PROTOCOL_ERROR,
			      "round %d: %s: %s", i, cove_code_name(rc), err.message);
		ck_assert_int_lt(now_ms() - t, 5000);
		cove_result_free(r);
		assert_vanished(mark(), VANISH_MS);
		end();
	}
}

/* The process that dies: opens an environment, says when its tree runs, and waits. */
static UNUSED void be_host(int ready)
{
	struct cove_call *call;

	env = open_env(STORM_IN);
	call = begin_tree(0);
	cove_call_wait(call, 30);
	if (write(ready, "x", 1) == 1)
		cove_call_wait(call, 60000);
	_exit(0);
}

/* Everything below this process is gone and reaped, its adopted orphans too. */
static UNUSED void assert_no_descendant(int64_t within_ms)
{
	int64_t until = now_ms() + within_ms;
	pid_t pid = 0;

	while (now_ms() < until && !((pid = waitpid(-1, NULL, WNOHANG | __WALL)) < 0))
		if (pid == 0)
			sleep_ms(2);
	if (pid >= 0) {
		pid_t pids[PIDS_MAX];
		struct process_stat st = {0};

		ck_assert_int_gt(children_of(getpid(), NULL, pids), 0);
		read_stat(pids[0], &st);
		ck_abort_msg("after %d ms %s is alive", (int)within_ms, st.comm);
	}
}

/* Killed while it prepares, starts, or waits. Orphans come to this process, so that it sees all. */
static UNUSED void storm_of_host_deaths(int times)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	setup_dir();
	for (int i = 0; i < times; i++) {
		int ready[2];
		pid_t host;
		char c;

		ck_assert_int_eq(pipe(ready), 0);
		host = fork();
		if (host == 0) {
			close(ready[0]);
			be_host(ready[1]);
		}
		close(ready[1]);
		if (below(3) == 0)
			sleep_ms((int)below(40));
		else
			ck_assert_int_eq(read(ready[0], &c, 1), 1);
		kill(host, SIGKILL);
		close(ready[0]);
		ck_assert_int_eq(waitpid(host, NULL, 0), host);
		assert_no_descendant(VANISH_MS);
		ck_assert_int_eq(count_processes(mark()), 0);
	}
	teardown_dir();
}

#endif
