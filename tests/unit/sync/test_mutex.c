/* SPDX-License-Identifier: MIT */
/* test_mutex.c - a mutex is handed over to its waiters, and its holder can be read */
#include "queue.h"

#include "os/os.h"

static uint64_t owner(struct fiber_mutex *m)
{
	return fib_load(&m->owner);
}

static void *lock_forever(void *arg)
{
	return (void *)(intptr_t)fiber_mutex_lock(arg, FIBER_FOREVER);
}

static void *try(void *arg)
{
	return (void *)(intptr_t)fiber_mutex_trylock(arg);
}

static void test_mutex_zeroed_is_free_and_locks(void **state)
{
	struct fiber_mutex m = {0};

	(void)state;
	assert_int_equal(fiber_mutex_lock(&m, 0), 0);
	assert_int_equal(fiber_mutex_unlock(&m), 0);
	assert_int_equal(fiber_mutex_trylock(&m), 0);
	assert_int_equal(fiber_mutex_unlock(&m), 0);
	assert_int_equal(owner(&m), 0);
}

static void test_mutex_trylock_of_a_held_one_is_busy(void **state)
{
	struct fiber_mutex m = {0};

	(void)state;
	fiber_mutex_lock(&m, 0);
	assert_int_equal(fiber_mutex_trylock(&m), -EBUSY);
	assert_int_equal(queue_join(queue_spawn(try, &m)), -EBUSY);
	fiber_mutex_unlock(&m);
}

struct held {
	struct fiber_mutex m;
	uint64_t owner, id;
};

static void *lock_and_look(void *arg)
{
	struct held *h = arg;

	h->id = fiber_id(fiber_self());
	fiber_mutex_lock(&h->m, FIBER_FOREVER);
	h->owner = owner(&h->m);
	fiber_mutex_unlock(&h->m);
	return NULL;
}

static void test_mutex_owner_is_the_fibers_id_or_the_threads(void **state)
{
	struct held h = {0};
	struct fiber *f;

	(void)state;
	fiber_mutex_lock(&h.m, 0);
	assert_true(owner(&h.m) == (FIB_HOLDER_THREAD | fib_os_tid()));
	f = queue_spawn(lock_and_look, &h);
	queue_await(&h.m.waiters, 1);
	assert_true(owner(&h.m) == (FIB_HOLDER_THREAD | FIB_HOLDER_CONTENDED | fib_os_tid()));
	fiber_mutex_unlock(&h.m);
	queue_join(f);
	assert_true(h.owner == h.id);
	assert_true(owner(&h.m) == 0);
}

static void test_mutex_lock_times_out_when_deadline_passed(void **state)
{
	struct fiber_mutex m = {0};
	int64_t deadline;

	(void)state;
	fiber_mutex_lock(&m, 0);
	assert_int_equal(fiber_mutex_lock(&m, 0), -ETIMEDOUT);
	assert_int_equal(fiber_mutex_lock(&m, INT64_MIN), -ETIMEDOUT);
	assert_int_equal(fiber_mutex_lock(&m, fiber_now()), -ETIMEDOUT);
	deadline = fiber_after(2 * MS);
	assert_int_equal(fiber_mutex_lock(&m, deadline), -ETIMEDOUT);
	assert_true(fiber_now() >= deadline);
	assert_int_equal(queue_length(&m.waiters), 0);
	fiber_mutex_unlock(&m);
	assert_int_equal(owner(&m), 0);
	assert_int_equal(fiber_mutex_lock(&m, 0), 0);
	fiber_mutex_unlock(&m);
}

