/* SPDX-License-Identifier: MIT */
/* test_place.c - the names of variables and functions */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/place.h"

#define SIZE (1u << 20)

static char zeroes[SIZE];
static int value = 1;

static void expect_name(const void *at, const char *name, size_t offset)
{
	size_t found = 0;

	assert_string_equal(fib_place_variable(at, &found), name);
	assert_int_equal(found, offset);
}

/* Zeroes are not in the file: only the first page of them is mapped from it. */
static void test_variables_are_named_wherever_they_are(void **state)
{
	(void)state;
	expect_name(&value, "value", 0);
	expect_name(zeroes, "zeroes", 0);
	expect_name(&zeroes[SIZE - 5], "zeroes", SIZE - 5);
}

static void test_what_is_no_variable_has_no_name(void **state)
{
	char *heap = calloc(1, 1);
	size_t offset;
	int local = 0;

	(void)state;
	assert_null(fib_place_variable(heap, &offset));
	assert_null(fib_place_variable(&local, &offset));
	assert_null(fib_place_variable(NULL, &offset));
	free(heap);
}

__attribute__((noinline)) static const void *return_address(void)
{
	__asm__ volatile("" ::: "memory"); /* each call counts */
	return __builtin_return_address(0);
}

__attribute__((always_inline)) static inline const void *address_inlined(void)
{
	const void *at = return_address();

	__asm__ volatile("" : "+r"(at)); /* prevents a tail call */
	return at;
}

static void test_function_that_was_inlined_is_named(void **state)
{
	struct fib_place place;
	const void *inlined = address_inlined(), *here = return_address();

	(void)state;
	fib_place_of(inlined, &place);
	assert_string_equal(place.function, "address_inlined");
	assert_string_equal(place.file, "test_place.c");
	fib_place_of(here, &place);
	assert_string_equal(place.function, "test_function_that_was_inlined_is_named");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables_are_named_wherever_they_are),
		cmocka_unit_test(test_what_is_no_variable_has_no_name),
		cmocka_unit_test(test_function_that_was_inlined_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
