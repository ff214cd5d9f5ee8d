/* SPDX-License-Identifier: MIT */
/* early.c - end a fiber from within its functions: fiber_exit, fiber_fail */
#include "choice.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <fiber/fiber.h>

#include "base/compiler.h"
#include "life/join.h"
#include "life/unwind.h"
#include "sched/sched.h"

static struct fiber *must_be_fiber(const char *call)
{
	struct fib_carrier *c = fib_carrier_self();

	if (!c || !c->current)
		fib_die_outside(call);
	return c->current;
}

static _Noreturn void exit_early(struct fiber *fiber)
{
	if (fib_unlikely(fib_unwind_wanted(fiber)))
		fib_unwind(fiber);
	fib_fiber_end(fiber);
}

_Noreturn void fiber_exit(void *value)
{
	struct fiber *fiber = must_be_fiber("fiber_exit");

	fib_choice(NULL);
	fiber->result.value = value;
	exit_early(fiber);
}

_Noreturn void fiber_fail(int error, const char *fmt, ...)
{
	struct fiber *fiber = must_be_fiber("fiber_fail");
	va_list ap;

	fib_choice(NULL);
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(fiber->failure, sizeof fiber->failure, fmt, ap);
		va_end(ap);
	}
	fiber->result.value = NULL;
	fiber->result.error = error < 0 ? error : error > 0 ? -error : -EINVAL;
	exit_early(fiber);
}
