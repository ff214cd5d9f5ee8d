/* SPDX-License-Identifier: MIT */
/* test_sync_cancel.c - a cancelled waiter leaves the queue and delays no other waiter */
#include "carriers.h"

#include <errno.h>

struct objects {
	struct fiber_rwlock lock;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_once once;
	struct fiber_waitgroup group;
	_Atomic int running;
	_Atomic bool finish;
};

static void hold_once(void *arg)
{
	struct objects *o = arg;

	o->running++;
	while (!o->finish)
		carriers_pause();
}

static void *in_wrlock(void *arg)
{
	return (void *)(intptr_t)fiber_rwlock_wrlock(&((struct objects *)arg)->lock, FIBER_FOREVER);
}

static void *in_rdlock(void *arg)
{
	const int rc = fiber_rwlock_rdlock(&((struct objects *)arg)->lock, FIBER_FOREVER);

	if (rc == 0)
		fiber_rwlock_unlock(&((struct objects *)arg)->lock);
	return (void *)(intptr_t)rc;
}

static void *in_event(void *arg)
{
	return (void *)(intptr_t)fiber_event_wait(&((struct objects *)arg)->event, FIBER_FOREVER);
}

static void *in_barrier(void *arg)
{
	return (void *)(intptr_t)fiber_barrier_wait(&((struct objects *)arg)->barrier,
						    FIBER_FOREVER);
}

static void *in_once(void *arg)
{
	return (void *)(intptr_t)fiber_once(&((struct objects *)arg)->once, hold_once, arg);
}

static void *in_waitgroup(void *arg)
{
	return (void *)(intptr_t)fiber_waitgroup_wait(&((struct objects *)arg)->group,
						      FIBER_FOREVER);
}

static void test_sync_waits_end_when_cancelled_and_leave_the_object_whole(void **state)
{
	static fiber_fn *const waits[] = {in_wrlock, in_event, in_barrier, in_once, in_waitgroup};
	struct fiber_runtime *rt = carriers_start();
	struct fiber *fibers[COUNT(waits)], *runner, *reader;
	struct objects o = {.running = 0};
	struct fiber_result r = {NULL, 1};

	(void)state;
	fiber_barrier_init(&o.barrier, 2);
	fiber_waitgroup_add(&o.group, 1);
	assert_int_equal(fiber_rwlock_rdlock(&o.lock, 0), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, in_once, &o, &runner), 0);
	while (!o.running)
		carriers_pause();
	for (size_t i = 0; i < COUNT(waits); i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, waits[i], &o, &fibers[i]), 0);
		carriers_await_suspended(fibers[i]);
	}
	/* The reader queues behind the writer although others are reading. */
	assert_int_equal(fiber_runtime_spawn(rt, NULL, in_rdlock, &o, &reader), 0);
	carriers_await_suspended(reader);
	for (size_t i = 0; i < COUNT(waits); i++) {
		assert_int_equal(fiber_cancel(fibers[i]), 0);
		assert_int_equal(fiber_join(fibers[i], &r, FIBER_FOREVER), 0);
		assert_int_equal((intptr_t)r.value, -ECANCELED);
	}
	assert_int_equal(fiber_join(reader, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, 0);
	/* Each object is usable, with no trace of the waiters. */
	fiber_rwlock_unlock(&o.lock);
	assert_int_equal(fiber_rwlock_wrlock(&o.lock, 0), 0);
	fiber_rwlock_unlock(&o.lock);
	assert_int_equal(fiber_barrier_wait(&o.barrier, 0), -ETIMEDOUT);
	fiber_waitgroup_done(&o.group);
	assert_int_equal(fiber_waitgroup_wait(&o.group, 0), 0);
	o.finish = true;
	assert_int_equal(fiber_once(&o.once, hold_once, &o), 0);
	assert_int_equal(fiber_join(runner, NULL, FIBER_FOREVER), 0);
	assert_int_equal(o.running, 1);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync_waits_end_when_cancelled_and_leave_the_object_whole),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
