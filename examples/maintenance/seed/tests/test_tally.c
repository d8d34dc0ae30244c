/* Tests of the library.  Each check says where it stands, what it looked at and what it wanted. */
#include "count.h"
#include "field.h"
#include "freq.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void check(const char *file, int line, const char *what, uint64_t expected, uint64_t got)
{
	if (expected == got) {
		passed++;
		return;
	}
	failed++;
	fprintf(stderr, "%s:%d: %s: expected %" PRIu64 ", got %" PRIu64 "\n", file, line, what,
		expected, got);
}

#define CHECK(what, expected, got) check(__FILE__, __LINE__, what, expected, got)

static struct counts count_in_pieces(const char *text, size_t piece)
{
	struct counter counter = COUNTER_INIT;
	size_t left = strlen(text);

	while (left > 0) {
		size_t now = left < piece ? left : piece;
		counter_feed(&counter, text, now);
		text += now;
		left -= now;
	}
	return counter.counts;
}

static void test_counts(void)
{
	static const char text[] = "one two\n  three\tna\xc3\xafve\n\nend";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct counts counts = count_in_pieces(text, piece);
		CHECK("lines", 3, counts.lines);
		CHECK("words", 5, counts.words);
		CHECK("bytes", sizeof(text) - 1, counts.bytes);
		CHECK("characters", sizeof(text) - 2, counts.characters);
		CHECK("longest line", 14, counts.longest_line);
	}
	CHECK("bytes of nothing", 0, count_in_pieces("", 1).bytes);
}

static void test_totals(void)
{
	struct counts total = count_in_pieces("a bb\n", 8);
	struct counts more = count_in_pieces("ccc\n", 8);

	counts_add(&total, &more);
	CHECK("lines in total", 2, total.lines);
	CHECK("words in total", 3, total.words);
	CHECK("longest line in total", 4, total.longest_line);
}

static void test_field_counts(void)
{
	static const struct {
		const char *what, *line;
		char delimiter;
		size_t fields;
	} cases[] = {
		{ "fields of an empty line", "", ',', 0 },
		{ "fields of 'a'", "a", ',', 1 },
		{ "fields of 'a,b,c'", "a,b,c", ',', 3 },
		{ "fields of ',a' (the first is empty)", ",a", ',', 2 },
		{ "fields of 'a,,b' (one in the middle is empty)", "a,,b", ',', 3 },
		{ "fields of 'a,b,' (the last is empty)", "a,b,", ',', 3 },
		{ "blank-separated fields of '  a  b '", "  a  b ", FIELD_BLANKS, 2 },
		{ "blank-separated fields of blanks", "   ", FIELD_BLANKS, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		CHECK(cases[i].what, cases[i].fields,
		      field_count(cases[i].line, strlen(cases[i].line), cases[i].delimiter));
}

static void test_field_at(void)
{
	struct field field = { 0 };

	CHECK("field 2 exists", 1, field_at("a,bcd,e", 7, ',', 2, &field));
	CHECK("field 2 is 'bcd'", 0, field.length != 3 || memcmp(field.text, "bcd", 3) != 0);
	CHECK("field 4 of 3", 0, field_at("a,bcd,e", 7, ',', 4, &field));
	CHECK("field 0", 0, field_at("a,bcd,e", 7, ',', 0, &field));
}

static void test_freq(void)
{
	struct freq freq = FREQ_INIT;

	CHECK("count in an empty table", 0, freq_get(&freq, "a", 1));
	for (int i = 0; i < 500; i++) {
		char value[16];
		int length = snprintf(value, sizeof(value), "%d", i % 200);
		CHECK("freq_add", 0, (uint64_t)freq_add(&freq, value, (size_t)length));
	}
	CHECK("distinct values", 200, freq.used);
	CHECK("count of '7'", 3, freq_get(&freq, "7", 1));
	CHECK("count of '150'", 2, freq_get(&freq, "150", 3));

	const struct freq_entry **sorted = freq_sorted(&freq);
	CHECK("the first is '0'", 0, (uint64_t)abs(strcmp(sorted[0]->value, "0")));
	CHECK("the last is '199'", 0, (uint64_t)abs(strcmp(sorted[199]->value, "199")));
	free(sorted);
	freq_done(&freq);
}

int main(void)
{
	test_counts();
	test_totals();
	test_field_counts();
	test_field_at();
	test_freq();
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
