/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports that this environment's processes listen on.
 *
 * The kernel lists the sockets that listen in this network namespace (sockets.c), which may be the
 * host's. Which of them are ours is known by their numbers: a process below one of our keepers has
 * it open (owners.c). Whose they are follows from the keeper: each runs one command, and all that
 * the command started stays below it.
 *
 * Nothing tells when a socket begins to listen, so a wait looks again, often at first.
 */
#ifndef CV_PORTS_PORTS_H
#define CV_PORTS_PORTS_H

#include "process/procs.h"

#include <cove/port.h>

#include <netinet/in.h>

#define CV_PORTS_MAX 4096

struct cv_socket {
	int family;
	struct in6_addr address; /* IPv4: the first four bytes */
	int port;
	bool v6only;
	uint32_t inode;
	bool ours;
	const char *process; /* the handle; borrowed, NULL none */
};

struct cv_sockets {
	size_t count;
	struct cv_socket list[CV_PORTS_MAX];
};

/* Every socket that listens here; 0 or -errno. */
int cv_sockets_list(struct cv_sockets *s);

/* Says of each whether it is ours, and whose. */
void cv_sockets_own(struct cv_sockets *s, const struct cv_procs *procs);

/* The operations. */
cv_process_fn cv_port_list;
cv_process_fn cv_port_inspect;
cv_process_fn cv_port_wait;

#endif
