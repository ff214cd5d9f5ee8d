/* SPDX-License-Identifier: MIT */
/*
 * stress_life.c - fibers that start and exit all the time: spawn, join, detach, cancel, fail,
 * groups, once
 *
 * Every exit must reach the joiner with the fiber's value and error. A reused record must have no
 * trace of its previous fiber.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tests/stress/stress.h"

enum { RETURN, EXIT, FAIL, YIELD, SLEEP, PARK, LEAVE_ANOTHER, WAYS };

/* How a fiber lives, encoded as a number, so that it needs no memory. */
static void *way(unsigned how, unsigned value)
{
	return (void *)(uintptr_t)(value * WAYS + how);
}

static void *child(void *arg)
{
	const unsigned how = (unsigned)((uintptr_t)arg % WAYS);

	switch (how) {
	case EXIT:
		fiber_exit(arg);
	case FAIL:
		fiber_fail(-EPROTO, "as it was told");
	case YIELD:
		fiber_yield();
		break;
	case SLEEP:
		fiber_sleep((int64_t)((uintptr_t)arg / WAYS * 100));
		break;
	case PARK:
		fiber_park(FIBER_FOREVER);
		break;
	case LEAVE_ANOTHER:
		stress_spawn("grandchild", child, way(YIELD, 1), NULL);
		break;
	default:
		break;
	}
	return arg;
}

/* Retry the join until it succeeds: after -ETIMEDOUT and in a cancelled joiner the fiber stays
 * joinable. */
static void join(struct stress_actor *a, struct fiber *f, void *arg, bool cancelled)
{
	const unsigned how = (unsigned)((uintptr_t)arg % WAYS);
	struct fiber_result result;
	int rc;

	do {
		if (how == PARK)
			fiber_unpark(f);
		rc = fiber_join(f, &result, stress_deadline(a));
	} while (rc == -ETIMEDOUT);
	if (rc < 0)
		stress_wrong("fiber_join: %s", strerror(-rc));
	if (how == FAIL ? result.error != -EPROTO
			: (result.error && (!cancelled || result.error != -ECANCELED)))
		stress_wrong("a fiber ended with error %d", result.error);
	if (how != FAIL && result.value != arg)
		stress_wrong("a fiber ended with %p instead of %p", result.value, arg);
}

static void raise_one(struct stress_actor *a)
{
	void *const arg = way(stress_rand(a, WAYS), stress_rand(a, 1000));
	const bool cancels = stress_rand(a, 4) == 0;
	struct fiber *f;

	if (stress_rand(a, 6) == 0) {
		stress_spawn("nobody's", child, way(stress_rand(a, PARK), 5), NULL);
		return;
	}
	if (stress_rand(a, 16) == 0) {
		if (fiber_create(NULL, child, arg, &f) == 0)
			fiber_detach(f);
		return;
	}
	stress_spawn("child", child, arg, &f);
	stress_pause(a);
	if (cancels)
		fiber_cancel(f);
	if ((uintptr_t)arg % WAYS != PARK && stress_rand(a, 6) == 0)
		fiber_detach(f);
	else
		join(a, f, arg, cancels);
}

static void count_up(void *arg)
{
	fiber_yield();
	++*(unsigned *)arg;
}

struct first {
	struct fiber_once once;
	unsigned times; /* plain */
};

static void *do_once(void *arg)
{
	struct first *f = arg;

	if (fiber_once(&f->once, count_up, &f->times) < 0 || f->times != 1)
		stress_wrong("fiber_once: done %u times", f->times);
	return NULL;
}

static void begin_together(void)
{
	struct first first = {.times = 0};
	struct fiber *f[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		stress_spawn("once", do_once, &first, &f[i]);
	do_once(&first);
	for (i = 0; i < 4; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
}

static void raise_children(struct stress_actor *a)
{
	while (stress_on(a, "has children")) {
		if (stress_rand(a, 8) == 0)
			begin_together();
		else
			raise_one(a);
	}
}

static void begin_life(void)
{
	stress_add("parent", 0, 16, raise_children, NULL);
	stress_add("parent-thread", STRESS_THREAD, 2, raise_children, NULL);
}

const struct stress_theme stress_life = {"life", begin_life, NULL};

/* -- groups -- */

struct team {
	struct fiber_group group;
	_Atomic unsigned live;
	struct fiber_mutex mutex;
};

static void *member(void *arg)
{
	struct team *t = arg;
	const unsigned how = (unsigned)(fiber_id(fiber_self()) * 2654435761u >> 8) % 16;

	t->live++;
	if (how < 4)
		fiber_yield();
	else if (how < 6)
		fiber_sleep(50000);
	else if (how < 8 && fiber_mutex_lock(&t->mutex, FIBER_FOREVER) == 0)
		fiber_mutex_unlock(&t->mutex);
	else if (how == 8)
		fiber_group_spawn(&t->group, member, t);
	t->live--;
	if (how == 9)
		fiber_fail(-EPROTO, NULL);
	return NULL;
}

static void lead_a_group(struct stress_actor *a)
{
	struct team t = {.live = 0};
	const unsigned n = stress_rand(a, 8);
	unsigned i;
	int rc = 0;

	fiber_group_init(&t.group);
	if (stress_rand(a, 4) == 0)
		fiber_group_set_flags(&t.group, FIBER_GROUP_KEEP);
	for (i = 0; i < n && rc == 0; i++) {
		rc = fiber_group_spawn(&t.group, member, &t);
		if (rc < 0 && rc != -ECANCELED)
			stress_wrong("fiber_group_spawn: %s", strerror(-rc));
	}
	if (stress_rand(a, 3) == 0)
		fiber_group_cancel(&t.group);
	do
		rc = fiber_group_wait(&t.group, stress_deadline(a));
	while (rc == -ETIMEDOUT);
	if (t.live || (rc < 0 && rc != -ECANCELED && rc != -EPROTO))
		stress_wrong("fiber_group_wait: %d, and %u live", rc, t.live);
}

static void lead(struct stress_actor *a)
{
	while (stress_on(a, "leads a group"))
		lead_a_group(a);
}

static void begin_group(void)
{
	stress_add("group", 0, 10, lead, NULL);
	stress_add("group-mortal", STRESS_MORTAL, 6, lead, NULL);
}

const struct stress_theme stress_group = {"group", begin_group, NULL};
