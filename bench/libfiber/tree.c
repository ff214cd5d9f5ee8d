/* SPDX-License-Identifier: MIT */
/*
 * tree.c - spawns that spawn: every fiber starts ten, joins them and adds their results
 *
 * A leaf returns its number, so the sum proves that each ran once. Wall-clock time is measured,
 * because it is what counts with several carriers.
 */
#include "bench/libfiber/bench.h"

#define WAYS 10

struct node {
	long first, leaves;
};

static void *grow(void *arg)
{
	const struct node *node = arg;
	struct fiber *fibers[WAYS];
	struct node below[WAYS];
	intptr_t sum = 0;

	if (node->leaves == 1)
		return (void *)node->first;
	for (int i = 0; i < WAYS; i++) {
		below[i].leaves = node->leaves / WAYS;
		below[i].first = node->first + i * below[i].leaves;
		if (fiber_spawn(grow, &below[i], &fibers[i]))
			work_die("fiber_spawn");
	}
	for (int i = 0; i < WAYS; i++) {
		struct fiber_result result;

		fiber_join(fibers[i], &result, FIBER_FOREVER);
		sum += (intptr_t)result.value;
	}
	return (void *)sum;
}

static void *tree_main(void *arg)
{
	const struct node *root = arg;
	long n = root->leaves;
	double now = work_now(), cpu = work_cpu();

	if ((intptr_t)grow(arg) != n * (n - 1) / 2)
		work_die("the sum over the tree");
	work_report("ms", (work_now() - now) / 1e6);
	work_report("cpu", (work_cpu() - cpu) / 1e6);
	return NULL;
}

void bench_tree(long leaves, long carriers)
{
	struct node root = {0, leaves};

	bench_run(tree_main, &root, (unsigned)carriers);
}
