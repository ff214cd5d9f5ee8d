/* SPDX-License-Identifier: MIT */
/* test_lost.c - the lost fibers of a source that does not change, and sources that cannot be searched */
#include "inspect/leaks/lost.h"

#include "inspect/model/region.h"
#include "inspect/model/thread_at.h"
#include "tests/harness/inspect/marked.h"
#include "tests/harness/inspect/rows.h"

#define HEAP	0x00000u
#define STACKS	0x10000u
#define RECORDS 0x20000u
#define ROOT	0x30000u
#define AREA	0xf000u
#define FIBERS	3u

static struct ins_source source;
static struct ins_fiber fibers[FIBERS];
static struct ins_lost lost;
static struct ins_error error;

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	return marked_read(reader, address, buf, size);
}

static int regions(struct ins_source *s, struct ins_regions *ret)
{
	static const struct ins_region areas[] = {
		{MARKED_BASE + HEAP, MARKED_BASE + HEAP + AREA, true, false, false, false},
		{MARKED_BASE + STACKS, MARKED_BASE + STACKS + AREA, true, false, false, false},
		{MARKED_BASE + RECORDS, MARKED_BASE + RECORDS + AREA, true, false, false, false},
		{MARKED_BASE + ROOT, MARKED_BASE + ROOT + AREA, true, true, true, false},
	};

	(void)s;
	ret->count = sizeof areas / sizeof areas[0];
	ret->at = malloc(sizeof areas);
	memcpy(ret->at, areas, sizeof areas);
	return 0;
}

static int threads(struct ins_source *s, struct ins_thread_ids *ret)
{
	(void)s;
	*ret = (struct ins_thread_ids){NULL, 0};
	return 0;
}

static int thread_at(struct ins_source *s, uint64_t tid, enum ins_thread_ask ask,
		     struct ins_thread_at *ret)
{
	(void)s;
	(void)ask;
	(void)tid;
	(void)ret;
	return -ESRCH;
}

static int read_all(struct ins_source *s, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *e)
{
	int rc = 0;

	(void)s;
	(void)request;
	(void)e;
	for (size_t i = 0; rc == 0 && i < FIBERS; i++, ret->shown++, ret->total++)
		rc = fn(context, &fibers[i]);
	return rc;
}

static const struct ins_source_ops ops = {
	.read = read_all, .regions = regions, .threads = threads, .thread_at = thread_at};

static int begin(void **state)
{
	static struct ins_problems problems;

	(void)state;
	marked_begin(0);
	source = (struct ins_source){.kind = "core", .memory = memory, .ops = &ops};
	rows_layout(&source.layout);
	source.layout.records = MARKED_BASE + RECORDS;
	source.layout.committed = source.layout.capacity = FIBERS;
	for (unsigned i = 0; i < FIBERS; i++) {
		struct fib_row *row = &fibers[i].row;

		fibers[i] = rows_fiber(i + 1, "f");
		row->record = MARKED_BASE + RECORDS + i * source.layout.record_size;
		row->stack_low = MARKED_BASE + STACKS + i * 0x1000;
		row->stack_size = 0x1000;
		row->sp = row->stack_low + 0x800;
		row->wait_kind = FIB_WAIT_EVENT;
		row->wait_object = MARKED_BASE + HEAP + 0x100;
		marked_put(STACKS + i * 0x1000 + 0x800, 1); /* as in a return address */
	}
	error.text[0] = 0;
	return ins_modules_new(0, memory, NULL, &problems, &source.modules);
}

static int end(void **state)
{
	(void)state;
	ins_problems_free(&source.problems);
	ins_lost_drop(&lost);
	ins_modules_free(source.modules);
	marked_end();
	return 0;
}

static void test_fibers_whose_object_nothing_reaches_are_listed(void **state)
{
	(void)state;
	fibers[1].row.wait_kind = FIB_WAIT_PARK;
	marked_put(ROOT + 8, fibers[2].row.record);
	assert_int_equal(ins_lost_find(&source, false, &lost, &error), 0);
	assert_int_equal(lost.count, 1);
	assert_int_equal(lost.at[0], 0);
	assert_int_equal(lost.cancellable, 1); /* the one whose handle is in ROOT */
	assert_int_equal(lost.parked, 1);
	assert_int_equal(lost.looks, 1);
	assert_true(lost.bytes > 0);
}

