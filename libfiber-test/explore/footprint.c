/* SPDX-License-Identifier: MIT */
/*
 * footprint.c - what a step touches, from the call with which it begins
 *
 * A step is what a fiber runs from one choice to the next: the call that it had announced, and the
 * program's code up to the next call. Two steps are independent if each leaves the other possible
 * and both orders lead to the same state. The test has declared (FIBER_TEST_DECLARED) that its
 * fibers share only what they reach by calls of libfiber or announce by fiber_test_access(), so the
 * program's code between two calls touches nothing that counts. libfiber-test-memory sees accesses
 * that are not announced: one to shared memory is a step of its own, and a step with an access to
 * memory that no other fiber has touched yet depends on all.
 *
 * What remains is the call. Those of `on_object` touch one object, the fibers that wait for it, and
 * the caller: each takes the object's lock, changes its fields and its queue, and claims waiters of
 * this queue. A claimed waiter becomes runnable; to claim it is to touch the object for which it
 * waits. When a call has waited, its rest is the next step of its fiber, with the same announced
 * call. A mutex on which another fiber waits is such a case: lock, the first step, queues the
 * fiber; unlock of the owner changes the queue; the rest of lock is the fiber's second step. All
 * three touch the mutex, and no two of them are independent.
 *
 * The exit of a fiber touches its record, and so does a join of it. The first step of a fiber, and the
 * step behind a yield, are code of the program alone.
 *
 * Everything else depends on everything. Calls of `alone` do so for one step: they touch several
 * fibers or objects, but leave nothing behind that makes later calls touch more than their object.
 * After any other call this is not known, so all later steps of the schedule depend on each other.
 * Three examples: a select leaves an entry in the queue of each of its channels; a predicate of
 * fiber_wait_until() is evaluated in the steps of other fibers; the function of a once ends in the
 * middle of a step that began with another call. An exit that runs handlers is one too, and so is
 * any step of a background fiber, which the exits of all others end, or of an idle one, which runs
 * when no other can.
 *
 * Time: a step depends on all others if the clock moved in it, or if before or after it the clock
 * may move to a deadline while fibers can run. Deadlines that are further away pass only when no
 * fiber can run. Then the state is the same whatever the order of the steps before was.
 *
 * Deadlines are no objects: two steps that arm one each lead to the same set of deadlines.
 *
 * Addresses are compared within one schedule only: in the next one objects may be elsewhere.
 */
#include "explore/footprint.h"

#include <string.h>

#include "base/compiler.h"
#include "core/registry.h"
#include "os/pinned.h"
#include "os/virtual.h"

enum reach { UNKNOWN, ON_OBJECT, ALONE, NOTHING, EXIT };

static const char *const on_object[] = {
	"fiber_mutex_lock",    "fiber_mutex_trylock",	 "fiber_mutex_unlock",
	"fiber_sem_wait",      "fiber_sem_trywait",	 "fiber_sem_value",
	"fiber_sem_post",      "fiber_event_wait",	 "fiber_event_set",
	"fiber_event_reset",   "fiber_rwlock_rdlock",	 "fiber_rwlock_wrlock",
	"fiber_rwlock_unlock", "fiber_rwlock_tryrdlock", "fiber_rwlock_trywrlock",
	"fiber_waitgroup_add", "fiber_waitgroup_done",	 "fiber_waitgroup_wait",
	"fiber_barrier_wait",  "fiber_cond_signal",	 "fiber_cond_broadcast",
	"fiber_chan_send",     "fiber_chan_recv",	 "fiber_chan_length",
	"fiber_chan_close",    "fiber_chan_ref",	 "fiber_chan_unref",
	"fiber_join",	       "fiber_test_call",	 "fiber_test_return",
};

/* fiber_cond_wait touches the mutex too. */
static const char *const alone[] = {
	"fiber_cond_wait", "fiber_spawn",  "fiber_spawn_attr", "fiber_detach",	    "fiber_park",
	"fiber_unpark",	   "fiber_cancel", "fiber_cancelled",  "fiber_sleep_until", "fiber_sleep",
};

