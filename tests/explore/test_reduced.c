/* SPDX-License-Identifier: MIT */
/*
 * test_reduced.c - with FIBER_TEST_DECLARED exhaustive leaves out orders and loses no outcome
 *
 * Random small programs use all of libfiber that other fibers can notice. Each is run in every
 * schedule, with the flag and without: the outcomes must be the same. An outcome is all that the
 * calls of each fiber returned, in their order, and the shared variables. All waits have a deadline,
 * so none of them is a deadlock.
 *
 * EXPLORE_PROGRAMS=N is the number of programs of each kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "explore/explore.h"
#include "tests/explore/machine.h"

#define PROGRAMS 40
#define FIBERS	 3
#define OPS	 4
#define MOST	 20000 /* schedules; programs with more are left out */
#define MS	 INT64_C(1000000)
#define LATE	 (3600 * 1000 * MS)

/* -- what a fiber does -- */

static struct world {
	uint8_t variable[2];
	unsigned held[FIBERS], reg[FIBERS]; /* held: bits of mutexes, and of rwlocks */
	struct fiber *fiber[FIBERS];
	struct fiber_mutex mutex[2];
	struct fiber_rwlock rwlock[2];
	struct fiber_sem sem;
	struct fiber_event event[2];
	struct fiber_waitgroup group;
	struct fiber_barrier barrier;
	struct fiber_cond cond;
	struct fiber_once once;
	struct fiber_chan *chan[2];
	bool ready;
} world;

static unsigned load(unsigned i)
{
	fiber_test_access(&world.variable[i], 1, false);
	return world.variable[i];
}

static unsigned store(unsigned i, unsigned value)
{
	fiber_test_access(&world.variable[i], 1, true);
	world.variable[i] = (uint8_t)value;
	return 0;
}

static void store_late(void *arg)
{
	store(1, world.variable[1] * 3u + (unsigned)(uintptr_t)arg);
}

static bool is_ready(void *arg)
{
	(void)arg;
	return world.ready;
}

static void *store_in_child(void *arg)
{
	store(0, 2 * load(0) + (unsigned)(uintptr_t)arg);
	return NULL;
}

/* Each returns what the fiber learns. */
typedef unsigned op_fn(unsigned me, unsigned i);

static unsigned op_load(unsigned me, unsigned i)
{
	(void)me;
	return load(i);
}

static unsigned op_store(unsigned me, unsigned i)
{
	return store(i, world.reg[me] + me);
}

/* Lock it, or unlock what is held. */
static unsigned op_mutex(unsigned me, unsigned i)
{
	const unsigned bit = 1u << i;
	int rc = 0;

	if (world.held[me] & bit) {
		world.held[me] &= ~bit;
		return (unsigned)fiber_mutex_unlock(&world.mutex[i]);
	}
	rc = fiber_mutex_lock(&world.mutex[i], LATE);
	if (rc == 0)
		world.held[me] |= bit;
	return (unsigned)rc;
}

static unsigned op_trylock(unsigned me, unsigned i)
{
	int rc;

	if (world.held[me] & 1u << i)
		return op_mutex(me, i);
	rc = fiber_mutex_trylock(&world.mutex[i]);
	if (rc == 0)
		world.held[me] |= 1u << i;
	return (unsigned)rc;
}

static unsigned op_rwlock(unsigned me, unsigned i)
{
	const unsigned bit = 4u << i;
	int rc;

	if (world.held[me] & bit) {
		world.held[me] &= ~bit;
		return (unsigned)fiber_rwlock_unlock(&world.rwlock[i]);
	}
	rc = me ? fiber_rwlock_rdlock(&world.rwlock[i], LATE)
		: fiber_rwlock_wrlock(&world.rwlock[i], LATE);
	if (rc == 0)
		world.held[me] |= bit;
	return (unsigned)rc;
}

static unsigned op_sem(unsigned me, unsigned i)
{
	(void)me;
	return (unsigned)(i ? fiber_sem_post(&world.sem) : fiber_sem_wait(&world.sem, LATE));
}

