/* SPDX-License-Identifier: MIT */
/* test_location.c - location expressions, also impossible ones: each ends, and none is guessed */
#include <dwarf.h>
#include <errno.h>

#include "inspect/values/dwarf_stack.h"
#include "inspect/values/location.h"
#include "inspect/values/unwound.h"
#include "one_values.h"

static struct ins_unwound frames[INS_WALK_MAX];
static struct ins_scene scene;
static struct ins_location where;
static unsigned op;

static int run(const Dwarf_Op *ops, size_t n)
{
	return ins_location_run(&scene, NULL, ops, n, &where, &op);
}

static void test_a_place_is_memory_a_register_or_a_value(void **state)
{
	const Dwarf_Op memory[] = {{.atom = DW_OP_breg7, .number = 8}};
	const Dwarf_Op in_register[] = {{.atom = DW_OP_reg6}};
	const Dwarf_Op value[] = {{.atom = DW_OP_call_frame_cfa}, {.atom = DW_OP_stack_value}};

	(void)state;
	assert_int_equal(run(memory, 1), 0);
	assert_int_equal(where.count, 1);
	assert_int_equal(where.piece[0].where, INS_MEMORY);
	assert_int_equal(where.piece[0].number, frames[1].registers.sp + 8);
	assert_int_equal(run(in_register, 1), 0);
	assert_int_equal(where.piece[0].where, INS_REGISTER);
	assert_int_equal(where.piece[0].number, 6);
	assert_int_equal(run(value, 2), 0);
	assert_int_equal(where.piece[0].where, INS_NUMBER);
	assert_int_equal(where.piece[0].number, frames[1].cfa);
	assert_int_equal(run(value, 0), 0);
	assert_int_equal(where.count, 0);
}

static void test_parts_are_put_together_and_one_may_be_missing(void **state)
{
	const Dwarf_Op parts[] = {{.atom = DW_OP_lit5},
				  {.atom = DW_OP_stack_value},
				  {.atom = DW_OP_piece, .number = 4},
				  {.atom = DW_OP_piece, .number = 4},
				  {.atom = DW_OP_breg7},
				  {.atom = DW_OP_piece, .number = 8}};

	(void)state;
	assert_int_equal(run(parts, 6), 0);
	assert_int_equal(where.count, 3);
	assert_int_equal(where.piece[0].where, INS_NUMBER);
	assert_int_equal(where.piece[0].size, 4);
	assert_int_equal(where.piece[1].where, INS_AWAY);
	assert_int_equal(where.piece[2].where, INS_MEMORY);
	assert_int_equal(where.piece[2].size, 8);
}

static void test_branches_go_where_they_say(void **state)
{
	/* 1; bra over the next; 2; 3. The offsets count bytes. */
	Dwarf_Op ops[] = {{.atom = DW_OP_lit1, .offset = 0},
			  {.atom = DW_OP_bra, .number = 1, .offset = 1},
			  {.atom = DW_OP_lit2, .offset = 4},
			  {.atom = DW_OP_lit3, .offset = 5},
			  {.atom = DW_OP_stack_value, .offset = 6}};

	(void)state;
	assert_int_equal(run(ops, 5), 0);
	assert_int_equal(where.piece[0].number, 3);
	ops[0].atom = DW_OP_lit0;
	ops[3].atom = DW_OP_nop;
	assert_int_equal(run(ops, 5), 0);
	assert_int_equal(where.piece[0].number, 2);
	/* A branch into the middle of an operation. */
	ops[0].atom = DW_OP_lit1;
	ops[1].number = (Dwarf_Word)-2;
	assert_int_equal(run(ops, 5), -ENODATA);
}

static void test_an_endless_expression_ends(void **state)
{
	const Dwarf_Op back[] = {{.atom = DW_OP_nop, .offset = 0},
				 {.atom = DW_OP_skip, .number = (Dwarf_Word)-4, .offset = 1}};

	(void)state;
	assert_int_equal(run(back, 2), -ENOTSUP);
}

static void test_what_is_not_known_is_not_guessed(void **state)
{
	const Dwarf_Op lost[] = {{.atom = DW_OP_breg0}};
	const Dwarf_Op tls[] = {{.atom = DW_OP_lit1}, {.atom = DW_OP_form_tls_address}};
	const Dwarf_Op wild[] = {{.atom = DW_OP_lit1}, {.atom = DW_OP_deref}};
	const Dwarf_Op base[] = {{.atom = DW_OP_fbreg}};
	char name[64];
	unsigned atom;

	(void)state;
	assert_int_equal(run(lost, 1), -ENODATA); /* rax is not preserved by callees */
	assert_int_equal(run(tls, 2), -ENOTSUP);
	assert_string_equal(ins_dwarf_stack_name(op, name, sizeof name), "DW_OP_form_tls_address");
	assert_int_equal(run(wild, 2), -ENODATA);
	assert_int_equal(run(base, 1), -ENOTSUP);
	for (atom = 0; atom < 256; atom++) {
		const Dwarf_Op any[] = {{.atom = (uint8_t)atom, .number = UINT64_MAX},
					{.atom = (uint8_t)atom, .number = 1}};
		int rc = run(any, 2);

		assert_true(rc == 0 || rc == -ENODATA || rc == -ENOTSUP);
		assert_true(where.count <= INS_PIECES);
	}
}

static int start(void **state)
{
	(void)state;
	if (one_values("values", NULL) < 0)
		return -1;
	scene = (struct ins_scene){
		.source = values->source, .fiber = &values->at[0].fiber, .frames = frames, .at = 1};
	scene.count = ins_unwound_find(values->source, scene.fiber, &values->at[0].walk, frames);
	return scene.count > 4 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_place_is_memory_a_register_or_a_value),
		cmocka_unit_test(test_parts_are_put_together_and_one_may_be_missing),
		cmocka_unit_test(test_branches_go_where_they_say),
		cmocka_unit_test(test_an_endless_expression_ends),
		cmocka_unit_test(test_what_is_not_known_is_not_guessed),
	};

	return HEAD_RUN(tests, start, one_values_end);
}
