/* SPDX-License-Identifier: MIT */
/*
 * cond.c - pthread_cond_t between fibers and threads
 *
 * A fiber waits in libfiber's lot. A thread waits in the C library, so that pthread_cancel(3) finds it
 * there. But the C library unlocks the mutex without calling this library, and a fiber that waits for
 * it would not be woken. So the thread waits with another mutex, its gate: it locks the gate, unlocks
 * the mutex, and waits with the gate, which the C library unlocks. The C library does not mind
 * different mutexes. The gates are of all conditions with the same hash.
 *
 * label: cond.gate -- a thread counts itself at the gate while it has the caller's mutex, or before
 * that. Who signals after it has seen what the mutex protects sees the count. It locks the gate before
 * the signal: then the thread is in the queue of the C library.
 *
 * A fiber joins the lot before it gives the mutex up, for the same reason.
 *
 * A signal wakes a fiber and a thread, if both wait: POSIX lets it wake more than one.
 */
#include "threads/cond.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "threads/lot.h"
#include "system/native.h"
#include "threads/deadline.h"
#include "threads/hash.h"
#include "threads/mutex.h"
#include "threads/thread.h"

#define GATES_LOG2 6u
#define SHARED	   1u /* in __wrefs */
#define MONOTONIC  2u

static struct gate {
	pthread_mutex_t mutex; /* the C library's */
	_Atomic unsigned threads;
} __attribute__((aligned(64))) gates[1u << GATES_LOG2];

static struct gate *gate_of(const pthread_cond_t *cond)
{
	return &gates[fpx_hash(cond, GATES_LOG2)];
}

/* The threads of the parent do not wait in a child. */
static void forget(void)
{
	memset(gates, 0, sizeof gates);
}

__attribute__((constructor(102))) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

bool fpx_cond_kept(const pthread_cond_t *cond, const pthread_mutex_t *mutex)
{
	return fpx_mutex_kept(mutex) && !(cond->__data.__wrefs & SHARED);
}

static clockid_t clock_of(const pthread_cond_t *cond)
{
	return cond->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/* -- fibers -- */

struct given {
	pthread_mutex_t *mutex;
	unsigned count;
	bool done;
};

static void give_up(void *arg)
{
	struct given *given = arg;

	given->count = fpx_mutex_give_up(given->mutex);
	given->done = true;
}

/*
 * A thread that is a fiber ends here if it was cancelled. If a signal has interrupted it, it wakes
 * without a signal of the condition. Any other fiber goes on to wait when it is cancelled: its caller
 * waits in a loop, and does not expect an error.
 */
static int wait_in_lot(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline)
{
	struct given given = {.mutex = mutex};
	const struct fiber_lot_wait wait = {.address = cond,
					    .kind = FIB_WAIT_PTHREAD_COND,
					    .cancellable = fpx_thread_can_stop(),
					    .queued = give_up,
					    .arg = &given};
	const int rc = fpx_lot_wait(&wait, deadline);

	if (given.done)
		fpx_mutex_regain(mutex, given.count);
	if (rc != -ECANCELED)
		return -rc;
	fpx_thread_test_cancel();
	return 0;
}

/* -- threads -- */

struct passage {
	struct gate *gate;
	struct given given;
};

/* Also when the thread is cancelled: it has the mutex again before its cleanup handlers run. */
static void leave(void *arg)
{
	struct passage *passage = arg;

	fpx_native.pthread_mutex_unlock(&passage->gate->mutex);
	passage->gate->threads--;
	fpx_mutex_regain(passage->given.mutex, passage->given.count);
}

static int wait_at(pthread_cond_t *cond, struct gate *gate, const clockid_t *clock,
		   const struct timespec *at)
{
	if (!at)
		return fpx_native.pthread_cond_wait(cond, &gate->mutex);
	if (clock)
		return fpx_native.pthread_cond_clockwait(cond, &gate->mutex, *clock, at);
	return fpx_native.pthread_cond_timedwait(cond, &gate->mutex, at);
}

static int wait_at_gate(pthread_cond_t *cond, pthread_mutex_t *mutex, const clockid_t *clock,
			const struct timespec *at)
{
	struct passage passage = {.gate = gate_of(cond), .given = {.mutex = mutex}};
	int rc;

	/* pairs: cond.gate */
	passage.gate->threads++;
	fpx_native.pthread_mutex_lock(&passage.gate->mutex);
	give_up(&passage.given);
	pthread_cleanup_push(leave, &passage);
	rc = wait_at(cond, passage.gate, clock, at);
	pthread_cleanup_pop(1);
	return rc;
}

/* -- both -- */

int fpx_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const clockid_t *clock,
		  const struct timespec *at)
{
	int64_t deadline;

	if (fpx_deadline_at(clock ? *clock : clock_of(cond), at, &deadline) != 0)
		return EINVAL;
	if (fpx_mutex_refuses(mutex))
		return EPERM;
	return fiber_self() ? wait_in_lot(cond, mutex, deadline)
			    : wait_at_gate(cond, mutex, clock, at);
}

static void wait_for_gate(struct gate *gate)
{
	fpx_native.pthread_mutex_lock(&gate->mutex);
	fpx_native.pthread_mutex_unlock(&gate->mutex);
}

static void wake(pthread_cond_t *cond, size_t most, int (*system)(pthread_cond_t *))
{
	struct gate *gate = gate_of(cond);

	/* pairs: lot.meet, cond.gate */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (fpx_lot_occupied())
		fiber_lot_wake(cond, most);
	if (gate->threads)
		wait_for_gate(gate);
	/* Without a waiter in the C library this is a comparison. */
	system(cond);
}

int fpx_cond_signal(pthread_cond_t *cond)
{
	wake(cond, 1, fpx_native.pthread_cond_signal);
	return 0;
}

int fpx_cond_broadcast(pthread_cond_t *cond)
{
	wake(cond, SIZE_MAX, fpx_native.pthread_cond_broadcast);
	return 0;
}