static unsigned op_value(unsigned me, unsigned i)
{
	(void)me;
	return i ? (unsigned)fiber_sem_value(&world.sem) : (unsigned)fiber_sem_trywait(&world.sem);
}

static unsigned op_set(unsigned me, unsigned i)
{
	return (unsigned)(me ? fiber_event_set(&world.event[i])
			     : fiber_event_reset(&world.event[i]));
}

static unsigned op_await(unsigned me, unsigned i)
{
	(void)me;
	return (unsigned)fiber_event_wait(&world.event[i], LATE);
}

static unsigned op_group(unsigned me, unsigned i)
{
	(void)me;
	if (!i)
		return (unsigned)fiber_waitgroup_wait(&world.group, LATE);
	fiber_waitgroup_add(&world.group, 1);
	return (unsigned)fiber_waitgroup_done(&world.group);
}

static unsigned op_barrier(unsigned me, unsigned i)
{
	(void)me;
	(void)i;
	return (unsigned)fiber_barrier_wait(&world.barrier, LATE);
}

static unsigned op_cond(unsigned me, unsigned i)
{
	if (world.held[me] & 1)
		return (unsigned)fiber_cond_wait(&world.cond, &world.mutex[0], LATE);
	return (unsigned)(i ? fiber_cond_signal(&world.cond) : fiber_cond_broadcast(&world.cond));
}

static unsigned op_send(unsigned me, unsigned i)
{
	return (unsigned)fiber_chan_send(world.chan[i], &world.reg[me], LATE);
}

static unsigned op_receive(unsigned me, unsigned i)
{
	unsigned value = 0;
	const int rc = fiber_chan_recv(world.chan[i], &value, LATE);

	(void)me;
	return value + (unsigned)rc;
}

static unsigned op_chan(unsigned me, unsigned i)
{
	return me ? (unsigned)fiber_chan_length(world.chan[i])
		  : (unsigned)fiber_chan_close(world.chan[i]);
}

static unsigned op_select(unsigned me, unsigned i)
{
	unsigned value = world.reg[me];
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = world.chan[i], .elem = &value},
		{.op = FIBER_SELECT_RECV, .chan = world.chan[!i], .elem = &value},
	};
	const int rc = fiber_select(cases, 2, LATE);

	return value + (unsigned)rc;
}

static unsigned op_park(unsigned me, unsigned i)
{
	const unsigned other = (me + 1 + i) % 2;

	return (unsigned)(me			   ? fiber_park(LATE)
			  : world.fiber[other + 1] ? fiber_unpark(world.fiber[other + 1])
						   : 0);
}

static unsigned op_cancel(unsigned me, unsigned i)
{
	if (me == 0 && world.fiber[1 + i])
		return (unsigned)fiber_cancel(world.fiber[1 + i]);
	return fiber_cancelled();
}

static unsigned op_yield(unsigned me, unsigned i)
{
	if (i)
		return (unsigned)fiber_sleep((int64_t)(me + 1) * MS);
	return (unsigned)fiber_yield();
}

static unsigned op_choose(unsigned me, unsigned i)
{
	(void)me;
	return i ? fiber_test_choose(2, "value") : (unsigned)fiber_test_random();
}

static unsigned op_point(unsigned me, unsigned i)
{
	if (i && me == 0)
		fiber_test_settle();
	else
		fiber_test_point("point");
	return 0;
}

static unsigned op_once(unsigned me, unsigned i)
{
	(void)i;
	return (unsigned)fiber_once(&world.once, store_late, (void *)(uintptr_t)me);
}

static unsigned op_until(unsigned me, unsigned i)
{
	if (me == 0 || i) {
		fiber_test_access(&world.ready, 1, true);
		world.ready = true;
		return 0;
	}
	return (unsigned)fiber_wait_until(is_ready, NULL, fiber_after(3 * MS));
}

