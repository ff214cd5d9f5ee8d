/* SPDX-License-Identifier: MIT */
/* test_trim.c - whose stacks fiber_trim() touches, and whose it leaves alone */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <fiber.h>

#include "core/record.h"
#include "os/os.h"
#include "sched/sched.h"
#include "stack/pool.h"
#include "tests/harness/watchdog.h"

#define DEEP (64u << 10)
#define OWN  (256u << 10)

static const struct fiber_runtime_options one = {
	.size = sizeof one, .carriers = 1, .control_path = ""};

static struct fiber_sem gate;

static __attribute__((noinline)) void use_stack(void)
{
	volatile char frame[DEEP];

	for (size_t i = 0; i < sizeof frame; i += 512)
		frame[i] = 1;
}

static void *deep(void *arg)
{
	use_stack();
	fiber_sem_wait(&gate, FIBER_FOREVER);
	return arg;
}

static void await_suspended(struct fiber *fiber)
{
	while (fiber_state(fiber) != FIBER_SUSPENDED)
		fiber_sleep_until(fiber_after(100000));
}

static size_t resident(const struct fiber *fiber)
{
	return fib_os_resident_in((uint64_t)(uintptr_t)fiber->stack.low, fiber->stack.size);
}

struct seen {
	struct fiber *other; /* of another runtime */
	void *memory;	     /* of the program */
	size_t mine[2], own[2], foreign[2];
	unsigned cached[2];
	int64_t given;
	int rc;
};

static void *trim(void *arg)
{
	const struct fiber_attr on_own = {
		.size = sizeof on_own, .stack = ((struct seen *)arg)->memory, .stack_size = OWN};
	struct seen *s = arg;
	struct fiber *mine, *own;

	s->rc = fiber_spawn(deep, NULL, &mine) | fiber_spawn_attr(&on_own, deep, NULL, &own);
	await_suspended(mine);
	await_suspended(own);
	s->mine[0] = resident(mine);
	s->own[0] = resident(own);
	s->foreign[0] = resident(s->other);
	s->given = fiber_trim(FIBER_TRIM_UNUSED, 0);
	s->mine[1] = resident(mine);
	s->own[1] = resident(own);
	s->foreign[1] = resident(s->other);
	fiber_sem_post(&gate);
	fiber_sem_post(&gate);
	fiber_sem_post(&gate);
	s->rc |= fiber_join(mine, NULL, FIBER_FOREVER) | fiber_join(own, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_trim_unused_touches_only_its_own_runtime_and_the_pools_stacks(void **state)
{
	struct fiber_runtime *rt;
	struct seen s = {0};

	(void)state;
	s.memory = aligned_alloc(4096, OWN);
	assert_non_null(s.memory);
	assert_int_equal(fiber_runtime_start(&one, &rt), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, deep, NULL, &s.other), 0);
	await_suspended(s.other);
	assert_int_equal(fiber_run(trim, &s, &one, NULL), 0);
	assert_int_equal(s.rc, 0);
	assert_true(s.mine[0] >= DEEP);
	assert_true(s.mine[1] <= s.mine[0] - DEEP + 8192);
	assert_true(s.given >= (int64_t)(s.mine[0] - s.mine[1]));
	assert_true(s.own[0] >= DEEP);
	assert_int_equal(s.own[1], s.own[0]);
	assert_true(s.foreign[0] >= DEEP);
	assert_int_equal(s.foreign[1], s.foreign[0]);
	assert_int_equal(fiber_join(s.other, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	free(s.memory);
}

static void *nothing(void *arg)
{
	return arg;
}

static void *trim_cache(void *arg)
{
	struct fiber *fibers[4];
	struct seen *s = arg;

	for (unsigned i = 0; i < 4; i++)
		s->rc |= fiber_spawn(deep, NULL, &fibers[i]);
	for (unsigned i = 0; i < 4; i++)
		await_suspended(fibers[i]);
	for (unsigned i = 0; i < 4; i++)
		fiber_sem_post(&gate);
	for (unsigned i = 0; i < 4; i++)
		s->rc |= fiber_join(fibers[i], NULL, FIBER_FOREVER);
	s->cached[0] = fib_stack_cached(&fib_carrier_self()->stacks);
	s->given = fiber_trim(0, 0);
	s->cached[1] = fib_stack_cached(&fib_carrier_self()->stacks);
	/* Spawns find promises again. */
	s->rc |= fiber_spawn(nothing, NULL, &fibers[0]);
	s->rc |= fiber_join(fibers[0], NULL, FIBER_FOREVER);
	return NULL;
}

static void test_trim_empties_the_cache_of_the_callers_carrier(void **state)
{
	struct fib_stack_totals before, after;
	struct seen s = {0};

	(void)state;
	fib_stack_count(&before);
	assert_int_equal(fiber_run(trim_cache, &s, &one, NULL), 0);
	assert_int_equal(s.rc, 0);
	assert_true(s.cached[0] >= 3);
	assert_int_equal(s.cached[1], 0);
	assert_true(s.given >= 3 * (int64_t)DEEP);
	fib_stack_count(&after);
	assert_int_equal(after.promised, before.promised);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_trim_unused_touches_only_its_own_runtime_and_the_pools_stacks),
		cmocka_unit_test(test_trim_empties_the_cache_of_the_callers_carrier),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
