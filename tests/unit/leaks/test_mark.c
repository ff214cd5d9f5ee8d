/* SPDX-License-Identifier: MIT */
/* test_mark.c - which fibers something alive can still wake */
#include "inspect/leaks/mark.h"

#include "tests/harness/inspect/marked.h"

/* Offsets in the memory of the test. */
#define ROOT	0x0000u
#define BLOCK	0x10000u /* areas of 64 KiB: each is one object */
#define SECOND	0x20000u
#define THIRD	0x30000u
#define RECORDS 0x40000u
#define STACKS	0x80000u

#define RECORD_SIZE 0x100u
#define ARGUMENT    0x40u
#define STACK_SIZE  0x1000u
#define USED	    0x800u /* where the used part of a stack begins */

static struct ins_mark *mark;

static uint64_t at(uint64_t offset)
{
	return MARKED_BASE + offset;
}

static uint64_t stack(unsigned i)
{
	return STACKS + i * STACK_SIZE;
}

static uint64_t record(unsigned i)
{
	return RECORDS + i * RECORD_SIZE;
}

static int begin(void **state)
{
	(void)state;
	marked_begin(0);
	assert_int_equal(ins_mark_new(marked.windows, &mark), 0);
	/* An area ends where the next one of another kind begins. */
	ins_mark_area(mark, at(BLOCK), at(BLOCK) + 0xff00, false);
	ins_mark_area(mark, at(SECOND), at(SECOND) + 0xff00, false);
	ins_mark_area(mark, at(THIRD), at(THIRD) + 0xff00, false);
	ins_mark_area(mark, at(STACKS), at(STACKS) + 0x40000, false);
	ins_mark_root(mark, at(ROOT), at(ROOT) + 0x1000);
	ins_mark_records(mark, at(RECORDS), RECORD_SIZE, 16, ARGUMENT);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_mark_free(mark);
	marked_end();
	return 0;
}

/* The next fiber, number i. object: an address; 0: it does not wait for another one. */
static void fiber(unsigned i, uint64_t object)
{
	const struct ins_mark_fiber f = {
		.stack_low = at(stack(i)),
		.stack_end = at(stack(i)) + STACK_SIZE,
		.stack_used = at(stack(i)) + USED,
		.record = at(record(i)),
		.object = object,
		.alive = !object,
	};

	/* Its own stack knows what it waits for. */
	if (object)
		marked_put(stack(i) + 0xf00, object);
	assert_int_equal(ins_mark_fiber(mark, &f), 0);
}

static void expect(unsigned i, bool alive)
{
	assert_int_equal(ins_mark_alive(mark, i), alive);
}

static void mark_all(void)
{
	assert_int_equal(ins_mark_all(mark), 0);
}

static void test_an_object_that_nothing_reaches_loses_its_fiber(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	mark_all();
	expect(0, false);
}

static void test_an_object_in_a_root_is_alive(void **state)
{
	(void)state;
	fiber(0, at(ROOT) + 0x100);
	mark_all();
	expect(0, true);
}

static void test_an_object_where_nothing_is_known_is_alive(void **state)
{
	(void)state;
	fiber(0, 0x1000);
	mark_all();
	expect(0, true);
}

static void test_a_chain_of_blocks_from_a_root_reaches(void **state)
{
	(void)state;
	fiber(0, at(THIRD) + 0x100);
	marked_put(ROOT + 0x20, at(BLOCK) + 0x5000);
	marked_put(BLOCK + 0x10, at(SECOND) + 3); /* to any byte */
	marked_put(SECOND + 0xfe00, at(THIRD) + 0x80);
	mark_all();
	expect(0, true);
}

static void test_a_register_reaches(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	ins_mark_word(mark, at(BLOCK));
	mark_all();
	expect(0, true);
}

static void test_a_pointer_in_a_live_stack_reaches_and_one_below_it_does_not(void **state)
{
	(void)state;
	fiber(0, 0);
	fiber(1, at(BLOCK) + 0x100);
	fiber(2, at(SECOND) + 0x100);
	marked_put(stack(0) + USED + 8, at(BLOCK) + 0x100);
	marked_put(stack(0) + USED - 8, at(SECOND) + 0x100);
	mark_all();
	expect(1, true);
	expect(2, false);
}

