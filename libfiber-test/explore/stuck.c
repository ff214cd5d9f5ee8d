/* SPDX-License-Identifier: MIT */
/*
 * stuck.c - name a deadlock or a leak
 *
 * The places of the fibers in cycles, or of all if there is no cycle, tell one deadlock from another.
 */
#include "explore/stuck.h"

#include "explore/explorer.h"
#include "explore/finding.h"
#include "explore/waits.h"

static struct {
	struct fiber_runtime *rt;
	bool returned;
} here;

void fib_stuck_in(struct fiber_runtime *rt)
{
	here.rt = rt;
}

void fib_stuck_returned(bool returned)
{
	here.returned = returned;
}

/* The sum does not depend on the order of the fibers. */
static void set_places(const struct fib_waits *w)
{
	const struct fib_intent *intent;
	uint64_t sum = 0, number, at;
	size_t i;

	for (i = 0; i < w->n; i++) {
		number = w->all[i].id - fib_explorer_first_id() + 1;
		if ((w->count && w->in[i] < 0) || number > fib_explorer_fibers())
			continue;
		intent = fib_explorer_intent((uint32_t)number);
		/* The call too: calls at the ends of a function may have the same return address. */
		at = ((uintptr_t)intent->at ^ (uint64_t)(uintptr_t)intent->call << 20) *
		     UINT64_C(0x9e3779b97f4a7c15);
		sum += at ^ at >> 31;
	}
	fib_finding_places(sum);
}

_Noreturn void fib_stuck(void)
{
	struct fib_waits waits;
	unsigned longest = 0, joins = 0;
	size_t i;

	fib_waits_read(here.returned ? here.rt : NULL, fib_explorer_first_id(), &waits);
	set_places(&waits);
	if (here.returned)
		fib_finding(FIBER_TEST_LEAK, "the test has returned and %zu fiber%s left", waits.n,
			    waits.n == 1 ? " is" : "s are");
	for (i = 0; i < waits.count; i++) {
		joins += waits.deadlocks[i].kind == FIB_DEADLOCK_ANCESTOR;
		if ((waits.deadlocks[i].kind == FIB_DEADLOCK_CYCLE ||
		     waits.deadlocks[i].kind == FIB_DEADLOCK_SELF) &&
		    waits.deadlocks[i].count > longest)
			longest = waits.deadlocks[i].count;
	}
	if (longest > 1)
		fib_finding(FIBER_TEST_DEADLOCK, "%u fibers wait for each other in a cycle",
			    longest);
	if (longest == 1)
		fib_finding(FIBER_TEST_DEADLOCK, "a fiber waits for itself");
	if (joins)
		fib_finding(FIBER_TEST_DEADLOCK, "a fiber joins its ancestor, which waits for it");
	fib_finding(FIBER_TEST_DEADLOCK, "%zu fiber%s and no other fiber can end that", waits.n,
		    waits.n == 1 ? " waits" : "s wait");
}
