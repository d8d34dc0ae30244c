/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every other header of libcove uses: visibility, options structs, byte ranges, cancellation.
 *
 * Example:
 *
 *	#include <cove/base.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_cancel *stop = cove_cancel_new();
 *		if (!stop)
 *			return 1;
 *		cove_cancel_fire(stop);
 *		printf("cove %s, cancelled: %d\n", cove_version(), cove_cancel_fired(stop));
 *		cove_cancel_free(stop);
 *		return 0;
 *	}
 */
#ifndef COVE_BASE_H
#define COVE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COVE_API __attribute__((visibility("default")))

/*
 * An options struct in place: COVE_OPTS(cove_exec_opts, .script = "make"). Its first field `size`
 * tells the library which fields the caller's header knew. A field left out is zero, and zero means
 * the documented default. C only; in C++ fill a struct by hand and set `size`.
 */
#define COVE_OPTS(type, ...) (&(const struct type){.size = sizeof(struct type), ##__VA_ARGS__})

/*
 * Says 0 (or "no") where a field's zero means "default". For example `.grace_ms = COVE_ZERO` asks
 * for no grace at all, `.grace_ms = 0` for the default grace.
 */
#define COVE_ZERO (-2147483647 - 1)

/*
 * Bytes that may hold anything, NUL included. Borrowed in a request, owned by the result in a
 * result.
 */
struct cove_bytes {
	const char *data; /* not NUL-terminated in a request; NUL-terminated in a result */
	size_t len;	  /* in bytes */
};

/* A flag that ends a waiting call early; see cove_cancel_new(). */
struct cove_cancel;

/* How one call may end early. */
struct cove_call_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* borrowed until the call has ended; NULL: the call can't be cancelled */
	struct cove_cancel *cancel;
	/* deadline of the call, 1..2^31-1 ms; 0: none */
	int64_t timeout_ms;
};

/**
 * Tells the version of the library, as `MAJOR.MINOR.PATCH`.
 *
 * @return a static string, never NULL.
 * Threads: any. @since 0.1
 */
COVE_API const char *cove_version(void);

/**
 * Makes a cancellation flag, not yet fired.
 *
 * One flag may serve any number of calls in any threads; all of them end when it fires.
 *
 * @return the flag, to be freed by cove_cancel_free(), or NULL where no memory or descriptor is
 * left.
 * Threads: any. @since 0.1
 */
COVE_API struct cove_cancel *cove_cancel_new(void);

/**
 * Fires the flag: every call that was given it ends with `cancelled`, now and later. Firing twice
 * is harmless.
 *
 * @param cancel a flag of cove_cancel_new(); NULL does nothing.
 * Threads: any; async-signal-safe. @since 0.1
 */
COVE_API void cove_cancel_fire(struct cove_cancel *cancel);

/**
 * Tells whether the flag has been fired.
 *
 * @param cancel a flag of cove_cancel_new(); NULL counts as not fired.
 * @return true once it was fired.
 * Threads: any; async-signal-safe. @since 0.1
 */
COVE_API bool cove_cancel_fired(const struct cove_cancel *cancel);

/**
 * Frees the flag. No call that was given it may still be under way.
 *
 * @param cancel a flag of cove_cancel_new(); NULL does nothing.
 * Threads: any. @since 0.1
 */
COVE_API void cove_cancel_free(struct cove_cancel *cancel);

/**
 * Frees a result of any operation, whole.
 *
 * Each operation also has a typed form, such as cove_exec_result_free(); they do the same.
 *
 * @param result what an operation gave through its `ret` parameter; NULL does nothing.
 * Threads: any. @since 0.1
 */
COVE_API void cove_result_free(void *result);

#ifdef __cplusplus
}
#endif
#endif
