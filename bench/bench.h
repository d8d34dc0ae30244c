/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures two ways of doing the same, side by side.
 *
 * A pair is one block of each, back to back in one process, and who begins changes with every
 * pair, so that what else happens on the machine meets both. What counts is the ratio of the
 * medians, or of the 10th percentiles where the other side's own times are scattered, never a time.
 * bench_pairs() prints two lines of a table and appends a line of JSON to the file that
 * $BENCH_JSON names.
 */
#ifndef COVE_BENCH_H
#define COVE_BENCH_H

#include <cove/cove.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One way. 0: done; else the measurement ends. */
struct bench_side {
	const char *name;
	int (*run)(void *user);
	int (*before)(void *user); /* what each run needs, not timed; NULL: nothing */
};

struct bench_pair {
	const char *name; /* TOPIC.WHAT */
	struct bench_side ours;
	struct bench_side base;
	void *user; /* given to both */
	int pairs;  /* default 100, or what $BENCH_PAIRS says */
	int most;   /* never more of them, whatever that says; 0 no limit */
	int block;  /* runs in a row, each with its own time; default 1 */
	bool rate;  /* the ratio is that of the rates: more is better */
	double bar; /* the ratio should be no worse; 0 none */
	double aim; /* and may become as good as this; 0 none */
};

/* Measures, prints, records. 0, or -1 where a run failed. */
int bench_pairs(const struct bench_pair *pair);

/* Prints and records one number; `bar` is its maximum, 0 none. */
void bench_value(const char *name, double value, const char *unit, double bar);

/* Says on stderr what failed; gives -1. */
int bench_failed(const char *what, const char *why);

/* A file beside or below the build directory of this program, such as "cove"; static storage. */
const char *bench_built(const char *name);

/* Opens the environment of the current directory, and sees to it that it answers. */
struct cove_env *bench_env_here(void);
void bench_env_close(struct cove_env *env);

/* The last child that is a cove-guest; -1: there is none. */
int bench_guest(void);

/* A field of its /proc/PID/status in KiB, such as "VmRSS:"; -1: there is none. */
long bench_guest_kib(const char *field);

/* A program to its end; stdin is the null device, and so is an output of -1. Its exit code. */
int bench_spawn(const char *const *argv, int out_fd, int err_fd);

/* Starts a program, stdin the null device. Its number, or -1. */
pid_t bench_start(const char *const *argv, int out_fd, int err_fd);

/* Waits for it; its exit code, or -1. */
int bench_wait(pid_t pid);

/* A program to its end, its output read through two pipes and forgotten; the bytes, or -1. */
int64_t bench_spawn_read(const char *const *argv);

/* Reads one descriptor to its end in pieces of 128 KiB and writes them to another; the bytes, or -1. */
int64_t bench_copy(int from, int to);

#endif
