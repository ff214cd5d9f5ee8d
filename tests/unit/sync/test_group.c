/* SPDX-License-Identifier: MIT */
/* test_group.c - a group waits for all its fibers, and the first that fails cancels the others */
#include "queue.h"

#include <fiber/group.h>

static void *idle_away(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *add_one(void *arg)
{
	fiber_yield();
	fib_add((_Atomic int *)arg, 1);
	return NULL;
}

static void *fail_io(void *arg)
{
	(void)arg;
	fiber_fail(-EIO, "the disk");
}

static void *fail_late(void *arg)
{
	(void)arg;
	while (fiber_park(FIBER_FOREVER) == 0)
		;
	fiber_fail(-ENOSPC, "the other disk");
}

/* If the condition does not hold, return its text. */
#define must(condition)                                         \
	do {                                                    \
		if (!(condition))                               \
			return (void *)(uintptr_t)(#condition); \
	} while (0)

#define prove(fn)                                                                              \
	do {                                                                                   \
		struct fiber_result r_ = {NULL, 0};                                            \
		fiber_join(queue_spawn(fn, NULL), &r_, FIBER_FOREVER);                         \
		_assert_true(!r_.value, r_.value ? (char *)r_.value : "", __FILE__, __LINE__); \
	} while (0)

static void *all_end(void *arg)
{
	_Atomic int n = 0;
	struct fiber_group g;
	int i;

	(void)arg;
	fiber_group_init(&g);
	must(fiber_group_wait(&g, 0) == 0);
	for (i = 0; i < 20; i++)
		must(fiber_group_spawn(&g, add_one, &n) == 0);
	must(fiber_group_wait(&g, FIBER_FOREVER) == 0);
	must(n == 20);
	must(fiber_group_live(&g) == 0);
	must(!g.first && !g.last);
	return NULL;
}

static void test_group_wait_ends_when_every_member_has(void **state)
{
	(void)state;
	prove(all_end);
}

static void *first_error(void *arg)
{
	struct fiber_group g = {0};
	int i;

	(void)arg;
	for (i = 0; i < 10; i++)
		must(fiber_group_spawn(&g, i % 2 ? idle_away : fail_late, NULL) == 0);
	must(fiber_group_spawn(&g, fail_io, NULL) == 0);
	must(fiber_group_wait(&g, FIBER_FOREVER) == -EIO);
	must(fiber_group_spawn(&g, fail_io, NULL) == -ECANCELED);
	must(fiber_group_live(&g) == 0);
	must(fiber_group_wait(&g, 0) == -EIO);
	must(!fiber_cancelled());
	return NULL;
}

static void test_group_first_error_wins_and_cancels_the_rest(void **state)
{
	(void)state;
	prove(first_error);
}

static void *keeps(void *arg)
{
	_Atomic int n = 0;
	struct fiber_group g = {0};

	(void)arg;
	must(fiber_group_set_flags(&g, 4) == -EINVAL);
	must(fiber_group_set_flags(&g, FIBER_GROUP_KEEP) == 0);
	must(fiber_group_spawn(&g, fail_io, NULL) == 0);
	must(fiber_group_spawn(&g, idle_away, NULL) == 0);
	must(fiber_group_wait(&g, fiber_after(5 * MS)) == -ETIMEDOUT);
	must(fiber_group_live(&g) == 1);
	must(fiber_group_spawn(&g, add_one, &n) == 0);
	fiber_group_cancel(&g);
	must(fiber_group_wait(&g, FIBER_FOREVER) == -EIO);
	return NULL;
}

static void test_group_that_keeps_goes_on_after_an_error(void **state)
{
	(void)state;
	prove(keeps);
}

static void *deadline(void *arg)
{
	struct fiber_group g = {0};

	(void)arg;
	must(fiber_group_spawn(&g, idle_away, NULL) == 0);
	must(fiber_group_wait(&g, 0) == -ETIMEDOUT);
	must(fiber_group_wait(&g, fiber_after(MS)) == -ETIMEDOUT);
	must(fiber_group_live(&g) == 1);
	must(queue_length(&g.waiters) == 0);
	fiber_group_cancel(&g);
	must(fiber_group_wait(&g, FIBER_FOREVER) == -ECANCELED);
	return NULL;
}

static void test_group_lives_on_past_a_deadline(void **state)
{
	(void)state;
	prove(deadline);
}

/* -- the waiting fiber is cancelled -- */

struct family {
	struct fiber_group group;
	_Atomic int ended;
	int rc;
	unsigned live;
};

static void *ends_slowly(void *arg)
{
	struct family *f = arg;
	int i;

	fiber_park(FIBER_FOREVER);
	for (i = 0; i < 50; i++)
		fiber_yield();
	fib_add(&f->ended, 1);
	return NULL;
}

static void *parent(void *arg)
{
	struct family *f = arg;
	int i;

	for (i = 0; i < 5; i++)
		fiber_group_spawn(&f->group, ends_slowly, f);
	f->rc = fiber_group_wait(&f->group, FIBER_FOREVER);
	f->live = fiber_group_live(&f->group);
	return NULL;
}

static void test_group_whose_waiter_is_cancelled_is_cancelled_and_waited_for(void **state)
{
	struct family f = {.rc = 1, .live = 9};
	struct fiber_result r = {NULL, 1};
	struct fiber *fiber = queue_spawn(parent, &f);

	(void)state;
	queue_await(&f.group.waiters, 1);
	fiber_cancel(fiber);
	assert_int_equal(fiber_join(fiber, &r, FIBER_FOREVER), 0);
	assert_int_equal(r.error, -ECANCELED);
	assert_int_equal(f.rc, -ECANCELED);
	assert_int_equal(f.live, 0);
	assert_int_equal(fib_load(&f.ended), 5);
}

static void *fill(void *arg)
{
	return (void *)(intptr_t)fiber_group_spawn(arg, idle_away, NULL);
}

static void *wait_in_thread(void *arg)
{
	return (void *)(intptr_t)fiber_group_wait(arg, FIBER_FOREVER);
}

static void test_group_is_waited_for_and_cancelled_by_threads(void **state)
{
	struct fiber_group g = {0};
	pthread_t threads[3];
	void *rc;
	int i;

	(void)state;
	assert_int_equal(fiber_group_spawn(&g, idle_away, NULL), -EPERM);
	assert_int_equal(queue_join(queue_spawn(fill, &g)), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_in_thread, &g), 0);
	queue_await(&g.waiters, 3);
	fiber_group_cancel(&g);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &rc);
		assert_int_equal((intptr_t)rc, -ECANCELED);
	}
}

