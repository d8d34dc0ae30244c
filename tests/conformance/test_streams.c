/* SPDX-License-Identifier: Apache-2.0 */
/* Files of any size through the library, as bytes come and go (FILE-3, FILE-4). */
#include "fixture.h"

#include <pthread.h>

#define PIECE 65536

/* Bytes that depend on where they stand, given in odd pieces; fails at a place, if any. */
struct pattern {
	int64_t at;
	int64_t len;
	int64_t fail_at; /* -1 never */
	int calls;
	void (*hook)(void); /* once, in the middle */
};

static char byte_at(int64_t i)
{
	return (char)((uint64_t)i * 2654435761u >> 16);
}

static int64_t give(void *user, char *buf, size_t size)
{
	struct pattern *p = user;
	int64_t n = p->len - p->at;
	int64_t most = 1 + (int64_t)((uint64_t)p->at * 7919 % size);

	p->calls++;
	if (p->hook && p->at > p->len / 2) {
		p->hook();
		p->hook = NULL;
	}
	if (p->fail_at >= 0 && p->at >= p->fail_at)
		return -1;
	if (n > most)
		n = most;
	for (int64_t i = 0; i < n; i++)
		buf[i] = byte_at(p->at + i);
	p->at += n;
	return n;
}

/* What was received, compared as it comes. */
struct receiver {
	int64_t from; /* place in the pattern */
	int64_t at;
	bool short_piece; /* one came, so it must have been the last */
	bool wrong;
	int64_t stop_at; /* -1 never */
	void (*hook)(void);
};

static int receive(void *user, const char *data, size_t len)
{
	struct receiver *r = user;

	r->wrong |= r->short_piece || len == 0 || len > PIECE;
	r->short_piece = len < PIECE;
	for (size_t i = 0; i < len; i++)
		r->wrong |= data[i] != byte_at(r->from + r->at + (int64_t)i);
	r->at += (int64_t)len;
	if (r->hook)
		r->hook();
	r->hook = NULL;
	return r->stop_at >= 0 && r->at >= r->stop_at;
}

static int write_stream(const char *path, int mode, struct pattern *p, bool in_place)
{
	struct cove_file_write_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_file_write_stream(env,
				    COVE_OPTS(cove_file_write_stream_opts, .path = path,
					      .mode = mode, .in_place = in_place, .source = give,
					      .source_user = p),
				    &r, &err);
	if (rc == 0)
		ck_assert_int_eq(r->bytes_written, p->len);
	ck_assert_int_eq(rc, err.code);
	cove_result_free(r);
	return rc;
}

static int read_stream(const char *path, int64_t offset, int64_t length, struct receiver *to,
		       bool *ret_eof)
{
	struct cove_file_read_stream_result *r = NULL;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = cove_file_read_stream(env,
				   COVE_OPTS(cove_file_read_stream_opts, .path = path,
					     .offset = offset, .length = length, .on_data = receive,
					     .on_data_user = to),
				   &r, &err);
	ck_assert_int_eq(rc, err.code);
	if (rc == 0) {
		ck_assert_int_eq(r->bytes_read, to->at);
		*ret_eof = r->eof;
	}
	cove_result_free(r);
	return rc;
}

START_TEST(file_3_and_4_streams_of_any_size)
{
	static const int64_t sizes[] = {0,	   1,	      PIECE - 1, PIECE,
					PIECE + 1, 4 * PIECE, 5000003,	 40000000};

	begin(_i);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pattern p = {.len = sizes[i], .fail_at = -1};
		struct receiver r = {.stop_at = -1};
		bool eof = false;

		ck_assert_int_eq(write_stream("deep/f", COVE_WRITE_UPSERT, &p, false), 0);
		ck_assert_int_eq(read_stream("deep/f", 0, 0, &r, &eof), 0);
		ck_assert_int_eq(r.at, sizes[i]);
		ck_assert(!r.wrong && eof);
	}
	expect_out("ls -A deep", "f\n");
	end();
}
END_TEST

