/* SPDX-License-Identifier: MIT */
/* test_backtrace.c - a program prints the frames of its own fibers, and reports where it cannot */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <fiber.h>
#include <fiber/backtrace.h>
#include <fiber/context.h>

#include "layout/layout.h"
#include "tests/harness/off_stack.h"
#include "tests/harness/watchdog.h"

extern struct fib_layout fiber_registry;

static char text[32 << 10];
static struct fiber_mutex lock;
static struct fiber_runtime *rt;
static _Atomic bool stop;

static int print(struct fiber *fiber, int max)
{
	FILE *out = fmemopen(text, sizeof text, "w");
	int rc = fiber_print_backtrace(fiber, out, max);

	fclose(out);
	return rc;
}

static bool walkable(void)
{
	return fiber_registry.recipe == FIB_RECIPE_CFI;
}

static __attribute__((noipa)) int innermost(void)
{
	return fiber_mutex_lock(&lock, FIBER_FOREVER) + 1;
}

static __attribute__((noipa)) int around(void)
{
	return innermost() + 1;
}

static void *wait_deep(void *arg)
{
	around();
	fiber_mutex_unlock(&lock);
	return arg;
}

static struct fiber *spawn(fiber_fn *fn)
{
	const struct fiber_attr attr = {.size = sizeof attr, .name = "one \"x\""};
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, &attr, fn, NULL, &fiber), 0);
	return fiber;
}

static void test_backtrace_of_a_suspended_fiber_goes_to_its_beginning(void **state)
{
	struct fiber *fiber;
	int n, cut;

	(void)state;
	fiber_mutex_lock(&lock, FIBER_FOREVER);
	fiber = spawn(wait_deep);
	harness_off_stack(fiber, FIBER_SUSPENDED);
	cut = print(fiber, 2);
	n = print(fiber, 0);
	fiber_mutex_unlock(&lock);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_non_null(strstr(text, "\"one \\\"x\\\"\" [suspended: mutex, "));
	if (!walkable()) {
		assert_int_equal(n, -ENOTSUP);
		assert_non_null(strstr(text, "no frames: the stacks of this port"));
		return;
	}
	assert_int_equal(cut, 2);
	assert_in_range(n, 6, 50);
	assert_non_null(strstr(text, "innermost+0x"));
	assert_non_null(strstr(strstr(text, "innermost+0x"), "around+0x"));
	assert_non_null(strstr(strstr(text, "around+0x"), "wait_deep+0x"));
	assert_non_null(strstr(text, "fib_arch_entry+0x"));
	assert_null(strstr(text, "truncated"));
}

static int own;

static void *print_self(void *arg)
{
	own = print(fiber_self(), 0);
	return arg;
}

static struct fiber_context stray_home, stray_away;

static void waits_elsewhere(void *arg)
{
	(void)arg;
	fiber_mutex_lock(&lock, FIBER_FOREVER);
	fiber_mutex_unlock(&lock);
	fiber_context_end(&stray_away, &stray_home);
}

static void *strays(void *arg)
{
	static char memory[128 << 10] __attribute__((aligned(64)));

	fiber_thread_to_context(&stray_home);
	fiber_context_init(&stray_away, memory, sizeof memory, waits_elsewhere, NULL);
	fiber_context_switch(&stray_home, &stray_away);
	return arg;
}

static void test_backtrace_of_a_fiber_outside_its_stack_says_so(void **state)
{
	struct fiber *fiber;
	int rc;

	(void)state;
	fiber_mutex_lock(&lock, FIBER_FOREVER);
	fiber = spawn(strays);
	harness_off_stack(fiber, FIBER_SUSPENDED);
	rc = print(fiber, 0);
	fiber_mutex_unlock(&lock);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	if (!walkable())
		skip();
	assert_int_equal(rc, -EFAULT);
	assert_non_null(strstr(text, "no frames: its stack pointer is outside its stack"));
}

