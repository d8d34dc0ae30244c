/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: everything of one request or result, freed at once.
 *
 * A result handed to a caller is the arena's first allocation; cove_result_free() finds the arena
 * in front of it.
 */
#ifndef CV_BASE_ARENA_H
#define CV_BASE_ARENA_H

#include "base/def.h"

struct cv_arena;

/*
 * Makes an arena whose first allocation is `size` zeroed bytes, given in *ret_first. NULL: no
 * memory.
 */
struct cv_arena *cv_arena_new(size_t size, void **ret_first);
void cv_arena_free(struct cv_arena *a);
static inline void cv_arena_freep(struct cv_arena *const *a)
{
	cv_arena_free(*a);
}
#define CV_ARENA_SCOPE __attribute__((cleanup(cv_arena_freep)))

/* The arena whose first allocation is p. */
struct cv_arena *cv_arena_of(void *first);

/* Zeroed memory, aligned for any type. NULL: no memory. */
void *cv_arena_alloc(struct cv_arena *a, size_t size);
/* The same, not zeroed: for bytes that are written at once. */
void *cv_arena_raw(struct cv_arena *a, size_t size);
void *cv_arena_array(struct cv_arena *a, size_t n, size_t size);
char *cv_arena_dup(struct cv_arena *a, const char *s, size_t len);
char *cv_arena_printf(struct cv_arena *a, const char *fmt, ...) CV_PRINTF(2, 3);

/* Runs fn(p) when the arena is freed, newest first. 0 or -ENOMEM, in which case fn(p) has run. */
int cv_arena_own(struct cv_arena *a, void (*fn)(void *), void *p);

#endif
