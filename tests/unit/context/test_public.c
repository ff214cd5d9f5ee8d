/* SPDX-License-Identifier: MIT */
/* test_public.c - contexts in a program's own scheduler; a context records, the test asserts */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/context.h>

#include "arch/arch.h"
#include "layout/layout.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define SIZE  ((size_t)64 << 10)
#define MANY  50u
#define STEPS 2000u

struct party {
	struct fiber_context context;
	void *memory;
	uint64_t sum;
	unsigned visits;
	bool ended;
};

static struct fiber_context home;
static struct party parties[MANY];
static unsigned seed;

static void open_party(struct party *p, void (*fn)(void *))
{
	memset(p, 0, sizeof *p);
	p->memory = malloc(SIZE);
	assert_non_null(p->memory);
	assert_int_equal(fiber_context_init(&p->context, p->memory, SIZE, fn, p), 0);
}

static void close_party(struct party *p)
{
	fiber_context_release(&p->context);
	free(p->memory);
	p->memory = NULL;
}

static void visit(void *arg)
{
	struct party *p = arg;

	p->visits++;
	fiber_context_switch(&p->context, &home);
	p->visits++;
	fiber_context_end(&p->context, &home);
}

static void test_public_context_runs_when_switched_to_and_not_before(void **state)
{
	struct party *p = parties;

	(void)state;
	open_party(p, visit);
	assert_int_equal(p->visits, 0);
	fiber_context_switch(&home, &p->context);
	assert_int_equal(p->visits, 1);
	fiber_context_switch(&home, &p->context);
	assert_int_equal(p->visits, 2);
	close_party(p);
}

static void test_public_context_is_refused_what_it_cannot_run_on(void **state)
{
	static char memory[64];
	struct fiber_context c;

	(void)state;
	assert_int_equal(fiber_context_init(&c, NULL, SIZE, visit, NULL), -EINVAL);
	assert_int_equal(fiber_context_init(&c, memory, SIZE, NULL, NULL), -EINVAL);
	assert_int_equal(fiber_context_init(&c, memory, sizeof memory, visit, NULL), -EINVAL);
}

static void test_public_context_switch_to_itself_does_nothing(void **state)
{
	(void)state;
	fiber_context_switch(&home, &home);
}

/* Any party may be next: no context has to return to its caller. */
static void wander(void *arg)
{
	struct party *me = arg;
	uint64_t own = (uint64_t)(me - parties) + 1;

	while (me->visits < STEPS) {
		struct party *next = &parties[(seed = seed * 1103515245u + 12345u) / 65536u % MANY];

		me->visits++;
		me->sum += own;
		if (!next->ended)
			fiber_context_switch(&me->context, &next->context);
	}
	me->ended = true;
	fiber_context_end(&me->context, &home);
}

static void test_public_any_context_may_switch_to_any_other(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++)
		open_party(&parties[i], wander);
	for (i = 0; i < MANY; i++)
		while (!parties[i].ended)
			fiber_context_switch(&home, &parties[i].context);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(parties[i].visits, STEPS);
		assert_int_equal(parties[i].sum, (uint64_t)STEPS * (i + 1));
		close_party(&parties[i]);
	}
}

static void test_public_context_that_was_dropped_leaves_its_memory_usable(void **state)
{
	struct party *p = parties;
	unsigned i;

	(void)state;
	open_party(p, visit);
	for (i = 0; i < 1000; i++) {
		fiber_context_switch(&home, &p->context);
		fiber_context_release(&p->context);
		assert_int_equal(fiber_context_init(&p->context, p->memory, SIZE, visit, p), 0);
	}
	assert_int_equal(p->visits, 1000);
	fiber_context_release(&p->context);
	/* visit() no longer runs: all of its stack is the caller's again. */
	memset(p->memory, 0x5a, SIZE);
	free(p->memory);
}

