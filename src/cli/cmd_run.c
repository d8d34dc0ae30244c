/* SPDX-License-Identifier: Apache-2.0 */
/* cove run: a file of tasks in, a file of traces out. */
#include "cli/env_args.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/verbs.h"

#include <stdio.h>

struct run_args {
	struct env_args env;
	const char *out;
	const char *job_id;
	const char *agent;
	const char *config;
	int64_t jobs;
	int64_t retries;
	int64_t run_timeout_ms;
	int64_t limit;
	int64_t shard[2];
	int on_error;
	bool resume;
	bool retry_failed;
	bool overwrite;
	bool no_progress;
};

static int not_yet(struct cove_error *err, const char *what, const char *hint)
{
	cv_fail(err, COVE_E_NOT_SUPPORTED, "%s is not supported by this build", what);
	cv_err_hint(err, "%s", hint);
	return COVE_E_NOT_SUPPORTED;
}

static int check(const struct run_args *a, const struct words *words, struct cove_error *err)
{
	if (a->agent && strcmp(a->agent, "command") != 0)
		return not_yet(err, "'--agent' other than command",
			       "give the agent's program behind --");
	if (a->config)
		return not_yet(err, "'--config'", "give options on the command line");
	if (a->retry_failed)
		return not_yet(err, "'--retry-failed'",
			       "--retries N tries a failed run again at once");
	if (words->count == 0)
		return cv_fail_arg(err, "TASKS", "give the path of a JSONL file, or - for stdin",
				   "is missing");
	if (!a->out)
		return cv_fail_arg(err, "--out", "give the path of the file for the traces",
				   "is missing");
	if (!words->command || !words->command[0])
		return cv_fail_arg(err, "COMMAND", "give a program and its arguments behind --",
				   "is missing");
	return 0;
}

/* 2 stands for what is wrong before anything ran (JOB-10). */
static int exit_code(int rc, const struct cove_job_summary *sum)
{
	bool ran = sum->succeeded + sum->failed > 0;

	if (rc == COVE_E_CANCELLED)
		return cove_code_exit(rc);
	if (rc >= 0)
		return sum->failed > 0;
	if (cove_code_exit(rc) == 3 || cove_code_exit(rc) == 2)
		return cove_code_exit(rc);
	return ran || rc == COVE_E_QUOTA_EXCEEDED || rc == COVE_E_INTERNAL ? 1 : 2;
}

static void print_summary(const struct run_args *a, const struct cove_job_summary *sum)
{
	char failures[4200] = "";

	if (!sum->published && sum->succeeded + sum->failed + sum->aborted == 0)
		return;
	if (sum->failed > 0)
		snprintf(failures, sizeof(failures), "; failures: %s.failures", a->out);
	report("%lld succeeded, %lld failed, %lld aborted; %s: %s%s%s", (long long)sum->succeeded,
	       (long long)sum->failed, (long long)sum->aborted,
	       sum->published ? "traces" : "nothing was published, completed traces", a->out,
	       sum->published ? "" : ".partial", failures);
}

static int run_job(const struct run_args *a, const struct words *words,
		   const struct env_setup *setup, struct progress *progress)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_job_summary sum = {.size = sizeof(sum)};
	int rc = cove_job_run(
		COVE_OPTS(cove_job_opts, .tasks = words->plain[0], .output = a->out,
			  .env = &setup->opts, .command = words->command, .concurrency = a->jobs,
			  .on_error = a->on_error, .retries = a->retries,
			  .run_timeout_ms = a->run_timeout_ms, .overwrite = a->overwrite,
			  .resume = a->resume, .job_id = a->job_id, .limit = a->limit,
			  .shard_index = a->shard[0], .shard_count = a->shard[1],
			  .cancel = interrupt_first(), .cancel_now = interrupt_second(),
			  .on_progress = a->no_progress ? NULL : progress_show,
			  .on_progress_user = progress),
		&sum, &err);

	progress_done(progress);
	if (rc < 0)
		report_error(&err);
	print_summary(a, &sum);
	return exit_code(rc, &sum);
}