START_TEST(file_3_stream_of_a_range)
{
	struct pattern p = {.len = 200000, .fail_at = -1};
	struct receiver r = {.from = 1000, .stop_at = -1};
	bool eof = true;

	begin(_i);
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), 0);
	ck_assert_int_eq(read_stream("f", 1000, 150000, &r, &eof), 0);
	ck_assert_int_eq(r.at, 150000);
	ck_assert(!r.wrong && !eof);
	r = (struct receiver){.from = 1000, .stop_at = -1};
	ck_assert_int_eq(read_stream("f", 1000, 199000, &r, &eof), 0);
	ck_assert_int_eq(r.at, 199000);
	ck_assert(eof);
	r = (struct receiver){.stop_at = -1};
	ck_assert_int_eq(read_stream("f", 200001, 0, &r, &eof), 0);
	ck_assert(r.at == 0 && eof);
	r = (struct receiver){.stop_at = -1};
	ck_assert_int_eq(read_stream("f", INT64_MAX, 0, &r, &eof), 0);
	ck_assert(r.at == 0 && eof);
	end();
}
END_TEST

/* A source that fails leaves what was there, and nothing of its own. */
START_TEST(file_4_failing_source)
{
	struct pattern p = {.len = 1000000, .fail_at = 700000};
	struct pattern at_once = {.len = 10, .fail_at = 0};

	begin(_i);
	expect_out("printf old > f; ln f g", "");
	ck_assert_int_eq(write_stream("f", COVE_WRITE_UPSERT, &p, false), COVE_E_CALLBACK_FAILED);
	ck_assert_int_eq(write_stream("f", COVE_WRITE_APPEND, &at_once, false),
			 COVE_E_CALLBACK_FAILED);
	p.at = 0;
	ck_assert_int_eq(write_stream("f", COVE_WRITE_UPSERT, &p, true), COVE_E_CALLBACK_FAILED);
	p.at = 0;
	ck_assert_int_eq(write_stream("new", COVE_WRITE_CREATE, &p, false), COVE_E_CALLBACK_FAILED);
	expect_out("cat f g; ls -A", "oldoldf\ng\n");
	end();
}
END_TEST

START_TEST(file_4_stream_modes)
{
	struct pattern p = {.len = 100000, .fail_at = -1};
	struct cove_file_write_result *w = NULL;

	begin(_i);
	ck_assert_int_eq(write_stream("f", COVE_WRITE_REPLACE, &p, false), COVE_E_NOT_FOUND);
	p.at = 0;
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), 0);
	p.at = 0;
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), COVE_E_ALREADY_EXISTS);
	expect_out("chmod 640 f; ln f g; ln -s f link", "");
	p = (struct pattern){.len = 5, .fail_at = -1};
	ck_assert_int_eq(write_stream("f", COVE_WRITE_APPEND, &p, false), 0);
	expect_out("stat -c '%s %a %h' f", "100005 640 2\n");
	p = (struct pattern){.len = 100, .fail_at = -1};
	ck_assert_int_eq(write_stream("link", COVE_WRITE_UPSERT, &p, true), 0);
	expect_out("stat -c '%s %a %h' f; cmp f g", "100 640 2\n");
	p = (struct pattern){.len = 300000, .fail_at = -1};
	ck_assert_int_eq(write_stream("link", COVE_WRITE_REPLACE, &p, false), 0);
	expect_out("stat -c '%s %a %h' f g; readlink link", "300000 640 1\n100 640 1\nf\n");
	p = (struct pattern){.len = 3, .fail_at = -1};
	ck_assert_int_eq(cove_file_write_stream(env,
						COVE_OPTS(cove_file_write_stream_opts,
							  .path = "x/y", .mode = COVE_WRITE_APPEND,
							  .file_mode = 0751, .durable = true,
							  .source = give, .source_user = &p),
						&w, &err),
			 0);
	ck_assert(w->created && strncmp(w->operation_id, "op-", 3) == 0);
	cove_result_free(w);
	expect_out("stat -c '%s %a' x/y", "3 751\n");
	end();
}
END_TEST

