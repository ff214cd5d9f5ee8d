/* SPDX-License-Identifier: MIT */
/* test_astray.c - a fiber that waits outside its stack is reported, once a second */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fiber.h>
#include <fiber/context.h>

#include "tests/harness/watchdog.h"

static char said[4096];
static struct fiber_context home, away;
static char memory[128 << 10] __attribute__((aligned(64)));

static void *waits(void *arg)
{
	fiber_set_name(fiber_self(), "stays");
	fiber_sleep(1000000);
	return arg;
}

/* No other fiber can run meanwhile. */
static void sleeps(void *arg)
{
	for (int i = 0; i < 5; i++)
		fiber_sleep(1000000);
	*(bool *)arg = true;
	fiber_context_end(&away, &home);
}

static void *strays(void *arg)
{
	fiber_set_name(fiber_self(), "strays");
	fiber_thread_to_context(&home);
	if (fiber_context_init(&away, memory, sizeof memory, sleeps, arg) < 0)
		return NULL;
	fiber_context_switch(&home, &away);
	return arg;
}

/* Run fn as a fiber and store its stderr in `said`. */
static void run(fiber_fn *fn, void *arg)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO), rc;
	size_t n;

	assert_true(file && kept >= 0);
	dup2(fileno(file), STDERR_FILENO);
	rc = fiber_run(fn, arg, &options, NULL);
	dup2(kept, STDERR_FILENO);
	close(kept);
	assert_int_equal(rc, 0);
	rewind(file);
	n = fread(said, 1, sizeof said - 1, file);
	said[n] = 0;
	fclose(file);
}

static void test_astray_is_not_one_that_waits_on_its_stack(void **state)
{
	(void)state;
	run(waits, NULL);
	assert_string_equal(said, "");
}

static void test_astray_waits_are_reported_once_a_second(void **state)
{
	bool done = false;
	const char *line;

	(void)state;
	run(strays, &done);
	assert_true(done);
	line = strstr(said, "\"strays\" waits with its stack pointer 0x");
	assert_non_null(line);
	assert_non_null(strstr(line, "outside its stack of 262144 bytes"));
	assert_null(strstr(line + 20, "waits with its stack pointer"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_astray_is_not_one_that_waits_on_its_stack),
		cmocka_unit_test(test_astray_waits_are_reported_once_a_second),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
