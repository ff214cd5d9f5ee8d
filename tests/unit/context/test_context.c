/* SPDX-License-Identifier: MIT */
/*
 * test_context.c - what a switch must keep, and where a context stands
 *
 * The rule of the file: a context records, the test asserts. Nothing asserts on a stack that is not the
 * test's own. Where the compiler keeps values in registers is its choice; eight that are live across
 * every switch fill the callee-saved ones of any machine, and the other side does the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "context/context.h"
#include "layout/layout.h"
#include "stack/pool.h"
#include "tests/harness/watchdog.h"

#define ROUNDS 1000u
#define RING   100u

struct side {
	struct fib_context context;
	struct fib_announce announce;
	struct fib_stack stack;
	struct side *other;
	uint64_t seed;
	unsigned wrong;
};

static struct side home, away;

static void go(struct side *from, struct side *to)
{
	fib_context_switch(&from->context, &from->announce, &to->context, &to->announce, false);
}

static void end(struct side *from, struct side *to)
{
	fib_context_switch(&from->context, &from->announce, &to->context, &to->announce, true);
}

static void open_side(struct side *s, void (*fn)(void *))
{
	memset(s, 0, sizeof *s);
	assert_int_equal(fib_stack_take(NULL, 64 << 10, &s->stack), 0);
	assert_int_equal(fib_context_init(&s->context, &s->announce, s->stack.low,
					  fib_stack_usable(&s->stack), fn, s),
			 0);
	s->other = &home;
}

static void close_side(struct side *s)
{
	fib_context_done(&s->announce);
	fib_stack_give(NULL, &s->stack);
}

static int setup(void **state)
{
	(void)state;
	memset(&home, 0, sizeof home);
	fib_context_adopt(&home.announce);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_context_done(&home.announce);
	return 0;
}

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
	/* Floating point through varargs: the classic victim of a stack that is 8 off. */
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
	/* Not announced: nothing of it exists. */
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

/* -- FPU control words: double is one unit's work, long double the other's where there are two -- */

static volatile double one = 1.0, three = 3.0;
static volatile long double one_long = 1.0L, three_long = 3.0L;

struct third {
	double third;
	long double third_long;
	int rounding;
};

static void divide(struct third *ret)
{
	ret->third = one / three;
	ret->third_long = one_long / three_long;
	ret->rounding = fegetround();
}

static struct third first_away, then_away;

static void round_up_away(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	divide(&first_away);
	fesetround(FE_UPWARD);
	go(s, s->other);
	divide(&then_away);
	end(s, s->other);
}

static void assert_same_third(const struct third *a, const struct third *b)
{
	assert_true(a->third == b->third);
	assert_true(a->third_long == b->third_long);
	assert_int_equal(a->rounding, b->rounding);
}

static void test_context_keeps_its_own_fpu_control_words(void **state)
{
	struct third up, down, nearest, here, there;

	(void)state;
	fesetround(FE_UPWARD);
	divide(&up);
	fesetround(FE_DOWNWARD);
	divide(&down);
	open_side(&away, round_up_away); /* it inherits what its maker has now */
	fesetround(FE_TONEAREST);
	divide(&nearest);
	go(&home, &away);
	divide(&here);
	go(&home, &away);
	divide(&there);
	close_side(&away);

	assert_true(up.third != down.third);
	assert_same_third(&first_away, &down);
	assert_same_third(&here, &nearest);
	assert_same_third(&then_away, &up);
	assert_same_third(&there, &nearest);
}

#ifdef __x86_64__
/* Two words, compared one by one: each may be the only one that differs. */
#define MXCSR_FLUSH   0x8040u /* flush to zero, denormals are zero */
#define MXCSR_FLAGS   0x003fu
#define X87_PRECISION 0x0300u
#define X87_USUAL     0x037fu
#define MXCSR_USUAL   0x1f80u

struct words {
	uint32_t mxcsr;
	uint16_t x87;
};

static struct words get_words(void)
{
	struct words w;

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(w.mxcsr), "=m"(w.x87));
	return w;
}

static void set_words(uint32_t mxcsr, uint16_t x87)
{
	struct words w = {mxcsr, x87};

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(w.mxcsr), "m"(w.x87));
}

static struct words wanted, had;

static void words_away(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	set_words(wanted.mxcsr, wanted.x87);
	go(s, s->other);
	had = get_words();
	end(s, s->other);
}

static void test_context_switch_compares_each_control_word_by_itself(void **state)
{
	static const struct words all[] = {
		{MXCSR_USUAL | MXCSR_FLUSH, X87_USUAL},
		{MXCSR_USUAL, X87_USUAL & ~X87_PRECISION},
		{MXCSR_USUAL | MXCSR_FLAGS, X87_USUAL}, /* flags alone are no difference ... */
		{MXCSR_USUAL | MXCSR_FLAGS | MXCSR_FLUSH, X87_USUAL}, /* ... and hide none */
	};
	struct words here;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(all); i++) {
		wanted = all[i];
		open_side(&away, words_away);
		go(&home, &away);
		here = get_words();
		go(&home, &away);
		close_side(&away);
		assert_int_equal(here.mxcsr & ~MXCSR_FLAGS, MXCSR_USUAL);
		assert_int_equal(here.x87, X87_USUAL);
		assert_int_equal(had.mxcsr & ~MXCSR_FLAGS, wanted.mxcsr & ~MXCSR_FLAGS);
		assert_int_equal(had.x87, wanted.x87);
	}
}
#endif

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
	fib_context_adopt(&here.announce);
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

/* -- looking at oneself -- */

static struct {
	void *arg;
	uintptr_t frame;
	struct fib_context context;
} captured;

static fib_noinline void on_captured(void *arg)
{
	captured.arg = arg;
	captured.frame = (uintptr_t)__builtin_frame_address(0);
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
	/* Where stacks are walked: the frame is above the function that saves its bytes. */
	if (fib_arch_recipe != FIB_RECIPE_NONE)
		assert_true(captured.context.sp > captured.frame);
	/* A reader takes the same way from here as from a fiber that was switched away from. */
	assert_int_equal(captured.context.pc, away.context.pc);
	go(&home, &away);
	close_side(&away);
}

#define CONTEXT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONTEXT_TEST(test_context_starts_aligned_on_its_stack_with_its_argument),
		CONTEXT_TEST(test_context_walk_ends_in_the_entry_routine),
		CONTEXT_TEST(test_context_is_refused_a_stack_it_does_not_fit),
		CONTEXT_TEST(test_context_switch_keeps_registers),
		CONTEXT_TEST(test_context_keeps_its_own_fpu_control_words),
#ifdef __x86_64__
		CONTEXT_TEST(test_context_switch_compares_each_control_word_by_itself),
#endif
		CONTEXT_TEST(test_context_ring_runs_in_order),
		CONTEXT_TEST(test_context_goes_on_on_any_thread),
		CONTEXT_TEST(test_context_stack_is_used_again_after_the_end),
		CONTEXT_TEST(test_context_capture_runs_the_function_below_a_frame_like_a_switchs),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
