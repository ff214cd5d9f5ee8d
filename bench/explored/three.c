/* SPDX-License-Identifier: MIT */
/* three.c - explore three.h within one process */
#include <fiber/test.h>

#include "bench/explored/three.h"

static void explore(void *arg)
{
	three_fibers(arg);
}

int main(int argc, char *argv[])
{
	static const struct fiber_test_case cases[] = {{.name = "three", .fn = explore}};

	return fiber_test_main(argc, argv, cases, 1);
}
