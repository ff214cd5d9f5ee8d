/* SPDX-License-Identifier: MIT */
/*
 * fiber.c - threads as fibers, and fibers that are created
 *
 * A fiber is a handle: data, values and an execution (execution.h). To convert a thread is to make a
 * handle for the execution that it runs on, which is that of its own stack or, after
 * ConvertFiberToThread() in a created fiber, that of the created one.
 */
#include <fiber/win32.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "execution.h"
#include "misuse.h"
#include "thread.h"

#define STACK_SIZE ((size_t)1 << 20) /* as a program of Windows reserves if it does not say */

/* A program without fibers of libfiber is not linked with the scheduler for this question. */
#pragma weak fiber_self

static bool on_carrier(void)
{
	return fiber_self && fiber_self();
}

static struct fib_win32_fiber *new_fiber(void *data)
{
	struct fib_win32_fiber *fiber = calloc(1, sizeof *fiber);

	if (fiber)
		fiber->data = data;
	return fiber;
}

LPVOID WINAPI ConvertThreadToFiber(LPVOID lpParameter)
{
	return ConvertThreadToFiberEx(lpParameter, 0);
}

LPVOID WINAPI ConvertThreadToFiberEx(LPVOID lpParameter, DWORD dwFlags)
{
	struct fib_win32_thread *thread = fib_win32_thread();
	struct fib_win32_fiber *fiber;

	if (on_carrier())
		return fib_win32_fail(ERROR_NOT_SUPPORTED);
	if (dwFlags & ~(DWORD)FIBER_FLAG_FLOAT_SWITCH)
		return fib_win32_fail(ERROR_INVALID_PARAMETER);
	if (!thread)
		return fib_win32_fail(ERROR_NOT_ENOUGH_MEMORY);
	if (thread->fiber)
		return fib_win32_fail(ERROR_ALREADY_FIBER);
	fiber = new_fiber(lpParameter);
	if (!fiber)
		return fib_win32_fail(ERROR_NOT_ENOUGH_MEMORY);
	fiber->execution = thread->running;
	fiber->locals = thread->locals;
	thread->locals = NULL;
	thread->fiber = fiber;
	if (thread->running == thread->own) {
		fib_win32_execution_ref(thread->own);
		fib_win32_execution_open(thread->own, dwFlags & FIBER_FLAG_FLOAT_SWITCH);
	}
	return fiber;
}

BOOL WINAPI ConvertFiberToThread(void)
{
	struct fib_win32_thread *thread = fib_win32_thread();
	struct fib_win32_fiber *fiber = thread ? thread->fiber : NULL;

	if (!fiber) {
		fib_win32_fail(ERROR_ALREADY_THREAD);
		return FALSE;
	}
	thread->fiber = NULL;
	thread->locals = fiber->locals;
	/* The thread stays on the stack of a created fiber, and takes over the reference. */
	if (fiber->execution == thread->own) {
		fib_win32_execution_close(thread->own);
		fib_win32_execution_unref(thread->own);
	}
	free(fiber);
	return TRUE;
}

BOOL WINAPI IsThreadAFiber(void)
{
	return GetCurrentFiber() ? TRUE : FALSE;
}

LPVOID WINAPI GetCurrentFiber(void)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();

	return thread ? thread->fiber : NULL;
}

LPVOID WINAPI GetFiberData(void)
{
	struct fib_win32_fiber *fiber = GetCurrentFiber();

	return fiber ? fiber->data : NULL;
}

/* The first function on the stack of a created fiber. */
static void run(void *arg)
{
	struct fib_win32_fiber *fiber = arg;

	fiber->fn(fiber->data);
	/* The fiber may be a plain thread by now, and on another thread than at first. */
	fib_win32_thread_exit(fib_win32_thread_made(), 1);
}

LPVOID WINAPI CreateFiber(SIZE_T dwStackSize, LPFIBER_START_ROUTINE lpStartAddress,
			  LPVOID lpParameter)
{
	return CreateFiberEx(dwStackSize, 0, 0, lpStartAddress, lpParameter);
}

