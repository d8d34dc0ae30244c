/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest for tests of the host's end: a forked child that writes frames made by hand over a
 * socket pair.
 *
 * A test gives start() what the child plays; the functions down to linger() are for the child.
 */
#ifndef FAKE_GUEST_H
#define FAKE_GUEST_H

#include "unit.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "ops/fields.h"
#include "wire/client.h"

#include <cove/files.h>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

static struct cv_client client;
static struct cove_error err;
static pid_t guest;

/* What the child works with. */
static int wire;
static struct cv_decoder decoder;
static json_t *request;

static UNUSED void raw(const void *data, size_t len)
{
	if (cv_write_full(wire, data, len) < 0)
		_exit(0);
}

static UNUSED void frame_on(int kind, int flags, int stream, uint64_t call, const void *data,
			    size_t len)
{
	unsigned char header[CV_FRAME_HEADER];

	cv_frame_header(header, &(struct cv_frame){.kind = (uint8_t)kind,
						   .flags = (uint8_t)flags,
						   .stream = (uint16_t)stream,
						   .call = call,
						   .len = len});
	raw(header, sizeof(header));
	raw(data, len);
}

static UNUSED void frame(int kind, int flags, uint64_t call, const char *text)
{
	frame_on(kind, flags, 0, call, text, strlen(text));
}

static UNUSED void greet(void)
{
	raw(CV_MAGIC, CV_MAGIC_LEN);
	frame(CV_FRAME_HELLO, 0, 0, "{\"min\":1,\"max\":1}");
}

/* The next message of the host; the child ends where there is none. */
static UNUSED struct cv_frame heard(void)
{
	struct cv_frame f = {0};
	const char *why = NULL;

	while (cv_decoder_next(&decoder, &f, &why) == 0) {
		size_t room;
		char *p = cv_decoder_space(&decoder, &room);
		ssize_t n = p ? read(wire, p, room) : -1;

		if (n <= 0)
			_exit(0);
		cv_decoder_filled(&decoder, (size_t)n);
	}
	if (why)
		_exit(1);
	return f;
}

/* Waits for the next request; gives the id of its call, and its JSON in request. */
static UNUSED uint64_t asked(void)
{
	struct cv_frame f = heard();

	while (f.kind != CV_FRAME_REQUEST)
		f = heard();
	json_decref(request);
	request = NULL;
	cv_json_load(f.payload, f.len, "request", &request, NULL);
	return f.call;
}

/* Waits until the host has closed. */
static UNUSED void linger(void)
{
	for (;;)
		heard();
}

static UNUSED void start(void (*play)(void))
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	guest = fork();
	ck_assert_int_ge(guest, 0);
	if (guest == 0) {
		close(fds[0]);
		wire = fds[1];
		signal(SIGPIPE, SIG_IGN);
		cv_decoder_init(&decoder, false);
		play();
		_exit(0);
	}
	close(fds[1]);
	ck_assert_int_eq(cv_set_nonblock(fds[0], true), 0);
	ck_assert_int_eq(cv_client_init(&client), 0);
	/* The guest may have gone already. */
	cv_client_connect(&client, fds[0], fds[0]);
}

static UNUSED void finish(void)
{
	int status;

	cv_client_close(&client, COVE_E_CLOSED, "closed");
	cv_client_done(&client);
	ck_assert_int_eq(waitpid(guest, &status, 0), guest);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the guest says: %d", status);
}

static UNUSED struct cove_call *submit(const char *op, const void *req,
				       const struct cove_call_opts *opts)
{
	struct cove_call *call = NULL;

	err = (struct cove_error)COVE_ERROR_INIT;
	cv_call_submit(&client, cv_op_find(op), req, opts, &call, &err);
	return call;
}

/* Ends within five seconds, well or not. */
static UNUSED int ended(struct cove_call *call, void **ret)
{
	if (!call)
		return err.code;
	ck_assert_msg(cv_call_wait(call, 5000) == 1, "the call hangs");
	return cv_call_take(call, ret, &err);
}

static const struct cove_file_path_opts a_path UNUSED = {.size = sizeof(a_path), .path = "a"};
static const struct cove_file_mkdir_opts a_dir UNUSED = {.size = sizeof(a_dir), .path = "a"};
static const struct cove_file_read_bytes_opts a_file UNUSED = {.size = sizeof(a_file), .path = "a"};
static const struct cove_exec_opts a_script UNUSED = {.size = sizeof(a_script), .script = "x"};

static UNUSED int stat_file(void)
{
	return ended(submit("file.exists", &a_path, NULL), NULL);
}

static UNUSED int read_file(struct cove_file_read_bytes_result **ret)
{
	*ret = NULL;
	return ended(submit("file.read_bytes", &a_file, NULL), (void **)ret);
}

static UNUSED int make_dir(void)
{
	return ended(submit("file.mkdir", &a_dir, NULL), NULL);
}

#endif