static void test_a_fiber_that_becomes_alive_makes_others_alive(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	fiber(1, at(SECOND) + 0x100);
	fiber(2, at(THIRD) + 0x100);
	marked_put(ROOT, at(BLOCK));
	marked_put(stack(0) + 0xe00, at(SECOND));
	marked_put(stack(1) + 0xe00, at(THIRD));
	mark_all();
	for (unsigned i = 0; i < 3; i++)
		expect(i, true);
}

static void test_fibers_that_only_know_each_other_are_lost(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	fiber(1, at(SECOND) + 0x100);
	marked_put(stack(0) + 0xe00, at(SECOND) + 0x100);
	marked_put(stack(1) + 0xe00, at(BLOCK) + 0x100);
	mark_all();
	expect(0, false);
	expect(1, false);
}

static void test_an_object_on_a_stack_is_reached_through_that_stack(void **state)
{
	(void)state;
	fiber(0, at(stack(0)) + 0xc00); /* on its own */
	fiber(1, at(stack(1)) + 0xc00);
	fiber(2, at(stack(3)) + 0xc00); /* on a stack that is alive */
	fiber(3, 0);
	marked_put(ROOT, at(stack(1)) + 0xb00);
	mark_all();
	expect(0, false);
	expect(1, true);
	expect(2, true);
}

static void test_a_pointer_to_the_unused_part_of_a_stack_reaches_nothing(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	marked_put(ROOT, at(stack(0)));
	mark_all();
	expect(0, false);
}

static void test_a_pointer_to_its_stack_wakes_a_fiber(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	marked_put(ROOT, at(stack(0)) + 0xd00); /* a queue's node */
	mark_all();
	expect(0, true);
}

static void test_a_handle_is_noted_and_wakes_nobody(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	fiber(1, at(BLOCK) + 0x200);
	marked_put(ROOT, at(record(0)));
	mark_all();
	expect(0, false);
	assert_true(ins_mark_held(mark, 0));
	assert_false(ins_mark_held(mark, 1));
}

static void test_its_own_stack_does_not_hold_a_fiber(void **state)
{
	(void)state;
	fiber(0, 0);
	marked_put(stack(0) + 0xf80, at(record(0)));
	mark_all();
	assert_false(ins_mark_held(mark, 0));
}

static void test_a_join_is_alive_with_the_fiber_that_it_joins(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	fiber(1, at(SECOND) + 0x100);
	fiber(2, at(record(0)));
	fiber(3, at(record(1)));
	marked_put(ROOT, at(BLOCK));
	mark_all();
	expect(2, true);
	expect(3, false);
}

static void test_a_record_reaches_what_its_fiber_was_given_but_no_other_record(void **state)
{
	(void)state;
	fiber(0, 0);
	fiber(1, at(BLOCK) + 0x100);
	marked_put(record(0) + ARGUMENT, at(BLOCK));
	marked_put(record(0) + 8, at(record(2))); /* a link of libfiber's */
	fiber(2, at(SECOND) + 0x100);
	mark_all();
	expect(1, true);
	expect(2, false);
	assert_false(ins_mark_held(mark, 2));
}

static void test_an_argument_may_be_a_handle(void **state)
{
	(void)state;
	fiber(0, 0);
	fiber(1, at(BLOCK) + 0x100);
	marked_put(record(0) + ARGUMENT, at(record(1)));
	mark_all();
	assert_true(ins_mark_held(mark, 1));
}

static void test_dead_memory_is_not_followed(void **state)
{
	(void)state;
	fiber(0, at(SECOND) + 0x100);
	assert_int_equal(ins_mark_dead(mark, at(BLOCK), at(BLOCK) + 0xff00), 0);
	marked_put(ROOT, at(BLOCK) + 0x10);
	marked_put(BLOCK + 0x10, at(SECOND));
	mark_all();
	expect(0, false);
}

static void test_more_memory_may_be_marked_later(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	fiber(1, at(SECOND) + 0x100);
	marked_put(THIRD + 0x100, at(BLOCK));
	mark_all();
	expect(0, false);
	assert_int_equal(ins_mark_more(mark, at(THIRD), at(THIRD) + 0x200), 0);
	expect(0, true);
	expect(1, false);
	assert_int_equal(ins_mark_more_word(mark, at(SECOND) + 0x100), 0);
	expect(1, true);
}

