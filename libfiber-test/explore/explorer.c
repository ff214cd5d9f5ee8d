/* SPDX-License-Identifier: MIT */
/*
 * explorer.c - make the choices of a schedule
 *
 * A fiber says what it is about to do before it does it (seams/choice.h). If another fiber can run,
 * that is a choice; if the other one is chosen, the caller becomes runnable and leaves. The call
 * then happens without a choice inside, because the next choice is before the next call.
 *
 * No strategy may starve a fiber for ever: after a quarter of the steps, at most FIB_FAIR_AFTER, choices
 * are random, so a loop that polls and yields is no livelock.
 */
#include "explore/explorer.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "choice.h"
#include "core/registry.h"
#include "explore/finding.h"
#include "explore/hash.h"
#include "os/os.h"
#include "os/virtual.h"
#include "os/world.h"
#include "sched/gather.h"
#include "sched/ready.h"
#include "sched/sched.h"

struct member {
	uint32_t parent; /* number */
	unsigned steps;
	bool aside;	       /* its step is counted when it goes on */
	const void *within;    /* the place of a call that is made of others; NULL: none */
	const char *before[2]; /* its last calls before that of its intent; NULL: none */
};

static struct {
	bool on;
	struct fib_schedule schedule;
	uint64_t first_id; /* of fiber 1; 0: not made yet */
	uint32_t fibers;
	struct fib_intent *intents; /* by number */
	struct member *members;	    /* by number */
	uint32_t room;
	uint32_t *numbers;    /* of the current choice */
	struct fiber *chosen; /* must run next */
	uint64_t last_id;     /* of the fiber that ran last */
	int64_t slack;
	uint64_t fair_seed;
	uint64_t fair; /* generator of the choices after FIB_FAIR_AFTER */
	unsigned step;
	unsigned alone; /* yields in a row with no other fiber to run */
	void (*trace)(uint32_t number, const struct fib_intent *intent);
	void (*count)(uint32_t number, uint32_t parent);
	void (*starts)(uint32_t number);
	void (*trace_choice)(enum fib_choice_kind kind, uint32_t number, const char *what,
			     unsigned chosen);
} x = {.fair_seed = 1};

void fib_explorer_trace(void (*fn)(uint32_t number, const struct fib_intent *intent))
{
	x.trace = fn;
}

void fib_explorer_trace_choices(void (*fn)(enum fib_choice_kind kind, uint32_t number,
					   const char *what, unsigned chosen))
{
	x.trace_choice = fn;
}

void fib_explorer_count(void (*fn)(uint32_t number, uint32_t parent))
{
	x.count = fn;
}

void fib_explorer_watch_steps(void (*fn)(uint32_t number))
{
	x.starts = fn;
}

bool fib_explorer_on(void)
{
	return x.on;
}

bool fib_explorer_traced(void)
{
	return x.on && x.schedule.traced;
}

void fib_explorer_begin(const struct fib_schedule *schedule)
{
	x.schedule = *schedule;
	x.first_id = 0;
	x.fibers = 0;
	x.chosen = NULL;
	x.last_id = 0;
	x.slack = schedule->slack;
	x.fair = x.fair_seed;
	x.step = x.alone = 0;
	fib_store(x.schedule.made, 0);
	if (x.schedule.hash)
		fib_store(x.schedule.hash, 0);
	fib_world_begin(x.schedule.outside, x.schedule.made);
	fib_ready_begin();
	fib_virtual_begin(fib_gather_nearest);
	x.on = true;
}

void fib_explorer_end(void)
{
	x.on = false;
	fib_virtual_end();
	fib_ready_end();
	fib_world_end();
}

static void grow(uint32_t number)
{
	while (x.room <= number + 1)
		x.room = x.room ? 2 * x.room : 64;
	x.intents = realloc(x.intents, x.room * sizeof *x.intents);
	x.members = realloc(x.members, x.room * sizeof *x.members);
	x.numbers = realloc(x.numbers, x.room * sizeof *x.numbers);
	fib_check(x.intents && x.members && x.numbers);
}

uint32_t fib_explorer_number(const struct fiber *fiber)
{
	uint32_t number;

	if (!x.first_id)
		x.first_id = fiber->id;
	number = (uint32_t)(fiber->id - x.first_id + 1);
	if (number + 1 >= x.room)
		grow(number);
	while (x.fibers < number) {
		x.intents[++x.fibers] = (struct fib_intent){.call = NULL};
		x.members[x.fibers] = (struct member){.parent = 0};
	}
	x.intents[number].fiber = fiber;
	if (fiber->parent >= x.first_id)
		x.members[number].parent = (uint32_t)(fiber->parent - x.first_id + 1);
	return number;
}

