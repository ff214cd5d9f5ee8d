/* SPDX-License-Identifier: MIT */
/* sched.c - starting and stopping a scheduler. */
#include "runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "carriers.h"
#include "life/background.h"
#include "life/join.h"
#include "life/live_count.h"
#include "life/spawn.h"
#include "os/os.h"
#include "sched/sched.h"
#include "sched/turn.h"
#include "sync/group.h"
#include "wait/cancel.h"
#include "wait/pinned.h"
#include "watch/crowd.h"
#include "watch/longrun.h"
#include "watch/tick.h"
#include "watch/watch.h"

static const struct fib_above above = {
	.bury = fib_reap,
	.tell_ended = fib_live_notify,
	.tell_cancelled = fib_background_note_cancel,
	.member_ended = fib_group_member_ended,
	.carrier_begins = fib_longrun_enter,
};

static void init_carrier(struct fib_sched *s, unsigned i)
{
	const struct fiber_gc_hooks *hooks = fib_hooks_now();
	struct fib_carrier *c = &s->carriers[i];

	c->sched = s;
	c->above = above;
	fib_runqueue_init(&c->queue, s->carrier_count == 1);
	c->start_queue.alone = s->carrier_count == 1;
	c->index = i;
	c->place = FIB_OS_NOT_KEPT;
	c->locks = FIB_TURN_LOCKS;
	c->rand = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
	fib_timers_init(&c->timers);
	c->trims_at = INT64_MAX;
	if (s->trim.after)
		fib_or(&c->slow_switch, FIB_SLOW_TRIM);
	if (hooks && (hooks->fiber_created || hooks->fiber_ended))
		fib_or(&c->slow_switch, FIB_SLOW_HOOKS);
	/* Carriers begin awake and searching. */
	c->searching = true;
	fib_add(&s->idle.word, 1);
}

static void stop_threads(struct fib_sched *s, unsigned started)
{
	unsigned i;

	fib_store_seq(&s->stopping, 1);
	for (i = 0; i < started; i++)
		fib_idle_wake(&s->carriers[i]);
	for (i = 0; i < started; i++)
		fib_carrier_join(&s->carriers[i]);
}

static void release(struct fib_sched *s)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++) {
		fib_timers_release(&s->carriers[i].timers);
		fib_runqueue_release(&s->carriers[i].queue);
	}
	fib_longrun_release(s);
	fib_recorder_release(s);
	free(s->carriers);
	fib_pinned_release(&s->pinned);
	s->poller->ops->close(s->poller);
}

static int start_threads(struct fib_sched *s)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		init_carrier(s, i);
	for (i = 0; i < s->carrier_count; i++) {
		int rc = fib_carrier_start(&s->carriers[i]);

		if (rc < 0) {
			stop_threads(s, i);
			return rc;
		}
	}
	/* A program may forbid itself system calls as soon as it has a runtime (libfiber(7)). */
	for (i = 0; i < s->carrier_count; i++)
		fib_longrun_await(&s->carriers[i]);
	return 0;
}

static void say_caller(char text[FIB_CHECK_CALLER])
{
	struct fib_carrier *c = fib_carrier_self();

	if (c && c->current)
		snprintf(text, FIB_CHECK_CALLER, "fiber %llu \"%.31s\"",
			 (unsigned long long)c->current->id, c->current->name);
	else
		snprintf(text, FIB_CHECK_CALLER, "thread %u", fib_os_tid());
}

#define TRIM_MOST (INT64_MAX / 4) /* ns: times are added to it */

/* Without membarrier(2) stacks are not trimmed. */
static void prepare_trim(struct fib_sched *s, int64_t after)
{
	if (!after)
		return;
	fib_stack_plain_tops();
	if (!fib_load(&fib_cancel_fenced_by_waiters))
		s->trim.after = after < TRIM_MOST ? after : TRIM_MOST;
}

int fib_sched_start(struct fib_sched *s, const struct fiber_runtime_options *o,
		    fib_dispatch_fn *dispatch)
{
	static _Atomic uint64_t serials;
	const unsigned n = o->carriers_max;
	int rc;

	memset(s, 0, sizeof *s);
	s->serial = fib_add_relaxed(&serials, 1) + 1;
	s->dispatch = dispatch;
	s->shared_fpu = o->shared_fpu;
	s->regular = o->carriers;
	fib_store(&s->notifies, n > 1);
	fib_cancel_prepare();
	prepare_trim(s, o->trim_waiting_ns);
	fib_set_fiber_main(fib_fiber_main);
	fib_check_set_caller(say_caller);
	s->guard_size = o->guard_size;
	rc = fib_stack_class(o->stack_size, o->guard_size, &s->stack_class, &s->stack_size);
	if (rc == 0)
		rc = fib_pinned_init(&s->pinned, o->pinned_policy);
	if (rc < 0)
		return rc;
	rc = fib_poller_choose(&s->poller, &s->poller_note);
	if (rc < 0) {
		fib_pinned_release(&s->pinned);
		return rc;
	}
	s->carriers = aligned_alloc(FIB_CACHE_LINE, n * sizeof *s->carriers);
	if (s->carriers) {
		memset(s->carriers, 0, n * sizeof *s->carriers);
		s->carrier_count = n;
		fib_crowd_init(s);
		rc = fib_longrun_init(s);
		if (rc == 0)
			rc = start_threads(s);
	} else {
		rc = -ENOMEM;
	}
	if (rc < 0) {
		release(s);
		return rc;
	}
	fib_tick_add(s);
	fib_watch_add(s);
	return 0;
}

void fib_sched_stop(struct fib_sched *s)
{
	fib_watch_remove(s);
	fib_tick_remove(s);
	/* pairs: sched.visit -- whoever woke the last fiber from outside is out of s. */
	while (fib_load_acquire(&s->visitors))
		fib_os_yield();
	stop_threads(s, s->carrier_count);
	release(s);
}
