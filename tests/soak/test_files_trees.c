/* SPDX-License-Identifier: Apache-2.0 */
/* Ignore rules on thousands of generated trees, and thousands of searches: FILE-12, FILE-13. */
#include "unit/search_trees.h"

START_TEST(file_12_as_git_answers)
{
	ignore_trees(1000, 5000);
}
END_TEST

START_TEST(file_13_as_ripgrep_finds)
{
	search_trees(1000, 10000);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {file_12_as_git_answers, file_13_as_ripgrep_finds};

	return run_tests("files_trees", tests, CV_LEN(tests), 1500);
}
