/* SPDX-License-Identifier: MIT */
/* yield.c - two fibers yield to each other ROUNDS times on one carrier */
#include <stdlib.h>

#include <fiber.h>

static long rounds;

static void *yield(void *arg)
{
	long i;

	for (i = 0; i < rounds; i++)
		fiber_yield();
	return arg;
}

static void *both(void *arg)
{
	struct fiber *other;

	if (fiber_spawn(yield, NULL, &other) < 0)
		abort();
	yield(NULL);
	fiber_join(other, NULL, FIBER_FOREVER);
	return arg;
}

int main(int argc, char **argv)
{
	/*
	 * Without the watchdog, which interrupts a carrier that an emulator makes slow: qemu 7.2
	 * gives a thread of i386 the thread-locals of another one after a signal, and the program
	 * hangs.
	 */
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .long_run_ns = -1};

	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	return fiber_run(both, NULL, &options, NULL) < 0;
}
