/* SPDX-License-Identifier: MIT */
/* test_render_folded.c - one line per stack, split at semicolons and the last blank for any name */
#include "tests/harness/inspect/flamed.h"

static int put_folded(FILE *out, const struct ins_flames *of, const char *title)
{
	(void)title;
	return ins_folded_put(out, of);
}

static const char *folded(bool keyed)
{
	flame_all(keyed);
	return drawn(put_folded, "");
}

static void test_the_outermost_frame_comes_first(void **state)
{
	(void)state;
	add(NULL);
	add(NULL);
	assert_string_equal(folded(false), "0x300;0x200;0x100 2\n");
}

static void test_the_most_frequent_line_comes_first(void **state)
{
	(void)state;
	add(NULL);
	walk.count = 2;
	add(NULL);
	add(NULL);
	assert_string_equal(folded(false), "0x200;0x100 2\n0x300;0x200;0x100 1\n");
}

static void test_two_groups_of_the_same_names_are_one_line(void **state)
{
	(void)state;
	add(NULL);
	fiber.row.wait_kind = FIB_WAIT_FD;
	add(NULL);
	add(NULL);
	assert_int_equal(ins_groups_count(groups), 2);
	assert_string_equal(folded(false), "0x300;0x200;0x100 3\n");
}

static void test_what_has_no_frames_is_its_state_and_what_lost_its_way_says_so(void **state)
{
	(void)state;
	walk.truncated = true;
	add(NULL);
	walk.count = 0;
	add(NULL);
	add(NULL);
	walk.truncated = false;
	fiber.row.state = FIBER_RUNNING;
	add(NULL);
	add(NULL);
	add(NULL);
	assert_string_equal(folded(false), "[running] 3\n[truncated] 2\n"
					   "[truncated];0x300;0x200;0x100 1\n");
}

static void test_a_key_is_the_outermost_frame(void **state)
{
	(void)state;
	add("alice");
	add("alice");
	add(NULL);
	assert_string_equal(folded(true), "alice;0x300;0x200;0x100 2\n"
					  "[none];0x300;0x200;0x100 1\n");
}

static void test_no_name_can_end_a_frame_or_a_line(void **state)
{
	(void)state;
	add("operator; f(int, char)\n9\x1b[2J\xff");
	assert_string_equal(folded(true),
			    "operator:_f(int,_char)\\x0a9\\x1b[2J\\xff;0x300;0x200;0x100 1\n");
}

static void test_every_byte_in_a_name_leaves_one_line_of_two_words(void **state)
{
	char key[] = "a?b", *blank;
	unsigned c;

	(void)state;
	for (c = 1; c < 256; c++) {
		key[1] = (char)c;
		ins_groups_free(groups);
		assert_int_equal(ins_groups_new(&groups), 0);
		add(key);
		folded(true);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		blank = strchr(text, ' ');
		assert_non_null(blank);
		assert_string_equal(blank, " 1\n");
		assert_string_equal(strchr(text, ';'), ";0x300;0x200;0x100 1\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_the_outermost_frame_comes_first),
		FLAMED_TEST(test_the_most_frequent_line_comes_first),
		FLAMED_TEST(test_two_groups_of_the_same_names_are_one_line),
		FLAMED_TEST(test_what_has_no_frames_is_its_state_and_what_lost_its_way_says_so),
		FLAMED_TEST(test_a_key_is_the_outermost_frame),
		FLAMED_TEST(test_no_name_can_end_a_frame_or_a_line),
		FLAMED_TEST(test_every_byte_in_a_name_leaves_one_line_of_two_words),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
