/* SPDX-License-Identifier: MIT */
/* test_lost_threads.c - which memory and which words of threads are alive */
#include "inspect/leaks/lost_look.h"

#include "inspect/model/thread_at.h"
#include "tests/harness/inspect/marked.h"
#include "tests/harness/inspect/rows.h"

/* Offsets: the stack of a thread, of a fiber, and a heap. */
#define THREAD 0x00000u
#define STACK  0x10000u
#define HEAP   0x20000u
#define AREA   0xf000u

static struct ins_source source;
static struct ins_lost_look look;
static struct ins_thread_at one;
static struct ins_region areas[] = {
	{MARKED_BASE + THREAD, MARKED_BASE + THREAD + AREA, true, false, false, false},
	{MARKED_BASE + STACK, MARKED_BASE + STACK + AREA, true, false, false, false},
	{MARKED_BASE + HEAP, MARKED_BASE + HEAP + AREA, true, false, false, false},
};

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	return marked_read(reader, address, buf, size);
}

static int threads(struct ins_source *s, struct ins_thread_ids *ret)
{
	(void)s;
	ret->count = 1;
	ret->tid = calloc(1, sizeof *ret->tid);
	return 0;
}

static int thread_at(struct ins_source *s, uint64_t tid, enum ins_thread_ask ask,
		     struct ins_thread_at *ret)
{
	(void)s;
	(void)ask;
	(void)tid;
	*ret = one;
	return 0;
}

static const struct ins_source_ops ops = {.threads = threads, .thread_at = thread_at};

static int begin(void **state)
{
	static struct ins_problems problems;
	const struct ins_mark_fiber waits = {.object = MARKED_BASE + HEAP + 0x100};
	struct ins_fiber runs = rows_fiber(1, "runs");

	(void)state;
	marked_begin(0);
	source = (struct ins_source){.kind = "core", .memory = memory, .ops = &ops};
	rows_layout(&source.layout);
	look = (struct ins_lost_look){.source = &source,
				      .regions = {areas, sizeof areas / sizeof areas[0]},
				      .windows = marked.windows};
	one = (struct ins_thread_at){.call = -1, .registers = {.pc = 1}};
	runs.row.state = FIBER_RUNNING;
	runs.row.stack_low = MARKED_BASE + STACK;
	runs.row.stack_size = AREA;
	assert_int_equal(ins_table_new(&look.table), 0);
	assert_int_equal(ins_table_add(look.table, &runs), 0);
	ins_table_count(look.table);
	assert_int_equal(ins_mark_new(marked.windows, &look.mark), 0);
	for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++)
		ins_mark_area(look.mark, areas[i].start, areas[i].end, false);
	assert_int_equal(ins_mark_fiber(look.mark, &waits), 0);
	return ins_modules_new(0, memory, NULL, &problems, &source.modules);
}

static int end(void **state)
{
	(void)state;
	ins_mark_free(look.mark);
	ins_table_free(look.table);
	ins_unwinder_free(look.unwinder);
	ins_modules_free(source.modules);
	marked_end();
	return 0;
}

/* Whether the fiber that waits for the heap is alive with these threads. */
static void expect(bool alive)
{
	assert_int_equal(ins_lost_threads(&look), 0);
	assert_int_equal(ins_mark_all(look.mark), 0);
	assert_int_equal(ins_mark_alive(look.mark, 0), alive);
}

static void test_a_stack_is_alive_from_the_red_zone_up(void **state)
{
	(void)state;
	one.registers.sp = MARKED_BASE + THREAD + 0x1000;
	marked_put(THREAD + 0x1000 - INS_RED_ZONE, MARKED_BASE + HEAP);
	expect(true);
}

static void test_what_is_below_is_not(void **state)
{
	(void)state;
	one.registers.sp = MARKED_BASE + THREAD + 0x1000;
	marked_put(THREAD + 0x1000 - INS_RED_ZONE - 8, MARKED_BASE + HEAP);
	expect(false);
}

static void test_registers_are_alive(void **state)
{
	(void)state;
	one.registers.sp = MARKED_BASE + THREAD + 0x1000;
	ins_registers_set(&one.registers, 12, MARKED_BASE + HEAP);
	expect(true);
}

static void test_on_the_stack_of_a_fiber_only_the_registers_count(void **state)
{
	(void)state;
	one.registers.sp = MARKED_BASE + STACK + 0x1000;
	marked_put(STACK + 0x2000, MARKED_BASE + HEAP); /* a root as that fiber's stack, not here */
	expect(false);
}

static void test_registers_of_threads_that_are_stopped_are_alive(void **state)
{
	struct ins_thread_state stopped = {.tid = 5};

	(void)state;
	stopped.registers.sp = MARKED_BASE + THREAD + 0x1000;
	ins_registers_set(&stopped.registers, 3, MARKED_BASE + HEAP + 8);
	look.live = true;
	look.stopped = &stopped;
	look.stopped_count = 1;
	expect(true);
}

/* A thread that runs can be read only if it may be stopped. */
static void test_a_thread_that_runs_is_unknown_where_none_may_be_stopped(void **state)
{
	(void)state;
	one.runs = true;
	look.live = true;
	expect(false);
	assert_int_equal(look.unknown, 1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_a_stack_is_alive_from_the_red_zone_up),
		EACH(test_what_is_below_is_not),
		EACH(test_registers_are_alive),
		EACH(test_on_the_stack_of_a_fiber_only_the_registers_count),
		EACH(test_registers_of_threads_that_are_stopped_are_alive),
		EACH(test_a_thread_that_runs_is_unknown_where_none_may_be_stopped),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
