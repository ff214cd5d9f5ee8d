/* SPDX-License-Identifier: MIT */
/* test_source.c - a walk reads the copied stack first, and never mixes bytes of two moments */
#include <errno.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/model/event.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/inspect/rows.h"
#include "tests/harness/paths.h"

#define STACK UINT64_C(0x10000)
#define BASE  UINT64_C(0x7f0000000000)

static struct ins_source source;
static struct room room;
static unsigned char stack[0x100];

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	assert_ptr_equal(reader, &source);
	return room_read(&room, address, buf, size);
}

static void test_the_copied_stack_is_read_and_not_what_it_is_now(void **state)
{
	static const unsigned char now[0x4000] = {0};
	struct ins_fiber fiber = rows_fiber(1, "a");
	unsigned char word[8];

	(void)state;
	memset(stack, 's', sizeof stack);
	room_add(&room, STACK, now, sizeof now);
	source.memory = memory;
	fiber.stack = stack;
	fiber.stack_size = sizeof stack;
	assert_int_equal(fiber.row.sp, STACK + 0x3f00);
	assert_int_equal(ins_source_memory(&source, &fiber, fiber.row.sp, word, 8), 0);
	assert_memory_equal(word, "ssssssss", 8);
	assert_int_equal(ins_source_memory(&source, &fiber, STACK + 0x3ff8, word, 8), 0);
	/* Reads below the copy and across its end fail: those bytes are of another moment. */
	assert_int_equal(ins_source_memory(&source, &fiber, fiber.row.sp - 8, word, 8), -EFAULT);
	assert_int_equal(ins_source_memory(&source, &fiber, fiber.row.sp - 4, word, 8), -EFAULT);
	assert_int_equal(ins_source_memory(&source, &fiber, STACK + 0x3ffc, word, 8), -EFAULT);
	assert_int_equal(ins_source_memory(&source, &fiber, STACK, word, 8), -EFAULT);
	/* A read also fails if nothing was copied. */
	fiber.stack = NULL;
	fiber.stack_size = 0;
	assert_int_equal(ins_source_memory(&source, &fiber, fiber.row.sp, word, 8), -EFAULT);
	/* Outside the stack, and without a fiber, memory is read. */
	room_add(&room, 0x50000, now, sizeof now);
	assert_int_equal(ins_source_memory(&source, &fiber, 0x50000, word, 8), 0);
	assert_int_equal(ins_source_memory(&source, NULL, STACK, word, 8), 0);
	assert_int_equal(ins_source_memory(&source, NULL, 0x90000, word, 8), -EFAULT);
	assert_int_equal(ins_source_memory(&source, NULL, UINT64_MAX - 3, word, 8), -EFAULT);
}

static void test_what_is_left_of_a_wait_is_not_less_than_nothing(void **state)
{
	struct ins_fiber fiber = rows_fiber(1, "a");

	(void)state;
	fiber.row.deadline = fiber.now + 5;
	assert_int_equal(ins_fiber_left(&fiber), -1); /* not waiting */
	fiber.row.wait_kind = FIB_WAIT_SLEEP;
	assert_int_equal(ins_fiber_left(&fiber), 5);
	fiber.row.deadline = fiber.now - 5;
	assert_int_equal(ins_fiber_left(&fiber), 0);
	fiber.row.deadline = INT64_MIN;
	assert_int_equal(ins_fiber_left(&fiber), 0);
	fiber.row.deadline = INT64_MAX;
	assert_int_equal(ins_fiber_left(&fiber), -1);
	fiber.row.deadline = INT64_MAX - 1;
	fiber.now = -5;
	assert_true(ins_fiber_left(&fiber) == INT64_MAX);
}

static void test_a_stack_whose_numbers_lie_is_not_read_past(void **state)
{
	struct ins_fiber fiber = rows_fiber(1, "a");
	static const uint64_t lies[] = {0, 8, STACK, UINT64_MAX - 7, UINT64_MAX, INT64_MAX};
	unsigned char word[8];
	size_t i, k, n;

	(void)state;
	source.memory = NULL;
	fiber.stack = stack;
	fiber.stack_size = sizeof stack;
	n = sizeof lies / sizeof lies[0];
	for (i = 0; i < n * n; i++) {
		fiber.row.sp = lies[i % n];
		fiber.row.stack_low = lies[i / n];
		for (k = 0; k < n; k++) {
			ins_source_memory(&source, &fiber, lies[k], word, 8);
			ins_source_memory(&source, &fiber, fiber.row.sp + 0xfc, word, 8);
			ins_source_memory(&source, &fiber, fiber.row.sp - 1, word, 8);
		}
	}
}

static void test_a_file_serves_what_memory_does_not_have(void **state)
{
	static struct elf_bytes elf;
	char path[HARNESS_PATH], word[5] = "";
	uint64_t text, data;

	(void)state;
	elf_start(&elf, ET_DYN);
	text = elf_append(&elf, "text", 4);
	elf_add(&elf, PT_LOAD, 0, 0, elf.size);
	data = elf_append(&elf, "data", 4);
	elf_add(&elf, PT_LOAD, data, 0x1000 + data, 4)->p_flags = PF_R | PF_W;
	elf_write(&elf, harness_file(path, "library.so"), elf.size);
	ins_modules_add(source.modules, BASE, BASE + 0x3000, 0, 1, path);
	ins_modules_sort(source.modules);
	source.memory = NULL;
	assert_int_equal(ins_source_memory(&source, NULL, BASE + text, word, 4), 0);
	assert_string_equal(word, "text");
	assert_int_equal(ins_source_memory(&source, NULL, BASE + 0x1000 + data, word, 4), 0);
	assert_string_equal(word, "data");
	/* Bytes of writable segments come from memory. */
	room_add(&room, BASE + 0x1000 + data, "live", 4);
	source.memory = memory;
	assert_int_equal(ins_source_memory(&source, NULL, BASE + 0x1000 + data, word, 4), 0);
	assert_string_equal(word, "live");
}

static int start(void **state)
{
	(void)state;
	return ins_modules_new(0, NULL, NULL, &source.problems, &source.modules);
}

static int stop(void **state)
{
	(void)state;
	ins_modules_free(source.modules);
	ins_problems_free(&source.problems);
	ins_source_close(NULL);
	return 0;
}

static void test_a_source_without_events_says_so(void **state)
{
	static const struct ins_source_ops ops = {0};
	static struct ins_source none = {.pid = 42, .ops = &ops};
	static const struct fib_wire_events request = {.ring = FIB_WIRE_RING_SLOW};
	struct ins_summary summary = {.total = 7};
	struct ins_error error;

	(void)state;
	assert_int_equal(ins_events_read(&none, &request, NULL, NULL, &summary, &error),
			 -EOPNOTSUPP);
	assert_int_equal(summary.total, 0);
	assert_non_null(strstr(error.text, "process 42"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_copied_stack_is_read_and_not_what_it_is_now),
		cmocka_unit_test(test_what_is_left_of_a_wait_is_not_less_than_nothing),
		cmocka_unit_test(test_a_stack_whose_numbers_lie_is_not_read_past),
		cmocka_unit_test(test_a_file_serves_what_memory_does_not_have),
		cmocka_unit_test(test_a_source_without_events_says_so),
	};

	return HEAD_RUN(tests, start, stop);
}
