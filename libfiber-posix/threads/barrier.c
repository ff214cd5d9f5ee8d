/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - pthread_barrier_t between fibers and threads
 *
 * A barrier is initialised by a call, never statically, so its contents are this library's. One that
 * processes share is the C library's, and so is one that was initialised without calling this library:
 * `ours` is in bytes that the C library does not use.
 *
 * The last to arrive begins the next round and wakes the others, which look at the number of the
 * round. A barrier may be destroyed once a wait has returned. So pthread_barrier_destroy(3) waits until
 * the last one has left.
 */
#include "threads/barrier.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "threads/lot.h"
#include "system/system.h"

struct barrier {
	_Atomic unsigned arrived, round, inside;
	unsigned count;
	unsigned unused[2];
	unsigned ours;
};

#define OURS 0x66696261u

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "there is room");

static struct barrier *of(pthread_barrier_t *barrier)
{
	return (struct barrier *)barrier;
}

bool fpx_barrier_kept(pthread_barrier_t *barrier)
{
	return of(barrier)->ours == OURS;
}

int fpx_barrier_init(pthread_barrier_t *barrier, unsigned count)
{
	if (!count)
		return EINVAL;
	*of(barrier) = (struct barrier){.count = count, .ours = OURS};
	return 0;
}

struct round {
	struct barrier *barrier;
	unsigned number;
};

static bool still_open(void *arg)
{
	const struct round *r = arg;

	return r->barrier->round == r->number;
}

static void wait_for_others(struct barrier *barrier, unsigned number)
{
	struct round round = {barrier, number};
	const struct fiber_lot_wait wait = {.address = barrier,
					    .kind = FIB_WAIT_PTHREAD_BARRIER,
					    .still = still_open,
					    .arg = &round};

	while (still_open(&round) && fpx_lot_wait(&wait, FIBER_FOREVER) != -EDEADLK)
		;
	/* A pinned fiber whose policy refuses waits has no other way. */
	while (still_open(&round))
		fpx_system.sched_yield();
}

int fpx_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *const b = of(barrier);
	const unsigned number = b->round;
	bool last;

	b->inside++;
	last = ++b->arrived == b->count;
	if (last) {
		b->arrived = 0;
		/* pairs: lot.meet -- a full barrier. */
		b->round++;
		fiber_lot_wake(b, SIZE_MAX);
	} else {
		wait_for_others(b, number);
	}
	b->inside--;
	return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int fpx_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *const b = of(barrier);

	if (b->arrived)
		return EBUSY;
	while (b->inside) {
		if (!fiber_self() || fiber_yield() < 0)
			fpx_system.sched_yield();
	}
	b->ours = 0;
	return 0;
}
