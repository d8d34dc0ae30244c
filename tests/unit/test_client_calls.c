/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How calls end: with their guest (ERR-5), early, with live output (OUT-5), in many threads at
 * once.
 */
#include "fake_guest.h"

#include <pthread.h>

static void plays_the_end(void)
{
	greet();
	asked();
}

START_TEST(err_5_the_end_under_way)
{
	static const char *const reading[] = {"file.exists", "file.canonical", "file.stat"};
	int64_t begin = cv_now_ms();

	for (size_t i = 0; i < CV_LEN(reading); i++) {
		start(plays_the_end);
		ck_assert_int_eq(ended(submit(reading[i], &a_path, NULL), NULL),
				 COVE_E_UNAVAILABLE);
		ck_assert_int_eq(err.stage, COVE_STAGE_UNKNOWN);
		finish();
	}
	start(plays_the_end);
	ck_assert_int_eq(make_dir(), COVE_E_OUTCOME_UNKNOWN);
	ck_assert_int_eq(err.retry, COVE_RETRY_RECONCILE_FIRST);
	ck_assert_int_eq(err.stage, COVE_STAGE_UNKNOWN);
	ck_assert_str_eq(err.operation, "file.mkdir");
	ck_assert(err.hint[0]);
	/* From now on nothing is sent, so that nothing is unknown. */
	ck_assert_int_eq(make_dir(), COVE_E_UNAVAILABLE);
	ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	ck_assert_int_eq(stat_file(), COVE_E_UNAVAILABLE);
	finish();
	ck_assert_int_lt(cv_now_ms() - begin, 5000);
}
END_TEST

static void plays_an_early_end(void)
{
	greet();
	shutdown(wire, SHUT_RDWR);
}

START_TEST(err_5_the_end_before_the_request)
{
	for (int i = 0; i < 20; i++) {
		int rc;

		start(plays_an_early_end);
		if (i % 2)
			waitid(P_PID, (id_t)guest, &(siginfo_t){0}, WEXITED | WNOWAIT);
		rc = stat_file();
		ck_assert(rc == COVE_E_UNAVAILABLE || rc == COVE_E_PROTOCOL_ERROR);
		finish();
	}
}
END_TEST

START_TEST(closing_ends_what_is_under_way)
{
	struct cove_call *calls[3];

	start(linger);
	calls[0] = submit("file.exists", &a_path, NULL);
	calls[1] = submit("file.mkdir", &a_dir, NULL);
	calls[2] = submit("file.exists", &a_path, NULL);
	cove_call_free(calls[2]);
	cv_client_close(&client, COVE_E_CLOSED, "closed");
	ck_assert_int_eq(ended(calls[0], NULL), COVE_E_CLOSED);
	ck_assert_int_eq(ended(calls[1], NULL), COVE_E_CLOSED);
	ck_assert_ptr_null(submit("file.exists", &a_path, NULL));
	ck_assert_int_eq(err.code, COVE_E_CLOSED);
	finish();
}
END_TEST

static void plays_cancelled(void)
{
	struct cv_frame f;

	greet();
	for (;;) {
		f = heard();
		if (f.kind == CV_FRAME_CANCEL)
			frame(CV_FRAME_ERROR, 0, f.call, "{\"code\":\"cancelled\"}");
	}
}

static void plays_deaf(void)
{
	greet();
	linger();
}

START_TEST(calls_end_early)
{
	struct cove_cancel *stop = cove_cancel_new();
	struct cove_call *call;

	start(plays_cancelled);
	call = submit("file.exists", &a_path, COVE_OPTS(cove_call_opts, .timeout_ms = 30));
	ck_assert_int_eq(ended(call, NULL), COVE_E_TIMEOUT);
	call = submit("file.exists", &a_path, COVE_OPTS(cove_call_opts, .cancel = stop));
	ck_assert_int_eq(cv_call_wait(call, 20), 0);
	cove_cancel_fire(stop);
	ck_assert_int_eq(ended(call, NULL), COVE_E_CANCELLED);
	call = submit("file.exists", &a_path, NULL);
	cove_call_cancel(call);
	ck_assert_int_eq(ended(call, NULL), COVE_E_CANCELLED);
	finish();
	cove_cancel_free(stop);
}
END_TEST

