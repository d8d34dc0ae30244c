/* SPDX-License-Identifier: Apache-2.0 */
/* Many commands at once, with deadlines, cancellation and kills at random moments (PROC-19). */
#ifndef GUEST_STORM_COMMANDS_H
#define GUEST_STORM_COMMANDS_H

#include "guest/storm.h"

#define JOBS_MAX 256

enum job_kind {
	JOB_ECHO,     /* ends by itself at once */
	JOB_TREE,     /* ends by its deadline, or is cancelled */
	JOB_STUBBORN, /* ignores TERM */
	JOB_MISSING,  /* no such program */
	JOB_BROKEN,   /* a file that is no program */
	JOB_YIELD,    /* becomes a numbered process, or fails about then */
	JOB_ADOPT,    /* leaves one behind */
	JOB_START,    /* runs under a handle from the start */
	JOB_KINDS
};

/* A command on its way: one call after the other. */
struct job {
	enum job_kind kind;
	struct cove_call *call;
	int64_t cancel_at; /* 0: not at all */
	bool cancelled;
	bool is_kill;  /* the call under way is process.kill */
	bool is_start; /* … process.start */
};

static UNUSED struct cove_exec_opts job_request(const struct job *j, char *script, size_t size)
{
	static const char *const missing[] = {"no-such-program-anywhere", NULL};
	static const char *const broken[] = {"./broken", NULL};
	struct cove_exec_opts o = {.size = sizeof(o), .grace_ms = 1 + below(100)};

	if (j->kind == JOB_MISSING || j->kind == JOB_BROKEN) {
		o.argv = j->kind == JOB_MISSING ? missing : broken;
		o.yield_ms = below(2);
		return o;
	}
	o.script = script;
	o.timeout_ms = j->kind == JOB_ECHO ? 60000 : 1 + below(300);
	o.yield_ms = j->kind == JOB_YIELD ? 1 + below(20) : 0;
	if (j->kind == JOB_ECHO)
		snprintf(script, size, "echo hello; exit 3");
	else if (j->kind == JOB_STUBBORN)
		snprintf(script, size, "trap '' TERM; sleep %s & sleep %s", mark(), mark());
	else if (j->kind == JOB_ADOPT)
		snprintf(script, size, "setsid sleep %s & echo hello", mark());
	else
		snprintf(script, size, "%s", tree_script());
	if (j->kind == JOB_ADOPT)
		o.descendants = COVE_DESCENDANTS_ADOPT;
	return o;
}

static UNUSED void job_begin(struct job *j)
{
	char script[512];
	struct cove_exec_opts o;
	int rc;

	*j = (struct job){.kind = below(JOB_KINDS)};
	o = job_request(j, script, sizeof(script));
	j->is_start = j->kind == JOB_START;
	if (j->kind != JOB_ECHO && below(3) == 0)
		j->cancel_at = now_ms() + below(200);
	rc = cove_submit(env, j->is_start ? "process.start" : "process.exec", &o, NULL, &j->call,
			 &err);
	ck_assert_msg(rc == 0, "submit: %s", err.message);
}

static UNUSED void job_kill(struct job *j, const char *process)
{
	int rc;

	j->is_kill = true;
	j->is_start = false;
	rc = cove_submit(env, "process.kill",
			 COVE_OPTS(cove_process_kill_opts, .process = process,
				   .grace_ms = below(2) ? COVE_ZERO : (int64_t)(1 + below(50))),
			 NULL, &j->call, &err);
	ck_assert_msg(rc == 0, "kill: %s", err.message);
}

/* What may be said of a command that did not run to its end. */
static UNUSED void job_check_error(const struct job *j, int rc)
{
	bool right = (j->cancelled && rc == COVE_E_CANCELLED) ||
		     (j->kind == JOB_MISSING && rc == COVE_E_NOT_FOUND) ||
		     (j->kind == JOB_BROKEN && rc == COVE_E_SPAWN_FAILED);

	ck_assert_msg(right, "kind %d%s: %s: %s", (int)j->kind, j->is_kill ? ", kill" : "",
		      cove_code_name(rc), err.message);
}

