/* SPDX-License-Identifier: MIT */
/*
 * tally.c - count the fibers in each state
 *
 * Monitoring asks every few seconds, of programs with a million fibers each, and needs a few
 * numbers. So a record is not copied as for a list (sample.c). Four fields of its two cache lines
 * are read, with the same protocol of id and seq. A record that keeps changing counts as running.
 */
#include "service/tally.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/registry.h"
#include "layout/row.h"

#define TRIES 4
#define AHEAD 8 /* prefetch distance in records */

/* Hidden from the thread sanitizer: the race is intended, and seq detects it. */
fib_unwatched static uint16_t read_pins(const struct fiber *f)
{
	return *(const volatile uint16_t *)&f->pins;
}

struct look {
	bool running;
	uint8_t state, wait_kind;
	uint16_t pins;
};

/* False: no fiber has this record. */
static bool look_at(struct fiber *f, struct look *ret)
{
	uint64_t id, seq;
	int i;

	for (i = 0; i < TRIES; i++) {
		id = fib_observe(&f->id);
		if (!id)
			return false;
		/* pairs: record.seq */
		seq = fib_load_acquire(&f->seq);
		ret->running = seq & 1;
		ret->state = fib_load(&f->state);
		ret->wait_kind = fib_load(&f->wait_kind);
		ret->pins = read_pins(f);
		/* pairs: record.seq -- the fields were read before seq is read again. */
		fib_fence_acquire();
		/* pairs: record.owner */
		if (fib_load_acquire(&f->seq) == seq && fib_observe(&f->id) == id)
			return true;
	}
	*ret = (struct look){.running = true};
	return true;
}

void fib_tally(uint64_t index, uint64_t n, struct fib_wire_counters *ret)
{
	const uint64_t end = index + n;
	struct look look;

	for (; index < end; index++) {
		struct fiber *f = fib_registry_at(index);

		/* The record need not exist. */
		__builtin_prefetch(&f[AHEAD].seq);
		__builtin_prefetch(&f[AHEAD].id);
		if (!look_at(f, &look))
			continue;
		if (look.running)
			look.state = FIBER_RUNNING;
		if (look.state >= FIB_WIRE_STATES)
			continue;
		ret->fibers++;
		ret->states[look.state]++;
		if (look.wait_kind < FIB_WIRE_WAITS &&
		    fib_row_waits(look.state, look.wait_kind, look.running, look.pins))
			ret->waits[look.wait_kind]++;
	}
}
