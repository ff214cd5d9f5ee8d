/* SPDX-License-Identifier: MIT */
/* test_error.c - errors and problems are cut, counted and escaped */
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/error.h"

static struct ins_problems problems;

static int empty(void **state)
{
	(void)state;
	ins_problems_free(&problems);
	return 0;
}

static void test_error_gives_back_its_number_and_takes_null(void **state)
{
	struct ins_error error;

	(void)state;
	assert_int_equal(ins_error_set(&error, -5, "%s: %d", "what", 7), -5);
	assert_string_equal(error.text, "what: 7");
	assert_int_equal(ins_error_set(NULL, -6, "lost"), -6);
}

static void test_error_is_cut_where_it_does_not_fit(void **state)
{
	char lengthy[4096];
	struct ins_error error;

	(void)state;
	memset(lengthy, 'x', sizeof lengthy - 1);
	lengthy[sizeof lengthy - 1] = 0;
	ins_error_set(&error, -1, "%s", lengthy);
	assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void test_error_and_problem_carry_no_control_character(void **state)
{
	struct ins_error error;
	char text[256];

	(void)state;
	ins_error_set(&error, -1, "%s: cannot", "/tmp/\x1b[2Jevil\nname");
	assert_string_equal(error.text, "/tmp/\\x1b[2Jevil\\x0aname: cannot");
	ins_problems_add(&problems, "%s", "a\rb");
	assert_string_equal(ins_problems_text(&problems, 0, text, sizeof text), "a\\x0db");
}

static void test_equal_problems_are_one_line_with_their_number(void **state)
{
	char text[256];
	int i;

	(void)state;
	assert_int_equal(ins_problems_lines(&problems), 0);
	for (i = 0; i < 50000; i++)
		ins_problems_add(&problems, "the same");
	ins_problems_add(&problems, "another");
	assert_int_equal(ins_problems_lines(&problems), 2);
	assert_string_equal(ins_problems_text(&problems, 0, text, sizeof text),
			    "the same (50000 times)");
	assert_string_equal(ins_problems_text(&problems, 1, text, sizeof text), "another");
}

static void test_problems_beyond_the_limit_are_counted(void **state)
{
	char text[256];
	int i;

	(void)state;
	for (i = 0; i < INS_PROBLEMS_MAX + 3; i++)
		ins_problems_add(&problems, "problem %d", i);
	/* A stored problem is still recognised after the limit. */
	ins_problems_add(&problems, "problem 0");
	assert_int_equal(ins_problems_lines(&problems), INS_PROBLEMS_MAX + 1);
	assert_string_equal(ins_problems_text(&problems, 0, text, sizeof text),
			    "problem 0 (2 times)");
	assert_string_equal(ins_problems_text(&problems, INS_PROBLEMS_MAX, text, sizeof text),
			    "and 3 more problems");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_gives_back_its_number_and_takes_null),
		cmocka_unit_test(test_error_is_cut_where_it_does_not_fit),
		cmocka_unit_test_teardown(test_error_and_problem_carry_no_control_character, empty),
		cmocka_unit_test_teardown(test_equal_problems_are_one_line_with_their_number,
					  empty),
		cmocka_unit_test_teardown(test_problems_beyond_the_limit_are_counted, empty),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
