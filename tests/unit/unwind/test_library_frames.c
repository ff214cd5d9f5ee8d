/* SPDX-License-Identifier: MIT */
/* test_library_frames.c - which frames of a walk are hidden, and that the program's never are */
#include "tests/harness/inspect/head.h"

#include <string.h>

#include "base/compiler.h"
#include "base/rand.h"
#include "inspect/unwind/library_frames.h"

/* The library is at 0x2000 and the entry, in which a walk ends, at 0x1000. */
static const struct fib_layout layout = {
	.entry_low = 0x1000,
	.entry_high = 0x1200,
	.code = {{0x2000, 0x3000}},
};
static struct ins_walk walk;

#define PROGRAM 0x9000
#define LIBRARY 0x2800
#define ENTRY	0x1008

/*
 * A walk in letters, innermost frame first: p of the program, L of the library, E the entry. Returns
 * what each frame is: p the program's, c called by the program, i internal, e the entry.
 */
static const char *marks(const char *frames)
{
	static char ret[INS_WALK_MAX + 1];
	unsigned i;

	memset(&walk, 0, sizeof walk);
	walk.hide = true;
	for (i = 0; frames[i]; i++)
		walk.pc[i] = (frames[i] == 'p' ? PROGRAM : frames[i] == 'L' ? LIBRARY : ENTRY) + i;
	walk.count = i;
	ins_walk_mark(&walk, &layout);
	for (i = 0; i < walk.count; i++) {
		assert_false(ins_walk_internal(&walk, i) && ins_walk_called(&walk, i));
		ret[i] = ins_walk_internal(&walk, i)   ? 'i'
			 : ins_walk_called(&walk, i)   ? 'c'
			 : ins_walk_is_entry(&walk, i) ? 'e'
						       : 'p';
	}
	ret[i] = 0;
	return ret;
}

static void test_only_the_call_is_left_of_a_wait_and_nothing_of_the_entry(void **state)
{
	(void)state;
	assert_string_equal(marks("LLLppLE"), "iicppie");
	assert_string_equal(marks("LpLE"), "cpie");
	assert_string_equal(marks("ppLE"), "ppie");
	/* A fiber with thread-locals of its own has more functions before its first one. */
	assert_string_equal(marks("LppLLLE"), "cppiiie");
}

static void test_a_callback_is_between_two_calls(void **state)
{
	(void)state;
	assert_string_equal(marks("LLpLLLppLE"), "icpiicppie");
}

static void test_the_call_stays_where_the_first_function_left_no_frame(void **state)
{
	(void)state;
	assert_string_equal(marks("LLLLE"), "iicie");
	assert_string_equal(marks("LLE"), "cie");
	/* The entry of another library calls the first function itself. */
	assert_string_equal(marks("LLpE"), "icpe");
	assert_string_equal(marks("LE"), "ce");
}

static void test_a_walk_that_does_not_reach_the_entry_ends_with_a_call(void **state)
{
	(void)state;
	assert_string_equal(marks("LLL"), "iic");
	assert_string_equal(marks("LLp"), "icp");
	assert_string_equal(marks("pLL"), "pic");
	assert_string_equal(marks("p"), "p");
	assert_string_equal(marks("E"), "c");
	assert_string_equal(marks(""), "");
}

/* A return address is behind the call: in the next function if the call was the last instruction. */
static void test_a_return_address_belongs_to_the_call_before_it(void **state)
{
	(void)state;
	walk = (struct ins_walk){.count = 3, .pc = {0x3000, 0x3000, 0x2000}};
	ins_walk_mark(&walk, &layout);
	assert_false(ins_walk_called(&walk, 0));
	assert_true(ins_walk_called(&walk, 1));
	assert_false(ins_walk_called(&walk, 2));
	/* A signal interrupted the frame at the first instruction of the library. */
	walk.interrupted[0] = 1u << 2;
	ins_walk_mark(&walk, &layout);
	assert_true(ins_walk_internal(&walk, 1));
	assert_true(ins_walk_called(&walk, 2));
}

static void test_nothing_is_marked_where_the_registry_does_not_say(void **state)
{
	static const struct fib_layout old = {.entry_low = 0x1000, .entry_high = 0x1010};

	(void)state;
	marks("LLLppLE");
	assert_true(walk.code.known);
	ins_walk_mark(&walk, &old);
	assert_false(walk.code.known);
	assert_false(ins_walk_hidden(&walk, 0));
	assert_false(ins_walk_is_entry(&walk, walk.count - 1));
}

/* Any walk: no frame of the program is marked, and no walk is hidden as a whole. */
static void test_no_frame_of_the_program_is_ever_hidden(void **state)
{
	char frames[INS_WALK_MAX + 1];
	uint64_t seed = 22;
	unsigned round, i, count;

	(void)state;
	for (round = 0; round < 20000; round++) {
		count = 1 + (unsigned)fib_rand_below(&seed, round % 50 ? 12 : INS_WALK_MAX);
		for (i = 0; i < count; i++)
			frames[i] = "pLE"[fib_rand_below(&seed, 3)];
		frames[count] = 0;
		marks(frames);
		for (i = 0, count = 0; i < walk.count; i++) {
			if (frames[i] == 'p')
				assert_false(ins_walk_internal(&walk, i) ||
					     ins_walk_called(&walk, i) ||
					     ins_walk_is_entry(&walk, i));
			count += !ins_walk_hidden(&walk, i) && !ins_walk_is_entry(&walk, i);
		}
		assert_true(count > 0);
	}
}

static void test_walks_are_equal_if_what_is_shown_of_them_is(void **state)
{
	struct ins_walk other;

	(void)state;
	marks("LLpLE");
	other = walk;
	other.pc[0]++;
	assert_true(ins_walk_equal(&walk, &other));
	walk.hide = other.hide = false;
	assert_false(ins_walk_equal(&walk, &other));
	walk.hide = other.hide = true;
	other.pc[2]++;
	assert_false(ins_walk_equal(&walk, &other));
	/* More internal frames make no difference, another frame of the program does. */
	marks("LLLpLE");
	other = walk;
	marks("LpLE");
	walk.pc[0] = other.pc[2];
	walk.pc[1] = other.pc[3];
	walk.pc[3] = other.pc[5];
	assert_true(ins_walk_equal(&walk, &other));
	other.code.internal[0] &= ~UINT64_C(1);
	assert_false(ins_walk_equal(&walk, &other));
	assert_false(ins_walk_equal(&other, &walk));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_call_is_left_of_a_wait_and_nothing_of_the_entry),
		cmocka_unit_test(test_a_callback_is_between_two_calls),
		cmocka_unit_test(test_the_call_stays_where_the_first_function_left_no_frame),
		cmocka_unit_test(test_a_walk_that_does_not_reach_the_entry_ends_with_a_call),
		cmocka_unit_test(test_a_return_address_belongs_to_the_call_before_it),
		cmocka_unit_test(test_nothing_is_marked_where_the_registry_does_not_say),
		cmocka_unit_test(test_no_frame_of_the_program_is_ever_hidden),
		cmocka_unit_test(test_walks_are_equal_if_what_is_shown_of_them_is),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
