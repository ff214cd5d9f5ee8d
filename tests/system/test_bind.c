/* SPDX-License-Identifier: MIT */
/* test_bind.c - after fiber_runtime_bind() fibers stay on one carrier */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>

#include "core/record.h"

#define FIBERS 64
#define ROUNDS 50

/* noinline: pthread_self() may be taken for constant within a function. */
static __attribute__((noinline)) pthread_t thread_now(void)
{
	__asm__ volatile("");
	return pthread_self();
}

struct stayer {
	pthread_t first;
	unsigned moves;
};

static void *stays(void *arg)
{
	struct stayer *s = arg;
	int i;

	s->first = thread_now();
	for (i = 0; i < ROUNDS; i++) {
		if (i % 2)
			fiber_yield();
		else
			fiber_sleep(MS / 10);
		s->moves += !pthread_equal(thread_now(), s->first);
	}
	return NULL;
}

struct crowd {
	struct stayer stayers[FIBERS];
	unsigned threads, flags;
};

static bool is_first_on_its_thread(const struct crowd *c, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (pthread_equal(c->stayers[i].first, c->stayers[n].first))
			return false;
	return true;
}

static void *spawns(void *arg)
{
	struct crowd *c = arg;
	const struct fiber_attr attr = {.size = sizeof attr, .flags = c->flags};
	struct fiber *f[FIBERS];
	int i;

	for (i = 0; i < FIBERS; i++)
		if (i % 2 ? fiber_spawn(stays, &c->stayers[i], &f[i])
			  : fiber_spawn_attr(&attr, stays, &c->stayers[i], &f[i]))
			abort();
	for (i = 0; i < FIBERS; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	for (i = 0; i < FIBERS; i++)
		c->threads += is_first_on_its_thread(c, i);
	return NULL;
}

static void test_bound_runtime_keeps_each_fiber_on_its_thread_and_spreads_them(void **state)
{
	struct crowd c = {.flags = 0};
	int i;

	(void)state;
	carriers_run(spawns, &c);
	for (i = 0; i < FIBERS; i++)
		assert_int_equal(c.stayers[i].moves, 0);
	assert_int_equal(c.threads, carriers());
}

static void *is_bound(void *arg)
{
	return fiber_self()->flags & FIBER_BOUND ? arg : NULL;
}

static void *asks_each_kind(void *arg)
{
	static const unsigned flags[] = {FIBER_MIGRATES, FIBER_BOUND, 0};
	unsigned *bound = arg;

	for (size_t i = 0; i < COUNT(flags); i++) {
		const struct fiber_attr attr = {.size = sizeof attr, .flags = flags[i]};
		struct fiber_result result = {NULL, 0};
		struct fiber *f;

		if (fiber_spawn_attr(&attr, is_bound, arg, &f) < 0)
			abort();
		fiber_join(f, &result, FIBER_FOREVER);
		bound[i] = result.value != NULL;
	}
	return NULL;
}

static void test_fiber_that_may_migrate_is_not_bound(void **state)
{
	unsigned bound[3] = {9, 9, 9};

	(void)state;
	carriers_run(asks_each_kind, bound);
	assert_int_equal(bound[0], 0);
	assert_int_equal(bound[1], 1);
	assert_int_equal(bound[2], 1);
}

static void test_fiber_that_may_migrate_and_is_bound_is_refused(void **state)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BOUND | FIBER_MIGRATES};
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_create(&attr, is_bound, NULL, &f), -EINVAL);
}

static void *asks_self(void *arg)
{
	(void)arg;
	return fiber_self()->flags & FIBER_BOUND ? NULL : "free";
}

static void test_runtime_started_before_the_call_binds_no_fiber(void **state)
{
	struct fiber_runtime *rt;
	struct fiber_result result;
	struct fiber *f;

	(void)state;
	rt = carriers_start();
	assert_int_equal(fiber_runtime_bind(), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, asks_self, NULL, &f), 0);
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_non_null(result.value);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: the call cannot be taken back. */
		cmocka_unit_test(test_runtime_started_before_the_call_binds_no_fiber),
		cmocka_unit_test(
			test_bound_runtime_keeps_each_fiber_on_its_thread_and_spreads_them),
		cmocka_unit_test(test_fiber_that_may_migrate_is_not_bound),
		cmocka_unit_test(test_fiber_that_may_migrate_and_is_bound_is_refused),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
