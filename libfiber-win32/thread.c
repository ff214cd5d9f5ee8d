/* SPDX-License-Identifier: MIT */
/*
 * thread.c - what belongs to a thread: its own stack, the running fiber, the last error
 *
 * The data of a thread is a value of pthread_getspecific(). A thread-local would be wrong here: its
 * address may be kept by the compiler across a switch, after which the fiber may be on another thread.
 * The key's destructor is also where a thread that simply returns ends its fiber.
 *
 * A thread must end on its own stack, because the C library unwinds it there and then releases it. So
 * a thread that exits on the stack of a created fiber switches to its own execution, which is
 * suspended in SwitchToFiber(), and that one calls pthread_exit().
 */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

void fib_win32_fiber_end(struct fib_win32_fiber *fiber)
{
	if (fiber->locals)
		fib_win32_locals_finish(fiber->locals);
	fib_win32_locals_free(fiber->locals);
	fib_win32_execution_unref(fiber->execution);
	free(fiber);
}

/* End what the thread is: a fiber, or a plain thread with values. */
static void end_identity(struct fib_win32_thread *thread)
{
	struct fib_win32_fiber *fiber = thread->fiber;
	struct fib_win32_locals **locals = fib_win32_thread_locals(thread);

	/* Callbacks see the values of this fiber, as far as they are still there. */
	if (*locals)
		fib_win32_locals_finish(*locals);
	fib_win32_locals_free(*locals);
	*locals = NULL;
	if (!fiber)
		return;
	thread->fiber = NULL;
	/* The thread runs on it until it leaves: it takes over the reference. */
	if (fiber->execution == thread->own)
		fib_win32_execution_unref(fiber->execution);
	free(fiber);
}

/* pthread_exit() was called in a created fiber: the C library is back on the thread's own stack, and
 * nothing runs on the other. */
static void drop_foreign_stack(struct fib_win32_thread *thread)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t low = (uintptr_t)thread->running->low;

	if (here - low >= thread->running->size)
		fib_win32_execution_unref(thread->running);
}

static void end(void *arg)
{
	struct fib_win32_thread *thread = arg;

	/* Callbacks may use FLS. */
	if (pthread_setspecific(key, thread) != 0)
		return;
	end_identity(thread);
	if (thread->running != thread->own)
		drop_foreign_stack(thread);
	/* A fiber of this thread that was left suspended can never be continued. */
	__atomic_store_n(&thread->own->over, 1, __ATOMIC_RELEASE);
	fib_win32_execution_unref(thread->own);
	pthread_setspecific(key, NULL);
	free(thread);
}

static void make_key(void)
{
	/* label: thread.key */
	__atomic_store_n(&has_key, pthread_key_create(&key, end) == 0, __ATOMIC_RELEASE);
}

struct fib_win32_thread *fib_win32_thread_made(void)
{
	/* pairs: thread.key -- without the call of pthread_once(), which costs 5 ns of each switch. */
	if (!__atomic_load_n(&has_key, __ATOMIC_ACQUIRE)) {
		pthread_once(&once, make_key);
		if (!has_key)
			return NULL;
	}
	return pthread_getspecific(key);
}

static struct fib_win32_thread *make(void)
{
	struct fib_win32_thread *thread = calloc(1, sizeof *thread);

	if (!thread)
		return NULL;
	thread->own = fib_win32_execution_own(thread);
	thread->running = thread->own;
	if (thread->own && pthread_setspecific(key, thread) == 0)
		return thread;
	free(thread->own);
	free(thread);
	return NULL;
}

struct fib_win32_thread *fib_win32_thread(void)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();

	return thread || !has_key ? thread : make();
}

void *fib_win32_fail(DWORD error)
{
	struct fib_win32_thread *thread = fib_win32_thread();

	if (thread)
		thread->error = error;
	return NULL;
}

struct fib_win32_locals **fib_win32_thread_locals(struct fib_win32_thread *thread)
{
	return thread->fiber ? &thread->fiber->locals : &thread->locals;
}

_Noreturn void fib_win32_thread_exit(struct fib_win32_thread *thread, DWORD code)
{
	struct fib_win32_execution *left = thread->running;

	end_identity(thread);
	if (left != thread->own) {
		thread->exits = true;
		thread->code = code;
		thread->running = thread->own;
		fib_win32_execution_end(left, thread->own);
	}
	pthread_exit((void *)(uintptr_t)code);
}

void fib_win32_thread_arrived(void)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();

	if (thread->exits)
		pthread_exit((void *)(uintptr_t)thread->code);
}

/* As a thread that exits, the one that ends the process has the callbacks of its values called. Other
 * threads and suspended fibers do not. */
static void end_process(void)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();
	struct fib_win32_locals **locals = thread ? fib_win32_thread_locals(thread) : NULL;

	if (locals && *locals)
		fib_win32_locals_finish(*locals);
}

static void register_exit(void)
{
	atexit(end_process);
}

void fib_win32_thread_follow_exit(void)
{
	static pthread_once_t registered = PTHREAD_ONCE_INIT;

	pthread_once(&registered, register_exit);
}
