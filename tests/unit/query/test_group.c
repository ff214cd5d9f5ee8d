/* SPDX-License-Identifier: MIT */
/* test_group.c - which fibers form a group, what is printed of a group, and the order of groups */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/query/group.h"
#include "tests/harness/inspect/rows.h"

static struct ins_groups *groups;
static struct ins_walk walk;
static struct ins_fiber fiber;
static const char *key;

static int begin(void **state)
{
	(void)state;
	key = NULL;
	fiber = rows_fiber(10, "a");
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	fiber.row.wait_object = 0x5000;
	fiber.row.holder = 88;
	memset(&walk, 0, sizeof walk);
	walk.count = 3;
	walk.pc[0] = 0x100;
	walk.pc[1] = 0x200;
	walk.pc[2] = 0x300;
	return ins_groups_new(&groups);
}

static int end(void **state)
{
	(void)state;
	ins_groups_free(groups);
	return 0;
}

static void add(uint64_t id)
{
	fiber.row.id = id;
	assert_int_equal(ins_groups_add(groups, key, &fiber, &walk), 0);
}

static const struct ins_group *at(size_t i)
{
	return ins_groups_at(groups, i);
}

static void test_equal_walks_of_equal_waits_are_one_group(void **state)
{
	(void)state;
	add(10);
	strcpy(fiber.row.name, "another name");
	fiber.row.switches = 99;
	/* Program counters beyond the count are ignored. */
	walk.pc[3] = 0x400;
	add(11);
	ins_groups_sort(groups);
	assert_int_equal(ins_groups_count(groups), 1);
	assert_int_equal(at(0)->count, 2);
	assert_int_equal(at(0)->walk->count, 3);
	assert_int_equal(at(0)->walk->pc[2], 0x300);
	assert_true(at(0)->same_wait);
}

static void test_any_difference_of_place_makes_another_group(void **state)
{
	(void)state;
	add(1);
	walk.pc[1]++;
	add(2);
	walk.pc[1]--;
	walk.count = 2;
	add(3);
	walk.count = 3;
	walk.truncated = true;
	add(4);
	walk.truncated = false;
	fiber.row.wait_kind = FIB_WAIT_SEM;
	add(5);
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	fiber.row.state = FIBER_RUNNABLE;
	add(6);
	walk.count = 0;
	add(7);
	ins_groups_sort(groups);
	assert_int_equal(ins_groups_count(groups), 7);
}

static void test_what_members_do_not_share_is_not_said(void **state)
{
	(void)state;
	strcpy(fiber.row.object_name, "cfg");
	add(1);
	add(2);
	assert_string_equal(at(0)->fiber.row.object_name, "cfg");
	assert_int_equal(at(0)->fiber.row.holder, 88);
	fiber.row.wait_object = 0x6000;
	fiber.row.holder = 89;
	fiber.row.deadline = 7;
	add(3);
	assert_false(at(0)->same_wait);
	assert_int_equal(at(0)->fiber.row.wait_object, 0);
	assert_string_equal(at(0)->fiber.row.object_name, "");
	assert_int_equal(at(0)->fiber.row.holder, 0);
	assert_int_equal(at(0)->fiber.row.deadline, INT64_MAX);
	/* A later member with the first value does not restore it. */
	fiber.row.wait_object = 0x5000;
	fiber.row.holder = 88;
	add(4);
	assert_int_equal(at(0)->fiber.row.wait_object, 0);
	assert_int_equal(at(0)->fiber.row.holder, 0);
}

static void test_descriptors_differ_and_their_events_are_shared(void **state)
{
	(void)state;
	fiber.row.wait_kind = FIB_WAIT_FD;
	fiber.row.wait_arg = UINT64_C(1) << 32 | 17;
	add(1);
	fiber.row.wait_arg = UINT64_C(1) << 32 | 18;
	add(2);
	assert_true(at(0)->fiber.row.wait_arg == (UINT64_C(1) << 32 | UINT32_MAX));
	fiber.row.wait_arg = UINT64_C(4) << 32 | 18;
	add(3);
	assert_true(at(0)->fiber.row.wait_arg == FIB_ROW_UNKNOWN);
}

/* The argument leads to the thread of each call. */
static void test_polls_of_other_descriptors_are_one_group_without_their_names(void **state)
{
	(void)state;
	fiber.row.wait_kind = FIB_WAIT_SELECT;
	fiber.row.wait_object = 0;
	fiber.row.wait_arg = UINT64_C(2) << 32 | 2;
	strcpy(fiber.row.object_name, "25 read, 26 read");
	add(1);
	add(2);
	assert_string_equal(at(0)->fiber.row.object_name, "25 read, 26 read");
	assert_true(at(0)->same_wait);
	strcpy(fiber.row.object_name, "27 read, 28 read");
	add(3);
	assert_int_equal(at(0)->count, 3);
	assert_string_equal(at(0)->fiber.row.object_name, "");
	assert_int_equal(at(0)->fiber.row.wait_arg, UINT64_C(2) << 32 | 2);
	assert_false(at(0)->same_wait);
}

