/* SPDX-License-Identifier: MIT */
/*
 * stress_call.c - pairs of a caller and an answerer, in which no other wake-up repairs a lost one
 *
 * In a crowd the next wake-up often hides a lost one. Here each pair has one message under way, so
 * a lost wake-up leaves both sides waiting forever. The carriers have no other work and fall asleep
 * in between. A side sometimes waits a few hundred nanoseconds, so that the other is met in each of
 * its steps. The sides are threads, and fibers that are bound to their own carriers.
 *
 * Also: a fiber that waits for an event that never comes is cancelled once, at any moment.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "tests/stress/stress.h"

struct pair;

struct way {
	const char *name;
	void (*give)(struct pair *p, unsigned to);
	int (*take)(struct pair *p, unsigned me, int64_t deadline);
	bool fibers_only;
};

static struct pair {
	const struct way *way;
	struct fiber *_Atomic side[2];
	_Atomic unsigned sides; /* sides handed out */
	uint64_t number;	/* plain: accessed in turns */
	bool over;		/* plain */
	struct fiber_sem sem[2];
	struct fiber_event event[2];
	struct fiber_mutex mutex;
	struct fiber_cond cond[2];
	bool there[2]; /* under mutex */
	struct fiber_chan *chan[2];
} pairs[16];

static void give_park(struct pair *p, unsigned to)
{
	fiber_unpark(p->side[to]);
}

static int take_park(struct pair *p, unsigned me, int64_t deadline)
{
	(void)p;
	(void)me;
	return fiber_park(deadline);
}

static void give_sem(struct pair *p, unsigned to)
{
	fiber_sem_post(&p->sem[to]);
}

static int take_sem(struct pair *p, unsigned me, int64_t deadline)
{
	return fiber_sem_wait(&p->sem[me], deadline);
}

static void give_event(struct pair *p, unsigned to)
{
	fiber_event_set(&p->event[to]);
}

static int take_event(struct pair *p, unsigned me, int64_t deadline)
{
	const int rc = fiber_event_wait(&p->event[me], deadline);

	if (rc == 0)
		fiber_event_reset(&p->event[me]);
	return rc;
}

static void give_cond(struct pair *p, unsigned to)
{
	fiber_mutex_lock(&p->mutex, FIBER_FOREVER);
	p->there[to] = true;
	fiber_cond_signal(&p->cond[to]);
	fiber_mutex_unlock(&p->mutex);
}

static int take_cond(struct pair *p, unsigned me, int64_t deadline)
{
	int rc = 0;

	fiber_mutex_lock(&p->mutex, FIBER_FOREVER);
	while (!p->there[me] && rc == 0)
		rc = fiber_cond_wait(&p->cond[me], &p->mutex, deadline);
	if (p->there[me])
		rc = 0;
	p->there[me] = false;
	fiber_mutex_unlock(&p->mutex);
	return rc;
}

static void give_chan(struct pair *p, unsigned to)
{
	if (fiber_chan_send(p->chan[to], NULL, FIBER_FOREVER) < 0)
		stress_wrong("fiber_chan_send fails");
}

static int take_chan(struct pair *p, unsigned me, int64_t deadline)
{
	return fiber_chan_recv(p->chan[me], NULL, deadline);
}

static int take_select(struct pair *p, unsigned me, int64_t deadline)
{
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV,
		 .chan = p->chan[!me]}, /* the channel this side sends to */
		{.op = FIBER_SELECT_RECV, .chan = p->chan[me]}};
	const int rc = fiber_select(cases, 2, deadline);

	if (rc == 0)
		stress_wrong("fiber_select received from where nobody sends");
	return rc == 1 ? cases[1].result : rc;
}

static const struct way ways[] = {
	{"park", give_park, take_park, true},	  {"sem", give_sem, take_sem, false},
	{"event", give_event, take_event, false}, {"cond", give_cond, take_cond, false},
	{"chan", give_chan, take_chan, false},	  {"select", give_chan, take_select, false},
};
#define WAYS (sizeof ways / sizeof ways[0])

static void dawdle(struct stress_actor *a)
{
	volatile unsigned spin = stress_rand(a, 1u << stress_rand(a, 12));

	while (spin)
		spin--;
}

static void await_turn(struct stress_actor *a, struct pair *p, unsigned me)
{
	int rc;

	stress_at(a, "waits for the other side");
	if (stress_rand(a, 4) == 0) {
		rc = p->way->take(p, me, fiber_after(stress_rand(a, 20000)));
		if (rc != -ETIMEDOUT) {
			stress_expect(rc, p->way->name);
			return;
		}
	}
	rc = p->way->take(p, me, FIBER_FOREVER);
	if (rc < 0)
		stress_wrong("%s: %s", p->way->name, strerror(-rc));
}

