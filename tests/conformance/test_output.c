/* SPDX-License-Identifier: Apache-2.0 */
/* Output by offset, retention, live output, bounded views: OUT rules, on every provider. */
#include "fixture.h"

static struct cove_output_read_result *read_at(const char *process, int stream, int64_t offset,
					       int64_t max)
{
	struct cove_output_read_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_output_read(env,
			      COVE_OPTS(cove_output_read_opts, .process = process, .stream = stream,
					.offset = offset, .max_bytes = max),
			      &r, &err);
	ck_assert_msg(rc == 0, "read: %s", err.message);
	return r;
}

START_TEST(out_1_raw_bytes_are_kept) /* OUT-1, CASE-38 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("for i in $(seq 0 255); do printf \"\\\\x$(printf %02x $i)\"; done; printf 'e\\0r\\377' >&2");
	ck_assert_uint_eq(r->out.data_len, 256);
	for (int i = 0; i < 256; i++)
		ck_assert_int_eq((unsigned char)r->out.data[i], i);
	ck_assert(r->out.lossy);
	ck_assert_int_eq(r->out.bytes, 256);
	ck_assert_uint_eq(r->err.data_len, 4);
	ck_assert_int_eq(memcmp(r->err.data, "e\0r\377", 4), 0);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_1_merged_in_arrival_order) /* OUT-1 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done",
				.output = {.merge = true}));
	ck_assert(r->merged);
	ck_assert_str_eq(r->out.text, "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n");
	ck_assert_uint_eq(r->err.text_len, 0);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_2_reading_consumes_nothing) /* OUT-2 */
{
	struct cove_output_read_result *r;
	const char *p = "process-1";

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "printf 0123456789; printf abc >&2"));
	wait_for(p, COVE_UNTIL_CLEAN, 0);
	for (int i = 0; i < 2; i++) {
		r = read_at(p, COVE_STREAM_STDOUT, 2, 4);
		ck_assert_str_eq(r->data.data, "2345");
		ck_assert_int_eq(r->offset, 2);
		ck_assert_int_eq(r->next_offset, 6);
		ck_assert_int_eq(r->produced, 10);
		ck_assert_int_eq(r->dropped, 0);
		ck_assert(r->producer_complete && !r->content_complete);
		ck_assert_int_eq(r->coverage, COVE_COVERAGE_COMPLETE);
		cove_output_read_result_free(r);
	}
	r = read_at(p, COVE_STREAM_STDERR, 0, 0);
	ck_assert_str_eq(r->data.data, "abc");
	ck_assert(r->content_complete);
	cove_output_read_result_free(r);
	r = read_at(p, COVE_STREAM_STDOUT, 10, 0);
	ck_assert_uint_eq(r->data.len, 0);
	ck_assert(r->content_complete);
	cove_output_read_result_free(r);
	r = NULL;
	ck_assert_int_eq(
		cove_output_read(env, COVE_OPTS(cove_output_read_opts, .process = p, .offset = 11),
				 &r, &err),
		COVE_E_CURSOR_INVALID);
	ck_assert_str_eq(err.field, "offset");
	ck_assert_int_eq(cove_output_read(env,
					  COVE_OPTS(cove_output_read_opts, .process = p,
						    .stream = COVE_STREAM_OUTPUT),
					  &r, &err),
			 COVE_E_INVALID_ARGUMENT);
	end();
}
END_TEST

START_TEST(out_2_wait_for_more) /* OUT-2 */
{
	struct cove_output_read_result *r = NULL;
	int64_t t;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "sleep 0.2; echo late; sleep 30"));
	t = now_ms();
	ck_assert_int_eq(cove_output_read(env,
					  COVE_OPTS(cove_output_read_opts, .process = "process-1",
						    .wait_ms = 5000),
					  &r, &err),
			 0);
	ck_assert_str_eq(r->data.data, "late\n");
	ck_assert(!r->producer_complete);
	ck_assert_int_lt(now_ms() - t, 3000);
	cove_output_read_result_free(r);
	t = now_ms();
	ck_assert_int_eq(cove_output_read(env,
					  COVE_OPTS(cove_output_read_opts, .process = "process-1",
						    .offset = 5, .wait_ms = 100),
					  &r, &err),
			 0);
	ck_assert_uint_eq(r->data.len, 0);
	ck_assert_int_ge(now_ms() - t, 99);
	cove_output_read_result_free(r);
	end();
}
END_TEST

