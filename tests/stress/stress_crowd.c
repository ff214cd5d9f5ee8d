/* SPDX-License-Identifier: MIT */
/*
 * stress_crowd.c - more runnable fibers than a carrier's ring holds, and an observer of all of them
 *
 * Fibers with every flag start, yield and exit in crowds, so rings overflow, thieves steal from
 * them, and records and stacks are reused. An observer using introspect.h must see each fiber as it
 * was at one moment: two kinds of fibers each have their own function, name and semaphore, and no
 * fiber ever has a mixture of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/stress/stress.h"

struct crowd {
	struct fiber_waitgroup left;
	_Atomic unsigned turns;
};

#define MOST   700u
#define ROUNDS 3u

static void *take_turns(void *arg)
{
	struct crowd *c = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		fiber_yield();
		c->turns++;
	}
	fiber_waitgroup_done(&c->left);
	return NULL;
}

static void gather(struct stress_actor *a)
{
	static const unsigned flags[] = {0, 0, 0, FIBER_BOUND, FIBER_IDLE, FIBER_BACKGROUND};
	struct fiber_attr attr = {
		.size = sizeof attr, .name = "one of many", .stack_size = 16 << 10};

	while (stress_on(a, "waits for a crowd")) {
		struct crowd crowd = {.turns = 0};
		const unsigned n = 1 + stress_rand(a, stress_rand(a, 4) ? 40 : MOST);
		unsigned i;

		fiber_waitgroup_add(&crowd.left, n);
		for (i = 0; i < n; i++) {
			attr.flags = flags[stress_rand(a, 6)] | FIBER_DETACHED;
			if (fiber_runtime_spawn(stress_runtime(), &attr, take_turns, &crowd, NULL) <
			    0)
				stress_wrong("no fiber can be spawned");
		}
		fiber_waitgroup_wait(&crowd.left, FIBER_FOREVER);
		if (crowd.turns != n * ROUNDS)
			stress_wrong("%u fibers had %u turns", n, crowd.turns);
	}
}

static void begin_crowd(void)
{
	stress_add("gather", 0, 3, gather, NULL);
	stress_add("gather-thread", STRESS_THREAD, 1, gather, NULL);
}

const struct stress_theme stress_crowd = {"crowd", begin_crowd, NULL};

/* -- the observer -- */

static struct fiber_sem oaks, pines;
static int nowhere; /* /dev/null */

static void *grow(struct fiber_sem *sem)
{
	fiber_yield();
	fiber_sem_wait(sem, FIBER_FOREVER);
	return NULL;
}

static void *oak(void *arg)
{
	grow(&oaks);
	return arg;
}

/* Different code, or the linker might merge the two functions. */
static void *pine(void *arg)
{
	fiber_yield();
	return grow(&pines) ? arg : NULL;
}

static void plant(struct stress_actor *a)
{
	const bool is_oak = stress_number(a) % 2;

	while (stress_on(a, "plants")) {
		struct fiber *f[8];
		unsigned i;

		for (i = 0; i < 8; i++)
			stress_spawn(is_oak ? "oak" : "pine", is_oak ? oak : pine, NULL, &f[i]);
		stress_pause(a);
		for (i = 0; i < 8; i++)
			fiber_sem_post(is_oak ? &oaks : &pines);
		for (i = 0; i < 8; i++)
			fiber_join(f[i], NULL, FIBER_FOREVER);
	}
}

static int look_at(const struct fiber_info *info, void *arg)
{
	uint64_t *last = arg;
	const bool is_oak = info->entry == (const void *)(uintptr_t)oak;

	if (!info->id)
		stress_wrong("a fiber without an id");
	*last = info->id;
	if (!is_oak && info->entry != (const void *)(uintptr_t)pine)
		return 0;
	/* A running fiber may be seen in any state. */
	if (info->state == FIBER_RUNNING)
		return 0;
	if (strcmp(info->name, is_oak ? "oak" : "pine") != 0)
		stress_wrong("fiber %llu is called \"%s\"", (unsigned long long)info->id,
			     info->name);
	if (!strcmp(info->wait_kind, "sem") && info->wait_object != (is_oak ? &oaks : &pines))
		stress_wrong("fiber %llu \"%s\" waits for another's semaphore",
			     (unsigned long long)info->id, info->name);
	return 0;
}

static void look(struct stress_actor *a)
{
	while (stress_on(a, "looks at all fibers")) {
		struct fiber_snapshot *snapshot;
		struct fiber_info info;
		uint64_t last = 0;

		switch (stress_rand(a, 3)) {
		case 0:
			fiber_foreach(stress_rand(a, 2) ? stress_runtime() : NULL, look_at, &last);
			break;
		case 1:
			if (fiber_snapshot(stress_runtime(), &snapshot) < 0)
				stress_wrong("no memory for a snapshot");
			while (fiber_snapshot_next(snapshot, &info))
				look_at(&info, &last);
			fiber_snapshot_free(snapshot);
			break;
		default:
			if (fiber_dump(nowhere) < 1)
				stress_wrong("fiber_dump saw nobody");
			break;
		}
		stress_pause(a);
	}
}

static void begin_look(void)
{
	memset(&oaks, 0, sizeof oaks);
	memset(&pines, 0, sizeof pines);
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	stress_add("plant", 0, 6, plant, NULL);
	stress_add("look", 0, 1, look, NULL);
	stress_add("look-thread", STRESS_THREAD, 1, look, NULL);
}

static void check_look(void)
{
	close(nowhere);
}

const struct stress_theme stress_look = {"look", begin_look, check_look};
