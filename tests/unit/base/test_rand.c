/* SPDX-License-Identifier: MIT */
/* test_rand.c - the generator spreads over all victims for any seed but 0, and repeats */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/rand.h"
#include "tests/harness/watchdog.h"

#define DRAWS 100000u

static void test_rand_is_the_published_generator(void **state)
{
	uint64_t seed = 1;

	(void)state;
	/* xorshift64* from 1: 0x47e4ce4b896cdd1d, 0xabcfa6a8e079651d; upper halves. */
	assert_int_equal(fib_rand(&seed), 0x47e4ce4bu);
	assert_int_equal(fib_rand(&seed), 0xabcfa6a8u);
}

static void test_rand_below_reaches_every_victim_about_equally(void **state)
{
	uint64_t seeds[] = {1, 2, UINT64_MAX, UINT64_C(0x8000000000000000)};
	uint32_t sizes[] = {1, 2, 3, 7, 64};
	unsigned s, n, i;

	(void)state;
	for (s = 0; s < 4; s++) {
		for (n = 0; n < 5; n++) {
			unsigned hits[64] = {0}, share = DRAWS / sizes[n];

			for (i = 0; i < DRAWS; i++) {
				uint32_t drawn = fib_rand_below(&seeds[s], sizes[n]);

				assert_true(drawn < sizes[n]);
				hits[drawn]++;
			}
			for (i = 0; i < sizes[n]; i++)
				assert_in_range(hits[i], share - share / 5, share + share / 5);
		}
	}
}

static void test_rand_never_falls_into_zero(void **state)
{
	uint64_t seed = 1;
	unsigned i;

	(void)state;
	/* A state of 0 would stay 0: every victim would be the first one, for ever. */
	for (i = 0; i < 10 * DRAWS; i++) {
		fib_rand(&seed);
		assert_true(seed != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rand_is_the_published_generator),
		cmocka_unit_test(test_rand_below_reaches_every_victim_about_equally),
		cmocka_unit_test(test_rand_never_falls_into_zero),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
