/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an operation that takes its time answers: the guest's side of a call, as rooms left of the
 * guest see it.
 */
#ifndef CV_OPS_REPLY_H
#define CV_OPS_REPLY_H

#include "ops/table.h"

struct cv_reply {
	/*
	 * Exactly one of these two is called, once; the reply and the request's memory are gone
	 * afterwards.
	 */
	void (*result)(struct cv_reply *r, const void *result);
	void (*error)(struct cv_reply *r, const struct cove_error *err);
	/* Sends live output, at most credit[stream] bytes, before the result. */
	void (*live)(struct cv_reply *r, int stream, const char *data, size_t len);
	/* Lets the caller send so many more bytes of stdin. */
	void (*want_stdin)(struct cv_reply *r, size_t len);
	size_t credit[3]; /* by stream: 1 stdout, 2 stderr; 1 for the merged one */
	bool late;	  /* cancelled because the call's deadline has passed */
	bool has_stdin;	  /* the caller feeds stdin through the call */
	/* Set by the operation; NULL: it can't be told. */
	void (*on_cancel)(struct cv_reply *r);
	void (*on_credit)(struct cv_reply *r);
	void (*on_stdin)(struct cv_reply *r, const char *data, size_t len); /* len 0: the end */
	void *user;							    /* the operation's */
};

#endif
