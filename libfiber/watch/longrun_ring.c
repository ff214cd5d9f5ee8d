/* SPDX-License-Identifier: MIT */
/*
 * longrun_ring.c - a ring of the last long runs
 *
 * There is one ring per process, for all its runtimes. The kernel provides its memory at the first
 * write: a program without long runs uses none.
 */
#include "watch/longrun_ring.h"

#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "os/os.h"

static struct {
	struct fib_longrun_event *_Atomic events;
	uint64_t recorded;
} ring;

int fib_longrun_ring_map(void)
{
	struct fib_longrun_event *none = NULL;
	size_t size = FIB_LONGRUN_EVENTS * sizeof *none;
	void *events;
	int rc;

	if (fib_load(&ring.events))
		return 0;
	rc = fib_os_map_stacks(size, &events);
	if (rc == 0 && !fib_cas(&ring.events, &none, events))
		fib_os_unmap(events, size); /* another runtime has mapped one at the same time */
	return rc;
}

static struct fib_longrun_event *slot(uint64_t number)
{
	/* pairs: longrun.ring -- mapped by the first fib_cas(). */
	return fib_load_acquire(&ring.events) + number % FIB_LONGRUN_EVENTS;
}

struct fib_longrun_event *fib_longrun_ring_add(void)
{
	struct fib_longrun_event *e = slot(ring.recorded);

	memset(e, 0, offsetof(struct fib_longrun_event, stack));
	e->number = ring.recorded++;
	return e;
}

struct fib_longrun_event *fib_longrun_ring_at(uint64_t number)
{
	if (number >= ring.recorded || ring.recorded - number > FIB_LONGRUN_EVENTS)
		return NULL;
	return slot(number);
}

void fib_longrun_ring_clear(void)
{
	ring.recorded = 0;
}

uint64_t fib_longrun_recorded(void)
{
	return ring.recorded;
}

const struct fib_longrun_event *fib_longrun_event(uint64_t number)
{
	return fib_longrun_ring_at(number);
}
