/* SPDX-License-Identifier: MIT */
/*
 * execution.c - a stack and what runs on it: of a thread, or made for a fiber
 *
 * A fiber of Windows is a handle, which ConvertFiberToThread() releases while its stack goes on as a
 * plain thread, and a thread that exits on the stack of a created fiber needs its own again. So the
 * stack is an object of its own, with a reference of the fiber and, for a thread's own stack, one of
 * the thread.
 *
 * What was left is told by the code that runs next: only then are its registers saved. It finds the
 * execution that was left in came_from of the one that it is. It publishes the frame for the tools and
 * clears `busy`; from then on another thread may continue what was left.
 */
#include "execution.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

/* Complete the departure of the execution that was left for this one. */
static void arrive(struct fib_win32_execution *self)
{
	struct fib_win32_execution *left = self->came_from;

	self->came_from = NULL;
	if (left->ended) {
		fib_win32_execution_unref(left);
		return;
	}
	fib_win32_show_left(left->shown, &left->context, self->since);
	/* label: execution.busy -- all that its thread did on it is visible to the next one. */
	__atomic_store_n(&left->busy, 0, __ATOMIC_RELEASE);
}

/* Walks end in this function. */
static FIBER_LAYOUT_ENTRY void begin(void *arg)
{
	struct fib_win32_execution *self = arg;

	arrive(self);
	self->fn(self->arg);
	abort(); /* not reached: fn does not return. The frame stays for the walk. */
}

int fib_win32_execution_new(size_t size, bool floats, void (*fn)(void *), void *arg, uint64_t entry,
			    uint64_t parent, struct fib_win32_execution **ret)
{
	struct fib_win32_execution *e = calloc(1, sizeof *e);
	int rc;

	if (!e)
		return -ENOMEM;
	rc = fiber_stack_alloc(size, &e->stack);
	if (rc == 0)
		rc = fiber_context_init(&e->context, e->stack.base, e->stack.size, begin, e);
	if (rc < 0) {
		fiber_stack_free(&e->stack);
		free(e);
		return rc;
	}
	if (!floats)
		fiber_context_share_fpu(&e->context);
	e->low = e->stack.base;
	e->size = e->stack.size;
	e->fn = fn;
	e->arg = arg;
	e->refs = 1;
	e->shown = fib_win32_show("", parent, entry);
	*ret = e;
	return 0;
}

/* The bounds of the calling thread's stack, for the tools. Without them they show no frames. */
static void learn_bounds(struct fib_win32_execution *own)
{
	pthread_attr_t attr;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &low, &own->size) == 0)
		own->low = low;
	pthread_attr_destroy(&attr);
}

struct fib_win32_execution *fib_win32_execution_own(const void *thread)
{
	struct fib_win32_execution *own = calloc(1, sizeof *own);

	if (!own)
		return NULL;
	own->thread = thread;
	own->refs = 1;
	own->busy = 1;
	return own;
}

void fib_win32_execution_open(struct fib_win32_execution *own, bool floats)
{
	if (!own->low)
		learn_bounds(own);
	fiber_thread_to_context(&own->context);
	if (!floats)
		fiber_context_share_fpu(&own->context);
	own->shown = fib_win32_show("converted thread", 0, 0);
	fib_win32_show_running(own->shown, own->low, own->size, fib_win32_shown_now());
}

void fib_win32_execution_close(struct fib_win32_execution *own)
{
	fib_win32_hide(own->shown);
	own->shown = NULL;
	fiber_context_release(&own->context);
}

/* Before the switch: from then on nothing of `from` may be used but by the one that continues it. */
static void depart(struct fib_win32_execution *from, struct fib_win32_execution *to)
{
	__atomic_store_n(&to->busy, 1, __ATOMIC_RELAXED);
	to->came_from = from;
	to->since = fib_win32_shown_now();
	fib_win32_show_running(to->shown, to->low, to->size, to->since);
}

void fib_win32_execution_switch(struct fib_win32_execution *from, struct fib_win32_execution *to)
{
	depart(from, to);
	fiber_context_switch(&from->context, &to->context);
	arrive(from);
}

_Noreturn void fib_win32_execution_end(struct fib_win32_execution *from,
				       struct fib_win32_execution *to)
{
	from->ended = true;
	depart(from, to);
	fiber_context_end(&from->context, &to->context);
}

void fib_win32_execution_ref(struct fib_win32_execution *e)
{
	__atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
}

void fib_win32_execution_unref(struct fib_win32_execution *e)
{
	if (__atomic_fetch_sub(&e->refs, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	fib_win32_hide(e->shown);
	if (e->stack.base) {
		fiber_context_release(&e->context);
		fiber_stack_free(&e->stack);
	}
	free(e);
}

bool fib_win32_execution_busy(const struct fib_win32_execution *e)
{
	/* pairs: execution.busy */
	return __atomic_load_n(&e->busy, __ATOMIC_ACQUIRE) != 0;
}