static unsigned op_exit(unsigned me, unsigned i)
{
	(void)i;
	return (unsigned)fiber_at_exit(store_late, (void *)(uintptr_t)me);
}

static unsigned op_spawn(unsigned me, unsigned i)
{
	struct fiber *child;
	int rc;

	if (fiber_spawn(store_in_child, (void *)(uintptr_t)(me + i), &child) < 0)
		return 77;
	rc = fiber_join(child, NULL, i ? 0 : LATE - MS);
	if (rc < 0)
		fiber_detach(child);
	return (unsigned)rc + (i ? 0 : load(0));
}

/* A fiber that runs on behind the others. */
static unsigned op_apart(unsigned me, unsigned i)
{
	const struct fiber_attr attr = {
		.size = sizeof attr, .flags = FIBER_DETACHED | (i ? FIBER_IDLE : FIBER_BACKGROUND)};

	return (unsigned)fiber_spawn_attr(&attr, store_in_child, (void *)(uintptr_t)me, NULL);
}

static unsigned op_timed(unsigned me, unsigned i)
{
	(void)me;
	return (unsigned)fiber_event_wait(&world.event[i], fiber_after(50 * MS));
}

/* Kinds of calls that meet, the first of which are more frequent. */
struct kinds {
	const char *name;
	op_fn *at[12]; /* NULL: no more */
	int64_t slack;
};

static const struct kinds all_kinds[] = {
	{"locks", {op_mutex, op_trylock, op_rwlock}, -1},
	{"objects", {op_sem, op_value, op_set, op_await, op_group, op_barrier}, -1},
	{"conditions", {op_mutex, op_cond, op_cond, op_trylock}, -1},
	{"channels", {op_send, op_receive, op_chan}, -1},
	{"select", {op_select, op_send, op_receive}, -1},
	{"fibers", {op_spawn, op_exit, op_yield}, -1},
	{"park", {op_park, op_park, op_cancel, op_await}, -1},
	{"cancel", {op_cancel, op_cancel, op_await, op_mutex, op_receive}, -1},
	{"once", {op_once, op_once, op_mutex}, -1},
	{"predicates", {op_until, op_until, op_yield}, -1},
	{"choices", {op_choose, op_choose, op_point, op_yield}, -1},
	{"timed", {op_timed, op_set, op_yield}, -1},
	{"apart", {op_apart, op_yield, op_mutex}, -1},
	{"time", {op_timed, op_set, op_yield}, 0},
	{"any",
	 {op_select, op_once, op_until, op_exit, op_timed, op_cancel, op_cond, op_mutex, op_send,
	  op_receive},
	 0},
};

/* -- programs -- */

static struct program {
	unsigned fibers, n[FIBERS];
	struct {
		op_fn *op;
		unsigned object;
	} at[FIBERS][OPS];
} program;

static void generate(uint64_t seed, const struct kinds *kinds)
{
	uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + (uint64_t)(kinds - all_kinds);
	unsigned i, k, n = 1;

	while (kinds->at[n])
		n++;
	program.fibers = seed % 4 ? 2 : 3;
	for (i = 0; i < program.fibers; i++) {
		program.n[i] = program.fibers == 2 ? 3 + machine_random(&state, OPS - 2)
						   : 1 + machine_random(&state, 2);
		for (k = 0; k < program.n[i]; k++) {
			program.at[i][k].op = machine_random(&state, 2)
						      ? kinds->at[machine_random(&state, n)]
					      : machine_random(&state, 2) ? op_load
									  : op_store;
			program.at[i][k].object = machine_random(&state, 4) == 0;
		}
	}
}

static void *run_fiber(void *arg)
{
	const unsigned me = (unsigned)(uintptr_t)arg;
	unsigned k, i;

	for (k = 0; k < program.n[me]; k++) {
		const unsigned got = program.at[me][k].op(me, program.at[me][k].object);

		world.reg[me] = world.reg[me] * 31 + got + 1;
	}
	for (i = 0; i < 2; i++) {
		if (world.held[me] & 1u << i)
			fiber_mutex_unlock(&world.mutex[i]);
		if (world.held[me] & 4u << i)
			fiber_rwlock_unlock(&world.rwlock[i]);
	}
	return NULL;
}

