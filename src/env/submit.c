/* SPDX-License-Identifier: Apache-2.0 */
/* Operations by name: the one primitive under all the functions of the public headers. */
#include "base/json.h"
#include "env/env.h"

#include <cove/streams.h>

int cv_opts_fit(const void *opts, size_t known, const void **ret, void **ret_copy,
		struct cove_error *err)
{
	size_t size = opts ? *(const size_t *)opts : 0;

	if (size < sizeof(size_t))
		return cv_fail_arg(err, "size", "fill options structs with COVE_OPTS",
				   "of an options struct is not set");
	if (size == known) {
		*ret = opts;
		return 0;
	}
	for (size_t i = known; i < size; i++)
		if (((const char *)opts)[i])
			return cv_fail_arg(
				err, "size", "use a library as new as the header",
				"of an options struct is larger than this library knows, and more is set");
	*ret_copy = calloc(1, known);
	if (!*ret_copy)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	memcpy(*ret_copy, opts, CV_MIN(size, known));
	*ret = *ret_copy;
	return 0;
}

static int check_call_opts(const struct cove_call_opts *opts, struct cove_error *err)
{
	if (!opts)
		return 0;
	if (opts->timeout_ms < 0 || opts->timeout_ms > INT32_MAX)
		return cv_fail_arg(err, "timeout_ms", NULL, "is %lld; it must be 1..2147483647 ms",
				   (long long)opts->timeout_ms);
	if (cove_cancel_fired(opts->cancel))
		return cv_fail(err, COVE_E_CANCELLED, "cancelled before it began");
	return 0;
}

static int check_receiver(const struct cv_op *op, const void *req, struct cove_error *err)
{
	const struct cove_file_read_stream_opts *opts = req;

	if (!(op->flags & CV_OP_STREAM_OUT) || (opts && opts->on_data))
		return 0;
	return cv_fail_arg(err, "on_data", "give a function, such as cove_data_to_fd()",
			   "is missing");
}

static int submit_op(struct cove_env *env, const struct cv_op *op, const void *req,
		     const struct cove_call_opts *opts, struct cove_call **ret_call,
		     struct cove_error *err)
{
	CV_FREE void *copy = NULL;
	int rc = check_call_opts(opts, err);

	if (rc == 0 && op->req->count > 0 && !req)
		rc = cv_fail_arg(err, "request", "give the operation's options struct",
				 "is missing");
	if (rc == 0 && op->req->count > 0)
		rc = cv_opts_fit(req, op->req->size, &req, &copy, err);
	if (rc == 0)
		rc = cv_op_check(op, op->req->count ? req : NULL, err);
	if (rc == 0)
		rc = check_receiver(op, req, err);
	if (rc == 0)
		rc = cv_env_begin(env, err);
	if (rc == 0)
		rc = cv_call_submit(&env->client, op, op->req->count ? req : NULL, opts, ret_call,
				    err);
	if (rc < 0)
		cv_err_operation(err, op->name);
	return rc;
}

static const struct cv_op *public_op(const char *name, struct cove_error *err)
{
	const struct cv_op *op = name ? cv_op_find(name) : NULL;

	if (op && !(op->flags & CV_OP_INTERNAL))
		return op;
	cv_fail_arg(err, "op", "env.describe lists the operations",
		    "is '%.100s', which is no operation", name ? name : "");
	return NULL;
}

int cove_submit(struct cove_env *env, const char *name, const void *request,
		const struct cove_call_opts *opts, struct cove_call **ret_call,
		struct cove_error *err)
{
	const struct cv_op *op = public_op(name, err);

	return op ? submit_op(env, op, request, opts, ret_call, err) : COVE_E_INVALID_ARGUMENT;
}

static int refuse_stream(const struct cv_op *op, struct cove_error *err)
{
	cv_fail(err, COVE_E_NOT_SUPPORTED, "%s moves bytes through functions of a C program",
		op->name);
	cv_err_hint(err, "use file.read_bytes piece by piece, file.write_bytes, or cove files");
	cv_err_operation(err, op->name);
	return COVE_E_NOT_SUPPORTED;
}

int cove_submit_json(struct cove_env *env, const char *name, const char *json, size_t len,
		     const struct cove_call_opts *opts, struct cove_call **ret_call,
		     struct cove_error *err)
{
	const struct cv_op *op = public_op(name, err);
	CV_ARENA_SCOPE struct cv_arena *arena = NULL;
	CV_JSON json_t *j = NULL;
	void *req = NULL;
	int rc;

	if (!op)
		return COVE_E_INVALID_ARGUMENT;
	if (op->flags & (CV_OP_STREAM_IN | CV_OP_STREAM_OUT))
		return refuse_stream(op, err);
	if (len > CV_MESSAGE_MAX)
		return cv_fail(err, COVE_E_TOO_LARGE, "the arguments are larger than 16 MiB");
	rc = json ? cv_json_load(json, len, "the argument text", &j, err) : 0;
	if (!json)
		j = json_object();
	arena = cv_arena_new(op->req->size, &req);
	if (rc == 0 && (!arena || !j))
		rc = cv_fail(err, COVE_E_INTERNAL, "out of memory");
	if (rc == 0)
		rc = cv_decode(op->req, j, CV_FORM_JSON, NULL, arena, req, err);
	if (rc < 0) {
		cv_err_operation(err, op->name);
		return rc;
	}
	if (op->req->count > 0)
		*(size_t *)req = op->req->size;
	return submit_op(env, op, req, opts, ret_call, err);
}

int cv_env_call(struct cove_env *env, enum cv_op_id id, const void *req, void **ret_result,
		struct cove_error *err)
{
	struct cove_call *call = NULL;
	int rc = submit_op(env, &cv_operations[id], req, NULL, &call, err);

	return rc < 0 ? rc : cv_call_take(call, ret_result, err);
}

int cove_env_ready(struct cove_env *env, const struct cove_call_opts *opts, struct cove_error *err)
{
	struct cove_call *call = NULL;
	int rc = submit_op(env, &cv_operations[CV_OP_ID_ENV_PING], NULL, opts, &call, err);

	return rc < 0 ? rc : cv_call_take(call, NULL, err);
}
