/* SPDX-License-Identifier: MIT */
/* programs.c - what the programs share */
#include "programs.h"

int data, other;
struct objects o;

void run_both(fiber_fn *a, fiber_fn *b)
{
	struct fiber *x, *y;

	fiber_spawn(a, NULL, &x);
	fiber_spawn(b, NULL, &y);
	fiber_join(x, NULL, FIBER_FOREVER);
	fiber_join(y, NULL, FIBER_FOREVER);
}
