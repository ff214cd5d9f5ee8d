/* SPDX-License-Identifier: MIT */
/* seen.c - explore three fibers with 15 choices and about 40 accesses to shared memory, which are seen */
#include <fiber.h>
#include <fiber/test.h>

#define CELLS 3

static struct {
	struct fiber_mutex mutex;
	int cell[CELLS];
} shared;

/* 2 * 2 * CELLS accesses */
static void *count_twice(void *arg)
{
	for (int i = 0; i < 2; i++) {
		fiber_mutex_lock(&shared.mutex, FIBER_FOREVER);
		for (int k = 0; k < CELLS; k++)
			shared.cell[k]++;
		fiber_mutex_unlock(&shared.mutex);
	}
	return arg;
}

static void explore(void *arg)
{
	struct fiber *f[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		fiber_spawn(count_twice, NULL, &f[i]);
	for (int i = 0; i < 3; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	for (int k = 0; k < CELLS; k++)
		fiber_test_assert(shared.cell[k] == 6);
}

static const struct fiber_test_memory memory = {&shared, sizeof shared};
static const struct fiber_test_options options = {
	.size = sizeof options, .memory = &memory, .nmemory = 1};

int main(int argc, char *argv[])
{
	static const struct fiber_test_case cases[] = {
		{.name = "seen", .fn = explore, .options = &options}};

	return fiber_test_main(argc, argv, cases, 1);
}