static void wait_for_group(void *arg)
{
	fiber_group_wait(arg, FIBER_FOREVER);
}

static void *yield_some(void *arg)
{
	for (int i = 0; i < 10; i++)
		fiber_yield();
	return arg;
}

/* The handler runs while the stack still exists. */
static void *leave_to_a_handler(void *arg)
{
	struct fiber_group group;

	fiber_group_init(&group);
	fiber_at_exit(wait_for_group, &group);
	for (int i = 0; i < 5; i++)
		fiber_group_spawn(&group, yield_some, NULL);
	fiber_exit(arg);
}

static struct fiber_group elsewhere;

static void *leave_one_elsewhere(void *arg)
{
	fiber_group_spawn(&elsewhere, yield_some, NULL);
	return arg;
}

static void test_group_may_be_left_to_an_exit_handler_and_one_elsewhere_to_others(void **state)
{
	(void)state;
	assert_int_equal(queue_join(queue_spawn(leave_to_a_handler, (void *)3)), 3);
	assert_int_equal(queue_join(queue_spawn(leave_one_elsewhere, (void *)4)), 4);
	assert_int_equal(fiber_group_wait(&elsewhere, FIBER_FOREVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_wait_ends_when_every_member_has),
		cmocka_unit_test(test_group_first_error_wins_and_cancels_the_rest),
		cmocka_unit_test(test_group_that_keeps_goes_on_after_an_error),
		cmocka_unit_test(test_group_lives_on_past_a_deadline),
		cmocka_unit_test(test_group_whose_waiter_is_cancelled_is_cancelled_and_waited_for),
		cmocka_unit_test(test_group_is_waited_for_and_cancelled_by_threads),
		cmocka_unit_test(
			test_group_may_be_left_to_an_exit_handler_and_one_elsewhere_to_others),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
