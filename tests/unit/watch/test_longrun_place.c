/* SPDX-License-Identifier: MIT */
/* test_longrun_place.c - the place of a long run is the program's, and a found address is checked */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "core/registry.h"
#include "tests/harness/watchdog.h"
#include "watch/longrun_place.h"

static struct fib_longrun_event event;
static struct fib_os_place place;
static struct fib_os_pipe none = FIB_OS_NO_PIPE;

static __attribute__((noipa)) uint64_t returned_to(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* An address in this function that a call returns to; *ret is the function's start. */
static __attribute__((noipa)) uint64_t call_site(uint64_t *ret)
{
	const uint64_t address = returned_to();

	*ret = (uint64_t)(uintptr_t)call_site;
	return address;
}

/* No sanitizer takes its place. 0: the C library is a part of the program. */
static uint64_t in_the_c_library(void)
{
	return (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "hcreate");
}

static uint64_t found; /* the function */

static enum fib_longrun_sure find(void)
{
	return fib_longrun_place(&event, &none, &place, &found);
}

static int start(void **state)
{
	(void)state;
	memset(&event, 0, sizeof event);
	fib_registry_init();
	return 0;
}

static void push(uint64_t address)
{
	const uintptr_t word = (uintptr_t)address;

	memcpy(event.stack + event.stack_size, &word, sizeof word);
	event.stack_size += sizeof word;
}

static void test_a_fiber_in_the_program_is_there(void **state)
{
	const uint64_t at = (uint64_t)(uintptr_t)call_site + 1;

	(void)state;
	event.context.pc = at;
	assert_int_equal(find(), FIB_LONGRUN_EXACT);
	assert_string_equal(place.module, "test_longrun_place");
	assert_int_equal(found, at - 1);
	assert_false(place.system);
}

static void test_a_fiber_in_the_c_library_came_from_the_first_address_after_a_call(void **state)
{
	uint64_t function, site = call_site(&function);

	(void)state;
	if (!in_the_c_library())
		skip();
	event.context.pc = in_the_c_library();
	assert_int_equal(find(), FIB_LONGRUN_UNKNOWN);
	push(1);
	push(UINT64_MAX);
	push((uint64_t)(uintptr_t)&event); /* data */
	/* Within a function's first instruction. A call may end before the function. */
	push((uint64_t)(uintptr_t)returned_to + 1);
	push(in_the_c_library() + 5);
	assert_int_equal(find(), FIB_LONGRUN_UNKNOWN);
	push(site);
	assert_int_equal(find(), fib_arch_recipe == FIB_RECIPE_NONE ? FIB_LONGRUN_UNKNOWN
								    : FIB_LONGRUN_PROBABLE);
	if (fib_arch_recipe == FIB_RECIPE_NONE)
		return;
	/* The offset is in the call itself. */
	assert_int_equal(found, function);
	assert_true(place.offset < 0x7fffffff);
}

static void test_a_fiber_in_libfiber_came_from_the_program(void **state)
{
	uint64_t function;

	(void)state;
	if (!fiber_registry.code[0].high || fib_arch_recipe == FIB_RECIPE_NONE)
		skip();
	event.context.pc = fiber_registry.code[0].low;
	push(fiber_registry.code[0].low + 16);
	push(call_site(&function));
	assert_int_equal(find(), FIB_LONGRUN_PROBABLE);
	assert_int_equal(found, function);
}

static void test_without_an_address_there_is_no_place(void **state)
{
	uint64_t function;

	(void)state;
	push(call_site(&function));
	assert_int_equal(find(), FIB_LONGRUN_UNKNOWN);
}

static void test_an_address_in_no_file_is_not_found(void **state)
{
	void *heap = malloc(100);

	(void)state;
	assert_false(fib_os_place_find(&none, 0, &place));
	assert_false(fib_os_place_find(&none, UINT64_MAX, &place));
	assert_false(fib_os_place_find(&none, (uint64_t)(uintptr_t)heap, &place));
	free(heap);
}

static bool is_musl(const struct fib_os_place *of)
{
	return strncmp(of->module, "ld-musl", strlen("ld-musl")) == 0;
}

static void test_the_c_library_is_known_as_such(void **state)
{
	(void)state;
	if (!in_the_c_library())
		skip();
	assert_true(fib_os_place_find(&none, in_the_c_library(), &place));
	assert_true(place.system);
	assert_true(strncmp(place.module, "libc", 4) == 0 || is_musl(&place));
	found = fib_os_place_function(&none, &place, in_the_c_library() + 1);
	/* musl may be compiled without descriptions of its functions. */
	assert_true(found == in_the_c_library() || (is_musl(&place) && !found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_fiber_in_the_program_is_there, start),
		cmocka_unit_test_setup(
			test_a_fiber_in_the_c_library_came_from_the_first_address_after_a_call,
			start),
		cmocka_unit_test_setup(test_a_fiber_in_libfiber_came_from_the_program, start),
		cmocka_unit_test_setup(test_without_an_address_there_is_no_place, start),
		cmocka_unit_test_setup(test_an_address_in_no_file_is_not_found, start),
		cmocka_unit_test_setup(test_the_c_library_is_known_as_such, start),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
