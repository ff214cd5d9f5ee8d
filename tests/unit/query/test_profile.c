/* SPDX-License-Identifier: MIT */
/* test_profile.c - equal stacks are one, and their values add up */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/query/profile.h"

static struct ins_profile *profile;
static struct ins_walk walk;

static int begin(void **state)
{
	(void)state;
	memset(&walk, 0, sizeof walk);
	walk.count = 2;
	walk.pc[0] = 0x100;
	walk.pc[1] = 0x200;
	return ins_profile_new(&profile);
}

static int end(void **state)
{
	(void)state;
	ins_profile_free(profile);
	return 0;
}

static ins_profile_part walk_part(void)
{
	ins_profile_part part = 0;

	assert_int_equal(ins_profile_walk(profile, &walk, &part), 0);
	return part;
}

static ins_profile_part text_part(const char *text)
{
	ins_profile_part part = 0;

	assert_int_equal(ins_profile_text(profile, text, &part), 0);
	return part;
}

static void test_equal_walks_and_texts_are_one_part(void **state)
{
	const ins_profile_part a = walk_part(), t = text_part("[scheduler]");
	const char *text = NULL;

	(void)state;
	walk.pc[2] = 0x300; /* beyond its count */
	assert_int_equal(walk_part(), a);
	assert_int_equal(text_part("[scheduler]"), t);
	walk.truncated = true;
	assert_int_not_equal(walk_part(), a);
	walk.truncated = false;
	walk.pc[1] = 0x201;
	assert_int_not_equal(walk_part(), a);
	assert_int_not_equal(text_part("[other]"), t);
	assert_int_equal(ins_profile_part_at(profile, a, &text)->pc[1], 0x200);
	assert_null(text);
	assert_null(ins_profile_part_at(profile, t, &text));
	assert_string_equal(text, "[scheduler]");
}

static void test_the_values_of_equal_stacks_add_up(void **state)
{
	const ins_profile_part parts[] = {walk_part(), text_part("[mutex]"), text_part("[other]")};

	(void)state;
	assert_int_equal(ins_profile_add(profile, parts, 2, 1, 100), 0);
	assert_int_equal(ins_profile_add(profile, parts, 1, 1, 10), 0);
	assert_int_equal(ins_profile_add(profile, parts, 2, 0, 50), 0);
	assert_int_equal(ins_profile_add(profile, parts, 3, 7, 1), 0);
	assert_int_equal(ins_profile_count(profile), 3);
	assert_int_equal(ins_profile_at(profile, 0)->number, 1);
	assert_int_equal(ins_profile_at(profile, 0)->time, 150);
	assert_int_equal(ins_profile_at(profile, 0)->count, 2);
	assert_int_equal(ins_profile_at(profile, 0)->parts[1], parts[1]);
	assert_int_equal(ins_profile_at(profile, 1)->time, 10);
	assert_int_equal(ins_profile_at(profile, 2)->number, 7);
}

/* More than the tables have room for at first. */
static void test_thousands_of_stacks_keep_their_values(void **state)
{
	ins_profile_part parts[2];
	char text[32];
	unsigned round, i;

	(void)state;
	for (round = 0; round < 2; round++)
		for (i = 0; i < 5000; i++) {
			walk.pc[0] = i;
			parts[0] = walk_part();
			snprintf(text, sizeof text, "[%u]", i % 700);
			parts[1] = text_part(text);
			assert_int_equal(ins_profile_add(profile, parts, 2, 1, i), 0);
		}
	assert_int_equal(ins_profile_count(profile), 5000);
	for (i = 0; i < 5000; i++) {
		const struct ins_profile_stack *s = ins_profile_at(profile, i);
		const char *said = NULL;

		assert_int_equal(s->number, 2);
		assert_int_equal(s->time, 2 * i);
		assert_int_equal(ins_profile_part_at(profile, s->parts[0], &said)->pc[0], i);
		ins_profile_part_at(profile, s->parts[1], &said);
		snprintf(text, sizeof text, "[%u]", i % 700);
		assert_string_equal(said, text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_equal_walks_and_texts_are_one_part),
		TEST(test_the_values_of_equal_stacks_add_up),
		TEST(test_thousands_of_stacks_keep_their_values),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
