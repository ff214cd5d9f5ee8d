/* SPDX-License-Identifier: MIT */
/*
 * test_outcomes.c - exhaustive finds each outcome of random small programs, and no other
 *
 * machine.h lists the outcomes without libfiber. Here the same program is run by fibers, in every
 * schedule. All waits have one deadline, which passes when no fiber can go on: a fiber that is left
 * waiting ends there, so that a deadlock is an outcome and not the end of the search.
 *
 * EXPLORE_PROGRAMS=N is the number of programs (make explore-model).
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

#include "tests/explore/machine.h"

#define PROGRAMS 60
#define LATE	 FIBER_FOREVER - 1 /* ns; after everything that can happen */

static struct machine_program program;

/* What the fibers of a schedule share, and where they are. */
static struct world {
	uint8_t pc[MACHINE_FIBERS], reg[MACHINE_FIBERS], variable[2];
	struct fiber_mutex mutex[2];
	struct fiber_sem sem;
	struct fiber_chan *chan;
} world;

/* The outcomes that were seen; shared with the process that runs the schedules. */
static struct seen {
	unsigned n;
	uint64_t outcomes[MACHINE_OUTCOMES];
} * seen;

static int make_step(enum machine_op op, unsigned object, uint8_t *reg)
{
	uint8_t *variable = &world.variable[object], element;
	int rc;

	switch (op) {
	case MACHINE_LOAD:
		fiber_test_access(variable, 1, false);
		*reg = MACHINE_MIX(*reg, *variable);
		return 0;
	case MACHINE_STORE:
		fiber_test_access(variable, 1, true);
		*variable = (uint8_t)(*reg + 1);
		return 0;
	case MACHINE_LOCK:
		return fiber_mutex_lock(&world.mutex[object], LATE);
	case MACHINE_UNLOCK:
		return fiber_mutex_unlock(&world.mutex[object]);
	case MACHINE_TRYLOCK:
		*reg = MACHINE_MIX(*reg, fiber_mutex_trylock(&world.mutex[object]) < 0);
		return 0;
	case MACHINE_POST:
		return fiber_sem_post(&world.sem);
	case MACHINE_WAIT:
		return fiber_sem_wait(&world.sem, LATE);
	case MACHINE_SEND:
		return fiber_chan_send(world.chan, reg, LATE);
	case MACHINE_RECEIVE:
		rc = fiber_chan_recv(world.chan, &element, LATE);
		if (rc == 0)
			*reg = MACHINE_MIX(*reg, element);
		return rc;
	}
	return -1;
}

static void *run_fiber(void *arg)
{
	const unsigned me = (unsigned)(uintptr_t)arg;

	while (world.pc[me] < program.of[me].n &&
	       make_step(program.of[me].at[world.pc[me]].op, program.of[me].at[world.pc[me]].object,
			 &world.reg[me]) == 0)
		world.pc[me]++;
	return NULL;
}

static void run_program(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 1; i < program.fibers; i++)
		fiber_spawn(run_fiber, (void *)(uintptr_t)i, NULL);
	run_fiber(NULL);
}

static void prepare(void *arg)
{
	unsigned i;

	(void)arg;
	memset(&world, 0, sizeof world);
	for (i = 0; i < program.fibers; i++)
		world.reg[i] = MACHINE_REGISTER(i);
	fiber_sem_init(&world.sem, program.count);
	fiber_test_assert(fiber_chan_new(1, program.room, &world.chan) == 0);
}

static void finish(void *arg)
{
	(void)arg;
	fiber_chan_unref(world.chan);
	seen->n = machine_add(seen->outcomes, seen->n,
			      machine_outcome(program.fibers, world.pc, world.reg, world.variable));
}

/* Run every schedule. Returns their number. */
static uint64_t explore(const char *strategy, unsigned flags)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = strategy,
						   .time_limit = -1,
						   .slack = -1,
						   .flags = flags,
						   .prepare = prepare,
						   .finish = finish};
	struct fiber_test_result result = {.size = sizeof result};

	seen->n = 0;
	assert_int_equal(fiber_test_explore(run_program, NULL, &options, &result), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	return result.schedules;
}

static bool is_in(const uint64_t set[], unsigned n, uint64_t number)
{
	unsigned i;

	for (i = 0; i < n && set[i] != number; i++)
		;
	return i < n;
}

static void expect_outcomes(const uint64_t outcomes[], unsigned n, const char *strategy,
			    unsigned seed)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!is_in(seen->outcomes, seen->n, outcomes[i]))
			fail_msg("program %u, %s: outcome %llx was not seen", seed, strategy,
				 (unsigned long long)outcomes[i]);
	for (i = 0; i < seen->n; i++)
		if (!is_in(outcomes, n, seen->outcomes[i]))
			fail_msg("program %u, %s: outcome %llx is impossible", seed, strategy,
				 (unsigned long long)seen->outcomes[i]);
}

static unsigned programs(void)
{
	const char *text = getenv("EXPLORE_PROGRAMS");

	return text ? (unsigned)strtoul(text, NULL, 10) : PROGRAMS;
}

static void test_exhaustive_has_the_outcomes_of_the_machine(void **state)
{
	static uint64_t outcomes[MACHINE_OUTCOMES];
	unsigned seed, n, all = 0;
	uint64_t schedules, every = 0;

	(void)state;
	for (seed = 1; seed <= programs(); seed++) {
		machine_generate(seed, &program);
		n = machine_outcomes(&program, outcomes);
		schedules = explore("exhaustive", 0);
		expect_outcomes(outcomes, n, "exhaustive", seed);
		if (seed % 8 == 1)
			assert_int_equal(explore("exhaustive", 0), schedules);
		all += n;
		every += schedules;
	}
	print_message("%u programs have %u outcomes in %llu schedules\n", programs(), all,
		      (unsigned long long)every);
	/* The programs are not trivial. */
	assert_true(all > 2 * programs());
}

/* All that the fibers share is declared. */
static void test_reduced_search_has_the_outcomes_of_the_machine(void **state)
{
	static uint64_t outcomes[MACHINE_OUTCOMES];
	uint64_t schedules, all, every = 0, reduced = 0;
	unsigned seed, n, less = 0;

	(void)state;
	for (seed = 1; seed <= programs(); seed++) {
		machine_generate(seed, &program);
		n = machine_outcomes(&program, outcomes);
		all = explore("exhaustive", 0);
		schedules = explore("exhaustive", FIBER_TEST_DECLARED);
		expect_outcomes(outcomes, n, "exhaustive, reduced", seed);
		assert_true(schedules <= all);
		if (seed % 8 == 1)
			assert_int_equal(explore("exhaustive", FIBER_TEST_DECLARED), schedules);
		every += all;
		reduced += schedules;
		less += schedules < all;
	}
	print_message("%llu schedules instead of %llu; %u of %u programs have fewer\n",
		      (unsigned long long)reduced, (unsigned long long)every, less, programs());
	assert_true(reduced < every / 2);
}

static void test_bound_has_the_outcomes_of_the_machine(void **state)
{
	static uint64_t outcomes[MACHINE_OUTCOMES];
	unsigned seed, n;

	(void)state;
	for (seed = 1; seed <= programs(); seed += 8) {
		machine_generate(seed, &program);
		n = machine_outcomes(&program, outcomes);
		explore("bound", 0);
		expect_outcomes(outcomes, n, "bound", seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exhaustive_has_the_outcomes_of_the_machine),
		cmocka_unit_test(test_reduced_search_has_the_outcomes_of_the_machine),
		cmocka_unit_test(test_bound_has_the_outcomes_of_the_machine),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
