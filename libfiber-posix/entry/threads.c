/* SPDX-License-Identifier: MIT */
/*
 * threads.c - pthread_create(3), and the calls that take a pthread_t
 *
 * A thread is a fiber where fpx_thread_adopts(): in a program that was started by fiberize(1). What is
 * done to a thread goes by its pthread_t, whoever made it. In the shared library alone, as pthreads.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include <fiber/time.h>

#include "entry/entry.h"
#include "system/native.h"
#include "system/system.h"
#include "threads/deadline.h"
#include "threads/thread.h"

FPX_ENTRY int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *),
			     void *arg)
{
	return fpx_thread_adopts() && !fpx_is_libfiber(FPX_CALLER)
		       ? fpx_thread_create(ret, attr, start, arg)
		       : fpx_native.pthread_create(ret, attr, start, arg);
}

FPX_ENTRY int pthread_tryjoin_np(pthread_t thread, void **ret)
{
	return fpx_thread_is(thread) ? fpx_thread_join(thread, ret, 0)
				     : fpx_native.pthread_tryjoin_np(thread, ret);
}

static int join_until(pthread_t thread, void **ret, clockid_t clock, const struct timespec *at)
{
	int64_t deadline = FIBER_FOREVER;
	const int rc = at ? fpx_deadline_at(clock, at, &deadline) : 0;

	return rc ? rc : fpx_thread_join(thread, ret, deadline);
}

FPX_ENTRY int pthread_timedjoin_np(pthread_t thread, void **ret, const struct timespec *at)
{
	return fpx_thread_is(thread) ? join_until(thread, ret, CLOCK_REALTIME, at)
				     : fpx_native.pthread_timedjoin_np(thread, ret, at);
}

FPX_ENTRY int pthread_clockjoin_np(pthread_t thread, void **ret, clockid_t clock,
				   const struct timespec *at)
{
	return fpx_thread_is(thread) ? join_until(thread, ret, clock, at)
				     : fpx_native.pthread_clockjoin_np(thread, ret, clock, at);
}

FPX_ENTRY int pthread_detach(pthread_t thread)
{
	return fpx_thread_is(thread) ? fpx_thread_detach(thread)
				     : fpx_native.pthread_detach(thread);
}

FPX_ENTRY __attribute__((noreturn)) void pthread_exit(void *value)
{
	if (fpx_thread_can_exit())
		fpx_thread_exit(value);
	fpx_native.pthread_exit(value);
	__builtin_unreachable();
}

/* -- cancellation -- */

FPX_ENTRY int pthread_cancel(pthread_t thread)
{
	return fpx_thread_is(thread) ? fpx_thread_cancel(thread)
				     : fpx_native.pthread_cancel(thread);
}

FPX_ENTRY int pthread_setcancelstate(int state, int *before)
{
	return fpx_own_tls ? fpx_thread_cancel_state(state, before)
			   : fpx_native.pthread_setcancelstate(state, before);
}

FPX_ENTRY void pthread_testcancel(void)
{
	if (fpx_own_tls)
		fpx_thread_test_cancel();
	else
		fpx_native.pthread_testcancel();
}

/* -- names and numbers -- */

FPX_ENTRY pthread_t pthread_self(void)
{
	return !fpx_own_tls && fpx_is_fiber(FPX_CALLER) ? fpx_thread_of_fiber(fiber_self())
							: fpx_native.pthread_self();
}

FPX_ALIAS(pthread_self) thrd_t thrd_current(void);

#define NAME_SIZE 16 /* of a thread, with its 0 */

FPX_ENTRY int pthread_setname_np(pthread_t thread, const char *name)
{
	struct fiber *fiber;

	if (!fpx_thread_is(thread))
		return fpx_native.pthread_setname_np(thread, name);
	if (strlen(name) >= NAME_SIZE)
		return ERANGE;
	fiber = fpx_thread_fiber(thread);
	if (!fiber)
		return ESRCH;
	fiber_set_name(fiber, name);
	return 0;
}

FPX_ENTRY int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
	struct fiber *fiber;
	const char *own;

	if (!fpx_thread_is(thread))
		return fpx_native.pthread_getname_np(thread, name, size);
	fiber = fpx_thread_fiber(thread);
	if (!fiber)
		return ESRCH;
	own = fiber_name(fiber);
	/* A thread without a name has its program's. */
	if (!own[0])
		own = program_invocation_short_name;
	if (size < NAME_SIZE)
		return ERANGE;
	strncpy(name, own, NAME_SIZE - 1);
	name[NAME_SIZE - 1] = 0;
	return 0;
}

FPX_ENTRY int pthread_getattr_np(pthread_t thread, pthread_attr_t *ret)
{
	return fpx_thread_is(thread) ? fpx_thread_attributes(thread, ret)
				     : fpx_native.pthread_getattr_np(thread, ret);
}

FPX_ENTRY int pthread_getcpuclockid(pthread_t thread, clockid_t *ret)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_getcpuclockid(thread, ret);
	return ENOENT;
}

/* -- scheduling: that of the carriers, which stays -- */

FPX_ENTRY int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cpus)
{
	return fpx_thread_is(thread) ? 0 : fpx_native.pthread_setaffinity_np(thread, size, cpus);
}

FPX_ENTRY int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *cpus)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_getaffinity_np(thread, size, cpus);
	return sched_getaffinity(getpid(), size, cpus) < 0 ? errno : 0;
}

FPX_ENTRY int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_setschedparam(thread, policy, param);
	return policy == SCHED_FIFO || policy == SCHED_RR ? EPERM : 0;
}

FPX_ENTRY int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_getschedparam(thread, policy, param);
	*policy = SCHED_OTHER;
	*param = (struct sched_param){.sched_priority = 0};
	return 0;
}

FPX_ENTRY int pthread_setschedprio(pthread_t thread, int priority)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_setschedprio(thread, priority);
	return priority ? EPERM : 0;
}

/* -- C11: the C library does not call those above by name -- */

/* What thrd_create() starts returns an int, in the register whose lower half is that of a pointer. */
FPX_ENTRY int thrd_create(thrd_t *ret, thrd_start_t start, void *arg)
{
	int rc;

	if (!fpx_thread_adopts())
		return fpx_native.thrd_create(ret, start, arg);
	rc = fpx_thread_create(ret, NULL, (void *(*)(void *))(void (*)(void))start, arg);
	return rc == 0 ? thrd_success : rc == EAGAIN ? thrd_nomem : thrd_error;
}

FPX_ENTRY int thrd_detach(thrd_t thread)
{
	return pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}

FPX_ENTRY __attribute__((noreturn)) void thrd_exit(int value)
{
	pthread_exit((void *)(intptr_t)value);
}
