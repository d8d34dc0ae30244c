/* How often each value occurs. */
#ifndef TALLY_FREQ_H
#define TALLY_FREQ_H

#include <stddef.h>
#include <stdint.h>

struct freq_entry {
	char *value; /* a copy, terminated by a NUL; NULL in a free slot */
	size_t length;
	uint64_t count;
};

/* A hash table with open addressing.  Start with FREQ_INIT, end with freq_done(). */
struct freq {
	struct freq_entry *slots;
	size_t capacity; /* 0 or a power of two */
	size_t used;
};

#define FREQ_INIT { .slots = NULL }

/* Count one more occurrence of a value; -1 when there is no memory, and then nothing has changed. */
int freq_add(struct freq *freq, const char *value, size_t length);

/* How often the value was added. */
uint64_t freq_get(const struct freq *freq, const char *value, size_t length);

/*
 * The entries, the most frequent first and equal ones in byte order, in an array of `freq->used`
 * pointers that the caller frees; the entries stay the table's.  NULL when there is no memory.
 */
const struct freq_entry **freq_sorted(const struct freq *freq);

void freq_done(struct freq *freq);

#endif
