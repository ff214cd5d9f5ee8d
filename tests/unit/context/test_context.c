/* SPDX-License-Identifier: MIT */
/*
 * test_context.c - what a switch must keep, and where a context starts
 *
 * Rule of this file: a context records, the test asserts. No assertion runs on a stack that is not
 * the test's own. The compiler chooses which values are in registers; eight values live across
 * every switch fill the callee-saved registers of any machine, and the other side does the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "layout/layout.h"
#include "sides.h"
#include "tests/harness/watchdog.h"

#define ROUNDS 1000u
#define RING   100u

/* -- where it starts -- */

static struct {
	void *arg;
	uintptr_t frame, back;
	char text[64];
} start;

static fib_noinline void look_around(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	start.arg = arg;
	start.frame = (uintptr_t)__builtin_frame_address(0);
	start.back = (uintptr_t)__builtin_return_address(0);
	/* Floating point through varargs: the usual victim of a stack misaligned by 8. */
	snprintf(start.text, sizeof start.text, "%.3f %.3Lf %d", 1.5, 2.25L, 7);
	end(s, s->other);
}

static void test_context_starts_aligned_on_its_stack_with_its_argument(void **state)
{
	uintptr_t low, high;

	(void)state;
	open_side(&away, look_around);
	low = (uintptr_t)away.stack.low;
	high = low + fib_stack_usable(&away.stack);
	go(&home, &away);
	assert_ptr_equal(start.arg, &away);
	assert_in_range(start.frame, low, high - 1);
	assert_true(high - start.frame < 4096);
	assert_int_equal(start.frame % 16, 0);
	assert_string_equal(start.text, "1.500 2.250 7");
	close_side(&away);
}

static void test_context_walk_ends_in_the_entry_routine(void **state)
{
	uint64_t low, high;

	(void)state;
	fib_arch_entry_range(&low, &high);
	open_side(&away, look_around);
	go(&home, &away);
	close_side(&away);
	if (fib_arch_recipe == FIB_RECIPE_NONE) {
		assert_int_equal(low, 0);
		assert_int_equal(high, 0);
		return;
	}
	assert_in_range(start.back, low, high - 1);
}

static void test_context_is_refused_a_stack_it_does_not_fit(void **state)
{
	static char tiny[64] fib_aligned(64);
	struct side s;

	(void)state;
	/* No context is made, so none is announced. */
	assert_int_equal(fib_arch_init(&s.context, tiny, sizeof tiny, look_around, &s), -EINVAL);
}

/* -- registers -- */

/* Keep eight values over many switches to s->other; each side has its own. */
static fib_noinline void keep_values(struct side *s)
{
	volatile uint64_t *seed = &s->seed;
	uint64_t a = *seed + 1, b = *seed * 3, c = *seed ^ 0x5555, d = *seed << 7;
	uint64_t e = ~*seed, f = *seed - 9, g = *seed * *seed, h = *seed >> 3;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		go(s, s->other);
		if (a != *seed + 1 + i || b != *seed * 3 + i || c != (*seed ^ 0x5555) + i ||
		    d != (*seed << 7) + i || e != ~*seed + i || f != *seed - 9 + i ||
		    g != *seed * *seed + i || h != (*seed >> 3) + i)
			s->wrong++;
		a++, b++, c++, d++, e++, f++, g++, h++;
	}
}

static void keep_values_away(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	keep_values(s);
	end(s, s->other);
}

static void test_context_switch_keeps_registers(void **state)
{
	(void)state;
	open_side(&away, keep_values_away);
	away.seed = UINT64_C(0xdeadbeefcafef00d);
	home.seed = UINT64_C(0x0123456789abcdef);
	home.other = &away;
	keep_values(&home);
	go(&home, &away);
	assert_int_equal(home.wrong, 0);
	assert_int_equal(away.wrong, 0);
	close_side(&away);
}

/* -- many, and on other threads -- */

static struct side ring[RING];
static unsigned order[RING * 3], orders;

static void pass_on(void *arg)
{
	struct side *s = arg;
	unsigned i, me = (unsigned)(s - ring);

	fib_context_begun(&s->announce);
	for (i = 0; i < 3; i++) {
		order[orders++] = me;
		go(s, me + 1 < RING ? s + 1 : &home);
	}
	end(s, &home);
}

static void test_context_ring_runs_in_order(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < RING; i++)
		open_side(&ring[i], pass_on);
	for (i = 0; i < 3; i++)
		go(&home, &ring[0]);
	for (i = 0; i < RING; i++)
		go(&home, &ring[i]);
	for (i = 0; i < RING; i++)
		close_side(&ring[i]);
	assert_int_equal(orders, RING * 3);
	for (i = 0; i < orders; i++)
		assert_int_equal(order[i], i % RING);
}

static void *host(void *arg)
{
	struct side here = {.other = NULL};

	(void)arg;
	fib_context_adopt(&here.context, &here.announce);
	away.other = &here;
	go(&here, &away);
	fib_context_done(&here.announce);
	return NULL;
}