START_TEST(a_guest_that_does_not_confirm_a_cancel)
{
	struct cove_call *call;

	start(plays_deaf);
	call = submit("file.exists", &a_path, COVE_OPTS(cove_call_opts, .timeout_ms = 10));
	ck_assert_int_eq(cv_call_wait(call, 50), 0);
	ck_assert(call->cancel_sent);
	ck_assert_int_le(call->give_up_ns, cv_now_ns() + CV_ANSWER_MS * INT64_C(1000000));
	call->give_up_ns = cv_now_ns();
	ck_assert_int_eq(ended(call, NULL), COVE_E_TIMEOUT);
	ck_assert_int_eq(err.stage, COVE_STAGE_UNKNOWN);
	ck_assert_int_eq(err.retry, COVE_RETRY_RECONCILE_FIRST);
	finish();
}
END_TEST

struct live {
	size_t len;
	int last_stream;
	int fail_at;
	int calls;
};

static int on_output(void *user, int stream, const char *data, size_t len)
{
	struct live *l = user;

	ck_assert(len == 0 || data[0] == 'x');
	l->len += len;
	l->last_stream = stream;
	return ++l->calls == l->fail_at;
}

static int exec_live(struct live *l, void (*play)(void))
{
	struct cove_exec_opts o = a_script;
	int rc;

	*l = (struct live){.fail_at = l->fail_at};
	o.on_output = on_output;
	o.on_output_user = l;
	start(play);
	rc = ended(submit("process.exec", &o, NULL), NULL);
	finish();
	return rc;
}

static char *xs(size_t len)
{
	char *s = malloc(len);

	memset(s, 'x', len);
	return s;
}

/* Sends 4 MiB as fast as credit allows. */
static void plays_live(void)
{
	char *data = xs(65536);
	size_t credit = CV_CREDIT_WINDOW;
	uint64_t id;

	greet();
	id = asked();
	for (size_t sent = 0; sent < 4u << 20; sent += 65536) {
		while (credit < 65536) {
			struct cv_frame f = heard();
			uint32_t n;

			if (f.kind != CV_FRAME_CREDIT)
				continue;
			memcpy(&n, f.payload, sizeof(n));
			credit += n;
		}
		frame_on(CV_FRAME_DATA, 0, 1, id, data, 65536);
		credit -= 65536;
	}
	frame(CV_FRAME_RESULT, 0, id, "{\"exit\":{\"phase\":\"exited\",\"code\":0}}");
	linger();
}

static void plays_flood(void)
{
	char *data = xs(CV_FRAME_MAX);
	uint64_t id;

	greet();
	id = asked();
	for (int i = 0; i < 8; i++)
		frame_on(CV_FRAME_DATA, 0, 1 + i % 2, id, data, CV_FRAME_MAX);
	linger();
}

static void plays_strange_stream(void)
{
	greet();
	frame_on(CV_FRAME_DATA, 0, 777, asked(), "x", 1);
	linger();
}

START_TEST(live_output_within_its_credit)
{
	struct live l = {0};

	ck_assert_int_eq(exec_live(&l, plays_live), 0);
	ck_assert_uint_eq(l.len, 4u << 20);
	ck_assert_int_eq(exec_live(&l, plays_flood), COVE_E_PROTOCOL_ERROR);
	ck_assert_uint_le(l.len, 2 * CV_CREDIT_WINDOW);
	ck_assert_int_eq(exec_live(&l, plays_strange_stream), COVE_E_PROTOCOL_ERROR);
	ck_assert_int_eq(l.calls, 0);
}
END_TEST

static void plays_until_cancelled(void)
{
	struct cv_frame f;
	uint64_t id;

	greet();
	id = asked();
	frame_on(CV_FRAME_DATA, 0, 2, id, "x", 1);
	do
		f = heard();
	while (f.kind != CV_FRAME_CANCEL);
	frame_on(CV_FRAME_DATA, 0, 2, id, "x", 1);
	frame(CV_FRAME_RESULT, 0, id, "{\"exit\":{\"phase\":\"signaled\"}}");
	linger();
}

START_TEST(out_5_a_callback_that_fails)
{
	struct live l = {.fail_at = 1};

	ck_assert_int_eq(exec_live(&l, plays_until_cancelled), COVE_E_CALLBACK_FAILED);
	ck_assert_int_eq(l.calls, 1);
	ck_assert_int_eq(l.last_stream, 2);
}
END_TEST

