/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as data: a verb is a row, its options are rows; parsing, errors and --help come
 * from them.
 *
 * An option's value goes to `offset` of the verb's own struct of arguments, zeroed before: zero
 * means "not given".
 */
#ifndef CV_CLI_OPTS_H
#define CV_CLI_OPTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
	OPT_FLAG,   /* bool */
	OPT_TEXT,   /* const char *, not empty */
	OPT_LIST,   /* const char **: each value given, NULL at the end; NULL when there is none */
	OPT_NUMBER, /* int64_t, min..max */
	OPT_DURATION,	      /* int64_t, ms */
	OPT_DURATION_OR_NONE, /* the same; 0 with a unit is COVE_ZERO */
	OPT_CHOICE,	      /* int: names[value - 1] */
	OPT_BITS,	      /* int: of a list with commas, bit i stands for names[i] */
	OPT_SHARD,	      /* int64_t[2]: I/N */
};

struct opt {
	const char *name; /* NULL ends a table */
	char letter;	  /* 0: none */
	enum opt_kind kind;
	const char *value; /* what --help calls it */
	const char *help;
	const char *const *names; /* NULL at the end */
	int64_t min;
	int64_t max;
	size_t offset;
};

/* What stands on a command line besides options. */
struct words {
	const char *const *plain; /* before --, in order */
	size_t count;
	const char *const
		*command; /* what stands behind --, NULL at the end; NULL where there is no -- */
};

struct verb {
	const char *name;
	const char *summary; /* one line, no full stop */
	const char *usage;   /* behind "cove NAME " */
	const char *text;    /* more lines for --help, or NULL */
	const char *example;
	size_t max_plain;
	size_t size;		   /* of its struct of arguments */
	const struct opt *options; /* its own */
	const struct opt *shared;  /* for the struct that its own begins with, or NULL */
	int (*run)(const void *args, const struct words *words);
	/*
	 * NULL at the end: the word behind the name chooses one of these, each called "NAME WORD", and
	 * nothing else applies but summary, text and example. NULL: a verb by itself.
	 */
	const struct verb *const *subs;
};

/* The one of subs that a word means; NULL: none. */
const struct verb *opts_find_sub(const struct verb *verb, const char *word);

/*
 * Finds what was wrong, or fills args and words. 1: --help was asked for. plain holds argc
 * pointers.
 */
int opts_parse(const struct verb *verb, int argc, char **argv, void *args, const char **plain,
	       struct words *ret, struct cove_error *err);

/* Frees what opts_parse() allocated for lists. */
void opts_done(const struct verb *verb, void *args);

/* Prints --help of a verb. */
void opts_help(const struct verb *verb);

#endif
