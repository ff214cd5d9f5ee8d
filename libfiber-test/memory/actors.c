/* SPDX-License-Identifier: MIT */
/* actors.c - find the actor of a fiber by its number; give slots again */
#include "memory/actors.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/check.h"
#include "core/registry.h"
#include "explore/explorer.h"
#include "memory/arena.h"
#include "sched/sched.h"

#define FIBERS_MAX (1u << 20) /* fibers of a schedule that are followed */
#define SLOTS_MAX  65535u
#define LOOKS_MAX  16u /* exited fibers looked at for a slot */

static struct {
	bool on;
	struct fib_actor **by_number; /* FIBERS_MAX of them */
	uint32_t numbers;	      /* the largest number in it */
	uint32_t slots;
	const struct fib_actor **exited;
	uint32_t exits, first_exit; /* a ring of SLOTS_MAX + 1 entries */
	const struct fiber *lent;
	pthread_t lent_to;
} actors;

void fib_actors_begin(void)
{
	uint32_t i;

	if (!actors.by_number) {
		actors.by_number = fib_arena_keep(FIBERS_MAX * sizeof(struct fib_actor *));
		actors.exited = fib_arena_keep((SLOTS_MAX + 1) * sizeof(struct fib_actor *));
	}
	for (i = 0; i <= actors.numbers; i++)
		actors.by_number[i] = NULL;
	actors.numbers = actors.slots = 0;
	actors.exits = actors.first_exit = 0;
	actors.lent = NULL;
	actors.on = true;
}

void fib_actors_end(void)
{
	actors.on = false;
}

/* A slot whose last owner's end the spawner knows of; *ret_last: its last step. */
static uint32_t take_slot(const struct fib_clock *known, uint32_t *ret_last)
{
	const struct fib_actor *a;
	uint32_t i;

	for (i = 0; i < LOOKS_MAX && i < actors.exits; i++) {
		a = actors.exited[(actors.first_exit + i) % (SLOTS_MAX + 1)];
		if (fib_clock_get(known, a->slot) < a->touched)
			continue;
		actors.exited[(actors.first_exit + i) % (SLOTS_MAX + 1)] =
			actors.exited[actors.first_exit];
		actors.first_exit = (actors.first_exit + 1) % (SLOTS_MAX + 1);
		actors.exits--;
		*ret_last = fib_actor_step(a);
		return a->slot;
	}
	*ret_last = 0;
	return actors.slots < SLOTS_MAX ? actors.slots++ : SLOTS_MAX;
}

static struct fib_actor *make(uint32_t number, const struct fib_actor *spawner)
{
	struct fib_actor *a = fib_arena_take(sizeof *a);
	uint32_t last;

	*a = (struct fib_actor){.number = number};
	a->slot = take_slot(spawner ? spawner->clock : NULL, &last);
	if (a->slot == SLOTS_MAX)
		return NULL;
	a->clock = fib_clock_copy(spawner ? spawner->clock : NULL);
	fib_clock_set(&a->clock, a->slot, last + 1);
	actors.by_number[number] = a;
	if (actors.numbers < number)
		actors.numbers = number;
	return a;
}

struct fib_actor *fib_actor_of(const struct fiber *fiber)
{
	uint32_t number;

	if (!actors.on || !fiber)
		return NULL;
	number = fib_explorer_number(fiber);
	if (number >= FIBERS_MAX)
		return NULL;
	return actors.by_number[number] ? actors.by_number[number] : make(number, NULL);
}

static fib_noinline struct fib_actor *lent_self(void)
{
	if (!actors.lent || !pthread_equal(actors.lent_to, pthread_self()))
		return NULL;
	return fib_actor_of(actors.lent);
}

struct fib_actor *fib_actor_self(void)
{
	struct fiber *fiber;

	if (!actors.on)
		return NULL;
	fiber = fib_self();
	return fib_likely(fiber != NULL) ? fib_actor_of(fiber) : lent_self();
}

void fib_actor_born(const struct fiber *fiber, const struct fib_actor *spawner)
{
	const uint32_t number = fib_explorer_number(fiber);

	if (number < FIBERS_MAX)
		make(number, spawner);
}

void fib_actor_exits(const struct fib_actor *actor)
{
	actors.exited[(actors.first_exit + actors.exits++) % (SLOTS_MAX + 1)] = actor;
}

void fib_actors_lend(const struct fiber *fiber)
{
	actors.lent_to = pthread_self();
	actors.lent = actors.on ? fiber : NULL;
}

bool fib_actors_on(void)
{
	return actors.on;
}
