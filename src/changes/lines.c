/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines of two texts are the same: Myers' algorithm in linear space.
 *
 * Equal lines get equal numbers first, so that comparing two costs nothing. Each box of the edit
 * graph is split where the shortest paths from both of its ends meet. Texts with little in common
 * would cost the square of their length: beyond some effort a box is split at the furthest point
 * that was reached, which gives a right diff that may be longer than need be.
 */
#include "changes/changes.h"

#include "files/common.h"

#define EFFORT_MIN 256
#define LINES_MAX ((size_t)INT32_MAX / 4)

struct table {
	struct slot {
		uint32_t hash;
		uint32_t id; /* 0: free */
		const char *line;
		size_t len;
	} * slots;
	size_t mask;
	uint32_t next_id;
};

struct graph {
	const uint32_t *a;
	const uint32_t *b;
	unsigned char *mark_a;
	unsigned char *mark_b;
	int32_t *forward; /* by diagonal: how far in a */
	int32_t *backward;
	int32_t effort;
	const atomic_bool *cancel;
};

struct box {
	int32_t a0, a1, b0, b1;
};

void cv_lines_done(struct cv_lines *l)
{
	free(l->starts);
	free(l->ids);
	free(l->mark);
	*l = (struct cv_lines){0};
}

static int split(struct cv_lines *l)
{
	size_t at = 0;

	l->count = 0;
	for (const char *p = l->text, *end = p + l->len; p < end; l->count++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	if (l->count > LINES_MAX)
		return -EFBIG;
	l->starts = calloc(l->count + 1, sizeof(*l->starts));
	l->ids = calloc(l->count + 1, sizeof(*l->ids));
	l->mark = calloc(l->count + 1, 1);
	if (!l->starts || !l->ids || !l->mark)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++) {
		const char *nl = memchr(l->text + at, '\n', l->len - at);

		l->starts[i] = at;
		at = nl ? (size_t)(nl - l->text) + 1 : l->len;
	}
	l->starts[l->count] = l->len;
	return 0;
}

static uint32_t hash_of(const char *line, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)line[i]) * 16777619u;
	return h ^ h >> 15;
}

static uint32_t id_of(struct table *t, const char *line, size_t len)
{
	uint32_t h = hash_of(line, len);
	size_t i = h & t->mask;

	while (t->slots[i].id) {
		const struct slot *s = &t->slots[i];

		if (s->hash == h && s->len == len && memcmp(s->line, line, len) == 0)
			return s->id;
		i = (i + 1) & t->mask;
	}
	t->slots[i] = (struct slot){h, ++t->next_id, line, len};
	return t->next_id;
}

static void number(struct table *t, struct cv_lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->ids[i] = id_of(t, l->text + l->starts[i], l->starts[i + 1] - l->starts[i]);
}

static int number_both(struct cv_lines *a, struct cv_lines *b)
{
	struct table t = {.mask = 63};

	while (t.mask < 2 * (a->count + b->count))
		t.mask = t.mask * 2 + 1;
	t.slots = calloc(t.mask + 1, sizeof(*t.slots));
	if (!t.slots)
		return -ENOMEM;
	number(&t, a);
	number(&t, b);
	free(t.slots);
	return 0;
}

/* How far the path on diagonal k comes by one more step; -1: nowhere within n by m. */
static int32_t extend(const int32_t *v, int32_t k, int32_t d, int32_t n, int32_t m)
{
	int32_t down = k < d ? v[k + 1] : -1;
	int32_t right = k > -d && v[k - 1] >= 0 ? v[k - 1] + 1 : -1;

	if (d == 0)
		return 0;
	if (right > n || right - k < 0)
		right = -1;
	if (down - k > m || down - k < 0)
		down = -1;
	return CV_MAX(down, right);
}

/* One step of all forward paths; true when one met a backward path at (*x, *y). */
static bool step_forward(const struct graph *g, const struct box *r, int32_t d, int32_t *x,
			 int32_t *y)
{
	int32_t n = r->a1 - r->a0;
	int32_t m = r->b1 - r->b0;
	int32_t *v = g->forward;

	for (int32_t k = -d; k <= d; k += 2) {
		int32_t other = (n - m) - k; /* the same diagonal, as the other paths count it */
		int32_t i = extend(v, k, d, n, m);

		while (i >= 0 && i < n && i - k < m && g->a[r->a0 + i] == g->b[r->b0 + i - k])
			i++;
		v[k] = i;
		if (i >= 0 && ((n - m) & 1) && other > -d && other < d && g->backward[other] >= 0 &&
		    i >= n - g->backward[other]) {
			*x = r->a0 + i;
			*y = r->b0 + i - k;
			return true;
		}
	}
	return false;
}

