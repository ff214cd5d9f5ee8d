/* SPDX-License-Identifier: MIT */
/* test.c - what a test calls within a schedule */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/test.h>

#include "choice.h"
#include "explore/explorer.h"
#include "explore/faults.h"
#include "explore/finding.h"
#include "explore/footprint.h"
#include "explore/run.h"
#include "report/report.h"
#include "sched/gather.h"
#include "sched/ready.h"
#include "sched/sched.h"

bool fiber_test_running(void)
{
	return fib_explorer_on();
}

void fiber_test_assert_failed(const char *text, const char *file, int line)
{
	if (fib_explorer_on())
		fib_finding_at(FIBER_TEST_FAILED, file, line, text);
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
	abort();
}

void fiber_test_fail(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (fib_explorer_on())
		fib_finding(FIBER_TEST_FAILED, "%s", text);
	fprintf(stderr, "fiber-test: %s\n", text);
	abort();
}

/* glibc's assert() ends here. */
_Noreturn void __assert_fail(const char *text, const char *file, unsigned line,
			     const char *function);
_Noreturn void __assert_fail(const char *text, const char *file, unsigned line,
			     const char *function)
{
	if (fib_explorer_on())
		fib_finding_at(FIBER_TEST_FAILED, file, (int)line, text);
	fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, text);
	abort();
}

void fiber_test_assume(bool condition)
{
	if (!condition && fib_explorer_on())
		fib_finding_drop();
}

unsigned fiber_test_choose(unsigned n, const char *what)
{
	return fib_explore_pick(n < 65535 ? n : 65535, what);
}

bool fiber_test_fault(const char *what)
{
	return fib_fault_of_program(what, __builtin_return_address(0));
}

uint64_t fiber_test_random(void)
{
	return fib_run_random();
}

void fiber_test_point(const char *what)
{
	fib_explore_point(what, __builtin_return_address(0));
}

void fiber_test_access(const void *at, size_t size, bool writes)
{
	fib_explore_access(writes ? "write" : "read", at, size, writes,
			   __builtin_return_address(0));
}

void fiber_test_weak_point(const char *what)
{
	fib_explore_point(what, __builtin_return_address(0));
}

void fiber_test_weak_access(const void *at, size_t size, bool writes)
{
	fib_explore_access(writes ? "write" : "read", at, size, writes,
			   __builtin_return_address(0));
}

void fiber_test_reached(const char *what)
{
	if (fib_explorer_on())
		fib_run_note_reached(what);
}

void fiber_test_note(const char *fmt, ...)
{
	const struct fiber *me = fiber_self();
	char text[512];
	va_list ap;

	if (!fib_explorer_traced() || !me)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fib_report_note(fib_explorer_number(me), text, NULL);
}

void fiber_test_settle(void)
{
	struct fib_carrier *c = fib_carrier_self();

	if (!fib_explorer_on() || !c || !c->current)
		return;
	fib_footprint_rest();
	/* Not a yield: where the first alternative is always taken, it would come back for ever. */
	for (fib_gather(); fib_ready_count(); fib_gather()) {
		struct fiber *me = c->current;

		fib_store(&me->state, (uint8_t)FIBER_RUNNABLE);
		fib_ready_keep_back(me);
		fib_switch_out(me);
	}
}
