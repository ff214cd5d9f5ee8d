/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - run the destructors of a fiber's C++ frames when it ends early
 *
 * fiber_exit() and fiber_fail() end a fiber within its functions. With FIBER_UNWIND the stack is
 * unwound first, as pthread_exit() does: _Unwind_ForcedUnwind() goes from frame to frame, enters
 * the landing pads that run destructors, and calls stop() before each frame. The walk ends at the
 * fiber's entry routine; there stop() ends the fiber and never returns.
 *
 * This library does not link an unwinder, because a second unwinder in a program breaks exceptions.
 * Every C++ program has one; it is found by a weak reference. Without it nothing is unwound.
 *
 * The exception object is on the heap, because the destructors of upper frames overwrite lower
 * ones. Objects on the fiber's stack that must be notified of its end (struct fib_ending) are
 * notified when the walk leaves their frame.
 *
 * A handler that runs after this, on the same stack below the unwound frames, may call fiber_exit()
 * again. A floor keeps the second walk from those frames (join.c).
 */
#include "life/unwind.h"

#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

#include "base/check.h"
#include "life/join.h"
#include "sched/sched.h"

#pragma weak _Unwind_ForcedUnwind
#pragma weak _Unwind_GetCFA

struct unwinding {
	struct _Unwind_Exception exception;
	struct fib_ending ending; /* after all others: frees this at the end of the fiber */
	struct fiber *fiber;
};

static void release(struct fib_ending *ending)
{
	struct unwinding *u = fib_container(ending, struct unwinding, ending);

	u->fiber->unwinds = false;
	free(u);
}

static void append(struct fiber *fiber, struct fib_ending *ending)
{
	struct fib_ending **at = &fiber->endings;

	while (*at)
		at = &(*at)->outer;
	*at = ending;
}

/* Notify the endings below sp: their frames have been left. */
static void leave_endings(struct fiber *fiber, uintptr_t sp)
{
	struct fib_ending *ending;

	while ((ending = fiber->endings)->end != release && (uintptr_t)ending < sp) {
		fiber->endings = ending->outer;
		ending->end(ending);
	}
}

/* Called before each frame; its stack pointer is the CFA of the frame that was left. */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions,
				_Unwind_Exception_Class exception_class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context, void *arg)
{
	struct unwinding *u = arg;

	(void)version;
	(void)exception_class;
	(void)exception;
	if (actions & _UA_END_OF_STACK)
		fib_fiber_end(u->fiber);
	leave_endings(u->fiber, (uintptr_t)_Unwind_GetCFA(context));
	return _URC_NO_REASON;
}

/* A catch (...) has ended without a rethrow. */
static void not_rethrown(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
	const struct unwinding *u = fib_container(exception, struct unwinding, exception);

	(void)reason;
	fib_die("fiber %llu \"%s\": a catch (...) caught the end of the fiber and did not rethrow "
		"it",
		(unsigned long long)u->fiber->id, u->fiber->name);
}

bool fib_unwind_wanted(const struct fiber *fiber)
{
	return ((fiber->flags & FIBER_UNWIND) || fiber->sched->unwind) && !fiber->unwinds;
}

void fib_unwind(struct fiber *fiber)
{
	struct unwinding *u;

	if (!_Unwind_ForcedUnwind || !_Unwind_GetCFA)
		return;
	u = calloc(1, sizeof *u);
	if (!u)
		return;
	u->fiber = fiber;
	u->exception.exception_cleanup = not_rethrown;
	u->ending.end = release;
	append(fiber, &u->ending);
	fiber->unwinds = true;
	_Unwind_ForcedUnwind(&u->exception, stop, u);
	/* The unwinder could not start. */
}
