/* SPDX-License-Identifier: MIT */
/*
 * test_fault.c - a stack overflow names its fiber, any other fault is left to whoever had it before
 *
 * Each fault ends a program of its own: this one, started again with the name of the fault.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber.h>

#include "runtime/runtime.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

static volatile bool ends; /* never */

/* Each call keeps its bytes until the one below has returned, so none is turned into a jump. */
static __attribute__((noipa)) unsigned long descend(unsigned long level)
{
	volatile char local[256];

	local[level % sizeof local] = (char)level;
	if (!ends)
		level += descend(level + 1);
	return level + (unsigned char)local[0];
}

static void *overflow(void *arg)
{
	fiber_set_name(fiber_self(), "deep");
	return (void *)descend((unsigned long)(uintptr_t)arg);
}

static void *touch(void *arg)
{
	*(volatile char *)arg = 1;
	return arg;
}

static void on_fault(int number)
{
	static const char text[] = "previous handler\n";
	const ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

	_exit(n > 0 && number == SIGSEGV ? 3 : 4);
}

static int fault(const char *name)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .stack_size = 65536, .control_path = ""};
	struct fiber_runtime *rt;
	void *forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!strcmp(name, "handler"))
		signal(SIGSEGV, on_fault);
	if (!strcmp(name, "overflow"))
		return fiber_run(overflow, NULL, &options, NULL);
	if (!strcmp(name, "thread") && fiber_runtime_start(&options, &rt) == 0)
		touch(forbidden);
	return fiber_run(touch, forbidden, &options, NULL);
}

static struct harness_process *faulted(const char *name)
{
	const char *const argv[] = {"/proc/self/exe", name, NULL};
	struct harness_process *p;

	if (!strcmp(harness_sanitizer(), "address") || !strcmp(harness_sanitizer(), "thread"))
		skip(); /* this sanitizer handles the fault itself */
	p = harness_run(argv, NULL, 60);
	assert_false(p->timed_out);
	return p;
}

static void test_fault_overflow_names_the_fiber_and_dies_of_it(void **state)
{
	struct harness_process *p = faulted("overflow");

	(void)state;
	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
	assert_non_null(strstr(p->err.bytes, "libfiber: fiber 1 \"deep\" overflowed its stack of "
					     "65536 bytes"));
	harness_free(p);
}

static void dies_silently(const char *name)
{
	struct harness_process *p = faulted(name);

	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
	assert_null(strstr(p->err.bytes, "overflow"));
	harness_free(p);
}

static void test_fault_of_another_kind_in_a_fiber_is_no_overflow(void **state)
{
	(void)state;
	dies_silently("fiber");
}

static void test_fault_on_a_plain_thread_is_no_overflow(void **state)
{
	(void)state;
	dies_silently("thread");
}

static void test_fault_goes_on_to_the_handler_that_was_there(void **state)
{
	struct harness_process *p = faulted("handler");

	(void)state;
	assert_int_equal(harness_exit_code(p), 3);
	assert_non_null(strstr(p->err.bytes, "previous handler\n"));
	harness_free(p);
}

static void test_fault_report_is_installed_once(void **state)
{
	struct sigaction first, second;

	(void)state;
	assert_int_equal(fib_fault_report(), 0);
	sigaction(SIGSEGV, NULL, &first);
	assert_int_equal(fib_fault_report(), 0);
	sigaction(SIGSEGV, NULL, &second);
	assert_true(first.sa_sigaction == second.sa_sigaction);
	assert_true(first.sa_flags & SA_ONSTACK);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_overflow_names_the_fiber_and_dies_of_it),
		cmocka_unit_test(test_fault_of_another_kind_in_a_fiber_is_no_overflow),
		cmocka_unit_test(test_fault_on_a_plain_thread_is_no_overflow),
		cmocka_unit_test(test_fault_goes_on_to_the_handler_that_was_there),
		cmocka_unit_test(test_fault_report_is_installed_once),
	};

	if (argc > 1)
		return fault(argv[1]);
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
