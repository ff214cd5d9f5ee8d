/* SPDX-License-Identifier: MIT */
/*
 * 22_test.c - a first test of fibers: is a counter right in every order?
 *
 * Without arguments the counter has a lock. "unlocked" tests the one without.
 */
#include <fiber.h>
#include <fiber/test.h>

struct counter {
	struct fiber_mutex lock;
	int n;
};

static void *add_locked(void *arg)
{
	struct counter *c = arg;

	fiber_mutex_lock(&c->lock, FIBER_FOREVER);
	c->n++;
	fiber_mutex_unlock(&c->lock);
	return NULL;
}

/* Another fiber may run while this one yields. */
static void *add_unlocked(void *arg)
{
	struct counter *c = arg;
	const int n = c->n;

	fiber_yield();
	c->n = n + 1;
	return NULL;
}

static void count_to_two(fiber_fn *add)
{
	struct counter counter = {.n = 0};
	struct fiber *a, *b;

	fiber_spawn(add, &counter, &a);
	fiber_spawn(add, &counter, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	fiber_test_assert(counter.n == 2);
}

static void test_locked(void *arg)
{
	(void)arg;
	count_to_two(add_locked);
}

static void test_unlocked(void *arg)
{
	(void)arg;
	count_to_two(add_unlocked);
}

int main(int argc, char *argv[])
{
	static const struct fiber_test_options options = {.size = sizeof options,
							  .strategy = "exhaustive"};
	static const struct fiber_test_case cases[] = {
		{"locked", test_locked, NULL, &options},
		{"unlocked", test_unlocked, NULL, &options},
	};

	return fiber_test_main(argc, argv, cases, argc < 2 ? 1 : 2);
}
