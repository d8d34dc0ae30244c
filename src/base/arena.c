/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: a list of chunks, bumped through, and a list of things to undo when it goes. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define CHUNK 2032
#define ALIGN 16

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	_Alignas(ALIGN) char data[];
};

struct owned {
	struct owned *next;
	void (*fn)(void *);
	void *p;
};

struct cv_arena {
	struct chunk *chunks; /* newest first */
	struct owned *owned;
	_Alignas(ALIGN) char first[];
};

struct cv_arena *cv_arena_new(size_t size, void **ret_first)
{
	struct cv_arena *a = calloc(1, sizeof(*a) + size);

	if (a && ret_first)
		*ret_first = a->first;
	return a;
}

void cv_arena_free(struct cv_arena *a)
{
	if (!a)
		return;
	for (struct owned *o = a->owned; o; o = o->next)
		o->fn(o->p);
	for (struct chunk *c = a->chunks; c;) {
		struct chunk *next = c->next;

		free(c);
		c = next;
	}
	free(a);
}

struct cv_arena *cv_arena_of(void *first)
{
	return cv_container(first, struct cv_arena, first);
}

void *cv_arena_raw(struct cv_arena *a, size_t size)
{
	struct chunk *c = a->chunks;
	size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	void *p;

	if (need < size)
		return NULL;
	if (!c || c->size - c->used < need) {
		size_t room = CV_MAX(need, (size_t)CHUNK);

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->used = 0;
		c->next = a->chunks;
		a->chunks = c;
	}
	p = c->data + c->used;
	c->used += need;
	return p;
}

void *cv_arena_alloc(struct cv_arena *a, size_t size)
{
	void *p = cv_arena_raw(a, size);

	return p ? memset(p, 0, size) : NULL;
}

void *cv_arena_array(struct cv_arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / 2 / size)
		return NULL;
	return cv_arena_alloc(a, n * size);
}

char *cv_arena_dup(struct cv_arena *a, const char *s, size_t len)
{
	char *p = cv_arena_raw(a, len + 1);

	if (!p)
		return NULL;
	if (len > 0)
		memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *cv_arena_printf(struct cv_arena *a, const char *fmt, ...)
{
	va_list ap;
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : cv_arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

int cv_arena_own(struct cv_arena *a, void (*fn)(void *), void *p)
{
	struct owned *o = cv_arena_alloc(a, sizeof(*o));

	if (!o) {
		fn(p);
		return -ENOMEM;
	}
	*o = (struct owned){.next = a->owned, .fn = fn, .p = p};
	a->owned = o;
	return 0;
}

void cove_result_free(void *result)
{
	if (result)
		cv_arena_free(cv_arena_of(result));
}
