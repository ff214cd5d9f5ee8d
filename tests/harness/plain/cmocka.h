/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - the part of cmocka that libfiber's tests use, for machines that have no cmocka
 *
 * A cross build has only the C library of the other machine. Its tests are compiled with this header in
 * place of cmocka's. Names, arguments and output (TAP) are those of cmocka 1.1. Differences:
 *
 * - no handler of signals is installed: a test that dies ends the program;
 * - a failed assertion on another thread than the test's ends the program with exit status 255;
 * - tests that are listed in the file $FIBER_LEFT_OUT are skipped, with the reason that is given there
 *   (scripts/left-out.txt).
 */
#ifndef HARNESS_PLAIN_CMOCKA_H
#define HARNESS_PLAIN_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

typedef uintmax_t LargestIntegralType;
typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction test_func;
	CMFixtureFunction setup_func;
	CMFixtureFunction teardown_func;
	void *initial_state;
};

enum cm_message_output { CM_OUTPUT_STDOUT, CM_OUTPUT_SUBUNIT, CM_OUTPUT_TAP, CM_OUTPUT_XML };

#define cmocka_unit_test(f)		       cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_unit_test_setup(f, setup)       cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)
#define cmocka_unit_test_setup_teardown(f, setup, end) \
	{                                              \
#f, f, setup, end, NULL                \
	}
#define cmocka_unit_test_prestate_setup_teardown(f, setup, end, state) \
	{                                                              \
#f, f, setup, end, state                               \
	}

#define cmocka_run_group_tests(tests, setup, teardown) \
	cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	_cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): cmocka's names */

/* Returns the number of failed tests; all of them if the setup of the group fails. */
int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
			    CMFixtureFunction setup, CMFixtureFunction teardown);

/* The output is TAP in any case. */
void cmocka_set_message_output(enum cm_message_output output);

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* End the test: as failed, or as skipped. */
_Noreturn void _fail(const char *file, int line);
_Noreturn void _skip(const char *file, int line);

/* End the test as failed unless the condition holds. An integer is compared as uintmax_t. */
void _assert_true(LargestIntegralType value, const char *text, const char *file, int line);
void _assert_int_equal(LargestIntegralType a, LargestIntegralType b, const char *file, int line);
void _assert_int_not_equal(LargestIntegralType a, LargestIntegralType b, const char *file,
			   int line);
void _assert_string_equal(const char *a, const char *b, const char *file, int line);
void _assert_string_not_equal(const char *a, const char *b, const char *file, int line);
void _assert_memory_equal(const void *a, const void *b, size_t size, const char *file, int line);
void _assert_in_range(LargestIntegralType value, LargestIntegralType low, LargestIntegralType high,
		      const char *file, int line);
void _assert_in_set(LargestIntegralType value, const LargestIntegralType *set, size_t count,
		    const char *file, int line);

/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#define CM_VALUE(v)   ((LargestIntegralType)(v))
#define CM_POINTER(p) ((LargestIntegralType)(uintptr_t)(p))

#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...)                                                                \
	do {                                                                         \
		print_error("ERROR: "), print_error(__VA_ARGS__), print_error("\n"); \
		fail();                                                              \
	} while (0)
#define skip() _skip(__FILE__, __LINE__)

#define assert_true(c)	       _assert_true(CM_VALUE(c), #c, __FILE__, __LINE__)
#define assert_false(c)	       _assert_true(!CM_VALUE(c), "!(" #c ")", __FILE__, __LINE__)
#define assert_non_null(p)     _assert_true((p) != NULL, #p " != NULL", __FILE__, __LINE__)
#define assert_null(p)	       _assert_true((p) == NULL, #p " == NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) _assert_int_equal(CM_POINTER(a), CM_POINTER(b), __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) \
	_assert_int_not_equal(CM_POINTER(a), CM_POINTER(b), __FILE__, __LINE__)
#define assert_int_equal(a, b) _assert_int_equal(CM_VALUE(a), CM_VALUE(b), __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
	_assert_int_not_equal(CM_VALUE(a), CM_VALUE(b), __FILE__, __LINE__)
#define assert_string_equal(a, b)     _assert_string_equal(a, b, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) _assert_string_not_equal(a, b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n)  _assert_memory_equal(a, b, n, __FILE__, __LINE__)
#define assert_in_range(v, low, high) \
	_assert_in_range(CM_VALUE(v), CM_VALUE(low), CM_VALUE(high), __FILE__, __LINE__)
#define assert_in_set(v, set, n) _assert_in_set(CM_VALUE(v), set, n, __FILE__, __LINE__)

#endif
