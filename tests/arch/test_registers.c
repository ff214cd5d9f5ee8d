/* SPDX-License-Identifier: MIT */
/*
 * test_registers.c - every register that the calling convention makes a callee keep survives a switch
 *
 * Two contexts load different values into all of these registers and switch to each other, round by
 * round. The routine in assembly calls the switch itself, so no compiler saves a register in between.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/atomic.h"
#include "context/context.h"
#include "tests/arch/registers.h"
#include "tests/harness/watchdog.h"

#define ROUNDS 100u

struct party {
	struct fib_context context;
	_Atomic uint64_t left;
	uint64_t in[ARCH_REGISTERS_MOST], out[ARCH_REGISTERS_MOST];
	const char *wrong; /* the first register that had another value */
	unsigned wrong_rounds;
	uint64_t wanted, control; /* the control word that it sets, and what it finds */
};

static struct party home, away;
static unsigned char stack[64 << 10] __attribute__((aligned(64)));

/* Switch from one party to the other with values of this round, and check them afterwards. */
static void across(struct party *from, struct party *to, uint64_t seed)
{
	unsigned i;

	for (i = 0; arch_registers[i]; i++) {
		/* Exponents below that of NaN: a machine may load a NaN as another one. */
		from->in[i] = ((seed + i) * UINT64_C(0x9e3779b97f4a7c15)) & ~(UINT64_C(1) << 62) &
			      ~(UINT64_C(1) << 30);
		from->out[i] = 0;
	}
	arch_registers_across(from->in, from->out, &from->context, &to->context, &from->left);
	for (i = 0; arch_registers[i]; i++)
		if (from->in[i] != from->out[i]) {
			from->wrong = arch_registers[i];
			from->wrong_rounds++;
		}
}

static void keep_away(void *arg)
{
	uint64_t round;

	(void)arg;
	for (round = 0;; round++)
		across(&away, &home, round * 1000 + 500);
}

static int open(void **state)
{
	(void)state;
	if (fib_context_announced())
		return 0;
	memset(&home, 0, sizeof home);
	memset(&away, 0, sizeof away);
	fib_arch_inherit(&home.context);
	return 0;
}

static void test_every_saved_register_survives_a_switch_and_is_the_context_s_own(void **state)
{
	uint64_t round;

	(void)state;
	if (fib_context_announced())
		skip(); /* a sanitizer must be told of each switch */
	fib_arch_inherit(&away.context);
	assert_int_equal(fib_arch_init(&away.context, stack, sizeof stack, keep_away, NULL), 0);
	for (round = 0; round < ROUNDS; round++)
		across(&home, &away, round * 1000);
	if (home.wrong || away.wrong)
		print_error("# %s in %u rounds, %s in %u\n", home.wrong ? home.wrong : "none",
			    home.wrong_rounds, away.wrong ? away.wrong : "none", away.wrong_rounds);
	assert_null(home.wrong);
	assert_null(away.wrong);
	assert_int_equal(fib_load(&home.left), ROUNDS);
	assert_int_equal(fib_load(&away.left), ROUNDS);
}

static void control_away(void *arg)
{
	(void)arg;
	for (;;) {
		arch_control_set(away.wanted);
		fib_arch_switch(&away.context, &home.context, &away.left);
		away.control = arch_control_get();
		fib_arch_switch(&away.context, &home.context, &away.left);
	}
}

static void test_each_bit_of_the_control_word_is_the_context_s_own(void **state)
{
	const uint64_t usual = arch_control_get();
	uint64_t here, again, away_had;
	unsigned i;

	(void)state;
	if (fib_context_announced())
		skip();
	fib_arch_inherit(&away.context);
	assert_int_equal(fib_arch_init(&away.context, stack, sizeof stack, control_away, NULL), 0);
	for (i = 0; arch_control_tried[i]; i++) {
		away.wanted = arch_control_tried[i];
		fib_arch_switch(&home.context, &away.context, &home.left);
		here = arch_control_get();
		fib_arch_switch(&home.context, &away.context, &home.left);
		again = arch_control_get();
		away_had = away.control;
		assert_int_equal(here, usual);
		assert_int_equal(again, usual);
		assert_int_equal(away_had, arch_control_tried[i]);
	}
	assert_true(i > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_every_saved_register_survives_a_switch_and_is_the_context_s_own, open),
		cmocka_unit_test_setup(test_each_bit_of_the_control_word_is_the_context_s_own,
				       open),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
