/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command on a terminal of its own.
 *
 * The command is started, so that it has a handle; then several calls are under way at once: one
 * waits for its end, one for output, and now and then one types, resizes or kills. Each is looked
 * at whenever the connection moves. What was written before the leader's end is shown before this
 * returns.
 */
#include "cli/tty.h"

#include "base/cancel.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include <cove/output.h>

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

/* How long a read waits for output before it is made anew, ms. */
#define READ_WAIT_MS 10000

/*
 * How long to sleep at most: what one call is looked at for may be the end of another that was
 * looked at just before, and no descriptor tells that, ms.
 */
#define SLEEP_MS 250

/* How much output waits for a slow terminal before the oldest is dropped. */
#define RETAIN_BYTES (INT64_C(64) << 20)

struct tty {
	struct cove_env *env;
	struct stdin_feed *feed;
	struct tty_end *end;
	int64_t grace_ms;
	char process[64];
	struct cove_call *wait; /* each NULL: not under way */
	struct cove_call *kill;
	struct cove_call *read;
	struct cove_call *type;
	struct cove_call *resize;
	bool killed;
	bool is_last; /* the read under way was made after the leader's end */
	bool shown;   /* all output up to that is shown */
	int64_t offset;
	int64_t until; /* of the output to show; -1: not known yet */
};

/* The caller's terminal; for signal handlers too. */
static struct {
	volatile sig_atomic_t is_raw;
	volatile sig_atomic_t changed;
	struct termios saved;
} screen;

static void restore(void)
{
	if (screen.is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.saved);
	screen.is_raw = 0;
}

