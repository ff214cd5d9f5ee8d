/* SPDX-License-Identifier: MIT */
/* test_place.c - the names of variables */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables_are_named_wherever_they_are),
		cmocka_unit_test(test_what_is_no_variable_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
