/* SPDX-License-Identifier: MIT */
/*
 * join.c - the end of a fiber, and who waits for it
 *
 * A fiber that ends cannot take itself apart: it stands on the stack that must go. It marks itself dead,
 * leaves, and whoever runs next on its carrier reaps it. Reaping and joining meet under the lock of the
 * record's joiner queue; `life` says under it who still needs the record. The reaper's last touch of a
 * record that somebody joins is the unlock, so the joiner takes the lock once more before it frees it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "core/registry.h"
#include "os/os.h"
#include "sched/own.h"
#include "sched/spawn.h"
#include "sched/wait.h"

/* Fibers of other runtimes that wait for the end of this one. */
static void tell_finishers(struct fib_sched *s)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_queue_lock(&s->finishers);
	fib_queue_claim_all(&s->finishers, &list);
	fib_queue_unlock(&s->finishers);
	fib_wake_all(&list);
}

void fib_uncount(struct fib_sched *s, unsigned flags)
{
	uint64_t one = fib_live_one(flags);

	if (((fib_sub(&s->live, one) - one) & FIB_LIVE_MASK) == 0) {
		fib_add(&s->ended, 1);
		fib_os_futex_wake(&s->ended, INT32_MAX);
		tell_finishers(s);
	}
}

void fib_reap(struct fib_carrier *c, struct fiber *fiber)
{
	struct fib_wake wake;
	bool joined = false, detached;

	fib_context_done(&fiber->announce);
	fib_stack_give(&c->stacks, &fiber->stack);
	/* Before anybody can learn of the end: then fiber_runtime_done() says so too. Finishing the
	 * runtime waits for this carrier anyway. */
	if (fiber->flags & FIBER_BACKGROUND)
		fib_background_leave(c->sched, fiber);
	fib_uncount(c->sched, fiber->flags);
	if (fib_unlikely(fiber->group != NULL))
		fiber->ended(fiber);
	fib_queue_lock(&fiber->joiners);
	fiber->life |= FIB_LIFE_DONE;
	detached = (fiber->life & FIB_LIFE_DETACHED) != 0;
	while (fib_queue_first(&fiber->joiners) && !joined)
		joined = fib_queue_claim_first(&fiber->joiners, &wake);
	fib_queue_unlock(&fiber->joiners);
	if (joined)
		fib_wake(&wake,
			 false); /* its turn: who joins many finds the others ended as well */
	if (detached)
		fib_free_record(fiber);
}

static struct fiber *must_be_fiber(const char *call)
{
	struct fib_carrier *c = fib_carrier_self();

	if (!c || !c->current)
		fib_die("%s called outside a fiber (a forked child has none: leave it by exec or "
			"_exit)",
			call);
	return c->current;
}

static _Noreturn void end(struct fiber *fiber)
{
	struct fib_ending *ending;
	int64_t now;

	/* Every pinned scope it was in is left by this. */
	fiber->pins = 0;
	/* Before anything that may wait for what it leaves undone. */
	while (fib_unlikely((ending = fiber->endings) != NULL)) {
		fiber->endings = ending->outer;
		ending->end(ending);
	}
	if (fib_unlikely(fib_own_any(fiber)))
		fib_own_end(fiber);
	if (fib_unlikely(fib_load(&fiber->members)))
		fib_own_check_groups(fiber);
	now = fib_coarse_now();
	if (!fiber->result.error && fib_load(&fiber->cancelled))
		fiber->result.error = -ECANCELED;
	fiber->cpu += (uint64_t)(now - fib_load(&fiber->since));
	fib_store(&fiber->since, now);
	fib_store(&fiber->state, (uint8_t)FIBER_DEAD);
	fib_leave(FIB_AFTER_EXIT);
	fib_die("fiber %llu ran after its end", (unsigned long long)fiber->id);
}

_Noreturn void fiber_exit(void *value)
{
	struct fiber *fiber = must_be_fiber("fiber_exit");

	fiber->result.value = value;
	end(fiber);
}

_Noreturn void fiber_fail(int error, const char *fmt, ...)
{
	struct fiber *fiber = must_be_fiber("fiber_fail");
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(fiber->failure, sizeof fiber->failure, fmt, ap);
		va_end(ap);
	}
	fiber->result.error = error < 0 ? error : error > 0 ? -error : -EINVAL;
	end(fiber);
}

static void die_joining(struct fiber *fiber, const char *what)
{
	fib_die("fiber_join: fiber %llu \"%s\" %s", (unsigned long long)fiber->id, fiber->name,
		what);
}

/* A handle given back leads to a free record, or to a stranger: the first can be seen. */
static void must_be_held(struct fiber *fiber, const char *call)
{
	if (!fib_observe(&fiber->id))
		fib_die("%s: fiber \"%s\" has ended and was joined or detached before", call,
			fiber->name);
}

/* Take the joiner's place. True when the fiber has ended already. */
static bool begin_join(struct fiber *fiber, struct fib_waiter *w)
{
	bool done;

	must_be_held(fiber, "fiber_join");
	fib_queue_lock(&fiber->joiners);
	if (fiber->life & FIB_LIFE_DETACHED)
		die_joining(fiber, "is detached");
	if (fiber->life & FIB_LIFE_JOINING)
		die_joining(fiber, "is joined by somebody else already");
	done = (fiber->life & FIB_LIFE_DONE) != 0;
	if (!done && w) {
		fiber->life |= FIB_LIFE_JOINING;
		fib_queue_append(&fiber->joiners, w);
	}
	fib_queue_unlock(&fiber->joiners);
	return done;
}

/* Wait for the end. The reaper is out of the lock when this returns 0. */
static int await_end(struct fiber *fiber, int64_t deadline)
{
	struct fib_waiter w;
	int rc = fib_wait_begin(&w, FIB_WAIT_JOIN, fiber, fiber->id, deadline);

	if (rc < 0)
		return rc;
	if (begin_join(fiber, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	rc = fib_queue_wait(&fiber->joiners, &w, deadline);
	if (rc < 0) {
		fib_queue_lock(&fiber->joiners);
		fiber->life &= ~FIB_LIFE_JOINING;
		fib_queue_unlock(&fiber->joiners);
	}
	return rc;
}

int fiber_join(struct fiber *fiber, struct fiber_result *ret, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	int rc;

	if (c && c->current == fiber)
		die_joining(fiber, "joins itself");
	if (!begin_join(fiber, NULL)) {
		rc = await_end(fiber, deadline);
		if (rc < 0)
			return rc;
	}
	if (ret)
		*ret = fiber->result;
	fib_free_record(fiber);
	return 0;
}

int fiber_detach(struct fiber *fiber)
{
	uint32_t life;

	must_be_held(fiber, "fiber_detach");
	fib_queue_lock(&fiber->joiners);
	life = fiber->life;
	if (life & (FIB_LIFE_DETACHED | FIB_LIFE_JOINING))
		fib_die("fiber_detach: fiber %llu \"%s\" is %s", (unsigned long long)fiber->id,
			fiber->name,
			life & FIB_LIFE_DETACHED ? "detached already" : "being joined");
	fiber->life |= FIB_LIFE_DETACHED;
	fib_queue_unlock(&fiber->joiners);
	if (life & FIB_LIFE_DONE)
		fib_free_record(fiber);
	else if (!(life & FIB_LIFE_SUBMITTED))
		fib_unmake(fiber);
	return 0;
}
