/* SPDX-License-Identifier: MIT */
/*
 * test_guard_wait.c - a promised stack takes no page tables, and has its guard when it is taken
 *
 * As beside a service thread, which splits mappings later.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "stack/guard.h"
#include "stack/pool.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

#define MANY 20000u
#define KEPT 100u
#define MOST 60000u /* more than the default vm.max_map_count allows */
#define FEW  1000u

static struct fib_stack stacks[KEPT];
static unsigned class;
static size_t size;

/* Page tables of this process, bytes. */
static long tables(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kilobytes = -1;

	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, "VmPTE:", 6))
			kilobytes = strtol(line + 6, NULL, 10);
	fclose(file);
	assert_true(kilobytes >= 0);
	return kilobytes * 1024;
}

static bool faults(const char *at)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)at, &byte, 1) == -EFAULT;
}

static void assert_guarded(const struct fib_stack *s)
{
	assert_int_equal(fib_stack_guard(s), FIB_STACK_GUARD);
	assert_true(faults((char *)s->low - 1));
	assert_true(faults((char *)s->low - FIB_STACK_GUARD));
	assert_false(faults(s->low));
	memset(s->low, 1, size);
}

/* Returns whether guards are made inside mappings here; not by a kernel before Linux 6.13. */
static bool guards_wait(void)
{
	struct fib_stack stack;

	assert_int_equal(fib_stack_class(FIB_STACK_DEFAULT, 0, &class, &size), 0);
	assert_int_equal(fib_stack_take(NULL, size, &stack), 0);
	return fib_guard_can_wait();
}

/* Whether the kernel can make guards inside a mapping is known when one has been made. */
static void test_first_guard_does_not_wait(void **state)
{
	struct fib_stack stack;

	(void)state;
	assert_false(fib_guard_can_wait());
	assert_int_equal(fib_stack_class(FIB_STACK_DEFAULT, 0, &class, &size), 0);
	assert_int_equal(fib_stack_promise(NULL, class), 0);
	fib_stack_take_promised(NULL, class, &stack);
	assert_guarded(&stack);
}

static void test_guard_of_a_promise_waits_for_the_take(void **state)
{
	struct fib_stack_totals before, after;
	long tables_before;
	unsigned i;

	(void)state;
	if (!guards_wait())
		skip();
	fib_stack_count(&before);
	tables_before = tables();
	for (i = 0; i < MANY; i++)
		assert_int_equal(fib_stack_promise(NULL, class), 0);
	fib_stack_count(&after);
	/* A stack may have been cut before, with its guard. */
	assert_in_range(after.made - before.made, MANY - 64, MANY);
	assert_in_range(after.promised - before.promised, MANY, MANY);
	/* With guards they take 640 bytes each. A sanitizer's memory has page tables, too. */
	if (!harness_sanitizer()[0])
		assert_true(tables() - tables_before < (long)MANY * 64);
	for (i = 0; i < KEPT; i++) {
		fib_stack_take_promised(NULL, class, &stacks[i]);
		assert_guarded(&stacks[i]);
	}
	for (i = KEPT; i < MANY; i++)
		fib_stack_unpromise(NULL, class);
	for (i = 0; i < KEPT; i++)
		fib_stack_give(NULL, &stacks[i]);
}

static void test_guard_is_there_however_a_cold_stack_is_taken(void **state)
{
	struct fib_stack_cache cache = {0};
	unsigned i, k;

	(void)state;
	if (!guards_wait())
		skip();
	for (i = 0; i < 2 * KEPT; i++)
		assert_int_equal(fib_stack_promise(NULL, class), 0);
	for (i = 0; i < 2 * KEPT; i++)
		fib_stack_unpromise(NULL, class);
	for (i = 0; i < KEPT; i++) {
		assert_int_equal(fib_stack_take(i % 2 ? &cache : NULL, size, &stacks[i]), 0);
		assert_guarded(&stacks[i]);
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(stacks[k].low, stacks[i].low);
	}
	for (i = 0; i < KEPT; i++)
		fib_stack_give(NULL, &stacks[i]);
	fib_stack_flush(&cache);
}

/* In a child: more promises than mappings, in memory that is locked. Those made can be taken. */
static int promise_in_locked_memory(void)
{
	struct fib_stack stack;
	unsigned i, n = 0;

	if (mlockall(MCL_FUTURE | MCL_ONFAULT) < 0)
		return 1;
	while (n < MOST && fib_stack_promise(NULL, class) == 0)
		n++;
	for (i = 0; i < n; i++) {
		fib_stack_take_promised(NULL, class, &stack);
		if (!fib_stack_guard(&stack))
			return 2;
	}
	return n < FEW;
}

static void test_promise_in_locked_memory_includes_the_guard(void **state)
{
	struct rlimit limit;
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	/* A sanitizer's memory cannot be locked. Without a privilege no slab can be mapped. */
	if (!guards_wait() || harness_sanitizer()[0] ||
	    (geteuid() && limit.rlim_cur != RLIM_INFINITY))
		skip();
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(promise_in_locked_memory());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_guard_does_not_wait),
		cmocka_unit_test(test_guard_of_a_promise_waits_for_the_take),
		cmocka_unit_test(test_guard_is_there_however_a_cold_stack_is_taken),
		cmocka_unit_test(test_promise_in_locked_memory_includes_the_guard),
	};

	fib_guard_defer(true);
	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
