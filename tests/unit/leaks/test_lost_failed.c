/* SPDX-License-Identifier: MIT */
/* test_lost_failed.c - pages that could not be read, and stacks that a core lacks */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "inspect/leaks/lost_look.h"

#define SP UINT64_C(0x1000)

#define PAGE  4096u
#define WORDS (PAGE / 8) /* of a page */

static uint64_t words[3 * WORDS];
static struct ins_region stack = {SP, SP + 3 * PAGE, true, false, false, false};
static bool readable;

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	if (!readable || address < SP || address - SP + size > sizeof words)
		return -EFAULT;
	memcpy(buf, (const char *)words + (address - SP), size);
	return 0;
}

static struct ins_source source = {.kind = "core", .memory = memory};
static struct ins_lost_look look;

static int begin(void **state)
{
	(void)state;
	memset(words, 0, sizeof words);
	readable = true;
	look = (struct ins_lost_look){.source = &source, .regions = {&stack, 1}};
	stack.end = SP + 3 * PAGE;
	return 0;
}

static void test_failed_are_kept_as_far_as_there_is_room_and_all_counted(void **state)
{
	const size_t room = sizeof look.failed / sizeof look.failed[0];

	(void)state;
	for (size_t i = 0; i < room + 3; i++)
		ins_lost_look_failed(&look, 100 + i);
	assert_int_equal(look.failures, room + 3);
	assert_int_equal(look.failed[0], 100);
	assert_int_equal(look.failed[room - 1], 100 + room - 1);
}

static void test_failed_is_a_stack_of_a_core_that_has_only_zeros(void **state)
{
	(void)state;
	ins_lost_look_stack(&look, SP + 3);
	assert_int_equal(look.failures, 1);
	assert_int_equal(look.missing, 1);
	assert_int_equal(look.failed[0], SP);
	/* In the last page of a stack. */
	ins_lost_look_stack(&look, SP + 3 * PAGE - 16);
	assert_int_equal(look.missing, 2);
}

static void test_failed_is_no_stack_that_begins_with_a_buffer_of_zeros(void **state)
{
	(void)state;
	words[WORDS - 1] = 1;
	ins_lost_look_stack(&look, SP);
	words[WORDS - 1] = 0;
	words[2 * WORDS - 1] = 1; /* the buffer reaches the next page */
	ins_lost_look_stack(&look, SP + PAGE - 128);
	assert_int_equal(look.failures, 0);
	/* That page is of another area. */
	stack.end = SP + PAGE;
	ins_lost_look_stack(&look, SP + PAGE - 128);
	assert_int_equal(look.failures, 1);
}

static void test_failed_is_no_stack_with_a_word_that_cannot_be_read_or_that_is_live(void **state)
{
	(void)state;
	words[15] = 1;
	ins_lost_look_stack(&look, SP);
	words[15] = 0;
	ins_lost_look_stack(&look, 0);
	readable = false;
	ins_lost_look_stack(&look, SP);
	readable = true;
	look.live = true;
	ins_lost_look_stack(&look, SP);
	assert_int_equal(look.failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_failed_are_kept_as_far_as_there_is_room_and_all_counted,
				       begin),
		cmocka_unit_test_setup(test_failed_is_a_stack_of_a_core_that_has_only_zeros, begin),
		cmocka_unit_test_setup(test_failed_is_no_stack_that_begins_with_a_buffer_of_zeros,
				       begin),
		cmocka_unit_test_setup(
			test_failed_is_no_stack_with_a_word_that_cannot_be_read_or_that_is_live,
			begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