static struct {
	struct fib_footprint step; /* that runs */
	bool rest;
	int64_t since; /* the virtual time at its start, ns */
} running;

static bool is_in(const char *call, const char *const list[], unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i], call) == 0)
			return true;
	return false;
}

static enum reach look_up(const char *call)
{
	if (is_in(call, on_object, fib_countof(on_object)))
		return ON_OBJECT;
	if (is_in(call, alone, fib_countof(alone)))
		return ALONE;
	if (strcmp(call, "fiber_yield") == 0)
		return NOTHING;
	return strcmp(call, "exit") == 0 ? EXIT : UNKNOWN;
}

/* The names of calls are constants: each is looked up once. */
static enum reach reach_of(const char *call)
{
	static struct {
		const char *call;
		enum reach reach;
	} known[128];
	const unsigned i = (unsigned)((uintptr_t)call * UINT64_C(0x9e3779b97f4a7c15) >> 57);

	if (known[i].call != call) {
		known[i].reach = look_up(call);
		known[i].call = call;
	}
	return known[i].reach;
}

/* Nothing but the fiber itself and its joiner learn of the exit. */
static bool exits_quietly(const struct fiber *fiber)
{
	return !fiber->endings && !fiber->exits && !fiber->locals && !fib_load(&fiber->members) &&
	       !fiber->held_last && !fiber->held_more && !fiber->reading && !fiber->group;
}

/* Background fibers run until all others have exited, idle ones while no other can run. */
static bool is_behind_others(const struct fib_intent *intent)
{
	return intent->fiber->flags & (FIBER_BACKGROUND | FIBER_IDLE);
}

static struct fib_footprint on(const void *at, size_t size, bool writes)
{
	return (struct fib_footprint){
		.all = !at, .at = (uintptr_t)at, .size = size, .writes = writes};
}

struct fib_footprint fib_footprint_of(const struct fib_intent *intent)
{
	const struct fib_footprint all = {.all = true}, nothing = {.size = 0};

	if (running.rest || intent->kind == FIB_INTENT_POINT || is_behind_others(intent))
		return all;
	if (!intent->call)
		return nothing;
	if (intent->kind == FIB_INTENT_ACCESS)
		return on(intent->object, intent->size ? intent->size : 1, intent->writes);
	switch (reach_of(intent->call)) {
	case ON_OBJECT:
		return on(intent->object, 1, true);
	case EXIT:
		return exits_quietly(intent->fiber) ? on(intent->fiber, 1, true) : all;
	case NOTHING:
		return nothing;
	case ALONE:
	case UNKNOWN:
		break;
	}
	return all;
}

static bool leaves_more(const struct fib_intent *intent)
{
	if (is_behind_others(intent))
		return true;
	if (!intent->call || intent->kind != FIB_INTENT_CALL)
		return false;
	switch (reach_of(intent->call)) {
	case UNKNOWN:
		return true;
	case EXIT:
		return !exits_quietly(intent->fiber);
	default:
		return false;
	}
}

void fib_footprint_begin(void)
{
	running.rest = false;
	running.step = (struct fib_footprint){.all = true};
}

void fib_footprint_start(const struct fib_intent *intent)
{
	running.step = fib_footprint_of(intent);
	running.since = fib_virtual_now();
	if (fib_explorer_time_may_pass())
		fib_footprint_all();
	if (leaves_more(intent))
		fib_footprint_rest();
}

struct fib_footprint fib_footprint_end(void)
{
	if (fib_virtual_now() != running.since || fib_explorer_time_may_pass())
		fib_footprint_all();
	/* A pinned fiber waits: any step may end that. */
	if (fib_pinned_first())
		fib_footprint_rest();
	return running.step;
}

void fib_footprint_all(void)
{
	running.step.all = true;
}

void fib_footprint_rest(void)
{
	running.rest = running.step.all = true;
}

bool fib_footprint_depend(const struct fib_footprint *a, const struct fib_footprint *b)
{
	if (a->all || b->all)
		return true;
	return (a->writes || b->writes) && a->at < b->at + b->size && b->at < a->at + a->size;
}