static void plays_a_writer(void)
{
	uint64_t id;

	greet();
	id = asked();
	poll(NULL, 0, 30);
	while (heard().kind != CV_FRAME_END)
		;
	frame(CV_FRAME_RESULT, 0, id, "{\"bytes_written\":1}");
	linger();
}

START_TEST(large_requests)
{
	static char text[CV_MESSAGE_MAX + 1];
	struct cove_file_write_opts w = {.size = sizeof(w), .path = "a", .mode = COVE_WRITE_CREATE};
	struct cove_exec_opts o = {.size = sizeof(o), .script = text};
	struct cove_call *call;

	memset(text, 'x', sizeof(text) - 1);
	start(plays_a_writer);
	ck_assert_ptr_null(submit("process.exec", &o, NULL));
	ck_assert_int_eq(err.code, COVE_E_TOO_LARGE);
	ck_assert_int_eq(err.stage, COVE_STAGE_NOT_DISPATCHED);
	w.data = (struct cove_bytes){.data = text, .len = 8u << 20};
	call = submit("file.write_bytes", &w, NULL);
	ck_assert_int_eq(ended(call, NULL), 0);
	finish();
}
END_TEST

#define THREADS 8
#define ROUNDS 20

static void plays_in_reverse(void)
{
	greet();
	for (;;) {
		uint64_t ids[THREADS];
		char answers[THREADS][64];

		for (int i = 0; i < THREADS; i++) {
			json_t *path;

			ids[i] = asked();
			path = json_object_get(json_object_get(request, "args"), "path");
			snprintf(answers[i], sizeof(answers[i]), "{\"path\":\"%s\"}",
				 json_string_value(path));
		}
		for (int i = THREADS - 1; i >= 0; i--)
			frame(CV_FRAME_RESULT, 0, ids[i], answers[i]);
	}
}

static pthread_barrier_t barrier;

/* Gives NULL if every answer was its own. */
static void *ask(void *user)
{
	for (int i = 0; i < ROUNDS; i++) {
		char path[32];
		struct cove_file_path_opts req = {.size = sizeof(req), .path = path};
		struct cove_file_path_result *r = NULL;
		struct cove_call *call = NULL;
		bool same;

		snprintf(path, sizeof(path), "%s-%d", (const char *)user, i);
		if (cv_call_submit(&client, cv_op_find("file.canonical"), &req, NULL, &call, NULL) <
			    0 ||
		    cv_call_take(call, (void **)&r, NULL) < 0)
			return user;
		same = strcmp(r->path, path) == 0;
		cove_result_free(r);
		if (!same)
			return user;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

START_TEST(threads_answered_in_reverse_order)
{
	static char names[THREADS][8];
	pthread_t threads[THREADS];

	start(plays_in_reverse);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "t%d", i);
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, names[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		void *bad;

		pthread_join(threads[i], &bad);
		ck_assert_ptr_null(bad);
	}
	pthread_barrier_destroy(&barrier);
	finish();
}
END_TEST

static void *ask_and_fail(void *code)
{
	struct cove_call *call = NULL;

	*(int *)code = cv_call_submit(&client, cv_op_find("file.mkdir"), &a_dir, NULL, &call, NULL);
	if (call)
		*(int *)code = cv_call_take(call, NULL, NULL);
	return NULL;
}

static void plays_the_end_of_all(void)
{
	greet();
	for (int i = 0; i < THREADS; i++)
		asked();
}

START_TEST(err_5_threads_at_the_end)
{
	pthread_t threads[THREADS];
	int codes[THREADS];

	start(plays_the_end_of_all);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_and_fail, &codes[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_int_eq(codes[i], COVE_E_OUTCOME_UNKNOWN);
	}
	finish();
}
END_TEST

UNIT_MAIN("client_calls", err_5_the_end_under_way, err_5_the_end_before_the_request,
	  closing_ends_what_is_under_way, calls_end_early, a_guest_that_does_not_confirm_a_cancel,
	  live_output_within_its_credit, out_5_a_callback_that_fails, large_requests,
	  threads_answered_in_reverse_order, err_5_threads_at_the_end)
