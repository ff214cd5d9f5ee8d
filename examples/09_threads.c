/* SPDX-License-Identifier: MIT */
/*
 * 09_threads.c - a program with its own threads and a runtime
 *
 * A plain thread starts the runtime, gives it work and finishes it. Locks, channels and
 * fiber_join() work for both: in a wait a fiber parks and a thread blocks.
 */
#include <fiber.h>
#include <stdio.h>

static struct fiber_chan *orders;

static void *cook(void *arg)
{
	long *cooked = arg, n;

	while (fiber_chan_recv(orders, &n, FIBER_FOREVER) == 0)
		*cooked += n;
	return cooked;
}

int main(void)
{
	struct fiber_runtime_options options = {
		.size = sizeof(options), .name = "kitchen", .carriers = 2};
	struct fiber_attr attr = {.size = sizeof(attr), .name = "cook"};
	struct fiber_result result;
	struct fiber_runtime *rt;
	struct fiber *fiber;
	long cooked = 0;

	if (fiber_chan_new(sizeof(long), 4, &orders) < 0 || fiber_runtime_start(&options, &rt) < 0)
		return 1;
	if (fiber_runtime_spawn(rt, &attr, cook, &cooked, &fiber) < 0)
		return 1;
	for (long n = 1; n <= 100; n++)
		fiber_chan_send(orders, &n,
				FIBER_FOREVER); /* this thread blocks while it is full */
	fiber_chan_close(orders);
	fiber_join(fiber, &result, FIBER_FOREVER);
	printf("cooked: %ld\n", *(long *)result.value);
	printf("all fibers have ended: %s\n", fiber_runtime_done(rt) ? "yes" : "no");
	if (fiber_runtime_finish(rt, FIBER_FOREVER) < 0)
		return 1;
	fiber_chan_unref(orders);
	return 0;
}
