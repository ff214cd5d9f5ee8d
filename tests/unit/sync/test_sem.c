/* SPDX-License-Identifier: MIT */
/* test_sem.c - units are neither lost nor made, and the longest waiter gets the next unit */
#include "queue.h"

static void *wait_forever(void *arg)
{
	return (void *)(intptr_t)fiber_sem_wait(arg, FIBER_FOREVER);
}

static void test_sem_zeroed_has_none(void **state)
{
	struct fiber_sem s = {0};

	(void)state;
	assert_int_equal(fiber_sem_wait(&s, 0), -ETIMEDOUT);
	assert_int_equal(fiber_sem_post(&s), 0);
	assert_int_equal(fiber_sem_wait(&s, 0), 0);
	assert_int_equal(fiber_sem_wait(&s, 0), -ETIMEDOUT);
}

static void test_sem_gives_as_many_as_it_was_set_to(void **state)
{
	struct fiber_sem s = {0};
	int i;

	(void)state;
	assert_int_equal(fiber_sem_init(&s, 3), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(fiber_sem_wait(&s, 0), 0);
	assert_int_equal(fiber_sem_wait(&s, 0), -ETIMEDOUT);
}

static void test_sem_post_at_the_limit_is_refused(void **state)
{
	struct fiber_sem s = {0};

	(void)state;
	fiber_sem_init(&s, UINT64_MAX);
	assert_int_equal(fiber_sem_post(&s), -EOVERFLOW);
	assert_int_equal(fiber_sem_wait(&s, 0), 0);
	assert_int_equal(fiber_sem_post(&s), 0);
}

static void test_sem_post_goes_to_a_waiter_and_not_to_the_count(void **state)
{
	struct fiber_sem s = {0};
	struct fiber *f;
	int i, taken = 0;

	(void)state;
	for (i = 0; i < 200; i++) {
		f = queue_spawn(wait_forever, &s);
		queue_await(&s.waiters, 1);
		fiber_sem_post(&s);
		/* A later caller must not get the unit. */
		taken += fiber_sem_wait(&s, 0) == 0;
		assert_int_equal(queue_join(f), 0);
	}
	assert_int_equal(taken, 0);
}

struct place {
	struct fiber_sem *sem;
	_Atomic unsigned *served;
	unsigned turn;
};

static void *stand(void *arg)
{
	struct place *p = arg;

	if (fiber_sem_wait(p->sem, FIBER_FOREVER) == 0)
		p->turn = fib_add(p->served, 1) + 1;
	return NULL;
}

static void test_sem_serves_fibers_and_threads_in_the_order_they_came(void **state)
{
	struct fiber_sem s = {0};
	struct place places[8];
	struct fiber *fibers[8];
	pthread_t threads[8];
	_Atomic unsigned served = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++) {
		places[i] = (struct place){&s, &served, 0};
		if (i % 2)
			assert_int_equal(pthread_create(&threads[i], NULL, stand, &places[i]), 0);
		else
			fibers[i] = queue_spawn(stand, &places[i]);
		queue_await(&s.waiters, i + 1);
	}
	/* One post at a time, so that they run in the order in which they were served. */
	for (i = 0; i < 8; i++) {
		fiber_sem_post(&s);
		while (fib_load_acquire(&served) != i + 1)
			sched_yield();
	}
	for (i = 0; i < 8; i++) {
		if (i % 2)
			pthread_join(threads[i], NULL);
		else
			queue_join(fibers[i]);
		assert_int_equal(places[i].turn, i + 1);
	}
}

static void *wait_soon(void *arg)
{
	const int64_t deadline = fiber_after(2 * MS);
	const int rc = fiber_sem_wait(arg, deadline);

	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_sem_wait_that_timed_out_takes_nothing(void **state)
{
	struct fiber_sem s = {0};
	void *rc;
	pthread_t thread;

	(void)state;
	assert_int_equal(queue_join(queue_spawn(wait_soon, &s)), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, wait_soon, &s), 0);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -ETIMEDOUT);
	assert_int_equal(queue_length(&s.waiters), 0);
	fiber_sem_post(&s);
	assert_int_equal(fiber_sem_wait(&s, 0), 0);
}

