/* SPDX-License-Identifier: MIT */
/*
 * offload.c - blocking calls on a helper thread, one at a time; in place of libfiber/life/offload.c
 *
 * All fibers stand still while a call runs, so it runs at one moment of the schedule. When the
 * fiber hears of its end is a choice.
 */
#include "life/offload.h"

#include <errno.h>
#include <pthread.h>

#include <fiber/io.h>

#include "choice.h"
#include "core/hooks.h"
#include "fault.h"
#include "memory.h"
#include "os/threads.h"
#include "os/virtual.h"
#include "wait/wait.h"

struct call {
	void *(*fn)(void *);
	void *arg;
	void *value;
	const struct fiber *caller; /* NULL: a plain thread */
};

static void *run_call(void *arg)
{
	struct call *call = arg;

	struct fib_hooked hooked;

	fib_virtual_follow();
	fib_hooks_thread_began(&hooked);
	fib_memory_on_behalf_of(call->caller);
	call->value = call->fn(call->arg);
	fib_memory_on_behalf_of(NULL);
	fib_hooks_thread_ended(&hooked);
	return NULL;
}

static int run_on_thread(struct call *call)
{
	pthread_t thread;
	int rc = fib_os_thread_start(&thread, run_call, call);

	if (rc == 0)
		rc = fib_os_thread_join(thread, NULL);
	return rc;
}

int fiber_block(void *(*fn)(void *), void *arg, void **ret, int64_t deadline)
{
	struct call call = {fn, arg, NULL, fib_self()};
	int rc, begun;

	fib_choice(NULL);
	rc = fib_fault(THREAD);
	if (rc < 0)
		return rc;
	begun = fib_wait_check(deadline);
	rc = run_on_thread(&call);
	if (rc < 0)
		return rc;
	if (begun < 0)
		return begun;
	fib_choice(NULL); /* its end */
	if (ret)
		*ret = call.value;
	return 0;
}

int fib_offload_uncancellable(void *(*fn)(void *), void *arg, int64_t deadline)
{
	struct call call = {fn, arg, NULL, fib_self()};
	int rc = fib_wait_check(deadline);

	if (rc == 0)
		rc = run_on_thread(&call);
	if (rc == 0)
		fib_choice(NULL); /* its end */
	return rc;
}

unsigned fib_offload_threads(void)
{
	return 0;
}

/* A call is on the stack of its caller. */
int fib_offload_each(int (*fn)(const void *low, const void *high, void *arg), void *arg)
{
	(void)fn;
	(void)arg;
	return 0;
}

void fib_offload_lock(void)
{
}

bool fib_offload_try(void)
{
	return true;
}

void fib_offload_unlock(void)
{
}

void fib_offload_forget(void)
{
}