static void test_backtrace_of_the_calling_fiber_begins_with_the_call(void **state)
{
	(void)state;
	assert_int_equal(fiber_join(spawn(print_self), NULL, FIBER_FOREVER), 0);
	assert_non_null(strstr(text, "[running, "));
	if (!walkable())
		return;
	assert_in_range(own, 3, 50);
	assert_non_null(strstr(text, "print_self+0x"));
	assert_null(strstr(text, "truncated"));
}

static void *spin(void *arg)
{
	while (!stop)
		sched_yield();
	return arg;
}

static void test_backtrace_of_a_running_and_of_an_ended_fiber_says_so(void **state)
{
	struct fiber *fiber;

	(void)state;
	stop = false;
	fiber = spawn(spin);
	while (fiber_state(fiber) != FIBER_RUNNING)
		sched_yield();
	if (walkable()) {
		assert_int_equal(print(fiber, 0), -EBUSY);
		assert_non_null(strstr(text, "no frames: it runs"));
	}
	stop = true;
	harness_off_stack(fiber, FIBER_DEAD);
	if (walkable()) {
		assert_int_equal(print(fiber, 0), -ESRCH);
		assert_non_null(strstr(text, "no frames: it has ended"));
	}
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
}

/* One frame: the function in which it will start. */
static bool prints_beginning(struct fiber *fiber, const char *state)
{
	const int n = print(fiber, 0);

	if (!walkable())
		return n == -ENOTSUP;
	return n == 1 && strstr(text, state) && strstr(text, "wait_deep+0x0") &&
	       !strstr(text, "truncated");
}

static void test_backtrace_of_a_fiber_that_has_not_begun_is_its_function(void **state)
{
	struct fiber *busy, *waiting, *created;
	bool right, right_created;

	(void)state;
	stop = false;
	busy = spawn(spin); /* occupies the only carrier */
	while (fiber_state(busy) != FIBER_RUNNING)
		sched_yield();
	waiting = spawn(wait_deep);
	assert_int_equal(fiber_create(NULL, wait_deep, NULL, &created), 0);
	right = prints_beginning(waiting, "[runnable, ");
	right_created = prints_beginning(created, "[created, ");
	stop = true;
	assert_int_equal(fiber_detach(created), 0);
	assert_int_equal(fiber_join(waiting, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(busy, NULL, FIBER_FOREVER), 0);
	assert_true(right && right_created);
}

static void *yield_on(void *arg)
{
	while (!stop)
		fiber_yield();
	return arg;
}

static void test_backtrace_of_fibers_that_move_is_whole_or_refused(void **state)
{
	struct fiber *fibers[2];
	unsigned i, wrong = 0;

	(void)state;
	stop = false;
	fibers[0] = spawn(yield_on);
	fibers[1] = spawn(yield_on);
	for (i = 0; i < 300; i++) {
		int n = print(fibers[i % 2], 0);

		if (walkable() && n != -EBUSY)
			wrong += n == 1 ? !strstr(text, "yield_on+0x0")
					: n < 2 || !strstr(text, "fib_arch_entry+0x");
	}
	stop = true;
	fiber_join(fibers[0], NULL, FIBER_FOREVER);
	fiber_join(fibers[1], NULL, FIBER_FOREVER);
	assert_int_equal(wrong, 0);
}

static int start(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};

	(void)state;
	return fiber_runtime_start(&options, &rt);
}

static int finish(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backtrace_of_a_suspended_fiber_goes_to_its_beginning),
		cmocka_unit_test(test_backtrace_of_a_fiber_outside_its_stack_says_so),
		cmocka_unit_test(test_backtrace_of_the_calling_fiber_begins_with_the_call),
		cmocka_unit_test(test_backtrace_of_a_running_and_of_an_ended_fiber_says_so),
		cmocka_unit_test(test_backtrace_of_a_fiber_that_has_not_begun_is_its_function),
		cmocka_unit_test(test_backtrace_of_fibers_that_move_is_whole_or_refused),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, finish);
}
