/* SPDX-License-Identifier: MIT */
/*
 * 27_test_memory.c - find a data race
 *
 * Production spreads fibers over several threads, so counter++ of two fibers can lose one. This
 * program is compiled with -fsanitize=thread and linked, without it, with libfiber-test-memory:
 *
 *	cc -g -fsanitize=thread -c 27_test_memory.c $(pkg-config --cflags libfiber-test-memory)
 *	cc 27_test_memory.o $(pkg-config --libs libfiber-test-memory)
 */
#include <fiber.h>
#include <fiber/test.h>

static struct {
	struct fiber_mutex lock;
	int hits;
} counter;

static void *count(void *locks)
{
	if (locks)
		fiber_mutex_lock(&counter.lock, FIBER_FOREVER);
	counter.hits++;
	if (locks)
		fiber_mutex_unlock(&counter.lock);
	return NULL;
}

static void two_hits(void *locks)
{
	struct fiber *a, *b;

	counter.hits = 0;
	fiber_spawn(count, locks, &a);
	fiber_spawn(count, locks, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	fiber_test_assert(counter.hits == 2);
}

/* Without the detection of races the lost hit is found by the assertion. */
static const struct fiber_test_options no_races = {
	.size = sizeof no_races,
	.flags = FIBER_TEST_NO_RACES,
};

int main(int argc, char *argv[])
{
	static const struct fiber_test_case cases[] = {
		{"locked", two_hits, &counter.lock, NULL},
		{"unlocked", two_hits, NULL, NULL},
		{"ignored", two_hits, NULL, &no_races},
	};

	return fiber_test_main(argc, argv, cases, argc < 2 ? 1 : 3);
}
