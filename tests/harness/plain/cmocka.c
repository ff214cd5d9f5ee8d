/* SPDX-License-Identifier: MIT */
/*
 * cmocka.c - run the tests of a group and print TAP, as cmocka does
 *
 * A test runs on the thread that called for the group. A failed assertion jumps back from it.
 * Another thread cannot do that, so there a failed assertion ends the program.
 *
 * $FIBER_LEFT_OUT names a file with the tests that this machine or its emulator cannot run.
 * $FIBER_LEFT_OUT_PROGRAM is the name of the program in that file and $FIBER_LEFT_OUT_PORT that of the
 * machine. A line has three fields: PROGRAM:TEST, PORTS and a reason. PORTS is a list with commas,
 * or * for every port.
 */
#include "tests/harness/plain/cmocka.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum outcome { PASSED, FAILED, SKIPPED };

static pthread_t runner;
static jmp_buf after; /* the end of the running test */
static bool running;

static void print(FILE *to, const char *format, va_list args)
{
	fflush(stdout);
	vfprintf(to, format, args);
	fflush(to);
}

void print_message(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stdout, format, args);
	va_end(args);
}

void print_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(stderr, format, args);
	va_end(args);
}

void cmocka_set_message_output(enum cm_message_output output)
{
	(void)output;
}

/* -- assertions -- */

static _Noreturn void leave(enum outcome outcome)
{
	if (!running || !pthread_equal(pthread_self(), runner))
		_exit(255);
	longjmp(after, outcome);
}

_Noreturn void _fail(const char *file, int line)
{
	print_error("# %s:%d: error: Failure!\n", file, line);
	leave(FAILED);
}

_Noreturn void _skip(const char *file, int line)
{
	(void)file;
	(void)line;
	leave(SKIPPED);
}

void _assert_true(LargestIntegralType value, const char *text, const char *file, int line)
{
	if (value)
		return;
	print_error("# %s\n", text);
	_fail(file, line);
}

void _assert_int_equal(LargestIntegralType a, LargestIntegralType b, const char *file, int line)
{
	if (a == b)
		return;
	print_error("# %#jx != %#jx\n", a, b);
	_fail(file, line);
}

void _assert_int_not_equal(LargestIntegralType a, LargestIntegralType b, const char *file, int line)
{
	if (a != b)
		return;
	print_error("# %#jx == %#jx\n", a, b);
	_fail(file, line);
}

void _assert_string_equal(const char *a, const char *b, const char *file, int line)
{
	if (a && b && strcmp(a, b) == 0)
		return;
	print_error("# \"%s\" != \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
	_fail(file, line);
}

void _assert_string_not_equal(const char *a, const char *b, const char *file, int line)
{
	if (strcmp(a, b) != 0)
		return;
	print_error("# \"%s\" == \"%s\"\n", a, b);
	_fail(file, line);
}

void _assert_memory_equal(const void *a, const void *b, size_t size, const char *file, int line)
{
	const unsigned char *x = a, *y = b;
	size_t i;

	for (i = 0; i < size && x[i] == y[i]; i++)
		;
	if (i == size)
		return;
	print_error("# byte %zu of %zu: 0x%02x != 0x%02x\n", i, size, x[i], y[i]);
	_fail(file, line);
}

void _assert_in_range(LargestIntegralType value, LargestIntegralType low, LargestIntegralType high,
		      const char *file, int line)
{
	if (value >= low && value <= high)
		return;
	print_error("# %ju is not in %ju .. %ju\n", value, low, high);
	_fail(file, line);
}

void _assert_in_set(LargestIntegralType value, const LargestIntegralType *set, size_t count,
		    const char *file, int line)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (set[i] == value)
			return;
	print_error("# %ju is not in the set\n", value);
	_fail(file, line);
}

/* -- tests that are left out -- */

/* Whether the list with commas has the word. */
static bool lists(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (list[0] == '*' || (strncmp(list, word, length) == 0 &&
				       (list[length] == ',' || list[length] == '\0')))
			return true;
	return false;
}

/* Find the reason to leave a test out. Returns false if there is none. */
static bool left_out(const char *test, char *reason, size_t size)
{
	const char *const file = getenv("FIBER_LEFT_OUT");
	const char *const program = getenv("FIBER_LEFT_OUT_PROGRAM");
	const char *const port = getenv("FIBER_LEFT_OUT_PORT");
	char line[512], wanted[256], name[256], ports[128];
	FILE *in = file && program && port ? fopen(file, "re") : NULL;
	bool found = false;
	int start;

	if (!in)
		return false;
	snprintf(wanted, sizeof wanted, "%s:%s", program, test);
	while (!found && fgets(line, sizeof line, in)) {
		if (sscanf(line, "%255s %127s %n", name, ports, &start) < 2)
			continue;
		found = strcmp(name, wanted) == 0 && lists(ports, port);
		if (found)
			snprintf(reason, size, "%.*s", (int)strcspn(line + start, "\n"),
				 line + start);
	}
	fclose(in);
	return found;
}

/* -- a group -- */

/* Run one step of a test: a fixture if there is one, else the test itself. */
static enum outcome step(CMFixtureFunction fixture, CMUnitTestFunction test, void **state)
{
	enum outcome outcome = PASSED;

	running = true;
	switch (setjmp(after)) {
	case PASSED:
		if (fixture)
			outcome = fixture(state) == 0 ? PASSED : FAILED;
		else if (test)
			test(state);
		break;
	case SKIPPED:
		outcome = SKIPPED;
		break;
	default:
		outcome = FAILED;
	}
	running = false;
	return outcome;
}

static enum outcome run(const struct CMUnitTest *test, void *group_state)
{
	void *state = test->initial_state ? test->initial_state : group_state;
	enum outcome outcome = step(test->setup_func, NULL, &state);

	if (outcome == PASSED)
		outcome = step(NULL, test->test_func, &state);
	if (step(test->teardown_func, NULL, &state) == FAILED)
		outcome = FAILED;
	return outcome;
}

int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
			    CMFixtureFunction setup, CMFixtureFunction teardown)
{
	char reason[512];
	void *state = NULL;
	bool started;
	int failed = 0;
	size_t i;

	runner = pthread_self();
	printf("1..%zu\n", count);
	fflush(stdout);
	started = step(setup, NULL, &state) == PASSED;
	for (i = 0; i < count; i++) {
		enum outcome outcome = FAILED;

		reason[0] = '\0';
		if (left_out(tests[i].name, reason, sizeof reason))
			outcome = SKIPPED;
		else if (started)
			outcome = run(&tests[i], state);
		if (outcome == SKIPPED)
			print_message("ok %zu # SKIP %s%s%s\n", i + 1, tests[i].name,
				      reason[0] ? ": " : "", reason);
		else
			print_message("%s %zu - %s\n", outcome == PASSED ? "ok" : "not ok", i + 1,
				      tests[i].name);
		failed += outcome == FAILED;
	}
	if (step(teardown, NULL, &state) == FAILED) {
		print_error("# %s: the teardown of the group failed\n", name);
		failed++;
	}
	return failed;
}