const struct fib_intent *fib_explorer_intent(uint32_t number)
{
	return &x.intents[number];
}

unsigned fib_explorer_steps(uint32_t number)
{
	return x.members[number].steps;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t fib_explorer_place(uint32_t number)
{
	const uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), x.intents[number].call);

	return hash_text(hash_text(hash, x.members[number].before[0]), x.members[number].before[1]);
}

uint32_t fib_explorer_parent(uint32_t number)
{
	return x.members[number].parent;
}

uint32_t fib_explorer_fibers(void)
{
	return x.fibers;
}

uint64_t fib_explorer_first_id(void)
{
	return x.first_id;
}

void fib_explorer_fair_seed(uint64_t seed)
{
	x.fair_seed = seed;
}

unsigned fib_explorer_fair_after(unsigned step_limit)
{
	return step_limit / 4 < FIB_FAIR_AFTER ? step_limit / 4 : FIB_FAIR_AFTER;
}

/* n >= 2 */
static unsigned decide(struct fib_choice *choice)
{
	unsigned chosen;

	choice->step = x.step;
	if (x.step >= x.schedule.step_limit)
		fib_finding(FIBER_TEST_LIVELOCK, "more than %u choices without an end",
			    x.schedule.step_limit);
	chosen = x.schedule.choose(x.schedule.context, choice);
	if (x.step >= fib_explorer_fair_after(x.schedule.step_limit) && !x.schedule.replays &&
	    choice->kind != FIB_CHOICE_FAULT)
		chosen = fib_rand_below(&x.fair, choice->n);
	if (chosen >= choice->n)
		chosen = 0;
	x.schedule.steps[x.step++] = (struct fib_step){(uint8_t)choice->kind, choice->goes_on,
						       (uint16_t)choice->n, (uint16_t)chosen};
	fib_store(x.schedule.made, x.step);
	if (x.schedule.hash)
		fib_store(x.schedule.hash,
			  fib_hash_choice(fib_load(x.schedule.hash), choice, chosen, x.intents));
	x.alone = 0;
	fib_virtual_chosen();
	fib_finding_progress();
	return chosen;
}

bool fib_explorer_time_may_pass(void)
{
	const int64_t nearest = fib_gather_nearest();

	return nearest != INT64_MAX && nearest - fib_virtual_now() <= x.slack;
}

/* Let the clock run ahead to the nearest deadline, if the schedule has slack for that. */
static void choose_time(void)
{
	struct fib_choice choice = {.kind = FIB_CHOICE_TIME, .n = 2};
	const int64_t nearest = fib_gather_nearest();

	if (!fib_explorer_time_may_pass() || !decide(&choice))
		return;
	x.slack -= nearest - fib_virtual_now();
	fib_virtual_reach(nearest);
	fib_gather();
}

/* Choose among the fibers in x.numbers. */
static unsigned choose_fiber(unsigned n, bool goes_on)
{
	struct fib_choice choice = {.kind = FIB_CHOICE_RUN, .n = n, .goes_on = goes_on};

	if (n == 1)
		return 0;
	choice.numbers = x.numbers;
	return decide(&choice);
}

static void count_step(uint32_t number)
{
	x.members[number].steps++;
	if (x.count)
		x.count(number, x.members[number].parent);
	if (x.starts)
		x.starts(number);
}

/* Leave, and stay runnable. */
static void step_aside(struct fiber *me, uint32_t number)
{
	x.members[number].aside = true;
	fib_store(&me->state, (uint8_t)FIBER_RUNNABLE);
	fib_ready_add(me);
	fib_switch_out(me);
	x.members[number].aside = false;
}

/* The caller goes first, the others follow by number. */
static unsigned choose_against(uint32_t me)
{
	const unsigned n = fib_ready_count();
	unsigned i;

	for (i = 0; i < n; i++)
		fib_explorer_number(fib_ready_at(i)); /* may move the arrays */
	x.numbers[0] = me;
	for (i = 0; i < n; i++)
		x.numbers[i + 1] = fib_explorer_number(fib_ready_at(i));
	return choose_fiber(n + 1, true);
}

