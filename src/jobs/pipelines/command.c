/* SPDX-License-Identifier: Apache-2.0 */
/* The command pipeline: how a prompt becomes a command, and when that command has failed. */
#include "jobs/command.h"

#include "base/buf.h"

/* What is longer is left out of the variables: the kernel takes 128 KiB for one. */
#define VARIABLE_MAX ((size_t)64 << 10)
#define OUTPUT_MAX (INT64_C(16) << 20)

/* Adds NAME=value to a list of at most two, if it is not too long and holds no NUL. */
static int add_variable(char *vars[3], const char *name, const char *value, size_t len)
{
	size_t at = vars[0] ? 1 : 0;
	struct cv_buf b = CV_BUF(VARIABLE_MAX + 64);

	if (len > VARIABLE_MAX || memchr(value, '\0', len))
		return 0;
	if (cv_buf_addf(&b, "%s=", name) < 0 || cv_buf_add(&b, value, len) < 0) {
		cv_buf_done(&b);
		return -ENOMEM;
	}
	vars[at] = b.data;
	return 0;
}

static int make_variables(const struct cv_run *run, const json_t *prompt, char *vars[3])
{
	CV_JSON json_t *metadata = cv_record_metadata(&run->rec);
	CV_FREE char *text = metadata ? cv_json_dump(metadata) : NULL;
	int rc = text ? 0 : -ENOMEM;

	if (rc == 0)
		rc = add_variable(vars, "COVE_PROMPT", json_string_value(prompt),
				  json_string_length(prompt));
	if (rc == 0)
		rc = add_variable(vars, "COVE_METADATA", text, strlen(text));
	return rc;
}

int cv_command_submit(const struct cv_run *run, struct cove_call **ret, struct cove_error *err)
{
	const json_t *prompt = cv_record_prompt(&run->rec, run->turn);
	char *vars[3] = {NULL};
	int rc;

	if (make_variables(run, prompt, vars) < 0)
		rc = cv_fail(err, COVE_E_INTERNAL, "no memory for the variables of the command");
	else
		rc = cove_submit(run->env, "process.exec",
				 COVE_OPTS(cove_exec_opts, .argv = run->job->opts.command,
					   .env = {.set = (const char *const *)vars},
					   .stdin_data = {json_string_value(prompt),
							  json_string_length(prompt)},
					   .timeout_ms = run->job->opts.run_timeout_ms,
					   .max_output_bytes = OUTPUT_MAX),
				 NULL, ret, err);
	free(vars[0]);
	free(vars[1]);
	return rc;
}

int cv_command_verdict(const struct cv_run *run, const struct cove_exec_result *r,
		       struct cove_error *err)
{
	const char *program = run->job->opts.command[0];
	char turn[32] = "";
	int rc;

	if (r->exit.phase == COVE_PHASE_EXITED && r->exit.code == 0 &&
	    r->exit.reason == COVE_END_EXIT)
		return 0;
	if (cv_record_turns(&run->rec) > 1)
		snprintf(turn, sizeof(turn), "turn %zu: ", run->turn + 1);
	if (r->exit.reason == COVE_END_TIMEOUT)
		rc = cv_fail(err, COVE_E_TIMEOUT,
			     "%s'%s' was ended after the time limit of %lld ms", turn, program,
			     (long long)run->job->opts.run_timeout_ms);
	else if (r->exit.phase == COVE_PHASE_EXITED)
		rc = cv_fail(err, COVE_E_CALLBACK_FAILED, "%s'%s' exited with %d", turn, program,
			     (int)r->exit.code);
	else if (r->exit.phase == COVE_PHASE_SIGNALED)
		rc = cv_fail(err, COVE_E_CALLBACK_FAILED, "%s'%s' was ended by signal %s", turn,
			     program, r->exit.signal ? r->exit.signal : "?");
	else
		rc = cv_fail(err, COVE_E_OUTCOME_UNKNOWN, "%sthe status of '%s' was lost", turn,
			     program);
	if (err)
		err->stage = COVE_STAGE_COMPLETED;
	return rc;
}
