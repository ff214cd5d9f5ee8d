/* SPDX-License-Identifier: MIT */
/* test_lent.c - memory lent as a stack is reported once, and once more with another size */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/lent.h"
#include "tests/harness/watchdog.h"

#define SIZE 4096u

static char memory[3 * SIZE];
static unsigned entered, forgotten, last_forgotten;
static size_t last_size;

static unsigned enter(void *low, size_t size)
{
	(void)low;
	last_size = size;
	return ++entered;
}

static void forget(unsigned stack)
{
	last_forgotten = stack;
	forgotten++;
}

static const struct fib_lent_ops ops = {enter, forget};

static void test_lent_memory_is_told_once_however_often_it_is_lent(void **state)
{
	(void)state;
	entered = forgotten = 0;
	for (int i = 0; i < 3; i++) {
		fib_lent_register(&ops, memory, SIZE);
		fib_lent_register(&ops, memory + SIZE, SIZE);
	}
	assert_int_equal(entered, 2);
	assert_int_equal(forgotten, 0);
}

static void test_lent_memory_of_another_size_takes_the_place_of_the_old(void **state)
{
	(void)state;
	entered = forgotten = 0;
	fib_lent_register(&ops, memory + 2 * SIZE, SIZE);
	fib_lent_register(&ops, memory + 2 * SIZE, SIZE / 2);
	assert_int_equal(entered, 2);
	assert_int_equal(last_size, SIZE / 2);
	assert_int_equal(forgotten, 1);
	assert_int_equal(last_forgotten, 1);
	fib_lent_register(&ops, memory + 2 * SIZE, SIZE / 2);
	assert_int_equal(entered, 2);
}

static void test_lent_nothing_is_told_to_a_checker_that_does_not_run_the_program(void **state)
{
	(void)state;
	entered = 0;
	/* The tests run without valgrind, so no checker is found. */
	assert_false(fib_checker_runs());
	fib_lent(memory, SIZE);
	assert_int_equal(entered, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lent_memory_is_told_once_however_often_it_is_lent),
		cmocka_unit_test(test_lent_memory_of_another_size_takes_the_place_of_the_old),
		cmocka_unit_test(
			test_lent_nothing_is_told_to_a_checker_that_does_not_run_the_program),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
