/* SPDX-License-Identifier: Apache-2.0 */
/* Time: one clock for deadlines and durations (it counts suspend), one for calendars. */
#ifndef CV_BASE_CLOCK_H
#define CV_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* Longest time that an option can ask for, ms. */
#define CV_MS_MAX INT64_C(2147483647)

static inline int64_t cv_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds since boot, suspend included. */
static inline int64_t cv_now_ns(void)
{
	return cv_clock_ns(CLOCK_BOOTTIME);
}

static inline int64_t cv_now_ms(void)
{
	return cv_now_ns() / 1000000;
}

/* Writes the present time as RFC 3339 in UTC with milliseconds: 24 characters. */
static inline void cv_timestamp(char *dst, size_t size)
{
	struct timespec t;
	struct tm tm;
	char secs[32];

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	strftime(secs, sizeof(secs), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(dst, size, "%s.%03dZ", secs, (int)(t.tv_nsec / 1000000));
}

#endif
