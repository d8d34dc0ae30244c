/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of the environment's own processes, and of nobody else (PORT-1). */
#include "fixture.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* A port that was free a moment ago. */
static int free_port(int *ret_fd)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	if (ret_fd) {
		listen(fd, 5);
		*ret_fd = fd;
	} else {
		close(fd);
	}
	return ntohs(a.sin_port);
}

static const char *listen_on(const char *family, const char *address, int port, int v6only)
{
	char script[600];

	snprintf(script, sizeof(script),
		 "exec python3 -c 'import socket,time\n"
		 "s=socket.socket(socket.%s)\n"
		 "if %d>=0: s.setsockopt(socket.IPPROTO_IPV6,socket.IPV6_V6ONLY,%d)\n"
		 "s.bind((\"%s\",%d));s.listen(5);time.sleep(300)'",
		 family, v6only, v6only, address, port);
	return start_opts(COVE_OPTS(cove_exec_opts, .script = script));
}

static int state_of(int (*fn)(struct cove_env *, const struct cove_port_opts *,
			      struct cove_port_state_result **, struct cove_error *),
		    const struct cove_port_opts *opts, const char *process)
{
	struct cove_port_state_result *r = NULL;
	int state;
	int rc;

	err = (struct cove_error)COVE_ERROR_INIT;
	rc = fn(env, opts, &r, &err);
	ck_assert_msg(rc == 0, "%s", err.message);
	state = r->state;
	if (process)
		ck_assert_str_eq(r->process, process);
	cove_result_free(r);
	return state;
}

static int inspect(const char *address, int port)
{
	return state_of(cove_port_inspect,
			COVE_OPTS(cove_port_opts, .address = address, .port = port), NULL);
}

static void await(const char *address, int port, int state, const char *process)
{
	ck_assert_int_eq(state_of(cove_port_wait,
				  COVE_OPTS(cove_port_opts, .address = address, .port = port,
					    .state = state, .timeout_ms = 20000),
				  process),
			 state);
}

START_TEST(port_1_a_listener_and_its_owner)
{
	struct cove_port_list_result *r = NULL;
	int port = free_port(NULL);
	char process[32];

	begin(_i);
	ck_assert_int_eq(inspect("127.0.0.1", port), COVE_PORT_NOT_LISTENING);
	snprintf(process, sizeof(process), "%s", listen_on("AF_INET", "127.0.0.1", port, -1));
	await("127.0.0.1", port, COVE_PORT_LISTENING, process);
	ck_assert_int_eq(cove_port_list(env, &r, &err), 0);
	ck_assert_uint_eq(r->port_count, 1);
	ck_assert_str_eq(r->ports[0].address, "127.0.0.1");
	ck_assert_int_eq(r->ports[0].port, port);
	ck_assert_str_eq(r->ports[0].process, process);
	cove_result_free(r);
	ck_assert_int_eq(inspect("127.0.0.2", port), COVE_PORT_NOT_LISTENING);
	ck_assert_int_eq(inspect("::1", port), COVE_PORT_NOT_LISTENING);
	ck_assert_int_eq(cove_process_kill(env,
					   COVE_OPTS(cove_process_kill_opts, .process = process),
					   NULL, &err),
			 0);
	await("127.0.0.1", port, COVE_PORT_NOT_LISTENING, NULL);
	end();
}
END_TEST

START_TEST(port_1_every_address_of_a_family)
{
	int both = free_port(NULL);
	int six = free_port(NULL);
	int four = free_port(NULL);

	begin(_i);
	listen_on("AF_INET6", "::", both, 0);
	listen_on("AF_INET6", "::", six, 1);
	listen_on("AF_INET", "0.0.0.0", four, -1);
	await("::1", both, COVE_PORT_LISTENING, NULL);
	await("127.0.0.1", both, COVE_PORT_LISTENING, NULL);
	await("::1", six, COVE_PORT_LISTENING, NULL);
	ck_assert_int_eq(inspect("127.0.0.1", six), COVE_PORT_NOT_LISTENING);
	await("127.0.0.1", four, COVE_PORT_LISTENING, NULL);
	ck_assert_int_eq(inspect("::1", four), COVE_PORT_NOT_LISTENING);
	end();
}
END_TEST

/* A listener of the host, even at the same address, is none of the environment's. */
START_TEST(port_1_not_the_hosts)
{
	struct cove_port_list_result *r = NULL;
	int fd;
	int port;

	begin(_i);
	port = free_port(&fd);
	ck_assert_int_eq(inspect("127.0.0.1", port), COVE_PORT_NOT_LISTENING);
	ck_assert_int_eq(cove_port_list(env, &r, &err), 0);
	ck_assert_uint_eq(r->port_count, 0);
	cove_result_free(r);
	close(fd);
	end();
}
END_TEST

START_TEST(port_1_waits_end)
{
	struct cove_port_state_result *r = NULL;
	int port = free_port(NULL);
	int64_t began = now_ms();
	struct cove_call *call = NULL;

	begin(_i);
	ck_assert_int_eq(state_of(cove_port_wait,
				  COVE_OPTS(cove_port_opts, .port = port, .timeout_ms = 200), NULL),
			 COVE_PORT_NOT_LISTENING);
	ck_assert_int_ge(now_ms() - began, 200);
	ck_assert_int_eq(cove_port_wait(env,
					COVE_OPTS(cove_port_opts, .address = "nowhere", .port = 1),
					&r, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_port_wait(env, COVE_OPTS(cove_port_opts, .port = 65536), &r, &err),
			 COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(cove_submit(env, "port.wait", COVE_OPTS(cove_port_opts, .port = port),
				     NULL, &call, &err),
			 0);
	cove_call_cancel(call);
	ck_assert_int_eq(cove_call_take(call, NULL, &err), COVE_E_CANCELLED);
	end();
}
END_TEST

static const TTest **const tests[] = {
	&port_1_a_listener_and_its_owner,
	&port_1_every_address_of_a_family,
	&port_1_not_the_hosts,
	&port_1_waits_end,
};

MAIN("ports")
