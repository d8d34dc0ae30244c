/* SPDX-License-Identifier: Apache-2.0 */
/* cove call: operations by name with JSON arguments; one, or a line of stdin each. */
#include "cli/env_args.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/report.h"
#include "cli/verbs.h"

#include <signal.h>
#include <stdio.h>

struct call_args {
	struct env_args env;
	int64_t timeout_ms;
};

/* Runs one operation to its end. *ret is to be freed with cove_result_free(). */
static int run_one(struct cove_env *env, const struct call_args *a, const char *op,
		   const char *json, size_t len, char **ret, struct cove_error *err)
{
	struct cove_call *call = NULL;
	int rc = cove_submit_json(env, op, json, len,
				  COVE_OPTS(cove_call_opts, .cancel = interrupt_first(),
					    .timeout_ms = a->timeout_ms),
				  &call, err);

	return rc < 0 ? rc : cove_call_take_json(call, ret, err);
}

/* {"op":…,"args":{…}}; args may be left out. */
static int read_request(const char *line, size_t len, json_t **ret, struct cove_error *err)
{
	CV_JSON json_t *j = NULL;
	const char *key;
	const json_t *value;
	int rc = cv_json_load(line, len, "the line", &j, err);

	if (rc < 0)
		return rc;
	if (!json_is_object(j))
		return cv_fail(err, COVE_E_INVALID_ARGUMENT, "the line is not a JSON object");
	json_object_foreach(j, key, value)
		if (strcmp(key, "op") != 0 && strcmp(key, "args") != 0)
			return cv_fail_arg(err, key, "a request has op and args",
					   "is an unknown key");
	if (!json_is_string(json_object_get(j, "op")))
		return cv_fail_arg(err, "op", "name an operation, such as file.stat",
				   "is missing or not a string");
	value = json_object_get(j, "args");
	if (value && !json_is_object(value))
		return cv_fail_arg(err, "args", NULL, "is not an object");
	*ret = TAKE(j);
	return 0;
}

static int run_line(struct cove_env *env, const struct call_args *a, const struct line *line,
		    char **ret, struct cove_error *err)
{
	CV_JSON json_t *request = NULL;
	CV_FREE char *args = NULL;
	const json_t *value;
	int rc;

	if (line->too_long)
		return cv_fail(err, COVE_E_TOO_LARGE, "the line is longer than %zu bytes",
			       LINE_MAX_BYTES);
	rc = read_request(line->text, line->len, &request, err);
	if (rc < 0)
		return rc;
	value = json_object_get(request, "args");
	args = value ? cv_json_dump(value) : strdup("{}");
	if (!args)
		return cv_fail(err, COVE_E_INTERNAL, "no memory");
	return run_one(env, a, json_string_value(json_object_get(request, "op")), args,
		       strlen(args), ret, err);
}

/* One line; 0 or -errno. */
static int answer(const char *head, const char *json)
{
	int rc = put(STDOUT_FILENO, head, strlen(head));

	if (rc == 0)
		rc = put(STDOUT_FILENO, json, strlen(json));
	return rc == 0 ? put(STDOUT_FILENO, "}\n", 2) : rc;
}

static int answer_line(struct cove_env *env, const struct call_args *a, const struct line *line)
{
	struct cove_error err = COVE_ERROR_INIT;
	CV_FREE char *error = NULL;
	char *json = NULL;
	int rc = run_line(env, a, line, &json, &err);

	if (rc < 0) {
		error = error_json(&err);
		return answer("{\"ok\":false,\"error\":",
			      error ? error : "{\"code\":\"internal\"}");
	}
	rc = answer("{\"ok\":true,\"result\":", json ? json : "null");
	cove_result_free(json);
	return rc;
}

/*
 * Exit status of a batch: it is about the conversation; each request's own outcome stands in its
 * answer.
 */
static int run_batch(struct cove_env *env, const struct call_args *a)
{
	struct line_reader reader;
	struct line line;
	int rc = 0;

	line_reader_init(&reader, STDIN_FILENO);
	while (rc == 0 && !interrupt_signal() &&
	       (rc = line_reader_next(&reader, interrupt_first(), &line)) == 1)
		rc = answer_line(env, a, &line);
	line_reader_done(&reader);
	if (interrupt_signal())
		return 128 + interrupt_signal();
	if (rc == -EPIPE)
		return 128 + SIGPIPE;
	if (rc < 0)
		report("%s", strerror(-rc));
	return rc < 0;
}

static void print_result(const char *json)
{
	CV_JSON json_t *j = isatty(STDOUT_FILENO) ?
				    json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) :
				    NULL;
	CV_FREE char *pretty = j ? json_dumps(j, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;

	puts(pretty ? pretty : json);
}

static int print_error(const struct cove_error *err)
{
	CV_FREE char *json = error_json(err);

	fprintf(stderr, "%s\n", json ? json : "{\"code\":\"internal\"}");
	return interrupt_signal() ? 128 + interrupt_signal() : cove_code_exit(err->code);
}

static int run_single(struct cove_env *env, const struct call_args *a, const struct words *words)
{
	struct cove_error err = COVE_ERROR_INIT;
	const char *args = words->count > 1 ? words->plain[1] : NULL;
	char *json = NULL;

	if (run_one(env, a, words->plain[0], args, args ? strlen(args) : 0, &json, &err) < 0)
		return print_error(&err);
	print_result(json);
	cove_result_free(json);
	return interrupt_signal() ? 128 + interrupt_signal() : 0;
}

static int run(const void *args, const struct words *words)
{
	const struct call_args *a = args;
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env *env = NULL;
	struct env_setup setup;
	int outcome = COVE_OUTCOME_SUCCESS;
	int code;

	if (words->count == 0 || words->command) {
		report(words->command ? "cove call takes no command" :
					"there is no operation to call");
		fprintf(stderr,
			"  hint: cove call OP [JSON], or cove call - for requests on stdin\n");
		return EXIT_USAGE;
	}
	if (env_args_resolve(&a->env, COVE_RETAIN_NEVER, true, &setup, &err) < 0 ||
	    cove_env_open(&setup.opts, &env, &err) < 0)
		return print_error(&err);
	interrupt_install(2);
	code = strcmp(words->plain[0], "-") == 0 ? run_batch(env, a) : run_single(env, a, words);
	if (code != 0)
		outcome = interrupt_signal() ? COVE_OUTCOME_ABORTED : COVE_OUTCOME_FAILURE;
	env_args_close(&a->env, env, outcome);
	return code;
}

static const struct opt options[] = {
	{"timeout", 0, OPT_DURATION, "DUR",
	 "give a call up after DUR: a whole number with ms, s, m or h",
	 .offset = offsetof(struct call_args, timeout_ms)},
	{NULL},
};

const struct verb verb_call = {
	.name = "call",
	.summary = "Call operations by name, with JSON arguments and results",
	.usage = "[OPTION]... (OP [JSON] | -)",
	.text = "With - each line of stdin is a request, {\"op\":…,\"args\":{…}}, and each is answered by one line, in order:\n"
		"{\"ok\":true,\"result\":{…}} or {\"ok\":false,\"error\":{…}}. All of them share one environment.\n"
		"Without -, an error goes to stderr as JSON.",
	.example = "cove call --env here file.stat '{\"path\":\"README.md\"}'",
	.max_plain = 2,
	.size = sizeof(struct call_args),
	.options = options,
	.shared = env_options,
	.run = run,
};
