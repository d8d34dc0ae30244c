/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of cove files share. */
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/verbs.h"

#include "base/fd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#define STEP ((size_t)256 << 10)

#define ENV_OPTION(member) .offset = offsetof(struct env_args, member)
const struct opt files_options[] = {
	{"env", 0, OPT_TEXT, "E",
	 "environment: here, workspace or sandbox (default: $COVE_ENV, else here)",
	 ENV_OPTION(env)},
	{"bind", 0, OPT_TEXT, "DIR", "work in DIR itself; this is here", ENV_OPTION(bind)},
	{"seed", 0, OPT_TEXT, "DIR", "the workspace starts as a copy of DIR", ENV_OPTION(seed)},
	{"option", 'o', OPT_LIST, "KEY=VALUE", "an option of the environment, such as root=DIR",
	 ENV_OPTION(options)},
	{NULL},
};

/* Nobody wants to look at files of a workspace that begins to exist only now, unless they say so. */
static struct env_args choose(const struct env_args *given)
{
	struct env_args args = *given;
	const char *from_env = getenv("COVE_ENV");

	if (!args.env && (args.bind || !(from_env && *from_env)))
		args.env = "here";
	return args;
}

static int status_of(const struct cove_error *err)
{
	return interrupt_signal() ? 128 + interrupt_signal() : cove_code_exit(err->code);
}

int files_failed(const struct cove_error *err)
{
	/* Whoever read our output has had enough of it. */
	if (err->sys_errno == EPIPE && err->code == COVE_E_CLOSED)
		return 128 + SIGPIPE;
	report_error(err);
	return status_of(err);
}

static int work_in(const struct env_args *given, struct files *f, files_fn *work)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct env_args args = choose(given);
	struct env_setup setup;
	int outcome;
	int code;

	if (env_args_resolve(&args, COVE_RETAIN_NEVER, true, &setup, &err) < 0 ||
	    cove_env_open(&setup.opts, &f->env, &err) < 0)
		return files_failed(&err);
	interrupt_install(2);
	code = work(f, &err);
	if (code < 0)
		code = files_failed(&err);
	outcome = interrupt_signal() ? COVE_OUTCOME_ABORTED :
		  code		     ? COVE_OUTCOME_FAILURE :
				       COVE_OUTCOME_SUCCESS;
	env_args_close(&args, f->env, outcome);
	return code;
}

int files_run(const void *args, const struct words *words, size_t min, size_t max, const char *want,
	      files_fn *work)
{
	struct files f = {.args = args};
	CV_FREE const char **all = NULL;
	size_t behind = 0;

	while (words->command && words->command[behind])
		behind++;
	f.count = words->count + behind;
	if (f.count < min || f.count > max) {
		report("%s arguments", f.count < min ? "too few" : "too many");
		fprintf(stderr, "  hint: give %s\n", want);
		return EXIT_USAGE;
	}
	all = calloc(f.count + 1, sizeof(*all));
	if (!all) {
		report("no memory");
		return 1;
	}
	for (size_t i = 0; i < f.count; i++)
		all[i] = i < words->count ? words->plain[i] : words->command[i - words->count];
	f.words = all;
	return work_in(args, &f, work);
}

int files_call(const struct files *f, const char *op, const void *request, void *ret,
	       struct cove_error *err)
{
	struct cove_call *call = NULL;
	void *result = NULL;
	int rc = cove_submit(f->env, op, request,
			     COVE_OPTS(cove_call_opts, .cancel = interrupt_first()), &call, err);

	if (rc == 0)
		rc = cove_call_take(call, &result, err);
	if (rc == 0 && ret)
		*(void **)ret = TAKE(result);
	cove_result_free(result);
	return rc;
}

int files_slurp(const char *file, size_t max, struct cv_buf *b, struct cove_error *err)
{
	bool is_stdin = !file || strcmp(file, "-") == 0;
	CV_CLOSE int own = is_stdin ? -1 : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int fd = is_stdin ? STDIN_FILENO : own;
	ssize_t n = -1;

	*b = CV_BUF(max);
	file = is_stdin ? "stdin" : file;
	while (fd >= 0 && n != 0) {
		if (interrupt_signal())
			return cv_fail(err, COVE_E_CANCELLED, "interrupted");
		if (cv_buf_reserve(b, CV_MIN(STEP, max - b->len + 1)) < 0)
			return b->len == max ?
				       cv_fail(err, COVE_E_TOO_LARGE, "'%s' is larger than %zu MiB",
					       file, max >> 20) :
				       cv_fail(err, COVE_E_INTERNAL, "no memory");
		n = read(fd, b->data + b->len, CV_MIN(STEP, b->cap - b->len));
		if (n < 0 && errno != EINTR)
			break;
		b->len += n > 0 ? (size_t)n : 0;
	}
	return n == 0 ? 0 : cv_fail_errno(err, errno, file, "cannot read '%s'", file);
}

int files_put(const char *data, size_t len, struct cove_error *err)
{
	int rc = put(STDOUT_FILENO, data, len);

	if (rc == -EINTR)
		return cv_fail(err, COVE_E_CANCELLED, "interrupted");
	if (rc < 0) {
		cv_fail_errno(err, -rc, NULL, "cannot write to stdout");
		err->code = rc == -EPIPE ? COVE_E_CLOSED : err->code;
		return err->code;
	}
	return 0;
}
