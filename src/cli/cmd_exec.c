/* SPDX-License-Identifier: Apache-2.0 */
/* cove exec: one command in an environment, with this process's standard streams as its own. */
#include "cli/changes.h"
#include "cli/env_args.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/stdin.h"
#include "cli/tty.h"
#include "cli/verbs.h"

#include "base/cancel.h"

#include <cove/process.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>

/* Exit codes besides the command's own. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_OWN = 125,
	EXIT_NOT_RUN = 126,
	EXIT_NO_PROGRAM = 127,
	EXIT_SIGNAL = 128
};

/* How long to wait where the environment has no descriptor to watch yet, ms. */
#define BLIND_WAIT_MS 5

/*
 * How long to wait else; a call that is cancelled is given up after some time, which no descriptor
 * tells, ms.
 */
#define WAIT_MS 1000

/* Most that --max-output can be. */
#define OUTPUT_MAX (INT64_C(16) << 20)

struct exec_args {
	struct env_args env;
	const char *script;
	const char *cwd;
	const char **set;
	const char *stdin_file;
	const char *session;
	int64_t timeout_ms;
	int64_t grace_ms;
	int64_t max_output;
	int descendants;
	bool tty;
	bool json;
	bool render;
	bool spill;
	struct changes_args changes;
};

struct session {
	const struct exec_args *args;
	const char *const *argv;
	struct cove_env *env;
	struct cove_call *call;
	struct stdin_feed feed;
	struct cove_tty tty;
	struct cove_spill spill;
	int put_error; /* errno of the first write to stdout or stderr that failed */
	int outcome;   /* for the environment's end */
};

static int on_output(void *user, int stream, const char *data, size_t len)
{
	struct session *s = user;
	int rc = put(stream == COVE_STREAM_STDERR ? STDERR_FILENO : STDOUT_FILENO, data, len);

	if (rc < 0 && !s->put_error)
		s->put_error = -rc;
	return rc < 0;
}

/* What both ways to run it have in common. */
static struct cove_exec_opts request(struct session *s)
{
	const struct exec_args *a = s->args;

	s->tty = tty_size();
	return (struct cove_exec_opts){
		.size = sizeof(struct cove_exec_opts),
		.argv = s->argv,
		.script = a->script,
		.cwd = a->cwd,
		.env = {.set = (const char *const *)a->set},
		.keep_stdin_open = a->tty || s->feed.fd >= 0,
		.tty = a->tty ? &s->tty : NULL,
		.timeout_ms = a->timeout_ms,
		.grace_ms = a->grace_ms,
	};
}

static int submit_exec(struct session *s, struct cove_error *err)
{
	const struct exec_args *a = s->args;
	struct cove_exec_opts opts = request(s);

	opts.output.spill = a->spill ? &s->spill : NULL;
	opts.output.render = a->render;
	opts.descendants = a->descendants;
	opts.session = a->session;
	opts.max_output_bytes = a->json ? a->max_output : 1;
	opts.on_output = a->json ? NULL : on_output;
	opts.on_output_user = s;
	return cove_submit(s->env, "process.exec", &opts, NULL, &s->call, err);
}

/*
 * Until the call has ended. The first signal cancels it, which ends the tree; the second ends this
 * process.
 */
static void drive(struct session *s)
{
	bool cancelled = false;

	while (cove_call_poll(s->call) == 0) {
		struct pollfd fds[3];
		int fd;

		if (interrupt_signal() && !cancelled) {
			cancelled = true;
			cove_call_cancel(s->call);
		}
		stdin_feed(&s->feed, s->call);
		fd = cove_env_fd(s->env);
		fds[0] = (struct pollfd){.fd = fd, .events = fd >= 0 ? cove_env_events(s->env) : 0};
		fds[1] = (struct pollfd){.fd = cancelled ? -1 : cv_cancel_fd(interrupt_first()),
					 .events = POLLIN};
		fds[2] = (struct pollfd){.fd = stdin_feed_fd(&s->feed), .events = POLLIN};
		poll(fds, CV_LEN(fds), fd >= 0 ? WAIT_MS : BLIND_WAIT_MS);
	}
}

static int signal_number(const char *name)
{
	for (int n = 1; n < NSIG; n++) {
		const char *abbrev = sigabbrev_np(n);

		if (abbrev && name && strcmp(abbrev, name) == 0)
			return n;
	}
	return 0;
}

