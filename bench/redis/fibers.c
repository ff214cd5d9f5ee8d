/* SPDX-License-Identifier: MIT */
/* fibers.c - a fiber for each client: the calls of hiredis park it. The last argument: carriers */
#include <fiber.h>

#include "bench/redis/client.h"
#include "bench/work.h"

static int count_of_arguments;

void start(void *(*fn)(void *), void *arg, long count)
{
	struct fiber **const fibers = calloc((size_t)count, sizeof(struct fiber *));

	for (long i = 0; i < count; i++)
		if (!fibers || fiber_spawn(fn, arg, &fibers[i]) < 0)
			work_die("fiber_spawn");
	for (long i = 0; i < count; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	free(fibers);
}

static void *run(void *argv)
{
	return run_clients(count_of_arguments, argv) ? NULL : argv;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options,
		.long_run_ns = -1,
		.carriers = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1};
	struct fiber_result result = {NULL, 0};

	count_of_arguments = argc;
	return fiber_run(run, argv, &options, &result) < 0 || !result.value;
}
