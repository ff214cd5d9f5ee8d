/* SPDX-License-Identifier: MIT */
/*
 * boehm.h - let the Boehm collector look at fibers
 *
 * The collector stops threads by signals of its own, and looks at their stacks from the stack pointer
 * in its handler up to a bottom that it was told. A stopped carrier is in libfiber's handler, on its
 * stack for signals; so that stack's end is its bottom. Everything else comes from the root ranges.
 */
#ifndef SYSTEM_BOEHM_H
#define SYSTEM_BOEHM_H

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <fiber.h>

static GC_push_other_roots_proc boehm_others;
static unsigned boehm_left_out; /* set of kinds that the collector is not told about */

static int boehm_set_bottom(const struct fiber_gc_carrier *carrier, void *arg)
{
	struct GC_stack_base base = {.mem_base = (void *)(uintptr_t)carrier->bottom};

	(void)arg;
	GC_set_stackbottom(carrier->thread, &base);
	return 0;
}

static void boehm_event(GC_EventType event)
{
	if (event == GC_EVENT_PRE_STOP_WORLD) {
		if (fiber_gc_stop(FIBER_FOREVER) < 0)
			abort();
		fiber_gc_each_carrier(boehm_set_bottom, NULL);
	} else if (event == GC_EVENT_POST_START_WORLD) {
		if (fiber_gc_go() < 0)
			abort();
	}
}

static int boehm_push(const struct fiber_gc_range *range, void *arg)
{
	(void)arg;
	if (!(boehm_left_out & 1u << range->kind))
		GC_push_all_eager((void *)(uintptr_t)range->low, (void *)(uintptr_t)range->high);
	return 0;
}

static void boehm_push_roots(void)
{
	if (boehm_others)
		boehm_others();
	fiber_gc_each_root_range(boehm_push, NULL);
}

static void *boehm_thread_began(void *arg)
{
	struct GC_stack_base base;
	sigset_t signals;

	(void)arg;
	GC_get_stack_base(&base);
	GC_register_my_thread(&base);
	sigemptyset(&signals);
	sigaddset(&signals, GC_get_suspend_signal());
	sigaddset(&signals, GC_get_thr_restart_signal());
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	return GC_get_my_stackbottom(&base);
}

static void boehm_thread_ended(void *thread, void *arg)
{
	(void)thread;
	(void)arg;
	GC_unregister_my_thread();
}

/* Call once, before the first runtime starts. */
static void boehm_begin(void)
{
	static const struct fiber_gc_hooks hooks = {.size = sizeof hooks,
						    .thread_began = boehm_thread_began,
						    .thread_ended = boehm_thread_ended};

	GC_INIT();
	GC_allow_register_threads();
	boehm_others = GC_get_push_other_roots();
	GC_set_push_other_roots(boehm_push_roots);
	GC_set_on_collection_event(boehm_event);
	if (fiber_gc_set_hooks(&hooks) < 0)
		abort();
}

#endif
