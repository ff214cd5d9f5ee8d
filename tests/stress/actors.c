/* SPDX-License-Identifier: MIT */
/*
 * actors.c - the actors of a run and what each can call
 *
 * A mortal has a keeper: a fiber that repeatedly spawns it, cancels it after a while and joins it.
 * The steps of all lives are counted for the actor. The keeper counts no steps, so it cannot hide a
 * life that hangs.
 */
#include "tests/stress/actors.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACTORS 512
#define THEMES 32

struct troupe {
	const struct stress_theme *theme;
	_Atomic unsigned clients; /* clients that have not ended */
};

struct stress_actor {
	char name[32];
	struct troupe *troupe;
	stress_body *body;
	void *arg;
	unsigned flags;
	uint64_t rand; /* used only by the actor */
	struct fiber *fiber;
	pthread_t thread;
	_Atomic uint64_t steps;
	const char *_Atomic what;
	_Atomic uint64_t who; /* fiber id or thread id */
	_Atomic bool ended;
	uint64_t seen; /* used only by the watcher */
	unsigned still;
};

static struct {
	struct fiber_runtime *rt;
	uint64_t seed;
	struct stress_actor actors[ACTORS];
	unsigned count;
	struct troupe troupes[THEMES];
	unsigned troupe_count;
	_Atomic bool stop;
} show;

/* -- called by an actor -- */

void *stress_arg(const struct stress_actor *a)
{
	return a->arg;
}

unsigned stress_number(const struct stress_actor *a)
{
	return (unsigned)(a - show.actors);
}

void stress_at(struct stress_actor *a, const char *what)
{
	a->what = what;
	a->steps++;
}

static bool over(const struct stress_actor *a)
{
	return show.stop && (!(a->flags & STRESS_SERVER) || !a->troupe->clients);
}

bool stress_on(struct stress_actor *a, const char *what)
{
	stress_at(a, what);
	if (a->flags & STRESS_MORTAL && (fiber_cancelled() || stress_rand(a, 64) == 0))
		return false;
	return !over(a);
}

unsigned stress_rand(struct stress_actor *a, unsigned n)
{
	a->rand ^= a->rand << 13;
	a->rand ^= a->rand >> 7;
	a->rand ^= a->rand << 17;
	return (unsigned)((a->rand >> 16) % n);
}

int64_t stress_soon(struct stress_actor *a)
{
	static const unsigned most[] = {1000, 30000, 300000, 2000000};

	return stress_rand(a, 8) == 0 ? 0 : fiber_after(stress_rand(a, most[stress_rand(a, 4)]));
}

int64_t stress_deadline(struct stress_actor *a)
{
	return stress_rand(a, 3) ? FIBER_FOREVER : stress_soon(a);
}

void stress_pause(struct stress_actor *a)
{
	volatile unsigned spin = stress_rand(a, 200);

	switch (stress_rand(a, 12)) {
	case 0:
		fiber_sleep(stress_rand(a, 100000));
		break;
	case 1:
	case 2:
	case 3:
		if (fiber_yield() < 0)
			sched_yield();
		break;
	case 4:
		while (spin)
			spin--;
		break;
	default:
		break;
	}
}

struct fiber_runtime *stress_runtime(void)
{
	return show.rt;
}

static void spawn(const char *name, unsigned flags, fiber_fn *fn, void *arg, struct fiber **ret)
{
	const struct fiber_attr attr = {
		.size = sizeof attr, .name = name, .stack_size = 64 << 10, .flags = flags};
	int rc = fiber_runtime_spawn(show.rt, &attr, fn, arg, ret);

	if (rc < 0)
		stress_wrong("no fiber can be spawned: %s", strerror(-rc));
}

void stress_spawn(const char *name, fiber_fn *fn, void *arg, struct fiber **ret)
{
	spawn(name, 0, fn, arg, ret);
}

void stress_expect(int rc, const char *call)
{
	if (rc < 0 && rc != -ETIMEDOUT && rc != -ECANCELED)
		stress_wrong("%s: %s", call, strerror(-rc));
}

