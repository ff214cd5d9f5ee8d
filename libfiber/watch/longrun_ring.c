/* SPDX-License-Identifier: MIT */
/*
 * longrun_ring.c - a ring of the last long runs, and the message about them
 *
 * There is one ring per process, for all its runtimes. The kernel provides its memory at the first
 * write: a program without long runs uses none.
 */
#include "watch/longrun_ring.h"

#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/log.h"
#include "os/os.h"

#define REPORT_EVERY INT64_C(1000000000)

static struct {
	struct fib_longrun_event *_Atomic events;
	uint64_t recorded;
	uint64_t reported; /* value of recorded at the last printed line */
	int64_t reported_at;
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
	ring.recorded = ring.reported = 0;
}

uint64_t fib_longrun_recorded(void)
{
	return ring.recorded;
}

const struct fib_longrun_event *fib_longrun_event(uint64_t number)
{
	return fib_longrun_ring_at(number);
}

/* The newest event that has not been printed. Waits while pinned are printed by pinned.c. */
static const struct fib_longrun_event *newest(void)
{
	uint64_t number;

	for (number = ring.recorded; number > ring.reported; number--) {
		const struct fib_longrun_event *e = fib_longrun_ring_at(number - 1);

		if (!e || e->doing != FIB_LONGRUN_WAITS)
			return e;
	}
	ring.reported = ring.recorded;
	return NULL;
}

void fib_longrun_report(int64_t now)
{
	static const char *const doing[] = {"computing", "in a system call", "waiting for memory",
					    "waiting while pinned"};
	const struct fib_longrun_event *e;
	char name[FIB_LOG_NAME];

	if (ring.recorded == ring.reported || now - ring.reported_at < REPORT_EVERY)
		return;
	e = newest();
	if (!e || !fib_os_may_print())
		return;
	fib_log("fiber %llu %s holds carrier %u for %llu ms and more, %s%s (%llu since the "
		"last "
		"line)",
		(unsigned long long)e->fiber, fib_log_name(name, e->name), e->carrier,
		(unsigned long long)(e->duration / 1000000), doing[e->doing],
		fib_longrun_astray(e) ? ", its stack pointer is outside its stack" : "",
		(unsigned long long)(ring.recorded - ring.reported));
	ring.reported = ring.recorded;
	ring.reported_at = now;
}
