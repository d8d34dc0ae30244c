/* The command: reads its options and its files, and prints one line for each. */
#include "count.h"
#include "field.h"
#include "freq.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TALLY_VERSION
#define TALLY_VERSION "unknown"
#endif

static const char usage[] = "usage: tally [-lwcmL] [FILE...]\n"
			    "       tally -f N [-d CHAR] [-n COUNT] [FILE...]\n"
			    "       tally -h | -V\n"
			    "\n"
			    "  -l lines  -w words  -c bytes  -m characters  -L longest line\n"
			    "  -f N      how often each value of field N occurs\n"
			    "  -d CHAR   fields end at CHAR, not at blanks\n"
			    "  -n COUNT  only the COUNT most frequent values\n";

struct options {
	bool lines, words, bytes, characters, longest;
	size_t field; /* 0: count, do not look at fields */
	char delimiter;
	size_t most;
};

/* What is done with one open file, whose name may be NULL; -1 after an error that errno describes. */
typedef int (*file_fn)(const struct options *options, FILE *file, const char *name, void *state);

static void print_counts(const struct options *options, const struct counts *counts,
			 const char *name)
{
	if (options->lines)
		printf("%8" PRIu64, counts->lines);
	if (options->words)
		printf("%8" PRIu64, counts->words);
	if (options->characters)
		printf("%8" PRIu64, counts->characters);
	if (options->bytes)
		printf("%8" PRIu64, counts->bytes);
	if (options->longest)
		printf("%8" PRIu64, counts->longest_line);
	printf("%s%s\n", name ? " " : "", name ? name : "");
}

static int count_file(const struct options *options, FILE *file, const char *name, void *state)
{
	struct counts *total = state;
	struct counter counter = COUNTER_INIT;
	char buffer[65536];
	size_t got;

	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		counter_feed(&counter, buffer, got);
	if (ferror(file))
		return -1;
	print_counts(options, &counter.counts, name);
	counts_add(total, &counter.counts);
	return 0;
}

static int count_values(const struct options *options, FILE *file, const char *name, void *state)
{
	struct freq *freq = state;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int r = 0;

	(void)name; /* TODO: say in which file a value was seen first */
	while (r == 0 && (length = getline(&line, &capacity, file)) >= 0) {
		struct field field;
		if (length > 0 && line[length - 1] == '\n')
			length--;
		if (field_at(line, (size_t)length, options->delimiter, options->field, &field))
			r = freq_add(freq, field.text, field.length);
	}
	free(line);
	return ferror(file) ? -1 : r;
}

/* A path of NULL is standard input. */
static int for_one_file(const struct options *options, const char *path, file_fn work, void *state)
{
	FILE *file = path ? fopen(path, "r") : stdin;
	int r = file ? work(options, file, path, state) : -1;

	if (r < 0)
		fprintf(stderr, "tally: '%s': %s\n", path ? path : "-", strerror(errno));
	if (path && file)
		fclose(file);
	return r;
}

/* Work through all files, also after one that can't be read; standard input where there is none. */
static int for_each_file(const struct options *options, char **paths, file_fn work, void *state)
{
	int r = 0;

	if (*paths == NULL)
		return for_one_file(options, NULL, work, state);
	for (; *paths; paths++)
		if (for_one_file(options, *paths, work, state) < 0)
			r = -1;
	return r;
}

static int run_counts(const struct options *options, char **paths)
{
	struct counts total = { 0 };
	int r = for_each_file(options, paths, count_file, &total);

	if (paths[0] && paths[1])
		print_counts(options, &total, "total");
	return r;
}

static int run_values(const struct options *options, char **paths)
{
  struct freq freq = FREQ_INIT;
  int r = for_each_file(options, paths, count_values, &freq);
  const struct freq_entry **sorted = freq_sorted(&freq);

  for (size_t i = 0; sorted && i < freq.used && i < options->most; i++)
    printf("%8" PRIu64 " %s\n", sorted[i]->count, sorted[i]->value);
  if (sorted == NULL) {
    perror("tally");
    r = -1;
  }
  free(sorted);
  freq_done(&freq);
  return r;
}

/* A whole number from 1; exits with a message otherwise. */
static size_t number_or_exit(char option, const char *text)
{
	char *end;
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);

	if (errno != 0 || *end != '\0' || *text == '-' || number == 0) {
		fprintf(stderr, "tally: -%c: '%s' is not a number from 1\n", option, text);
		exit(2);
	}
	return number;
}

static char delimiter_or_exit(const char *text)
{
	/* TODO: accept "\t" spelled out */
	if (strlen(text) != 1) {
		fprintf(stderr, "tally: -d: '%s' is not a single character\n", text);
		exit(2);
	}
	return text[0];
}

static void show_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(0);
}

static struct options options_or_exit(int argc, char **argv)
{
	struct options options = { .delimiter = FIELD_BLANKS, .most = SIZE_MAX };
	int option;

	while ((option = getopt(argc, argv, "lwcmLf:d:n:hV")) != -1) {
		switch (option) {
		case 'l': options.lines = true; break;
		case 'w': options.words = true; break;
		case 'c': options.bytes = true; break;
		case 'm': options.characters = true; break;
		case 'L': options.longest = true; break;
		case 'f': options.field = number_or_exit('f', optarg); break;
		case 'd': options.delimiter = delimiter_or_exit(optarg); break;
		case 'n': options.most = number_or_exit('n', optarg); break;
		case 'h': show_and_exit(usage); break;
		case 'V': show_and_exit("tally " TALLY_VERSION "\n"); break;
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (!options.lines && !options.words && !options.bytes && !options.characters && !options.longest)
		options.lines = options.words = options.bytes = true;
	return options;
}

int main(int argc, char **argv)
{
	struct options options = options_or_exit(argc, argv);
	char **paths = argv + optind;
	int r = options.field ? run_values(&options, paths) : run_counts(&options, paths);

	if (fflush(stdout) != 0) {
		perror("tally: standard output");
		return 1;
	}
	return r < 0 ? 1 : 0;
}
