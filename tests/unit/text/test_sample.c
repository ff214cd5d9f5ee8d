/* SPDX-License-Identifier: MIT */
/* test_sample.c - keep the lowest ids, or the latest ones */
#include <stdlib.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/text/sample.h"

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_the_lowest_are_those_that_sorting_puts_first(void **state)
{
	uint64_t ids[40], seed = 5;

	(void)state;
	for (unsigned run = 0; run < 2000; run++) {
		struct ins_sample s = {0};
		const unsigned count = 1 + dice(&seed, 40), below = 1 + dice(&seed, 60);
		unsigned i;

		for (i = 0; i < count; i++) {
			ids[i] = dice(&seed, 2) ? dice(&seed, below)
						: UINT64_MAX - dice(&seed, below);
			ins_sample_lowest(&s, ids[i]);
		}
		qsort(ids, count, sizeof ids[0], by_number);
		assert_int_equal(s.count, count < INS_SAMPLE ? count : INS_SAMPLE);
		assert_memory_equal(s.id, ids, s.count * sizeof ids[0]);
	}
}

/* Get the last different ids of `came`, latest first. */
static unsigned latest(const uint64_t *came, unsigned count, uint64_t ret[INS_SAMPLE])
{
	unsigned n = 0, k;

	while (count-- && n < INS_SAMPLE) {
		for (k = 0; k < n && ret[k] != came[count]; k++)
			;
		if (k == n)
			ret[n++] = came[count];
	}
	return n;
}

static void test_the_latest_stand_in_front_and_each_once(void **state)
{
	uint64_t came[40], wanted[INS_SAMPLE], seed = 11;

	(void)state;
	for (unsigned run = 0; run < 2000; run++) {
		struct ins_sample s = {0};
		const unsigned count = 1 + dice(&seed, 40), below = 1 + dice(&seed, 20);

		for (unsigned i = 0; i < count; i++) {
			came[i] = dice(&seed, below);
			ins_sample_latest(&s, came[i]);
		}
		assert_int_equal(s.count, latest(came, count, wanted));
		assert_memory_equal(s.id, wanted, s.count * sizeof wanted[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lowest_are_those_that_sorting_puts_first),
		cmocka_unit_test(test_the_latest_stand_in_front_and_each_once),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
