/* SPDX-License-Identifier: MIT */
/* isolated.c - a test each of whose schedules is a process */
#include <fiber/test.h>

#include "bench/explored/three.h"

static void test_three(void *arg)
{
	three_fibers(arg);
}

int main(int argc, char *argv[])
{
	static const struct fiber_test_options options = {.size = sizeof options,
							  .flags = FIBER_TEST_ISOLATE};
	static const struct fiber_test_case cases[] = {{"three", test_three, NULL, &options}};

	return fiber_test_main(argc, argv, cases, 1);
}
