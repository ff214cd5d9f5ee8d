/* SPDX-License-Identifier: MIT */
/* test_resume.c - registers saved by another library are where its table says, or unknown */
#include "tests/harness/inspect/head.h"
#include "inspect/unwind/resume.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/inspect/rows.h"

#define STACK	UINT64_C(0x13f00)
#define CONTEXT UINT64_C(0x70000)

static struct ins_modules modules;
static struct ins_source source;
static struct room room;
static struct rows_record record;
static uint64_t words[32], context[16];
static struct ins_fiber fiber;

static int read_room(void *s, uint64_t address, void *buf, size_t size)
{
	(void)s;
	return room_read(&room, address, buf, size);
}

static void put(unsigned number, enum fib_layout_base base, uint16_t offset)
{
	source.layout.registers[source.layout.register_count++] =
		(struct fib_layout_register){(uint8_t)number, (uint8_t)base, offset};
}

static int setup(void **state)
{
	size_t i;

	(void)state;
	memset(&source, 0, sizeof source);
	source.modules = &modules;
	memset(&room, 0, sizeof room);
	rows_layout(&source.layout);
	source.memory = read_room;
	source.layout.recipe = FIB_RECIPE_SAVED;
	source.layout.context = (struct fib_layout_field){offsetof(struct rows_record, object), 8};
	record = (struct rows_record){.object = CONTEXT, .since = 0x5151};
	for (i = 0; i < 32; i++)
		words[i] = 0x1000 + i;
	for (i = 0; i < 16; i++)
		context[i] = 0x2000 + i;
	room_add(&room, CONTEXT, context, sizeof context);
	fiber = rows_fiber(7, "seven");
	fiber.row.pc = 0x3000;
	fiber.stack = (const unsigned char *)words;
	fiber.stack_size = sizeof words;
	return 0;
}

static void expect_gone(void)
{
	ins_resume(&source, &record, &fiber);
	assert_int_equal(fiber.flags, INS_FIBER_GONE);
	assert_null(fiber.stack);
	assert_int_equal(fiber.stack_size, 0);
	assert_int_equal(fiber.registers.known, 0);
	setup(NULL);
}

static void test_registers_are_taken_from_the_stack_and_popped(void **state)
{
	(void)state;
	put(3, FIB_BASE_STACK, 8);
	put(6, FIB_BASE_STACK, 24);
	put(FIB_REGISTER_PC, FIB_BASE_STACK, 32);
	put(FIB_REGISTER_SP, FIB_BASE_SP, 40);
	ins_resume(&source, &record, &fiber);
	assert_int_equal(fiber.flags, 0);
	assert_int_equal(fiber.registers.known, 1u << 3 | 1u << 6);
	assert_int_equal(fiber.registers.at[3], 0x1001);
	assert_int_equal(fiber.registers.at[6], 0x1003);
	assert_int_equal(fiber.row.pc, 0x1004 - 1); /* inside the call instruction */
	assert_int_equal(fiber.row.sp, STACK + 40);
	assert_int_equal(fiber.row.stack_used, 0x100 - 40);
	assert_ptr_equal(fiber.stack, &words[5]);
	assert_int_equal(fiber.stack_size, sizeof words - 40);
	if (ins_port(0) && ins_port(0)->fp == 6)
		assert_int_equal(fiber.row.fp, 0x1003);
	/* The copied stack was enough: no other memory was read. */
	assert_int_equal(room.reads, 0);
}

static void test_registers_are_taken_from_the_context_and_the_record(void **state)
{
	(void)state;
	context[15] = STACK + 16;
	put(FIB_REGISTER_SP, FIB_BASE_CONTEXT, 15 * 8);
	put(12, FIB_BASE_CONTEXT, 0);
	put(FIB_REGISTER_PC, FIB_BASE_RECORD, offsetof(struct rows_record, since));
	ins_resume(&source, &record, &fiber);
	assert_int_equal(fiber.flags, 0);
	assert_int_equal(fiber.registers.at[12], 0x2000);
	assert_int_equal(fiber.row.pc, 0x5150);
	assert_int_equal(fiber.row.sp, STACK + 16);
	assert_ptr_equal(fiber.stack, &words[2]);
	assert_int_equal(room.reads, 1);
}

static void test_what_no_register_says_is_the_records(void **state)
{
	(void)state;
	ins_resume(&source, &record, &fiber);
	assert_int_equal(fiber.row.pc, 0x3000 - 1);
	assert_int_equal(fiber.row.sp, STACK);
	assert_int_equal(fiber.registers.known, 0);
}

static void test_what_leads_elsewhere_is_no_place_to_begin_at(void **state)
{
	static const uint64_t wild[] = {0, STACK - 8, STACK + sizeof words, UINT64_MAX};
	size_t i;

	(void)state;
	/* Outside the copied part of the stack. */
	put(FIB_REGISTER_PC, FIB_BASE_STACK, sizeof words - 7);
	expect_gone();
	put(FIB_REGISTER_SP, FIB_BASE_SP, sizeof words);
	expect_gone();
	for (i = 0; i < sizeof wild / sizeof wild[0]; i++) {
		context[0] = wild[i];
		put(FIB_REGISTER_SP, FIB_BASE_CONTEXT, 0);
		expect_gone();
	}
	/* A context that does not exist, and one that ends too early. */
	record.object = 8;
	put(12, FIB_BASE_CONTEXT, 0);
	expect_gone();
	put(12, FIB_BASE_CONTEXT, sizeof context - 7);
	expect_gone();
	words[0] = 1;
	put(FIB_REGISTER_PC, FIB_BASE_STACK, 0);
	expect_gone();
}

