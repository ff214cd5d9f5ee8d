/* SPDX-License-Identifier: MIT */
/* test_delta.c - a fiber's activity is the difference of two looks, also if fibers come and go */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/query/delta.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/query/sights.h"

static struct ins_fiber_delta add(struct ins_delta *change, uint64_t id, int64_t now, uint64_t cpu,
				  uint64_t switches)
{
	struct ins_fiber fiber = sights_fiber(id, now, cpu, switches);
	struct ins_fiber_delta did;

	assert_int_equal(ins_delta_add(change, &fiber, &did), 0);
	return did;
}

static void test_change_of_the_first_look_is_unknown(void **state)
{
	struct ins_delta *change;
	struct ins_fiber_delta did;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_begin(change);
	did = add(change, 1, 1000, 500, 5);
	assert_false(did.known);
	assert_int_equal(did.cpu, 0);
	assert_int_equal(ins_delta_ns(change), 0);
	assert_int_equal(ins_delta_fresh(change), 0);
	assert_int_equal(ins_delta_gone(change), 0);
	ins_delta_free(change);
}

static void test_change_of_lives_is_since_each_was_spawned(void **state)
{
	struct ins_fiber fiber = sights_fiber(2, 1000, 300, 4);
	struct ins_delta *change;
	struct ins_fiber_delta did;
	int look;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_since_spawn(change);
	for (look = 0; look < 2; look++) { /* the second look sees the same values */
		ins_delta_begin(change);
		fiber.row.lived = 700;
		assert_int_equal(ins_delta_add(change, &fiber, &did), 0);
		fiber.row.lived = FIB_ROW_UNKNOWN;
		assert_int_equal(ins_delta_add(change, &fiber, &did), 0);
		assert_true(did.known);
		assert_false(did.fresh);
		assert_int_equal(did.cpu, 300);
		assert_int_equal(did.switches, 4);
		assert_int_equal(ins_delta_ns(change), 700);
		assert_int_equal(ins_delta_fresh(change), 0);
		assert_int_equal(ins_delta_gone(change), 0);
	}
	ins_delta_free(change);
}

static void test_change_is_the_difference_of_two_looks(void **state)
{
	struct ins_delta *change;
	struct ins_fiber_delta did;
	int64_t now;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	for (now = 1; now <= 4; now++) {
		ins_delta_begin(change);
		did = add(change, 7, 1000 * now, (uint64_t)(now * now), (uint64_t)(10 * now));
		add(change, 8, 1000 * now, 3, 3);
	}
	assert_true(did.known);
	assert_false(did.fresh);
	assert_int_equal(did.cpu, 16 - 9);
	assert_int_equal(did.switches, 10);
	assert_int_equal(ins_delta_ns(change), 1000);
	ins_delta_free(change);
}

/* Two different orders, neither of them by id: an odd step modulo 4096 visits every id once. */
static void test_change_finds_fibers_in_any_order(void **state)
{
	struct ins_delta *change;
	struct ins_fiber_delta did;
	uint64_t i, id;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_begin(change);
	for (i = 0; i < 4096; i++) {
		id = 1 + i * 31 % 4096;
		add(change, id, 1000, 100 * id, id);
	}
	ins_delta_begin(change);
	for (i = 0; i < 4096; i++) {
		id = 1 + i * 45 % 4096;
		did = add(change, id, 2000, 100 * id + id % 7, 2 * id);
		assert_false(did.fresh);
		assert_int_equal(did.cpu, id % 7);
		assert_int_equal(did.switches, id);
	}
	assert_int_equal(ins_delta_fresh(change), 0);
	assert_int_equal(ins_delta_gone(change), 0);
	ins_delta_free(change);
}

static void test_change_counts_the_new_and_the_gone(void **state)
{
	struct ins_delta *change;
	struct ins_fiber_delta did;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_begin(change);
	add(change, 1, 1000, 10, 1);
	add(change, 2, 1000, 10, 1);
	add(change, 5, 1000, 10, 1);
	ins_delta_begin(change);
	add(change, 2, 2000, 10, 1);
	did = add(change, 9, 2000, 70, 4);
	assert_true(did.known);
	assert_true(did.fresh);
	assert_int_equal(did.cpu, 70);
	assert_int_equal(did.switches, 4);
	assert_int_equal(ins_delta_fresh(change), 1);
	assert_int_equal(ins_delta_gone(change), 2);
	ins_delta_free(change);
}

static void test_change_of_counts_that_go_back_is_none(void **state)
{
	struct ins_delta *change;
	struct ins_fiber_delta did;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_begin(change);
	add(change, 1, 5000, 100, 10);
	ins_delta_begin(change);
	did = add(change, 1, 4000, 99, 9);
	assert_int_equal(did.cpu, 0);
	assert_int_equal(did.switches, 0);
	assert_int_equal(ins_delta_ns(change), 0);
	ins_delta_begin(change);
	add(change, 1, INT64_MIN, 0, 0);
	ins_delta_begin(change);
	did = add(change, 1, INT64_MAX, UINT64_MAX, UINT64_MAX);
	assert_int_equal(did.cpu, UINT64_MAX);
	assert_int_equal(ins_delta_ns(change), 0);
	ins_delta_free(change);
}

static void test_change_after_an_empty_look_is_unknown(void **state)
{
	struct ins_delta *change;

	(void)state;
	assert_int_equal(ins_delta_new(&change), 0);
	ins_delta_begin(change);
	add(change, 1, 1000, 10, 1);
	ins_delta_begin(change);
	assert_int_equal(ins_delta_gone(change), 1);
	ins_delta_begin(change);
	assert_false(add(change, 2, 3000, 10, 1).known);
	ins_delta_free(change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change_of_the_first_look_is_unknown),
		cmocka_unit_test(test_change_of_lives_is_since_each_was_spawned),
		cmocka_unit_test(test_change_is_the_difference_of_two_looks),
		cmocka_unit_test(test_change_finds_fibers_in_any_order),
		cmocka_unit_test(test_change_counts_the_new_and_the_gone),
		cmocka_unit_test(test_change_of_counts_that_go_back_is_none),
		cmocka_unit_test(test_change_after_an_empty_look_is_unknown),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
