/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with three calls under way, whatever its guest sends: every call ends when the guest has
 * gone.
 *
 * Input: a byte (even: raw bytes follow; odd: frames {kind, flags, stream, call, length,
 * payload}), and what is sent behind the magic and the greeting.
 */
#include "target.h"

#include "wire/client.h"

#include <cove/files.h>

#include <sys/socket.h>

static const char greeting[] = CV_MAGIC "\x11\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0"
					"{\"min\":1,\"max\":1}";

static void add_frames(struct cv_buf *b, const uint8_t *p, size_t size)
{
	for (size_t len; size > 5; p += 5 + len, size -= 5 + len) {
		unsigned char header[CV_FRAME_HEADER];

		len = CV_MIN(p[4], size - 5);
		cv_frame_header(header, &(struct cv_frame){.kind = p[0],
							   .flags = p[1],
							   .stream = p[2],
							   .call = p[3],
							   .len = len});
		cv_buf_add(b, header, sizeof(header));
		cv_buf_add(b, p + 5, len);
	}
}

static int on_output(void *user, int stream, const char *data, size_t len)
{
	MUST(stream >= 1 && stream <= COVE_STREAM_OUTPUT && (data || !len));
	return user != NULL;
}

static struct cove_call *submit(struct cv_client *c, const char *op, const void *req)
{
	struct cove_call *call = NULL;

	MUST(cv_call_submit(c, cv_op_find(op), req, NULL, &call, NULL) == 0);
	return call;
}

static void end(struct cove_call *call)
{
	void *result = NULL;

	MUST(cv_call_wait(call, 5000) == 1);
	MUST((cv_call_take(call, &result, NULL) == 0) == (result != NULL));
	cove_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cove_file_path_opts path = {.path = "a"};
	struct cove_file_read_bytes_opts file = {.path = "a"};
	struct cove_exec_opts exec = {
		.script = "x", .on_output = on_output, .keep_stdin_open = true};
	CV_BUF_SCOPE struct cv_buf b = CV_BUF(1u << 20);
	struct cv_client client;
	struct cove_call *calls[3];
	int fds[2];

	if (size == 0 || size > 10000)
		return 0;
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	MUST(cv_client_init(&client) == 0 && cv_client_connect(&client, fds[0], fds[0]) == 0);
	calls[0] = submit(&client, "process.exec", &exec);
	calls[1] = submit(&client, "file.read_bytes", &file);
	calls[2] = submit(&client, "file.canonical", &path);
	cv_buf_add(&b, greeting, sizeof(greeting) - 1);
	if (data[0] & 1)
		add_frames(&b, data + 1, size - 1);
	else
		cv_buf_add(&b, data + 1, size - 1);
	MUST(write(fds[1], b.data, b.len) == (ssize_t)b.len);
	shutdown(fds[1], SHUT_WR);
	for (int i = 0; i < 3; i++)
		end(calls[i]);
	cv_client_close(&client, COVE_E_CLOSED, "closed");
	cv_client_done(&client);
	close(fds[1]);
	return 0;
}