void stress_guard(_Atomic int *lock)
{
	int open = 0;

	while (!__atomic_compare_exchange_n((int *)lock, &open, 1, 0, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		open = 0;
		if (fiber_yield() < 0)
			sched_yield();
	}
}

void stress_unguard(_Atomic int *lock)
{
	__atomic_store_n((int *)lock, 0, __ATOMIC_RELEASE);
}

/* -- lives -- */

static void leave(struct stress_actor *a)
{
	if (!(a->flags & STRESS_SERVER))
		a->troupe->clients--;
	a->ended = true;
}

static void *live(void *arg)
{
	struct stress_actor *a = arg;

	a->who = a->flags & STRESS_THREAD ? (uint64_t)gettid() : fiber_id(fiber_self());
	a->body(a);
	if (!(a->flags & STRESS_MORTAL))
		leave(a);
	return NULL;
}

static void *keep(void *arg)
{
	struct stress_actor *a = arg;
	uint64_t rand = a->rand;
	struct fiber_result result;
	struct fiber *life;

	while (!over(a)) {
		stress_spawn(a->name, live, a, &life);
		rand = rand * UINT64_C(6364136223846793005) + 1442695040888963407;
		/* Now and then, let it run until it ends by itself. */
		if (rand >> 62) {
			fiber_sleep((int64_t)(rand >> 33) % (rand >> 61 & 1 ? 2000000 : 50000));
			fiber_cancel(life);
		}
		if (fiber_join(life, &result, FIBER_FOREVER) < 0 ||
		    (result.error && result.error != -ECANCELED))
			stress_wrong("%s: joined with error %d", a->name, result.error);
	}
	leave(a);
	return NULL;
}

/* -- called by the driver -- */

void stress_prepare(unsigned carriers, uint64_t seed)
{
	const struct fiber_runtime_options options = {.size = sizeof options,
						      .carriers = carriers,
						      .pinned_policy = FIBER_PINNED_SILENT,
						      .control_path = ""};
	int rc;

	memset(&show, 0, sizeof show);
	show.seed = seed;
	rc = fiber_runtime_start(&options, &show.rt);
	if (rc < 0)
		stress_wrong("no runtime starts: %s", strerror(-rc));
}

void stress_begin(const struct stress_theme *theme)
{
	show.troupes[show.troupe_count++].theme = theme;
	theme->begin();
}

void stress_add(const char *name, unsigned flags, unsigned n, stress_body *body, void *arg)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		struct stress_actor *a = &show.actors[show.count];

		if (show.count == ACTORS)
			stress_wrong("more than %d actors", ACTORS);
		snprintf(a->name, sizeof a->name, "%s-%u", name, i);
		a->troupe = &show.troupes[show.troupe_count - 1];
		a->body = body;
		a->arg = arg;
		a->flags = flags;
		a->what = "begins";
		a->rand = (show.seed + ++show.count) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		if (!(flags & STRESS_SERVER))
			a->troupe->clients++;
	}
}

void stress_start(void)
{
	unsigned i;

	for (i = 0; i < show.count; i++) {
		struct stress_actor *a = &show.actors[i];

		if (a->flags & STRESS_MORTAL)
			stress_spawn("keeper", keep, a, &a->fiber);
		else if (!(a->flags & STRESS_THREAD))
			spawn(a->name, a->flags & STRESS_BOUND ? FIBER_BOUND : 0, live, a,
			      &a->fiber);
		else if (pthread_create(&a->thread, NULL, live, a))
			stress_wrong("no thread can be made");
	}
}

const struct stress_actor *stress_still(unsigned ticks)
{
	const struct stress_actor *longest = NULL;
	unsigned i;

	for (i = 0; i < show.count; i++) {
		struct stress_actor *a = &show.actors[i];
		const uint64_t steps = a->steps;

		a->still = steps == a->seen && !a->ended ? a->still + 1 : 0;
		a->seen = steps;
		if (a->still >= ticks)
			longest = a;
	}
	return longest;
}

void stress_tell_still(unsigned ticks)
{
	unsigned i;

	for (i = 0; i < show.count; i++) {
		const struct stress_actor *a = &show.actors[i];

		if (a->still >= ticks)
			fprintf(stderr, "#   %s: %s, %s %llu, step %llu: %s\n",
				a->troupe->theme->name, a->name,
				a->flags & STRESS_THREAD ? "thread" : "fiber",
				(unsigned long long)a->who, (unsigned long long)a->steps, a->what);
	}
}

void stress_stop(void)
{
	show.stop = true;
}

bool stress_all_ended(void)
{
	unsigned i;

	for (i = 0; i < show.count; i++)
		if (!show.actors[i].ended)
			return false;
	return true;
}

uint64_t stress_finish(void)
{
	uint64_t steps = 0;
	unsigned i;

	for (i = 0; i < show.count; i++) {
		struct stress_actor *a = &show.actors[i];

		if (a->flags & STRESS_THREAD)
			pthread_join(a->thread, NULL);
		else
			fiber_join(a->fiber, NULL, FIBER_FOREVER);
		steps += a->steps;
	}
	for (i = 0; i < show.troupe_count; i++)
		if (show.troupes[i].theme->check)
			show.troupes[i].theme->check();
	if (fiber_runtime_finish(show.rt, fiber_after(INT64_C(60000000000))) < 0)
		stress_wrong("the runtime does not finish");
	return steps;
}
