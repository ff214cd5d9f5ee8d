/* SPDX-License-Identifier: MIT */
/* test_rwlock.c - readers together, a writer alone, and no waiter is overtaken */
#include "queue.h"

#include "os/os.h"

#define ROUNDS 200

struct user {
	struct fiber_rwlock *lock;
	bool writes;
	int64_t deadline;
	_Atomic bool in, leave;
	int rc;
};

/* Lock, report it, and unlock on request. */
/* How many readers hold it. */
static unsigned readers_of(struct fiber_rwlock *l)
{
	return (unsigned)fib_load(&l->state) & ((1u << 30) - 1);
}

static void *use(void *arg)
{
	struct user *u = arg;

	u->rc = (u->writes ? fiber_rwlock_wrlock : fiber_rwlock_rdlock)(u->lock, u->deadline);
	if (u->rc < 0)
		return (void *)(intptr_t)u->rc;
	fib_store_release(&u->in, true);
	while (!fib_load_acquire(&u->leave))
		if (fiber_yield() < 0)
			sched_yield();
	fiber_rwlock_unlock(u->lock);
	return NULL;
}

static struct fiber *begin(struct user *u, struct fiber_rwlock *lock, bool writes, int64_t deadline)
{
	*u = (struct user){.lock = lock, .writes = writes, .deadline = deadline};
	return queue_spawn(use, u);
}

static void await_in(struct user *u)
{
	while (!fib_load_acquire(&u->in))
		sched_yield();
}

static int end(struct fiber *fiber, struct user *u)
{
	fib_store_release(&u->leave, true);
	return queue_join(fiber);
}

static void test_rwlock_zeroed_is_free(void **state)
{
	struct fiber_rwlock l = {0};

	(void)state;
	assert_int_equal(fiber_rwlock_wrlock(&l, 0), 0);
	assert_true(l.owner == (FIB_HOLDER_THREAD | fib_os_tid()));
	assert_int_equal(fiber_rwlock_rdlock(&l, 0), -ETIMEDOUT);
	assert_int_equal(fiber_rwlock_unlock(&l), 0);
	assert_true(l.owner == 0);
	assert_int_equal(fiber_rwlock_rdlock(&l, 0), 0);
	assert_int_equal(fiber_rwlock_rdlock(&l, 0), 0);
	assert_int_equal(readers_of(&l), 2);
	assert_int_equal(fiber_rwlock_wrlock(&l, 0), -ETIMEDOUT);
	fiber_rwlock_unlock(&l);
	assert_int_equal(fiber_rwlock_wrlock(&l, fiber_after(MS)), -ETIMEDOUT);
	fiber_rwlock_unlock(&l);
	assert_int_equal(fiber_rwlock_wrlock(&l, 0), 0);
	fiber_rwlock_unlock(&l);
	assert_int_equal(readers_of(&l), 0);
}

static void test_rwlock_waiting_writer_is_not_overtaken_by_readers(void **state)
{
	struct fiber_rwlock l = {0};
	struct user w, r;
	struct fiber *writer, *reader;

	(void)state;
	fiber_rwlock_rdlock(&l, 0);
	writer = begin(&w, &l, true, FIBER_FOREVER);
	queue_await(&l.waiters, 1);
	assert_int_equal(fiber_rwlock_rdlock(&l, 0), -ETIMEDOUT);
	reader = begin(&r, &l, false, FIBER_FOREVER);
	queue_await(&l.waiters, 2);
	fiber_rwlock_unlock(&l);
	await_in(&w);
	assert_true(l.owner == fiber_id(writer));
	assert_false(fib_load_acquire(&r.in));
	assert_int_equal(end(writer, &w), 0);
	await_in(&r);
	assert_int_equal(end(reader, &r), 0);
}

/*
 * Two readers, a writer and two readers get the lock in that order, each pair together. Some of
 * them are threads.
 */
