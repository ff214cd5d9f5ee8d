/* SPDX-License-Identifier: MIT */
/* test_flames.c - functions, stacks with their fibers and ages, and harmless names */
#include "tests/harness/inspect/flamed.h"

static const char *name_of(const struct ins_flame *f, size_t depth)
{
	return ins_flames_function(flames, f->calls[depth].function)->name;
}

static void test_a_function_is_kept_once(void **state)
{
	(void)state;
	add(NULL);
	walk.count = 2;
	add(NULL);
	flame_all(false);
	assert_int_equal(ins_flames_count(flames), 2);
	assert_int_equal(ins_flames_functions(flames), 3);
	assert_int_equal(ins_flames_at(flames, 0)->depth, 3);
	assert_string_equal(name_of(ins_flames_at(flames, 0), 0), "0x300");
	assert_string_equal(name_of(ins_flames_at(flames, 0), 2), "0x100");
	assert_null(ins_flames_function(flames, 0)->file);
}

static void test_fibers_and_ages_are_summed(void **state)
{
	(void)state;
	fiber.row.age = 5;
	add(NULL);
	fiber.row.age = 7;
	add(NULL);
	fiber.row.age = -3; /* negative if the clock was set back: counts as 0 */
	add(NULL);
	walk.count = 1;
	fiber.row.age = INT64_MAX;
	add(NULL);
	flame_all(false);
	assert_int_equal(ins_flames_at(flames, 0)->number, 3);
	assert_int_equal(ins_flames_at(flames, 0)->time, 12);
	assert_int_equal(ins_flames_number(flames), 4);
	/* The sum saturates at INT64_MAX. */
	assert_int_equal(ins_flames_time(flames), INT64_MAX);
}

static void test_what_is_missing_is_a_frame_of_its_own(void **state)
{
	const struct ins_flame *f;

	(void)state;
	walk.truncated = true;
	walk.left = walk.left_least = 4;
	walk.limit = 2;
	add("key");
	flame_all(true);
	f = ins_flames_at(flames, 0);
	assert_int_equal(f->depth, 5);
	assert_string_equal(name_of(f, 0), "key");
	assert_string_equal(name_of(f, 1), "[truncated]");
	assert_string_equal(name_of(f, 2), "[left out]");
	assert_string_equal(name_of(f, 3), "0x200");
	assert_string_equal(name_of(f, 4), "0x100");
}

static void test_a_name_is_plain_and_never_empty(void **state)
{
	(void)state;
	add("\x1b[2J\nfile");
	add("");
	flame_all(true);
	assert_int_equal(ins_flames_functions(flames), 5);
	assert_string_equal(name_of(ins_flames_at(flames, 0), 0), "?");
	assert_string_equal(name_of(ins_flames_at(flames, 1), 0), "\\x1b[2J\\x0afile");
}

static void test_of_nothing_there_is_nothing(void **state)
{
	(void)state;
	flame_all(false);
	assert_int_equal(ins_flames_count(flames), 0);
	assert_int_equal(ins_flames_number(flames), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_a_function_is_kept_once),
		FLAMED_TEST(test_fibers_and_ages_are_summed),
		FLAMED_TEST(test_what_is_missing_is_a_frame_of_its_own),
		FLAMED_TEST(test_a_name_is_plain_and_never_empty),
		FLAMED_TEST(test_of_nothing_there_is_nothing),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
