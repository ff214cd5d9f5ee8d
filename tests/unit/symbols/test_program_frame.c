/* SPDX-License-Identifier: MIT */
/* test_program_frame.c - the innermost frame of the program, by the marks of a walk */
#include "tests/harness/inspect/flamed.h"
#include "inspect/symbols/program_frame.h"

static void test_marks_decide_where_the_registry_says_where_the_code_is(void **state)
{
	(void)state;
	walk.code.known = true;
	walk.code.internal[0] = 1u << 0;
	walk.code.called[0] = 1u << 1;
	assert_int_equal(ins_program_frame(symbols, &walk), 2);
	walk.code.called[0] = 0;
	assert_int_equal(ins_program_frame(symbols, &walk), 1);
}

static void test_a_walk_without_a_frame_of_the_program_gives_the_call(void **state)
{
	(void)state;
	walk.code.known = true;
	walk.code.internal[0] = 1u << 0;
	walk.code.called[0] = 1u << 1;
	walk.code.entry = 3;
	assert_int_equal(ins_program_frame(symbols, &walk), 1);
	walk.code.called[0] = 0;
	walk.code.internal[0] = 3u;
	assert_int_equal(ins_program_frame(symbols, &walk), 0);
	walk.count = 0;
	assert_int_equal(ins_program_frame(symbols, &walk), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_marks_decide_where_the_registry_says_where_the_code_is),
		FLAMED_TEST(test_a_walk_without_a_frame_of_the_program_gives_the_call),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
