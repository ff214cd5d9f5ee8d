/* SPDX-License-Identifier: MIT */
/* fault.c - saying which fiber overflowed its stack, before the program dies of it. */
#include "base/log.h"
#include "os/os.h"
#include "runtime/runtime.h"
#include "stack/overflow.h"

/* In a signal handler, on the carrier's alternate stack. */
static void report(uint64_t address)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;

	if (!fiber || !fib_stack_overflowed(&fiber->stack, address))
		return;
	fib_log("fiber %llu \"%s\" overflowed its stack of %zu bytes (fault at 0x%llx)",
		(unsigned long long)fiber->id, fiber->name, fiber->stack.size,
		(unsigned long long)address);
}

int fib_fault_report(void)
{
	return fib_os_fault_handler(report);
}
