/* SPDX-License-Identifier: MIT */
/* test_render_variables.c - variables under their frames, in text and in JSON. */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render.h"
#include "inspect/render/render_variables.h"

static struct ins_variable some[] = {
	{.frame = 0,
	 .argument = false,
	 .available = true,
	 .name = "a\033b",
	 .type = "int",
	 .value = "1"},
	{.frame = 0, .argument = true, .available = true, .name = "n", .type = "int", .value = "2"},
	{.frame = 2, .argument = true, .name = "p", .type = "void *", .value = "<optimized out>"},
};
static const struct ins_variables variables = {.fiber = 41, .count = 3, .at = some};

static const char *put(unsigned frame)
{
	static char text[1024];
	const struct ins_details details = {.variables = &variables};
	const struct ins_frame at = {.pc = 0x10};
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	memset(text, 0, sizeof text);
	ins_text_details(out, &details, frame, &at);
	fclose(out);
	return text;
}

static void test_arguments_come_first_and_only_those_of_the_frame(void **state)
{
	(void)state;
	assert_string_equal(put(0), "       arg   n = 2\n       local a\\x1bb = 1\n");
	assert_string_equal(put(1), "");
	assert_string_equal(put(2), "       arg   p = <optimized out>\n");
}

static json_t *row(void)
{
	return json_pack("{s:[{}, {}, {}], s:[i]}", "frames", "fiberIds", 41);
}

static json_t *frame(const json_t *of, size_t i)
{
	return json_array_get(json_object_get(of, "frames"), i);
}

static void test_each_frame_has_the_arrays_that_are_wanted(void **state)
{
	json_t *all =
		ins_json_variables(row(), &variables, INS_VARIABLES_ARGS | INS_VARIABLES_LOCALS);
	json_t *args = ins_json_variables(row(), &variables, INS_VARIABLES_ARGS);
	const json_t *v;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(all, "valuesOf")), 41);
	assert_int_equal(json_array_size(json_object_get(frame(all, 0), "args")), 1);
	assert_int_equal(json_array_size(json_object_get(frame(all, 0), "locals")), 1);
	assert_true(json_is_array(json_object_get(frame(all, 1), "args")));
	assert_int_equal(json_array_size(json_object_get(frame(all, 1), "args")), 0);
	v = json_array_get(json_object_get(frame(all, 2), "args"), 0);
	assert_string_equal(json_string_value(json_object_get(v, "name")), "p");
	assert_string_equal(json_string_value(json_object_get(v, "type")), "void *");
	assert_true(json_is_false(json_object_get(v, "available")));
	assert_null(json_object_get(frame(args, 0), "locals"));
	json_decref(all);
	json_decref(args);
}

static void test_a_row_without_variables_is_as_it_was(void **state)
{
	json_t *before = row(), *after = ins_json_variables(row(), NULL, INS_VARIABLES_ARGS);

	(void)state;
	assert_true(json_equal(before, after));
	assert_null(ins_json_variables(NULL, &variables, INS_VARIABLES_ARGS));
	json_decref(before);
	json_decref(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_come_first_and_only_those_of_the_frame),
		cmocka_unit_test(test_each_frame_has_the_arrays_that_are_wanted),
		cmocka_unit_test(test_a_row_without_variables_is_as_it_was),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
