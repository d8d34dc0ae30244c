/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of tokens against texts, in bounded time. */
#include "files/wild.h"

#include "base/utf8.h"

#define WORDS (CV_WILD_MAX / 64 + 1)
#define NO_CHARACTER 0x110000u /* and more: a byte that is no UTF-8 */

typedef uint64_t places[WORDS];

void cv_wild_done(struct cv_wild *w)
{
	free(w->tokens);
	free(w->ranges);
	free(w->text);
	*w = (struct cv_wild){.bytes = w->bytes};
}

int cv_wild_add(struct cv_wild *w, enum cv_wild_kind kind, uint32_t value)
{
	if (w->count == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 16;
		struct cv_wild_token *tokens;

		if (w->count >= CV_WILD_MAX)
			return -EMSGSIZE;
		tokens = reallocarray(w->tokens, cap, sizeof(*tokens));
		if (!tokens)
			return -ENOMEM;
		w->tokens = tokens;
		w->cap = cap;
	}
	w->tokens[w->count++] = (struct cv_wild_token){
		.kind = (uint8_t)kind,
		.value = kind == CV_WILD_CLASS ? (uint32_t)w->range_count : value,
	};
	return 0;
}

int cv_wild_add_range(struct cv_wild *w, uint32_t first, uint32_t last)
{
	struct cv_wild_token *token = &w->tokens[w->count - 1];

	if (token->ranges == UINT16_MAX)
		return -EMSGSIZE;
	if (w->range_count == w->range_cap) {
		size_t cap = w->range_cap ? w->range_cap * 2 : 8;
		struct cv_wild_range *ranges = reallocarray(w->ranges, cap, sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		w->ranges = ranges;
		w->range_cap = cap;
	}
	w->ranges[w->range_count++] = (struct cv_wild_range){first, last};
	token->ranges++;
	return 0;
}

static size_t put_char(char *dst, uint32_t c, bool bytes)
{
	if (c < 0x80 || bytes) {
		dst[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (char)(0xC0 | c >> 6);
		dst[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = (char)(0xE0 | c >> 12);
		dst[1] = (char)(0x80 | (c >> 6 & 63));
		dst[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	dst[0] = (char)(0xF0 | c >> 18);
	dst[1] = (char)(0x80 | (c >> 12 & 63));
	dst[2] = (char)(0x80 | (c >> 6 & 63));
	dst[3] = (char)(0x80 | (c & 63));
	return 4;
}

static bool all_chars(const struct cv_wild *w, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (w->tokens[i].kind != CV_WILD_CHAR)
			return false;
	return true;
}

static bool is_star(const struct cv_wild *w, size_t i)
{
	return w->tokens[i].kind == CV_WILD_STAR;
}

int cv_wild_finish(struct cv_wild *w)
{
	size_t from = 0;
	size_t to = w->count;

	w->shape = CV_WILD_EXACT;
	if (w->count > 0 && is_star(w, 0)) {
		w->shape = CV_WILD_SUFFIX;
		from++;
	} else if (w->count > 0 && is_star(w, w->count - 1)) {
		w->shape = CV_WILD_PREFIX;
		to--;
	}
	if (!all_chars(w, from, to)) {
		w->shape = CV_WILD_GENERAL;
		return 0;
	}
	w->text = malloc((to - from) * 4 + 1);
	if (!w->text)
		return -ENOMEM;
	for (size_t i = from; i < to; i++)
		w->text_len += put_char(w->text + w->text_len, w->tokens[i].value, w->bytes);
	w->text[w->text_len] = '\0';
	return 0;
}

size_t cv_wild_next(const struct cv_wild *w, const char *s, size_t len, uint32_t *ret)
{
	const unsigned char *u = (const unsigned char *)s;
	bool cut;
	int n;

	*ret = u[0];
	if (u[0] < 0x80 || w->bytes)
		return 1;
	n = cv_utf8_step(s, len, &cut);
	if (n <= 0) {
		*ret = NO_CHARACTER + u[0];
		return 1;
	}
	*ret = u[0] & (0xFFu >> (n + 1));
	for (int i = 1; i < n; i++)
		*ret = *ret << 6 | (u[i] & 63u);
	return (size_t)n;
}

static bool in_class(const struct cv_wild *w, const struct cv_wild_token *t, uint32_t c)
{
	for (size_t i = 0; i < t->ranges; i++) {
		const struct cv_wild_range *r = &w->ranges[t->value + i];

		if (c >= r->first && c <= r->last)
			return !t->negated;
	}
	return t->negated;
}

/* Whether a token takes c; a star stays where it is then. */
static bool takes(const struct cv_wild *w, const struct cv_wild_token *t, uint32_t c)
{
	switch (t->kind) {
	case CV_WILD_CHAR:
		return t->value == c;
	case CV_WILD_CLASS:
		return c != '/' && in_class(w, t, c);
	case CV_WILD_ANY:
	case CV_WILD_STAR:
		return c != '/';
	case CV_WILD_STARS:
		return true;
	default:
		return false;
	}
}

static void add_place(const struct cv_wild *w, uint64_t *set, size_t at)
{
	for (;;) {
		uint64_t bit = UINT64_C(1) << (at & 63);

		if (set[at >> 6] & bit)
			return;
		set[at >> 6] |= bit;
		if (at == w->count)
			return;
		switch (w->tokens[at].kind) {
		case CV_WILD_STAR:
		case CV_WILD_STARS:
			at++;
			break;
		case CV_WILD_DIRS:
			add_place(w, set, at + 1); /* goes no further than its two tokens */
			at += 3;
			break;
		default:
			return;
		}
	}
}

/* The places after c; false: there are none. */
static bool advance(const struct cv_wild *w, const uint64_t *set, uint64_t *next, size_t words,
		    uint32_t c)
{
	bool any = false;

	memset(next, 0, words * sizeof(*next));
	for (size_t i = 0; i < words; i++) {
		for (uint64_t bits = set[i]; bits; bits &= bits - 1) {
			size_t at = i * 64 + (size_t)__builtin_ctzll(bits);
			const struct cv_wild_token *t = &w->tokens[at];
			bool stays;

			if (at == w->count || !takes(w, t, c))
				continue;
			stays = t->kind == CV_WILD_STAR || t->kind == CV_WILD_STARS;
			add_place(w, next, stays ? at : at + 1);
			any = true;
		}
	}
	return any;
}

static bool match_general(const struct cv_wild *w, const char *text, size_t len)
{
	size_t words = w->count / 64 + 1;
	places sets[2];
	int now = 0;

	memset(sets[0], 0, words * sizeof(uint64_t));
	add_place(w, sets[0], 0);
	while (len > 0) {
		uint32_t c;
		size_t n = cv_wild_next(w, text, len, &c);

		if (!advance(w, sets[now], sets[!now], words, c))
			return false;
		now = !now;
		text += n;
		len -= n;
	}
	return sets[now][w->count >> 6] >> (w->count & 63) & 1;
}

bool cv_wild_match(const struct cv_wild *w, const char *text, size_t len)
{
	size_t rest = len - w->text_len;

	if (w->shape == CV_WILD_GENERAL)
		return match_general(w, text, len);
	if (len < w->text_len)
		return false;
	switch (w->shape) {
	case CV_WILD_EXACT:
		return rest == 0 && memcmp(text, w->text, len) == 0;
	case CV_WILD_PREFIX:
		return memcmp(text, w->text, w->text_len) == 0 &&
		       !memchr(text + w->text_len, '/', rest);
	default:
		return memcmp(text + rest, w->text, w->text_len) == 0 && !memchr(text, '/', rest);
	}
}
