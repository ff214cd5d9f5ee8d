/* SPDX-License-Identifier: MIT */
/* test_place.c - the function of an address is the one that contains it */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "os/place.h"
#include "tests/harness/watchdog.h"

#define SIZE 32u

/* A function of SIZE bytes, and as many bytes of code that belongs to none. */
__asm__(".text\n"
	".balign 16\n"
	"described:\n"
	".cfi_startproc\n"
	".zero 32\n"
	".cfi_endproc\n"
	"behind:\n"
	".zero 32\n");
extern const char described[], behind[];

static struct fib_os_pipe none = FIB_OS_NO_PIPE;

static uint64_t function_of(const char *at)
{
	const uint64_t address = (uint64_t)(uintptr_t)at;
	struct fib_os_place place;

	assert_true(fib_os_place_find(&none, address, &place));
	/* Not every machine has such tables. */
	if (!place.table)
		skip();
	return fib_os_place_function(&none, &place, address);
}

static void test_each_address_of_a_function_has_it(void **state)
{
	(void)state;
	assert_int_equal(function_of(described), (uintptr_t)described);
	assert_int_equal(function_of(described + 1), (uintptr_t)described);
	assert_int_equal(function_of(described + SIZE - 1), (uintptr_t)described);
}

static void test_code_behind_a_function_has_none(void **state)
{
	(void)state;
	assert_int_equal(function_of(behind), 0);
	assert_int_equal(function_of(behind + SIZE - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_address_of_a_function_has_it),
		cmocka_unit_test(test_code_behind_a_function_has_none),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