static void make_raw(void)
{
	struct termios raw = screen.saved;

	cfmakeraw(&raw);
	screen.is_raw = 1;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* After a stop the terminal may have another size, and others have seen to its mode. */
static void on_change(int sig)
{
	screen.changed = 1;
	if (sig == SIGCONT && screen.is_raw)
		make_raw();
}

struct cove_tty tty_size(void)
{
	struct cove_tty size = {.rows = 24, .cols = 80};
	struct winsize w;

	for (int fd = STDOUT_FILENO; fd >= STDIN_FILENO; fd--)
		if (ioctl(fd, TIOCGWINSZ, &w) == 0) {
			size.rows = w.ws_row ? w.ws_row : size.rows;
			size.cols = w.ws_col ? w.ws_col : size.cols;
			break;
		}
	return size;
}

/* From now on changes of the terminal are noticed, but only while this process waits. */
static void take_screen(const struct stdin_feed *feed, sigset_t *ret_mask)
{
	struct sigaction act = {.sa_handler = on_change};
	sigset_t set;

	sigemptyset(&act.sa_mask);
	sigaction(SIGWINCH, &act, NULL);
	sigaction(SIGCONT, &act, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, ret_mask);
	interrupt_before_exit(restore);
	if (feed->fd == STDIN_FILENO && tcgetattr(STDIN_FILENO, &screen.saved) == 0)
		make_raw();
}

static void leave_screen(const sigset_t *mask)
{
	restore();
	signal(SIGWINCH, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Whether a call has ended that is to be taken now. */
static bool has_ended(struct cove_call *call)
{
	return call && cove_call_poll(call) == 1;
}

static int submit_read(struct tty *t, struct cove_error *err)
{
	t->is_last = t->end->json != NULL;
	return cove_submit(t->env, "output.read",
			   COVE_OPTS(cove_output_read_opts, .process = t->process,
				     .offset = t->offset, .wait_ms = t->is_last ? 0 : READ_WAIT_MS),
			   NULL, &t->read, err);
}

static void show(struct tty *t, const struct cove_output_read_result *r)
{
	int rc = t->end->put_error ? 0 : put(STDOUT_FILENO, r->data.data, r->data.len);

	if (rc < 0)
		t->end->put_error = -rc;
	t->end->dropped += r->offset - t->offset;
	t->offset = r->next_offset;
	if (t->is_last && t->until < 0)
		t->until = r->produced;
	t->shown = t->is_last && t->offset >= t->until;
}

/* Output: what came is shown, and more is asked for. */
static int step_output(struct tty *t, struct cove_error *err)
{
	void *r = NULL;
	int rc;

	if (has_ended(t->read)) {
		rc = cove_call_take(TAKE(t->read), &r, err);
		if (rc == 0)
			show(t, r);
		else if (rc != COVE_E_CANCELLED || t->is_last)
			return rc;
		cove_result_free(r);
	}
	return t->read || t->shown ? 0 : submit_read(t, err);
}

/* The leader's end; a read that still waits is called off, because nobody may write any more. */
static int step_end(struct tty *t, struct cove_error *err)
{
	int rc = 0;

	if (has_ended(t->wait)) {
		rc = cove_call_take_json(TAKE(t->wait), &t->end->json, err);
		cove_call_cancel(t->read);
	}
	return rc;
}

static int submit_typed(struct tty *t, struct cove_error *err)
{
	struct stdin_feed *f = t->feed;

	if (f->at < f->len)
		return cove_submit(t->env, "process.write_stdin",
				   COVE_OPTS(cove_process_write_stdin_opts, .process = t->process,
					     .data = {f->buf + f->at, f->len - f->at}),
				   NULL, &t->type, err);
	if (!f->eof)
		return 0;
	f->closed = true;
	return cove_submit(t->env, "process.close_stdin",
			   COVE_OPTS(cove_process_ref, .process = t->process), NULL, &t->type, err);
}

/* Keys, one piece at a time. A command that takes no more of them is no failure. */
static int step_input(struct tty *t, struct cove_error *err)
{
	struct stdin_feed *f = t->feed;

	if (has_ended(t->type)) {
		f->at = f->len;
		f->closed |= cove_call_take(TAKE(t->type), NULL, NULL) < 0;
	}
	if (t->type || f->closed || t->end->json)
		return 0;
	stdin_feed_read(f);
	return submit_typed(t, err);
}

static int step_size(struct tty *t, struct cove_error *err)
{
	struct cove_tty size;

	if (has_ended(t->resize))
		cove_call_take(TAKE(t->resize), NULL, NULL);
	if (!screen.changed || t->resize)
		return 0;
	screen.changed = 0;
	size = tty_size();
	return cove_submit(t->env, "process.resize",
			   COVE_OPTS(cove_process_resize_opts, .process = t->process,
				     .rows = size.rows, .cols = size.cols),
			   NULL, &t->resize, err);
}

static int step_kill(struct tty *t, struct cove_error *err)
{
	if (has_ended(t->kill))
		cove_call_take(TAKE(t->kill), NULL, NULL);
	if (t->killed || !(interrupt_signal() || t->end->put_error))
		return 0;
	t->killed = true;
	return cove_submit(t->env, "process.kill",
			   COVE_OPTS(cove_process_kill_opts, .process = t->process,
				     .grace_ms = t->grace_ms),
			   NULL, &t->kill, err);
}

static int step(struct tty *t, struct cove_error *err)
{
	int rc = step_end(t, err);

	rc = rc ? rc : step_output(t, err);
	rc = rc ? rc : step_input(t, err);
	rc = rc ? rc : step_size(t, err);
	return rc ? rc : step_kill(t, err);
}

static void sleep_until_something(const struct tty *t, const sigset_t *mask)
{
	const struct timespec most = {.tv_nsec = SLEEP_MS * 1000000};
	struct pollfd fds[] = {
		{.fd = cove_env_fd(t->env), .events = cove_env_events(t->env)},
		{.fd = t->killed ? -1 : cv_cancel_fd(interrupt_first()), .events = POLLIN},
		{.fd = t->type || t->feed->closed ? -1 : stdin_feed_fd(t->feed), .events = POLLIN},
	};

	ppoll(fds, CV_LEN(fds), &most, mask);
}

static int watch(struct tty *t, struct cove_error *err)
{
	sigset_t mask;
	int rc = cove_submit(t->env, "process.wait",
			     COVE_OPTS(cove_process_wait_opts, .process = t->process,
				       .until = COVE_UNTIL_EXITED),
			     NULL, &t->wait, err);

	take_screen(t->feed, &mask);
	while (rc == 0 && (rc = step(t, err)) == 0 && !t->shown)
		sleep_until_something(t, &mask);
	leave_screen(&mask);
	cove_call_free(t->wait);
	cove_call_free(t->read);
	cove_call_free(t->type);
	cove_call_free(t->resize);
	cove_call_free(t->kill);
	return rc;
}

int tty_run(struct cove_env *env, const struct cove_exec_opts *opts, struct stdin_feed *feed,
	    struct tty_end *ret, struct cove_error *err)
{
	struct tty t = {
		.env = env, .feed = feed, .end = ret, .grace_ms = opts->grace_ms, .until = -1};
	struct cove_exec_opts start = *opts;
	struct cove_process_start_result *r = NULL;
	int rc;

	*ret = (struct tty_end){0};
	start.output.retain_bytes = RETAIN_BYTES;
	rc = cove_process_start(env, &start, &r, err);
	if (rc < 0)
		return rc;
	cv_text_copy(t.process, sizeof(t.process), r->process);
	cove_process_start_result_free(r);
	rc = watch(&t, err);
	if (rc < 0)
		cove_result_free(TAKE(ret->json));
	return rc;
}
