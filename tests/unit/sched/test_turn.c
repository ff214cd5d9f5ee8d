/* SPDX-License-Identifier: MIT */
/* test_turn.c - a loop that only locks and unlocks lets other fibers of its carrier run */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include <fiber.h>

#include "sched/sched.h"
#include "sched/turn.h"
#include "tests/harness/watchdog.h"

#define LOCKS_MOST (100 * FIB_TURN_LOCKS) /* a fiber that took so many gives up: the test fails */

enum taken { MUTEX, READ, WRITE, SEM, TAKEN };

struct hog {
	struct fiber_mutex mutex;
	struct fiber_rwlock rwlock;
	struct fiber_sem sem;
	enum taken takes;
	bool pinned, cancelled;
	bool ran;	/* the other fiber */
	unsigned locks; /* locks made until then */
	int wrong;
};

static int take(struct hog *h)
{
	switch (h->takes) {
	case MUTEX:
		return fiber_mutex_lock(&h->mutex, FIBER_FOREVER);
	case READ:
		return fiber_rwlock_rdlock(&h->rwlock, FIBER_FOREVER);
	case WRITE:
		return fiber_rwlock_wrlock(&h->rwlock, FIBER_FOREVER);
	default:
		return fiber_sem_wait(&h->sem, FIBER_FOREVER);
	}
}

static void give(struct hog *h)
{
	if (h->takes == MUTEX)
		fiber_mutex_unlock(&h->mutex);
	else if (h->takes == SEM)
		fiber_sem_post(&h->sem);
	else
		fiber_rwlock_unlock(&h->rwlock);
}

static void *other(void *arg)
{
	struct hog *h = arg;

	h->ran = true;
	/* The mutex is free whenever the other fiber runs. */
	h->wrong += fiber_mutex_trylock(&h->mutex) != 0;
	fiber_mutex_unlock(&h->mutex);
	return NULL;
}

static void *hog(void *arg)
{
	struct hog *h = arg;
	bool before;

	fiber_sem_init(&h->sem, 1);
	fiber_spawn(other, h, NULL);
	if (h->cancelled)
		fiber_cancel(fiber_self());
	if (h->pinned)
		fiber_pin();
	while (!h->ran && h->locks < LOCKS_MOST) {
		h->wrong += take(h) != 0;
		before = h->ran;
		h->locks++;
		give(h);
		h->wrong += h->ran != before;
	}
	if (h->pinned)
		fiber_unpin();
	return NULL;
}

static void run(struct hog *h)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = "", .long_run_ns = -1};

	assert_int_equal(fiber_run(hog, h, &options, NULL), 0);
	assert_int_equal(h->wrong, 0);
}

static void test_turn_ends_in_a_loop_of_locks_and_before_the_lock_is_taken(void **state)
{
	(void)state;
	for (int takes = MUTEX; takes < TAKEN; takes++) {
		struct hog h = {.takes = (enum taken)takes};

		run(&h);
		assert_in_range(h.locks, FIB_TURN_LOCKS, 2 * FIB_TURN_LOCKS);
	}
}

static void test_turn_of_a_pinned_fiber_goes_on(void **state)
{
	struct hog h = {.pinned = true};

	(void)state;
	run(&h);
	assert_int_equal(h.locks, LOCKS_MOST);
}

static void test_turn_of_a_cancelled_fiber_ends_and_its_locks_are_taken(void **state)
{
	struct hog h = {.cancelled = true};

	(void)state;
	run(&h);
	assert_in_range(h.locks, FIB_TURN_LOCKS, 2 * FIB_TURN_LOCKS);
}

static void *yielder(void *arg)
{
	unsigned *yields = arg;

	while (*yields < LOCKS_MOST) {
		++*yields;
		fiber_yield();
	}
	return NULL;
}

/* This fiber runs briefly, so none of its locks yields, and the two fibers alternate. */
static void *locks_and_yields(void *arg)
{
	static struct fiber_mutex mutex;
	unsigned before, *const yields = arg;
	intptr_t wrong = 0;

	fiber_spawn(yielder, yields, NULL);
	fiber_yield();
	for (int i = 0; i < 5000; i++) {
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		fiber_mutex_unlock(&mutex);
		before = *yields;
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		wrong += *yields != before;
		fiber_mutex_unlock(&mutex);
		fiber_yield();
	}
	*yields = LOCKS_MOST;
	return (void *)wrong;
}

static void test_turn_that_is_short_is_not_ended_by_a_lock(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct fiber_result result = {NULL, 1};
	unsigned yields = 0;

	(void)state;
	assert_int_equal(fiber_run(locks_and_yields, &yields, &options, &result), 0);
	assert_int_equal((intptr_t)result.value, 0);
}

/* Several carriers, and fibers that migrate in the middle of a lock. */
static struct fiber_mutex busy[4];
static unsigned done[4];

static void *many(void *arg)
{
	const unsigned mine = (unsigned)(uintptr_t)arg % 4;

	for (int i = 0; i < 20000; i++) {
		fiber_mutex_lock(&busy[mine], FIBER_FOREVER);
		done[mine]++;
		fiber_mutex_unlock(&busy[mine]);
	}
	return NULL;
}

static void test_turn_ends_on_several_carriers_and_the_lock_is_the_callers(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 4, .control_path = "", .long_run_ns = -1};
	fiber_fn *fns[8];
	void *args[8];

	(void)state;
	for (uintptr_t i = 0; i < 8; i++) {
		fns[i] = many;
		args[i] = (void *)i;
	}
	assert_int_equal(fiber_run_many(fns, args, 8, &options, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(done[i], 40000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turn_ends_in_a_loop_of_locks_and_before_the_lock_is_taken),
		cmocka_unit_test(test_turn_of_a_pinned_fiber_goes_on),
		cmocka_unit_test(test_turn_of_a_cancelled_fiber_ends_and_its_locks_are_taken),
		cmocka_unit_test(test_turn_that_is_short_is_not_ended_by_a_lock),
		cmocka_unit_test(test_turn_ends_on_several_carriers_and_the_lock_is_the_callers),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
