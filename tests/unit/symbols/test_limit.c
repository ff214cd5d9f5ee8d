/* SPDX-License-Identifier: MIT */
/* test_limit.c - keep the n innermost frames, and the number of the others */
#include "tests/harness/inspect/flamed.h"
#include "inspect/symbols/limit.h"

static void test_no_limit_keeps_all(void **state)
{
	(void)state;
	walk.left = walk.limit = 9;
	ins_walk_limit(&walk, symbols, 0);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.left, 0);
	assert_int_equal(walk.limit, 0);
}

static void test_the_innermost_stay(void **state)
{
	(void)state;
	walk.truncated = true;
	ins_walk_limit(&walk, symbols, 2);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.pc[0], 0x100);
	assert_int_equal(walk.left, 1);
	assert_int_equal(walk.limit, 2);
	assert_true(walk.truncated);
}

static void test_as_many_as_there_are_is_not_cut(void **state)
{
	(void)state;
	ins_walk_limit(&walk, symbols, 3);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.left, 0);
	assert_int_equal(walk.limit, 0);
	ins_walk_limit(&walk, symbols, 4);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.left, 0);
}

static void test_walks_that_differ_beyond_are_one_group_and_say_up_to(void **state)
{
	FILE *out;

	(void)state;
	ins_walk_limit(&walk, symbols, 1);
	add(NULL);
	walk.count = 2;
	ins_walk_limit(&walk, symbols, 1);
	walk.pc[0] = 0x100;
	add(NULL);
	assert_int_equal(ins_groups_count(groups), 1);
	assert_int_equal(ins_groups_at(groups, 0)->walk->left, 2);
	assert_int_equal(ins_groups_at(groups, 0)->walk->left_least, 1);
	free(text);
	out = open_memstream(&text, &size);
	ins_text_frames(out, symbols, ins_groups_at(groups, 0)->walk);
	fclose(out);
	assert_string_equal(text, "  #0  0x100\n  up to 2 frames left out\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_no_limit_keeps_all),
		FLAMED_TEST(test_the_innermost_stay),
		FLAMED_TEST(test_as_many_as_there_are_is_not_cut),
		FLAMED_TEST(test_walks_that_differ_beyond_are_one_group_and_say_up_to),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