static int run(const void *args, const struct words *words)
{
	const struct run_args *a = args;
	struct cove_error err = COVE_ERROR_INIT;
	struct env_setup setup;
	struct progress progress;
	int code;

	if (check(a, words, &err) < 0 || env_args_resolve(&a->env, 0, false, &setup, &err) < 0) {
		report_error(&err);
		return cove_code_exit(err.code);
	}
	interrupt_install(3);
	progress_init(&progress);
	code = run_job(a, words, &setup, &progress);
	if (cove_cancel_fired(interrupt_second()))
		_exit(code); /* environments that were left to themselves end with this process */
	return code;
}

static const char *const on_error_names[] = {"stop", "continue", NULL};

#define ROW(member) .offset = offsetof(struct run_args, member)
static const struct opt options[] = {
	{"out", 0, OPT_TEXT, "FILE", "write the traces to FILE (required)", ROW(out)},
	{"jobs", 'j', OPT_NUMBER, "N", "so many runs at a time (1)", .min = 1, .max = 256,
	 ROW(jobs)},
	{"on-error", 0, OPT_CHOICE, "WHAT", "after a failed run: stop (default) or continue",
	 on_error_names, ROW(on_error)},
	{"retries", 0, OPT_NUMBER, "N", "try a failed run again, up to N times", .max = 100,
	 ROW(retries)},
	{"run-timeout", 0, OPT_DURATION, "DUR",
	 "time limit of each turn: a whole number with ms, s, m or h", ROW(run_timeout_ms)},
	{"overwrite", 0, OPT_FLAG, .help = "replace FILE, once the new one is complete",
	 ROW(overwrite)},
	{"resume", 0, OPT_FLAG, .help = "go on with a job that was interrupted (not yet)",
	 ROW(resume)},
	{"retry-failed", 0, OPT_FLAG, .help = "with --resume, run failed tasks again (not yet)",
	 ROW(retry_failed)},
	{"job-id", 0, OPT_TEXT, "ID", "name of the job (made up)", ROW(job_id)},
	{"limit", 0, OPT_NUMBER, "N", "work on the first N tasks only", .min = 1, .max = INT64_MAX,
	 ROW(limit)},
	{"shard", 0, OPT_SHARD, "I/N", "work on each Nth task only, from the Ith on", ROW(shard)},
	{"agent", 0, OPT_TEXT, "NAME", "what works on a task: command", ROW(agent)},
	{"config", 0, OPT_TEXT, "FILE", "read options from FILE (not yet)", ROW(config)},
	{"no-progress", 0, OPT_FLAG, .help = "don't tell how far the job has come",
	 ROW(no_progress)},
	{NULL},
};

const struct verb verb_run = {
	.name = "run",
	.summary = "Run a command on every task of a file, each in an environment of its own",
	.usage = "TASKS.jsonl --out FILE [OPTION]... -- COMMAND [ARG]...",
	.text = "A task is a line {\"prompt\":\"…\",\"metadata\":{…}}; metadata may be left out, and an array of prompts gives as many\n"
		"turns in one workspace. The command gets the prompt on stdin and in COVE_PROMPT, the metadata in COVE_METADATA;\n"
		"its stdout is the answer. Failed runs go to FILE.failures. - instead of TASKS.jsonl reads stdin.\n"
		"Exit status: 0; 1 when a run failed; 2 when something is wrong with the options, the tasks or FILE; 3 for an\n"
		"environment that is not there; 130 when interrupted.",
	.example =
		"cove run tasks.jsonl --out traces.jsonl --seed ./project -j 4 --on-error continue -- ./agent.sh",
	.max_plain = 1,
	.size = sizeof(struct run_args),
	.options = options,
	.shared = env_options_without_bind,
	.run = run,
};
