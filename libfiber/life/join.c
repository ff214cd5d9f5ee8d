/* SPDX-License-Identifier: MIT */
/*
 * join.c - the exit of a fiber, and waiting for it
 *
 * An exiting fiber sets its state to dead, releases what it owns, and leaves for good. `life` holds
 * which side still needs the record. The swap that adds DONE is the fiber's last access to it,
 * except that a detached fiber frees its record itself. After the swap a joiner may free the record
 * at any time, and also the memory under a stack that the joiner provided: such a fiber is released
 * by the carrier's idle context after it has left.
 *
 * Race (join.meet): a joiner stores which wait is to be ended before it adds JOINING, and the fiber
 * reads that before it adds DONE. Each joiner that timed out has left a count in `life`, so the
 * swap succeeds only if the joiner is still the same. After that the fiber wakes a parker; parkers
 * are never unmapped, and their ticket rejects a late waker. A plain thread's parker would be on
 * its stack, so a thread that joins uses one in the record.
 *
 * While one carrier is the sole user (core/sole.h), a fiber that it spawned adds DONE in a section,
 * without a locked instruction: so other threads end that use before they change `life`
 * (fib_life_check()). Reading it needs no such care: after DONE the fiber does not access its
 * record.
 */
#include "life/join.h"

#include <errno.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "core/registry.h"
#include "life/background.h"
#include "life/discard.h"
#include "life/held.h"
#include "life/reading.h"
#include "life/live_count.h"
#include "life/cleanup.h"
#include "os/os.h"
#include "os/own_tls.h"
#include "probe.h"
#include "sched/locale.h"
#include "sched/own_tls.h"
#include "wait/wait.h"

_Noreturn void fib_die_outside(const char *call)
{
	fib_die("%s called outside a fiber (a forked child has none: leave it by exec or _exit)",
		call);
}

static void wake_joiner(struct fib_carrier *c, uintptr_t joiner, uint32_t armed)
{
	bool blocks = joiner & 1;
	struct fib_parker *parker = (struct fib_parker *)(joiner - blocks);
	struct fib_wake wake = {blocks ? NULL : fib_container(parker, struct fiber, parker),
				&parker->word};

	/*
	 * Queue the joiner last, since a fiber that joins many finds the others ended then as well.
	 * With many fibers waiting to start run it at once, so that it is done before more of them
	 * start (start_queue.c).
	 */
	if (fib_parker_claim(parker, armed, FIB_OUTCOME_WOKEN))
		fib_wake(&wake, fib_start_queue_many(&c->start_queue));
}

/*
 * Add DONE, if `life` is still as it was read. A carrier that is not alone uses a locked instruction,
 * also while another one is: that one does not change this fiber's `life` in a section.
 */
static fib_always_inline bool add_done(struct fib_carrier *c, struct fiber *fiber, uint32_t life)
{
	const int done = life & FIB_LIFE_LOCAL ? fib_sole_swap32(c->sole, &fiber->life, life,
								 life | FIB_LIFE_DONE)
					       : -1;

	/* label: join.done -- the result is visible, and the fiber has left. */
	return done < 0 ? fib_cas(&fiber->life, &life, life | FIB_LIFE_DONE) : done;
}

/* The joiner may go on, and the record is not accessed after this. */
static void release(struct fib_carrier *c, struct fiber *fiber)
{
	uint32_t life, armed;
	uintptr_t joiner;

	do {
		life = fib_load_acquire(&fiber->life);
		if (life & FIB_LIFE_DETACHED) {
			fib_free_record(c, fiber);
			return;
		}
		/* pairs: join.meet */
		joiner = fib_load(&fiber->joiner);
		armed = fib_load(&fiber->joiner_armed);
	} while (!add_done(c, fiber, life));
	if (life & FIB_LIFE_JOINING)
		wake_joiner(c, joiner, armed);
}

void fib_reap(struct fib_carrier *c)
{
	struct fiber *fiber = c->departed;

	c->departed = NULL;
	release(c, fiber);
}

static fib_noinline void leave_background(struct fib_carrier *c, struct fiber *fiber)
{
	fib_background_leave(c->sched, fiber);
	fib_live_leave_background(c->sched);
}

#define SLOW_END (FIB_SLOW_RECORDS | FIB_SLOW_OWN_TLS | FIB_SLOW_LOCALE | FIB_SLOW_HOOKS)

