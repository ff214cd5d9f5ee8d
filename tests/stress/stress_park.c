/* SPDX-License-Identifier: MIT */
/*
 * stress_park.c - tokens are neither lost nor made
 *
 * Pairs of fibers hand each other the turn, so each park must return for exactly one unpark. Boxes:
 * an actor that puts something into a box unparks its owner, who must wake and see it, amid
 * deadlines, cancellations and several concurrent unparks.
 */
#include <string.h>

#include "tests/stress/stress.h"

#define PAIRS 6
#define BOXES 12

static struct pair {
	struct fiber *_Atomic side[2];
	unsigned turn;		/* plain: accessed in turns */
	bool over;		/* plain */
	_Atomic unsigned sides; /* sides handed out */
} pairs[PAIRS];

static struct box {
	_Atomic int lock;
	struct fiber *owner; /* under the lock: the handle is valid */
	_Atomic uint64_t put;
	_Atomic uint64_t taken;
} boxes[BOXES];

static void take_turns(struct stress_actor *a)
{
	struct pair *p = stress_arg(a);
	const unsigned me = p->sides++ % 2;
	bool first = me == 0;

	p->side[me] = fiber_self();
	while (!p->side[!me]) {
		stress_at(a, "the other side begins");
		fiber_yield();
	}
	for (;; first = false) {
		bool on;

		stress_at(a, "fiber_park, for its turn");
		if (!first && (fiber_park(FIBER_FOREVER) < 0 || (p->turn != me && !p->over)))
			stress_wrong("fiber_park returned, and it is the other's turn");
		on = stress_on(a, "has its turn");
		if (p->over)
			return;
		p->over = !on;
		p->turn = !me;
		fiber_unpark(p->side[!me]);
		if (!on)
			return;
	}
}

static void look_into_box(struct stress_actor *a)
{
	struct box *b = stress_arg(a);

	stress_guard(&b->lock);
	b->owner = fiber_self();
	stress_unguard(&b->lock);
	while (stress_on(a, "fiber_park, for its box")) {
		const uint64_t put = b->put;

		if (put != b->taken) {
			b->taken = put;
			stress_pause(a);
		} else {
			stress_expect(fiber_park(stress_deadline(a)), "fiber_park");
		}
	}
	stress_guard(&b->lock);
	b->owner = NULL;
	stress_unguard(&b->lock);
}

static void fill_boxes(struct stress_actor *a)
{
	while (stress_on(a, "fiber_unpark")) {
		struct box *b = &boxes[stress_rand(a, BOXES)];

		stress_guard(&b->lock);
		b->put++;
		if (b->owner)
			fiber_unpark(b->owner);
		stress_unguard(&b->lock);
		stress_pause(a);
	}
}

static void begin(void)
{
	unsigned i;

	memset(pairs, 0, sizeof pairs);
	memset(boxes, 0, sizeof boxes);
	for (i = 0; i < PAIRS; i++)
		stress_add("park-turns", 0, 2, take_turns, &pairs[i]);
	for (i = 0; i < BOXES; i++)
		stress_add("park", i % 3 ? 0 : STRESS_MORTAL, 1, look_into_box, &boxes[i]);
	stress_add("unpark", STRESS_SERVER, 2, fill_boxes, NULL);
	stress_add("unpark-thread", STRESS_SERVER | STRESS_THREAD, 2, fill_boxes, NULL);
}

const struct stress_theme stress_park = {"park", begin, NULL};
