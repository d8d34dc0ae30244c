/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the client; c->lock is held in all of these. */
#ifndef CV_WIRE_CLIENT_INTERNAL_H
#define CV_WIRE_CLIENT_INTERNAL_H

#include "wire/client.h"

/* Reads and writes what can be without blocking, and gives it to the calls. */
void cv_client_pump(struct cv_client *c);

/* The connection is of no use any more: every call ends. */
void cv_client_break(struct cv_client *c, int code, const char *why);

/* The same because nothing can be read or sent, or nothing ever came. */
void cv_client_lost(struct cv_client *c);

/* The call is done: unlinked, its thread woken. */
void cv_call_finish(struct cove_call *call);
void cv_call_fail(struct cove_call *call, const struct cove_error *err);
void cv_live_free(struct cove_call *call);

/* Sends CANCEL once. */
void cv_call_send_cancel(struct cove_call *call);

void cv_waiter_wake(struct cv_client *c, const struct cv_waiter *w);
void cv_waiters_wake_all(struct cv_client *c);
void cv_waiters_free(struct cv_client *c);

#endif
