/* SPDX-License-Identifier: MIT */
/* test_render_top.c - the time of a function itself, and of the stacks that it is in */
#include "inspect/render/render_top.h"
#include "tests/harness/inspect/flamed.h"

static const struct ins_flame_kind profile = {
	.number = {"samples", "count", "samples"},
	.time = {"cpu", "nanoseconds", "CPU time"},
	.one = "sample",
	.by_time = true,
};

/* Add a stack of names, innermost first, one letter each. */
static void add_names(const char *names, uint64_t number, uint64_t time)
{
	char name[2] = "";

	ins_flames_begin(flames);
	for (; *names; names++) {
		name[0] = *names;
		assert_int_equal(ins_flames_put_name(flames, name), 0);
	}
	assert_int_equal(ins_flames_end(flames, number, time), 0);
}

static void expect_row(const struct ins_top_row *row, const char *name, uint64_t self,
		       uint64_t total, uint64_t number)
{
	assert_string_equal(ins_flames_function(flames, row->function)->name, name);
	assert_int_equal(row->self.time, self);
	assert_int_equal(row->total.time, total);
	assert_int_equal(row->total.number, number);
}

static void test_a_function_counts_once_in_a_stack_and_the_innermost_for_itself(void **state)
{
	struct ins_top_row *rows;

	(void)state;
	assert_int_equal(ins_flames_new(&profile, &flames), 0);
	add_names("cba", 3, 300);
	add_names("ba", 1, 100);
	add_names("aba", 2, 50); /* calls itself */
	assert_int_equal(ins_top_rows(flames, &rows), 0);
	expect_row(&rows[0], "c", 300, 300, 3);
	expect_row(&rows[1], "b", 100, 450, 6);
	expect_row(&rows[2], "a", 50, 450, 6);
	free(rows);
}

static void test_the_table_has_both_times_and_their_parts(void **state)
{
	struct ins_top_row *rows;
	FILE *out;

	(void)state;
	assert_int_equal(ins_flames_new(&profile, &flames), 0);
	add_names("ba", 3, 750000000);
	add_names("a", 1, 250000000);
	assert_int_equal(ins_top_rows(flames, &rows), 0);
	free(text);
	out = open_memstream(&text, &size);
	ins_text_top(out, flames, rows, 2);
	fclose(out);
	assert_string_equal(text, "       SELF      %       TOTAL      %   SAMPLES  FUNCTION\n"
				  "     0.750s  75.0%      0.750s  75.0%         3  b\n"
				  "     0.250s  25.0%        1.0s 100.0%         4  a\n");
	free(rows);
}

static void test_a_profile_of_nothing_has_no_rows(void **state)
{
	struct ins_top_row *rows;

	(void)state;
	assert_int_equal(ins_flames_new(&profile, &flames), 0);
	assert_int_equal(ins_top_rows(flames, &rows), 0);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_a_function_counts_once_in_a_stack_and_the_innermost_for_itself),
		FLAMED_TEST(test_the_table_has_both_times_and_their_parts),
		FLAMED_TEST(test_a_profile_of_nothing_has_no_rows),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
