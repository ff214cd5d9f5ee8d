/* SPDX-License-Identifier: MIT */
/* test_fiber_names.c - a fiber without a name is shown by its function */
#include "tests/harness/inspect/head.h"

#include <string.h>

#include "inspect/symbols/fiber_names.h"
#include "tests/harness/inspect/rows.h"

static const char *of(const char *function)
{
	static char buf[32];

	return ins_fiber_name_of(function, buf, sizeof buf);
}

static void test_name_of_a_function_has_no_parameters_and_fits(void **state)
{
	(void)state;
	assert_string_equal(of("greet"), "greet()");
	assert_string_equal(of("greet(int)"), "greet()");
	assert_string_equal(of("shop::greet(int (*)(char), long)"), "shop::greet()");
	assert_string_equal(of("(anonymous namespace)::greet(void*)"),
			    "(anonymous namespace)::greet()");
	assert_string_equal(of("a_function_of_29_characters_x"), "a_function_of_29_characters_x()");
	assert_string_equal(of("a_function_of_30_characters_xy"),
			    "a_function_of_30_characters..()");
	assert_string_equal(of(""), "()");
	assert_string_equal(of(")"), ")()");
	assert_string_equal(of("(x)"), "(x)()");
}

/* Emits a fiber with a name, one without, and one whose function is not known either. */
static int fake_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct ins_fiber fiber = rows_fiber(1, "worker");
	int rc = fn(context, &fiber);

	(void)source;
	(void)ret;
	(void)error;
	/* The names of functions need the modules. */
	assert_true(request->modules);
	fiber = rows_fiber(2, "");
	fiber.row.entry = 0;
	return rc == 0 ? fn(context, &fiber) : rc;
}

static void fake_close(struct ins_source *source)
{
	(void)source;
}

static int check(void *context, const struct ins_fiber *fiber)
{
	unsigned *count = context;

	++*count;
	assert_string_equal(fiber->row.name, fiber->row.id == 1 ? "worker" : "");
	assert_false(fiber->flags & INS_FIBER_NAMED);
	return 0;
}

static void test_names_of_their_own_and_unknown_functions_are_left_alone(void **state)
{
	static const struct ins_source_ops ops = {.read = fake_read, .close = fake_close};
	const struct ins_request request = {0};
	struct ins_source source = {.ops = &ops};
	struct ins_summary summary;
	struct ins_error error;
	unsigned count = 0;

	(void)state;
	assert_int_equal(ins_fiber_names_begin(&source), 0);
	assert_int_equal(ins_source_read(&source, &request, check, &count, &summary, &error), 0);
	assert_int_equal(count, 2);
	ins_source_close(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_of_a_function_has_no_parameters_and_fits),
		cmocka_unit_test(test_names_of_their_own_and_unknown_functions_are_left_alone),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