START_TEST(out_2_text_pages_end_on_code_points) /* OUT-2, CASE-40 */
{
	struct cove_output_read_result *r;
	int64_t at = 0;
	char all[64] = "";

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "printf 'a€€é𝄞z'"));
	wait_for("process-1", COVE_UNTIL_CLEAN, 0);
	for (int i = 0; i < 20; i++) {
		r = NULL;
		ck_assert_int_eq(cove_output_read(env,
						  COVE_OPTS(cove_output_read_opts,
							    .process = "process-1", .offset = at,
							    .max_bytes = 4, .text = true),
						  &r, &err),
				 0);
		ck_assert_ptr_null(strstr(r->data.data, "\xEF\xBF\xBD"));
		strncat(all, r->data.data, sizeof(all) - strlen(all) - 1);
		at = r->next_offset;
		if (r->content_complete)
			i = 100;
		cove_output_read_result_free(r);
	}
	ck_assert_str_eq(all, "a€€é𝄞z");
	end();
}
END_TEST

START_TEST(out_3_ring_keeps_the_newest) /* OUT-3 */
{
	struct cove_output_read_result *r;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "seq 1 200000",
			     .output = {.retain_bytes = 1000}));
	wait_for("process-1", COVE_UNTIL_CLEAN, 0);
	r = read_at("process-1", COVE_STREAM_STDOUT, 0, 0);
	ck_assert_int_eq(r->produced, 1288895);
	ck_assert_int_eq(r->dropped, 1288895 - 1000);
	ck_assert_int_eq(r->available_start, 1288895 - 1000);
	ck_assert_int_eq(r->offset, r->available_start);
	ck_assert_uint_eq(r->data.len, 1000);
	ck_assert_str_eq(r->data.data + 1000 - 14, "199999\n200000\n");
	ck_assert_int_eq(r->coverage, COVE_COVERAGE_PARTIAL);
	ck_assert_ptr_nonnull(r->coverage_reason);
	cove_output_read_result_free(r);
	end();
}
END_TEST

START_TEST(out_3_head_keeps_the_first) /* OUT-3 */
{
	struct cove_output_read_result *r;

	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "seq 1 200000",
			     .output = {.retain_bytes = 1000, .policy = COVE_POLICY_HEAD}));
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 0).code, 0);
	r = read_at("process-1", COVE_STREAM_STDOUT, 0, 0);
	ck_assert_int_eq(r->produced, 1288895);
	ck_assert_int_eq(r->dropped, 1288895 - 1000);
	ck_assert_int_eq(r->available_start, 0);
	ck_assert_uint_eq(r->data.len, 1000);
	ck_assert_int_eq(strncmp(r->data.data, "1\n2\n3\n", 6), 0);
	cove_output_read_result_free(r);
	end();
}
END_TEST

START_TEST(out_3_fail_ends_the_tree) /* OUT-3 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "yes; echo never",
				.output = {.retain_bytes = 100000, .policy = COVE_POLICY_FAIL}));
	ck_assert_int_eq(r->exit.reason, COVE_END_OUTPUT_LIMIT);
	ck_assert_int_eq(r->exit.tree, COVE_TREE_CLEAN);
	ck_assert(r->out.truncated);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_3_nobody_needs_to_read) /* OUT-3 */
{
	begin(_i);
	start_opts(COVE_OPTS(cove_exec_opts, .script = "head -c 50000000 /dev/zero"));
	ck_assert_int_eq(wait_for("process-1", COVE_UNTIL_CLEAN, 20000).code, 0);
	end();
}
END_TEST

START_TEST(out_6_results_are_bounded) /* OUT-6, CASE-31 */
{
	struct cove_exec_result *r;

	begin(_i);
	r = sh("seq 1 200000");
	ck_assert(r->out.truncated);
	ck_assert_uint_le(r->out.text_len, 50000);
	ck_assert_uint_ge(r->out.text_len, 49900);
	ck_assert_int_eq(r->out.bytes, 1288895);
	ck_assert_int_eq(strncmp(r->out.text, "1\n2\n3\n", 6), 0);
	ck_assert_str_eq(r->out.text + r->out.text_len - 7, "200000\n");
	ck_assert_ptr_nonnull(strstr(r->out.text, "bytes left out"));
	cove_exec_result_free(r);
	/* The head survives also where the ring has dropped it. */
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "seq 1 200000",
				.output = {.retain_bytes = 100000}));
	ck_assert_int_eq(strncmp(r->out.text, "1\n2\n3\n", 6), 0);
	ck_assert_str_eq(r->out.text + r->out.text_len - 7, "200000\n");
	cove_exec_result_free(r);
	r = exec_opts(COVE_OPTS(cove_exec_opts,
				.script = "head -c 29999 /dev/zero | tr '\\0' a; printf '€€'",
				.max_output_bytes = 30000));
	ck_assert_uint_le(r->out.text_len, 30000);
	ck_assert_ptr_null(strstr(r->out.text, "\xEF\xBF\xBD"));
	ck_assert_uint_eq(r->out.bytes, 30005);
	ck_assert_str_eq(r->out.text + r->out.text_len - 6, "€€");
	cove_exec_result_free(r);
	end();
}
END_TEST

