/* SPDX-License-Identifier: MIT */
/* test_relock.c - locking a lock twice: abort with its name, refusal, or a wait */
#include "queue.h"

#include <string.h>

#include "tests/unit/sched/misuse.h"

static struct fiber_mutex config = {.name = "config"};
static struct fiber_rwlock routes = {.name = "routes"};
static enum fiber_relock_policy policy;

static int run(fiber_fn *fn, unsigned carriers, struct fiber_result *ret)
{
	const struct fiber_runtime_options options = {.size = sizeof options,
						      .carriers = carriers,
						      .control_path = "",
						      .relock_policy = policy};

	return fiber_run(fn, NULL, &options, ret);
}

static void *lock_twice(void *arg)
{
	fiber_set_name(fiber_self(), "eager");
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_lock(&config, FIBER_FOREVER);
	return arg;
}

static void *write_twice(void *arg)
{
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	return arg;
}

static void *read_what_is_written(void *arg)
{
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	fiber_rwlock_rdlock(&routes, FIBER_FOREVER);
	return arg;
}

static void *write_what_is_read(void *arg)
{
	fiber_rwlock_rdlock(&routes, FIBER_FOREVER);
	fiber_rwlock_wrlock(&routes, FIBER_FOREVER);
	return arg;
}

static void mutex_in_fiber(void)
{
	run(lock_twice, 1, NULL);
}

static void write_in_fiber(void)
{
	run(write_twice, 4, NULL);
}

static void read_in_fiber(void)
{
	run(read_what_is_written, 4, NULL);
}

static void upgrade_in_fiber(void)
{
	run(write_what_is_read, 1, NULL);
}

static void mutex_in_thread(void)
{
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_lock(&config, FIBER_FOREVER);
}

static void upgrade_in_thread(void)
{
	write_what_is_read(NULL);
}

#define WAITS ": it would wait for itself"

static const struct said {
	struct misuse misuse;
	const char *pattern;
} cases[] = {
	{{"mutex", mutex_in_fiber},
	 "libfiber: fiber 1 \"eager\": fiber_mutex_lock: mutex \"config\" (0x*) is held by the "
	 "caller already" WAITS},
	{{"write", write_in_fiber},
	 "libfiber: fiber 1 \"\": fiber_rwlock_wrlock: rwlock \"routes\" (0x*) is written by the "
	 "caller already" WAITS},
	{{"read", read_in_fiber},
	 "libfiber: fiber 1 \"\": fiber_rwlock_rdlock: rwlock \"routes\" (0x*) is written by the "
	 "caller already" WAITS},
	{{"upgrade", upgrade_in_fiber},
	 "libfiber: fiber 1 \"\": fiber_rwlock_wrlock: rwlock \"routes\" (0x*) is read by the "
	 "caller already, and by no other" WAITS},
	{{"mutex-thread", mutex_in_thread},
	 "libfiber: thread *: fiber_mutex_lock: mutex \"config\" * is held by the caller "
	 "already" WAITS},
	{{"upgrade-thread", upgrade_in_thread},
	 "libfiber: thread *: fiber_rwlock_wrlock: rwlock \"routes\" * is read by the caller "
	 "already, and by no other" WAITS},
};

static void test_relock_aborts_and_names_the_caller_and_the_lock(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(cases); i++)
		assert_misuse(cases[i].misuse.name, cases[i].pattern);
}

/* Whether every call returns the given result, in the calling fiber or thread, with a deadline. */
static bool all_return(int mutex, int rwlock, int64_t deadline)
{
	struct fiber_mutex m = {.name = "m"};
	struct fiber_rwlock l = {.name = "l"};
	bool good = fiber_mutex_lock(&m, deadline) == 0;

	good = good && fiber_mutex_lock(&m, deadline) == mutex;
	good = good && fiber_mutex_trylock(&m) == -EBUSY;
	fiber_mutex_unlock(&m);
	good = good && !fib_load(&m.owner) && !m.waiters.head;
	good = good && fiber_rwlock_wrlock(&l, deadline) == 0;
	good = good && fiber_rwlock_wrlock(&l, deadline) == rwlock;
	good = good && fiber_rwlock_rdlock(&l, deadline) == rwlock;
	good = good && fiber_rwlock_trywrlock(&l) == -EBUSY;
	good = good && fiber_rwlock_tryrdlock(&l) == -EBUSY;
	fiber_rwlock_unlock(&l);
	good = good && fiber_rwlock_rdlock(&l, deadline) == 0;
	good = good && fiber_rwlock_wrlock(&l, deadline) == rwlock;
	good = good && fiber_rwlock_trywrlock(&l) == -EBUSY;
	/* Locking twice for reading is no misuse; after that the readers are no longer known. */
	good = good && fiber_rwlock_tryrdlock(&l) == 0;
	good = good && fiber_rwlock_wrlock(&l, 0) == -ETIMEDOUT;
	fiber_rwlock_unlock(&l);
	good = good && fiber_rwlock_wrlock(&l, deadline) == rwlock;
	fiber_rwlock_unlock(&l);
	return good && !l.owner && !l.state && !l.waiters.head;
}