/* The number that the tools show for the fiber, 0: none. */
static uint64_t number(const struct fib_win32_fiber *fiber)
{
	return fiber && fiber->execution->shown ? fiber->execution->shown->id : 0;
}

LPVOID WINAPI CreateFiberEx(SIZE_T dwStackCommitSize, SIZE_T dwStackReserveSize, DWORD dwFlags,
			    LPFIBER_START_ROUTINE lpStartAddress, LPVOID lpParameter)
{
	const size_t reserve = dwStackReserveSize ? dwStackReserveSize : STACK_SIZE;
	struct fib_win32_fiber *fiber;
	int rc;

	if (!lpStartAddress || dwFlags & ~(DWORD)FIBER_FLAG_FLOAT_SWITCH)
		return fib_win32_fail(ERROR_INVALID_PARAMETER);
	fiber = new_fiber(lpParameter);
	if (!fiber)
		return fib_win32_fail(ERROR_NOT_ENOUGH_MEMORY);
	fiber->fn = lpStartAddress;
	rc = fib_win32_execution_new(dwStackCommitSize > reserve ? dwStackCommitSize : reserve,
				     dwFlags & FIBER_FLAG_FLOAT_SWITCH, run, fiber,
				     (uint64_t)(uintptr_t)lpStartAddress, number(GetCurrentFiber()),
				     &fiber->execution);
	if (rc == 0)
		return fiber;
	free(fiber);
	return fib_win32_fail(rc == -EINVAL ? ERROR_INVALID_PARAMETER : ERROR_NOT_ENOUGH_MEMORY);
}

/* Abort if the thread cannot switch to the fiber, which is not its own. */
static void check_target(const struct fib_win32_thread *thread, const struct fib_win32_fiber *to)
{
	const struct fib_win32_execution *e;

	if (!thread || !thread->fiber)
		fib_win32_misuse("SwitchToFiber",
				 "the thread is no fiber: call ConvertThreadToFiber first");
	if (!to)
		fib_win32_misuse("SwitchToFiber", "the fiber is NULL");
	e = to->execution;
	if (__atomic_load_n(&e->over, __ATOMIC_ACQUIRE))
		fib_win32_misuse("SwitchToFiber", "the fiber's thread has exited");
	if (e->thread && e->thread != thread)
		fib_win32_misuse("SwitchToFiber",
				 "the fiber is another thread, and runs on that thread only");
	if (fib_win32_execution_busy(e))
		fib_win32_misuse("SwitchToFiber", "another thread runs the fiber");
}

VOID WINAPI SwitchToFiber(LPVOID lpFiber)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();
	struct fib_win32_execution *from;
	struct fib_win32_fiber *to = lpFiber;

	if (to && thread && to == thread->fiber)
		return;
	check_target(thread, to);
	from = thread->running;
	thread->fiber = to;
	thread->running = to->execution;
	fib_win32_execution_switch(from, to->execution);
	fib_win32_thread_arrived();
}

VOID WINAPI DeleteFiber(LPVOID lpFiber)
{
	struct fib_win32_thread *thread = fib_win32_thread_made();
	struct fib_win32_fiber *fiber = lpFiber;

	if (!fiber)
		fib_win32_misuse("DeleteFiber", "the fiber is NULL");
	if (thread && thread->fiber == fiber)
		fib_win32_thread_exit(thread, 1);
	if (!__atomic_load_n(&fiber->execution->over, __ATOMIC_ACQUIRE) &&
	    fib_win32_execution_busy(fiber->execution))
		fib_win32_misuse("DeleteFiber", "another thread runs the fiber");
	fib_win32_fiber_end(fiber);
}

VOID WINAPI ExitThread(DWORD dwExitCode)
{
	struct fib_win32_thread *thread = fib_win32_thread();

	if (on_carrier())
		fib_win32_misuse("ExitThread", "in a fiber of libfiber, whose thread is shared");
	if (!thread)
		pthread_exit((void *)(uintptr_t)dwExitCode);
	fib_win32_thread_exit(thread, dwExitCode);
}