static void *lock_soon(void *arg)
{
	const int64_t deadline = fiber_after(2 * MS);
	const int rc = fiber_mutex_lock(arg, deadline);

	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_mutex_lock_of_a_fiber_times_out_not_before_its_deadline(void **state)
{
	struct fiber_mutex m = {0};

	(void)state;
	fiber_mutex_lock(&m, 0);
	assert_int_equal(queue_join(queue_spawn(lock_soon, &m)), -ETIMEDOUT);
	assert_int_equal(queue_length(&m.waiters), 0);
	fiber_mutex_unlock(&m);
}

struct line {
	struct fiber_mutex m;
	unsigned served; /* protected by m */
};

struct place {
	struct line *line;
	int64_t deadline;
	unsigned turn;
	int rc;
};

static void *stand(void *arg)
{
	struct place *p = arg;

	p->rc = fiber_mutex_lock(&p->line->m, p->deadline);
	if (p->rc < 0)
		return NULL;
	p->turn = ++p->line->served;
	fiber_mutex_unlock(&p->line->m);
	return NULL;
}

/* Fibers and threads alternate; each is queued before the next one comes. */
static void test_mutex_serves_fibers_and_threads_in_the_order_they_came(void **state)
{
	struct line line = {0};
	struct place places[12];
	struct fiber *fibers[12];
	pthread_t threads[12];
	unsigned i;

	(void)state;
	fiber_mutex_lock(&line.m, 0);
	for (i = 0; i < 12; i++) {
		places[i] = (struct place){&line, FIBER_FOREVER, 0, 1};
		if (i % 3 == 2)
			assert_int_equal(pthread_create(&threads[i], NULL, stand, &places[i]), 0);
		else
			fibers[i] = queue_spawn(stand, &places[i]);
		queue_await(&line.m.waiters, i + 1);
	}
	fiber_mutex_unlock(&line.m);
	for (i = 0; i < 12; i++)
		if (i % 3 == 2)
			pthread_join(threads[i], NULL);
		else
			queue_join(fibers[i]);
	for (i = 0; i < 12; i++) {
		assert_int_equal(places[i].rc, 0);
		assert_int_equal(places[i].turn, i + 1);
	}
}

static void test_mutex_waiter_that_gave_up_is_passed_over(void **state)
{
	struct line line = {0};
	struct place places[3];
	struct fiber *fibers[3];
	unsigned i;

	(void)state;
	fiber_mutex_lock(&line.m, 0);
	for (i = 0; i < 3; i++) {
		places[i] =
			(struct place){&line, i == 1 ? fiber_after(20 * MS) : FIBER_FOREVER, 0, 1};
		fibers[i] = queue_spawn(stand, &places[i]);
		/* On a slow machine the second fiber may already have timed out. */
		if (i != 1)
			queue_await(&line.m.waiters, i + 1 - (i == 2));
		else
			queue_join(fibers[1]);
	}
	assert_int_equal(places[1].rc, -ETIMEDOUT);
	fiber_mutex_unlock(&line.m);
	queue_join(fibers[0]);
	queue_join(fibers[2]);
	assert_int_equal(places[0].turn, 1);
	assert_int_equal(places[2].turn, 2);
	assert_int_equal(owner(&line.m), 0);
}

static void test_mutex_unlock_hands_over_so_nobody_comes_between(void **state)
{
	struct fiber_mutex m = {0};
	struct fiber *f;
	int i, stolen = 0;

	(void)state;
	for (i = 0; i < 200; i++) {
		fiber_mutex_lock(&m, 0);
		f = queue_spawn(lock_forever, &m);
		queue_await(&m.waiters, 1);
		fiber_mutex_unlock(&m);
		/* The fiber exits without unlocking: it holds the mutex from the unlock on. */
		stolen += fiber_mutex_trylock(&m) == 0;
		stolen += owner(&m) != fiber_id(f);
		queue_join(f);
		m = (struct fiber_mutex){0};
	}
	assert_int_equal(stolen, 0);
}

static void *lock_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_mutex_lock(arg, FIBER_FOREVER);
	if (rc == 0)
		fiber_mutex_unlock(arg);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_mutex_lock_of_a_pinned_fiber_is_refused_under_policy_error(void **state)
{
	struct fiber_mutex m = {0};

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(lock_pinned, &m)), 0);
	fiber_mutex_lock(&m, 0);
	assert_int_equal(queue_join(queue_spawn(lock_pinned, &m)), -EDEADLK);
	assert_int_equal(queue_length(&m.waiters), 0);
	fiber_mutex_unlock(&m);
}

static void test_mutex_lock_of_a_pinned_fiber_blocks_and_gets_it_under_policy_silent(void **state)
{
	struct fiber_mutex m = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	fiber_mutex_lock(&m, 0);
	f = queue_spawn(lock_pinned, &m);
	queue_await(&m.waiters, 1);
	assert_int_equal(fiber_state(f), FIBER_RUNNING);
	fiber_mutex_unlock(&m);
	assert_int_equal(queue_join(f), 0);
}

static void test_mutex_name_is_copied_and_cut(void **state)
{
	struct fiber_mutex m = {0};

	(void)state;
	assert_int_equal(fiber_object_name(&m, "config"), 0);
	assert_string_equal(m.name, "config");
	assert_int_equal(fiber_object_name(&m, "0123456789012345678901234567890123456789"), 9);
	assert_string_equal(m.name, "0123456789012345678901234567890");
	assert_int_equal(fiber_object_name(&m, NULL), 0);
	assert_string_equal(m.name, "");
	assert_int_equal(fiber_mutex_trylock(&m), 0);
	fiber_mutex_unlock(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_zeroed_is_free_and_locks),
		cmocka_unit_test(test_mutex_trylock_of_a_held_one_is_busy),
		cmocka_unit_test(test_mutex_owner_is_the_fibers_id_or_the_threads),
		cmocka_unit_test(test_mutex_lock_times_out_when_deadline_passed),
		cmocka_unit_test(test_mutex_lock_of_a_fiber_times_out_not_before_its_deadline),
		cmocka_unit_test(test_mutex_serves_fibers_and_threads_in_the_order_they_came),
		cmocka_unit_test(test_mutex_waiter_that_gave_up_is_passed_over),
		cmocka_unit_test(test_mutex_unlock_hands_over_so_nobody_comes_between),
		cmocka_unit_test(test_mutex_lock_of_a_pinned_fiber_is_refused_under_policy_error),
		cmocka_unit_test(
			test_mutex_lock_of_a_pinned_fiber_blocks_and_gets_it_under_policy_silent),
		cmocka_unit_test(test_mutex_name_is_copied_and_cut),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
