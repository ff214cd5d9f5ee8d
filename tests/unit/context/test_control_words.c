/* SPDX-License-Identifier: MIT */
/* test_control_words.c - a fiber's FPU rounding mode does not leak through a switch */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fenv.h>

#include "base/compiler.h"
#include "sides.h"
#include "tests/harness/watchdog.h"

/* Where a machine has two FPUs, one computes double and the other long double. */

static volatile double one = 1.0, three = 3.0;
static volatile long double one_long = 1.0L, three_long = 3.0L;

struct third {
	double third;
	long double third_long;
	int rounding;
};

/* Not inlined: the compiler may move a division over a call that changes the mode. */
static __attribute__((noinline)) void divide(struct third *ret)
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
	open_side(&away, round_up_away); /* it inherits its creator's current mode */
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
/* MXCSR and the x87 word are compared one by one: either may be the only one that differs. */
#define MXCSR_FLUSH   0x8000u /* the highest of the control bits */
#define MXCSR_DENORM  0x0040u /* the lowest */
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

static void check_each_word_by_itself(void)
{
	static const struct words all[] = {
		{MXCSR_USUAL | MXCSR_FLUSH, X87_USUAL},
		{MXCSR_USUAL | MXCSR_DENORM, X87_USUAL},
		{MXCSR_USUAL, X87_USUAL & ~X87_PRECISION},
		{MXCSR_USUAL | MXCSR_FLAGS, X87_USUAL}, /* flags alone are ignored ... */
		{MXCSR_USUAL | MXCSR_FLAGS | MXCSR_FLUSH, X87_USUAL}, /* ... and hide no change */
	};
	struct words here;
	size_t i;

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

/* Which instruction this CPU uses is decided before main(); the generic port has no choice. */
extern uint16_t fib_arch_words __attribute__((weak));

/* Make this check with each of these instructions. */
static void check_with_each_instruction(void (*check)(void))
{
	uint16_t as_found, i;

	if (!&fib_arch_words)
		return;
	as_found = fib_arch_words;
	for (i = 0; i < 2; i++) {
		fib_arch_words = i;
		fib_context_inherit(&home.context);
		check();
	}
	fib_arch_words = as_found;
}

static void test_context_switch_keeps_each_control_word_by_itself(void **state)
{
	(void)state;
	check_each_word_by_itself();
	check_with_each_instruction(check_each_word_by_itself);
}

static struct words seen_first, seen_then;

static void look_away(void *arg)
{
	struct side *s = arg;

	fib_context_begun(&s->announce);
	seen_first = get_words();
	set_words(MXCSR_USUAL | MXCSR_FLUSH, X87_USUAL & ~X87_PRECISION);
	go(s, s->other);
	seen_then = get_words();
	end(s, s->other);
}

static void assert_words(struct words w, uint32_t mxcsr, uint16_t x87)
{
	assert_int_equal(w.mxcsr & ~MXCSR_FLAGS, mxcsr);
	assert_int_equal(w.x87, x87);
}

static void test_context_shares_control_words_with_one_that_shares_them(void **state)
{
	struct words here;

	(void)state;
	if (!&fib_arch_words)
		return; /* the generic port always keeps them */
	open_side(&away, look_away);
	fib_context_share(&home.context);
	fib_context_share(&away.context);
	set_words(MXCSR_USUAL | MXCSR_DENORM, X87_USUAL);
	go(&home, &away);
	here = get_words();
	set_words(MXCSR_USUAL, X87_USUAL);
	go(&home, &away);
	close_side(&away);
	assert_words(seen_first, MXCSR_USUAL | MXCSR_DENORM, X87_USUAL);
	assert_words(here, MXCSR_USUAL | MXCSR_FLUSH, X87_USUAL & ~X87_PRECISION);
	assert_words(seen_then, MXCSR_USUAL, X87_USUAL);
}

/* away shares its thread's words, home has its own. */
static void check_sharer_beside_another(void)
{
	struct words here;

	open_side(&away, look_away);
	fib_context_share(&away.context);
	set_words(MXCSR_USUAL | MXCSR_DENORM, X87_USUAL);
	go(&home, &away);
	here = get_words();
	set_words(MXCSR_USUAL | MXCSR_DENORM, X87_USUAL);
	go(&home, &away);
	set_words(MXCSR_USUAL, X87_USUAL);
	close_side(&away);
	assert_words(seen_first, MXCSR_USUAL, X87_USUAL);
	assert_words(here, MXCSR_USUAL | MXCSR_DENORM, X87_USUAL);
	assert_words(seen_then, MXCSR_USUAL, X87_USUAL);
}

static void test_context_that_shares_control_words_does_not_change_those_of_others(void **state)
{
	(void)state;
	if (!&fib_arch_words)
		skip();
	check_with_each_instruction(check_sharer_beside_another);
}
#endif

#define WORDS_TEST(name) cmocka_unit_test_setup_teardown(name, open_home, close_home)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORDS_TEST(test_context_keeps_its_own_fpu_control_words),
#ifdef __x86_64__
		WORDS_TEST(test_context_switch_keeps_each_control_word_by_itself),
		WORDS_TEST(test_context_shares_control_words_with_one_that_shares_them),
		WORDS_TEST(test_context_that_shares_control_words_does_not_change_those_of_others),
#endif
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
