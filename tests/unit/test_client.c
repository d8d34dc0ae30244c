/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of a connection against guests that lie or break off (ERR-5). */
#include "fake_guest.h"

/* Plays the guest to one reading call; gives its code. */
static int play_to_reader(void (*play)(void))
{
	struct cove_file_read_bytes_result *r;
	int rc;

	start(play);
	rc = read_file(&r);
	cove_result_free(r);
	if (rc < 0)
		ck_assert_str_eq(err.operation, "file.read_bytes");
	finish();
	return rc;
}

static void assert_protocol_error(void (*play)(void), const char *part)
{
	ck_assert_int_eq(play_to_reader(play), COVE_E_PROTOCOL_ERROR);
	ck_assert_msg(strstr(err.message, part) != NULL, "'%s'", err.message);
	ck_assert_int_ne(err.stage, COVE_STAGE_NOT_DISPATCHED);
}

static void plays_nothing(void)
{
}

static void plays_a_shell(void)
{
	raw("sh: cove-guest: not found\n", 26);
}

static void plays_a_long_banner(void)
{
	static char banner[CV_BANNER_MAX + 100];

	raw(banner, sizeof(banner));
	linger();
}

static void plays_another_version(void)
{
	raw(CV_MAGIC, CV_MAGIC_LEN);
	frame(CV_FRAME_HELLO, 0, 0, "{\"min\":2,\"max\":9}");
	linger();
}

static void plays_no_version(void)
{
	raw(CV_MAGIC, CV_MAGIC_LEN);
	frame(CV_FRAME_HELLO, 0, 0, "{}");
	linger();
}

static void plays_bad_greeting(void)
{
	raw(CV_MAGIC, CV_MAGIC_LEN);
	frame(CV_FRAME_HELLO, 0, 0, "{\"min\":1,");
	linger();
}

static void plays_two_greetings(void)
{
	greet();
	frame(CV_FRAME_HELLO, 0, 0, "{\"min\":1,\"max\":1}");
	linger();
}

static void plays_no_greeting(void)
{
	raw(CV_MAGIC, CV_MAGIC_LEN);
	frame(CV_FRAME_RESULT, 0, asked(), "{}");
	linger();
}

START_TEST(greetings_that_are_none)
{
	assert_protocol_error(plays_nothing, "no guest answers there");
	assert_protocol_error(plays_a_shell, "no guest answers there");
	assert_protocol_error(plays_a_long_banner, "more than 64 KiB");
	assert_protocol_error(plays_another_version, "another version");
	assert_protocol_error(plays_no_version, "another version");
	assert_protocol_error(plays_bad_greeting, "greeting makes no sense");
	assert_protocol_error(plays_two_greetings, "greeting makes no sense");
	assert_protocol_error(plays_no_greeting, "did not begin with its greeting");
}
END_TEST

START_TEST(a_guest_that_never_greets)
{
	int64_t begin = cv_now_ms();

	start(linger);
	client.greet_ns = cv_now_ns() + 50 * INT64_C(1000000);
	ck_assert_int_eq(stat_file(), COVE_E_PROTOCOL_ERROR);
	ck_assert_int_ge(cv_now_ms() - begin, 49);
	finish();
}
END_TEST

static uint64_t other_id;

static void plays_other_call(void)
{
	greet();
	asked();
	frame(CV_FRAME_RESULT, 0, other_id, "{}");
	linger();
}

static void plays_second_answer(void)
{
	uint64_t id;

	greet();
	id = asked();
	frame(CV_FRAME_RESULT, CV_FRAME_BODY, id, "{\"data\":1}");
	frame(other_id ? CV_FRAME_ERROR : CV_FRAME_RESULT, 0, id, "{}");
	linger();
}

static void plays_bad_json(void)
{
	greet();
	frame(CV_FRAME_RESULT, 0, asked(), "{\"data\":}");
	linger();
}

static void plays_end_without_body(void)
{
	greet();
	frame((int)other_id, 0, asked(), "");
	linger();
}

static void plays_bad_credit(void)
{
	greet();
	frame(CV_FRAME_CREDIT, 0, asked(), "12345");
	linger();
}

START_TEST(answers_that_break_the_protocol)
{
	static const uint64_t strangers[] = {0, 2, 3, 99, UINT64_MAX};

	for (size_t i = 0; i < CV_LEN(strangers); i++) {
		other_id = strangers[i];
		assert_protocol_error(plays_other_call, "a call that was never made");
	}
	for (other_id = 0; other_id < 2; other_id++)
		assert_protocol_error(plays_second_answer, "a second answer");
	assert_protocol_error(plays_bad_json, "not valid JSON");
	other_id = CV_FRAME_END;
	assert_protocol_error(plays_end_without_body, "no result announced");
	other_id = CV_FRAME_DATA;
	assert_protocol_error(plays_end_without_body, "no result announced");
	other_id = CV_FRAME_REQUEST;
	assert_protocol_error(plays_end_without_body, "only a host may send");
	other_id = CV_FRAME_CANCEL;
	assert_protocol_error(plays_end_without_body, "only a host may send");
	other_id = CV_FRAME_EVENT;
	assert_protocol_error(plays_end_without_body, "only a host may send");
	other_id = 200;
	assert_protocol_error(plays_end_without_body, "unknown kind");
	assert_protocol_error(plays_bad_credit, "a credit has the wrong length");
}
END_TEST

static const char *odd_result;

static void plays_odd_result(void)
{
	uint64_t id;

	greet();
	id = asked();
	frame(CV_FRAME_RESULT, CV_FRAME_BODY, id, odd_result);
	frame(CV_FRAME_DATA, 0, id, "abc");
	frame(CV_FRAME_END, 0, id, "");
	linger();
}

