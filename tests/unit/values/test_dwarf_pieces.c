/* SPDX-License-Identifier: MIT */
/* test_dwarf_pieces.c - the bytes of a value: each is known, or marked as unknown */
#include <errno.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/values/dwarf_pieces.h"
#include "inspect/model/source.h"

static const unsigned char stack[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static struct ins_modules modules;
static struct ins_source source = {.modules = &modules};
static struct ins_fiber fiber = {.stack = stack, .stack_size = sizeof stack};
static struct ins_unwound frame = {.registers.known = 1u << 3 | 1u << 31};
static struct ins_scene scene = {.source = &source, .fiber = &fiber, .frames = &frame, .count = 1};

static unsigned char bytes[32];
static bool known[32];
static uint64_t address;

static int fetch(const struct ins_location *where, size_t size)
{
	address = 0;
	return ins_location_fetch(&scene, where, bytes, known, size, &address);
}

static unsigned count_known(void)
{
	unsigned i, n = 0;

	for (i = 0; i < sizeof known; i++)
		n += known[i];
	return n;
}

static void test_registers_are_known_or_not(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(ins_scene_register(&scene, 3, &value));
	assert_int_equal(value, UINT64_C(0x1122334455667788));
	assert_false(ins_scene_register(&scene, 4, &value));
	assert_true(ins_scene_register(&scene, 31, &value));
	assert_false(ins_scene_register(&scene, 32, &value));
	assert_false(ins_scene_register(&scene, UINT64_MAX, &value));
	scene.at = 1;
	assert_false(ins_scene_register(&scene, 3, &value));
	scene.at = 0;
}

static void test_a_whole_value_is_as_long_as_there_are_bytes(void **state)
{
	const struct ins_location in_register = {1, {{.where = INS_REGISTER, .number = 3}}};
	const struct ins_location memory = {1, {{.where = INS_MEMORY, .number = 0x1004}}};

	(void)state;
	memset(known, 0, sizeof known);
	assert_int_equal(fetch(&in_register, 4), 0);
	assert_memory_equal(bytes, "\x88\x77\x66\x55", 4);
	assert_int_equal(count_known(), 4);
	/* A register has only the first 8 of 16 bytes. */
	assert_int_equal(fetch(&in_register, 16), 0);
	assert_int_equal(count_known(), 8);
	memset(known, 0, sizeof known);
	assert_int_equal(fetch(&memory, 8), 0);
	assert_memory_equal(bytes, stack + 4, 8);
	assert_int_equal(fetch(&memory, 16), -EFAULT);
	assert_int_equal(address, 0x1004);
}

static void test_parts_that_are_gone_are_not_known(void **state)
{
	const struct ins_location parts = {3,
					   {{.where = INS_NUMBER, .number = 7, .size = 4},
					    {.where = INS_AWAY, .size = 4},
					    {.where = INS_MEMORY, .number = 0x1000, .size = 4}}};
	const struct ins_location away = {1, {{.where = INS_AWAY}}};
	const struct ins_location none = {0, {{.where = INS_AWAY}}};

	(void)state;
	memset(known, 0, sizeof known);
	assert_int_equal(fetch(&parts, 12), 0);
	assert_memory_equal(bytes, "\7\0\0\0\0\0\0\0\1\2\3\4", 12);
	assert_true(known[0] && known[3] && !known[4] && !known[7] && known[8] && known[11]);
	assert_int_equal(fetch(&away, 4), -ENODATA);
	assert_int_equal(fetch(&none, 4), -ENODATA);
}

static void test_parts_larger_than_the_value_are_cut(void **state)
{
	const struct ins_location large = {2,
					   {{.where = INS_NUMBER, .number = 7, .size = SIZE_MAX},
					    {.where = INS_MEMORY, .number = 0x1000, .size = 4}}};
	const struct ins_location few = {1, {{.where = INS_BYTES, .bytes = stack, .size = 2}}};

	(void)state;
	memset(known, 0, sizeof known);
	assert_int_equal(fetch(&large, 4), 0);
	assert_int_equal(count_known(), 4);
	assert_int_equal(fetch(&few, 4), 0);
	assert_true(known[0] && known[1] && !known[2] && !known[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_are_known_or_not),
		cmocka_unit_test(test_a_whole_value_is_as_long_as_there_are_bytes),
		cmocka_unit_test(test_parts_that_are_gone_are_not_known),
		cmocka_unit_test(test_parts_larger_than_the_value_are_cut),
	};

	frame.registers.at[3] = UINT64_C(0x1122334455667788);
	fiber.row.sp = 0x1000;
	return HEAD_RUN(tests, NULL, NULL);
}