struct live {
	char out[8 << 20];
	size_t out_len;
	size_t err_len;
	int calls;
	int fail_at;
	int slow_us;
};

static int on_output(void *user, int stream, const char *data, size_t len)
{
	struct live *l = user;

	if (stream == COVE_STREAM_STDERR) {
		l->err_len += len;
	} else {
		memcpy(l->out + l->out_len, data, len);
		l->out_len += len;
	}
	if (l->slow_us)
		usleep((useconds_t)l->slow_us);
	return ++l->calls == l->fail_at;
}

START_TEST(out_5_live_output_is_complete) /* OUT-5 */
{
	static struct live l;
	struct cove_exec_result *r;

	begin(_i);
	memset(&l, 0, sizeof(l));
	l.slow_us = 2000;
	r = exec_opts(COVE_OPTS(cove_exec_opts, .script = "seq 1 600000; echo e >&2",
				.output = {.retain_bytes = 1000}, .on_output = on_output,
				.on_output_user = &l));
	ck_assert_uint_eq(l.out_len, 4088895);
	ck_assert_uint_eq(l.err_len, 2);
	ck_assert_int_eq(memcmp(l.out, "1\n2\n3\n", 6), 0);
	ck_assert_int_eq(memcmp(l.out + l.out_len - 7, "600000\n", 7), 0);
	ck_assert_int_eq(r->exit.code, 0);
	cove_exec_result_free(r);
	end();
}
END_TEST

START_TEST(out_5_a_failing_callback_ends_the_command) /* OUT-5 */
{
	static struct live l;

	begin(_i);
	memset(&l, 0, sizeof(l));
	l.fail_at = 2;
	ck_assert_int_eq(refused(COVE_OPTS(cove_exec_opts,
					   .script = "echo a; sleep 0.2; echo b; sleep 60",
					   .on_output = on_output, .on_output_user = &l)),
			 COVE_E_CALLBACK_FAILED);
	ck_assert_int_eq(l.calls, 2);
	end();
}
END_TEST

START_TEST(out_5_a_slow_reader_blocks_nobody_else) /* OUT-5 */
{
	static struct live l;
	struct cove_call *slow = NULL;

	begin(_i);
	memset(&l, 0, sizeof(l));
	ck_assert_int_eq(cove_submit(env, "process.exec",
				     COVE_OPTS(cove_exec_opts, .script = "yes | head -c 3000000",
					       .on_output = on_output, .on_output_user = &l),
				     NULL, &slow, &err),
			 0);
	/* Nobody waits for that call, so its window is full; others go on. */
	for (int i = 0; i < 20; i++) {
		expect_out("echo quick", "quick\n");
		ck_assert_int_eq(cove_env_ping(env, &err), 0);
	}
	ck_assert_uint_eq(l.out_len, 0);
	ck_assert_int_eq(cove_call_take(slow, NULL, &err), 0);
	ck_assert_uint_eq(l.out_len, 3000000);
	end();
}
END_TEST

START_TEST(exec_stdin_through_the_call)
{
	static char big[2 << 20];
	struct cove_call *call = NULL;
	struct cove_exec_result *r = NULL;
	size_t sent = 0;

	begin(_i);
	memset(big, 's', sizeof(big));
	ck_assert_int_eq(
		cove_submit(env, "process.exec",
			    COVE_OPTS(cove_exec_opts, .script = "wc -c", .keep_stdin_open = true),
			    NULL, &call, &err),
		0);
	while (sent < sizeof(big)) {
		int64_t n = cove_call_write(call, big + sent, sizeof(big) - sent, &err);

		ck_assert_int_ge(n, 0);
		sent += (size_t)n;
		if (n == 0)
			cove_call_wait(call, 5);
	}
	ck_assert_int_eq(cove_call_write(call, NULL, 0, &err), 0);
	ck_assert_int_eq(cove_call_write(call, "x", 1, &err), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_call_take(call, (void **)&r, &err), 0);
	ck_assert_str_eq(r->out.text, "2097152\n");
	cove_exec_result_free(r);
	end();
}
END_TEST

/* Every test of this file. */
static const TTest **const tests[] = {
	&out_1_raw_bytes_are_kept,
	&out_1_merged_in_arrival_order,
	&out_2_reading_consumes_nothing,
	&out_2_wait_for_more,
	&out_2_text_pages_end_on_code_points,
	&out_3_ring_keeps_the_newest,
	&out_3_head_keeps_the_first,
	&out_3_fail_ends_the_tree,
	&out_3_nobody_needs_to_read,
	&out_6_results_are_bounded,
	&out_5_live_output_is_complete,
	&out_5_a_failing_callback_ends_the_command,
	&out_5_a_slow_reader_blocks_nobody_else,
	&exec_stdin_through_the_call,
};

MAIN("output")
