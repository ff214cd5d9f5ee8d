/* SPDX-License-Identifier: MIT */
/* test_render_folded.c - a line a stack, which splits at semicolons and at its last blank whatever the names are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "head.h"
#include "inspect/render_flames.h"
#include "nowhere.h"
#include "rows.h"

static struct fib_layout layout;
static struct ins_groups *groups;
static struct ins_walk walk;
static struct ins_fiber fiber;
static char *text;

static void add(const char *key)
{
	fiber.row.id++;
	assert_int_equal(ins_groups_add(groups, key, &fiber, &walk), 0);
}

static const char *folded(bool keyed)
{
	struct ins_flames *flames;
	size_t i, size;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(ins_flames_new(&flames), 0);
	ins_groups_sort(groups);
	for (i = 0; i < ins_groups_count(groups); i++)
		assert_int_equal(
			ins_flames_add(flames, &layout, ins_groups_at(groups, i), keyed, symbols),
			0);
	assert_int_equal(ins_folded_put(out, flames), 0);
	ins_flames_free(flames);
	fclose(out);
	return text;
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

static int begin(void **state)
{
	(void)state;
	fiber = rows_fiber(10, "a");
	memset(&walk, 0, sizeof walk);
	walk.count = 3;
	walk.pc[0] = 0x100;
	walk.pc[1] = 0x200;
	walk.pc[2] = 0x300;
	return ins_groups_new(&groups);
}

static int end(void **state)
{
	(void)state;
	ins_groups_free(groups);
	return 0;
}

static int start(void **state)
{
	(void)state;
	return nowhere_begin();
}

static int stop(void **state)
{
	(void)state;
	free(text);
	return nowhere_end();
}

#define FOLDED_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDED_TEST(test_the_outermost_frame_comes_first),
		FOLDED_TEST(test_the_most_frequent_line_comes_first),
		FOLDED_TEST(test_two_groups_of_the_same_names_are_one_line),
		FOLDED_TEST(test_what_has_no_frames_is_its_state_and_what_lost_its_way_says_so),
		FOLDED_TEST(test_a_key_is_the_outermost_frame),
		FOLDED_TEST(test_no_name_can_end_a_frame_or_a_line),
		FOLDED_TEST(test_every_byte_in_a_name_leaves_one_line_of_two_words),
	};

	return HEAD_RUN(tests, start, stop);
}