START_TEST(file_4_stream_refusals)
{
	struct pattern p = {.len = 3, .fail_at = -1};
	struct receiver r = {.stop_at = -1};
	bool eof;

	begin(_i);
	expect_out("mkdir d; mkfifo fifo; ln -s / out", "");
	ck_assert_int_eq(write_stream("d", COVE_WRITE_UPSERT, &p, false), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(write_stream("fifo", COVE_WRITE_UPSERT, &p, false),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(write_stream("fifo", COVE_WRITE_APPEND, &p, false),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(write_stream("", COVE_WRITE_APPEND, &p, false), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(write_stream("f", 0, &p, false), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(read_stream("d", 0, 0, &r, &eof), COVE_E_IS_DIRECTORY);
	ck_assert_int_eq(read_stream("fifo", 0, 0, &r, &eof), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(read_stream("nope", 0, 0, &r, &eof), COVE_E_NOT_FOUND);
	ck_assert_int_eq(read_stream("d", -1, 0, &r, &eof), COVE_E_INVALID_ARGUMENT);
	if (strcmp(providers[_i], "workspace") == 0) {
		ck_assert_int_eq(write_stream("out/tmp/evil", COVE_WRITE_UPSERT, &p, false),
				 COVE_E_PERMISSION_DENIED);
		ck_assert_int_eq(read_stream("out/etc/passwd", 0, 0, &r, &eof),
				 COVE_E_PERMISSION_DENIED);
	}
	ck_assert_int_eq(cove_file_write_stream(env,
						COVE_OPTS(cove_file_write_stream_opts, .path = "f",
							  .mode = COVE_WRITE_CREATE),
						NULL, NULL),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_file_read_stream(env,
					       COVE_OPTS(cove_file_read_stream_opts, .path = "d"),
					       NULL, NULL),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(r.at, 0);
	expect_out("ls -A", "d\nfifo\nout\n");
	end();
}
END_TEST

static void change_it(void)
{
	expect_out("rm -f f; printf other > f; chmod 600 f", "");
}

static void move_it(void)
{
	expect_out("mv d e; mkdir d; printf victim > d/f", "");
}

static void link_it(void)
{
	expect_out("mv d e; mkdir v; printf victim > v/f; ln -s v d", "");
}

/* What changes while the bytes come: the state at the end counts, and no other place is written. */
START_TEST(file_4_changes_under_way)
{
	struct pattern p = {.len = 500000, .fail_at = -1, .hook = change_it};

	begin(_i);
	expect_out("printf old > f; chmod 644 f", "");
	ck_assert_int_eq(write_stream("f", COVE_WRITE_REPLACE, &p, false), 0);
	expect_out("stat -c '%s %a' f", "500000 600\n");
	p = (struct pattern){.len = 500000, .fail_at = -1, .hook = change_it};
	expect_out("rm f", "");
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), COVE_E_ALREADY_EXISTS);
	expect_out("cat f", "other");
	expect_out("mkdir d; printf old > d/f", "");
	p = (struct pattern){.len = 500000, .fail_at = -1, .hook = move_it};
	ck_assert_int_eq(write_stream("d/f", COVE_WRITE_UPSERT, &p, false), COVE_E_CONFLICT);
	expect_out("cat d/f e/f; ls -A d e", "victimoldd:\nf\n\ne:\nf\n");
	expect_out("rm -r d e; mkdir d; printf old > d/f", "");
	p = (struct pattern){.len = 500000, .fail_at = -1, .hook = link_it};
	ck_assert_int_eq(write_stream("d/f", COVE_WRITE_UPSERT, &p, false), COVE_E_CONFLICT);
	expect_out("cat v/f e/f; ls -A v e", "victimolde:\nf\n\nv:\nf\n");
	end();
}
END_TEST

static void *ping_often(void *arg)
{
	for (int i = 0; i < 50; i++)
		if (cove_env_ping(env, NULL) < 0)
			*(bool *)arg = true;
	return NULL;
}

static void while_it_waits(void)
{
	bool failed = false;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, ping_often, &failed), 0);
	pthread_join(thread, NULL);
	ck_assert(!failed);
}

/* A receiver that does not come back holds up nobody else, and gets all of it in the end. */
START_TEST(file_3_slow_receiver)
{
	struct pattern p = {.len = 3000000, .fail_at = -1, .hook = while_it_waits};
	struct receiver r = {.stop_at = -1, .hook = while_it_waits};
	bool eof = false;

	begin(_i);
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), 0);
	ck_assert_int_eq(read_stream("f", 0, 0, &r, &eof), 0);
	ck_assert_int_eq(r.at, 3000000);
	ck_assert(!r.wrong && eof);
	end();
}
END_TEST

START_TEST(file_3_receiver_ends_it)
{
	struct pattern p = {.len = 3000000, .fail_at = -1};
	struct receiver r = {.stop_at = 100000};
	bool eof = false;

	begin(_i);
	ck_assert_int_eq(write_stream("f", COVE_WRITE_CREATE, &p, false), 0);
	ck_assert_int_eq(read_stream("f", 0, 0, &r, &eof), COVE_E_CALLBACK_FAILED);
	ck_assert_int_eq(r.at, 2 * PIECE);
	ck_assert_int_eq(cove_env_ping(env, &err), 0);
	end();
}
END_TEST

/* FILE-16: by cove_submit() and cove_call_write(); without the end nothing happens. */
START_TEST(file_4_submitted_stream)
{
	struct cove_file_write_stream_opts opts = {
		.size = sizeof(opts), .path = "f", .mode = COVE_WRITE_CREATE};
	struct cove_call *call = NULL;
	struct cove_cancel *cancel;

	begin(_i);
	cancel = cove_cancel_new();
	ck_assert_int_eq(cove_submit(env, "file.write_stream", &opts,
				     COVE_OPTS(cove_call_opts, .cancel = cancel), &call, &err),
			 0);
	ck_assert_int_eq(cove_call_write(call, "abc", 3, &err), 3);
	ck_assert_int_eq(cove_call_wait(call, 20), 0);
	cove_cancel_fire(cancel);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_CANCELLED);
	expect_out("ls -A", "");
	ck_assert_int_eq(cove_submit(env, "file.write_stream", &opts, NULL, &call, &err), 0);
	ck_assert_int_eq(cove_call_write(call, "abc", 3, &err), 3);
	cove_call_free(call);
	ck_assert_int_eq(cove_submit(env, "file.write_stream", &opts, NULL, &call, &err), 0);
	ck_assert_int_eq(cove_call_write(call, "abc", 3, &err), 3);
	ck_assert_int_eq(cove_call_write(call, NULL, 0, &err), 0);
	ck_assert_int_lt(cove_call_write(call, "d", 1, &err), 0);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), 0);
	expect_out("cat f; ls -A", "abcf\n");
	cove_cancel_free(cancel);
	end();
}
END_TEST

