/* SPDX-License-Identifier: MIT */
/* test_own_thread.c - a fiber with thread-locals of its own begins with the function that was set */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include <fiber.h>

#include "arch/arch.h"
#include "layout/own_tls.h"
#include "tests/harness/fibers.h"
#include "tests/harness/watchdog.h"

static const struct fiber_attr own = {.size = sizeof own, .flags = FIBER_OWN_TLS};
static const struct fiber_runtime_options one = {.size = sizeof one, .carriers = 1};

/* What the fibers saw: the first function, and numbers of two that ran at once. */
static fiber_fn *begun;
static int numbers[2];

static bool missing(void)
{
	const char *why;

	return fiber_own_tls_check(&why) < 0;
}

static void *note_and_run(fiber_fn *fn, void *arg)
{
	begun = fn;
	return fn(arg);
}

static void *number_itself(void *arg)
{
	*(int *)arg = fiber_own_tls_number();
	fiber_yield();
	return fiber_own_tls_is((void *)pthread_self()) ? arg : NULL;
}

static void *run_two(void *arg)
{
	struct fiber *fibers[2];
	struct fiber_result result;

	for (int i = 0; i < 2; i++)
		if (fiber_spawn_attr(&own, number_itself, &numbers[i], &fibers[i]) < 0)
			return NULL;
	for (int i = 0; i < 2; i++)
		if (fiber_join(fibers[i], &result, FIBER_FOREVER) < 0 ||
		    result.value != &numbers[i])
			return NULL;
	return fiber_own_tls_number() ? NULL : arg;
}

static void test_own_thread_begins_with_the_function_that_was_set(void **state)
{
	struct fiber_result result = {NULL, 0};

	if (missing())
		skip();
	fiber_own_tls_set_main(note_and_run);
	assert_int_equal(fiber_run(run_two, state, &one, &result), 0);
	fiber_own_tls_set_main(NULL);
	assert_ptr_equal(result.value, state);
	assert_ptr_equal(begun, number_itself);
	assert_int_not_equal(numbers[0], 0);
	assert_int_not_equal(numbers[0], numbers[1]);
}

static void test_own_thread_a_plain_thread_has_no_block(void **state)
{
	(void)state;
	assert_int_equal(fiber_own_tls_number(), 0);
	assert_false(fiber_own_tls_is((void *)pthread_self()));
}

/* What the word has in the caller's thread. */
static void *carrier_word(void)
{
	const char *const tp = fib_arch_tp();

	return tp ? *(void *const volatile *)(const void *)(tp + fiber_carrier_word()) : NULL;
}

static void *has_word(void *arg)
{
	return !fib_arch_tp() || carrier_word() ? arg : NULL;
}

static void *has_word_with_its_own_too(void *arg)
{
	struct fiber_result result = {arg, 0};
	struct fiber *fiber;

	if (!missing() && (fiber_spawn_attr(&own, has_word, arg, &fiber) < 0 ||
			   fiber_join(fiber, &result, FIBER_FOREVER) < 0))
		return NULL;
	return result.value ? has_word(arg) : NULL;
}

static void test_own_thread_a_word_tells_carriers_from_other_threads(void **state)
{
	struct fiber_result result = {NULL, 0};

	assert_null(carrier_word());
	assert_int_equal(fiber_run(has_word_with_its_own_too, state, &one, &result), 0);
	assert_ptr_equal(result.value, state);
	assert_null(carrier_word());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_thread_a_plain_thread_has_no_block),
		cmocka_unit_test(test_own_thread_a_word_tells_carriers_from_other_threads),
		cmocka_unit_test(test_own_thread_begins_with_the_function_that_was_set),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
