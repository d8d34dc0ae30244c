/* SPDX-License-Identifier: Apache-2.0 */
/* Builds traces and failures. */
#include "jobs/trace.h"

#include "base/secret.h"
#include "ops/fields.h"

#define TAIL_MAX ((size_t)4 << 10)

static json_t *exit_json(const struct cove_exit *exit)
{
	struct cove_process_wait_result holder = {.exit = *exit};
	struct cv_body body = {0};
	CV_JSON json_t *whole =
		cv_encode(&cv_struct_process_wait_result, &holder, false, CV_FORM_JSON, &body);

	cv_body_done(&body);
	return whole ? json_incref(json_object_get(whole, "exit")) : NULL;
}

/* The last bytes of a stream, from the beginning of a code point on. */
static json_t *tail_json(const struct cove_output *out)
{
	size_t at = out->data_len > TAIL_MAX ? out->data_len - TAIL_MAX : 0;

	while (at > 0 && at < out->data_len && (out->data[at] & 0xC0) == 0x80)
		at++;
	return cv_json_text(out->data_len > 0 ? out->data + at : "", out->data_len - at);
}

static int add_message(json_t *messages, const char *role, json_t *content)
{
	json_t *message = json_pack("{s:s,s:o}", "role", role, "content", content);

	return message && json_array_append_new(messages, message) == 0 ? 0 : -ENOMEM;
}

int cv_trace_turn(struct cv_run *run, const struct cove_exec_result *r)
{
	const json_t *prompt = cv_record_prompt(&run->rec, run->turn);
	json_t *turn = json_pack("{s:o,s:I,s:I,s:o,s:I}", "exit", exit_json(&r->exit),
				 "stdout_bytes", (json_int_t)r->out.bytes, "stderr_bytes",
				 (json_int_t)r->err.bytes, "stderr", tail_json(&r->err),
				 "duration_ms", (json_int_t)r->exit.duration_ms);

	if (!turn || json_array_append_new(run->turns, turn) < 0)
		return -ENOMEM;
	if (r->out.truncated && json_object_set_new(turn, "stdout_truncated", json_true()) < 0)
		return -ENOMEM;
	if (r->out.lossy && json_object_set_new(turn, "stdout_lossy", json_true()) < 0)
		return -ENOMEM;
	if (add_message(run->messages, "user", json_copy((json_t *)prompt)) < 0)
		return -ENOMEM;
	return add_message(run->messages, "assistant", cv_json_text(r->out.text, r->out.text_len));
}

/*
 * Redacts a copy of a string, which may hold NULs; NULL: there was nothing to redact, or no memory.
 */
static json_t *redacted(const json_t *text)
{
	size_t len = json_string_length(text);
	CV_FREE char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, json_string_value(text), len + 1);
	for (size_t at = 0; at < len; at += strlen(copy + at) + 1)
		cv_redact(copy + at);
	if (memcmp(copy, json_string_value(text), len) == 0)
		return NULL;
	return cv_json_text(copy, len);
}

/* A value without its secrets: a new reference, the same value where it holds none. */
static json_t *redact(json_t *j)
{
	json_t *copy = NULL;
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_string(j)) {
		copy = redacted(j);
	} else if (json_is_array(j) && (copy = json_array()) != NULL) {
		json_array_foreach(j, i, value) {
			json_array_append_new(copy, redact(value));
		}
	} else if (json_is_object(j) && (copy = json_object()) != NULL) {
		json_object_foreach(j, key, value) {
			json_object_set_new(copy, key, redact(value));
		}
	}
	return copy ? copy : json_incref(j);
}

static char *dump_redacted(json_t *j)
{
	CV_JSON json_t *whole = j;
	CV_JSON json_t *clean = whole ? redact(whole) : NULL;

	return clean ? cv_json_dump(clean) : NULL;
}

static json_t *string_or_null(const char *s)
{
	return s && *s ? cv_json_text(s, strlen(s)) : json_null();
}

/* Says what is left behind, if anything is (ENV-9). */
static int add_cleanup(const struct cv_run *run, json_t *to)
{
	if (run->cleanup.code == 0)
		return 0;
	return json_object_set_new(to, "cleanup", json_string("failed")) < 0 ||
			       json_object_set_new(to, "cleanup_error",
						   string_or_null(run->cleanup.message)) < 0 ?
		       -ENOMEM :
		       0;
}

static json_t *environment_json(const struct cv_run *run)
{
	const char *provider = run->job->env.provider;

	return json_pack("{s:s,s:o,s:o}", "type", provider ? provider : "workspace", "workspace",
			 string_or_null(run->workspace), "seed",
			 string_or_null(run->job->env.seed));
}

char *cv_trace_success(const struct cv_run *run)
{
	json_t *metadata = json_pack("{s:i,s:s,s:s,s:s,s:{s:I,s:o},s:s,s:I,s:o,s:O}",
				     "schema_version", 1, "job_id", run->job->id, "run_id", run->id,
				     "pipeline", "command", "input", "line",
				     (json_int_t)run->rec.line, "metadata",
				     cv_record_metadata(&run->rec), "created_at", run->created_at,
				     "duration_ms", (json_int_t)run->duration_ms, "environment",
				     environment_json(run), "turns", run->turns);

	if (metadata && add_cleanup(run, metadata) < 0) {
		json_decref(metadata);
		return NULL;
	}
	return dump_redacted(
		json_pack("{s:O,s:o}", "messages", run->messages, "metadata", metadata));
}

static int64_t stdout_bytes(const struct cv_run *run)
{
	int64_t sum = 0;
	const json_t *turn;
	size_t i;

	json_array_foreach(run->turns, i, turn) {
		sum += json_integer_value(json_object_get(turn, "stdout_bytes"));
	}
	return sum;
}

/* What the last turn tells, if there was one. */
static json_t *last_turn(const struct cv_run *run, const char *key)
{
	size_t count = json_array_size(run->turns);
	json_t *value = count > 0 ? json_object_get(json_array_get(run->turns, count - 1), key) :
				    NULL;

	return value ? json_incref(value) : json_null();
}

static json_t *input_json(const struct cv_run *run)
{
	return json_pack("{s:O,s:o}", "prompt", json_object_get(run->rec.json, "prompt"),
			 "metadata", cv_record_metadata(&run->rec));
}

char *cv_trace_failure(const struct cv_run *run)
{
	json_t *line = json_pack("{s:I,s:o,s:o,s:I,s:o,s:s,s:s,s:s,s:s,s:o,s:I,s:I,s:o,s:O}",
				 "line", (json_int_t)run->rec.line, "input", input_json(run),
				 "error", cv_error_encode(&run->error), "attempts",
				 (json_int_t)run->attempt, "workspace",
				 string_or_null(run->kept ? run->workspace : NULL), "job_id",
				 run->job->id, "run_id", run->id, "outcome", "failure",
				 "created_at", run->created_at, "exit", last_turn(run, "exit"),
				 "duration_ms", (json_int_t)run->duration_ms, "stdout_bytes",
				 (json_int_t)stdout_bytes(run), "stderr", last_turn(run, "stderr"),
				 "messages", run->messages);

	if (line && add_cleanup(run, line) < 0) {
		json_decref(line);
		return NULL;
	}
	return dump_redacted(line);
}
