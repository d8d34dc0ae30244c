/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of a connection: calls under way, and the threads that wait for them.
 *
 * The library has no thread of its own. Of several threads that wait, one is the mover: it polls
 * the connection, reads and writes for all, and wakes those whose calls have come forward. When its
 * own call has ended it wakes another waiter to take over. Every other waiter sleeps on a
 * descriptor of its own (and its cancel flag), so nobody spins and nobody can miss a wake-up.
 */
#ifndef CV_WIRE_CLIENT_H
#define CV_WIRE_CLIENT_H

#include "ops/table.h"
#include "wire/conn.h"

#include <cove/env.h>
#include <cove/streams.h>
#include <cove/process.h>

#include <pthread.h>
#include <stdatomic.h>

/* Live output that may be under way per stream, and the same for stdin towards the guest. */
#define CV_CREDIT_WINDOW (256u << 10)

/* Calls under way at a time; a guest refuses some more than these. */
#define CV_CALLS_MAX 4000

/* How long a guest may take to greet. */
#define CV_GREET_MS 5000

/* The guest enforces a command's deadline; so long after it the host gives up on the guest. */
#define CV_BACKSTOP_MS 10000

/* After a cancel or deadline was sent: how long an answer is awaited. */
#define CV_ANSWER_MS 15000

struct cv_waiter {
	struct cv_waiter *next;
	int wake; /* eventfd */
};

struct cv_client {
	pthread_mutex_t lock;
	pthread_cond_t idle; /* no waiter is inside any more */
	struct cv_conn conn;
	bool connected;
	bool greeted;	  /* the guest's HELLO has come */
	int64_t greet_ns; /* until when it must have */
	bool broken;
	int broken_code;
	struct cove_error *broken_err;
	uint64_t last_id;
	struct cove_call *calls;
	int open_calls;
	struct cv_waiter *mover;
	struct cv_waiter *sleepers;
	struct cv_waiter *spare;
	int inside;	    /* threads in cv_call_wait() */
	int64_t timeout_ms; /* deadline of a command that gives none; 0: none */
	void (*explain)(void *user,
			struct cove_error *err); /* adds what is known of a guest that is gone */
	void *explain_user;
};

/* Live output that waits for its call's own thread. */
struct cv_live {
	struct cv_live *next;
	int stream;
	size_t len;
	char data[];
};

struct cove_call {
	struct cv_client *client;
	struct cove_call *next;
	struct cove_call **link; /* what points to it */
	const struct cv_op *op;
	uint64_t id;
	atomic_bool done;
	bool answered; /* result or error has come; live output may still wait */
	bool cancel_sent;
	bool timed_out;
	int code;
	struct cove_error *err;
	json_t *result;
	struct cv_buf body;
	bool want_body;
	struct cove_cancel *cancel;
	int64_t deadline_ns; /* 0 none */
	int64_t backstop_ns; /* an exec's own deadline, long past: the guest does not answer; 0 none */
	int64_t give_up_ns; /* after a cancel: no answer is awaited any longer; 0 not yet */
	struct cv_waiter *waiter;
	cove_output_fn on_output;
	void *on_output_user;
	cove_data_fn on_data; /* instead, where there is one */
	void *on_data_user;
	struct cv_live *live; /* oldest first */
	struct cv_live *live_last;
	size_t live_bytes; /* sent by the guest and not yet credited again */
	bool callback_failed;
	bool stdin_open;
	size_t stdin_credit;
	bool want_credit; /* its thread waits for some */
};

int cv_client_init(struct cv_client *c);
void cv_client_done(struct cv_client *c);

/* Begins to talk over the descriptors, which it takes over. */
int cv_client_connect(struct cv_client *c, int rfd, int wfd);

/*
 * Ends every call with an error and refuses new ones; threads that wait have left when it returns.
 */
void cv_client_close(struct cv_client *c, int code, const char *why);

/* Makes and sends a call. req is checked already. */
int cv_call_submit(struct cv_client *c, const struct cv_op *op, const void *req,
		   const struct cove_call_opts *opts, struct cove_call **ret_call,
		   struct cove_error *err);

/* 1 done, 0 not yet. timeout_ms: -1 none, 0 only moves what can be moved. */
int cv_call_wait(struct cove_call *call, int64_t timeout_ms);

/* The same, without a limit, until bytes can be written to it or it is done: 1 done, 0 they can. */
int cv_call_wait_credit(struct cove_call *call);

/* The op's result struct, as first allocation of an arena; call is freed. */
int cv_call_take(struct cove_call *call, void **ret_result, struct cove_error *err);

#endif
