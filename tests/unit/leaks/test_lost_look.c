/* SPDX-License-Identifier: MIT */
/* test_lost_look.c - one look at the memory of a source: roots, fibers, and what has moved since */
#include "inspect/leaks/lost_look.h"

#include "inspect/model/thread_at.h"

#include "tests/harness/inspect/marked.h"
#include "tests/harness/inspect/rows.h"

/* Offsets in the memory of the test: an area each. */
#define DATA	0x00000u /* mapped from a file */
#define SHARED	0x10000u
#define HEAP	0x20000u
#define FROZEN	0x30000u /* private and read-only */
#define RECORDS 0x40000u
#define STACKS	0x50000u
#define THREAD	0x60000u /* the stack of a thread */
#define SLABS	0x70000u /* the table of the memory for stacks */
#define POOL	0x80000u /* memory for stacks */
#define AREA	0xf000u

#define STACK_SIZE 0x1000u
#define FIBERS	   4

static struct ins_source source;
static struct ins_lost_look look;
static struct rows_record records[FIBERS];
static bool moved[FIBERS];
static uint64_t thread_register;
static size_t hidden; /* areas at the end that are not mapped */

static uint64_t at(uint64_t offset)
{
	return MARKED_BASE + offset;
}

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	return marked_read(reader, address, buf, size);
}

static int regions(struct ins_source *s, struct ins_regions *ret)
{
	static const struct ins_region areas[] = {
		{DATA, DATA + AREA, true, false, true, false},
		{SHARED, SHARED + AREA, true, true, true, false},
		{HEAP, HEAP + AREA, true, false, false, false},
		{FROZEN, FROZEN + AREA, false, false, false, false},
		{RECORDS, RECORDS + AREA, true, false, false, false},
		{STACKS, STACKS + AREA, true, false, false, false},
		{THREAD, THREAD + AREA, true, false, false, false},
		{SLABS, SLABS + AREA, true, false, false, false},
		{POOL, POOL + AREA, true, false, false, false},
	};
	size_t i;

	(void)s;
	ret->count = sizeof areas / sizeof areas[0];
	ret->at = malloc(sizeof areas);
	memcpy(ret->at, areas, sizeof areas);
	ret->count -= hidden;
	for (i = 0; i < ret->count; i++) {
		ret->at[i].start += MARKED_BASE;
		ret->at[i].end += MARKED_BASE;
	}
	return 0;
}

static int threads(struct ins_source *s, struct ins_thread_ids *ret)
{
	(void)s;
	ret->count = 1;
	ret->tid = calloc(1, sizeof *ret->tid);
	ret->tid[0] = 9;
	return 0;
}

static int thread_at(struct ins_source *s, uint64_t tid, enum ins_thread_ask ask,
		     struct ins_thread_at *ret)
{
	(void)s;
	(void)ask;
	memset(ret, 0, sizeof *ret);
	ret->tid = tid;
	ret->call = -1;
	ret->registers.pc = 1;
	ret->registers.sp = at(THREAD) + 0x1000;
	ins_registers_set(&ret->registers, 3, thread_register);
	return 0;
}

static const struct ins_source_ops ops = {
	.regions = regions, .threads = threads, .thread_at = thread_at};

/* Fiber number i, with id i + 1, waits for an object. */
static void put(unsigned i, unsigned kind, uint64_t object)
{
	records[i] = (struct rows_record){
		.id = i + 1,
		.seq = 2,
		.stack_low = at(STACKS) + i * STACK_SIZE,
		.stack_size = STACK_SIZE,
		.sp = at(STACKS) + i * STACK_SIZE + 0x800,
		.pc = 1,
		.state = FIBER_SUSPENDED,
		.wait_kind = (uint8_t)kind,
		.object = object,
	};
	/* As in a return address. */
	marked_put(STACKS + i * STACK_SIZE + 0x800, 1);
}

