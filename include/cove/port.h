/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP ports that an environment's processes listen on.
 *
 * Only sockets of this environment's own commands are told, never the host's or another
 * environment's, and no host is ever asked.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_port_list_result *r = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, NULL) < 0)
 *			return 1;
 *		int rc = cove_port_list(env, &r, NULL);
 *		for (size_t i = 0; rc >= 0 && i < r->port_count; i++)
 *			printf("%s %d\n", r->ports[i].address, (int)r->ports[i].port);
 *		cove_result_free(r);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_PORT_H
#define COVE_PORT_H

#include <cove/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a port stands. */
enum cove_port_state {
	COVE_PORT_LISTENING = 1,
	COVE_PORT_NOT_LISTENING,
	COVE_PORT_UNKNOWN, /* the kernel does not tell */
};

/* A socket that listens. */
struct cove_port {
	/* as it was bound, "0.0.0.0" and "::" being every address */
	const char *address;
	/* 1..65535 */
	int64_t port;
	/* handle of the process whose tree holds it; NULL for a command without a handle */
	const char *process;
};

/* Result of cove_port_list(). */
struct cove_port_list_result {
	struct cove_port *ports; /* by port, then address */
	size_t port_count;
};

/* Request of cove_port_inspect() and cove_port_wait(). */
struct cove_port_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* an IPv4 or IPv6 address; default 127.0.0.1 */
	const char *address;
	/* 1..65535; required */
	int64_t port;
	/* wait: COVE_PORT_LISTENING (default) or COVE_PORT_NOT_LISTENING */
	int state;
	/* wait: how long at most, ms; default 30000; COVE_ZERO looks once */
	int64_t timeout_ms;
};

/* Result of cove_port_inspect() and cove_port_wait(). */
struct cove_port_state_result {
	/* enum cove_port_state */
	int state;
	/* of who listens; NULL where that has no handle, or nobody does */
	const char *process;
};

/**
 * Lists the TCP ports that this environment's processes listen on.
 *
 * @param env environment; prepared if need be.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (the kernel does not tell).
 * Threads: any. @since 0.1
 */
COVE_API int cove_port_list(struct cove_env *env, struct cove_port_list_result **ret_result,
			    struct cove_error *err);

/**
 * Tells whether one of this environment's processes listens on a port.
 *
 * Who listens on every address of a family counts for each of them; "::" for IPv4 too, unless the
 * socket is for IPv6 only.
 *
 * @param env environment; prepared if need be.
 * @param opts address and port.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (no address, no port).
 * Threads: any. @since 0.1
 */
COVE_API int cove_port_inspect(struct cove_env *env, const struct cove_port_opts *opts,
			       struct cove_port_state_result **ret_result, struct cove_error *err);

/**
 * Waits until a port is in a state, and gives the state it is in by then: another one once the time
 * is over.
 *
 * @param env environment; prepared if need be.
 * @param opts address, port, state, time.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (no address, no port), COVE_E_CANCELLED.
 * Threads: any. @since 0.1
 */
COVE_API int cove_port_wait(struct cove_env *env, const struct cove_port_opts *opts,
			    struct cove_port_state_result **ret_result, struct cove_error *err);

#ifdef __cplusplus
}
#endif
#endif