static void test_fibers_of_libfiber_and_those_that_have_not_left_stay_as_they_are(void **state)
{
	struct ins_fiber before;

	(void)state;
	put(FIB_REGISTER_PC, FIB_BASE_STACK, 32);
	before = fiber;
	source.layout.recipe = FIB_RECIPE_CFI;
	ins_resume(&source, &record, &fiber);
	assert_memory_equal(&before, &fiber, sizeof fiber);
	source.layout.recipe = FIB_RECIPE_SAVED;
	fiber.flags = before.flags = INS_FIBER_PAUSED;
	ins_resume(&source, &record, &fiber);
	assert_memory_equal(&before, &fiber, sizeof fiber);
	assert_int_equal(ins_resume_undo(&source.layout, &fiber, &record, NULL, NULL), 0);
	assert_memory_equal(&before, &fiber, sizeof fiber);
	fiber.flags = 0;
	fiber.stack = NULL;
	before = fiber;
	ins_resume(&source, &record, &fiber);
	assert_memory_equal(&before, &fiber, sizeof fiber);
}

static uint64_t put_at[4], put_value[4];
static unsigned puts_seen;

static int note_put(void *arg, uint64_t address, const void *buf, size_t size)
{
	(void)arg;
	assert_int_equal(size, 8);
	assert_true(puts_seen < 4);
	put_at[puts_seen] = address;
	memcpy(&put_value[puts_seen++], buf, 8);
	return 0;
}

static int refuse_put(void *arg, uint64_t address, const void *buf, size_t size)
{
	(void)arg;
	(void)address;
	(void)buf;
	(void)size;
	return -ENOSPC;
}

/* The written values lead to the place that was seen, even if the program has continued. */
static void test_undone_it_is_as_it_was_in_record_stack_and_context(void **state)
{
	struct ins_fiber before = fiber, again;
	struct rows_record later = {.object = CONTEXT, .since = 1, .sp = 2, .pc = 3};

	(void)state;
	context[1] = STACK + 24;
	put(FIB_REGISTER_SP, FIB_BASE_CONTEXT, 8);
	put(12, FIB_BASE_CONTEXT, 16);
	put(3, FIB_BASE_STACK, 8);
	put(FIB_REGISTER_PC, FIB_BASE_RECORD, offsetof(struct rows_record, since));
	ins_resume(&source, &record, &fiber);
	assert_int_equal(fiber.row.sp, STACK + 24);
	puts_seen = 0;
	assert_int_equal(ins_resume_undo(&source.layout, &fiber, &later, note_put, NULL), 0);
	assert_int_equal(puts_seen, 2);
	assert_int_equal(put_at[0], CONTEXT + 8);
	assert_int_equal(put_value[0], STACK + 24);
	assert_int_equal(put_at[1], CONTEXT + 16);
	assert_int_equal(put_value[1], 0x2002);
	assert_int_equal(later.since, 0x5151);
	assert_int_equal(later.sp, STACK);
	assert_int_equal(later.pc, 3); /* the pc is in a register, so it is not written here */
	assert_int_equal(fiber.row.sp, before.row.sp);
	assert_int_equal(fiber.row.stack_used, before.row.stack_used);
	assert_ptr_equal(fiber.stack, before.stack);
	assert_int_equal(fiber.stack_size, before.stack_size);
	/* Resuming again gives the same place. */
	again = before;
	ins_resume(&source, &later, &again);
	assert_int_equal(again.row.sp, STACK + 24);
	assert_int_equal(again.row.pc, 0x5150);
	assert_int_equal(ins_resume_undo(&source.layout, &again, &later, refuse_put, NULL),
			 -ENOSPC);
}

static void test_undone_the_record_has_the_pc_that_no_register_has(void **state)
{
	struct rows_record later = {.pc = 3};

	(void)state;
	ins_resume(&source, &record, &fiber);
	assert_int_equal(ins_resume_undo(&source.layout, &fiber, &later, note_put, NULL), 0);
	assert_int_equal(later.pc, 0x3000);
	assert_int_equal(later.sp, STACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_registers_are_taken_from_the_stack_and_popped, setup),
		cmocka_unit_test_setup(test_registers_are_taken_from_the_context_and_the_record,
				       setup),
		cmocka_unit_test_setup(test_what_no_register_says_is_the_records, setup),
		cmocka_unit_test_setup(test_what_leads_elsewhere_is_no_place_to_begin_at, setup),
		cmocka_unit_test_setup(
			test_fibers_of_libfiber_and_those_that_have_not_left_stay_as_they_are,
			setup),
		cmocka_unit_test_setup(test_undone_it_is_as_it_was_in_record_stack_and_context,
				       setup),
		cmocka_unit_test_setup(test_undone_the_record_has_the_pc_that_no_register_has,
				       setup),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