static void test_rwlock_lets_in_all_readers_before_the_next_writer(void **state)
{
	struct fiber_rwlock l = {0};
	struct user u[5];
	struct fiber *f[5] = {0};
	pthread_t thread;
	int i;

	(void)state;
	fiber_rwlock_wrlock(&l, 0);
	for (i = 0; i < 5; i++) {
		if (i == 1) {
			u[i] = (struct user){.lock = &l, .deadline = FIBER_FOREVER};
			assert_int_equal(pthread_create(&thread, NULL, use, &u[i]), 0);
		} else {
			f[i] = begin(&u[i], &l, i == 2, FIBER_FOREVER);
		}
		queue_await(&l.waiters, (uint32_t)i + 1);
	}
	fiber_rwlock_unlock(&l);
	await_in(&u[0]);
	await_in(&u[1]);
	assert_int_equal(queue_length(&l.waiters), 3);
	assert_int_equal(readers_of(&l), 2);
	end(f[0], &u[0]);
	assert_int_equal(queue_length(&l.waiters), 3);
	fib_store_release(&u[1].leave, true);
	pthread_join(thread, NULL);
	await_in(&u[2]);
	assert_int_equal(queue_length(&l.waiters), 2);
	end(f[2], &u[2]);
	await_in(&u[3]);
	await_in(&u[4]);
	assert_int_equal(readers_of(&l), 2);
	end(f[3], &u[3]);
	end(f[4], &u[4]);
	for (i = 0; i < 5; i++)
		assert_int_equal(u[i].rc, 0);
	assert_int_equal(readers_of(&l), 0);
	assert_true(l.owner == 0);
}

/* Otherwise the readers behind the writer would wait although others read. */
static void test_rwlock_writer_that_gives_up_lets_in_the_readers_behind_it(void **state)
{
	struct fiber_rwlock l = {0};
	struct user w, r[2];
	struct fiber *writer, *readers[2];
	int i;

	(void)state;
	fiber_rwlock_rdlock(&l, 0);
	writer = begin(&w, &l, true, fiber_after(50 * MS));
	while (!queue_length(&l.waiters) && fiber_state(writer) != FIBER_DEAD)
		sched_yield();
	for (i = 0; i < 2; i++)
		readers[i] = begin(&r[i], &l, false, FIBER_FOREVER);
	assert_int_equal(queue_join(writer), -ETIMEDOUT);
	await_in(&r[0]);
	await_in(&r[1]);
	assert_int_equal(readers_of(&l), 3);
	assert_int_equal(queue_length(&l.waiters), 0);
	for (i = 0; i < 2; i++)
		end(readers[i], &r[i]);
	fiber_rwlock_unlock(&l);
	assert_int_equal(readers_of(&l), 0);
}

static void *lock_briefly(void *arg)
{
	struct user *u = arg;
	const int64_t deadline = fiber_after(30000);
	const int rc = (u->writes ? fiber_rwlock_wrlock : fiber_rwlock_rdlock)(u->lock, deadline);

	if (rc == 0)
		fiber_rwlock_unlock(u->lock);
	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_rwlock_unlock_against_deadline_leaves_it_free(void **state)
{
	struct fiber_rwlock l = {0};
	struct user u[4];
	struct fiber *f[4];
	int i, k, wrong = 0;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		const int64_t at = fiber_after(30000);

		fiber_rwlock_wrlock(&l, 0);
		for (k = 0; k < 4; k++) {
			u[k] = (struct user){.lock = &l, .writes = k % 2};
			f[k] = queue_spawn(lock_briefly, &u[k]);
		}
		while (fiber_now() < at + (i % 20) * 2000)
			;
		fiber_rwlock_unlock(&l);
		for (k = 0; k < 4; k++) {
			const int rc = queue_join(f[k]);

			wrong += rc != 0 && rc != -ETIMEDOUT;
		}
		wrong += l.owner || readers_of(&l) || queue_length(&l.waiters);
	}
	assert_int_equal(wrong, 0);
}