static int begin(void **state)
{
	static struct ins_problems problems;

	(void)state;
	marked_begin(0);
	memset(records, 0, sizeof records);
	memset(moved, 0, sizeof moved);
	thread_register = 0;
	hidden = 0;
	source = (struct ins_source){.kind = "core", .memory = memory, .ops = &ops};
	rows_layout(&source.layout);
	source.layout.records = at(RECORDS);
	source.layout.committed = source.layout.capacity = FIBERS;
	assert_int_equal(ins_modules_new(0, memory, NULL, &problems, &source.modules), 0);
	look = (struct ins_lost_look){.source = &source, .moved = moved};
	marked_put(THREAD + 0x1000, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_lost_look_drop(&look);
	ins_table_free(look.table);
	ins_modules_free(source.modules);
	marked_end();
	return 0;
}

static void write_records(void)
{
	memcpy((char *)marked.words + RECORDS, records, sizeof records);
}

static void mark(void)
{
	size_t i;

	write_records();
	assert_int_equal(ins_table_new(&look.table), 0);
	for (i = 0; i < FIBERS; i++) {
		struct ins_fiber fiber = {.now = 0};

		if (!fib_row_decode(&source.layout, &records[i],
				    at(RECORDS) + i * sizeof records[0], 0, &fiber.row))
			continue;
		fiber.row.deadline = INT64_MAX; /* the layout of these rows has none */
		assert_int_equal(ins_table_add(look.table, &fiber), 0);
	}
	ins_table_count(look.table);
	assert_int_equal(ins_lost_look(&look), 0);
}

static void expect(unsigned i, bool alive)
{
	assert_int_equal(ins_mark_alive(look.mark, i), alive);
}

static void test_what_nothing_reaches_is_lost(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	mark();
	expect(0, false);
}

/* The word at an offset reaches, or does not. */
static void expect_from(uint64_t offset, bool alive)
{
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	marked_put(offset, at(HEAP));
	mark();
	expect(0, alive);
}

static void test_data_of_a_module_is_a_root(void **state)
{
	(void)state;
	expect_from(DATA + 0x800, true);
}

static void test_shared_memory_is_a_root(void **state)
{
	(void)state;
	expect_from(SHARED + 0x800, true);
}

static void test_the_stack_of_a_thread_is_a_root_from_its_pointer_up(void **state)
{
	(void)state;
	expect_from(THREAD + 0x1000, true);
}

static void test_what_a_thread_has_left_below_its_pointer_is_none(void **state)
{
	(void)state;
	expect_from(THREAD + 0x800, false);
}

static void test_private_memory_is_followed_though_read_only(void **state)
{
	(void)state;
	marked_put(DATA, at(FROZEN));
	expect_from(FROZEN + 0x800, true);
}

static void test_a_register_is_a_root(void **state)
{
	(void)state;
	thread_register = at(HEAP) + 5;
	expect_from(POOL, true);
}

static void test_memory_for_stacks_is_not_followed(void **state)
{
	struct fib_layout_stacks table = {.count = 1, .at = {{at(POOL), at(POOL) + AREA, 0}}};

	(void)state;
	memcpy((char *)marked.words + SLABS, &table, sizeof table);
	source.layout.stacks = at(SLABS);
	marked_put(DATA, at(POOL));
	expect_from(POOL + 0x100, false);
}

static void test_memory_for_stacks_is_followed_if_the_program_does_not_tell(void **state)
{
	(void)state;
	marked_put(DATA, at(POOL));
	expect_from(POOL + 0x100, true);
}

static void test_waits_that_end_without_a_fiber_are_alive(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SLEEP, 0);
	put(1, FIB_WAIT_FD, 0);
	put(2, FIB_WAIT_PARK, 0);
	put(3, FIB_WAIT_SEM, at(HEAP));
	mark();
	for (unsigned i = 0; i < 3; i++)
		expect(i, true);
	expect(3, false);
}

static void test_a_fiber_that_moved_during_the_look_is_marked_afterwards(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	put(1, FIB_WAIT_EVENT, at(FROZEN) + 0x100);
	put(2, FIB_WAIT_SLEEP, 0);
	mark();
	expect(0, false);
	records[2].seq += 2;
	write_records();
	marked_put(STACKS + 2 * STACK_SIZE + 0x900, at(HEAP));
	assert_int_equal(ins_lost_look_again(&look), 0);
	expect(0, true);
	expect(1, false);
	assert_true(moved[2]);
	assert_false(moved[0] || moved[1]);
}

