/* SPDX-License-Identifier: MIT */
/* test_cpu_budget.c - answers get a bounded share of busy CPUs, and all they need of free ones */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "os/os.h"
#include "service/cpu_budget.h"
#include "tests/harness/watchdog.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

/* cpus 0: as many carriers are awake as there are CPUs. looked_at is later than any real look. */
static struct fib_cpu_budget begin(int64_t now)
{
	struct fib_cpu_budget a;

	fib_cpu_budget_begin(&a, now);
	a.cpus = 0;
	a.looked_at = 1000 * S;
	return a;
}

/* Return when the next work may start; 0: at once. */
static int64_t spend(struct fib_cpu_budget *a, int64_t ns, int64_t now)
{
	int64_t until;

	fib_cpu_budget_spend(a, ns, false, now);
	until = fib_cpu_budget_until(a, false);
	return until > now ? until : 0;
}

static void test_allowance_pauses_after_each_stint(void **state)
{
	struct fib_cpu_budget a = begin(S);

	(void)state;
	assert_int_equal(spend(&a, US, S), 0);
	assert_int_equal(spend(&a, US, S), 0);
	assert_true(spend(&a, 3 * US, S) > S + 100 * US);
}

static void test_allowance_lasts_then_only_the_share_is_left(void **state)
{
	struct fib_cpu_budget a = begin(S);
	int64_t now = S, spent = 0;

	(void)state;
	while (now < 11 * S) {
		int64_t until = spend(&a, 80 * US, now);

		spent += 80 * US;
		assert_true(until > now);
		now = until;
	}
	/* 8 ms saved up and 1/200 of 10 s; each stint of 80 us is charged 86 us. */
	assert_in_range(spent, 52 * MS, 56 * MS);
}

static void test_allowance_is_not_touched_by_what_was_granted(void **state)
{
	struct fib_cpu_budget a = begin(S);
	int64_t now = S, saved = a.saved, until;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		fib_cpu_budget_spend(&a, 80 * US, true, now);
		until = fib_cpu_budget_until(&a, true);
		assert_in_range(until, now + 100 * US, now + MS);
		now = until;
	}
	assert_int_equal(a.saved, saved);
	/* A granted answer does not pay the debts of others. */
	for (i = 0; i < 20; i++)
		fib_cpu_budget_spend(&a, MS, false, now);
	assert_true(fib_cpu_budget_until(&a, false) > now + 100 * MS);
	assert_true(fib_cpu_budget_until(&a, true) < now + MS);
}

static void test_allowance_is_charged_no_more_than_a_turn_takes(void **state)
{
	struct fib_cpu_budget a = begin(S);
	int64_t now = S, until = 0;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		until = spend(&a, S, now);
		assert_in_range(until, now, now + 105 * MS);
		now = until;
	}
	assert_true(a.saved < 0);
}

static void test_allowance_is_saved_up_again_but_not_without_end(void **state)
{
	struct fib_cpu_budget a = begin(S);
	int64_t now = S;
	unsigned soon = 0;

	(void)state;
	while (spend(&a, 80 * US, now) < now + 2 * MS)
		now += MS;
	now += 100 * S;
	while (spend(&a, 80 * US, now) < now + 2 * MS) {
		now += 10 * US;
		soon++;
	}
	assert_in_range(soon, 92, 96); /* 8 ms / 86 us */
}

static void test_allowance_is_not_needed_while_a_cpu_is_free(void **state)
{
	struct fib_cpu_budget a = begin(S);
	int i;

	(void)state;
	a.cpus = 1; /* no runtime, so no carrier is awake */
	for (i = 0; i < 1000; i++)
		assert_int_equal(spend(&a, MS, S), 0);
}

static void test_allowance_is_not_needed_by_carriers_that_do_not_run(void **state)
{
	struct fib_cpu_budget a;
	int64_t now = fib_os_now();

	(void)state;
	fib_cpu_budget_begin(&a, now);
	a.cpus = 0;
	assert_true(fib_cpu_budget_pays(&a)); /* nothing is known yet */
	/*
	 * The given time is 20 ms later, and this process has used almost no CPU time in between.
	 */
	assert_int_equal(spend(&a, MS, now + 20 * MS), 0);
	assert_false(fib_cpu_budget_pays(&a));
}

static void test_allowance_takes_nothing_for_granted_after_a_rest(void **state)
{
	struct fib_cpu_budget a;
	int64_t now = fib_os_now();

	(void)state;
	fib_cpu_budget_begin(&a, now);
	a.cpus = 0;
	/* The CPU use of the past hour says nothing about the current use. */
	now += 3600 * S;
	assert_true(spend(&a, 30 * US, now) > now);
	assert_true(fib_cpu_budget_pays(&a));
	assert_int_equal(spend(&a, 30 * US, now + 20 * MS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowance_pauses_after_each_stint),
		cmocka_unit_test(test_allowance_lasts_then_only_the_share_is_left),
		cmocka_unit_test(test_allowance_is_not_touched_by_what_was_granted),
		cmocka_unit_test(test_allowance_is_charged_no_more_than_a_turn_takes),
		cmocka_unit_test(test_allowance_is_saved_up_again_but_not_without_end),
		cmocka_unit_test(test_allowance_is_not_needed_while_a_cpu_is_free),
		cmocka_unit_test(test_allowance_is_not_needed_by_carriers_that_do_not_run),
		cmocka_unit_test(test_allowance_takes_nothing_for_granted_after_a_rest),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
