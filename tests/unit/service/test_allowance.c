/* SPDX-License-Identifier: MIT */
/* test_allowance.c - answers take their share of busy CPUs, and all they want of free ones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "os/os.h"
#include "service/allowance.h"
#include "tests/harness/watchdog.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

/* cpus 0: as many carriers as CPUs are awake. Later than any real look at them. */
static struct fib_allowance begin(int64_t now)
{
	struct fib_allowance a;

	fib_allowance_begin(&a, now);
	a.cpus = 0;
	a.looked_at = 1000 * S;
	return a;
}

static void test_allowance_pauses_after_each_stint(void **state)
{
	struct fib_allowance a = begin(S);

	(void)state;
	assert_int_equal(fib_allowance_spend(&a, 15 * US, S), 0);
	assert_int_equal(fib_allowance_spend(&a, 15 * US, S), 0);
	assert_true(fib_allowance_spend(&a, 15 * US, S) > S + 100 * US);
}

static void test_allowance_lasts_then_only_the_share_is_left(void **state)
{
	struct fib_allowance a = begin(S);
	int64_t now = S, spent = 0;

	(void)state;
	while (now < 11 * S) {
		int64_t until = fib_allowance_spend(&a, 80 * US, now);

		spent += 80 * US;
		assert_true(until > now);
		now = until;
	}
	/* Eight saved, and eight in a thousand of ten seconds. */
	assert_in_range(spent, 80 * MS, 96 * MS);
}

static void test_allowance_is_saved_up_again_but_not_without_end(void **state)
{
	struct fib_allowance a = begin(S);
	int64_t now = S;
	unsigned soon = 0;

	(void)state;
	while (fib_allowance_spend(&a, 80 * US, now) < now + 2 * MS)
		now += MS;
	now += 100 * S;
	while (fib_allowance_spend(&a, 80 * US, now) < now + 2 * MS) {
		now += 10 * US;
		soon++;
	}
	assert_in_range(soon, 99, 102);
}

static void test_allowance_is_not_needed_while_a_cpu_is_free(void **state)
{
	struct fib_allowance a = begin(S);
	int i;

	(void)state;
	a.cpus = 1; /* no runtime, no carrier that is awake */
	for (i = 0; i < 1000; i++)
		assert_int_equal(fib_allowance_spend(&a, MS, S), 0);
}

static void test_allowance_is_not_needed_by_carriers_that_do_not_run(void **state)
{
	struct fib_allowance a;
	int64_t now = fib_os_now();

	(void)state;
	fib_allowance_begin(&a, now);
	a.cpus = 0;
	/* A second has passed, as far as it knows, and this process has used next to nothing of it. */
	assert_int_equal(fib_allowance_spend(&a, MS, now + S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowance_pauses_after_each_stint),
		cmocka_unit_test(test_allowance_lasts_then_only_the_share_is_left),
		cmocka_unit_test(test_allowance_is_saved_up_again_but_not_without_end),
		cmocka_unit_test(test_allowance_is_not_needed_while_a_cpu_is_free),
		cmocka_unit_test(test_allowance_is_not_needed_by_carriers_that_do_not_run),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
