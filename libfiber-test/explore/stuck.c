/* SPDX-License-Identifier: MIT */
/*
 * stuck.c - name a deadlock or a leak
 *
 * The fibers are asked as a program would ask about itself (fiber/introspect.h). A fiber that waits
 * for a lock, or joins, waits for one other fiber; following these leads to a cycle, or to a fiber
 * that waits for something that no fiber holds.
 */
#include "explore/stuck.h"

#include <stdlib.h>

#include <fiber/introspect.h>

#include "base/check.h"
#include "explore/finding.h"

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

/* Whom it waits for: an index, -1: nobody in particular. */
static int next_of(const struct fiber_info *all, size_t n, size_t i)
{
	const uint64_t id = all[i].holder_id ? all[i].holder_id : all[i].target_id;
	size_t k;

	for (k = 0; id && k < n; k++)
		if (all[k].id == id)
			return (int)k;
	return -1;
}

/* The length of the cycle that starts at i; 0: it is in none. */
static unsigned cycle_at(const struct fiber_info *all, size_t n, size_t i)
{
	unsigned length = 0;
	int at = (int)i;

	do {
		at = next_of(all, n, (size_t)at);
		length++;
	} while (at >= 0 && at != (int)i && length <= n);
	return at == (int)i ? length : 0;
}

static size_t read_all(struct fiber_info **ret)
{
	struct fiber_snapshot *snapshot;
	struct fiber_info *all;
	size_t n = 0, count;

	fib_check(fiber_snapshot(here.rt, &snapshot) == 0);
	count = fiber_snapshot_count(snapshot);
	all = calloc(count + 1, sizeof *all);
	fib_check(all);
	while (n < count && fiber_snapshot_next(snapshot, &all[n]))
		n += all[n].state != FIBER_DEAD;
	fiber_snapshot_free(snapshot);
	*ret = all;
	return n;
}

_Noreturn void fib_stuck(void)
{
	struct fiber_info *all;
	const size_t n = read_all(&all);
	unsigned longest = 0, length;
	size_t i;

	if (here.returned)
		fib_finding(FIBER_TEST_LEAK, "the test has returned and %zu fiber%s left", n,
			    n == 1 ? " is" : "s are");
	for (i = 0; i < n; i++) {
		length = cycle_at(all, n, i);
		if (length > longest)
			longest = length;
	}
	if (longest > 1)
		fib_finding(FIBER_TEST_DEADLOCK, "%u fibers wait for each other in a cycle",
			    longest);
	if (longest == 1)
		fib_finding(FIBER_TEST_DEADLOCK, "a fiber waits for itself");
	fib_finding(FIBER_TEST_DEADLOCK, "%zu fiber%s and no other fiber can end that", n,
		    n == 1 ? " waits" : "s wait");
}