static void test_a_fiber_that_exited_has_moved_and_a_new_one_is_marked(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	put(1, FIB_WAIT_SEM, at(FROZEN) + 0x100);
	mark();
	put(1, FIB_WAIT_SLEEP, 0);
	records[1].id = 77;
	write_records();
	marked_put(STACKS + STACK_SIZE + 0x900, at(HEAP));
	assert_int_equal(ins_lost_look_again(&look), 0);
	expect(0, true);
	assert_true(moved[1]);
}

static void test_memory_that_was_mapped_during_the_look_is_alive(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	hidden = 1;
	mark();
	expect(0, false);
	hidden = 0;
	marked_put(POOL + 0x100, at(HEAP));
	assert_int_equal(ins_lost_look_again(&look), 0);
	expect(0, true);
}

/* mlock() of a page makes an area of it. */
static void test_a_stack_in_memory_for_stacks_may_be_in_several_areas(void **state)
{
	struct fib_layout_stacks table = {.count = 1, .at = {{at(THREAD), at(POOL) + AREA, 0}}};

	(void)state;
	memcpy((char *)marked.words + SLABS, &table, sizeof table);
	source.layout.stacks = at(SLABS);
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	put(1, FIB_WAIT_SLEEP, 0);
	records[1].stack_low = at(POOL) - 0x2000;
	records[1].stack_size = 0x4000;
	records[1].sp = at(POOL) + 0x800;
	marked_put(POOL + 0x1000, at(HEAP));
	mark();
	expect(0, true);
}

static void test_pages_that_cannot_be_read_are_counted_if_they_are_still_there(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	marked.hole = at(SHARED);
	marked.hole_end = at(SHARED) + 4096;
	mark();
	assert_int_equal(ins_lost_look_check(&look), 0);
	assert_int_equal(look.unread, 1);
}

/* gdb's gcore leaves zeros. */
static void test_stacks_that_a_core_lacks_are_counted(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	put(1, FIB_WAIT_SLEEP, 0);
	mark();
	assert_int_equal(ins_lost_look_check(&look), 0);
	assert_int_equal(look.unread, 0);
	ins_lost_look_end(&look);
	ins_table_free(look.table);
	marked_put(STACKS + STACK_SIZE + 0x800, 0);
	mark();
	assert_int_equal(ins_lost_look_check(&look), 0);
	assert_int_equal(look.unread, 1);
	ins_lost_look_end(&look);
	ins_table_free(look.table);
	marked_put(THREAD + 0x1000, 0);
	mark();
	assert_int_equal(ins_lost_look_check(&look), 0);
	assert_int_equal(look.unread, 2);
}

static void test_stacks_that_are_not_there_are_not_read(void **state)
{
	(void)state;
	put(0, FIB_WAIT_SEM, at(HEAP) + 0x100);
	put(1, FIB_WAIT_SEM, at(FROZEN));
	records[1].stack_low = 0x1000;
	records[1].stack_size = UINT64_C(1) << 62;
	records[1].sp = 0x2000;
	source.layout.stacks = 0x1000;
	mark();
	expect(0, false);
	expect(1, true);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_what_nothing_reaches_is_lost),
		EACH(test_data_of_a_module_is_a_root),
		EACH(test_shared_memory_is_a_root),
		EACH(test_the_stack_of_a_thread_is_a_root_from_its_pointer_up),
		EACH(test_what_a_thread_has_left_below_its_pointer_is_none),
		EACH(test_private_memory_is_followed_though_read_only),
		EACH(test_a_register_is_a_root),
		EACH(test_memory_for_stacks_is_not_followed),
		EACH(test_memory_for_stacks_is_followed_if_the_program_does_not_tell),
		EACH(test_waits_that_end_without_a_fiber_are_alive),
		EACH(test_a_fiber_that_moved_during_the_look_is_marked_afterwards),
		EACH(test_a_fiber_that_exited_has_moved_and_a_new_one_is_marked),
		EACH(test_memory_that_was_mapped_during_the_look_is_alive),
		EACH(test_a_stack_in_memory_for_stacks_may_be_in_several_areas),
		EACH(test_pages_that_cannot_be_read_are_counted_if_they_are_still_there),
		EACH(test_stacks_that_a_core_lacks_are_counted),
		EACH(test_stacks_that_are_not_there_are_not_read),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
