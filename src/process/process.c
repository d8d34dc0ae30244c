/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a process: from its request to the moment when nothing of it is left.
 *
 * Its keeper reports two events, in this order or as one: the leader has ended, and the tree is
 * clean. Why it ended is decided when the leader's end is reported, by what cove had done until
 * then: if it had begun to end the tree, that is the reason, else the leader's own status is.
 */
#include "base/clock.h"
#include "process/keeper.h"
#include "process/procs_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* After KILL was sent, how long its confirmation may take before the tree counts as failed. */
#define PATIENCE_NS (5 * INT64_C(1000000000))

int cv_procs_init(struct cv_procs *procs, struct cv_loop *loop, const struct cv_space *space)
{
	*procs = (struct cv_procs){.loop = loop,
				   .space = space,
				   .next_number = 1,
				   .generation = 1,
				   .null_fd = -1,
				   .oom_fd = -1,
				   .cwd_fd = -1};
	procs->processes_end = &procs->processes;
	return cv_orphans_start(procs);
}

int cv_procs_watch_oom(struct cv_procs *procs, const char *path)
{
	procs->oom_fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return path && procs->oom_fd < 0 ? -errno : 0;
}

/* Whether the kernel has killed for want of memory since this was last asked. */
static bool was_oom(struct cv_procs *procs)
{
	char text[512];
	ssize_t n = procs->oom_fd < 0 ? -1 : pread(procs->oom_fd, text, sizeof(text) - 1, 0);
	const char *count;
	int64_t before = procs->ooms;

	if (n <= 0)
		return false;
	text[n] = '\0';
	count = strstr(text, "oom_kill ");
	procs->ooms = count ? strtoll(count + strlen("oom_kill "), NULL, 10) : before;
	return procs->ooms > before;
}

static int open_null(struct cv_procs *procs)
{
	procs->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return procs->null_fd < 0 ? -errno : 0;
}

int cv_procs_begin(struct cv_procs *procs)
{
	int rc = cv_pool_start(procs);

	return rc < 0 ? rc : open_null(procs);
}

int cv_procs_go_first(void)
{
	return cv_keeper_go_first();
}

int cv_procs_begin_confined(struct cv_procs *procs, int (*give_up)(void),
			    const struct sock_fprog *filter)
{
	cv_keeper_confine(give_up, filter);
	return cv_pool_start_one(procs);
}

int cv_procs_entered(struct cv_procs *procs, bool limited)
{
	int rc = limited ? cv_pool_restart(procs) : 0;

	return rc < 0 ? rc : open_null(procs);
}

struct cv_process *cv_process_new(struct cv_procs *procs, const struct cove_exec_opts *req)
{
	struct cv_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->procs = procs;
	p->generation = procs->generation;
	p->start_ns = cv_now_ns();
	p->tty = req->tty != NULL;
	p->merged = req->output.merge || p->tty;
	p->render = req->output.render;
	p->yields = req->yield_ms != 0;
	p->grace_ms = req->grace_ms;
	p->output_limit = req->limits.output_bytes;
	p->in.fd = -1;
	p->in.queue = CV_BUF(CV_STDIN_MAX);
	p->in.watch.fd = -1;
	for (int i = 0; i < 2; i++) {
		p->pipes[i].process = p;
		p->pipes[i].fd = -1;
		p->pipes[i].watch.fd = -1;
	}
	p->command = cv_command_text(req);
	*procs->processes_end = p;
	procs->processes_end = &p->next;
	return p;
}

static void unlink_process(struct cv_process *p)
{
	struct cv_procs *procs = p->procs;

	for (struct cv_process **at = &procs->processes; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			if (procs->processes_end == &p->next)
				procs->processes_end = at;
			return;
		}
}

static void cancel_timers(struct cv_process *p)
{
	cv_timer_cancel(p->procs->loop, &p->deadline);
	cv_timer_cancel(p->procs->loop, &p->kill_timer);
	cv_timer_cancel(p->procs->loop, &p->drain_timer);
	cv_timer_cancel(p->procs->loop, &p->yield_timer);
}

