/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs, percentiles, and how they are shown. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Runs of each that don't count, unless there are fewer that do. */
#define WARM 10

struct summary {
	double p10;
	double p50;
	double p90;
	double p99;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int bench_failed(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	return -1;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct summary summarize(double *us, int n)
{
	qsort(us, (size_t)n, sizeof(*us), by_size);
	return (struct summary){.p10 = us[n / 10],
				.p50 = us[n / 2],
				.p90 = us[n * 9 / 10],
				.p99 = us[n * 99 / 100]};
}

static int run_block(const struct bench_side *side, void *user, double *us, int block)
{
	for (int i = 0; i < block; i++) {
		int64_t start;

		if (side->before && side->before(user) != 0)
			return bench_failed(side->name, "can't be prepared");
		start = now_ns();
		if (side->run(user) != 0)
			return bench_failed(side->name, "a run failed");
		us[i] = (double)(now_ns() - start) / 1000;
	}
	return 0;
}

static int measure(const struct bench_pair *p, int pairs, int block, double *ours, double *base)
{
	double warm;

	for (int i = 0; i < 2 * (pairs < WARM ? 1 : WARM); i++)
		if (run_block(i % 2 ? &p->ours : &p->base, p->user, &warm, 1) < 0)
			return -1;
	for (int i = 0; i < pairs; i++)
		for (int second = 0; second < 2; second++) {
			bool is_ours = (i + second) % 2;
			double *us = (is_ours ? ours : base) + (size_t)i * (size_t)block;

			if (run_block(is_ours ? &p->ours : &p->base, p->user, us, block) < 0)
				return -1;
		}
	return 0;
}

static double load(void)
{
	double one = 0;

	return getloadavg(&one, 1) == 1 ? one : 0;
}

/* Where neighbours decide when the other side runs, its median says nothing. */
static bool noisy(const struct summary *base)
{
	return base->p50 > 1.5 * base->p10 || base->p90 > 2 * base->p50;
}

static const char *verdict(double ratio, double bar, double aim, bool more)
{
	if (bar == 0)
		return "";
	if (more ? ratio < bar : ratio > bar)
		return "missed";
	return aim == 0 || (more ? ratio < aim : ratio > aim) ? "met" : "met, aim too";
}

static void print_side(const char *what, const char *side, const struct summary *s)
{
	printf("%-18s %-6s %10.1f %10.1f %10.1f %10.1f", what, side, s->p10, s->p50, s->p90,
	       s->p99);
}

static void print_limit(const char *sign, double limit)
{
	if (limit == 0)
		printf(" %7s", "");
	else
		printf(" %s %4.2f", sign, limit);
}

static FILE *json_open(void)
{
	const char *path = getenv("BENCH_JSON");

	return path && path[0] ? fopen(path, "ae") : NULL;
}

static void json_side(FILE *f, const char *key, const char *name, const struct summary *s)
{
	fprintf(f, ",\"%s\":{\"what\":\"%s\",\"p10\":%.2f,\"p50\":%.2f,\"p90\":%.2f,\"p99\":%.2f}",
		key, name, s->p10, s->p50, s->p90, s->p99);
}

static void json_pair(const struct bench_pair *p, int pairs, int block, const struct summary s[2],
		      const double ratio[2])
{
	FILE *f = json_open();

	if (!f)
		return;
	fprintf(f, "{\"name\":\"%s\",\"unit\":\"us\",\"pairs\":%d,\"block\":%d", p->name, pairs,
		block);
	json_side(f, "ours", p->ours.name, &s[0]);
	json_side(f, "base", p->base.name, &s[1]);
	fprintf(f, ",\"ratio\":{\"of\":\"%s\",\"p50\":%.3f,\"p10\":%.3f}",
		p->rate ? "rate" : "time", ratio[0], ratio[1]);
	if (p->bar != 0)
		fprintf(f, ",\"bar\":%.2f,\"by\":\"%s\",\"verdict\":\"%s\"", p->bar,
			noisy(&s[1]) ? "p10" : "p50",
			verdict(ratio[noisy(&s[1])], p->bar, p->aim, p->rate));
	if (p->aim != 0)
		fprintf(f, ",\"aim\":%.2f", p->aim);
	fprintf(f, ",\"load\":%.2f}\n", load());
	fclose(f);
}

static void show(const struct bench_pair *p, int pairs, int block, const struct summary s[2])
{
	const char *sign = p->rate ? ">=" : "<=";
	double ratio[2] = {s[0].p50 / s[1].p50, s[0].p10 / s[1].p10};

	for (int i = 0; i < 2 && p->rate; i++)
		ratio[i] = 1 / ratio[i];
	print_side(p->name, "cove", &s[0]);
	printf(" %7.2f %7.2f", ratio[0], ratio[1]);
	print_limit(sign, p->bar);
	print_limit(sign, p->aim);
	printf(" %6.2f  %s%s\n", load(), verdict(ratio[noisy(&s[1])], p->bar, p->aim, p->rate),
	       p->bar != 0 && noisy(&s[1]) ? " (p10)" : "");
	print_side("", "base", &s[1]);
	printf("  %s\n", p->base.name);
	fflush(stdout);
	json_pair(p, pairs, block, s, ratio);
}

int bench_pairs(const struct bench_pair *p)
{
	const char *wanted = getenv("BENCH_PAIRS");
	int pairs = wanted ? atoi(wanted) : p->pairs ? p->pairs : 100;
	int block = p->block ? p->block : 1;
	size_t n;
	double *us;
	int rc;

	pairs = p->most && pairs > p->most ? p->most : pairs;
	n = (size_t)pairs * (size_t)block;
	us = pairs > 0 ? calloc(2 * n, sizeof(*us)) : NULL;
	rc = us ? measure(p, pairs, block, us, us + n) : -1;

	if (rc == 0) {
		struct summary s[2] = {summarize(us, (int)n), summarize(us + n, (int)n)};

		show(p, pairs, block, s);
	} else {
		bench_failed(p->name, "was not measured");
	}
	free(us);
	return rc;
}

void bench_value(const char *name, double value, const char *unit, double bar)
{
	FILE *f = json_open();

	printf("%-18s %-6s %10s %10.1f %s", name, "", "", value, unit);
	if (bar != 0)
		printf(" (at most %.1f: %s)", bar, verdict(value, bar, 0, false));
	printf("\n");
	fflush(stdout);
	if (!f)
		return;
	fprintf(f, "{\"name\":\"%s\",\"unit\":\"%s\",\"value\":%.2f", name, unit, value);
	if (bar != 0)
		fprintf(f, ",\"bar\":%.2f,\"verdict\":\"%s\"", bar, verdict(value, bar, 0, false));
	fprintf(f, ",\"load\":%.2f}\n", load());
	fclose(f);
}

int64_t bench_copy(int from, int to)
{
	static char buf[128 << 10];
	int64_t total = 0;
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0 && write(to, buf, (size_t)n) != n)
			return -1;
		total += n > 0 ? n : 0;
	}
	return total;
}
