/* SPDX-License-Identifier: MIT */
/* test_live_copy.c - copy a stack as far as it exists, within a limit for all stacks */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/live.h"
#include "inspect/text/read_file.h"
#include "tests/harness/inspect/rows.h"

#define PAGE  4096u
#define DEEP  (UINT64_C(8) << 20) /* bytes of a stack */
#define PAGES (DEEP / PAGE)

static struct ins_live live;
static struct rows_record record;
static unsigned char *stack;
static struct ins_summary summary;
static const struct ins_request request = {.stacks = true};

static uint64_t address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

static int begin(void **state)
{
	char *text;
	size_t size;

	(void)state;
	memset(&live, 0, sizeof live);
	stack = mmap(NULL, DEEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(stack != MAP_FAILED);
	madvise(stack, DEEP, MADV_NOHUGEPAGE);
	rows_layout(&live.source.layout);
	live.source.pid = getpid();
	live.source.memory = ins_live_memory;
	size = sizeof record;
	live.record = malloc(size);
	live.reading.request = &request;
	live.reading.summary = &summary;
	live.pagemap = -1;
	assert_int_equal(ins_memory_open(&live.memory, getpid(), address(&record)), 0);
	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_int_equal(ins_present_new(getpid(), text, size, &live.present), 0);
	live.memory.present = live.present;
	free(text);
	ins_live_limit(&live);
	record = (struct rows_record){
		.sp = address(stack),
		.pc = 1,
		.seq = 2,
		.id = 7,
		.stack_low = address(stack),
		.stack_size = DEEP,
		.state = FIBER_SUSPENDED,
		.name = "deep",
	};
	return 0;
}

static int finish(void **state)
{
	(void)state;
	ins_live_free_stack(&live);
	ins_present_free(live.present);
	ins_memory_close(&live.memory);
	free(live.record);
	munmap(stack, DEEP);
	return 0;
}

static bool copy(struct ins_fiber *ret)
{
	memset(ret, 0, sizeof *ret);
	assert_true(fib_row_decode(&live.source.layout, &record, address(&record), 0, &ret->row));
	return ins_live_copy(&live, ret);
}

/* How many pages of the stack are resident. */
static size_t resident(void)
{
	static unsigned char there[PAGES];
	size_t i, n = 0;

	assert_int_equal(mincore(stack, DEEP, there), 0);
	for (i = 0; i < PAGES; i++)
		n += there[i] & 1;
	return n;
}

static void test_a_long_stack_is_copied_with_zeros_where_it_does_not_exist(void **state)
{
	struct ins_fiber fiber;
	size_t i;

	(void)state;
	for (i = 0; i < PAGES; i += 100)
		stack[i * PAGE + 5] = (unsigned char)(1 + i % 200);
	/* Copy twice: an earlier copy must leave nothing behind. */
	for (i = 0; i < 2; i++) {
		assert_true(copy(&fiber));
		assert_int_equal(fiber.flags, 0);
		assert_int_equal(fiber.stack_size, DEEP);
		assert_memory_equal(fiber.stack, stack, PAGE * 10);
		memset(live.stack + DEEP / 2, 0xaa, DEEP / 4);
	}
	assert_true(copy(&fiber));
	assert_memory_equal(fiber.stack, stack, DEEP);
	assert_int_equal(live.reading.lacks.overlapping, 0);
}

static void test_a_stack_of_few_pages_makes_none(void **state)
{
	struct ins_fiber fiber;
	size_t before;

	(void)state;
	stack[0] = stack[PAGE * 1000] = stack[DEEP - 1] = 1;
	before = resident();
	assert_true(copy(&fiber));
	assert_int_equal(fiber.stack_size, DEEP);
	assert_int_equal(fiber.stack[PAGE * 1000], 1);
	assert_int_equal(fiber.stack[DEEP - 1], 1);
	assert_int_equal(resident(), before);
}

static void test_a_stack_that_does_not_exist_at_its_pointer_is_gone(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	stack[DEEP - 1] = 1;
	assert_true(copy(&fiber));
	assert_int_equal(fiber.flags, INS_FIBER_GONE);
	assert_null(fiber.stack);
	assert_int_equal(live.reading.lacks.overlapping, 0);
}

static void test_stacks_are_copied_as_long_as_the_process_can_have_them(void **state)
{
	struct ins_fiber fiber;
	unsigned i;

	(void)state;
	memset(stack, 1, DEEP);
	live.reading.stacks_left = 3 * DEEP;
	for (i = 0; i < 3; i++) {
		assert_true(copy(&fiber));
		assert_int_equal(fiber.flags, 0);
	}
	for (i = 1; i <= 3; i++) {
		assert_true(copy(&fiber));
		assert_int_equal(fiber.flags, INS_FIBER_GONE);
		assert_int_equal(live.reading.lacks.overlapping, i);
	}
	/* A short stack is copied without asking which of its pages exist. */
	record.sp = address(stack) + DEEP - 1000;
	assert_true(copy(&fiber));
	assert_int_equal(fiber.flags, 0);
	assert_int_equal(fiber.stack_size, 1000);
}

static void test_one_that_has_ended_is_none(void **state)
{
	struct ins_fiber fiber = {0};

	(void)state;
	assert_true(fib_row_decode(&live.source.layout, &record, address(&record), 0, &fiber.row));
	record.id = 0;
	record.state = FIBER_DEAD;
	assert_false(ins_live_copy(&live, &fiber));
}

static void test_one_that_runs_has_no_stack(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	stack[0] = 1;
	record.seq = 3;
	record.state = FIBER_RUNNING;
	assert_true(copy(&fiber));
	assert_int_equal(fiber.row.state, FIBER_RUNNING);
	assert_null(fiber.stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_long_stack_is_copied_with_zeros_where_it_does_not_exist, begin,
			finish),
		cmocka_unit_test_setup_teardown(test_a_stack_of_few_pages_makes_none, begin,
						finish),
		cmocka_unit_test_setup_teardown(
			test_a_stack_that_does_not_exist_at_its_pointer_is_gone, begin, finish),
		cmocka_unit_test_setup_teardown(
			test_stacks_are_copied_as_long_as_the_process_can_have_them, begin, finish),
		cmocka_unit_test_setup_teardown(test_one_that_has_ended_is_none, begin, finish),
		cmocka_unit_test_setup_teardown(test_one_that_runs_has_no_stack, begin, finish),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