void cv_process_free(struct cv_process *p)
{
	unlink_process(p);
	cancel_timers(p);
	cv_stdio_close(p);
	cv_tape_done(&p->pipes[0].tape);
	cv_tape_done(&p->pipes[1].tape);
	cv_buf_done(&p->in.queue);
	cv_capture_done(&p->pipes[0]);
	cv_capture_done(&p->pipes[1]);
	cv_spill_free(p->spill);
	cv_launch_free(p->launch);
	free(p->id);
	free(p->session);
	free(p->command);
	free(p);
}

void cv_process_give_number(struct cv_process *p)
{
	if (p->number)
		return;
	p->number = p->procs->next_number++;
	p->generation = p->procs->generation;
	snprintf(p->handle, sizeof(p->handle), "process-%lld", (long long)p->number);
}

static int64_t handle_number(const char *handle)
{
	char *end;
	long long n;

	if (strncmp(handle, "process-", 8) != 0 || handle[8] < '1' || handle[8] > '9')
		return 0;
	errno = 0;
	n = strtoll(handle + 8, &end, 10);
	return *end || errno ? 0 : n;
}

static int stale(const char *handle, const char *why, struct cove_error *err)
{
	cv_fail(err, COVE_E_STALE, "'%s' is stale: %s", handle, why);
	if (err)
		cv_text_copy(err->reason, sizeof(err->reason), why);
	cv_err_hint(err, "process.list names those that exist");
	cv_err_path(err, handle);
	return COVE_E_STALE;
}

struct cv_process *cv_process_find(struct cv_procs *procs, const char *handle, int64_t generation,
				   struct cove_error *err)
{
	int64_t number = handle_number(handle);

	if (generation && generation != procs->generation) {
		stale(handle, "it is of another generation, from before a reset", err);
		return NULL;
	}
	for (struct cv_process *p = procs->processes; p && number; p = p->next)
		if (p->number == number)
			return p;
	if (number > 0 && number < procs->next_number) {
		stale(handle, cv_record_evicted(procs, number) ? "evicted" : "released", err);
		return NULL;
	}
	cv_fail(err, COVE_E_NOT_FOUND, "there is no process '%s'", handle);
	cv_err_hint(err,
		    "handles are process-1, process-2, ...; process.list names those that exist");
	cv_err_path(err, handle);
	return NULL;
}

static int tree_state(const struct cv_process *p)
{
	if (p->state == CV_PROCESS_CLEAN)
		return COVE_TREE_CLEAN;
	return p->tree_failed ? COVE_TREE_FAILED : COVE_TREE_RUNNING;
}

void cv_process_exit(const struct cv_process *p, struct cove_exit *ret)
{
	bool ended = p->end_ns != 0;

	*ret = (struct cove_exit){
		.phase = COVE_PHASE_RUNNING,
		.code = -1,
		.reason = p->reason,
		.tree = tree_state(p),
		.survivors = p->survivors,
		.duration_ms = ((ended ? p->end_ns : cv_now_ns()) - p->start_ns) / 1000000,
		.user_ms = p->user_us / 1000,
		.system_ms = p->system_us / 1000,
		.max_rss_bytes = p->max_rss_bytes,
	};
	if (!ended)
		return;
	if (p->lost) {
		ret->phase = COVE_PHASE_LOST;
	} else if (WIFEXITED(p->status)) {
		ret->phase = COVE_PHASE_EXITED;
		ret->code = WEXITSTATUS(p->status);
	} else {
		ret->phase = COVE_PHASE_SIGNALED;
		ret->signal = cv_signal_name(WTERMSIG(p->status));
	}
}

void cv_process_info(const struct cv_process *p, struct cove_process_info *ret)
{
	*ret = (struct cove_process_info){
		.process = p->handle, .generation = p->generation, .command = p->command};
	cv_process_exit(p, &ret->exit);
}

static void on_patience_end(struct cv_timer *timer)
{
	struct cv_process *p = cv_container(timer, struct cv_process, kill_timer);
	struct cv_procs *procs = p->procs;

	p->tree_failed = true;
	if (p->starter)
		cv_exec_finish(p);
	else
		cv_waits_check(p);
	cv_reset_check(procs);
}

