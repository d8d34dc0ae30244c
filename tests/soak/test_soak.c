/* SPDX-License-Identifier: Apache-2.0 */
/* Hard weather for the process part, for long; tests/guest has the same in short. */
#include "guest/storm.h"

START_TEST(proc_19_commands_at_once)
{
	storm_of_commands(200, 20);
}
END_TEST

START_TEST(proc_19_short_lived_children) /* CASE-17 */
{
	storm_of_children(10000);
}
END_TEST

START_TEST(proc_19_a_keeper_dies)
{
	storm_of_keeper_deaths(100);
}
END_TEST

START_TEST(prov_9_the_guest_dies) /* CASE-27 */
{
	storm_of_guest_deaths(100);
}
END_TEST

START_TEST(proc_8_the_host_dies) /* CASE-16, CASE-94 */
{
	storm_of_host_deaths(100);
}
END_TEST

START_TEST(out_7_a_flood_into_a_ring) /* CASE-33, OUT-3 */
{
	flood(5);
}
END_TEST

START_TEST(out_7_idle_processes)
{
	idlers(500);
}
END_TEST

START_TEST(proc_13_a_stubborn_tree) /* PROC-19 */
{
	for (int grace_ms = 50; grace_ms <= 500; grace_ms += 50)
		stubborn_tree(grace_ms);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		proc_19_commands_at_once, proc_19_short_lived_children, proc_19_a_keeper_dies,
		prov_9_the_guest_dies,	  proc_8_the_host_dies,		out_7_a_flood_into_a_ring,
		out_7_idle_processes,	  proc_13_a_stubborn_tree,
	};

	return run_storm("soak", tests, sizeof(tests) / sizeof(tests[0]), 600);
}
