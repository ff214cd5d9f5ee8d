/* SPDX-License-Identifier: MIT */
/* test_runtimes.c - count the fibers of each runtime, also of a damaged program */
#include "inspect/why/look.h"
#include "inspect/why/runtimes.h"
#include "tests/harness/inspect/waiting.h"

#define S INT64_C(1000000000)

static struct ins_source source;
static struct waiting last;
static struct ins_look look;
static struct ins_runtimes runtimes;

static int begin(void **state)
{
	(void)state;
	source = (struct ins_source){.kind = "core"};
	rows_layout(&source.layout);
	last = waiting_new();
	look = (struct ins_look){.source = &source, .single = true};
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&last);
	return 0;
}

static void put(uint64_t id, enum fiber_state is, int64_t age, uint64_t runtime)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_NONE, 0, 0);

	fiber.row.state = (uint8_t)is;
	fiber.row.age = age;
	fiber.row.runtime = runtime;
	waiting_put(&last, &fiber);
}

static void find(void)
{
	waiting_graph(&last);
	look.last = (struct ins_confirmed){.table = last.table, .graph = last.graph};
	ins_runtimes_find(&look, &runtimes);
}

static void test_each_runtime_has_its_own_counts(void **state)
{
	(void)state;
	put(1, FIBER_RUNNING, S, 100);
	put(2, FIBER_RUNNABLE, S, 200);
	put(3, FIBER_RUNNABLE, 1, 200);
	put(4, FIBER_SUSPENDED, S, 200);
	find();
	assert_int_equal(runtimes.count, 2);
	assert_true(ins_runtimes_kept(&runtimes, 100));
	assert_false(ins_runtimes_kept(&runtimes, 200));
	assert_int_equal(ins_runtimes_delayed(&runtimes, 100), 0);
	assert_int_equal(ins_runtimes_delayed(&runtimes, 200), 1);
	assert_int_equal(runtimes.at[1].runnable, 2);
}

static void test_an_unknown_runtime_may_be_any(void **state)
{
	(void)state;
	put(1, FIBER_RUNNING, S, 0);
	put(2, FIBER_RUNNABLE, S, 200);
	find();
	assert_true(ins_runtimes_kept(&runtimes, 200));
	assert_int_equal(ins_runtimes_delayed(&runtimes, 0), 1);
}

static void test_those_of_a_damaged_program_are_counted_together(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 1000; i++)
		put(i, FIBER_RUNNABLE, S, 1000 + i);
	find();
	assert_int_equal(runtimes.count, INS_RUNTIMES_MOST + 1);
	assert_int_equal(ins_runtimes_delayed(&runtimes, 0), 1000);
	assert_int_equal(ins_runtimes_delayed(&runtimes, 1001), 1000 - INS_RUNTIMES_MOST + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_runtime_has_its_own_counts),
		TEST(test_an_unknown_runtime_may_be_any),
		TEST(test_those_of_a_damaged_program_are_counted_together),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
