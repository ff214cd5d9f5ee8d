/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - a fiber that ends early runs the destructors of its C++ frames
 *
 * fiber_exit() and fiber_fail() end a fiber in the middle of its functions. With FIBER_UNWIND the stack is unwound
 * first, as pthread_exit() does: _Unwind_ForcedUnwind() goes from frame to frame, enters the landing pads that run
 * destructors, and asks stop() before each frame. The walk ends at the fiber's entry routine; stop() then ends the fiber
 * from where it stands and never returns.
 *
 * This library does not link an unwinder (one that is linked beside another's breaks exceptions). Every C++
 * program has one, which is found by a weak reference. Without it nothing is unwound.
 *
 * The exception object is on the heap: frames are overwritten by the destructors of the frames above them. What must
 * hear of the fiber's end on its stack (struct fib_ending) hears when the walk leaves its frame.
 *
 * A handler that runs after this, on the same stack below the frames that are unwound, may call fiber_exit() again. A
 * floor keeps the second walk from those frames (join.c).
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
	struct fib_ending ending; /* behind all others: releases this at the end of the fiber */
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

/* What lies below sp has been left. */
static void leave_endings(struct fiber *fiber, uintptr_t sp)
{
	struct fib_ending *ending;

	while ((ending = fiber->endings)->end != release && (uintptr_t)ending < sp) {
		fiber->endings = ending->outer;
		ending->end(ending);
	}
}

/* Before each frame; its stack pointer is the CFA of the one that was left. */
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

/* A catch (...) ends without rethrowing. */
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
	/* It could not even begin. */
}