static void test_context_goes_on_on_any_thread(void **state)
{
	unsigned i;

	(void)state;
	open_side(&away, keep_values_away);
	away.seed = 12345;
	for (i = 0; i < 20; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, host, NULL);
		pthread_join(thread, NULL);
	}
	for (; i < ROUNDS; i++)
		host(NULL);
	host(NULL);
	assert_int_equal(away.wrong, 0);
	close_side(&away);
}

static void test_context_stack_is_used_again_after_the_end(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		open_side(&away, look_around);
		go(&home, &away);
		close_side(&away);
	}
	assert_ptr_equal(start.arg, &away);
}

/* -- capturing the own context -- */

static struct {
	void *arg;
	uintptr_t frame;
	bool above; /* the saved frame is above that of the function */
	struct fib_context context;
} captured;

static fib_noinline void on_captured(void *arg)
{
	/* Within the frame: on some machines the frame's address is the end of the caller's. */
	volatile char here = 0;

	captured.arg = arg;
	captured.frame = (uintptr_t)__builtin_frame_address(0);
	captured.above = captured.context.sp > (uintptr_t)&here;
	memset(arg, 0x11, 64);
}

static void test_context_capture_runs_the_function_below_a_frame_like_a_switchs(void **state)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	char scratch[64] = {0};

	(void)state;
	open_side(&away, look_around);
	fib_arch_capture(&captured.context, on_captured, scratch);
	assert_ptr_equal(captured.arg, scratch);
	assert_int_equal(scratch[63], 0x11);
	assert_true(captured.frame < here);
	assert_in_range(captured.context.sp, here - 4096, here - 1);
	/* A stack walk needs this: the frame is above the function that saves its registers. */
	if (fib_arch_recipe != FIB_RECIPE_NONE)
		assert_true(captured.above);
	/* A reader continues from here in the same way as from a fiber that was switched away
	 * from. */
	assert_int_equal(captured.context.pc, away.context.pc);
	go(&home, &away);
	close_side(&away);
}

/* -- the signal mask is the thread's -- */

static struct {
	sigset_t first, second;
} masks;

static void look_at_mask(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	pthread_sigmask(SIG_BLOCK, NULL, &masks.first);
	go(s, s->other);
	pthread_sigmask(SIG_BLOCK, NULL, &masks.second);
	end(s, s->other);
}

static void test_context_runs_with_the_signal_mask_of_its_thread(void **state)
{
	sigset_t usr1, usr2, before, after;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	open_side(&away, look_at_mask);
	pthread_sigmask(SIG_BLOCK, &usr1, &before);
	go(&home, &away);
	pthread_sigmask(SIG_BLOCK, &usr2, NULL);
	go(&home, &away);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	close_side(&away);
	assert_int_equal(sigismember(&masks.first, SIGUSR1), 1);
	assert_int_equal(sigismember(&masks.first, SIGUSR2), 0);
	assert_int_equal(sigismember(&masks.second, SIGUSR2), 1);
	assert_int_equal(sigismember(&after, SIGUSR1), 1);
	assert_int_equal(sigismember(&after, SIGUSR2), 1);
}

static void test_context_frames_are_copied_with_the_gaps_between_what_is_in_them(void **state)
{
	unsigned char one[24], other[40], copy[1024];
	const uintptr_t a = (uintptr_t)one, b = (uintptr_t)other, low = a < b ? a : b;
	const size_t size = (a < b ? b + sizeof other : a + sizeof one) - low;

	(void)state;
	assert_in_range(size, sizeof one + sizeof other, sizeof copy);
	memset(one, 'a', sizeof one);
	memset(other, 'b', sizeof other);
	fib_context_copy_frames(copy, low, size);
	assert_memory_equal(copy + (a - low), one, sizeof one);
	assert_memory_equal(copy + (b - low), other, sizeof other);
}

#define CONTEXT_TEST(name) cmocka_unit_test_setup_teardown(name, open_home, close_home)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONTEXT_TEST(test_context_starts_aligned_on_its_stack_with_its_argument),
		CONTEXT_TEST(test_context_walk_ends_in_the_entry_routine),
		CONTEXT_TEST(test_context_is_refused_a_stack_it_does_not_fit),
		CONTEXT_TEST(test_context_switch_keeps_registers),
		CONTEXT_TEST(test_context_ring_runs_in_order),
		CONTEXT_TEST(test_context_goes_on_on_any_thread),
		CONTEXT_TEST(test_context_stack_is_used_again_after_the_end),
		CONTEXT_TEST(test_context_capture_runs_the_function_below_a_frame_like_a_switchs),
		CONTEXT_TEST(test_context_runs_with_the_signal_mask_of_its_thread),
		CONTEXT_TEST(test_context_frames_are_copied_with_the_gaps_between_what_is_in_them),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
