/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders terminal output to plain text (OUT-8): what a person would have seen, line by line.
 *
 * A line is a row of cells, each one code point (or one bad byte), and a cursor. Printable bytes
 * overwrite at the cursor; CR, BS and the few escape sequences that progress bars use move it or
 * erase; everything else that ECMA-48 calls a control is dropped. Colours and titles vanish. Each
 * byte is looked at once and in order, so how the stream is split can't matter.
 */
#include "base/utf8.h"

#include "base/def.h"

#include <cove/output.h>

#include <stdint.h>

#define CELLS_MAX 65536

enum state {
	TEXT,
	ESCAPE,
	CSI,
	STRING,
	STRING_ESCAPE
};

/* Up to four bytes of one code point, NUL where there are fewer. */
struct cell {
	char bytes[4];
};

struct cove_renderer {
	void (*emit)(void *user, const char *data, size_t len);
	void *user;
	enum state state;
	int param; /* first number of a CSI sequence, -1: none */
	bool more_params;
	char point[4]; /* a code point that is not whole yet */
	size_t point_len;
	struct cell *cells;
	size_t cap;
	size_t len;
	size_t cursor;
};

struct cove_renderer *cove_renderer_new(void (*emit)(void *user, const char *data, size_t len),
					void *user)
{
	struct cove_renderer *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->emit = emit;
	r->user = user;
	return r;
}

void cove_renderer_free(struct cove_renderer *r)
{
	if (r)
		free(r->cells);
	free(r);
}

static size_t cell_len(const struct cell *c)
{
	return 1 + (c->bytes[1] ? 1 + (c->bytes[2] ? 1 + (c->bytes[3] != 0) : 0) : 0);
}

static void flush_line(struct cove_renderer *r, bool newline)
{
	char out[4096];
	size_t n = 0;

	for (size_t i = 0; i < r->len; i++) {
		size_t len = cell_len(&r->cells[i]);

		if (n + len > sizeof(out)) {
			r->emit(r->user, out, n);
			n = 0;
		}
		memcpy(out + n, r->cells[i].bytes, len);
		n += len;
	}
	if (newline && n == sizeof(out)) {
		r->emit(r->user, out, n);
		n = 0;
	}
	if (newline)
		out[n++] = '\n';
	if (n > 0)
		r->emit(r->user, out, n);
	r->len = 0;
	r->cursor = 0;
}

static bool make_room(struct cove_renderer *r, size_t cells)
{
	size_t cap = CV_MAX(r->cap * 2, CV_MAX(cells, (size_t)128));
	struct cell *old = r->cells;

	if (cells <= r->cap)
		return true;
	r->cells = malloc(cap * sizeof(*r->cells));
	if (!r->cells) {
		r->cells = old;
		return false;
	}
	if (old)
		memcpy(r->cells, old, r->len * sizeof(*old));
	free(old);
	r->cap = cap;
	return true;
}

static void put_cell(struct cove_renderer *r, const char *bytes, size_t len)
{
	static const struct cell blank = {.bytes = " "};

	if (r->cursor >= CELLS_MAX)
		flush_line(r, false);
	if (!make_room(r, r->cursor + 1))
		return;
	while (r->len < r->cursor)
		r->cells[r->len++] = blank;
	memset(&r->cells[r->cursor], 0, sizeof(struct cell));
	memcpy(r->cells[r->cursor].bytes, bytes, len);
	r->cursor++;
	r->len = CV_MAX(r->len, r->cursor);
}

static void erase_in_line(struct cove_renderer *r, int how)
{
	if (how <= 0) {
		r->len = CV_MIN(r->len, r->cursor);
	} else if (how == 2) {
		r->len = 0;
	} else {
		for (size_t i = 0; i < r->len && i <= r->cursor; i++)
			r->cells[i] = (struct cell){.bytes = " "};
	}
}

static void end_csi(struct cove_renderer *r, char final)
{
	size_t n = (size_t)CV_MAX(r->param, 1);

	switch (final) {
	case 'K':
		erase_in_line(r, r->param);
		break;
	case 'C':
		r->cursor = CV_MIN(r->cursor + n, (size_t)CELLS_MAX);
		break;
	case 'D':
		r->cursor -= CV_MIN(n, r->cursor);
		break;
	case 'G':
		r->cursor = CV_MIN(n - 1, (size_t)CELLS_MAX);
		break;
	default:
		break;
	}
}

static void control(struct cove_renderer *r, char c)
{
	if (c == '\n')
		flush_line(r, true);
	else if (c == '\r')
		r->cursor = 0;
	else if (c == '\b')
		r->cursor -= r->cursor > 0;
	else if (c == '\t')
		put_cell(r, "\t", 1);
	else if (c == 0x1B)
		r->state = ESCAPE;
}

static void flush_point(struct cove_renderer *r)
{
	for (size_t i = 0; i < r->point_len; i++)
		put_cell(r, &r->point[i], 1);
	r->point_len = 0;
}

/* A byte of a code point beyond ASCII, or one that belongs to none. */
static void add_point(struct cove_renderer *r, char c)
{
	bool is_short;
	int step;

	r->point[r->point_len++] = c;
	step = cv_utf8_step(r->point, r->point_len, &is_short);
	if (is_short)
		return;
	if (step == (int)r->point_len) {
		put_cell(r, r->point, r->point_len);
		r->point_len = 0;
		return;
	}
	/* The last byte broke the sequence and may begin another. */
	if (r->point_len > 1) {
		r->point_len--;
		flush_point(r);
		add_point(r, c);
	} else {
		flush_point(r);
	}
}

static void text(struct cove_renderer *r, char c)
{
	if ((unsigned char)c >= 0x80) {
		add_point(r, c);
		return;
	}
	flush_point(r);
	if ((unsigned char)c < 0x20 || c == 0x7F)
		control(r, c);
	else
		put_cell(r, &c, 1);
}

static void escape(struct cove_renderer *r, char c)
{
	r->state = TEXT;
	if (c == '[') {
		r->state = CSI;
		r->param = -1;
		r->more_params = false;
	} else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_') {
		r->state = STRING;
	} else if (c >= 0x20 && c <= 0x2F) {
		r->state = ESCAPE; /* an intermediate byte: one more follows */
	}
}

static void csi(struct cove_renderer *r, char c)
{
	if (c >= '0' && c <= '9') {
		if (!r->more_params && r->param < 100000)
			r->param = CV_MAX(r->param, 0) * 10 + (c - '0');
	} else if (c == ';' || c == ':') {
		r->more_params = true;
	} else if (c >= 0x40 && c <= 0x7E) {
		r->state = TEXT;
		end_csi(r, c);
	} else if (c == 0x1B) {
		r->state = ESCAPE;
	} else if (c == '\n') {
		r->state = TEXT;
		control(r, c);
	}
}

void cove_renderer_add(struct cove_renderer *r, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		switch (r->state) {
		case TEXT:
			text(r, c);
			break;
		case ESCAPE:
			escape(r, c);
			break;
		case CSI:
			csi(r, c);
			break;
		case STRING:
			r->state = c == 0x07 ? TEXT : c == 0x1B ? STRING_ESCAPE : STRING;
			break;
		case STRING_ESCAPE:
			r->state = c == '\\' ? TEXT : STRING;
			break;
		}
	}
}

void cove_renderer_finish(struct cove_renderer *r)
{
	flush_point(r);
	if (r->len > 0)
		flush_line(r, false);
}
