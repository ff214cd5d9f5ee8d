/* SPDX-License-Identifier: MIT */
/* test_late.c - fibers that compute for long do not keep their carrier from what is due outside */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <fiber.h>

#include "tests/harness/watchdog.h"

#define MS    INT64_C(1000000)
#define TURN  (10 * MS)
#define CROWD 8u
/*
 * Turns that may pass before a fiber that is due runs: a few for each that is queued, more where the
 * system does not let the coarse clock go on. Without the rule 50 and more pass.
 */
#define MOST (3 * CROWD)

static _Atomic bool stop;
static _Atomic unsigned turns;
static struct fiber_sem sems[2];
static int pipes[2];

static void compute(void)
{
	const int64_t end = fiber_now() + TURN;

	while (fiber_now() < end)
		;
	turns++;
}

static void *yields(void *arg)
{
	while (!stop) {
		compute();
		fiber_yield();
	}
	return arg;
}

/* Two of them wake each other and wait: the one that runs next has just become runnable. */
static void *hands_over(void *arg)
{
	const size_t me = (size_t)(uintptr_t)arg;

	while (!stop) {
		fiber_sem_wait(&sems[me], FIBER_FOREVER);
		compute();
		fiber_sem_post(&sems[!me]);
	}
	return NULL;
}

static void *ends(void *arg)
{
	compute();
	return arg;
}

/* Many that end after a turn. */
static void *spawns(void *arg)
{
	struct fiber *fibers[CROWD];

	while (!stop) {
		for (unsigned i = 0; i < CROWD; i++)
			fiber_spawn(ends, NULL, &fibers[i]);
		for (unsigned i = 0; i < CROWD; i++)
			fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	return arg;
}

/* How many turns of the others pass in a sleep of 1 ms, and until a byte is read. */
struct late {
	fiber_fn *busy;
	unsigned fibers;
	unsigned sleep, read;
};

/* The thread may get its CPU late: turns count from the write on. */
static void *write_soon(void *arg)
{
	usleep(1000);
	*(unsigned *)arg = turns;
	return write(pipes[1], "x", 1) == 1 ? arg : NULL;
}

static void *waits(void *arg)
{
	struct late *late = arg;
	unsigned before = turns, written;
	pthread_t writer;
	char byte;

	fiber_sleep(MS);
	late->sleep = turns - before;
	if (pthread_create(&writer, NULL, write_soon, &written))
		abort();
	fiber_read(pipes[0], &byte, 1, FIBER_FOREVER);
	before = turns;
	pthread_join(writer, NULL);
	late->read = before - written;
	stop = true;
	return NULL;
}

static void *root(void *arg)
{
	struct late *late = arg;
	struct fiber *fibers[2], *waiter;

	for (size_t i = 0; i < late->fibers; i++)
		fiber_spawn(late->busy, (void *)(uintptr_t)i, &fibers[i]);
	fiber_spawn(waits, late, &waiter);
	fiber_join(waiter, NULL, FIBER_FOREVER);
	for (size_t i = 0; i < late->fibers; i++) {
		fiber_sem_post(&sems[i]);
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	return NULL;
}

/* With more carriers another one may look. */
static void expect_soon(fiber_fn *busy, unsigned fibers, unsigned most)
{
	const struct fiber_runtime_options options = {
		.size = sizeof(options), .carriers = 1, .control_path = ""};
	struct late late = {.busy = busy, .fibers = fibers};

	stop = false;
	fiber_sem_init(&sems[0], 1);
	fiber_sem_init(&sems[1], 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fiber_run(root, &late, &options, NULL), 0);
	close(pipes[0]);
	close(pipes[1]);
	print_message("# %u turns in the sleep, %u until the byte\n", late.sleep, late.read);
	assert_true(late.sleep <= most);
	assert_true(late.read <= most);
}

static void test_late_look_of_one_that_yields_alone(void **state)
{
	(void)state;
	expect_soon(yields, 1, MOST);
}

static void test_late_look_of_two_that_yield_to_each_other(void **state)
{
	(void)state;
	expect_soon(yields, 2, MOST);
}

static void test_late_look_of_two_that_wake_each_other(void **state)
{
	(void)state;
	/* The one that was woken last may run 16 times before the queue. */
	expect_soon(hands_over, 2, MOST / 2);
}

static void test_late_look_of_many_that_end(void **state)
{
	(void)state;
	expect_soon(spawns, 1, MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_look_of_one_that_yields_alone),
		cmocka_unit_test(test_late_look_of_two_that_yield_to_each_other),
		cmocka_unit_test(test_late_look_of_two_that_wake_each_other),
		cmocka_unit_test(test_late_look_of_many_that_end),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