static void test_public_frame_of_a_suspended_context_is_on_its_stack(void **state)
{
	struct fiber_saved_frame first, later;
	struct party *p = parties;
	uint64_t low, high;
	int rc;

	(void)state;
	open_party(p, visit);
	low = (uint64_t)(uintptr_t)p->memory;
	high = low + SIZE;
	rc = fiber_context_frame(&p->context, &first);
	fiber_context_switch(&home, &p->context);
	assert_int_equal(fiber_context_frame(&p->context, &later), rc);
	assert_in_range(first.sp, low, high - 1);
	assert_in_range(later.sp, low, first.sp - 1);
	assert_int_equal(rc, fib_arch_recipe == FIB_RECIPE_CFI ? 0 : -ENOTSUP);
	if (rc == 0) {
		assert_int_equal(later.pc, first.pc);
		assert_in_range(later.pc, later.code_low, later.code_high - 1);
	}
	close_party(p);
}

static void look_at_home(void *arg)
{
	struct party *p = arg;
	struct fiber_saved_frame frame;

	fiber_context_frame(&home, &frame);
	p->sum = frame.sp;
	p->visits = frame.pc >= frame.code_low && frame.pc < frame.code_high;
	fiber_context_end(&p->context, &home);
}

static void test_public_frame_of_a_thread_is_known_after_its_first_switch(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct party *p = parties;

	(void)state;
	open_party(p, look_at_home);
	fiber_context_switch(&home, &p->context);
	assert_in_range(p->sum, here - 4096, here - 1);
	assert_int_equal(p->visits, fib_arch_recipe == FIB_RECIPE_CFI);
	close_party(p);
}

/* -- misuse -- */

static void come_back(void *arg)
{
	((struct party *)arg)->visits++;
}

static int let_it_return(void *arg)
{
	struct party *p = arg;

	p->memory = malloc(SIZE);
	fiber_context_init(&p->context, p->memory, SIZE, come_back, p);
	fiber_context_switch(&home, &p->context);
	return 1;
}

static int end_in_itself(void *arg)
{
	(void)arg;
	fiber_context_end(&home, &home);
}

static void end_and_be_called(void *arg)
{
	fiber_context_end(&((struct party *)arg)->context, &home);
}

static int switch_to_the_ended(void *arg)
{
	struct party *p = arg;

	p->memory = malloc(SIZE);
	fiber_context_init(&p->context, p->memory, SIZE, end_and_be_called, p);
	fiber_context_switch(&home, &p->context);
	fiber_context_switch(&home, &p->context);
	return 1;
}

static void assert_dies(int (*fn)(void *), const char *text)
{
	struct harness_child child;

	harness_child(fn, parties, 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_non_null(strstr(child.text, "libfiber: fiber_context_"));
	assert_non_null(strstr(child.text, text));
}

static void test_public_context_function_that_returns_aborts(void **state)
{
	(void)state;
	assert_dies(let_it_return, "returned: leave it with fiber_context_end");
}

static void test_public_context_that_ends_in_itself_aborts(void **state)
{
	(void)state;
	assert_dies(end_in_itself, "cannot end in itself");
}

static void test_public_context_that_ended_is_not_switched_to(void **state)
{
	(void)state;
	assert_dies(switch_to_the_ended, "had ended and was switched to");
}

static int open_home(void **state)
{
	(void)state;
	return fiber_thread_to_context(&home);
}

static int close_home(void **state)
{
	(void)state;
	fiber_context_release(&home);
	return 0;
}

#define PUBLIC_TEST(name) cmocka_unit_test_setup_teardown(name, open_home, close_home)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUBLIC_TEST(test_public_context_runs_when_switched_to_and_not_before),
		PUBLIC_TEST(test_public_context_is_refused_what_it_cannot_run_on),
		PUBLIC_TEST(test_public_context_switch_to_itself_does_nothing),
		PUBLIC_TEST(test_public_any_context_may_switch_to_any_other),
		PUBLIC_TEST(test_public_context_that_was_dropped_leaves_its_memory_usable),
		PUBLIC_TEST(test_public_frame_of_a_suspended_context_is_on_its_stack),
		PUBLIC_TEST(test_public_frame_of_a_thread_is_known_after_its_first_switch),
		PUBLIC_TEST(test_public_context_function_that_returns_aborts),
		PUBLIC_TEST(test_public_context_that_ends_in_itself_aborts),
		PUBLIC_TEST(test_public_context_that_ended_is_not_switched_to),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
