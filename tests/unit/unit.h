/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unit tests of base, ops, wire and output share: seeded random input, and a runner whose
 * tests leak nothing.
 */
#ifndef UNIT_H
#define UNIT_H

#include "base/def.h"

#include <check.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#define UNUSED __attribute__((unused))

static uint64_t rng_state UNUSED = 1;

static UNUSED void rng_seed(uint64_t seed)
{
	rng_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

/* Xorshift: 0 ≤ result < n. */
static UNUSED uint64_t rng(uint64_t n)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state % n;
}

static UNUSED void rng_fill(void *dst, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)dst)[i] = (unsigned char)rng(256);
}

static UNUSED int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int unit_fds;

static void unit_setup(void)
{
	rng_seed(1);
	unit_fds = count_fds();
}

/* No descriptor and no child may be left by a test. */
static void unit_teardown(void)
{
	siginfo_t info;

	ck_assert_int_eq(count_fds(), unit_fds);
	ck_assert_msg(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
			      errno == ECHILD,
		      "a child is left");
}

static int unit_run(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, unit_setup, unit_teardown);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#define UNIT_MAIN(name, ...)                                                                       \
	int main(void)                                                                             \
	{                                                                                          \
		const TTest *const tests[] = {__VA_ARGS__};                                        \
                                                                                                   \
		return unit_run(name, tests, CV_LEN(tests));                                       \
	}

#endif