static bool is_yield(const char *call)
{
	return strcmp(call, "fiber_yield") == 0;
}

/* The calling fiber is about to do this. */
static void announce(const struct fib_intent *intent)
{
	struct fiber *me = fib_self();
	uint32_t number;
	unsigned chosen;

	if (!x.on || !me)
		return;
	number = fib_explorer_number(me);
	x.members[number].before[1] = x.members[number].before[0];
	x.members[number].before[0] = x.intents[number].call;
	x.intents[number] = *intent;
	x.intents[number].fiber = me;
	if (x.members[number].within)
		x.intents[number].at = x.members[number].within;
	x.last_id = me->id;
	fib_gather();
	if (!is_yield(intent->call)) {
		choose_time();
		chosen = choose_against(number);
		if (chosen) {
			x.chosen = fib_ready_at(chosen - 1);
			step_aside(me, number);
		}
		count_step(number);
	}
	if (x.schedule.traced && x.trace)
		x.trace(number, &x.intents[number]);
}

void fib_explore_before(const char *call, const void *object, const void *at)
{
	announce(&(struct fib_intent){.call = call, .object = object, .at = at});
}

void fib_explore_access(const char *call, const void *object, size_t size, bool writes,
			const void *at)
{
	announce(&(struct fib_intent){.call = call,
				      .object = object,
				      .at = at,
				      .kind = FIB_INTENT_ACCESS,
				      .size = size,
				      .writes = writes});
}

void fib_explore_point(const char *what, const void *at)
{
	announce(&(struct fib_intent){.call = what, .at = at, .kind = FIB_INTENT_POINT});
}

const void *fib_explore_enter(const void *at)
{
	struct fiber *me = fib_self();
	struct member *member;

	if (!x.on || !me)
		return NULL;
	member = &x.members[fib_explorer_number(me)];
	if (member->within)
		return NULL;
	return member->within = at;
}

void fib_explore_leave(const void **entered)
{
	if (*entered && x.on && fib_self())
		x.members[fib_explorer_number(fib_self())].within = NULL;
}

/* The place of the fiber for which another one stepped aside; n: there is none. */
static unsigned place_of_chosen(unsigned n)
{
	unsigned i;

	for (i = 0; i < n && x.chosen; i++) {
		if (fib_ready_at(i) == x.chosen) {
			x.chosen = NULL;
			return i;
		}
	}
	return n;
}

static unsigned choose_next(unsigned n)
{
	unsigned i, at, first = n;

	/* A fiber that yields is the first alternative. */
	for (i = 0; i < n; i++) {
		fib_explorer_number(fib_ready_at(i)); /* may move the arrays */
		if (fib_ready_at(i)->id == x.last_id)
			first = i;
	}
	for (i = at = 0; i < n; i++)
		if (i != first)
			x.numbers[at++ + (first < n)] = fib_explorer_number(fib_ready_at(i));
	if (first < n)
		x.numbers[0] = fib_explorer_number(fib_ready_at(first));
	if (n == 1 && first == 0 && ++x.alone > x.schedule.step_limit)
		fib_finding(FIBER_TEST_LIVELOCK, "more than %u yields, and no other fiber can run",
			    x.schedule.step_limit);
	i = choose_fiber(n, first < n);
	if (first == n)
		return i;
	return i == 0 ? first : i <= first ? i - 1 : i;
}

unsigned fib_explore_one_of(enum fib_choice_kind kind, unsigned n)
{
	struct fib_choice choice = {.kind = kind, .n = n};

	return n > 1 ? decide(&choice) : 0;
}

unsigned fib_explore_next(void)
{
	const unsigned n = fib_ready_count();
	unsigned i = place_of_chosen(n);
	uint32_t number;

	if (i == n)
		i = choose_next(n);
	number = fib_explorer_number(fib_ready_at(i));
	if (!x.members[number].aside)
		count_step(number);
	return i;
}

unsigned fib_explore_pick(unsigned n, const char *what)
{
	unsigned chosen;

	if (!x.on || n < 2 || !fib_self())
		return 0;
	chosen = fib_explore_one_of(FIB_CHOICE_CHOOSE, n);
	if (x.schedule.traced && x.trace_choice)
		x.trace_choice(FIB_CHOICE_CHOOSE, fib_explorer_number(fib_self()), what, chosen);
	return chosen;
}
