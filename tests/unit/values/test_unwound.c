/* SPDX-License-Identifier: MIT */
/* test_unwound.c - the registers of frames agree with the walk, up to where they differ */
#include "inspect/values/unwound.h"
#include "values.h"

static struct values *crowd;
static struct ins_unwound frames[INS_WALK_MAX];

static unsigned find(unsigned i, const struct ins_walk *walk)
{
	return ins_unwound_find(crowd->source, &crowd->at[i].fiber, walk, frames);
}

static void test_each_frame_of_a_whole_walk_has_its_registers(void **state)
{
	unsigned i, k;

	(void)state;
	for (i = 0; i < crowd->count; i++) {
		const struct ins_walk *walk = &crowd->at[i].walk;

		assert_int_equal(find(i, walk), walk->count);
		assert_int_equal(frames[0].registers.pc, crowd->at[i].fiber.row.pc);
		for (k = 0; k < walk->count; k++)
			assert_int_equal(frames[k].registers.pc, walk->pc[k]);
		/*
		 * Frames are adjacent: the caller's stack pointer is the end of its callee's frame.
		 */
		for (k = 0; k + 1 < walk->count; k++) {
			assert_true(frames[k].has_cfa);
			assert_int_equal(frames[k + 1].registers.sp, frames[k].cfa);
			assert_true(k == 0 || frames[k].cfa > frames[k - 1].cfa);
		}
	}
}

static void test_a_walk_that_went_elsewhere_has_registers_up_to_there(void **state)
{
	struct ins_walk walk = crowd->at[0].walk;

	(void)state;
	assert_true(walk.count > 3);
	walk.pc[2] += 1;
	assert_int_equal(find(0, &walk), 2);
	walk.pc[0] += 1;
	assert_int_equal(find(0, &walk), 0);
	walk.count = 0;
	assert_int_equal(find(0, &walk), 0);
}

static void test_registers_that_nobody_keeps_are_unknown(void **state)
{
	unsigned k;

	(void)state;
	assert_true(find(0, &crowd->at[0].walk) > 3);
	for (k = 1; k < 3; k++) {
		assert_false(frames[k].registers.known & 1u << 0); /* rax */
		assert_false(frames[k].registers.known & 1u << 4); /* rsi */
		assert_true(frames[k].registers.known & 1u << 3);  /* rbx, which callees keep */
		assert_true(frames[k].registers.known & 1u << 12); /* r12 */
	}
}

static void test_memory_is_the_fibers_and_never_a_files_idea_of_it(void **state)
{
	const struct ins_fiber *fiber = &crowd->at[0].fiber;
	fib_read_fn *memory = crowd->source->memory;
	uint64_t word, row = crowd->source->layout.entry_low;

	(void)state;
	assert_int_equal(ins_scene_memory(crowd->source, fiber, fiber->row.sp, &word, 8), 0);
	assert_memory_equal(&word, fiber->stack, 8);
	crowd->source->memory = NULL;
	/* Code does not change. Memory below the copied part of a stack is of another moment. */
	assert_int_equal(ins_scene_memory(crowd->source, fiber, row, &word, 4), 0);
	assert_true(ins_scene_memory(crowd->source, fiber, fiber->row.sp - 64, &word, 8) < 0);
	assert_true(ins_scene_memory(crowd->source, fiber, 8, &word, 8) < 0);
	crowd->source->memory = memory;
}

static int start(void **state)
{
	(void)state;
	crowd = values_begin("crowd", "22");
	return crowd ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	values_end(crowd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_frame_of_a_whole_walk_has_its_registers),
		cmocka_unit_test(test_a_walk_that_went_elsewhere_has_registers_up_to_there),
		cmocka_unit_test(test_registers_that_nobody_keeps_are_unknown),
		cmocka_unit_test(test_memory_is_the_fibers_and_never_a_files_idea_of_it),
	};

	return HEAD_RUN(tests, start, stop);
}
