/* SPDX-License-Identifier: MIT */
/*
 * test_plain.c - the library's own memcpy() and the like, compiled by each compiler
 *
 * Compilers know these functions and may make a call of one from the code of another. After the calls
 * are renamed, that could be a call of the function by itself, which never ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory/plain.h"

#define SIZE 200u

static void fill(unsigned char *at, unsigned first)
{
	for (unsigned i = 0; i < SIZE; i++)
		at[i] = (unsigned char)(first + i);
}

static void test_copies_are_those_of_libc(void **state)
{
	unsigned char from[SIZE], ours[SIZE], theirs[SIZE];

	(void)state;
	for (size_t n = 0; n < SIZE; n += 13) {
		fill(from, 1);
		fill(ours, 100);
		fill(theirs, 100);
		assert_ptr_equal(fib_plain_memcpy(ours + 3, from, n < SIZE - 3 ? n : 0), ours + 3);
		memcpy(theirs + 3, from, n < SIZE - 3 ? n : 0);
		assert_memory_equal(ours, theirs, SIZE);
		fib_plain_memmove(ours + 5, ours, SIZE - 5 - n % 50);
		memmove(theirs + 5, theirs, SIZE - 5 - n % 50);
		assert_memory_equal(ours, theirs, SIZE);
		fib_plain_memmove(ours, ours + 7, SIZE - 7);
		memmove(theirs, theirs + 7, SIZE - 7);
		assert_memory_equal(ours, theirs, SIZE);
	}
}

static void test_fills_and_comparisons_are_those_of_libc(void **state)
{
	unsigned char ours[SIZE], theirs[SIZE];

	(void)state;
	for (size_t n = 0; n < SIZE - 9; n += 7) {
		fill(ours, 1);
		fill(theirs, 1);
		fib_plain_memset(ours + n % 9, 0x85, n);
		memset(theirs + n % 9, 0x85, n);
		assert_memory_equal(ours, theirs, SIZE);
		assert_int_equal(fib_plain_memcmp(ours, theirs, SIZE), 0);
		theirs[n]++;
		assert_true(fib_plain_memcmp(ours, theirs, SIZE) < 0);
		assert_true(fib_plain_memcmp(theirs, ours, SIZE) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_are_those_of_libc),
		cmocka_unit_test(test_fills_and_comparisons_are_those_of_libc),
	};

	alarm(60);
	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
