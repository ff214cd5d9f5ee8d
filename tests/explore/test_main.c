/* SPDX-License-Identifier: MIT */
/* test_main.c - tables of tests that fiber_test_main() refuses; options and the flag to go on */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

static void nothing(void *arg)
{
	(void)arg;
}

/* What fiber_test_main() prints on stderr, in a child, which exits with 2. */
static void expect_refusal(const struct fiber_test_case cases[], size_t n, const char *line)
{
	char *argv[] = {(char[]){"program"}, NULL};
	char text[512];
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(fiber_test_main(1, argv, cases, n));
	}
	close(ends[1]);
	got = read(ends[0], text, sizeof text - 1);
	assert_true(got >= 0);
	text[got] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_string_equal(text, line);
}

static void test_two_tests_of_one_name_are_refused(void **state)
{
	static const struct fiber_test_case cases[] = {{"a", nothing, NULL, NULL},
						       {"b\033", nothing, NULL, NULL},
						       {"b\033", nothing, NULL, NULL}};

	(void)state;
	expect_refusal(cases, 3, "program: b\\x1b: two tests have this name\n");
}

static void test_a_test_without_a_function_is_refused(void **state)
{
	static const struct fiber_test_case cases[] = {{"a", NULL, NULL, NULL}};

	(void)state;
	expect_refusal(cases, 1, "program: a test: has no name or no function\n");
}

static void fails_twice(void *arg)
{
	(void)arg;
	if (fiber_test_choose(2, "which"))
		fiber_test_fail("one");
	fiber_test_fail("zero");
}

static void test_going_on_is_a_flag(void **state)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = "exhaustive",
		.flags = FIBER_TEST_KEEP_GOING,
	};
	struct fiber_test_result result = {.size = sizeof result};

	(void)state;
	assert_int_equal(fiber_test_explore(fails_twice, NULL, &options, &result), 1);
	assert_int_equal(result.verdict, FIBER_TEST_FAILED);
	assert_int_equal(result.failed, 1);
	assert_int_equal(result.schedules, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_tests_of_one_name_are_refused),
		cmocka_unit_test(test_a_test_without_a_function_is_refused),
		cmocka_unit_test(test_going_on_is_a_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
