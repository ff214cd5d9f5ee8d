/* SPDX-License-Identifier: MIT */
/* test_render_svg.c - frames are stacked, as wide as their fibers, and no name leaves its text */
#include "tests/harness/inspect/flamed.h"

#include <inttypes.h>

/* Parse the numbers of the frame that has the title. False: no such frame. */
static bool frame_of(const char *title, unsigned *depth, unsigned *at, unsigned *n)
{
	char wanted[128];
	const char *line = text, *found;

	snprintf(wanted, sizeof wanted, "<title>%s (", title);
	found = strstr(text, wanted);
	if (!found)
		return false;
	for (const char *next; (next = strchr(line, '\n')) && next < found;)
		line = next + 1;
	return sscanf(line, "<g class=\"f\" data-d=\"%u\" data-at=\"%u\" data-n=\"%u\">", depth, at,
		      n) == 3;
}

static void expect(const char *title, unsigned depth, unsigned at, unsigned n)
{
	unsigned is_depth = 0, is_at = 0, is_n = 0;

	assert_true(frame_of(title, &is_depth, &is_at, &is_n));
	assert_int_equal(is_depth, depth);
	assert_int_equal(is_at, at);
	assert_int_equal(is_n, n);
}

static void test_stacks_share_what_they_begin_with(void **state)
{
	(void)state;
	add("b");
	add("b");
	walk.pc[0] = 0x101;
	add("b");
	walk.count = 1;
	walk.pc[0] = 0x500;
	add("a");
	flame_all(true);
	drawn(ins_svg_put, "title");
	expect("all", 0, 0, 4);
	expect("a", 1, 0, 1);
	expect("0x500", 2, 0, 1);
	expect("b", 1, 1, 3);
	expect("0x300", 2, 1, 3);
	expect("0x200", 3, 1, 3);
	expect("0x100", 4, 1, 2);
	expect("0x101", 4, 3, 1);
	assert_non_null(strstr(text, "<title>b (3 fibers, 75.00%, together "));
}

static void test_a_stack_that_ends_leaves_room_above_it(void **state)
{
	(void)state;
	add(NULL);
	walk.count = 1;
	walk.pc[0] = 0x300;
	add(NULL);
	add(NULL);
	flame_all(false);
	drawn(ins_svg_put, "title");
	expect("0x300", 1, 0, 3);
	expect("0x200", 2, 2, 1);
	expect("0x100", 3, 2, 1);
}

static void test_no_name_leaves_its_text(void **state)
{
	(void)state;
	add("</title><script>alert(1)</script>&\"'\x1b\xff\xef\xbf\xbe]]>");
	flame_all(true);
	drawn(ins_svg_put, "<&>");
	assert_non_null(strstr(text, ">&lt;&amp;&gt;</text>"));
	assert_non_null(strstr(text,
			       "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"
			       "&quot;'\\x1b\\xff"));
	assert_null(strstr(text, "<script>alert"));
	assert_null(strstr(text, "\xef\xbf\xbe"));
	assert_null(memchr(text, '\x1b', size));
}

static void test_of_nothing_there_is_all_without_width(void **state)
{
	(void)state;
	flame_all(false);
	drawn(ins_svg_put, "title");
	expect("all", 0, 0, 0);
	assert_null(strstr(text, "nan"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_stacks_share_what_they_begin_with),
		FLAMED_TEST(test_a_stack_that_ends_leaves_room_above_it),
		FLAMED_TEST(test_no_name_leaves_its_text),
		FLAMED_TEST(test_of_nothing_there_is_all_without_width),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
