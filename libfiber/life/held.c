/* SPDX-License-Identifier: MIT */
/*
 * held.c - report a fiber that exits while it holds a lock
 *
 * The lock stays locked for ever, and fibers that wait for it hang. So a fiber counts the mutexes
 * and write-locked rwlocks that it holds, and stores the last one and the place of that call, in a
 * cache line that a fiber's exit reads anyway. Only when a fiber exits with locks held, it searches
 * for one: the lock that it took last, if still held, else the first held one that another fiber
 * waits for.
 *
 * The lock's memory may be gone by then, so it is read through the kernel.
 */
#include "life/held.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "core/registry.h"
#include "layout/layout.h"
#include "os/os.h"
#include "sched/sched.h"

#define EVERY INT64_C(1000000000) /* ns between two lines */

/* The first fields of a mutex and of a rwlock. */
struct head {
	char name[32];
	uint64_t owner;
};

_Static_assert(offsetof(struct fiber_mutex, owner) == offsetof(struct head, owner), "held.c");
_Static_assert(offsetof(struct fiber_rwlock, owner) == offsetof(struct head, owner), "held.c");

struct found {
	const char *kind;
	uint64_t at;
	char name[32];
};

static bool held_by(const struct fiber *fiber, uint64_t at, const char *kind, struct found *ret)
{
	struct head head;

	if (fib_os_peek(at, &head, sizeof head) < 0 ||
	    (head.owner & ~FIB_HOLDER_CONTENDED) != fiber->id)
		return false;
	ret->kind = kind;
	ret->at = at;
	memcpy(ret->name, head.name, sizeof ret->name);
	ret->name[sizeof ret->name - 1] = 0;
	return true;
}

static bool last_is_held(const struct fiber *fiber, const void *held_last, struct found *ret)
{
	const uint64_t last = (uint64_t)(uintptr_t)held_last;

	return held_by(fiber, last & ~UINT64_C(1), last & 1 ? "rwlock" : "mutex", ret);
}

/* Find a lock held by fiber that another fiber waits for. */
static bool some_is_awaited(const struct fiber *fiber, struct found *ret)
{
	uint64_t i, committed = fib_registry_committed();

	for (i = 0; i < committed; i++) {
		struct fiber *other = fib_registry_at(i);
		uint8_t kind = fib_load(&other->wait_kind);
		bool mutex = kind == FIB_WAIT_MUTEX;

		if (!fib_observe(&other->id) ||
		    (!mutex && kind != FIB_WAIT_RWLOCK_READ && kind != FIB_WAIT_RWLOCK_WRITE))
			continue;
		if (held_by(fiber, fib_observe(&other->wait_object), mutex ? "mutex" : "rwlock",
			    ret))
			return true;
	}
	return false;
}

/* last: held_last of the fiber. */
static void describe(const struct fiber *fiber, const void *last, char *text, size_t size)
{
	char place[128];
	struct found f;

	fib_os_place_name((uint64_t)(uintptr_t)fiber->held_at, place, sizeof place);
	if (last_is_held(fiber, last, &f))
		snprintf(text, size, "%s \"%s\" (0x%llx), locked at %s", f.kind, f.name,
			 (unsigned long long)f.at, place);
	else if (some_is_awaited(fiber, &f))
		snprintf(text, size, "%s \"%s\" (0x%llx), which is waited for", f.kind, f.name,
			 (unsigned long long)f.at);
	else
		snprintf(text, size, "a lock; it locked last at %s", place);
}

/*
 * Returns whether a line may be printed now; *ret_missed: how many were suppressed since the last
 * one.
 */
static bool may_print(uint64_t *ret_missed)
{
	static _Atomic int64_t last;
	static _Atomic uint64_t missed;
	const int64_t now = fib_os_now();
	int64_t before = fib_load(&last);

	if ((before && now - before < EVERY) || !fib_os_may_print() ||
	    !fib_cas(&last, &before, now)) {
		fib_add_relaxed(&missed, 1);
		return false;
	}
	*ret_missed = fib_swap(&missed, 0);
	return true;
}

void fib_held_at_exit(struct fiber *fiber)
{
	const enum fiber_held_policy policy = (enum fiber_held_policy)fiber->sched->held_policy;
	const void *last = fiber->held_last;
	const unsigned more = fiber->held_more - !last;
	uint64_t missed = 0;
	char text[256], beside[32] = "", since[64] = "";

	fiber->held_last = NULL;
	fiber->held_more = 0;
	if (policy == FIBER_HELD_SILENT || (policy == FIBER_HELD_WARN && !may_print(&missed)))
		return;
	describe(fiber, last, text, sizeof text);
	if (more)
		snprintf(beside, sizeof beside, ", and %u more", more);
	if (policy == FIBER_HELD_ABORT)
		fib_die("fiber %llu \"%s\" ended while it holds %s%s",
			(unsigned long long)fiber->id, fiber->name, text, beside);
	if (missed)
		snprintf(since, sizeof since, " (and %llu such ends since the last line)",
			 (unsigned long long)missed);
	fib_log("fiber %llu \"%s\" ended while it holds %s%s%s", (unsigned long long)fiber->id,
		fiber->name, text, beside, since);
}
