/* SPDX-License-Identifier: MIT */
/*
 * test_fault.c - a stack overflow, also past the guard, names its fiber; any other fault does not
 *
 * Each fault ends a process of its own: this program, started again with the name of the fault.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
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

static volatile bool ends; /* never set */

/* Each call needs its array after the inner call returns, so no call becomes a jump. */
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

static char *neighbours_low; /* lowest byte of another fiber's stack */

static void *neighbour(void *arg)
{
	struct fib_carrier *c = fib_carrier_self();

	neighbours_low = c->current->stack.low;
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *touch_in_neighbour(void *arg)
{
	struct fiber *other;

	fiber_set_name(fiber_self(), "reacher");
	if (fiber_spawn(neighbour, NULL, &other) < 0)
		return NULL;
	while (!neighbours_low)
		fiber_yield();
	neighbours_low[-1] = 1;
	return arg;
}

/* On a separate stack, in a context that the fiber runs. */
static struct fiber_context home, away;

static void touch_in_context(void *arg)
{
	*(volatile char *)arg = 1;
	fiber_context_end(&away, &home);
}

static void *fault_in_context(void *arg)
{
	static char memory[65536] __attribute__((aligned(16)));

	fiber_set_name(fiber_self(), "generator");
	fiber_thread_to_context(&home);
	fiber_context_init(&away, memory, sizeof memory, touch_in_context, arg);
	fiber_context_switch(&home, &away);
	return NULL;
}

/*
 * The frame is larger than stack and guard: its lowest byte is in unmapped memory or in another
 * guard.
 */
static __attribute__((noipa)) unsigned long step_over(size_t bytes)
{
	volatile char *frame = __builtin_alloca(bytes);

	frame[0] = 1;
	return (unsigned long)frame[0];
}

static void *step(void *arg)
{
	fiber_set_name(fiber_self(), "wide");
	return (void *)step_over((size_t)arg);
}

static void *sent(void *arg)
{
	fiber_set_name(fiber_self(), "innocent");
	pthread_kill(pthread_self(), SIGSEGV);
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
	if (!strcmp(name, "neighbour"))
		return fiber_run(touch_in_neighbour, NULL, &options, NULL);
	if (!strcmp(name, "context"))
		return fiber_run(fault_in_context, forbidden, &options, NULL);
	if (!strcmp(name, "wide"))
		return fiber_run(step, (void *)((size_t)1 << 40), &options, NULL);
	if (!strcmp(name, "sent"))
		return fiber_run(sent, NULL, &options, NULL);
	if (!strcmp(name, "thread in a guard") && fiber_runtime_start(&options, &rt) == 0) {
		fiber_runtime_spawn(rt, NULL, neighbour, NULL, NULL);
		while (!*(char *volatile *)&neighbours_low)
			usleep(1000);
		neighbours_low[-1] = 1;
	}
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

/* Check the line on stderr of a process that dies of the fault. */
static void dies_with(const char *name, const char *line)
{
	struct harness_process *p = faulted(name);

	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
	if (!strstr(p->err.bytes, line))
		fail_msg("no '%s' in: %s", line, p->err.bytes);
	harness_free(p);
}

static void test_fault_past_the_guard_names_the_fiber_and_the_remedy(void **state)
{
	(void)state;
	dies_with("wide",
		  "fiber 1 \"wide\" overflowed its stack of 65536 bytes: its stack pointer 0x");
	dies_with("wide", "past the guard of 65536 bytes");
	dies_with("wide", "-fstack-clash-protection, or set guard_size");
}

static void test_fault_in_the_guard_of_another_stack_names_the_fiber_that_ran(void **state)
{
	(void)state;
	dies_with("neighbour", "fiber 1 \"reacher\" faulted at 0x");
	dies_with("neighbour", ", in the guard of another stack; its own of 65536 bytes");
}

static void test_fault_on_another_stack_than_the_fibers_says_so(void **state)
{
	(void)state;
	dies_with("context", "fiber 1 \"generator\" faulted with its stack pointer 0x");
	dies_with("context", "outside its stack of 65536 bytes");
}

static void dies_silently(const char *name)
{
	struct harness_process *p = faulted(name);

	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
	assert_null(strstr(p->err.bytes, "overflow"));
	assert_null(strstr(p->err.bytes, "libfiber: "));
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

static void test_fault_of_a_plain_thread_in_a_guard_is_of_no_fiber(void **state)
{
	(void)state;
	dies_silently("thread in a guard");
}

/* The siginfo_t of a sent signal has the sender in the place of the fault's address. */
static void test_fault_that_was_sent_is_no_overflow(void **state)
{
	struct harness_process *p = faulted("sent");

	(void)state;
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
	assert_null(strstr(p->err.bytes, "innocent"));
	harness_free(p);
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
		cmocka_unit_test(test_fault_past_the_guard_names_the_fiber_and_the_remedy),
		cmocka_unit_test(test_fault_in_the_guard_of_another_stack_names_the_fiber_that_ran),
		cmocka_unit_test(test_fault_on_another_stack_than_the_fibers_says_so),
		cmocka_unit_test(test_fault_of_a_plain_thread_in_a_guard_is_of_no_fiber),
		cmocka_unit_test(test_fault_that_was_sent_is_no_overflow),
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