/* As after the first pass over a program that runs: a block has changed since. */
static void test_the_second_pass_reads_memory_anew(void **state)
{
	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	marked_put(ROOT, at(SECOND));
	mark_all();
	expect(0, false);
	marked_put(SECOND + 0x40, at(BLOCK));
	ins_mark_again(mark);
	assert_int_equal(ins_mark_more(mark, at(ROOT), at(ROOT) + 0x1000), 0);
	expect(0, true);
}

static void test_a_copy_of_a_record_counts_as_it_is(void **state)
{
	uint64_t copy[RECORD_SIZE / 8] = {0};

	(void)state;
	fiber(0, at(BLOCK) + 0x100);
	mark_all();
	ins_mark_again(mark);
	copy[ARGUMENT / 8] = at(BLOCK);
	assert_int_equal(ins_mark_more_record(mark, at(record(1)), copy), 0);
	expect(0, true);
}

/* The head of a group has the first link, which is within a record. */
static void test_a_list_through_records_holds_each_fiber_in_it(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		fiber(i, at(BLOCK) + 0x100);
	marked_put(ROOT, at(record(0) + 0x80));
	marked_put(record(0) + 0x80, at(record(1) + 0x80));
	marked_put(record(1) + 0x88, at(record(0) + 0x80));
	mark_all();
	expect(1, false);
	assert_true(ins_mark_held(mark, 0));
	assert_true(ins_mark_held(mark, 1));
	assert_false(ins_mark_held(mark, 2));
}

/* Another library may have its records in its data. */
static void test_records_in_a_root_are_no_root(void **state)
{
	(void)state;
	ins_mark_root(mark, at(RECORDS), at(RECORDS) + 16 * RECORD_SIZE);
	fiber(0, at(BLOCK) + 0x100);
	marked_put(record(0) + 8, at(BLOCK) + 0x100); /* what it waits for */
	mark_all();
	expect(0, false);
}

static void test_wrong_numbers_do_no_harm(void **state)
{
	const struct ins_mark_fiber f = {
		.stack_low = UINT64_MAX - 8,
		.stack_end = UINT64_MAX,
		.stack_used = 0,
		.record = UINT64_MAX,
		.object = UINT64_MAX,
	};

	(void)state;
	assert_int_equal(ins_mark_fiber(mark, &f), 0);
	fiber(1, at(BLOCK) + 0x100);
	mark_all();
	expect(0, true);
	expect(1, false);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_an_object_that_nothing_reaches_loses_its_fiber),
		EACH(test_an_object_in_a_root_is_alive),
		EACH(test_an_object_where_nothing_is_known_is_alive),
		EACH(test_a_chain_of_blocks_from_a_root_reaches),
		EACH(test_a_register_reaches),
		EACH(test_a_pointer_in_a_live_stack_reaches_and_one_below_it_does_not),
		EACH(test_a_fiber_that_becomes_alive_makes_others_alive),
		EACH(test_fibers_that_only_know_each_other_are_lost),
		EACH(test_an_object_on_a_stack_is_reached_through_that_stack),
		EACH(test_a_pointer_to_the_unused_part_of_a_stack_reaches_nothing),
		EACH(test_a_pointer_to_its_stack_wakes_a_fiber),
		EACH(test_a_handle_is_noted_and_wakes_nobody),
		EACH(test_its_own_stack_does_not_hold_a_fiber),
		EACH(test_a_join_is_alive_with_the_fiber_that_it_joins),
		EACH(test_a_record_reaches_what_its_fiber_was_given_but_no_other_record),
		EACH(test_an_argument_may_be_a_handle),
		EACH(test_dead_memory_is_not_followed),
		EACH(test_more_memory_may_be_marked_later),
		EACH(test_the_second_pass_reads_memory_anew),
		EACH(test_a_copy_of_a_record_counts_as_it_is),
		EACH(test_a_list_through_records_holds_each_fiber_in_it),
		EACH(test_records_in_a_root_are_no_root),
		EACH(test_wrong_numbers_do_no_harm),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
