/* SPDX-License-Identifier: Apache-2.0 */
/* The tape: a list of chunks that grow with the stream, from 16 KiB to 256 KiB each. */
#include "output/tape.h"

#include <cove/process.h>

#include <sys/mman.h>

#define CHUNK_MIN (16u << 10)

struct cv_chunk {
	struct cv_chunk *next;
	int64_t at; /* offset of its first byte */
	size_t len;
	size_t cap;
	bool mapped;
	char *data;
};

/* Large ones come from the kernel and go back to it, whatever malloc would like to keep. */
static char *bytes_new(size_t cap)
{
	void *p;

	if (cap < CV_CHUNK_MAX)
		return malloc(cap);
	p = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static struct cv_chunk *chunk_new(size_t cap)
{
	struct cv_chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cap = cap;
	c->mapped = cap >= CV_CHUNK_MAX;
	c->data = bytes_new(cap);
	if (!c->data)
		free(TAKE(c));
	return c;
}

static void chunk_free(struct cv_chunk *c)
{
	if (c->mapped)
		munmap(c->data, c->cap);
	else
		free(c->data);
	free(c);
}

void cv_tape_init(struct cv_tape *t, int policy, int64_t retain, size_t head_keep)
{
	*t = (struct cv_tape){.policy = policy, .retain = retain, .head_keep = head_keep};
}

void cv_tape_done(struct cv_tape *t)
{
	while (t->first) {
		struct cv_chunk *c = t->first;

		t->first = c->next;
		chunk_free(c);
	}
	t->last = NULL;
	free(TAKE(t->head));
}

/* The ring is about to lose its first bytes: keeps a copy for the head of the bounded view. */
static void save_head(struct cv_tape *t)
{
	size_t len = (size_t)CV_MIN((int64_t)t->head_keep, t->end);

	if (t->head_keep == 0 || t->head || t->start > 0)
		return;
	t->head = malloc(len);
	if (t->head)
		t->head_len = cv_tape_copy(t, 0, t->head, len);
}

/* Takes a chunk that lies wholly below the bytes to keep off the front, for reuse. */
static struct cv_chunk *take_dropped(struct cv_tape *t)
{
	struct cv_chunk *c = t->first;

	if (t->policy != COVE_POLICY_RING || !c || c == t->last ||
	    c->at + (int64_t)c->len > t->end - t->retain)
		return NULL;
	save_head(t);
	t->first = c->next;
	return c;
}

static size_t next_cap(const struct cv_tape *t)
{
	size_t cap = t->last ? t->last->cap * 4 : CHUNK_MIN;

	return CV_MIN(cap, (size_t)CV_CHUNK_MAX);
}

/* A chunk with room at the end; NULL: no memory. */
static struct cv_chunk *room(struct cv_tape *t)
{
	size_t cap = next_cap(t);
	struct cv_chunk *c = t->last;

	if (c && c->len < c->cap)
		return c;
	c = take_dropped(t);
	if (c && c->cap < cap) {
		chunk_free(c);
		c = NULL;
	}
	if (!c)
		c = chunk_new(cap);
	if (!c)
		return NULL;
	c->next = NULL;
	c->at = t->end;
	c->len = 0;
	if (t->last)
		t->last->next = c;
	else
		t->first = c;
	t->last = c;
	return c;
}

static void drop_oldest(struct cv_tape *t)
{
	int64_t start = t->end - t->retain;
	struct cv_chunk *c;

	if (t->policy != COVE_POLICY_RING || start <= t->start)
		return;
	save_head(t);
	t->start = start;
	/* One dropped chunk stays in front, to be reused by room(). */
	while ((c = t->first) != t->last && c->next && c->next != t->last &&
	       c->next->at + (int64_t)c->next->len <= start) {
		t->first = c->next;
		chunk_free(c);
	}
}

/* Counts n new bytes in the last chunk, as the policy says. */
static void account(struct cv_tape *t, struct cv_chunk *c, size_t n)
{
	size_t keep = n;

	t->produced += (int64_t)n;
	if (t->policy != COVE_POLICY_RING) {
		int64_t left = t->retain - t->end;

		t->over |= t->policy == COVE_POLICY_FAIL && (int64_t)n > left;
		keep = (size_t)CV_MIN((int64_t)n, CV_MAX(left, 0));
	}
	c->len += keep;
	t->end += (int64_t)keep;
	drop_oldest(t);
}

/* The command goes on, and what it writes is counted and seen, but nothing more is kept. */
static void starve(struct cv_tape *t)
{
	t->starved = true;
	t->over |= t->policy == COVE_POLICY_FAIL;
	t->policy = COVE_POLICY_HEAD;
	t->retain = t->end;
}

/* Reads once into the last chunk, or nowhere. */
static ssize_t read_once(struct cv_tape *t, int fd, size_t most)
{
	char nowhere[4096];
	struct cv_chunk *c = t->starved ? NULL : room(t);
	char *at = nowhere;
	size_t size = sizeof(nowhere);
	ssize_t n;

	if (c) {
		at = c->data + c->len;
		size = c->cap - c->len;
	} else if (!t->starved) {
		starve(t);
	}
	do
		n = read(fd, at, CV_MIN(size, most));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	if (t->sink)
		t->sink(t->sink_user, at, (size_t)n);
	if (c)
		account(t, c, (size_t)n);
	else
		t->produced += n;
	return n;
}

ssize_t cv_tape_fill(struct cv_tape *t, int fd, size_t most)
{
	size_t done = 0;

	while (done < most) {
		ssize_t n = read_once(t, fd, most - done);

		if (n < 0 && done == 0)
			return n;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

size_t cv_tape_copy(const struct cv_tape *t, int64_t offset, char *dst, size_t len)
{
	const struct cv_chunk *c = t->first;
	size_t done = 0;

	while (c && c->at + (int64_t)c->len <= offset)
		c = c->next;
	for (; c && done < len; c = c->next) {
		size_t from = (size_t)(offset + (int64_t)done - c->at);
		size_t n = CV_MIN(c->len - from, len - done);

		memcpy(dst + done, c->data + from, n);
		done += n;
	}
	return done;
}

size_t cv_tape_head(const struct cv_tape *t, char *dst, size_t len)
{
	size_t n = CV_MIN(len, t->head_len);

	if (t->start == 0 || !t->head)
		return t->start == 0 ? cv_tape_copy(t, 0, dst, len) : 0;
	memcpy(dst, t->head, n);
	return n;
}
