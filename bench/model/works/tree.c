/* SPDX-License-Identifier: MIT */
/*
 * tree.c - every fiber spawns ten and joins them; 100,000 leaves compute 1 us each
 *
 * The second tree is measured: the first makes the stacks.
 */
#include <fiber.h>

#include "bench/model/counts.h"
#include "bench/model/machine.h"
#include "bench/model/works/works.h"
#include "bench/work.h"

#define WAYS   10
#define LEAVES 100000
#define NS     1000 /* a leaf computes */

static void *grow(void *arg)
{
	const intptr_t leaves = (intptr_t)arg;
	struct fiber *fibers[WAYS];
	struct fiber_result result;
	intptr_t sum = 0;
	unsigned i;

	if (leaves == 1) {
		fib_model_compute(NS);
		return (void *)1;
	}
	for (i = 0; i < WAYS; i++)
		if (fiber_spawn(grow, (void *)(leaves / WAYS), &fibers[i]))
			work_die("fiber_spawn");
	for (i = 0; i < WAYS; i++) {
		fiber_join(fibers[i], &result, FIBER_FOREVER);
		sum += (intptr_t)result.value;
	}
	return (void *)sum;
}

static void grow_all(void)
{
	if ((intptr_t)grow((void *)LEAVES) != LEAVES)
		work_die("the sum over the tree");
}

void model_tree(unsigned carriers)
{
	(void)carriers;
	grow_all();
	fib_counts_begin();
	grow_all();
	fib_counts_end(LEAVES);
}
