/* SPDX-License-Identifier: MIT */
/* cmd_counters.c - send counters of the whole process, for monitoring */
#include "base/compiler.h"
#include "core/registry.h"
#include "os/features.h"
#include "os/os.h"
#include "service/answer.h"
#include "service/command.h"
#include "service/kept.h"
#include "service/tally.h"
#include "stack/pool.h"
#include "watch/longrun.h"
#include "watch/tick.h"

_Static_assert(sizeof(((struct fib_wire_counters *)0)->features) == FIB_OS_FEATURES_SIZE,
	       "the text fits");

#define PIECE 256u /* records; some tens of ns each if they are in no cache */

enum { STAGE_FIBERS, STAGE_MEMORY, STAGE_END };

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	(void)payload;
	(void)length;
	peer->cursor.committed = fib_registry_committed();
	peer->cursor.began = fib_os_now();
	return true;
}

static void count_stacks(struct fib_wire_counters *c)
{
	struct fib_stack_totals stacks;

	fib_stack_count(&stacks);
	c->stacks = stacks.made;
	c->stacks_free = stacks.free;
	c->stacks_cold = stacks.cold;
	c->stacks_wanted = stacks.promised;
	c->stack_bytes = stacks.bytes;
	c->trimmed = stacks.trimmed;
}

static void finish(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *cursor = &peer->cursor;
	struct fib_wire_counters *c = &cursor->counters;

	c->now = fib_os_now();
	c->service_cpu = fib_os_thread_cpu();
	if (c->service_cpu < 0)
		c->service_cpu = 0;
	c->service_began = fib_answer_began();
	c->records = cursor->committed;
	c->record_size = sizeof(struct fiber);
	count_stacks(c);
	fib_os_features(c->features);
	c->watched = fib_tick_long_run() > 0;
	fib_tick_lock();
	c->slow = fib_longrun_recorded();
	fib_tick_unlock();
	cursor->end.total = cursor->end.shown = c->fibers;
	cursor->end.sampled_ns = c->now - cursor->began;
	fib_answer_process(peer, now);
	fib_answer_layout(peer);
	fib_peer_frame(peer, FIB_WIRE_COUNTERS_ARE, c, sizeof *c);
	fib_answer_end(peer);
}

/* Count some more. True: all have been counted. */
static bool count_fibers(struct fib_cursor *c)
{
	uint64_t n = c->committed - c->next;

	if (n > PIECE)
		n = PIECE;
	fib_tally(c->next, n, &c->counters);
	c->next += n;
	return c->next == c->committed;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;
	int64_t resident;

	switch (c->stage) {
	case STAGE_FIBERS:
		if (count_fibers(c))
			c->stage = STAGE_MEMORY;
		return false;
	case STAGE_MEMORY:
		resident = fib_os_resident(fib_kept_file(FIB_KEPT_STATM));
		c->counters.resident = resident < 0 ? 0 : (uint64_t)resident;
		c->stage = STAGE_END;
		return false;
	default:
		finish(peer, now);
		return true;
	}
}

const struct fib_command fib_cmd_counters = {
	.type = FIB_WIRE_COUNTERS,
	.name = "counters",
	.begin = begin,
	.step = step,
};
