/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a job: a line that changes on a terminal, a few plain lines elsewhere. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_MS 100
#define PLAIN_MS 1000

void progress_init(struct progress *p)
{
	const char *term = getenv("TERM");

	*p = (struct progress){.tty = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
}

static void format_counts(char *dst, size_t size, const struct cove_job_progress *now)
{
	char total[24] = "";

	if (now->total >= 0)
		snprintf(total, sizeof(total), "/%lld", (long long)now->total);
	snprintf(dst, size, "%lld%s done, %lld failed", (long long)now->done, total,
		 (long long)now->failed);
}

static void format_rate(char *dst, size_t size, const struct cove_job_progress *now)
{
	double rate = now->elapsed_ms > 0 ? 1000.0 * (double)now->done / (double)now->elapsed_ms :
					    0;
	int64_t left_s;

	*dst = '\0';
	if (rate <= 0)
		return;
	if (now->total < 0) {
		snprintf(dst, size, ", %.1f/s", rate);
		return;
	}
	left_s = (int64_t)((double)(now->total - now->done) / rate + 0.5);
	snprintf(dst, size, ", %.1f/s, %lld:%02lld:%02lld left", rate, (long long)(left_s / 3600),
		 (long long)(left_s / 60 % 60), (long long)(left_s % 60));
}

static void draw(struct progress *p, const struct cove_job_progress *now)
{
	char counts[96];
	char rate[64];

	format_counts(counts, sizeof(counts), now);
	format_rate(rate, sizeof(rate), now);
	fprintf(stderr, "\r\033[K%s%s", counts, rate);
	fflush(stderr);
	p->drawn = true;
}

static void print_line(const struct cove_job_progress *now)
{
	char counts[96];

	format_counts(counts, sizeof(counts), now);
	if (now->run_id)
		fprintf(stderr, "cove: %s; run %s: %s\n", counts, now->run_id, now->outcome);
	else
		fprintf(stderr, "cove: %s\n", counts);
}

void progress_show(void *user, const struct cove_job_progress *now)
{
	struct progress *p = user;
	int64_t since_ms = now->elapsed_ms - p->told_ms;
	bool last = now->done == now->total;
	bool failed = now->outcome && strcmp(now->outcome, "failure") == 0;

	if (!last && since_ms < (p->tty ? REDRAW_MS : PLAIN_MS) && (p->tty || !failed))
		return;
	p->told_ms = now->elapsed_ms;
	if (p->tty)
		draw(p, now);
	else
		print_line(now);
}

void progress_done(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