static void run_program(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 1; i < program.fibers; i++)
		fiber_spawn(run_fiber, (void *)(uintptr_t)i, &world.fiber[i]);
	run_fiber(NULL);
	for (i = 1; i < program.fibers; i++)
		fiber_join(world.fiber[i], NULL, FIBER_FOREVER);
}

static void prepare(void *arg)
{
	unsigned i;

	(void)arg;
	memset(&world, 0, sizeof world);
	fiber_sem_init(&world.sem, 1);
	fiber_barrier_init(&world.barrier, 2);
	for (i = 0; i < 2; i++)
		fiber_test_assert(fiber_chan_new(sizeof(unsigned), i, &world.chan[i]) == 0);
}

/* The outcomes that were seen; shared with the process that runs the schedules. */
static struct seen {
	unsigned n;
	uint64_t outcomes[MACHINE_OUTCOMES];
} * seen;

static void finish(void *arg)
{
	uint64_t outcome = world.variable[0] * 256u + world.variable[1];
	unsigned i;

	(void)arg;
	for (i = 0; i < program.fibers; i++)
		outcome = (outcome ^ world.reg[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (i = 0; i < 2; i++)
		fiber_chan_unref(world.chan[i]);
	seen->n = machine_add(seen->outcomes, seen->n, outcome);
}

/* Returns the number of schedules; 0: there are too many. */
static uint64_t explore(int64_t slack, unsigned flags)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "exhaustive",
						   .schedules = MOST,
						   .time_limit = -1,
						   .slack = slack,
						   .flags = flags,
						   .prepare = prepare,
						   .finish = finish};
	struct fiber_test_result result = {.size = sizeof result};

	seen->n = 0;
	if (fiber_test_explore(run_program, NULL, &options, &result) != 0)
		fail_msg("%s: %s", fiber_test_verdict_name(result.verdict), result.message);
	return result.verdict == FIBER_TEST_COMPLETE ? result.schedules : 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static unsigned programs(void)
{
	const char *text = getenv("EXPLORE_PROGRAMS");

	return text ? (unsigned)strtoul(text, NULL, 10) : PROGRAMS;
}

static void expect_the_same_outcomes(const struct kinds *kinds)
{
	static struct seen all;
	uint64_t every = 0, reduced = 0, schedules, fewer;
	unsigned seed, done = 0, outcomes = 0;

	for (seed = 1; seed <= programs(); seed++) {
		generate(seed, kinds);
		schedules = explore(kinds->slack, 0);
		if (!schedules)
			continue;
		all = *seen;
		fewer = explore(kinds->slack, FIBER_TEST_DECLARED);
		qsort(all.outcomes, all.n, sizeof *all.outcomes, by_value);
		qsort(seen->outcomes, seen->n, sizeof *seen->outcomes, by_value);
		if (all.n != seen->n ||
		    memcmp(all.outcomes, seen->outcomes, all.n * sizeof *all.outcomes) != 0)
			fail_msg("%s, program %u: %u outcomes, with reduction %u", kinds->name,
				 seed, all.n, seen->n);
		assert_true(fewer && fewer <= schedules);
		every += schedules;
		reduced += fewer;
		outcomes += all.n;
		done++;
	}
	print_message("%s: %u programs have %u outcomes in %llu schedules, with reduction %llu\n",
		      kinds->name, done, outcomes, (unsigned long long)every,
		      (unsigned long long)reduced);
	/* They are not trivial, and not too large. */
	assert_true(done > programs() / 3);
	assert_true(outcomes > done);
	assert_true(reduced < every);
}

static void test_no_outcome_is_lost(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++)
		expect_the_same_outcomes(&all_kinds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_outcome_is_lost),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
