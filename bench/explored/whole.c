/* SPDX-License-Identifier: MIT */
/* whole.c - a whole program for fibertest */
#include "bench/explored/three.h"

int main(void)
{
	return fiber_run(three_fibers, NULL, NULL, NULL) < 0;
}
