/* SPDX-License-Identifier: MIT */
/* test_ran.c - which functions the carriers ran, by CPU time, or by the fibers of one moment */
#include "inspect/why/ran.h"
#include "tests/harness/inspect/waiting.h"

static struct ins_source source;
static struct waiting before, after;
static struct ins_look look;
static struct ins_ran_functions ran;

static int begin(void **state)
{
	(void)state;
	source = (struct ins_source){.kind = "live"};
	rows_layout(&source.layout);
	before = waiting_new();
	after = waiting_new();
	look = (struct ins_look){.source = &source};
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&before);
	waiting_free(&after);
	return 0;
}

/* A fiber that has used so much CPU time at the two readings; then: -1: it did not exist. */
static void put(uint64_t id, uint64_t entry, int64_t then, int64_t now, enum fiber_state is)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_NONE, 0, 0);

	fiber.row.entry = entry;
	fiber.row.state = (uint8_t)is;
	fiber.row.runtime = entry == 0x9000 ? 2 : 1;
	fiber.row.cpu = (uint64_t)then;
	if (then >= 0)
		waiting_put(&before, &fiber);
	fiber.row.cpu = (uint64_t)now;
	waiting_put(&after, &fiber);
}

static void find(void)
{
	waiting_graph(&before);
	waiting_graph(&after);
	look.earlier = (struct ins_confirmed){.table = before.table, .graph = before.graph};
	look.last = (struct ins_confirmed){.table = after.table, .graph = after.graph};
	ins_ran_find(&look, 1, &ran);
}

static void put_some(void)
{
	put(1, 0x1000, 100, 105, FIBER_RUNNABLE);
	put(2, 0x2000, 0, 40, FIBER_RUNNABLE);
	put(3, 0x2000, -1, 50, FIBER_SUSPENDED);
	put(4, 0x1000, 70, 70, FIBER_RUNNING); /* it got a carrier just now */
	put(5, 0x9000, 0, 900, FIBER_RUNNING);
}

static void test_functions_are_by_the_cpu_time_between_the_readings(void **state)
{
	(void)state;
	put_some();
	find();
	assert_int_equal(ran.count, 2);
	assert_int_equal(ran.at[0].entry, 0x2000);
	assert_int_equal(ran.at[0].fibers, 2);
	assert_int_equal(ran.at[0].ns, 90);
	assert_int_equal(ran.at[1].entry, 0x1000);
	assert_int_equal(ran.at[1].fibers, 1);
	assert_int_equal(ran.ns, 95);
}

static void test_a_single_reading_has_those_that_ran(void **state)
{
	(void)state;
	put_some();
	look.single = true;
	find();
	assert_int_equal(ran.count, 1);
	assert_int_equal(ran.at[0].entry, 0x1000);
	assert_int_equal(ran.at[0].id, 4);
	assert_int_equal(ran.ns, 0);
}

static void test_more_functions_than_there_is_room_for_are_left_out(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 2 * INS_RAN_MOST; i++)
		put(i, 0x10000 + i, 0, 5, FIBER_RUNNABLE);
	find();
	assert_int_equal(ran.count, INS_RAN_MOST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_functions_are_by_the_cpu_time_between_the_readings),
		TEST(test_a_single_reading_has_those_that_ran),
		TEST(test_more_functions_than_there_is_room_for_are_left_out),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
