/* Counting lines, words, bytes and characters of a stream that arrives in pieces. */
#ifndef TALLY_COUNT_H
#define TALLY_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts {
	uint64_t lines; /* newlines, as wc counts them */
	uint64_t words; /* runs of bytes that are not white space */
	uint64_t bytes;
	uint64_t characters; /* UTF-8 sequences; a stray byte counts for nothing */
	uint64_t longest_line; /* in bytes, without its newline */
};

/* The state between two pieces.  Start with COUNTER_INIT. */
struct counter {
	struct counts counts;
	bool in_word;
	uint64_t line_bytes;
};

#define COUNTER_INIT { .in_word = false }

/* Count the next piece.  The pieces may be cut anywhere, also inside a word or a character. */
void counter_feed(struct counter *counter, const char *data, size_t length);

/* Add `counts` to `total`: everything is summed, except the longest line, which is the longer one. */
void counts_add(struct counts *total, const struct counts *counts);

#endif