static fib_noinline void leave_slowly(struct fib_carrier *c, struct fiber *fiber)
{
	if (fib_load(&c->slow_switch) & FIB_SLOW_HOOKS)
		fib_hooks_ended(fiber);
	if (fib_records(c))
		fib_recorder_ended(c, fiber);
	if (fiber->tls)
		fib_own_tls_leave(c, fiber);
	else if (fib_load(&c->slow_switch) & FIB_SLOW_LOCALE)
		fib_locale_take();
}

static inline _Noreturn void leave_dead(struct fib_carrier *c, struct fiber *fiber)
{
	struct fib_stack stack = fiber->stack;
	int64_t now = fib_coarse_now();

	fib_order_end(fiber, c->sched);
	fib_probe1(exit, fiber->id);
	if (fib_unlikely(fib_load(&c->slow_switch) & SLOW_END))
		leave_slowly(c, fiber);
	fib_turn_ends(fiber, now);
	fib_store(&fiber->since, now);
	fib_store(&fiber->state, (uint8_t)FIBER_DEAD);
	fiber->context.sp = 0;
	c->gone = fiber->announce;
	/* pairs: record.seq -- the record does not change any more and has no stack. */
	fib_store_release(&fiber->seq, fib_load(&fiber->seq) + 1);
	/*
	 * Count before any thread can learn of the exit, so that fiber_runtime_done() is true then.
	 * Finishing the runtime waits for this carrier anyway.
	 */
	if (fib_unlikely(fiber->flags & FIBER_BACKGROUND)) {
		leave_background(c, fiber);
	} else {
		fib_live_raise(&c->ended);
	}
	if (fib_unlikely(fiber->group != NULL)) {
		c->above.member_ended(fiber);
		fiber->group = NULL;
	}
	c->current = NULL;
	if (fib_unlikely(stack.class == FIB_STACK_FOREIGN)) {
		/* The stack's owner may reuse it as soon as it learns of the exit. */
		c->departed = fiber;
		fib_counters_last(c);
	} else {
		release(c, fiber);
	}
	fib_switch_out_dead(c, &stack);
}

static void reach_floor(struct fib_ending *floor)
{
	(void)floor;
	fib_fiber_end(fib_self());
}

/*
 * Mark a place on the stack that an unwinding does not pass (unwind.c): it ends the fiber there. In
 * effect while `floor` is the newest ending.
 */
static void stop_unwinding_at(struct fiber *fiber, struct fib_ending *floor)
{
	*floor = (struct fib_ending){.outer = fiber->endings, .end = reach_floor};
	fiber->endings = floor;
}

/* Before anything that may wait for what the cleanup releases. */
static fib_noinline void run_cleanup(struct fiber *fiber)
{
	struct fib_ending *ending, floor;

	if (fiber->tls)
		fib_os_own_tls_end();
	/* The exit leaves every masked scope, too. */
	if (fib_load(&fiber->cancelled) & FIB_CANCEL_MASKED)
		fib_cancel_unmask_all(fiber);
	while ((ending = fiber->endings) != NULL) {
		fiber->endings = ending->outer;
		ending->end(ending);
	}
	if (fib_cleanup_needed(fiber)) {
		stop_unwinding_at(fiber, &floor);
		fib_cleanup_run(fiber);
		fiber->endings = NULL;
	}
	if (fib_load(&fiber->members))
		fib_cleanup_check_groups(fiber);
	if (fib_held_any(fiber))
		fib_held_at_exit(fiber);
	fib_reading_end(fiber);
}

/* Returns whether run_cleanup() has anything to do: one test instead of seven at every exit. */
static inline bool needs_cleanup(const struct fiber *fiber)
{
	return ((uintptr_t)fiber->endings | (uintptr_t)fiber->exits | (uintptr_t)fiber->locals |
		fib_load(&fiber->members) | (uintptr_t)fiber->held_last | fiber->held_more |
		(uintptr_t)fiber->tls | fiber->reading) != 0;
}

/* A fiber that was cancelled, or that masks cancellations, exits. */
static void settle_cancel(struct fiber *fiber)
{
	fib_cancel_unmask_all(fiber);
	if (fib_load(&fiber->cancelled) && !fiber->result.error)
		fiber->result.error = -ECANCELED;
}