static UNUSED void job_check_exec(struct job *j, const struct cove_exec_result *r)
{
	const struct cove_exit *e = &r->exit;

	if (r->process && e->tree != COVE_TREE_CLEAN) {
		job_kill(j, r->process);
		return;
	}
	ck_assert_int_eq(e->tree, COVE_TREE_CLEAN);
	if (j->kind == JOB_ECHO) {
		ck_assert_int_eq(e->code, 3);
		ck_assert_str_eq(r->out.text, "hello\n");
	} else if (j->kind != JOB_ADOPT) {
		ck_assert_msg(e->reason == COVE_END_TIMEOUT || e->reason == COVE_END_CANCELLED,
			      "kind %d: phase %d, reason %d", (int)j->kind, e->phase, e->reason);
	}
}

/* Takes what has come; the next call of the job follows, or none. */
static UNUSED void job_step(struct job *j)
{
	struct cove_call *call = j->call;
	void *r = NULL;
	int rc;

	if (j->cancel_at && !j->cancelled && now_ms() >= j->cancel_at) {
		j->cancelled = true;
		cove_call_cancel(call);
	}
	if (!cove_call_poll(call))
		return;
	j->call = NULL;
	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_call_take(call, &r, &err);
	if (rc < 0)
		job_check_error(j, rc);
	else if (j->is_kill)
		ck_assert_int_eq(((struct cove_process_wait_result *)r)->exit.tree,
				 COVE_TREE_CLEAN);
	else if (j->is_start)
		job_kill(j, ((struct cove_process_start_result *)r)->process);
	else
		job_check_exec(j, r);
	cove_result_free(r);
}

/* A kill that was cancelled goes on; a second one sees it through. */
static UNUSED void kill_all(void)
{
	struct cove_process_list_result *list = NULL;

	ck_assert_int_eq(cove_process_list(env, &list, &err), 0);
	for (size_t i = 0; i < list->process_count; i++) {
		struct cove_process_wait_result *w = NULL;
		int rc = cove_process_kill(env,
					   COVE_OPTS(cove_process_kill_opts,
						     .process = list->processes[i].process,
						     .grace_ms = COVE_ZERO),
					   &w, &err);

		ck_assert_msg(rc == 0, "kill: %s", err.message);
		ck_assert_int_eq(w->exit.tree, COVE_TREE_CLEAN);
		cove_process_wait_result_free(w);
	}
	cove_result_free(list);
}

static UNUSED void one_round(int commands)
{
	struct job jobs[JOBS_MAX] = {0};
	int64_t until = now_ms() + 60000;
	int open_jobs = commands;

	for (int i = 0; i < commands; i++)
		job_begin(&jobs[i]);
	while (open_jobs > 0) {
		struct pollfd p = {.fd = cove_env_fd(env), .events = cove_env_events(env)};

		open_jobs = 0;
		for (int i = 0; i < commands; i++) {
			if (jobs[i].call)
				job_step(&jobs[i]);
			open_jobs += jobs[i].call != NULL;
		}
		ck_assert_msg(now_ms() < until, "%d commands do not end", open_jobs);
		if (open_jobs > 0)
			poll(&p, 1, 5);
	}
	kill_all();
}

static UNUSED void storm_of_commands(int commands, int rounds)
{
	begin(STORM_IN);
	cove_exec_result_free(sh("printf '\\1\\2\\3' > broken && chmod 755 broken"));
	for (int i = 0; i < rounds; i++) {
		one_round(commands);
		assert_gone(mark());
		assert_all_clean();
		release_all();
		assert_usable();
	}
	end();
}

/* Half of them are waited for by their parent, half are orphans: the keeper reaps those. */
static UNUSED void storm_of_children(int children)
{
	struct cove_exec_result *r;
	char script[256];
	pid_t pids[PIDS_MAX];
	struct process_stat st;

	begin(STORM_IN);
	snprintf(
		script, sizeof(script),
		"i=0; while [ $i -lt %d ]; do (sleep 0.01 &); /bin/true & wait $!; i=$((i+1)); done; "
		"echo $i",
		children / 2);
	r = sh(script);
	ck_assert_int_eq(r->exit.phase, COVE_PHASE_EXITED);
	ck_assert_int_eq(r->exit.code, 0);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	ck_assert_int_eq(atoi(r->out.text), children / 2);
	cove_exec_result_free(r);
	for (int n = children_of(guest_pid(), "cove-keeper", pids), i = 0; i < n; i++) {
		pid_t below_it[PIDS_MAX];

		ck_assert(read_stat(pids[i], &st));
		ck_assert_int_ne(st.state, 'Z');
		ck_assert_int_eq(children_of(pids[i], NULL, below_it), 0);
	}
	assert_usable();
	end();
}

#endif
