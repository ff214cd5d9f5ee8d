/* SPDX-License-Identifier: MIT */
/*
 * test_overflow.c - an address is a stack overflow if and only if it is in a guard
 *
 * A fault wrongly reported as an overflow makes the person on call change a stack size that is not
 * the problem; a missed overflow leaves a bare SIGSEGV. So the bounds are tried byte by byte. Then
 * a context really recurses into its guard, and the handler is asked.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "context/context.h"
#include "os/os.h"
#include "stack/overflow.h"
#include "stack/pool.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

static struct harness_child child;

static void test_overflow_is_what_lies_in_the_guard(void **state)
{
	struct fib_stack s = {
		.low = (void *)0x700000, .size = 0x10000, .guard = FIB_STACK_GUARD / FIB_GUARD_MIN};
	uint64_t low = 0x700000;

	(void)state;
	assert_true(fib_stack_overflowed(&s, low - 1));
	assert_true(fib_stack_overflowed(&s, low - FIB_STACK_GUARD));
	assert_false(fib_stack_overflowed(&s, low - FIB_STACK_GUARD - 1));
	assert_false(fib_stack_overflowed(&s, low));
	assert_false(fib_stack_overflowed(&s, low + s.size));
	assert_false(fib_stack_overflowed(&s, 0));
	assert_false(fib_stack_overflowed(&s, UINT64_MAX));
}

static void test_overflow_of_foreign_memory_is_the_page_below(void **state)
{
	struct fib_stack s = {.low = (void *)0x700000, .size = 0x10000, .class = FIB_STACK_FOREIGN};

	(void)state;
	assert_true(fib_stack_overflowed(&s, 0x700000 - 1));
	assert_true(fib_stack_overflowed(&s, 0x700000 - 4096));
	assert_false(fib_stack_overflowed(&s, 0x700000 - 4097));
	assert_false(fib_stack_overflowed(&s, 0x700000));
}

static void test_overflow_without_a_stack_is_none(void **state)
{
	struct fib_stack none = {0}, lowest = {.low = (void *)0x1000, .size = 0x10000};

	(void)state;
	assert_false(fib_stack_overflowed(&none, 0));
	assert_false(fib_stack_overflowed(&none, UINT64_MAX - 1));
	/* A guard that would start below address 0 must not wrap around and cover everything. */
	assert_false(fib_stack_overflowed(&lowest, 0x1000));
	assert_false(fib_stack_overflowed(&lowest, UINT64_MAX));
}

static void test_overflow_is_never_that_of_the_neighbour(void **state)
{
	struct fib_stack s[8];
	int i, k;

	(void)state;
	for (i = 0; i < 8; i++)
		assert_int_equal(fib_stack_take(NULL, FIB_STACK_MIN, &s[i]), 0);
	for (i = 0; i < 8; i++)
		for (k = 0; k < 8; k++)
			assert_int_equal(
				fib_stack_overflowed(&s[k], (uint64_t)(uintptr_t)s[i].low - 1),
				i == k);
	for (i = 0; i < 8; i++)
		fib_stack_give(NULL, &s[i]);
}

/* -- a real overflow, in a child -- */

struct side {
	struct fib_context context;
	struct fib_announce announce;
	_Atomic uint64_t left;
};

static struct side home, away;
static struct fib_stack stack;

static void report(uint64_t address, void *ucontext)
{
	(void)ucontext;
	fib_log("%s", fib_stack_overflowed(&stack, address) ? "overflow" : "another fault");
}

static volatile int depth_limit = INT32_MAX;

/* A frame of about 200 bytes: it cannot step over the guard. */
static fib_noinline int recurse(int depth)
{
	volatile char frame[128];

	frame[depth % 128] = (char)depth;
	if (depth == depth_limit)
		return 0;
	return recurse(depth + 1) + frame[depth % 128];
}

static void fall(void *arg)
{
	fib_context_begun(&away.announce);
	if (arg)
		*(volatile char *)arg = 1;
	_exit(recurse(0));
}

/* Run fall(arg) on a small stack with a carrier's fault handler. */
static int run(void *arg)
{
	void *alternate;

	if (fib_os_altstack_enter(&alternate) < 0 || fib_os_fault_handler(report) < 0 ||
	    fib_stack_take(NULL, FIB_STACK_MIN, &stack) < 0)
		return 1;
	fib_context_adopt(&home.context, &home.announce);
	if (fib_context_init(&away.context, &away.announce, stack.low, fib_stack_usable(&stack),
			     fall, arg) < 0)
		return 2;
	fib_context_switch(&home.context, &home.announce, &away.context, &away.announce,
			   &home.left);
	return 3;
}

static void test_overflow_of_a_recursion_is_told_and_kills(void **state)
{
	(void)state;
	harness_child(run, NULL, 20, &child);
	assert_string_equal(child.text, "libfiber: overflow\n");
	/* The fault itself kills the process, so that a core has the frames that caused it. */
	assert_int_equal(child.signal, SIGSEGV);
}

static void test_overflow_is_not_said_of_another_fault(void **state)
{
	(void)state;
	/* The first page belongs to no stack. */
	harness_child(run, (void *)16, 20, &child);
	assert_string_equal(child.text, "libfiber: another fault\n");
	assert_int_equal(child.signal, SIGSEGV);
}

static void handler_of_the_program(int number)
{
	static const char text[] = "the program's own handler\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

	(void)n;
	_exit(number);
}

static int run_with_a_handler(void *arg)
{
	struct sigaction action = {.sa_handler = handler_of_the_program, .sa_flags = SA_ONSTACK};

	sigaction(SIGSEGV, &action, NULL);
	return run(arg);
}

static void test_overflow_is_told_before_the_programs_own_handler_runs(void **state)
{
	(void)state;
	harness_child(run_with_a_handler, NULL, 20, &child);
	assert_string_equal(child.text, "libfiber: overflow\nthe program's own handler\n");
	assert_int_equal(child.code, SIGSEGV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow_is_what_lies_in_the_guard),
		cmocka_unit_test(test_overflow_of_foreign_memory_is_the_page_below),
		cmocka_unit_test(test_overflow_without_a_stack_is_none),
		cmocka_unit_test(test_overflow_is_never_that_of_the_neighbour),
		cmocka_unit_test(test_overflow_of_a_recursion_is_told_and_kills),
		cmocka_unit_test(test_overflow_is_not_said_of_another_fault),
		cmocka_unit_test(test_overflow_is_told_before_the_programs_own_handler_runs),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
