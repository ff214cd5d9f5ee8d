/* SPDX-License-Identifier: MIT */
/* test_dwarf_stack.c - the operations of DWARF's stack machine, as the standard defines them */
#include <dwarf.h>
#include <errno.h>

#include "tests/harness/inspect/head.h"
#include "inspect/values/dwarf_stack.h"

static struct ins_dwarf_stack cells;

static int operate(unsigned atom, uint64_t number)
{
	const Dwarf_Op op = {.atom = (uint8_t)atom, .number = number};

	return ins_dwarf_stack_operate(&cells, &op);
}

/* The result of `a op b` for numbers of that type. */
static uint64_t of(unsigned atom, uint64_t a, uint64_t b, unsigned size, bool is_signed)
{
	cells.count = 0;
	assert_int_equal(ins_dwarf_stack_push(&cells, a, size, is_signed), 0);
	assert_int_equal(ins_dwarf_stack_push(&cells, b, size, is_signed), 0);
	assert_int_equal(operate(atom, 0), 0);
	assert_int_equal(cells.count, 1);
	return ins_dwarf_stack_top(&cells)->number;
}

static void test_arithmetic_is_that_of_the_type(void **state)
{
	(void)state;
	assert_int_equal(of(DW_OP_plus, 250, 10, 1, false), 4);
	assert_int_equal(of(DW_OP_plus, 120, 10, 1, true), (uint64_t)-126);
	assert_int_equal(of(DW_OP_minus, 3, 5, 0, false), UINT64_MAX - 1);
	assert_int_equal(of(DW_OP_mul, 1 << 20, 1 << 20, 4, false), 0);
	assert_int_equal(of(DW_OP_and, 12, 10, 0, false), 8);
	assert_int_equal(of(DW_OP_or, 12, 10, 0, false), 14);
	assert_int_equal(of(DW_OP_xor, 12, 10, 0, false), 6);
	/* Without a type, division is signed and the other operations are unsigned. */
	assert_int_equal(of(DW_OP_div, (uint64_t)-7, 2, 0, false), (uint64_t)-3);
	assert_int_equal(of(DW_OP_div, 251, 2, 1, false), 125);
	assert_int_equal(of(DW_OP_mod, 7, 4, 0, false), 3);
	assert_int_equal(of(DW_OP_mod, (uint64_t)-7, 4, 8, true), (uint64_t)-3);
	assert_int_equal(of(DW_OP_div, (uint64_t)INT64_MIN, UINT64_MAX, 0, false),
			 (uint64_t)INT64_MIN);
}

static void test_shifts_end_at_the_width_of_the_type(void **state)
{
	(void)state;
	assert_int_equal(of(DW_OP_shl, 1, 63, 0, false), UINT64_C(1) << 63);
	assert_int_equal(of(DW_OP_shl, 1, 64, 0, false), 0);
	assert_int_equal(of(DW_OP_shl, 1, 31, 4, false), UINT64_C(1) << 31);
	assert_int_equal(of(DW_OP_shr, (uint64_t)-1, 28, 4, true), 15);
	assert_int_equal(of(DW_OP_shra, (uint64_t)-16, 2, 4, true), (uint64_t)-4);
	assert_int_equal(of(DW_OP_shra, (uint64_t)-16, 200, 0, false), UINT64_MAX);
}

static void test_comparisons_are_signed_unless_the_type_is_not(void **state)
{
	(void)state;
	assert_int_equal(of(DW_OP_lt, UINT64_MAX, 1, 0, false), 1);
	assert_int_equal(of(DW_OP_lt, UINT64_MAX, 1, 8, false), 0);
	assert_int_equal(of(DW_OP_ge, 1, 1, 0, false), 1);
	assert_int_equal(of(DW_OP_gt, 1, 1, 0, false), 0);
	assert_int_equal(of(DW_OP_le, 1, 1, 0, false), 1);
	assert_int_equal(of(DW_OP_eq, 1, 2, 0, false), 0);
	assert_int_equal(of(DW_OP_ne, 1, 2, 0, false), 1);
}

static void test_cells_are_moved_as_their_names_say(void **state)
{
	static const uint64_t after[] = {3, 1, 2}; /* rot of 1 2 3: the top becomes the third */
	unsigned i;

	(void)state;
	cells.count = 0;
	for (i = 1; i <= 3; i++)
		assert_int_equal(operate(DW_OP_lit0 + i, 0), 0);
	assert_int_equal(operate(DW_OP_rot, 0), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(cells.at[i].number, after[i]);
	assert_int_equal(operate(DW_OP_pick, 2), 0);
	assert_int_equal(ins_dwarf_stack_top(&cells)->number, 3);
	assert_int_equal(operate(DW_OP_drop, 0), 0);
	assert_int_equal(operate(DW_OP_over, 0), 0);
	assert_int_equal(ins_dwarf_stack_top(&cells)->number, 1);
	assert_int_equal(operate(DW_OP_swap, 0), 0);
	assert_int_equal(ins_dwarf_stack_top(&cells)->number, 2);
	assert_int_equal(operate(DW_OP_neg, 0), 0);
	assert_int_equal(ins_dwarf_stack_top(&cells)->number, (uint64_t)-2);
	assert_int_equal(operate(DW_OP_abs, 0), 0);
	assert_int_equal(operate(DW_OP_plus_uconst, 40), 0);
	assert_int_equal(ins_dwarf_stack_top(&cells)->number, 42);
}

static void test_a_stack_too_small_or_too_large_and_zero_are_refused(void **state)
{
	unsigned atom, i;

	(void)state;
	for (atom = 0; atom < 256; atom++) {
		int rc;

		cells.count = 0;
		rc = operate(atom, 1);
		assert_true(rc == 0 || rc == -ENODATA || rc == -ENOTSUP);
		assert_true(cells.count <= 1);
	}
	cells.count = 0;
	for (i = 0; i < INS_DWARF_STACK; i++)
		assert_int_equal(operate(DW_OP_lit0, 0), 0);
	assert_int_equal(operate(DW_OP_lit0, 0), -ENODATA);
	assert_int_equal(operate(DW_OP_dup, 0), -ENODATA);
	assert_int_equal(operate(DW_OP_div, 0), -ENODATA);
	assert_int_equal(operate(DW_OP_pick, 1000), -ENODATA);
	assert_int_equal(operate(DW_OP_fbreg, 0), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_is_that_of_the_type),
		cmocka_unit_test(test_shifts_end_at_the_width_of_the_type),
		cmocka_unit_test(test_comparisons_are_signed_unless_the_type_is_not),
		cmocka_unit_test(test_cells_are_moved_as_their_names_say),
		cmocka_unit_test(test_a_stack_too_small_or_too_large_and_zero_are_refused),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
