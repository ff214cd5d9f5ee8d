/* SPDX-License-Identifier: MIT */
/* test_tally.c - each fiber is counted under the one state, and the one wait, that a list shows */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "records.h"
#include "service/sample.h"
#include "service/tally.h"
#include "tests/harness/watchdog.h"

static struct fib_wire_counters got;

static uint64_t sum(const uint64_t *counts, unsigned n)
{
	uint64_t all = 0;

	while (n)
		all += counts[--n];
	return all;
}

static void tally_all(void)
{
	memset(&got, 0, sizeof got);
	fib_tally(0, fib_registry_committed(), &got);
	assert_int_equal(sum(got.states, FIB_WIRE_STATES), got.fibers);
}

static void test_tally_counts_as_a_list_shows(void **state)
{
	uint64_t states[FIB_WIRE_STATES] = {0}, waits[FIB_WIRE_WAITS] = {0};
	struct fiber *f = record_make("f", 0, 0);
	unsigned s, k, pins, odd, n = 0;
	struct fib_row row;

	(void)state;
	for (s = FIBER_CREATED; s <= FIBER_DEAD; s++)
		for (k = 0; k <= FIB_WAIT_COUNT; k++)
			for (pins = 0; pins < 2; pins++)
				for (odd = 0; odd < 2; odd++, n++) {
					fib_store(&f->seq, 8 + odd);
					fib_store(&f->state, (uint8_t)s);
					fib_store(&f->wait_kind, (uint8_t)k);
					f->pins = (uint16_t)pins;
					assert_true(fib_sample_row(record_index(f), fib_os_now(),
								   &row));
					memset(states, 0, sizeof states);
					memset(waits, 0, sizeof waits);
					states[row.state] = 1;
					waits[row.wait_kind] = row.wait_kind != FIB_WAIT_NONE;
					tally_all();
					assert_int_equal(got.fibers, 1);
					assert_memory_equal(got.states, states, sizeof states);
					assert_memory_equal(got.waits, waits, sizeof waits);
				}
	assert_int_equal(n, 5 * (FIB_WAIT_COUNT + 1) * 4);
	record_end(f);
	tally_all();
	assert_int_equal(got.fibers, 0);
}

static void test_tally_of_pieces_is_that_of_the_whole(void **state)
{
	struct fiber *f[1000];
	uint64_t at, n;
	unsigned i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		f[i] = record_make("f", 0, 0);
		if (i % 4 == 0)
			fib_store(&f[i]->state, FIBER_RUNNABLE);
		else
			fib_store(&f[i]->wait_kind, i % 4 == 1 ? FIB_WAIT_FD : FIB_WAIT_SLEEP);
	}
	memset(&got, 0, sizeof got);
	for (at = 0; at < fib_registry_committed(); at += n) {
		n = fib_registry_committed() - at < 7 ? fib_registry_committed() - at : 7;
		fib_tally(at, n, &got);
	}
	assert_int_equal(got.fibers, 1000);
	assert_int_equal(got.states[FIBER_RUNNABLE], 250);
	assert_int_equal(got.states[FIBER_SUSPENDED], 750);
	assert_int_equal(got.waits[FIB_WAIT_FD], 250);
	assert_int_equal(got.waits[FIB_WAIT_SLEEP], 500);
	assert_int_equal(sum(got.waits, FIB_WIRE_WAITS), 750);
	for (i = 0; i < 1000; i++)
		record_end(f[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tally_counts_as_a_list_shows),
		cmocka_unit_test(test_tally_of_pieces_is_that_of_the_whole),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
