/* SPDX-License-Identifier: MIT */
/* test_top_n.c - the first n are those that sorting all would put first */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "inspect/query/top_n.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/query/sights.h"

#define FIBERS 500
#define MOST   20

static void add(struct ins_top_n *leaders, const struct ins_fiber *fiber, uint64_t cpu,
		uint64_t switches)
{
	const struct ins_fiber_delta did = {.known = true, .cpu = cpu, .switches = switches};
	struct ins_sight sight = sights_of(fiber);

	ins_top_n_add(leaders, &sight, &did);
}

static uint64_t scatter(uint64_t i)
{
	return (i * UINT64_C(6364136223846793005) + 99) >> 40;
}

static int downwards(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static void test_leaders_by_cpu_are_the_busiest_since_the_last_look(void **state)
{
	const struct ins_field cpu = sights_field("cpu");
	struct ins_top_n *leaders;
	uint64_t did[FIBERS], i;

	(void)state;
	assert_int_equal(ins_top_n_new(MOST, &leaders), 0);
	ins_top_n_begin(leaders, &cpu, true);
	for (i = 0; i < FIBERS; i++) {
		/* The total since the spawn has the opposite order. */
		struct ins_fiber fiber = sights_fiber(i + 1, 0, UINT64_MAX - scatter(i), 0);

		did[i] = scatter(i);
		add(leaders, &fiber, did[i], 0);
	}
	qsort(did, FIBERS, sizeof did[0], downwards);
	assert_int_equal(ins_top_n_end(leaders), MOST);
	for (i = 0; i < MOST; i++) {
		assert_int_equal(ins_top_n_at(leaders, i)->did.cpu, did[i]);
		assert_int_equal(scatter(ins_top_n_at(leaders, i)->fiber.row.id - 1), did[i]);
	}
	ins_top_n_free(leaders);
}

static void test_leaders_take_another_order_in_the_next_look(void **state)
{
	const struct ins_field switches = sights_field("switches"), age = sights_field("age");
	struct ins_top_n *leaders;
	uint64_t i;

	(void)state;
	assert_int_equal(ins_top_n_new(3, &leaders), 0);
	ins_top_n_begin(leaders, &switches, true);
	for (i = 1; i <= 100; i++) {
		struct ins_fiber fiber = sights_fiber(i, 0, 0, 0);

		add(leaders, &fiber, 0, i * 37 % 101);
	}
	assert_int_equal(ins_top_n_end(leaders), 3);
	assert_int_equal(ins_top_n_at(leaders, 0)->did.switches, 100);
	assert_int_equal(ins_top_n_at(leaders, 2)->did.switches, 98);

	ins_top_n_begin(leaders, &age, false);
	for (i = 1; i <= 100; i++) {
		struct ins_fiber fiber = sights_fiber(i, 0, 0, 0);

		fiber.row.age = (int64_t)(i * 37 % 101);
		add(leaders, &fiber, 0, i);
	}
	assert_int_equal(ins_top_n_end(leaders), 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(ins_top_n_at(leaders, i)->fiber.row.age, i + 1);
	ins_top_n_free(leaders);
}

static void test_leaders_by_text_keep_the_text(void **state)
{
	const struct ins_field name = sights_field("name");
	struct ins_top_n *leaders;
	unsigned i;

	(void)state;
	assert_int_equal(ins_top_n_new(2, &leaders), 0);
	ins_top_n_begin(leaders, &name, false);
	for (i = 0; i < 50; i++) {
		struct ins_fiber fiber = sights_fiber(i + 1, 0, 0, 0);

		if (i)
			snprintf(fiber.row.name, sizeof fiber.row.name, "n%02u", i * 7 % 50);
		add(leaders, &fiber, 0, 0);
	}
	assert_int_equal(ins_top_n_end(leaders), 2);
	assert_string_equal(ins_top_n_at(leaders, 0)->fiber.row.name, "n01");
	assert_string_equal(ins_top_n_at(leaders, 1)->fiber.row.name, "n02");
	ins_top_n_free(leaders);
}

/* A fiber without the field's value is last in both directions. */
static void test_leaders_without_a_value_are_last(void **state)
{
	const struct ins_field fd = sights_field("fd");
	struct ins_top_n *leaders;
	int backwards;

	(void)state;
	assert_int_equal(ins_top_n_new(10, &leaders), 0);
	for (backwards = 0; backwards < 2; backwards++) {
		uint64_t i;

		ins_top_n_begin(leaders, &fd, backwards);
		for (i = 1; i <= 3; i++) {
			struct ins_fiber fiber = sights_fiber(i, 0, 0, 0);

			if (i > 1)
				fiber.row.wait_kind = FIB_WAIT_FD;
			fiber.row.wait_arg = i;
			add(leaders, &fiber, 0, 0);
		}
		assert_int_equal(ins_top_n_end(leaders), 3);
		assert_int_equal(ins_top_n_at(leaders, 0)->fiber.row.id, backwards ? 3 : 2);
		assert_int_equal(ins_top_n_at(leaders, 2)->fiber.row.id, 1);
	}
	ins_top_n_free(leaders);
}

static void test_leaders_that_are_equal_are_by_switches_then_as_they_came(void **state)
{
	const struct ins_field cpu = sights_field("cpu");
	const uint64_t expected[] = {5, 1, 2, 3};
	struct ins_top_n *leaders;
	uint64_t i;

	(void)state;
	assert_int_equal(ins_top_n_new(4, &leaders), 0);
	ins_top_n_begin(leaders, &cpu, true);
	for (i = 1; i <= 9; i++) {
		struct ins_fiber fiber = sights_fiber(i, 0, 0, 0);

		add(leaders, &fiber, 7, i == 5);
	}
	assert_int_equal(ins_top_n_end(leaders), 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(ins_top_n_at(leaders, i)->fiber.row.id, expected[i]);
	ins_top_n_free(leaders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaders_by_cpu_are_the_busiest_since_the_last_look),
		cmocka_unit_test(test_leaders_take_another_order_in_the_next_look),
		cmocka_unit_test(test_leaders_by_text_keep_the_text),
		cmocka_unit_test(test_leaders_without_a_value_are_last),
		cmocka_unit_test(test_leaders_that_are_equal_are_by_switches_then_as_they_came),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
