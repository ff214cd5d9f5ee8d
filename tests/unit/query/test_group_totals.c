/* SPDX-License-Identifier: MIT */
/* test_group_totals.c - each fiber is counted once, among the fibers with the same value */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "inspect/query/group_totals.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/query/sights.h"

static void add(struct ins_group_totals *shares, const struct ins_fiber *fiber, uint64_t cpu,
		uint64_t switches)
{
	const struct ins_fiber_delta did = {.known = true, .cpu = cpu, .switches = switches};
	struct ins_sight sight = sights_of(fiber);

	assert_int_equal(ins_group_totals_add(shares, &sight, &did), 0);
}

static void expect(const struct ins_group_totals *shares, size_t i, const char *value,
		   uint64_t count)
{
	char buf[256];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);

	ins_group_totals_say(shares, i, &line);
	assert_string_equal(buf, value);
	assert_int_equal(ins_group_totals_at(shares, i)->count, count);
}

static void test_shares_sum_what_their_fibers_did(void **state)
{
	const struct ins_field wait = sights_field("wait");
	struct ins_group_totals *shares;
	unsigned i;

	(void)state;
	assert_int_equal(ins_group_totals_new(&shares), 0);
	ins_group_totals_begin(shares, &wait);
	for (i = 0; i < 9; i++) {
		struct ins_fiber fiber = sights_fiber(i + 10, 0, 0, 0);

		fiber.row.wait_kind = i % 3 ? FIB_WAIT_MUTEX : i ? FIB_WAIT_SEM : FIB_WAIT_NONE;
		fiber.row.age = 100 * (int64_t)i;
		add(shares, &fiber, i, 1);
	}
	assert_int_equal(ins_group_totals_end(shares), 3);
	expect(shares, 0, "mutex", 6);
	assert_int_equal(ins_group_totals_at(shares, 0)->cpu, 1 + 2 + 4 + 5 + 7 + 8);
	assert_int_equal(ins_group_totals_at(shares, 0)->switches, 6);
	assert_int_equal(ins_group_totals_at(shares, 0)->age_max, 800);
	assert_int_equal(ins_group_totals_at(shares, 0)->sample, 11);
	expect(shares, 1, "sem", 2);
	expect(shares, 2, "-", 1);
	assert_string_equal(ins_group_totals_value(shares, 1).text, "sem");
	assert_false(ins_group_totals_value(shares, 2).known);
	ins_group_totals_free(shares);
}

static void test_shares_of_very_many_texts_are_all_there(void **state)
{
	const struct ins_field name = sights_field("name");
	struct ins_group_totals *shares;
	unsigned i, round, look;
	char value[32];

	(void)state;
	assert_int_equal(ins_group_totals_new(&shares), 0);
	for (look = 0; look < 2; look++) {
		ins_group_totals_begin(shares, &name);
		for (round = 0; round < 2; round++) {
			for (i = 0; i < 5000; i++) {
				struct ins_fiber fiber = sights_fiber(i + 1, 0, 0, 0);

				snprintf(fiber.row.name, sizeof fiber.row.name, "look-%u-%04u",
					 look, i);
				add(shares, &fiber, 0, 0);
			}
		}
		assert_int_equal(ins_group_totals_end(shares), 5000);
		for (i = 0; i < 5000; i += 499) {
			snprintf(value, sizeof value, "look-%u-%04u", look, i);
			expect(shares, i, value, 2);
		}
	}
	ins_group_totals_free(shares);
}

static void test_shares_of_numbers_and_of_nothing_are_apart(void **state)
{
	const struct ins_field fd = sights_field("fd");
	struct ins_group_totals *shares;
	unsigned i;

	(void)state;
	assert_int_equal(ins_group_totals_new(&shares), 0);
	ins_group_totals_begin(shares, &fd);
	for (i = 0; i < 6; i++) {
		struct ins_fiber fiber = sights_fiber(i + 1, 0, 0, 0);

		fiber.row.wait_kind = i < 4 ? FIB_WAIT_FD : FIB_WAIT_NONE;
		fiber.row.wait_arg = i < 3 ? 0 : 17;
		add(shares, &fiber, 0, 0);
	}
	assert_int_equal(ins_group_totals_end(shares), 3);
	expect(shares, 0, "0", 3);
	expect(shares, 1, "-", 2);
	expect(shares, 2, "17", 1);
	ins_group_totals_free(shares);
}

static void test_shares_say_hostile_texts_harmlessly(void **state)
{
	const struct ins_field name = sights_field("name");
	struct ins_fiber fiber = sights_fiber(1, 0, 0, 0);
	struct ins_group_totals *shares;

	(void)state;
	assert_int_equal(ins_group_totals_new(&shares), 0);
	ins_group_totals_begin(shares, &name);
	snprintf(fiber.row.name, sizeof fiber.row.name, "\033[2J");
	add(shares, &fiber, 0, 0);
	assert_int_equal(ins_group_totals_end(shares), 1);
	expect(shares, 0, "\\x1b[2J", 1);
	ins_group_totals_free(shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_sum_what_their_fibers_did),
		cmocka_unit_test(test_shares_of_very_many_texts_are_all_there),
		cmocka_unit_test(test_shares_of_numbers_and_of_nothing_are_apart),
		cmocka_unit_test(test_shares_say_hostile_texts_harmlessly),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