START_TEST(file_2_read_lines)
{
	struct cove_file_read_lines_result *r = NULL;

	begin(_i);
	expect_out("printf 'a\\r\\n\\nlast' > f; printf 'a\\n\\0' > g; : > e; yes | head -n 3 > y",
		   "");
	ck_assert_int_eq(cove_file_read_lines(
				 env, COVE_OPTS(cove_file_read_lines_opts, .path = "f"), &r, &err),
			 0);
	ck_assert_str_eq(r->lines[0], "a\r");
	ck_assert_str_eq(r->lines[1], "");
	ck_assert_str_eq(r->lines[2], "last");
	ck_assert_ptr_null(r->lines[3]);
	cove_result_free(r);
	ck_assert_int_eq(cove_file_read_lines(env,
					      COVE_OPTS(cove_file_read_lines_opts, .path = "g",
							.max_lines = 1),
					      &r, &err),
			 0);
	ck_assert_str_eq(r->lines[0], "a");
	ck_assert_ptr_null(r->lines[1]);
	cove_result_free(r);
	ck_assert_int_eq(cove_file_read_lines(
				 env, COVE_OPTS(cove_file_read_lines_opts, .path = "g"), &r, &err),
			 COVE_E_NOT_SUPPORTED);
	ck_assert_int_eq(cove_file_read_lines(
				 env, COVE_OPTS(cove_file_read_lines_opts, .path = "e"), &r, &err),
			 0);
	ck_assert(!r->lines || !r->lines[0]);
	cove_result_free(r);
	expect_out(
		"head -c 16000000 /dev/zero | tr '\\0' '\\001' > f; yes '' | head -c 16000000 > g",
		"");
	err = (struct cove_error)COVE_ERROR_INIT;
	ck_assert_int_eq(cove_file_read_lines(
				 env, COVE_OPTS(cove_file_read_lines_opts, .path = "f"), &r, &err),
			 COVE_E_TOO_LARGE);
	ck_assert_int_eq(cove_file_read_lines(
				 env, COVE_OPTS(cove_file_read_lines_opts, .path = "g"), &r, &err),
			 COVE_E_TOO_LARGE);
	ck_assert_int_eq(cove_file_read_lines(env,
					      COVE_OPTS(cove_file_read_lines_opts, .path = "g",
							.max_lines = 1000000),
					      &r, &err),
			 0);
	cove_result_free(r);
	end();
}
END_TEST