struct race {
	struct fiber_sem sem;
	_Atomic unsigned got;
};

static void *wait_briefly(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 0; i < 500; i++)
		if (fiber_sem_wait(&r->sem, fiber_after(20000)) == 0)
			fib_add(&r->got, 1);
	return NULL;
}

/* A post meets a deadline: exactly one wins, and a unit that no waiter got stays. */
static void test_sem_post_against_deadline_loses_no_unit(void **state)
{
	struct race r = {0};
	struct fiber *fibers[4];
	unsigned i, left = 0;

	(void)state;
	for (i = 0; i < 4; i++)
		fibers[i] = queue_spawn(wait_briefly, &r);
	for (i = 0; i < 1000; i++) {
		fiber_sem_post(&r.sem);
		if (i % 8 == 0)
			fiber_sleep(10000);
	}
	for (i = 0; i < 4; i++)
		queue_join(fibers[i]);
	while (fiber_sem_wait(&r.sem, 0) == 0)
		left++;
	assert_int_equal(fib_load(&r.got) + left, 1000);
	assert_int_equal(queue_length(&r.sem.waiters), 0);
}

static void *wait_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_sem_wait(arg, FIBER_FOREVER);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_sem_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_sem s = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &s)), -EDEADLK);
	assert_int_equal(queue_length(&s.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(wait_pinned, &s);
	queue_await(&s.waiters, 1);
	fiber_sem_post(&s);
	assert_int_equal(queue_join(f), 0);
}

static void *try_and_value(void *arg)
{
	struct fiber_sem *s = arg;
	intptr_t wrong = 0;

	wrong += fiber_sem_trywait(s) != -EAGAIN || fiber_sem_value(s) != 0;
	wrong += fiber_sem_post(s) != 0;
	wrong += fiber_sem_post(s) != 0 || fiber_sem_value(s) != 2;
	wrong += fiber_sem_trywait(s) != 0 || fiber_sem_value(s) != 1;
	wrong += fiber_sem_trywait(s) != 0;
	wrong += fiber_sem_trywait(s) != -EAGAIN;
	return (void *)wrong;
}

static void *try_pinned_and_cancelled(void *arg)
{
	void *wrong;

	fiber_cancel(fiber_self());
	fiber_pin();
	wrong = try_and_value(arg);
	fiber_unpin();
	return wrong;
}

static void test_sem_trywait_takes_one_or_is_refused_and_value_counts(void **state)
{
	struct fiber_result result;
	struct fiber_sem s = {0};
	struct fiber *f;

	(void)state;
	assert_null(try_and_value(&s));
	assert_int_equal(queue_join(queue_spawn(try_and_value, &s)), 0);
	f = queue_spawn(try_pinned_and_cancelled, &s);
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	fiber_sem_init(&s, UINT64_MAX);
	assert_true(fiber_sem_value(&s) == UINT64_MAX);
}

static void test_sem_trywait_does_not_take_what_a_waiter_was_given(void **state)
{
	struct fiber_sem s = {0};
	struct fiber *f;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		f = queue_spawn(wait_forever, &s);
		queue_await(&s.waiters, 1);
		assert_int_equal(fiber_sem_trywait(&s), -EAGAIN);
		fiber_sem_post(&s);
		assert_int_equal(fiber_sem_trywait(&s), -EAGAIN);
		assert_true(fiber_sem_value(&s) == 0);
		assert_int_equal(queue_join(f), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sem_zeroed_has_none),
		cmocka_unit_test(test_sem_gives_as_many_as_it_was_set_to),
		cmocka_unit_test(test_sem_post_at_the_limit_is_refused),
		cmocka_unit_test(test_sem_post_goes_to_a_waiter_and_not_to_the_count),
		cmocka_unit_test(test_sem_serves_fibers_and_threads_in_the_order_they_came),
		cmocka_unit_test(test_sem_wait_that_timed_out_takes_nothing),
		cmocka_unit_test(test_sem_post_against_deadline_loses_no_unit),
		cmocka_unit_test(test_sem_wait_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_sem_trywait_takes_one_or_is_refused_and_value_counts),
		cmocka_unit_test(test_sem_trywait_does_not_take_what_a_waiter_was_given),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