static void call_and_answer(struct stress_actor *a)
{
	struct pair *p = stress_arg(a);
	const unsigned me = p->sides++;
	uint64_t number = me;
	bool first = me == 0;

	p->side[me] = fiber_self();
	while (p->way->fibers_only && !p->side[!me]) {
		stress_at(a, "the other side begins");
		fiber_yield();
	}
	for (;; first = false) {
		bool on;

		if (!first)
			await_turn(a, p, me);
		on = stress_on(a, "has its turn");
		if (p->over)
			return;
		if (p->number != number)
			stress_wrong("%s: call %llu instead of %llu", p->way->name,
				     (unsigned long long)p->number, (unsigned long long)number);
		number += 2;
		p->number++;
		p->over = !on;
		dawdle(a);
		p->way->give(p, !me);
		if (!on)
			return;
		dawdle(a);
	}
}

static void begin_call(void)
{
	unsigned i;

	memset(pairs, 0, sizeof pairs);
	for (i = 0; i < 2 * WAYS - 1; i++) {
		/* First all ways with two fibers each, then with a thread and a fiber each; a
		 * thread cannot park. */
		const unsigned with_thread = i < WAYS ? 0 : STRESS_THREAD;
		struct pair *p = &pairs[i];

		p->way = &ways[i < WAYS ? i : i - WAYS + 1];
		if (fiber_chan_new(0, 0, &p->chan[0]) < 0 || fiber_chan_new(0, 0, &p->chan[1]) < 0)
			stress_wrong("no memory for a channel");
		stress_add(p->way->name, with_thread ? with_thread : STRESS_BOUND, 1,
			   call_and_answer, p);
		stress_add(p->way->name, STRESS_BOUND, 1, call_and_answer, p);
	}
}

static void check_call(void)
{
	unsigned i;

	for (i = 0; i < 2 * WAYS - 1; i++) {
		fiber_chan_unref(pairs[i].chan[0]);
		fiber_chan_unref(pairs[i].chan[1]);
	}
}

const struct stress_theme stress_call = {"call", begin_call, check_call};

/* -- cancelled once -- */

static struct fiber_sem nothing;
static struct fiber_chan *empty;

static void *wait_for_nothing(void *arg)
{
	const unsigned spin = (unsigned)(uintptr_t)arg >> 3;
	volatile unsigned i;
	int rc;

	for (i = 0; i < spin; i++)
		;
	switch ((uintptr_t)arg & 7) {
	case 0:
		rc = fiber_park(FIBER_FOREVER);
		break;
	case 1:
		rc = fiber_sleep_until(FIBER_FOREVER);
		break;
	case 2:
		rc = fiber_chan_recv(empty, NULL, FIBER_FOREVER);
		break;
	case 3:
		rc = fiber_chan_recv(empty, NULL, fiber_after(INT64_C(1000000000000)));
		break;
	default:
		rc = fiber_sem_wait(&nothing, FIBER_FOREVER);
		break;
	}
	if (rc != -ECANCELED)
		stress_wrong("a wait for nothing ends with %d", rc);
	return arg;
}

static void cancel_once(struct stress_actor *a)
{
	while (stress_on(a, "cancels a fiber once and joins it")) {
		const struct fiber_attr attr = {.size = sizeof attr,
						.name = "waits for nothing",
						.flags = stress_rand(a, 2) ? FIBER_BOUND : 0};
		void *const arg = (void *)(uintptr_t)stress_rand(a, 1u << stress_rand(a, 13));
		struct fiber_result result;
		struct fiber *f;

		if (fiber_runtime_spawn(stress_runtime(), &attr, wait_for_nothing, arg, &f) < 0)
			stress_wrong("no fiber can be spawned");
		dawdle(a);
		if (stress_rand(a, 2))
			stress_pause(a);
		fiber_cancel(f);
		if (fiber_join(f, &result, FIBER_FOREVER) < 0 || result.error != -ECANCELED)
			stress_wrong("a cancelled fiber ends with %d", result.error);
	}
}

static void begin_cancel(void)
{
	memset(&nothing, 0, sizeof nothing);
	if (fiber_chan_new(0, 0, &empty) < 0)
		stress_wrong("no memory for a channel");
	fiber_object_name(&nothing, "never posted");
	stress_add("cancel", 0, 2, cancel_once, NULL);
	stress_add("cancel-bound", STRESS_BOUND, 2, cancel_once, NULL);
	stress_add("cancel-thread", STRESS_THREAD, 2, cancel_once, NULL);
}

static void check_cancel(void)
{
	fiber_chan_unref(empty);
}

const struct stress_theme stress_cancel = {"cancel", begin_cancel, check_cancel};
