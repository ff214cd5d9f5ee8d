/* SPDX-License-Identifier: MIT */
/*
 * 26_gc.c - fibers that allocate from a garbage collector, Boehm's, and never free
 *
 * The collector finds threads' stacks by itself. It is told four things: each thread of libfiber when it
 * begins, when to stop and continue fibers, where the stacks of carriers end, and the roots in fibers.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <fiber.h>

#define FIBERS 1000
#define NODES  100

/* -- what connects the two libraries -- */

static GC_push_other_roots_proc push_threads;

/* The collector's signals are blocked in libfiber's threads, like all others. */
static void *thread_began(void *arg)
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

static void thread_ended(void *thread, void *arg)
{
	(void)thread;
	(void)arg;
	GC_unregister_my_thread();
}

/* A stopped carrier is in libfiber's signal handler. The collector's handler runs on the same stack. */
static int set_bottom(const struct fiber_gc_carrier *carrier, void *arg)
{
	struct GC_stack_base base = {.mem_base = (void *)carrier->bottom};

	(void)arg;
	GC_set_stackbottom(carrier->thread, &base);
	return 0;
}

static void on_event(GC_EventType event)
{
	if (event == GC_EVENT_PRE_STOP_WORLD) {
		if (fiber_gc_stop(FIBER_FOREVER) < 0)
			abort();
		fiber_gc_each_carrier(set_bottom, NULL);
	} else if (event == GC_EVENT_POST_START_WORLD) {
		fiber_gc_go();
	}
}

static int push_range(const struct fiber_gc_range *range, void *arg)
{
	(void)arg;
	GC_push_all_eager((void *)range->low, (void *)range->high);
	return 0;
}

static void push_roots(void)
{
	if (push_threads)
		push_threads();
	fiber_gc_each_root_range(push_range, NULL);
}

static const struct fiber_gc_hooks hooks = {
	.size = sizeof(hooks), .thread_began = thread_began, .thread_ended = thread_ended};

static void connect_collector(void)
{
	GC_INIT();
	GC_allow_register_threads();
	push_threads = GC_get_push_other_roots();
	GC_set_push_other_roots(push_roots);
	GC_set_on_collection_event(on_event);
	fiber_gc_set_hooks(&hooks); /* before the first runtime */
}

/* -- a program that uses both -- */

struct node {
	struct node *next;
	long value;
};

static struct fiber_waitgroup left;
static _Atomic long intact;

/* The list is on this fiber's stack alone while it waits. */
static void *make_list(void *arg)
{
	struct node *list = NULL, *node;
	long i, sum = 0;

	for (i = 0; i < NODES; i++) {
		node = GC_MALLOC(sizeof(*node));
		node->next = list;
		node->value = i;
		list = node;
		if (i % 10 == 0)
			fiber_sleep(100000);
	}
	for (node = list; node; node = node->next)
		sum += node->value;
	intact += sum == NODES * (NODES - 1) / 2;
	fiber_waitgroup_done(&left);
	return arg;
}

static void *run(void *arg)
{
	int i;

	fiber_waitgroup_add(&left, FIBERS);
	for (i = 0; i < FIBERS; i++)
		fiber_spawn(make_list, NULL, NULL);
	for (i = 0; i < 10; i++) {
		fiber_sleep(300000);
		GC_gcollect();
	}
	fiber_waitgroup_wait(&left, FIBER_FOREVER);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options options = {.size = sizeof(options), .carriers = 4};

	connect_collector();
	if (fiber_run(run, NULL, &options, NULL) < 0)
		return 1;
	printf("%ld lists of %d nodes are intact\n", (long)intact, NODES);
	printf("collected: %s\n", GC_get_gc_no() >= 10 ? "yes" : "no");
	return 0;
}