/* The exit code that stands for a result, whose JSON says how the command ended. */
static int code_of_result(struct session *s, const char *json)
{
	CV_JSON json_t *result = json_loads(json, JSON_ALLOW_NUL, NULL);
	const json_t *exit = json_object_get(result, "exit");
	const char *phase = json_string_value(json_object_get(exit, "phase"));
	const char *reason = json_string_value(json_object_get(exit, "reason"));
	int64_t code = json_integer_value(json_object_get(exit, "code"));

	s->outcome = COVE_OUTCOME_FAILURE;
	if (interrupt_signal()) {
		s->outcome = COVE_OUTCOME_ABORTED;
		return EXIT_SIGNAL + interrupt_signal();
	}
	if (reason && strcmp(reason, "timeout") == 0) {
		report("the command was ended after its time limit");
		return EXIT_TIMEOUT;
	}
	if (phase && strcmp(phase, "signaled") == 0)
		return EXIT_SIGNAL +
		       signal_number(json_string_value(json_object_get(exit, "signal")));
	if (!phase || strcmp(phase, "exited") != 0) {
		report("the status of the command was lost");
		return EXIT_OWN;
	}
	s->outcome = code == 0 ? COVE_OUTCOME_SUCCESS : COVE_OUTCOME_FAILURE;
	return (int)code;
}

/*
 * The same for an error; a program that can't be run is told apart from everything else that can't
 * be done.
 */
static int code_of_error(struct session *s, const struct cove_error *err)
{
	bool of_program = s->argv && strcmp(err->path, s->argv[0]) == 0 &&
			  strcmp(err->field, "cwd") != 0;

	s->outcome = COVE_OUTCOME_FAILURE;
	if (interrupt_signal()) {
		s->outcome = COVE_OUTCOME_ABORTED;
		return EXIT_SIGNAL + interrupt_signal();
	}
	if (s->put_error == EPIPE)
		return EXIT_SIGNAL + SIGPIPE;
	if (s->put_error)
		report("can't write output: %s", strerror(s->put_error));
	else
		report_error(err);
	if (err->code == COVE_E_INVALID_ARGUMENT && err->stage == COVE_STAGE_NOT_DISPATCHED)
		return EXIT_USAGE;
	if (of_program && err->code == COVE_E_NOT_FOUND)
		return EXIT_NO_PROGRAM;
	if ((of_program && err->code == COVE_E_PERMISSION_DENIED) ||
	    (err->code == COVE_E_SPAWN_FAILED && strcmp(err->operation, "process.exec") == 0 &&
	     err->stage == COVE_STAGE_DISPATCHED))
		return EXIT_NOT_RUN;
	return EXIT_OWN;
}

static int put_json(const struct session *s, const char *json, int code)
{
	if (!s->args->json || interrupt_signal() ||
	    (put(STDOUT_FILENO, json, strlen(json)) == 0 && put(STDOUT_FILENO, "\n", 1) == 0))
		return code;
	report("can't write the result");
	return EXIT_OWN;
}

/* By one call, with live output or the result as JSON. */
static int run_exec(struct session *s, struct cove_error *err)
{
	char *json = NULL;
	int rc = submit_exec(s, err);
	int code;

	if (rc == 0) {
		drive(s);
		rc = cove_call_take_json(TAKE(s->call), &json, err);
	}
	if (rc < 0 || !json)
		return code_of_error(s, err);
	code = put_json(s, json, code_of_result(s, json));
	cove_result_free(json);
	return code;
}

static int run_tty(struct session *s, struct cove_error *err)
{
	struct cove_exec_opts opts = request(s);
	struct tty_end end;
	int rc = tty_run(s->env, &opts, &s->feed, &end, err);
	int code;

	s->put_error = end.put_error;
	if (end.dropped > 0)
		report("%lld bytes of output were not shown: the terminal was too slow",
		       (long long)end.dropped);
	if (rc < 0 || end.put_error)
		code = code_of_error(s, err);
	else
		code = code_of_result(s, end.json);
	cove_result_free(end.json);
	return code;
}

static int usage_error(const char *message, const char *hint)
{
	report("%s", message);
	fprintf(stderr, "  hint: %s\n", hint);
	return EXIT_USAGE;
}

static int check_words(const struct exec_args *a, const struct words *words)
{
	bool command = words->command && words->command[0];

	if (command == (a->script != NULL))
		return usage_error(command ? "give either -c SCRIPT or a command, not both" :
					     "there is no command to run",
				   "cove exec -- COMMAND [ARG]..., or cove exec -c SCRIPT");
	if (!a->json && (a->max_output || a->render || a->spill))
		return usage_error("--max-output, --render and --spill are about the result",
				   "add --json");
	if (a->tty && !a->json && (a->session || a->descendants))
		return usage_error("--session and --descendants don't go with --tty",
				   "leave one of them out, or add --json");
	return 0;
}

static int open_stdin(struct session *s)
{
	const char *file = s->args->stdin_file;
	int rc = stdin_feed_open(&s->feed, file);

	if (rc < 0)
		report("can't read '%s': %s", file ? file : "-", strerror(-rc));
	return rc;
}

