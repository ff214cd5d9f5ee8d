/* SPDX-License-Identifier: MIT */
/* test_reading.c - a fiber's record has the rwlocks that the fiber holds for reading */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber.h>

#include "life/reading.h"
#include "tests/harness/watchdog.h"

#define LOCKS (FIB_READS + 2)

static struct fiber_rwlock locks[LOCKS];
static unsigned wrong; /* asserts are made outside of fibers */

/* How many slots of the calling fiber have the lock. */
static unsigned slots_of(const struct fiber_rwlock *lock)
{
	const struct fiber *me = fiber_self();
	unsigned i, n = 0;

	for (i = 0; i < FIB_READS; i++)
		n += me->reads[i] == lock;
	return n;
}

static void expect(unsigned lock, unsigned slots, unsigned more)
{
	wrong += slots_of(&locks[lock]) != slots;
	wrong += fiber_self()->reads_more != more;
}

static void run(fiber_fn *fn)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};

	wrong = 0;
	assert_int_equal(fiber_run(fn, NULL, &options, NULL), 0);
	assert_int_equal(wrong, 0);
}

static void *read_and_release(void *arg)
{
	fiber_rwlock_rdlock(&locks[0], FIBER_FOREVER);
	expect(0, 1, 0);
	wrong += fiber_rwlock_tryrdlock(&locks[1]) != 0;
	expect(1, 1, 0);
	fiber_rwlock_rdlock(&locks[0], FIBER_FOREVER);
	expect(0, 2, 0);
	fiber_rwlock_unlock(&locks[0]);
	expect(0, 1, 0);
	fiber_rwlock_unlock(&locks[1]);
	expect(1, 0, 0);
	fiber_rwlock_unlock(&locks[0]);
	expect(0, 0, 0);
	return arg;
}

static void test_a_lock_is_in_a_slot_until_it_is_released(void **state)
{
	(void)state;
	run(read_and_release);
}

static void *read_all(void *arg)
{
	unsigned i;

	for (i = 0; i < LOCKS; i++)
		fiber_rwlock_rdlock(&locks[i], FIBER_FOREVER);
	expect(LOCKS - 1, 0, LOCKS - FIB_READS);
	fiber_rwlock_unlock(&locks[1]);
	expect(1, 0, LOCKS - FIB_READS);
	fiber_rwlock_rdlock(&locks[1], FIBER_FOREVER);
	expect(1, 1, LOCKS - FIB_READS);
	fiber_rwlock_unlock(&locks[LOCKS - 1]);
	expect(0, 1, LOCKS - FIB_READS - 1);
	for (i = 0; i < LOCKS - 1; i++)
		fiber_rwlock_unlock(&locks[i]);
	for (i = 0; i < LOCKS; i++)
		expect(i, 0, 0);
	return arg;
}

static void test_locks_without_a_slot_are_counted(void **state)
{
	(void)state;
	run(read_all);
}

static void *write_and_fail(void *arg)
{
	fiber_rwlock_wrlock(&locks[0], FIBER_FOREVER);
	expect(0, 0, 0);
	wrong += fiber_rwlock_tryrdlock(&locks[0]) != -EBUSY;
	expect(0, 0, 0);
	fiber_rwlock_unlock(&locks[0]);
	return arg;
}

static void test_a_writer_and_a_refused_reader_have_no_slot(void **state)
{
	(void)state;
	run(write_and_fail);
}

static void *wait_to_read(void *arg)
{
	fiber_rwlock_rdlock(&locks[0], FIBER_FOREVER);
	expect(0, 1, 0);
	fiber_rwlock_unlock(&locks[0]);
	return arg;
}

static void *write_beside_a_waiter(void *arg)
{
	struct fiber *waiter;

	fiber_rwlock_wrlock(&locks[0], FIBER_FOREVER);
	wrong += fiber_spawn(wait_to_read, NULL, &waiter) != 0;
	while (fiber_state(waiter) != FIBER_SUSPENDED)
		fiber_yield();
	fiber_rwlock_unlock(&locks[0]);
	fiber_join(waiter, NULL, FIBER_FOREVER);
	return arg;
}

static void test_a_reader_that_had_to_wait_has_a_slot(void **state)
{
	(void)state;
	run(write_beside_a_waiter);
}

static void *keep_all(void *arg)
{
	unsigned i;

	for (i = 0; i < LOCKS; i++)
		fiber_rwlock_rdlock(&locks[i], FIBER_FOREVER);
	return arg;
}

/* The next fiber gets the record of the last one. */
static void *exit_with_locks(void *arg)
{
	struct fiber *first, *second;
	unsigned i;

	fiber_spawn(keep_all, NULL, &first);
	wrong += fiber_join(first, NULL, FIBER_FOREVER) != 0;
	fiber_spawn(read_and_release, NULL, &second);
	wrong += second != first;
	wrong += fiber_join(second, NULL, FIBER_FOREVER) != 0;
	for (i = 0; i < LOCKS; i++)
		fiber_rwlock_unlock(&locks[i]); /* of the one that has exited */
	expect(0, 0, 0);
	return arg;
}

static void test_the_next_owner_of_a_record_holds_nothing(void **state)
{
	(void)state;
	run(exit_with_locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lock_is_in_a_slot_until_it_is_released),
		cmocka_unit_test(test_locks_without_a_slot_are_counted),
		cmocka_unit_test(test_a_writer_and_a_refused_reader_have_no_slot),
		cmocka_unit_test(test_a_reader_that_had_to_wait_has_a_slot),
		cmocka_unit_test(test_the_next_owner_of_a_record_holds_nothing),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