/* The same from the end, with diagonals and places counted from there. */
static bool step_backward(const struct graph *g, const struct box *r, int32_t d, int32_t *x,
			  int32_t *y)
{
	int32_t n = r->a1 - r->a0;
	int32_t m = r->b1 - r->b0;
	int32_t *v = g->backward;

	for (int32_t k = -d; k <= d; k += 2) {
		int32_t other = (n - m) - k;
		int32_t i = extend(v, k, d, n, m);

		while (i >= 0 && i < n && i - k < m &&
		       g->a[r->a1 - 1 - i] == g->b[r->b1 - 1 - (i - k)])
			i++;
		v[k] = i;
		if (i >= 0 && !((n - m) & 1) && other >= -d && other <= d &&
		    g->forward[other] >= n - i) {
			*x = r->a1 - i;
			*y = r->b1 - (i - k);
			return true;
		}
	}
	return false;
}

/* The point of the furthest forward path that lies in the box and is neither of its ends. */
static bool furthest(const struct graph *g, const struct box *r, int32_t d, int32_t *x, int32_t *y)
{
	int32_t best = 0;

	for (int32_t k = -d; k <= d; k += 2) {
		int32_t i = g->forward[k];
		int32_t j = i - k;

		if (i < 0 || i + j <= best || (i == r->a1 - r->a0 && j == r->b1 - r->b0))
			continue;
		best = i + j;
		*x = r->a0 + i;
		*y = r->b0 + j;
	}
	return best > 0;
}

/* Where to split a box whose first and last lines differ. */
static bool middle(const struct graph *g, const struct box *r, int32_t *x, int32_t *y)
{
	int32_t n = r->a1 - r->a0;
	int32_t m = r->b1 - r->b0;

	for (int32_t d = 0; d <= (n + m + 1) / 2; d++) {
		if (step_forward(g, r, d, x, y) || step_backward(g, r, d, x, y))
			return true;
		if (d >= g->effort || (d % 64 == 63 && cv_flag_set(g->cancel)))
			return furthest(g, r, d, x, y);
	}
	return false;
}

static void mark_all(const struct graph *g, const struct box *r)
{
	memset(g->mark_a + r->a0, 1, (size_t)(r->a1 - r->a0));
	memset(g->mark_b + r->b0, 1, (size_t)(r->b1 - r->b0));
}

static void trim(const struct graph *g, struct box *r)
{
	while (r->a0 < r->a1 && r->b0 < r->b1 && g->a[r->a0] == g->b[r->b0]) {
		r->a0++;
		r->b0++;
	}
	while (r->a0 < r->a1 && r->b0 < r->b1 && g->a[r->a1 - 1] == g->b[r->b1 - 1]) {
		r->a1--;
		r->b1--;
	}
}

/* The stack holds the boxes that are left; each split leaves the smaller one for later or now. */
static int compare(const struct graph *g, struct box all)
{
	struct box stack[96];
	size_t n = 0;

	stack[n++] = all;
	while (n > 0) {
		struct box r = stack[--n];
		int32_t x = 0;
		int32_t y = 0;
		struct box first;
		struct box second;

		if (cv_flag_set(g->cancel))
			return -ECANCELED;
		trim(g, &r);
		if (r.a0 == r.a1 || r.b0 == r.b1 || n + 2 > CV_LEN(stack) ||
		    !middle(g, &r, &x, &y) || (x == r.a0 && y == r.b0) ||
		    (x == r.a1 && y == r.b1)) {
			mark_all(g, &r);
			continue;
		}
		first = (struct box){r.a0, x, r.b0, y};
		second = (struct box){x, r.a1, y, r.b1};
		/* The larger below: so the stack stays as low as the logarithm of the lines. */
		if (x - r.a0 + y - r.b0 > r.a1 - x + r.b1 - y) {
			stack[n++] = first;
			stack[n++] = second;
		} else {
			stack[n++] = second;
			stack[n++] = first;
		}
	}
	return 0;
}

static int32_t effort_for(size_t lines)
{
	int32_t root = EFFORT_MIN;

	while ((size_t)root * (size_t)root < lines)
		root += root / 4;
	return root;
}

int cv_lines_compare(struct cv_lines *a, struct cv_lines *b, const atomic_bool *cancel)
{
	CV_FREE int32_t *v = NULL;
	size_t span;
	struct graph g;
	int rc = split(a);

	if (rc == 0)
		rc = split(b);
	if (rc == 0)
		rc = number_both(a, b);
	if (rc < 0)
		return rc;
	span = (size_t)effort_for(a->count + b->count) + 2;
	v = calloc(2 * (2 * span + 1), sizeof(*v));
	if (!v)
		return -ENOMEM;
	g = (struct graph){a->ids,   b->ids,	       a->mark,		  b->mark,
			   v + span, v + 3 * span + 1, (int32_t)span - 2, cancel};
	return compare(&g, (struct box){0, (int32_t)a->count, 0, (int32_t)b->count});
}