/* They end the call, not the connection; a caller is never told that nothing happened. */
START_TEST(results_of_another_shape)
{
	static const char *const odd[] = {"[]",

					  "{\"no_such\":1}",
					  "{\"data\":4}",
					  "{\"data\":-1}",
					  "{\"eof\":1}",
					  "{\"size\":\"1\"}",
					  "{\"data\":1099511627776}",
					  "{\"data\":\"YWJj\"}"};

	for (size_t i = 0; i < CV_LEN(odd); i++) {
		odd_result = odd[i];
		ck_assert_msg(play_to_reader(plays_odd_result) == COVE_E_PROTOCOL_ERROR, "%s: %s",
			      odd[i], err.message);
		ck_assert_int_eq(err.stage, COVE_STAGE_COMPLETED);
	}
	odd_result = "{\"data\":3,\"size\":3}";
	ck_assert_int_eq(play_to_reader(plays_odd_result), 0);
}
END_TEST

static void plays_odd_errors(void)
{
	greet();
	frame(CV_FRAME_ERROR, 0, asked(), "{\"code\":\"busy\",\"message\":\"b\"}");
	frame(CV_FRAME_ERROR, 0, asked(), "{\"code\":\"no_such\"}");
	frame(CV_FRAME_ERROR, 0, asked(), "[1]");
	frame(CV_FRAME_ERROR, 0, asked(), "{\"code\":7,\"message\":{}}");
	frame(CV_FRAME_ERROR, 0, asked(), "{\"code\"");
	linger();
}

START_TEST(errors_of_another_shape)
{
	start(plays_odd_errors);
	ck_assert_int_eq(stat_file(), COVE_E_BUSY);
	ck_assert_str_eq(err.message, "b");
	ck_assert_int_eq(err.stage, COVE_STAGE_DISPATCHED);
	ck_assert_int_eq(stat_file(), COVE_E_INTERNAL);
	ck_assert_int_eq(stat_file(), COVE_E_INTERNAL);
	ck_assert_int_eq(stat_file(), COVE_E_INTERNAL);
	ck_assert_int_eq(stat_file(), COVE_E_PROTOCOL_ERROR);
	finish();
}
END_TEST

static void plays_late_repeats(void)
{
	uint64_t first;

	greet();
	first = asked();
	frame(CV_FRAME_RESULT, 0, first, "{\"exists\":true}");
	frame(CV_FRAME_RESULT, 0, first, "{\"exists\":false}");
	frame(CV_FRAME_PING, 0, 0, "");
	frame(CV_FRAME_END, 0, first, "");
	frame(CV_FRAME_RESULT, 0, asked(), "{\"exists\":true}");
	linger();
}

/* What comes for a call that has its answer is dropped. */
START_TEST(answers_to_a_call_that_is_done)
{
	start(plays_late_repeats);
	ck_assert_int_eq(stat_file(), 0);
	ck_assert_int_eq(stat_file(), 0);
	finish();
}
END_TEST

static void plays_garbage(void)
{
	char bytes[4096];

	greet();
	rng_seed(other_id);
	rng_fill(bytes, sizeof(bytes));
	raw(bytes, sizeof(bytes));
}

START_TEST(garbage)
{
	for (other_id = 0; other_id < 60; other_id++) {
		int rc = play_to_reader(plays_garbage);

		ck_assert(rc == COVE_E_PROTOCOL_ERROR || rc == COVE_E_UNAVAILABLE);
	}
}
END_TEST

static void plays_truncated_frame(void)
{
	unsigned char header[CV_FRAME_HEADER];
	uint64_t id;

	greet();
	id = asked();
	cv_frame_header(header,
			&(struct cv_frame){.kind = CV_FRAME_RESULT, .call = id, .len = 100});
	raw(header, other_id);
	if (other_id == sizeof(header))
		raw("{\"data\":", 8);
}

START_TEST(err_5_a_truncated_answer)
{
	for (other_id = 0; other_id <= CV_FRAME_HEADER; other_id += 4) {
		ck_assert_int_eq(play_to_reader(plays_truncated_frame), COVE_E_UNAVAILABLE);
		start(plays_truncated_frame);
		ck_assert_int_eq(make_dir(), COVE_E_OUTCOME_UNKNOWN);
		finish();
	}
}
END_TEST

static void plays_huge_body(void)
{
	char *large = calloc(1, CV_FRAME_MAX);
	uint64_t id;

	greet();
	id = asked();
	frame(CV_FRAME_RESULT, CV_FRAME_BODY, id, "{\"data\":1}");
	for (int i = 0; i < 70; i++)
		frame_on(CV_FRAME_DATA, 0, 0, id, large, CV_FRAME_MAX);
	linger();
}

static void plays_huge_frame(void)
{
	greet();
	asked();
	raw("\xFF\xFF\xFF\x7F\3\0\0\0\1\0\0\0\0\0\0\0", CV_FRAME_HEADER);
	linger();
}

START_TEST(bodies_without_end)
{
	assert_protocol_error(plays_huge_body, "more raw bytes");
	assert_protocol_error(plays_huge_frame, "larger than 1 MiB");
}
END_TEST

UNIT_MAIN("client", greetings_that_are_none, a_guest_that_never_greets,
	  answers_that_break_the_protocol, results_of_another_shape, errors_of_another_shape,
	  answers_to_a_call_that_is_done, garbage, err_5_a_truncated_answer, bodies_without_end)
