/* SPDX-License-Identifier: MIT */
/* test_lacks.c - missing data is reported once per kind, for a process and for a core */
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/lacks.h"

static struct ins_problems problems;

static const char *said(size_t i)
{
	static char text[512];

	return ins_problems_text(&problems, i, text, sizeof text);
}

static void test_nothing_that_lacks_is_not_said(void **state)
{
	const struct ins_lacks none = {0};

	(void)state;
	ins_lacks_say(&none, false, &problems);
	assert_int_equal(ins_problems_lines(&problems), 0);
}

static void test_each_kind_is_said_of_a_process(void **state)
{
	const struct ins_lacks lacks = {1, 2, 3, 1};

	(void)state;
	ins_lacks_say(&lacks, false, &problems);
	assert_int_equal(ins_problems_lines(&problems), 4);
	assert_string_equal(said(0), "1 fiber could not be read any more");
	assert_string_equal(said(1), "what 1 fiber waits for could not be read: holder and name of "
				     "it are missing");
	assert_string_equal(said(2),
			    "the stacks of 3 fibers were not read: together they claim more "
			    "memory than the process has");
	assert_string_equal(said(3), "the labels of 2 fibers could not be read");
	ins_problems_free(&problems);
}

static void test_each_kind_is_said_of_a_core(void **state)
{
	const struct ins_lacks lacks = {2, 1, 1, 0};

	(void)state;
	ins_lacks_say(&lacks, true, &problems);
	assert_int_equal(ins_problems_lines(&problems), 3);
	assert_string_equal(said(0),
			    "what 2 fibers wait for is not in the core: holder and name of "
			    "it are missing");
	assert_string_equal(said(1),
			    "the stacks of 1 fiber were not read: together they claim more "
			    "memory than the core has");
	assert_string_equal(said(2), "the labels of 1 fiber are not in the core");
	ins_problems_free(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_that_lacks_is_not_said),
		cmocka_unit_test(test_each_kind_is_said_of_a_process),
		cmocka_unit_test(test_each_kind_is_said_of_a_core),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