static void kill_now(struct cv_process *p)
{
	p->killing = true;
	if (p->worker)
		cv_worker_send(p->worker, CV_KEEPER_KILL, 0);
	cv_timer_must(p->procs->loop, &p->kill_timer, cv_now_ns() + PATIENCE_NS, on_patience_end);
}

static void on_grace_end(struct cv_timer *timer)
{
	kill_now(cv_container(timer, struct cv_process, kill_timer));
}

void cv_process_end(struct cv_process *p, int cause, int64_t grace_ms)
{
	int64_t due = cv_now_ns() + grace_ms * 1000000;

	if (p->state == CV_PROCESS_CLEAN || (p->killing && !p->tree_failed))
		return;
	p->tree_failed = false;
	if (!p->cause)
		p->cause = cause;
	if (grace_ms == 0 || p->killing) {
		kill_now(p);
		return;
	}
	/* A second request may only hasten the end. */
	if (p->kill_timer.due_ns && p->kill_timer.due_ns <= due)
		return;
	if (p->worker)
		cv_worker_send(p->worker, CV_KEEPER_SIGNAL, SIGTERM);
	cv_timer_must(p->procs->loop, &p->kill_timer, due, on_grace_end);
}

static void take_usage(struct cv_process *p, const struct cv_keeper_ended *m)
{
	p->user_us = m->user_us;
	p->system_us = m->system_us;
	p->max_rss_bytes = m->max_rss_bytes;
}

static void leader_ended(struct cv_process *p, const struct cv_keeper_ended *m)
{
	p->end_ns = cv_now_ns();
	p->status = m->status;
	p->survivors = m->alive;
	p->reason = p->cause ? p->cause : WIFEXITED(m->status) ? COVE_END_EXIT : COVE_END_SIGNAL;
	if (!p->cause && was_oom(p->procs) && p->reason == COVE_END_SIGNAL &&
	    WTERMSIG(m->status) == SIGKILL)
		p->reason = COVE_END_OOM;
	take_usage(p, m);
	p->state = CV_PROCESS_EXITED;
	if (!m->clean) {
		cv_waits_check(p);
		cv_exec_leader_ended(p);
	}
}

void cv_process_on_keeper(struct cv_process *p, const void *msg, size_t len)
{
	const struct cv_keeper_ended *m = msg;
	const struct cv_keeper_failed *failed = msg;
	struct cv_worker *w = p->worker;

	if (m->kind == CV_KEEPER_STARTED) {
		p->state = CV_PROCESS_RUNNING;
		cv_exec_started(p);
	} else if (m->kind == CV_KEEPER_FAILED && len >= sizeof(*failed)) {
		p->worker = NULL;
		cv_exec_failed(p, failed->stage, failed->errnum);
		cv_pool_release(w, true);
	} else if (len >= sizeof(*m)) {
		bool clean = m->clean;

		if (m->kind == CV_KEEPER_LEADER)
			leader_ended(p, m);
		if (!clean)
			return;
		take_usage(p, m);
		p->worker = NULL;
		w->owner = NULL;
		w->checking = true;
		cv_process_on_clean(p);
	}
}

/* The keeper is gone, and with it the leader's status unless it was reported. */
void cv_process_on_keeper_lost(struct cv_process *p)
{
	if (p->state == CV_PROCESS_STARTING && !p->is_exec) {
		cv_exec_failed(p, CV_SPAWN_FORK, EIO);
		return;
	}
	if (!p->end_ns) {
		p->end_ns = cv_now_ns();
		p->reason = p->cause ? p->cause : COVE_END_KILLED;
		p->state = CV_PROCESS_EXITED;
	}
	p->lost = true;
	cv_orphans_begin(p);
}

void cv_process_on_clean(struct cv_process *p)
{
	p->state = CV_PROCESS_CLEAN;
	p->tree_failed = false;
	cancel_timers(p);
	cv_process_settle(p);
}

void cv_process_settle(struct cv_process *p)
{
	struct cv_procs *procs = p->procs;

	if (!cv_stdio_drain(p))
		return;
	cv_stdio_close(p);
	cv_records_clean(p);
	if (p->starter)
		cv_exec_finish(p);
	else
		cv_waits_check(p);
	cv_records_trim(procs);
	cv_reset_check(procs);
}
