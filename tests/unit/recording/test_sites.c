/* SPDX-License-Identifier: MIT */
/* test_sites.c - events at one place, and what is printed of all of them */
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/recording/sites.h"
#include "tests/harness/inspect/nowhere.h"

static struct ins_sites *sites;
static struct ins_event event;
static struct ins_walk walk;

static int begin(void **state)
{
	(void)state;
	memset(&event, 0, sizeof event);
	memset(&walk, 0, sizeof walk);
	event.e.doing = FIB_WIRE_DOING_CALLS;
	event.e.call = 1;
	walk.count = 2;
	walk.pc[0] = 0x100;
	walk.pc[1] = 0x200;
	return nowhere_begin() || ins_sites_new(&sites) < 0;
}

static int end(void **state)
{
	(void)state;
	ins_sites_free(sites);
	return nowhere_end();
}

static void add(uint64_t fiber, int64_t duration)
{
	event.e.fiber = fiber;
	event.fiber.row.age = duration;
	assert_int_equal(ins_sites_add(sites, symbols, &event, &walk), 0);
}

static void test_equal_stacks_of_equal_doings_are_one_place(void **state)
{
	const struct ins_site *s;

	(void)state;
	add(5, 30);
	add(6, 10);
	event.e.flags = FIB_WIRE_EVENT_LASTS;
	add(5, 50);
	ins_sites_sort(sites);
	assert_int_equal(ins_sites_count(sites), 1);
	s = ins_sites_at(sites, 0);
	assert_int_equal(s->count, 3);
	assert_int_equal(s->lasting, 1);
	assert_int_equal(s->total, 90);
	assert_int_equal(s->durations.min, 10);
	assert_int_equal(s->durations.median, 30);
	assert_int_equal(s->durations.max, 50);
	assert_int_equal(s->ids.count, 2);
	assert_int_equal(s->ids.id[0], 5);
	assert_int_equal(s->ids.id[1], 6);
}

static void test_a_place_has_the_first_and_the_last_time(void **state)
{
	const struct ins_site *s;

	(void)state;
	event.e.began = 70;
	event.ago = 30;
	event.wall = 1070;
	add(5, 1);
	event.e.began = 20;
	event.ago = 80;
	event.wall = 1020;
	add(6, 1);
	event.e.began = 50;
	event.ago = 50;
	event.wall = 1050;
	add(7, 1);
	s = ins_sites_at(sites, 0);
	assert_int_equal(s->count, 3);
	assert_true(s->first.began == 20 && s->first.ago == 80 && s->first.wall == 1020);
	assert_true(s->last.began == 70 && s->last.ago == 30 && s->last.wall == 1070);
}

static void test_what_differs_is_another_place_and_the_longest_comes_first(void **state)
{
	(void)state;
	add(1, 10);
	event.e.call = 2;
	add(2, 20);
	walk.pc[0] = 0x108;
	add(3, 30);
	walk.pc[1] = 0x208;
	add(4, 40);
	walk.count = 1;
	add(5, 50);
	event.e.doing = FIB_WIRE_DOING_COMPUTES;
	add(6, 60);
	ins_sites_sort(sites);
	assert_int_equal(ins_sites_count(sites), 6);
	assert_int_equal(ins_sites_at(sites, 0)->ids.id[0], 6);
	assert_int_equal(ins_sites_at(sites, 5)->ids.id[0], 1);
}

static void test_without_a_stack_the_reason_is_the_place(void **state)
{
	(void)state;
	walk.count = 0;
	event.e.lack = FIB_WIRE_LACK_MISSED;
	add(1, 10);
	add(2, 10);
	event.e.lack = FIB_WIRE_LACK_SIGNAL;
	add(3, 10);
	assert_int_equal(ins_sites_count(sites), 2);
}

static void test_the_latest_ids_are_kept_each_once(void **state)
{
	const struct ins_site *s;
	unsigned i;

	(void)state;
	for (i = 1; i <= INS_SAMPLE + 2; i++)
		add(i, 10);
	add(4, 10);
	s = ins_sites_at(sites, 0);
	assert_int_equal(s->ids.count, INS_SAMPLE);
	assert_int_equal(s->ids.id[0], 4);
	assert_int_equal(s->ids.id[1], INS_SAMPLE + 2);
	for (i = 1; i < s->ids.count; i++)
		assert_int_not_equal(s->ids.id[i], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_equal_stacks_of_equal_doings_are_one_place,
						begin, end),
		cmocka_unit_test_setup_teardown(test_a_place_has_the_first_and_the_last_time, begin,
						end),
		cmocka_unit_test_setup_teardown(
			test_what_differs_is_another_place_and_the_longest_comes_first, begin, end),
		cmocka_unit_test_setup_teardown(test_without_a_stack_the_reason_is_the_place, begin,
						end),
		cmocka_unit_test_setup_teardown(test_the_latest_ids_are_kept_each_once, begin, end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