static void *refused(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)(all_return(-EDEADLK, -EDEADLK, FIBER_FOREVER) &&
				  all_return(-EDEADLK, -EDEADLK, fiber_after(60000 * MS)) &&
				  all_return(-EDEADLK, -EDEADLK, 0));
}

static void *timed_out(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)(all_return(-ETIMEDOUT, -ETIMEDOUT, fiber_after(MS)) &&
				  all_return(-ETIMEDOUT, -ETIMEDOUT, 0));
}

static void expect(fiber_fn *fn, unsigned carriers)
{
	struct fiber_result result = {NULL, 1};

	assert_int_equal(run(fn, carriers, &result), 0);
	assert_int_equal((intptr_t)result.value, 1);
}

static void test_relock_is_refused_at_once_under_that_policy(void **state)
{
	(void)state;
	policy = FIBER_RELOCK_ERROR;
	expect(refused, 1);
	expect(refused, 4);
	/* From then on the policy also applies to threads. */
	assert_true(refused(NULL));
}

static void test_relock_with_a_deadline_times_out_under_the_other_policies(void **state)
{
	(void)state;
	for (int i = FIBER_RELOCK_ABORT; i <= FIBER_RELOCK_WAIT; i += FIBER_RELOCK_WAIT) {
		policy = (enum fiber_relock_policy)i;
		expect(timed_out, 1);
		expect(timed_out, 4);
		assert_true(timed_out(NULL));
	}
}

static void *lock_for_ever(void *arg)
{
	struct fiber_mutex *m = arg;
	int rc;

	fiber_mutex_lock(m, FIBER_FOREVER);
	rc = fiber_mutex_lock(m, FIBER_FOREVER);
	fiber_mutex_unlock(m);
	return (void *)(intptr_t)rc;
}

/* The tools show a fiber that waits for itself. */
static void test_relock_waits_under_that_policy_until_it_is_cancelled(void **state)
{
	struct fiber_runtime_options options = {.size = sizeof options,
						.carriers = 1,
						.control_path = "",
						.relock_policy = FIBER_RELOCK_WAIT};
	struct fiber_mutex m = {.name = "m"};
	struct fiber_result result;
	struct fiber_runtime *own;
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &own), 0);
	assert_int_equal(fiber_runtime_spawn(own, NULL, lock_for_ever, &m, &fiber), 0);
	queue_await(&m.waiters, 1);
	fiber_cancel(fiber);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)result.value, -ECANCELED);
	assert_int_equal(fiber_runtime_finish(own, FIBER_FOREVER), 0);
}

/* Reader a locks, b unlocks instead: then nothing is known about the readers, and no misuse is
 * reported. */
static void *unlock_it(void *arg)
{
	fiber_rwlock_unlock(arg);
	return NULL;
}

static void *hand_a_read_lock_over(void *arg)
{
	struct fiber_rwlock l = {.name = "l"};
	struct fiber *fiber;
	int rc;

	(void)arg;
	fiber_rwlock_rdlock(&l, FIBER_FOREVER);
	fiber_rwlock_rdlock(&l, FIBER_FOREVER);
	for (int i = 0; i < 2; i++) {
		fiber_spawn(unlock_it, &l, &fiber);
		fiber_join(fiber, NULL, FIBER_FOREVER);
	}
	rc = fiber_rwlock_wrlock(&l, FIBER_FOREVER);
	fiber_rwlock_unlock(&l);
	return (void *)(intptr_t)(rc == 0 && !l.state);
}

static void test_relock_of_a_read_lock_that_another_released_is_free(void **state)
{
	(void)state;
	policy = FIBER_RELOCK_ABORT;
	expect(hand_a_read_lock_over, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relock_aborts_and_names_the_caller_and_the_lock),
		cmocka_unit_test(test_relock_is_refused_at_once_under_that_policy),
		cmocka_unit_test(test_relock_with_a_deadline_times_out_under_the_other_policies),
		cmocka_unit_test(test_relock_waits_under_that_policy_until_it_is_cancelled),
		cmocka_unit_test(test_relock_of_a_read_lock_that_another_released_is_free),
	};

	for (size_t i = 0; argc > 1 && i < fib_countof(cases); i++)
		misuse_main(&cases[i].misuse, 1, argv[1]);
	harness_watchdog(110);
	return cmocka_run_group_tests_name("relock", tests, queue_start, queue_stop);
}
