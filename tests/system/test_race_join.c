/* SPDX-License-Identifier: MIT */
/*
 * test_race_join.c - a plain thread joins or detaches fibers that exit at this moment on the only carrier
 *
 * The carrier adds FIB_LIFE_DONE without a locked instruction until the thread ends that, which happens
 * once in a process: so each round is a process.
 */
#include "carriers.h"
#include "tests/harness/child.h"
#include "tests/harness/fibers.h"

#include <pthread.h>

#define FIBERS 64u
#define ROUNDS 100u

static struct fiber *fibers[FIBERS];
static _Atomic unsigned made, ran;

static void *ends(void *arg)
{
	ran++;
	return arg;
}

/* Take half of the fibers, as soon as they exist: wait for one, detach the next. */
static void *takes(void *arg)
{
	const unsigned first = *(unsigned *)arg;
	struct fiber_result r;

	for (unsigned i = 0; i < FIBERS; i += 2) {
		while (made <= i)
			;
		if (i < first)
			continue;
		if (i % 4 == 0) {
			if (fiber_join(fibers[i], &r, FIBER_FOREVER) < 0 || r.value != &fibers[i])
				return "a result was lost";
		} else if (fiber_detach(fibers[i]) < 0) {
			return "a fiber was not detached";
		}
	}
	return NULL;
}

/* The other half, and those that the thread left, are joined here. */
static void *spawns(void *arg)
{
	const unsigned first = *(unsigned *)arg;
	struct fiber_result r;

	for (unsigned i = 0; i < FIBERS; i++) {
		if (fiber_spawn(ends, &fibers[i], &fibers[i]) < 0)
			return "spawn";
		made = i + 1;
		if (i % 3 == 0)
			fiber_yield();
	}
	for (unsigned i = 0; i < FIBERS; i++)
		if ((i % 2 || i < first) &&
		    (fiber_join(fibers[i], &r, FIBER_FOREVER) < 0 || r.value != &fibers[i]))
			return "join";
	return NULL;
}

static int round_of(void *arg)
{
	const struct fiber_runtime_options options = {.size = sizeof(options), .carriers = 1};
	struct fiber_runtime *rt;
	struct fiber *main;
	struct fiber_result r;
	pthread_t thread;
	void *wrong;

	if (fiber_runtime_start(&options, &rt) < 0 || pthread_create(&thread, NULL, takes, arg))
		return 1;
	if (fiber_runtime_spawn(rt, NULL, spawns, arg, &main) < 0 ||
	    fiber_join(main, &r, FIBER_FOREVER) < 0 || r.value)
		return 2;
	if (pthread_join(thread, &wrong) || wrong)
		return 3;
	/* It finishes only if each fiber has exited and none is kept. */
	if (fiber_runtime_finish(rt, fiber_after(INT64_C(20000000000))) < 0)
		return 4;
	return ran == FIBERS ? 0 : 5;
}

static void test_race_join_and_detach_beside_an_exit_without_a_lock(void **state)
{
	(void)state;
	/* A child of TSan may not start threads, and has no sole user. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct harness_child child;
		unsigned first = i % FIBERS;

		harness_child(round_of, &first, 60, &child);
		if (child.code)
			print_error("# round %u: code %d, signal %d: %s\n", i, child.code,
				    child.signal, child.text);
		assert_int_equal(child.signal, 0);
		assert_int_equal(child.code, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_race_join_and_detach_beside_an_exit_without_a_lock),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
