/* SPDX-License-Identifier: MIT */
/*
 * steal.c - take runnable fibers from other carriers
 *
 * Fibers that use the same objects run faster on one carrier, and faster than on two if their work
 * is small. So a thief takes only fibers that their carrier will not run soon. It looks at a carrier
 * at least twice, about a microsecond apart, and takes
 *
 *	from the run queue, when no fiber was taken from it in between, or when it is longer than
 *	LAG_ROUNDS such times,
 *	fibers that have not started, when there are more than LAG_ROUNDS times as many as the
 *	carrier has switched in between,
 *	the fiber woken last, when the carrier has not switched in between.
 *
 * A carrier that last ran on the thief's own CPU cannot run while the thief looks, so it seems to
 * stand still. It is looked at only when the thief has slept since its last look.
 */
#include "sched/steal.h"

#include "base/rand.h"
#include "os/os.h"
#include "probe.h"
#include "sched/sched.h"

#define LAG_ROUNDS 5

fib_unwatched static unsigned picks_of(const struct fib_carrier *c)
{
	return *(const volatile unsigned *)&c->picks;
}

void fib_steal_begin(struct fib_carrier *c)
{
	const struct fib_sched *s = c->sched;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		c->sights[i] = (struct fib_sight){fib_load(&s->carriers[i].queue.head) - 1,
						  picks_of(&s->carriers[i]) + 1};
}

/*
 * How many fibers the victim has left since the last look, one too many if it has looked outside in
 * between. *picks: at the last look.
 */
static unsigned switches(const struct fib_carrier *victim, unsigned *picks)
{
	const unsigned now = picks_of(victim), before = *picks;

	*picks = now;
	return now <= before ? before - now : before + FIB_LOOK_EVERY - now + 1;
}

/* Whether the fibers in the queue wait for longer than a few looks. *head: at the last look. */
static bool lags(const struct fib_runqueue *q, uint32_t *head)
{
	const uint32_t now = fib_load_acquire(&q->head), before = *head;
	const uint32_t moved = now - before, length = fib_load_acquire(&q->tail) - now;

	*head = now;
	return (length && moved == 0) || length > LAG_ROUNDS * moved || fib_load(&q->overflowing);
}

static struct fiber *steal_from(struct fib_carrier *c, struct fib_carrier *victim, bool patient)
{
	struct fib_sight *sight = &c->sights[victim->index];
	const unsigned moved = switches(victim, &sight->picks);
	struct fiber *fiber = NULL;

	if (lags(&victim->queue, &sight->head))
		fiber = fib_runqueue_steal(&c->queue, &victim->queue);
	if (!fiber && fib_load(&victim->start_queue.count) > LAG_ROUNDS * moved)
		fiber = fib_start_queue_steal(&c->start_queue, &c->queue, &victim->start_queue);
	if (!fiber && patient && !moved && fib_load(&victim->woken))
		fiber = fib_swap(&victim->woken, NULL);
	return fiber;
}

/* Whether the victim was last seen on this CPU. */
static bool shares_cpu(const struct fib_carrier *c, const struct fib_carrier *victim)
{
	const uint32_t cpu = fib_load(&c->cpu);

	return cpu != FIB_OS_NO_CPU && fib_load(&victim->cpu) == cpu;
}

struct fiber *fib_steal(struct fib_carrier *c, bool patient, bool rested, bool *ret_looked)
{
	struct fib_sched *s = c->sched;
	const uint32_t start = fib_rand_below(&c->rand, s->carrier_count);
	unsigned i;

	*ret_looked = false;
	for (i = 0; i < s->carrier_count; i++) {
		struct fib_carrier *victim = &s->carriers[(start + i) % s->carrier_count];
		struct fiber *fiber;

		if (victim == c || (!rested && shares_cpu(c, victim)))
			continue;
		*ret_looked = true;
		fiber = steal_from(c, victim, patient);
		if (!fiber)
			continue;
		fib_probe3(steal, c->index, victim->index, fiber->id);
		if (fib_records(c))
			fib_recorder_stole(c, fiber, victim->index);
		fib_counters_raise(&c->counters.steals, 1);
		return fiber;
	}
	return NULL;
}
