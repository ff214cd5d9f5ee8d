/* SPDX-License-Identifier: MIT */
/*
 * fault.c - name the fiber that faults, before the program dies of it
 *
 * A frame no larger than the guard cannot get past the guard without touching it: the fault is in
 * the fiber's own guard. A larger frame may step over it. Then the first fault, if there is one at
 * all, is in the guard of another stack, or anywhere, with the stack pointer outside the fiber's
 * stack. So the handler checks three things: the fiber's guard, the guards of all stacks, and the
 * stack pointer.
 *
 * A fault near address 0 may come from NULL given to a call that is too hot to check its argument:
 * the address of the fault is among the first instructions of that function. Other calls check
 * their arguments (base/check.h).
 *
 * All of this runs in a signal handler, on the carrier's alternate stack. It reads data of the
 * carrier (its current fiber and that fiber's stack, which only this thread changes), the table of
 * slabs, which is read without a lock (slabs.c), and the kernel's answer of where the alternate
 * stack is.
 */
#include <stddef.h>

#include <fiber/chan.h>
#include <fiber/sync.h>

#include "arch/arch.h"
#include "base/log.h"
#include "os/os.h"
#include "runtime/runtime.h"
#include "stack/overflow.h"
#include "stack/pool.h"
#include "stack/slabs.h"

#define NEAR_SP	   4096u
#define FIRST_PAGE 4096u
#define BEGINNING  192u /* bytes of code in which such a function first touches its object */

static bool contains(const struct fib_stack *stack, uint64_t sp)
{
	return sp - (uint64_t)(uintptr_t)stack->low <= stack->size;
}

static const char *part_name(uint64_t address)
{
	switch (fib_slabs_find(address)) {
	case FIB_SLAB_GUARD:
		return ", in the guard of another stack";
	case FIB_SLAB_STACK:
		return ", in the memory of stacks";
	default:
		return "";
	}
}

/*
 * The stack pointer has left the stack. A fault between the stack and a stack pointer below it
 * comes from a frame that the guard did not stop; up to a page below the stack pointer is a call or
 * a probe. Any other fault may happen on a stack that the program has switched to itself, or after
 * the stack pointer was damaged.
 */
static void report_outside(const struct fiber *fiber, uint64_t address, uint64_t sp)
{
	const uint64_t low = (uint64_t)(uintptr_t)fiber->stack.low;
	const unsigned long long id = fiber->id;
	char name[FIB_LOG_NAME];

	if (sp < low && address < low && address + NEAR_SP >= sp)
		fib_log("fiber %llu %s overflowed its stack of %zu bytes: its stack pointer "
			"0x%llx is "
			"%llu bytes below it, past the guard of %zu bytes (fault at 0x%llx%s); "
			"compile "
			"with -fstack-clash-protection, or set guard_size",
			id, fib_log_name(name, fiber->name), fiber->stack.size,
			(unsigned long long)sp, (unsigned long long)(low - sp),
			fib_stack_guard(&fiber->stack), (unsigned long long)address,
			part_name(address));
	else
		fib_log("fiber %llu %s faulted with its stack pointer 0x%llx outside its stack "
			"of %zu "
			"bytes at 0x%llx (fault at 0x%llx%s)",
			id, fib_log_name(name, fiber->name), (unsigned long long)sp,
			fiber->stack.size, (unsigned long long)low, (unsigned long long)address,
			part_name(address));
}

static const struct {
	const char *call, *what;
	void (*at)(void);
} hot[] = {
	{"fiber_mutex_lock", "the mutex", (void (*)(void))fiber_mutex_lock},
	{"fiber_mutex_trylock", "the mutex", (void (*)(void))fiber_mutex_trylock},
	{"fiber_mutex_unlock", "the mutex", (void (*)(void))fiber_mutex_unlock},
	{"fiber_chan_send", "the channel", (void (*)(void))fiber_chan_send},
	{"fiber_chan_recv", "the channel", (void (*)(void))fiber_chan_recv},
	{"fiber_once", "the once", (void (*)(void))fiber_once},
};

/* Report which call got NULL, if it is one of those. */
static void report_null(const struct fiber *fiber, void *ucontext)
{
	uintptr_t nearest = BEGINNING;
	struct fib_context at;
	char name[FIB_LOG_NAME];
	size_t i, found = 0;

	if (!fib_arch_interrupted(ucontext, &at))
		return;
	for (i = 0; i < fib_countof(hot); i++) {
		uintptr_t distance = (uintptr_t)at.pc - (uintptr_t)hot[i].at;

		if (distance < nearest) {
			nearest = distance;
			found = i;
		}
	}
	if (nearest < BEGINNING)
		fib_log("fiber %llu %s: %s: %s is NULL", (unsigned long long)fiber->id,
			fib_log_name(name, fiber->name), hot[found].call, hot[found].what);
}

static void report(uint64_t address, void *ucontext)
{
	struct fib_carrier *c = fib_carrier_self();
	const struct fiber *fiber = c ? c->current : NULL;
	const uint64_t sp = fib_arch_interrupted_sp(ucontext);
	char name[FIB_LOG_NAME];

	if (!fiber)
		return;
	if (address < FIRST_PAGE)
		report_null(fiber, ucontext);
	if (!fiber->stack.low)
		return;
	if (fib_stack_overflowed(&fiber->stack, address))
		fib_log("fiber %llu %s overflowed its stack of %zu bytes (fault at 0x%llx)",
			(unsigned long long)fiber->id, fib_log_name(name, fiber->name),
			fiber->stack.size, (unsigned long long)address);
	else if (sp && !contains(&fiber->stack, sp) && !fib_os_on_altstack(sp))
		report_outside(fiber, address, sp);
	else if (fib_slabs_find(address) != FIB_SLAB_NONE)
		fib_log("fiber %llu %s faulted at 0x%llx%s; its own of %zu bytes at 0x%llx did "
			"not "
			"overflow",
			(unsigned long long)fiber->id, fib_log_name(name, fiber->name),
			(unsigned long long)address, part_name(address), fiber->stack.size,
			(unsigned long long)(uintptr_t)fiber->stack.low);
}

int fib_fault_report(void)
{
	return fib_os_fault_handler(report);
}