static int from_pipe(int64_t len)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct pattern p = {.len = len, .fail_at = -1};
		char buf[1000];
		int64_t n;

		while ((n = give(&p, buf, sizeof(buf))) > 0)
			if (write(fds[1], buf, (size_t)n) != n)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

START_TEST(file_4_from_and_to_descriptors)
{
	char path[PATH_MAX + 16];
	int in = from_pipe(777777);
	int out;
	struct receiver r = {.stop_at = -1};
	bool eof;

	begin(_i);
	ck_assert_int_eq(cove_file_write_stream(env,
						COVE_OPTS(cove_file_write_stream_opts, .path = "f",
							  .mode = COVE_WRITE_CREATE,
							  .source = cove_source_fd,
							  .source_user = &in),
						NULL, &err),
			 0);
	ck_assert_int_eq(read_stream("f", 0, 0, &r, &eof), 0);
	ck_assert(r.at == 777777 && !r.wrong);
	snprintf(path, sizeof(path), "%s/copy", test_dir);
	out = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(cove_file_read_stream(env,
					       COVE_OPTS(cove_file_read_stream_opts, .path = "f",
							 .on_data = cove_data_to_fd,
							 .on_data_user = &out),
					       NULL, &err),
			 0);
	ck_assert_int_eq(lseek(out, 0, SEEK_END), 777777);
	close(out);
	out = open(path, O_RDONLY);
	ck_assert_int_eq(cove_file_read_stream(env,
					       COVE_OPTS(cove_file_read_stream_opts, .path = "f",
							 .on_data = cove_data_to_fd,
							 .on_data_user = &out),
					       NULL, &err),
			 COVE_E_CALLBACK_FAILED);
	close(out);
	close(in);
	wait(NULL);
	fds_before--;
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("streams");
	TCase *tcase = tcase_create("streams");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, file_3_and_4_streams_of_any_size, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_3_stream_of_a_range, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_failing_source, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_stream_modes, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_stream_refusals, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_changes_under_way, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_3_slow_receiver, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_3_receiver_ends_it, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_submitted_stream, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_2_read_lines, 0, PROVIDERS);
	tcase_add_loop_test(tcase, file_4_from_and_to_descriptors, 0, PROVIDERS);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