static int run(const void *args, const struct words *words)
{
	const struct exec_args *a = args;
	struct session s = {.args = a, .argv = a->script ? NULL : words->command};
	struct cove_error err = COVE_ERROR_INIT;
	struct changes_args changes = a->changes;
	struct env_setup setup;
	int code = check_words(a, words);

	if (code != 0)
		return code;
	if (open_stdin(&s) < 0)
		return EXIT_OWN;
	changes.since_ns = changes_clock();
	if (env_args_resolve(&a->env, COVE_RETAIN_NEVER, true, &setup, &err) < 0 ||
	    cove_env_open(&setup.opts, &s.env, &err) < 0) {
		stdin_feed_close(&s.feed);
		report_error(&err);
		/* Usage and what can't be provided keep their codes; 1 would look like the command's. */
		return cove_code_exit(err.code) == 1 ? EXIT_OWN : cove_code_exit(err.code);
	}
	changes.seed = setup.opts.seed;
	code = changes_check(&changes, a->json);
	if (code != 0) {
		stdin_feed_close(&s.feed);
		cove_env_close(s.env, COVE_OUTCOME_FAILURE, NULL);
		return code;
	}
	interrupt_install(2);
	code = a->tty && !a->json ? run_tty(&s, &err) : run_exec(&s, &err);
	if (s.feed.read_error)
		report("can't read stdin: %s", strerror(s.feed.read_error));
	stdin_feed_close(&s.feed);
	if (changes_do(&changes, s.env, s.outcome == COVE_OUTCOME_SUCCESS) < 0)
		code = EXIT_OWN;
	env_args_close(&a->env, s.env, s.outcome);
	return code;
}

static const char *const descendants[] = {"kill", "adopt", NULL};

#define ROW(member) .offset = offsetof(struct exec_args, member)
static const struct opt options[] = {
	{"script", 'c', OPT_TEXT, "SCRIPT", "run SCRIPT by the environment's shell", ROW(script)},
	{"cwd", 0, OPT_TEXT, "DIR", "run it in DIR", ROW(cwd)},
	{"timeout", 0, OPT_DURATION, "DUR", "end it after DUR: a whole number with ms, s, m or h",
	 ROW(timeout_ms)},
	{"grace", 0, OPT_DURATION_OR_NONE, "DUR",
	 "from TERM to KILL when it is ended (default: 2s; 0s: KILL at once)", ROW(grace_ms)},
	{"set", 0, OPT_LIST, "NAME=VALUE", "set a variable", ROW(set)},
	{"stdin", 0, OPT_TEXT, "FILE", "its stdin (default: -, this command's own)",
	 ROW(stdin_file)},
	{"tty", 0, OPT_FLAG, .help = "run it on a terminal of its own, of the size of yours",
	 ROW(tty)},
	{"session", 0, OPT_TEXT, "NAME",
	 "run SCRIPT in a session, which lives as long as the environment", ROW(session)},
	{"descendants", 0, OPT_CHOICE, "WHAT",
	 "what happens to processes that outlive it: kill (default) or adopt", .names = descendants,
	 ROW(descendants)},
	{"json", 0, OPT_FLAG, .help = "print the whole result as JSON at the end", ROW(json)},
	{"max-output", 0, OPT_NUMBER, "BYTES",
	 "with --json: of each stream at most so much, head and tail (default: 50000)", .min = 1,
	 .max = OUTPUT_MAX, ROW(max_output)},
	{"render", 0, OPT_FLAG,
	 .help = "with --json: texts as a terminal would show them, without escapes", ROW(render)},
	{"spill", 0, OPT_FLAG,
	 .help = "with --json: output beyond 50000 bytes whole in a file of the environment",
	 ROW(spill)},
	{"diff", 0, OPT_FLAG, .help = "print what it changed as a patch, after its output",
	 ROW(changes.diff)},
	{"diff-to", 0, OPT_TEXT, "FILE", "write that patch to FILE", ROW(changes.diff_to)},
	{"apply", 0, OPT_FLAG,
	 .help = "ask, and write what it changed back to the seed, if it succeeded",
	 ROW(changes.apply)},
	{"yes", 0, OPT_FLAG, .help = "with --apply: don't ask", ROW(changes.yes)},
	{NULL},
};

const struct verb verb_exec = {
	.name = "exec",
	.summary = "Run one command in an environment",
	.usage = "[OPTION]... (-c SCRIPT | -- COMMAND [ARG]...)",
	.text = "The command gets stdin, and its output comes through as it is written. A workspace is removed afterwards\n"
		"unless --retain says otherwise. Processes that the command left running, a session and a spill file end\n"
		"with the environment; cove call - keeps one open for many commands.\n"
		"With --tty, keys go to the command's terminal, ^C too, and changes of the size follow.\n"
		"Exit status: the command's own; 128+n after signal n; 124 after the time limit; 125 when cove failed;\n"
		"126 when the program can't be run; 127 when there is no such program; 2 and 3 for a wrong command line\n"
		"and an environment that is not there.",
	.example = "cove exec --seed ./project --timeout 5m -- make test",
	.size = sizeof(struct exec_args),
	.options = options,
	.shared = env_options,
	.run = run,
};
