/* SPDX-License-Identifier: MIT */
/* astray.c - log a fiber whose stack pointer is outside its stack */
#include "sched/astray.h"

#include "base/atomic.h"
#include "base/log.h"
#include "os/os.h"
#include "stack/slabs.h"

#define REPORT_EVERY INT64_C(1000000000) /* ns */

static _Atomic int64_t reported_at; /* A: astray.report; 0: never */

static void report(const struct fiber *fiber, uint64_t sp)
{
	int64_t last = fib_load(&reported_at), now = fib_os_now();
	char name[FIB_LOG_NAME];

	/* label: astray.report -- one carrier per second prints; nothing else depends on it. */
	if ((last && now - last < REPORT_EVERY) || !fib_cas(&reported_at, &last, now) ||
	    !fib_os_may_print())
		return;
	fib_log("fiber %llu %s waits with its stack pointer 0x%llx outside its stack of %zu "
		"bytes at "
		"0x%llx%s: a frame was larger than the guard, or it waits on a stack of the "
		"program's own "
		"(fiber_context(3))",
		(unsigned long long)fiber->id, fib_log_name(name, fiber->name),
		(unsigned long long)sp, fiber->stack.size,
		(unsigned long long)(uintptr_t)fiber->stack.low,
		fib_slabs_find(sp) == FIB_SLAB_NONE ? "" : ", on another stack");
}

fib_noinline void fib_astray_look(const struct fiber *fiber)
{
	const uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	if (fib_unlikely(sp - (uint64_t)(uintptr_t)fiber->stack.low > fiber->stack.size))
		report(fiber, sp);
}
