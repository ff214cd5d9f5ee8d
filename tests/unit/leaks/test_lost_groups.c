/* SPDX-License-Identifier: MIT */
/* test_lost_groups.c - lost fibers by the place that spawned them and what they wait for */
#include "inspect/leaks/lost_groups.h"

#include <stdlib.h>

#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

static struct ins_table *table;
static struct ins_lost_groups groups;
static size_t at[8];

static void put(uint64_t id, uint64_t spawn_pc, unsigned kind, uint64_t object, int64_t age)
{
	struct ins_fiber fiber = rows_fiber(id, "f");

	fiber.row.spawn_pc = spawn_pc;
	fiber.row.wait_kind = (uint8_t)kind;
	fiber.row.wait_object = object;
	fiber.row.age = age;
	assert_int_equal(ins_table_add(table, &fiber), 0);
}

static int begin(void **state)
{
	(void)state;
	assert_int_equal(ins_table_new(&table), 0);
	put(1, 0x100, FIB_WAIT_SEM, 0x1000, 5);
	put(2, 0x200, FIB_WAIT_SEM, 0x2000, 10);
	put(3, 0x200, FIB_WAIT_SEM, 0x2000, 30);
	put(4, 0x200, FIB_WAIT_EVENT, 0x3000, 7);
	put(5, 0x200, FIB_WAIT_SEM, 0x2000, 20);
	put(6, 0x200, FIB_WAIT_SEM, 0x9000, 90);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(groups.at);
	ins_table_free(table);
	return 0;
}

/* The first n fibers are lost. */
static void group(size_t n)
{
	const struct ins_lost lost = {.table = table, .at = at, .count = n};

	ins_table_count(table);
	for (size_t i = 0; i < n; i++)
		at[i] = i;
	assert_int_equal(ins_lost_groups(&lost, &groups), 0);
}

static void test_fibers_of_one_place_and_wait_are_one_group_the_largest_first(void **state)
{
	(void)state;
	group(5);
	assert_int_equal(groups.count, 3);
	assert_int_equal(groups.at[0].fibers, 3);
	assert_int_equal(groups.at[0].spawn_pc, 0x200);
	assert_int_equal(groups.at[0].object, 0x2000);
	assert_int_equal(groups.at[0].longest, 30);
	assert_int_equal(groups.at[0].example, 2);
	assert_int_equal(groups.at[0].ids.count, 3);
	assert_int_equal(groups.at[0].ids.id[0], 2);
	assert_int_equal(groups.at[1].ids.id[0], 1);
	assert_int_equal(groups.at[2].ids.id[0], 4);
}

static void test_several_objects_are_none(void **state)
{
	(void)state;
	group(6);
	assert_int_equal(groups.at[0].fibers, 4);
	assert_int_equal(groups.at[0].object, 0);
	assert_int_equal(groups.at[0].longest, 90);
}

static void test_stacks_are_counted_in_pages(void **state)
{
	(void)state;
	group(1);
	assert_int_equal(groups.at[0].stacks, 4096);
}

static void test_no_lost_fibers_are_no_groups(void **state)
{
	(void)state;
	group(0);
	assert_int_equal(groups.count, 0);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_fibers_of_one_place_and_wait_are_one_group_the_largest_first),
		EACH(test_several_objects_are_none),
		EACH(test_stacks_are_counted_in_pages),
		EACH(test_no_lost_fibers_are_no_groups),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
