/* SPDX-License-Identifier: Apache-2.0 */
/* The operations port.list, port.inspect and port.wait. */
#include "ports/ports.h"

#include "base/arena.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <stdio.h>

#define LOOK_MIN_NS INT64_C(5000000)
#define LOOK_MAX_NS INT64_C(100000000)

struct waiting {
	struct cv_timer timer;
	struct cv_reply *reply;
	struct cv_procs *procs;
	const struct cove_port_opts *opts; /* lives as long as the reply */
	int64_t due_ns;
	int64_t pause_ns;
};

static void fail(struct cv_reply *reply, struct cove_error *err)
{
	reply->error(reply, err);
}

/* What is ours; NULL: no memory, or the kernel does not tell, and then *ret_rc says which. */
static struct cv_sockets *look(const struct cv_procs *procs, int *ret_rc)
{
	struct cv_sockets *s = malloc(sizeof(*s));

	*ret_rc = s ? cv_sockets_list(s) : -ENOMEM;
	if (*ret_rc < 0) {
		free(s);
		return NULL;
	}
	cv_sockets_own(s, procs);
	return s;
}

static int by_port(const void *a, const void *b)
{
	const struct cove_port *x = a;
	const struct cove_port *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return strcmp(x->address, y->address);
}

static int fill(struct cv_arena *arena, const struct cv_sockets *s, struct cove_port_list_result *r)
{
	r->ports = cv_arena_array(arena, s->count + 1, sizeof(*r->ports));
	if (!r->ports)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		const struct cv_socket *from = &s->list[i];
		char text[INET6_ADDRSTRLEN];

		if (!from->ours)
			continue;
		inet_ntop(from->family, &from->address, text, sizeof(text));
		r->ports[r->port_count] = (struct cove_port){
			.address = cv_arena_dup(arena, text, strlen(text)),
			.port = from->port,
			.process = from->process,
		};
		if (!r->ports[r->port_count++].address)
			return -ENOMEM;
	}
	qsort(r->ports, r->port_count, sizeof(*r->ports), by_port);
	return 0;
}

void cv_port_list(struct cv_procs *procs, const void *req, struct cv_reply *reply)
{
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_port_list_result r = {0};
	struct cove_error err = COVE_ERROR_INIT;
	int rc;
	CV_FREE struct cv_sockets *s = look(procs, &rc);

	(void)req;
	if (rc == 0)
		rc = arena ? fill(arena, s, &r) : -ENOMEM;
	if (rc == 0) {
		reply->result(reply, &r);
		return;
	}
	if (rc == -ENOMEM)
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
	else
		cv_fail_errno(&err, EOPNOTSUPP, NULL, "the kernel does not tell who listens");
	fail(reply, &err);
}

static bool is_any(const struct cv_socket *s)
{
	static const struct in6_addr any;

	return memcmp(&s->address, &any, s->family == AF_INET ? 4 : 16) == 0;
}

/* Whether a connection to the address would reach the socket. */
static bool answers(const struct cv_socket *s, int family, const struct in6_addr *address)
{
	if (s->family == family)
		return is_any(s) || memcmp(&s->address, address, family == AF_INET ? 4 : 16) == 0;
	if (s->family != AF_INET6 || s->v6only)
		return false;
	return is_any(s) || (IN6_IS_ADDR_V4MAPPED(&s->address) &&
			     memcmp(&s->address.s6_addr[12], address, 4) == 0);
}

static int parse(const char *text, struct in6_addr *ret)
{
	if (inet_pton(AF_INET, text, ret) == 1)
		return AF_INET;
	return inet_pton(AF_INET6, text, ret) == 1 ? AF_INET6 : -1;
}

static const char *address_of(const struct cove_port_opts *o)
{
	return o->address ? o->address : "127.0.0.1";
}

/* The handle in the result is borrowed from its process. */
static struct cove_port_state_result inspect(const struct cv_procs *procs,
					     const struct cove_port_opts *o)
{
	struct cove_port_state_result r = {.state = COVE_PORT_NOT_LISTENING};
	struct in6_addr address = {0};
	int family = parse(address_of(o), &address);
	int rc;
	CV_FREE struct cv_sockets *s = look(procs, &rc);

	if (!s)
		r.state = COVE_PORT_UNKNOWN;
	for (size_t i = 0; s && i < s->count; i++) {
		const struct cv_socket *one = &s->list[i];

		if (!one->ours || one->port != o->port || !answers(one, family, &address))
			continue;
		r.state = COVE_PORT_LISTENING;
		r.process = one->process;
	}
	return r;
}

/* False once a bad address was answered. */
static bool check(const struct cove_port_opts *o, struct cv_reply *reply)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct in6_addr address;

	if (parse(address_of(o), &address) >= 0)
		return true;
	cv_fail_arg(&err, "address", "an address such as 127.0.0.1 or ::1", "is '%s'",
		    address_of(o));
	fail(reply, &err);
	return false;
}

void cv_port_inspect(struct cv_procs *procs, const void *req, struct cv_reply *reply)
{
	struct cove_port_state_result r;

	if (!check(req, reply))
		return;
	r = inspect(procs, req);
	reply->result(reply, &r);
}

static void again(struct cv_timer *timer)
{
	struct waiting *w = cv_container(timer, struct waiting, timer);
	struct cove_port_state_result r = inspect(w->procs, w->opts);
	int64_t now = cv_now_ns();

	if (r.state == w->opts->state || r.state == COVE_PORT_UNKNOWN || now >= w->due_ns) {
		w->reply->on_cancel = NULL;
		w->reply->result(w->reply, &r);
		free(w);
		return;
	}
	w->pause_ns = CV_MIN(w->pause_ns * 3 / 2, LOOK_MAX_NS);
	cv_timer_must(w->procs->loop, &w->timer, CV_MIN(now + w->pause_ns, w->due_ns), again);
}

static void cancel(struct cv_reply *reply)
{
	struct waiting *w = reply->user;
	struct cove_error err = COVE_ERROR_INIT;

	cv_timer_cancel(w->procs->loop, &w->timer);
	free(w);
	cv_fail(&err, COVE_E_CANCELLED, "cancelled");
	fail(reply, &err);
}

void cv_port_wait(struct cv_procs *procs, const void *req, struct cv_reply *reply)
{
	const struct cove_port_opts *opts = req;
	struct cove_error err = COVE_ERROR_INIT;
	struct waiting *w;

	if (!check(opts, reply))
		return;
	w = calloc(1, sizeof(*w));
	if (!w) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		fail(reply, &err);
		return;
	}
	*w = (struct waiting){.reply = reply,
			      .procs = procs,
			      .opts = opts,
			      .due_ns = cv_now_ns() + opts->timeout_ms * 1000000,
			      .pause_ns = LOOK_MIN_NS};
	reply->user = w;
	reply->on_cancel = cancel;
	again(&w->timer);
}