_Noreturn void fib_fiber_end(struct fiber *fiber)
{
	struct fib_carrier *c = fib_carrier_self();

	if (fib_unlikely(!c))
		fib_die_outside("fiber_exit");
	/* The exit leaves every pinned scope. */
	fiber->pins = 0;
	if (fib_unlikely(needs_cleanup(fiber))) {
		run_cleanup(fiber);
		c = fib_carrier_self();
	}
	if (fib_unlikely(fib_load(&fiber->cancelled)))
		settle_cancel(fiber);
	leave_dead(c, fiber);
}

static void die_joining(struct fiber *fiber, const char *what)
{
	fib_die("fiber_join: fiber %llu \"%s\" %s", (unsigned long long)fiber->id, fiber->name,
		what);
}

/*
 * An invalid handle leads to a free record or to another fiber's: only the first can be detected.
 */
static void must_be_held(struct fiber *fiber, const char *call)
{
	if (!fib_observe(&fiber->id))
		fib_die("%s: fiber \"%s\" has ended and was joined or detached before", call,
			fiber->name);
}

/* Not joined by two callers, and not detached. */
static void must_be_joinable(struct fiber *fiber, uint32_t life)
{
	if (fib_unlikely(life & (FIB_LIFE_DETACHED | FIB_LIFE_JOINING)))
		die_joining(fiber, life & FIB_LIFE_DETACHED ? "is detached"
							    : "is joined by somebody else already");
}

/* Whether the fiber has ended. */
static bool has_ended(struct fiber *fiber)
{
	uint32_t life;

	must_be_held(fiber, "fiber_join");
	/* pairs: join.done */
	life = fib_load_acquire(&fiber->life);
	must_be_joinable(fiber, life);
	return life & FIB_LIFE_DONE;
}

/* Register as the joiner. False if the fiber has exited meanwhile. */
static bool enter_joiner(struct fiber *fiber, const struct fib_waiter *w)
{
	uint32_t life = fib_load_acquire(&fiber->life); /* pairs: join.done */

	fib_life_check(fiber);
	fib_store(&fiber->joiner, (uintptr_t)w->parker + (w->parker->blocks != 0));
	fib_store(&fiber->joiner_armed, w->armed);
	do {
		must_be_joinable(fiber, life);
		if (life & FIB_LIFE_DONE)
			return false;
		/* label: join.meet -- a fiber that sees JOINING sees the joiner. */
	} while (!fib_cas(&fiber->life, &life, (life | FIB_LIFE_JOINING) + FIB_LIFE_JOINER));
	return true;
}

/* Wait for the exit. */
static int wait_for_exit(struct fiber *fiber, int64_t deadline)
{
	struct fib_waiter w;
	int rc = fib_wait_begin_at(&w, &fiber->thread_joiner, FIB_WAIT_JOIN, fiber, fiber->id,
				   deadline);

	if (rc < 0)
		return rc;
	if (!enter_joiner(fiber, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	rc = fib_wait(&w, deadline);
	/* enter_joiner() has ended another thread's sole use. */
	if (rc < 0)
		fib_and(&fiber->life, ~FIB_LIFE_JOINING);
	return rc;
}

int fiber_join(struct fiber *fiber, struct fiber_result *ret, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	int rc;

	fib_choice(fiber);
	fib_must_have(fiber, "the fiber");
	if (c && c->current == fiber)
		die_joining(fiber, "joins itself");
	if (!has_ended(fiber)) {
		rc = wait_for_exit(fiber, deadline);
		if (rc < 0)
			return rc;
		c = fib_carrier_self();
	}
	fib_order_acquire(fiber);
	if (ret)
		*ret = fiber->result;
	fib_free_record(c, fiber);
	return 0;
}

int fiber_detach(struct fiber *fiber)
{
	uint32_t life;

	fib_choice(fiber);
	fib_must_have(fiber, "the fiber");
	must_be_held(fiber, "fiber_detach");
	fib_life_check(fiber);
	life = fib_or(&fiber->life, FIB_LIFE_DETACHED);
	if (life & (FIB_LIFE_DETACHED | FIB_LIFE_JOINING))
		fib_die("fiber_detach: fiber %llu \"%s\" is %s", (unsigned long long)fiber->id,
			fiber->name,
			life & FIB_LIFE_DETACHED ? "detached already" : "being joined");
	if (life & FIB_LIFE_DONE)
		fib_free_record(fib_carrier_self(), fiber);
	else if (!(life & FIB_LIFE_SUBMITTED))
		fib_unmake(fiber);
	return 0;
}