static void test_calls_of_one_function_are_the_same_wait(void **state)
{
	(void)state;
	fiber.row.wait_kind = FIB_WAIT_OFFLOAD;
	for (uint64_t id = 1; id <= 2; id++) {
		fiber.row.wait_arg = 0x2000 + 8 * id;
		fiber.row.holder = FIB_HOLDER_THREAD | id;
		add(id);
	}
	assert_true(at(0)->same_wait);
	assert_int_equal(at(0)->fiber.row.holder, 0);
}

static void test_samples_are_the_lowest_ids_ascending(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 143; i++)
		add(1000 - 7 * i); /* 1000, 993, ... 6 */
	ins_groups_sort(groups);
	assert_int_equal(at(0)->ids.count, INS_SAMPLE);
	for (i = 0; i < INS_SAMPLE; i++)
		assert_int_equal(at(0)->ids.id[i], 6 + 7 * i);
}

static void test_ages_are_least_middle_and_most(void **state)
{
	static const int64_t ages[] = {50, 10, 40, 20, 30};
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		fiber.row.age = ages[i];
		add(i + 1);
	}
	ins_groups_sort(groups);
	assert_int_equal(at(0)->ages.min, 10);
	assert_int_equal(at(0)->ages.median, 30);
	assert_int_equal(at(0)->ages.max, 50);
}

static void test_order_is_by_size_then_by_lowest_id(void **state)
{
	(void)state;
	walk.pc[0] = 1;
	add(50);
	walk.pc[0] = 2;
	add(7);
	walk.pc[0] = 3;
	add(60);
	add(3);
	walk.pc[0] = 4;
	add(8);
	ins_groups_sort(groups);
	assert_int_equal(at(0)->walk->pc[0], 3);
	assert_int_equal(at(1)->walk->pc[0], 2);
	assert_int_equal(at(2)->walk->pc[0], 4);
	assert_int_equal(at(3)->walk->pc[0], 1);
}

static void test_fifty_thousand_fibers_in_as_many_places_are_told_apart(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 1; i <= 50000; i++) {
		walk.pc[2] = i * 16;
		add(i);
		if (i % 5 == 0)
			add(100000 + i);
	}
	ins_groups_sort(groups);
	assert_int_equal(ins_groups_count(groups), 50000);
	assert_int_equal(at(0)->count, 2);
	assert_int_equal(at(0)->ids.id[0], 5);
	assert_int_equal(at(49999)->count, 1);
}

static void test_keys_of_most_fibers_stand_first_and_together(void **state)
{
	(void)state;
	key = "few";
	add(1);
	add(2);
	key = "many";
	add(3);
	walk.pc[0] = 2;
	add(4);
	add(5);
	key = "also few";
	add(6);
	add(7);
	ins_groups_sort(groups);
	assert_int_equal(ins_groups_count(groups), 4);
	assert_string_equal(at(0)->key->text, "many");
	assert_int_equal(at(0)->key->count, 3);
	assert_int_equal(at(0)->count, 2);
	assert_ptr_equal(at(1)->key, at(0)->key);
	assert_int_equal(at(1)->count, 1);
	assert_string_equal(at(2)->key->text, "also few");
	assert_string_equal(at(3)->key->text, "few");
}

static void test_nothing_sorts_and_frees(void **state)
{
	(void)state;
	ins_groups_sort(groups);
	assert_int_equal(ins_groups_count(groups), 0);
	ins_groups_free(NULL);
}

#define GROUP_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GROUP_TEST(test_equal_walks_of_equal_waits_are_one_group),
		GROUP_TEST(test_any_difference_of_place_makes_another_group),
		GROUP_TEST(test_what_members_do_not_share_is_not_said),
		GROUP_TEST(test_polls_of_other_descriptors_are_one_group_without_their_names),
		GROUP_TEST(test_calls_of_one_function_are_the_same_wait),
		GROUP_TEST(test_descriptors_differ_and_their_events_are_shared),
		GROUP_TEST(test_samples_are_the_lowest_ids_ascending),
		GROUP_TEST(test_ages_are_least_middle_and_most),
		GROUP_TEST(test_order_is_by_size_then_by_lowest_id),
		GROUP_TEST(test_fifty_thousand_fibers_in_as_many_places_are_told_apart),
		GROUP_TEST(test_keys_of_most_fibers_stand_first_and_together),
		GROUP_TEST(test_nothing_sorts_and_frees),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