/* The kernel may have the only pointer as data of epoll, which no core has. */
static void test_what_is_found_in_a_core_is_listed_but_not_certain(void **state)
{
	(void)state;
	assert_int_equal(ins_lost_find(&source, false, &lost, &error), 0);
	assert_int_equal(lost.count, 3);
	assert_int_equal(lost.unsure, 3);
	assert_false(lost.certain);
	assert_int_equal(source.problems.count, 1);
}

static void test_nothing_is_listed_if_memory_cannot_be_read(void **state)
{
	(void)state;
	marked.hole = MARKED_BASE + ROOT;
	marked.hole_end = marked.hole + 4096;
	assert_int_equal(ins_lost_find(&source, false, &lost, &error), 0);
	assert_int_equal(lost.count, 0);
	assert_int_equal(lost.unsure, 3);
	assert_false(lost.certain);
}

static void test_fibers_whose_object_is_reached_are_not(void **state)
{
	(void)state;
	marked_put(ROOT + 8, MARKED_BASE + HEAP + 0x80);
	assert_int_equal(ins_lost_find(&source, false, &lost, &error), 0);
	assert_int_equal(lost.count, 0);
}

/* One was in the same wait then, one has moved, one is new. */
static void test_only_what_waited_before_is_confirmed(void **state)
{
	struct ins_fiber then = fibers[1];
	struct ins_table *before;

	(void)state;
	fibers[0].row.wait_object = MARKED_BASE + RECORDS + 0x8000;
	assert_int_equal(ins_table_new(&before), 0);
	assert_int_equal(ins_table_add(before, &fibers[0]), 0);
	then.row.seq -= 2;
	assert_int_equal(ins_table_add(before, &then), 0);
	assert_int_equal(ins_lost_find_since(&source, before, &lost, &error), 0);
	assert_int_equal(lost.count, 1);
	assert_int_equal(lost.at[0], 0);
	assert_int_equal(lost.moved, 2);
	assert_int_equal(lost.unsure, 1);
	assert_false(lost.certain);
	ins_table_free(before);
}

/* It was woken before, so it may be again; then it wakes the fiber whose object is on its stack. */
static void test_what_a_fiber_that_moved_reaches_is_not_lost(void **state)
{
	struct ins_table *before;

	(void)state;
	fibers[0].row.wait_object = MARKED_BASE + RECORDS + 0x8000;
	fibers[2].row.wait_object = MARKED_BASE + STACKS + 0x8000;
	marked_put(STACKS + 0x1000 + 0x900, MARKED_BASE + RECORDS + 0x8000);
	assert_int_equal(ins_table_new(&before), 0);
	assert_int_equal(ins_table_add(before, &fibers[0]), 0);
	fibers[1].row.seq -= 2;
	assert_int_equal(ins_table_add(before, &fibers[1]), 0);
	fibers[1].row.seq += 2;
	assert_int_equal(ins_table_add(before, &fibers[2]), 0);
	assert_int_equal(ins_lost_find_since(&source, before, &lost, &error), 0);
	assert_int_equal(lost.count, 1);
	assert_int_equal(lost.at[0], 2);
	assert_int_equal(lost.moved, 1);
	ins_table_free(before);
}

static void test_a_source_without_memory_is_refused_by_name(void **state)
{
	(void)state;
	source.memory = NULL;
	source.kind = "snapshot";
	assert_int_equal(ins_lost_find(&source, false, &lost, &error), -EOPNOTSUPP);
	assert_string_equal(error.text, "a snapshot has no memory of the program: give the process "
					"or its core to fibertrace");
	source.kind = "control";
	assert_int_equal(ins_lost_possible(&source, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "this source has no memory"));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_fibers_whose_object_nothing_reaches_are_listed),
		EACH(test_what_is_found_in_a_core_is_listed_but_not_certain),
		EACH(test_nothing_is_listed_if_memory_cannot_be_read),
		EACH(test_fibers_whose_object_is_reached_are_not),
		EACH(test_only_what_waited_before_is_confirmed),
		EACH(test_what_a_fiber_that_moved_reaches_is_not_lost),
		EACH(test_a_source_without_memory_is_refused_by_name),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
