/* One pass over each piece; nothing is stored but the counters. */
#include "count.h"

static bool is_space(unsigned char byte)
{
	/* TODO: treat U+00A0 and U+2003 as white space too */
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A byte that begins a character: anything but 10xxxxxx. */
static bool begins_character(unsigned char byte)
{
	return (byte & 0xc0) != 0x80;
}

static void end_line(struct counter *counter)
{
	counter->counts.lines++;
	counter->line_bytes = 0;
}

void counter_feed(struct counter *counter, const char *data, size_t length)
{
	struct counts *counts = &counter->counts;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)data[i];
		bool space = is_space(byte);

		if (!space && !counter->in_word)
			counts->words++;
		counter->in_word = !space;

		if (begins_character(byte))
			counts->characters++;

		if (byte == '\n') {
			end_line(counter);
			continue;
		}
		counter->line_bytes++;
		if (counter->line_bytes > counts->longest_line)
			counts->longest_line = counter->line_bytes;
	}
	counts->bytes += length;
}

void counts_add(struct counts *total, const struct counts *counts)
{
	total->lines += counts->lines;
	total->words += counts->words;
	total->bytes += counts->bytes;
	total->characters += counts->characters;
	if (counts->longest_line > total->longest_line)
		total->longest_line = counts->longest_line;
}
