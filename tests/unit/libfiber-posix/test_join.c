/* SPDX-License-Identifier: MIT */
/* test_join.c - pthread_join() and thrd_join() of a thread by a fiber */
#include "mixed.h"

#include <threads.h>

static _Atomic bool stop;

static void *end_later(void *arg)
{
	while (!stop)
		usleep(1000);
	return arg;
}

static int end_later_c11(void *arg)
{
	while (!stop)
		usleep(1000);
	return *(int *)arg;
}

static void *join(void *arg)
{
	void *value = NULL;
	const int rc = pthread_join(*(pthread_t *)arg, &value);

	return rc ? (void *)(intptr_t)rc : value;
}

static void *join_c11(void *arg)
{
	int value = 0;

	return thrd_join(*(thrd_t *)arg, &value) == thrd_success ? (void *)(intptr_t)value : NULL;
}

static void test_join_of_a_thread_suspends_the_fiber(void **state)
{
	struct fiber *joiner;
	pthread_t thread;

	(void)state;
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, end_later, (void *)77), 0);
	joiner = inside_suspended(join, &thread);
	stop = true;
	assert_int_equal(inside_join(joiner), 77);
}

/* The thread may use what its creator frees after the join. */
static void test_join_by_a_cancelled_fiber_waits_all_the_same(void **state)
{
	struct fiber_result result;
	struct fiber *joiner;
	pthread_t thread;

	(void)state;
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, end_later, (void *)78), 0);
	joiner = inside_suspended(join, &thread);
	fiber_cancel(joiner);
	assert_int_equal(fiber_join(joiner, &result, fiber_after(20 * MS)), -ETIMEDOUT);
	stop = true;
	assert_int_equal(fiber_join(joiner, &result, FIBER_FOREVER), 0);
	assert_ptr_equal(result.value, (void *)78);
}

static void test_join_of_c11_is_the_same(void **state)
{
	struct fiber *joiner;
	int value = 79;
	thrd_t thread;

	(void)state;
#ifdef __SANITIZE_THREAD__
	print_message("# skipped: ThreadSanitizer does not know thrd_create()\n");
	skip();
#endif
	stop = false;
	assert_int_equal(thrd_create(&thread, end_later_c11, &value), thrd_success);
	joiner = inside_suspended(join_c11, &thread);
	stop = true;
	assert_int_equal(inside_join(joiner), 79);
}

static void *join_itself(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)pthread_join(pthread_self(), NULL);
}

static void test_join_of_the_own_thread_is_refused(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	print_message("# skipped: ThreadSanitizer ends a program that joins its own thread\n");
	skip();
#endif
	assert_int_equal(inside(join_itself, NULL), EDEADLK);
	assert_int_equal(on_a_thread(join_itself, NULL), EDEADLK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_of_a_thread_suspends_the_fiber),
		cmocka_unit_test(test_join_by_a_cancelled_fiber_waits_all_the_same),
		cmocka_unit_test(test_join_of_c11_is_the_same),
		cmocka_unit_test(test_join_of_the_own_thread_is_refused),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