static void *write_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_rwlock_wrlock(arg, FIBER_FOREVER);
	if (rc == 0)
		fiber_rwlock_unlock(arg);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_rwlock_lock_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_rwlock l = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(write_pinned, &l)), 0);
	fiber_rwlock_rdlock(&l, 0);
	assert_int_equal(queue_join(queue_spawn(write_pinned, &l)), -EDEADLK);
	assert_int_equal(queue_length(&l.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(write_pinned, &l);
	queue_await(&l.waiters, 1);
	fiber_rwlock_unlock(&l);
	assert_int_equal(queue_join(f), 0);
}

static void *try_both(void *arg)
{
	return (void *)(intptr_t)(fiber_rwlock_tryrdlock(arg) * 1000 + fiber_rwlock_trywrlock(arg));
}

static void *read_and_leave(void *arg)
{
	return (void *)(intptr_t)(fiber_rwlock_tryrdlock(arg) || fiber_rwlock_unlock(arg));
}

static void test_rwlock_trylocks_take_or_are_busy(void **state)
{
	struct fiber_rwlock l = {0};
	const int both = -EBUSY * 1000 - EBUSY;
	struct user w;
	struct fiber *writer;

	(void)state;
	assert_int_equal(fiber_rwlock_trywrlock(&l), 0);
	assert_true(l.owner == (FIB_HOLDER_THREAD | fib_os_tid()));
	assert_int_equal(queue_join(queue_spawn(try_both, &l)), both);
	assert_int_equal(fiber_rwlock_unlock(&l), 0);
	assert_int_equal(fiber_rwlock_tryrdlock(&l), 0);
	assert_int_equal(queue_join(queue_spawn(read_and_leave, &l)), 0);
	assert_int_equal(readers_of(&l), 1);
	assert_int_equal(fiber_rwlock_trywrlock(&l), -EBUSY);
	/* A waiting writer is not overtaken. */
	writer = begin(&w, &l, true, FIBER_FOREVER);
	queue_await(&l.waiters, 1);
	assert_int_equal(fiber_rwlock_tryrdlock(&l), -EBUSY);
	assert_int_equal(queue_join(queue_spawn(try_both, &l)), both);
	assert_int_equal(queue_length(&l.waiters), 1);
	fiber_rwlock_unlock(&l);
	await_in(&w);
	assert_int_equal(end(writer, &w), 0);
	assert_true(!l.owner && !l.state);
}

static struct fiber_rwlock shared;
static unsigned inside, entries; /* counts of the writers */

static void *try_often(void *arg)
{
	intptr_t wrong = 0;

	for (int i = 0; i < 2000; i++) {
		if (fiber_rwlock_trywrlock(&shared) == 0) {
			wrong += inside++ != 0;
			entries++;
			fiber_yield();
			inside--;
			fiber_rwlock_unlock(&shared);
		}
		if (fiber_rwlock_tryrdlock(&shared) == 0) {
			wrong += inside != 0;
			fiber_rwlock_unlock(&shared);
		}
	}
	return arg ? (void *)wrong : NULL;
}

static void test_rwlock_trylocks_keep_writers_alone(void **state)
{
	struct fiber *f[6];
	pthread_t thread;
	void *wrong;
	int i;

	(void)state;
	for (i = 0; i < 6; i++)
		f[i] = queue_spawn(try_often, &shared);
	assert_int_equal(pthread_create(&thread, NULL, try_often, &shared), 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(queue_join(f[i]), 0);
	pthread_join(thread, &wrong);
	assert_null(wrong);
	assert_true(entries > 0 && !shared.owner && !shared.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rwlock_zeroed_is_free),
		cmocka_unit_test(test_rwlock_waiting_writer_is_not_overtaken_by_readers),
		cmocka_unit_test(test_rwlock_lets_in_all_readers_before_the_next_writer),
		cmocka_unit_test(test_rwlock_writer_that_gives_up_lets_in_the_readers_behind_it),
		cmocka_unit_test(test_rwlock_unlock_against_deadline_leaves_it_free),
		cmocka_unit_test(test_rwlock_lock_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_rwlock_trylocks_take_or_are_busy),
		cmocka_unit_test(test_rwlock_trylocks_keep_writers_alone),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
