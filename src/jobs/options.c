/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a job: what is missing, out of range, unknown, or not there. */
#include "jobs/options.h"

#include "base/clock.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Copies a caller's struct into ours; a tail that we don't know must be zero. */
static int copy_opts(void *dst, size_t known, const void *src, size_t size, struct cove_error *err)
{
	memcpy(dst, src, CV_MIN(size, known));
	for (size_t i = known; i < size; i++)
		if (((const char *)src)[i] != 0)
			return cv_fail_arg(err, "size", NULL,
					   "announces options that this library does not know");
	return 0;
}

static int check_range(const char *field, int64_t value, int64_t min, int64_t max,
		       struct cove_error *err)
{
	char hint[64];

	if (value >= min && value <= max)
		return 0;
	snprintf(hint, sizeof(hint), "%lld to %lld", (long long)min, (long long)max);
	return cv_fail_arg(err, field, hint, "is out of range: %lld", (long long)value);
}

static int check_required(const struct cove_job_opts *o, struct cove_error *err)
{
	if (!o->tasks)
		return cv_fail_arg(err, "tasks", "give the path of a JSONL file, or - for stdin",
				   "is missing");
	if (!o->output)
		return cv_fail_arg(err, "output", "give the path of the file for the traces",
				   "is missing");
	if (!o->command || !o->command[0] || !o->command[0][0])
		return cv_fail_arg(err, "command", "give a program and its arguments",
				   "is missing");
	if (o->resume) {
		cv_fail(err, COVE_E_NOT_SUPPORTED, "a job can't be resumed yet");
		cv_err_hint(err, "--overwrite starts it afresh");
		return COVE_E_NOT_SUPPORTED;
	}
	return 0;
}

static int check_ranges(struct cove_job_opts *o, struct cove_error *err)
{
	int rc;

	o->concurrency = o->concurrency ? o->concurrency : 1;
	o->on_error = o->on_error ? o->on_error : COVE_ON_ERROR_STOP;
	if ((rc = check_range("concurrency", o->concurrency, 1, 256, err)) < 0 ||
	    (rc = check_range("on_error", o->on_error, COVE_ON_ERROR_STOP, COVE_ON_ERROR_CONTINUE,
			      err)) < 0 ||
	    (rc = check_range("retries", o->retries, 0, 100, err)) < 0 ||
	    (rc = check_range("run_timeout_ms", o->run_timeout_ms, 0, CV_MS_MAX, err)) < 0 ||
	    (rc = check_range("limit", o->limit, 0, INT64_MAX, err)) < 0 ||
	    (rc = check_range("shard_count", o->shard_count, 0, INT64_MAX, err)) < 0)
		return rc;
	if (o->shard_count == 0)
		return check_range("shard_index", o->shard_index, 0, 0, err);
	return check_range("shard_index", o->shard_index, 1, o->shard_count, err);
}

static int choose_id(struct cv_job *job, struct cove_error *err)
{
	const char *given = job->opts.job_id;
	char now[32];
	char random[7];

	if (given && !cv_id_valid(given))
		return cv_fail_arg(err, "job_id",
				   "letters, digits, - and _, at most 128, a letter or digit first",
				   "is not an id: '%.128s'", given);
	if (given) {
		cv_text_copy(job->id, sizeof(job->id), given);
		return 0;
	}
	cv_timestamp(now, sizeof(now));
	cv_random_name(random, sizeof(random) - 1);
	snprintf(job->id, sizeof(job->id), "job-%.4s%.2s%.2s-%.2s%.2s%.2s-%s", now, now + 5,
		 now + 8, now + 11, now + 14, now + 17, random);
	return 0;
}

/* Each run checks its seed too; here a job that can't succeed ends before it begins. */
static int check_seed(const char *seed, struct cove_error *err)
{
	struct stat st;

	if (!seed || seed[0] != '/')
		return 0;
	if (stat(seed, &st) < 0)
		return cv_fail_errno(err, errno, seed, "can't use the seed '%s'", seed);
	if (!S_ISDIR(st.st_mode))
		return cv_fail_errno(err, ENOTDIR, seed, "can't use the seed '%s'", seed);
	if (faccessat(AT_FDCWD, seed, R_OK | X_OK, AT_EACCESS) < 0)
		return cv_fail_errno(err, errno, seed, "can't read the seed '%s'", seed);
	return 0;
}

/* Opening does no I/O, so it is a check of the configuration. */
static int check_env(const struct cv_job *job, struct cove_error *err)
{
	struct cove_env_opts opts = job->env;
	struct cove_env *env = NULL;
	int rc;

	opts.job_id = job->id;
	opts.run_id = "000001";
	rc = cove_env_open(&opts, &env, err);
	if (rc < 0)
		return rc;
	cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
	return check_seed(job->env.seed, err);
}

int cv_job_options(struct cv_job *job, const struct cove_job_opts *opts, struct cove_error *err)
{
	int rc;

	if (!opts)
		return cv_fail_arg(err, "opts", NULL, "is missing");
	if ((rc = copy_opts(&job->opts, sizeof(job->opts), opts, opts->size, err)) < 0)
		return rc;
	if (opts->env &&
	    (rc = copy_opts(&job->env, sizeof(job->env), opts->env, opts->env->size, err)) < 0)
		return rc;
	job->env.size = sizeof(job->env);
	if ((rc = check_required(&job->opts, err)) < 0 ||
	    (rc = check_ranges(&job->opts, err)) < 0 || (rc = choose_id(job, err)) < 0)
		return rc;
	return check_env(job, err);
}
