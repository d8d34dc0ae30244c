/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: a JSONL file of tasks in, one trace per task out.
 *
 * Each record is one run in an environment of its own, prepared from the seed and cleaned up by the
 * run's outcome. Traces are appended to `<output>.partial` in order of completion; at the end the
 * output appears whole, in input order. Failed runs are lines in `<output>.failures`.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(int argc, char **argv)
 *	{
 *		struct cove_error err = COVE_ERROR_INIT;
 *		struct cove_job_summary sum = {.size = sizeof(sum)};
 *		const char *command[] = {"sh", "-c", "cat", NULL};
 *		if (argc < 3)
 *			return 0;
 *		int rc = cove_job_run(COVE_OPTS(cove_job_opts, .tasks = argv[1], .output = argv[2],
 *						.command = command), &sum, &err);
 *		if (rc < 0)
 *			fprintf(stderr, "%s\n", err.message);
 *		printf("%d of %d succeeded\n", (int)sum.succeeded, (int)sum.total);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_JOB_H
#define COVE_JOB_H

#include <cove/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happens after the first failed run. */
enum cove_on_error {
	COVE_ON_ERROR_STOP = 1, /* abort the others, keep the partial, publish nothing (default) */
	COVE_ON_ERROR_CONTINUE, /* go on; publish what succeeded */
};

/* How far a job has come. */
struct cove_job_progress {
	size_t size;	     /* set by the library */
	int64_t total;	     /* records, -1 while unknown (a pipe) */
	int64_t started;     /* runs begun */
	int64_t done;	     /* runs ended, failed ones included */
	int64_t failed;	     /* runs failed */
	int64_t elapsed_ms;  /* since the job began */
	const char *run_id;  /* the run that has just ended, or NULL */
	const char *outcome; /* "success", "failure" or "aborted", or NULL */
};

/* Called after each run and about once a second, in the thread of cove_job_run(). */
typedef void (*cove_job_progress_fn)(void *user, const struct cove_job_progress *progress);

/* Configuration of a job. */
struct cove_job_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* path of the JSONL file, "-" for stdin; required */
	const char *tasks;
	/* path of the traces; required */
	const char *output;
	/* environment of each run; job_id and run_id are set by the job */
	const struct cove_env_opts *env;
	/* command pipeline: program and arguments, NULL at the end; required */
	const char *const *command;
	/* runs at a time, 1..256; default 1 */
	int64_t concurrency;
	/* enum cove_on_error */
	int on_error;
	/* further attempts of a failed run, each in a fresh workspace, 0..100 */
	int64_t retries;
	/* deadline of each turn's command, 1..2^31-1 ms; 0: none */
	int64_t run_timeout_ms;
	/* replace an existing output, partial and failures */
	bool overwrite;
	/* refused as `not_supported`: not crash-safe yet */
	bool resume;
	/* default made up, unique */
	const char *job_id;
	/* at most so many records; 0 all */
	int64_t limit;
	/* with shard_count: only records n with (n - 1) mod count = index - 1 */
	int64_t shard_index;
	/* 0: no sharding */
	int64_t shard_count;
	/* fired once: abort and clean up; borrowed */
	struct cove_cancel *cancel;
	/* fired: end at once, keeping nothing waiting; borrowed */
	struct cove_cancel *cancel_now;
	/* NULL none */
	cove_job_progress_fn on_progress;
	/* given to on_progress */
	void *on_progress_user;
};

/* What became of a job. */
struct cove_job_summary {
	size_t size;	   /* set by the caller to sizeof */
	int64_t total;	   /* records worked on */
	int64_t succeeded; /* traces written */
	int64_t failed;	   /* lines in the failures file */
	int64_t aborted;   /* runs that were stopped or never begun */
	bool published;	   /* the output file was written */
	char job_id[129];  /* its id */
};

/**
 * Runs a job to its end.
 *
 * A task file is checked whole before the first run; a pipe is checked as it is read.
 *
 * @param opts configuration; required.
 * @param summary NULL, or filled in every case; `size` must be set.
 * @param err NULL, or filled on failure.
 * @return 0 when the output was published, failed runs or not (see the summary), or
 * COVE_E_INVALID_ARGUMENT (file and line of a bad record; a bad option), COVE_E_NOT_FOUND,
 * COVE_E_CONFLICT (output or partial exists or is in use), COVE_E_CANCELLED, COVE_E_NOT_SUPPORTED,
 * or the first run's error under COVE_ON_ERROR_STOP.
 * Threads: any; runs every run in the calling one. @since 0.1
 */
COVE_API int cove_job_run(const struct cove_job_opts *opts, struct cove_job_summary *summary,
			  struct cove_error *err);

#ifdef __cplusplus
}
#endif
#endif
