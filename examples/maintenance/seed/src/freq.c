/* Linear probing, at most three quarters full, grown by doubling; nothing is ever taken out. */
#include "freq.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

/* FNV-1a.  TODO: seed it per process, so that nobody can prepare colliding input */
static uint64_t hash(const char *value, size_t length)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)value[i]) * 0x100000001b3u;
	return h;
}

/* The slot that holds the value, or the free one where it belongs. */
static struct freq_entry *find_slot(struct freq_entry *slots, size_t capacity, const char *value,
				    size_t length)
{
	size_t i = hash(value, length) & (capacity - 1);

	while (slots[i].value != NULL) {
		if (slots[i].length == length && memcmp(slots[i].value, value, length) == 0)
			break;
		i = (i + 1) & (capacity - 1);
	}
	return &slots[i];
}

static int grow(struct freq *freq)
{
    size_t capacity = freq->capacity ? freq->capacity * 2 : FIRST_CAPACITY;
    struct freq_entry *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < freq->capacity; i++) {
        struct freq_entry *old = &freq->slots[i];
        if (old->value != NULL)
            *find_slot(slots, capacity, old->value, old->length) = *old;
    }
    free(freq->slots);
    freq->slots = slots;
    freq->capacity = capacity;
    return 0;
}

int freq_add(struct freq *freq, const char *value, size_t length)
{
	if (freq->used >= freq->capacity / 4 * 3 && grow(freq) < 0)
		return -1;

	struct freq_entry *slot = find_slot(freq->slots, freq->capacity, value, length);
	if (slot->value == NULL) {
		char *copy = malloc(length + 1);
		if (copy == NULL)
			return -1;
		memcpy(copy, value, length);
		copy[length] = '\0';
		*slot = (struct freq_entry){ .value = copy, .length = length };
		freq->used++;
	}
	slot->count++;
	return 0;
}

uint64_t freq_get(const struct freq *freq, const char *value, size_t length)
{
	if (freq->capacity == 0)
		return 0;
	return find_slot(freq->slots, freq->capacity, value, length)->count;
}

/* The number of values that occur once only. */
size_t freq_singletons(const struct freq *freq)
{
	size_t singletons = 0;

	for (size_t i = 0; i < freq->capacity; i++)
		singletons += freq->slots[i].count == 1;
	return singletons;
}

static int compare_values(const struct freq_entry *a, const struct freq_entry *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->value, b->value, shorter);

	if (order != 0)
		return order;
	return (a->length > b->length) - (a->length < b->length);
}

static int compare_entries(const void *left, const void *right)
{
	const struct freq_entry *a = *(const struct freq_entry *const *)left;
	const struct freq_entry *b = *(const struct freq_entry *const *)right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return compare_values(a, b);
}

const struct freq_entry **freq_sorted(const struct freq *freq)
{
	const struct freq_entry **sorted = malloc((freq->used + 1) * sizeof(*sorted));
	size_t n = 0;

	if (sorted == NULL)
		return NULL;
	for (size_t i = 0; i < freq->capacity; i++)
		if (freq->slots[i].value != NULL)
			sorted[n++] = &freq->slots[i];
	/* TODO: a partial sort is enough when only the first few are shown */
	qsort(sorted, n, sizeof(*sorted), compare_entries);
	return sorted;
}

void freq_done(struct freq *freq)
{
	for (size_t i = 0; i < freq->capacity; i++)
		free(freq->slots[i].value);
	free(freq->slots);
	*freq = (struct freq)FREQ_INIT;
}
