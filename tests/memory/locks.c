/* SPDX-License-Identifier: MIT */
/* locks.c - programs whose order is made by libfiber's primitives */
#include "programs.h"

static void *add(void *arg)
{
	data++;
	return arg;
}

static void *add_locked(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	data++;
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *add_locked2(void *arg)
{
	fiber_mutex_lock(&o.mutex2, FIBER_FOREVER);
	data++;
	fiber_mutex_unlock(&o.mutex2);
	return arg;
}

static void *add_tried(void *arg)
{
	while (fiber_mutex_trylock(&o.mutex) < 0)
		fiber_yield();
	data++;
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

/* A failed attempt orders nothing. */
static void *read_if_locked(void *arg)
{
	if (fiber_mutex_trylock(&o.mutex) < 0)
		other = data;
	else
		fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *read_data(void *arg)
{
	return data ? arg : NULL;
}

static void *add_write_locked(void *arg)
{
	fiber_rwlock_wrlock(&o.rwlock, FIBER_FOREVER);
	data++;
	fiber_rwlock_unlock(&o.rwlock);
	return arg;
}

static void *read_read_locked(void *arg)
{
	int seen;

	fiber_rwlock_rdlock(&o.rwlock, FIBER_FOREVER);
	seen = data;
	fiber_rwlock_unlock(&o.rwlock);
	return seen ? arg : NULL;
}

static void *add_read_locked(void *arg)
{
	fiber_rwlock_rdlock(&o.rwlock, FIBER_FOREVER);
	data++;
	fiber_rwlock_unlock(&o.rwlock);
	return arg;
}

/* The locks of readers order nothing among themselves. */
static void *add_then_read_lock(void *arg)
{
	data++;
	fiber_rwlock_rdlock(&o.rwlock, FIBER_FOREVER);
	fiber_rwlock_unlock(&o.rwlock);
	return arg;
}

static void *read_lock_then_add(void *arg)
{
	fiber_rwlock_rdlock(&o.rwlock, FIBER_FOREVER);
	fiber_rwlock_unlock(&o.rwlock);
	data++;
	return arg;
}

static void *park_then_read(void *arg)
{
	o.fiber = fiber_self();
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	o.ready = 1;
	fiber_mutex_unlock(&o.mutex);
	fiber_park(FIBER_FOREVER);
	return data ? arg : NULL;
}

static struct fiber *wait_for_fiber(void)
{
	int ready;

	do {
		fiber_yield();
		fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
		ready = o.ready;
		fiber_mutex_unlock(&o.mutex);
	} while (!ready);
	return o.fiber;
}

static void *write_then_unpark(void *arg)
{
	struct fiber *parked = wait_for_fiber();

	data = 1;
	fiber_unpark(parked);
	return arg;
}

static void *unpark_then_write(void *arg)
{
	fiber_unpark(wait_for_fiber());
	data = 1;
	return arg;
}

static void *wait_cond_then_read(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	while (!o.ready)
		fiber_cond_wait(&o.cond, &o.mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&o.mutex);
	return data ? arg : NULL;
}

static void *write_then_signal(void *arg)
{
	data = 1;
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	o.ready = 1;
	fiber_cond_signal(&o.cond);
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *signal_then_write(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	o.ready = 1;
	fiber_cond_broadcast(&o.cond);
	fiber_mutex_unlock(&o.mutex);
	data = 1;
	return arg;
}

static void *wait_cond_in_vain(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	fiber_cond_wait(&o.cond, &o.mutex, fiber_after(1000));
	fiber_mutex_unlock(&o.mutex);
	return data ? arg : NULL;
}

static void *write_then_post(void *arg)
{
	data = 1;
	fiber_sem_post(&o.sem);
	return arg;
}

static void *post_then_write(void *arg)
{
	fiber_sem_post(&o.sem);
	data = 1;
	return arg;
}

static void *wait_sem_then_read(void *arg)
{
	fiber_sem_wait(&o.sem, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void *add_with_permit(void *arg)
{
	fiber_sem_wait(&o.sem, FIBER_FOREVER);
	data++;
	fiber_sem_post(&o.sem);
	return arg;
}

static void one_permit(void *arg)
{
	(void)arg;
	fiber_sem_init(&o.sem, 1);
	run_both(add_with_permit, add_with_permit);
}

static void two_permits(void *arg)
{
	(void)arg;
	fiber_sem_init(&o.sem, 2);
	run_both(add_with_permit, add_with_permit);
}

static void *write_then_set(void *arg)
{
	data = 1;
	fiber_event_set(&o.event);
	return arg;
}

static void *set_then_write(void *arg)
{
	fiber_event_set(&o.event);
	data = 1;
	return arg;
}

static void *wait_event_then_read(void *arg)
{
	fiber_event_wait(&o.event, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void *wait_event_a_while(void *arg)
{
	if (fiber_event_wait(&o.event, fiber_after(1000)) == 0)
		return arg;
	return data ? arg : NULL;
}

static void *meet_then_read(void *arg)
{
	data = 1;
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	return other ? arg : NULL;
}

static void *meet_then_read_other(void *arg)
{
	other = 1;
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void barrier(void *arg)
{
	(void)arg;
	fiber_barrier_init(&o.barrier, 2);
	run_both(meet_then_read, meet_then_read_other);
}

static void *meet_then_add(void *arg)
{
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	data++;
	return arg;
}

static void barrier_before(void *arg)
{
	(void)arg;
	fiber_barrier_init(&o.barrier, 2);
	run_both(meet_then_add, meet_then_add);
}

/* The second round does not order what is done before it with what is done after the first. */
static void *two_rounds(void *arg)
{
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	data = 1;
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	return arg;
}

static void *two_rounds_reading(void *arg)
{
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	other = data;
	fiber_barrier_wait(&o.barrier, FIBER_FOREVER);
	return arg;
}

static void barrier_rounds(void *arg)
{
	(void)arg;
	fiber_barrier_init(&o.barrier, 2);
	run_both(two_rounds, two_rounds_reading);
}

static void set_data(void *arg)
{
	(void)arg;
	data = 1;
}

static void *once_then_read(void *arg)
{
	fiber_once(&o.once, set_data, NULL);
	return data ? arg : NULL;
}

static void *once_then_add(void *arg)
{
	fiber_once(&o.once, set_data, NULL);
	data++;
	return arg;
}

static void *write_then_done(void *arg)
{
	data = 1;
	fiber_waitgroup_done(&o.waitgroup);
	return arg;
}

static void *write_other_then_done(void *arg)
{
	other = 1;
	fiber_waitgroup_done(&o.waitgroup);
	return arg;
}

static void *done_then_write(void *arg)
{
	fiber_waitgroup_done(&o.waitgroup);
	data = 1;
	return arg;
}

static void waitgroup_of(fiber_fn *a, fiber_fn *b)
{
	fiber_waitgroup_add(&o.waitgroup, 2);
	fiber_spawn(a, NULL, NULL);
	fiber_spawn(b, NULL, NULL);
	fiber_waitgroup_wait(&o.waitgroup, FIBER_FOREVER);
	data += other;
}

static void waitgroup(void *arg)
{
	(void)arg;
	waitgroup_of(write_then_done, write_other_then_done);
}

static void waitgroup_early(void *arg)
{
	(void)arg;
	waitgroup_of(done_then_write, write_other_then_done);
}

static void spawn_orders(void *arg)
{
	data = 1;
	(void)arg;
	run_both(read_data, read_data);
}

static void join_orders(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(add, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
	data++;
}

static void *join_another(void *arg)
{
	struct fiber *f;

	fiber_spawn(add, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
	return arg;
}

static void joins_in_a_row(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(join_another, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
	data++;
}

static void before_join(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(add, NULL, &f);
	data++;
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void detached(void *arg)
{
	(void)arg;
	fiber_spawn(add, NULL, NULL);
	fiber_test_settle();
	data++;
}

static void join_in_vain(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	fiber_spawn(add, NULL, &f);
	if (fiber_join(f, NULL, 0) < 0) {
		data++;
		fiber_join(f, NULL, FIBER_FOREVER);
	}
	fiber_mutex_unlock(&o.mutex);
}

static void group_orders(void *arg)
{
	struct fiber_group g;

	(void)arg;
	fiber_group_init(&g);
	fiber_group_spawn(&g, add_locked, NULL);
	fiber_group_spawn(&g, add_locked, NULL);
	fiber_group_wait(&g, FIBER_FOREVER);
	data++;
}

static void group_races(void *arg)
{
	struct fiber_group g;

	(void)arg;
	fiber_group_init(&g);
	fiber_group_spawn(&g, add, NULL);
	fiber_group_spawn(&g, add, NULL);
	fiber_group_wait(&g, FIBER_FOREVER);
}

static void *wait_until_cancelled(void *arg)
{
	while (!fiber_cancelled())
		fiber_sleep(1000);
	return data ? arg : NULL;
}

static void cancel_orders(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(wait_until_cancelled, NULL, &f);
	data = 1;
	fiber_cancel(f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void *sleep_then_add(void *arg)
{
	fiber_sleep(1000000);
	data++;
	return arg;
}

static void *yield_then_add(void *arg)
{
	fiber_yield();
	data++;
	return arg;
}

static void *arm_timer(void *arg)
{
	data = 1;
	fiber_timer_arm(o.timer, fiber_after(1000), 0);
	return arg;
}

static void *wait_timer(void *arg)
{
	fiber_timer_wait(o.timer, NULL, FIBER_FOREVER);
	return data ? arg : NULL;
}

static void timer_orders(void *arg)
{
	(void)arg;
	fiber_timer_new(&o.timer);
	run_both(arm_timer, wait_timer);
	fiber_timer_free(o.timer);
}

static void at_exit(void *arg)
{
	data = arg != NULL;
}

static void *leave_by_handler(void *arg)
{
	fiber_at_exit(at_exit, arg);
	return arg;
}

static void exit_handlers_order(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(leave_by_handler, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
	data++;
}

const struct program lock_programs[] = {
	{"two increments", add, add, NULL, true},
	{"one mutex", add_locked, add_locked, NULL, false},
	{"two mutexes", add_locked, add_locked2, NULL, true},
	{"a mutex on one side", add_locked, add, NULL, true},
	{"trylock that succeeds", add_tried, add_locked, NULL, false},
	{"trylock that fails", add_locked, read_if_locked, NULL, true},
	{"two readers", read_data, read_data, NULL, false},
	{"a reader and a writer", read_data, add, NULL, true},
	{"rwlock", add_write_locked, read_read_locked, NULL, false},
	{"rwlock, two writers", add_write_locked, add_write_locked, NULL, false},
	{"rwlock, writes under a read lock", add_read_locked, add_read_locked, NULL, true},
	{"rwlock, readers order nothing", add_then_read_lock, read_lock_then_add, NULL, true},
	{"mutex against rwlock", add_locked, add_write_locked, NULL, true},
	{"unpark", park_then_read, write_then_unpark, NULL, false},
	{"unpark too early", park_then_read, unpark_then_write, NULL, true},
	{"condition", wait_cond_then_read, write_then_signal, NULL, false},
	{"condition, write after it", wait_cond_then_read, signal_then_write, NULL, true},
	{"condition that times out", wait_cond_in_vain, add, NULL, true},
	{"semaphore", wait_sem_then_read, write_then_post, NULL, false},
	{"semaphore, write after it", wait_sem_then_read, post_then_write, NULL, true},
	{"semaphore as a mutex", NULL, NULL, one_permit, false},
	{"semaphore with two permits", NULL, NULL, two_permits, true},
	{"event", wait_event_then_read, write_then_set, NULL, false},
	{"event, write after it", wait_event_then_read, set_then_write, NULL, true},
	{"event that times out", wait_event_a_while, write_then_set, NULL, true},
	{"barrier", NULL, NULL, barrier, false},
	{"barrier, both write after it", NULL, NULL, barrier_before, true},
	{"barrier, between two rounds", NULL, NULL, barrier_rounds, true},
	{"once", once_then_read, once_then_read, NULL, false},
	{"once, write after it", once_then_add, once_then_read, NULL, true},
	{"waitgroup", NULL, NULL, waitgroup, false},
	{"waitgroup, done too early", NULL, NULL, waitgroup_early, true},
	{"spawn", NULL, NULL, spawn_orders, false},
	{"join", NULL, NULL, join_orders, false},
	{"joins in a row", NULL, NULL, joins_in_a_row, false},
	{"before join", NULL, NULL, before_join, true},
	{"join that times out", NULL, NULL, join_in_vain, true},
	{"detached", NULL, NULL, detached, true},
	{"group", NULL, NULL, group_orders, false},
	{"group, its members", NULL, NULL, group_races, true},
	{"cancel", NULL, NULL, cancel_orders, false},
	{"sleep", sleep_then_add, add, NULL, true},
	{"yield", yield_then_add, add, NULL, true},
	{"timer", NULL, NULL, timer_orders, false},
	{"exit handler", NULL, NULL, exit_handlers_order, false},
};
const size_t lock_count = sizeof lock_programs / sizeof *lock_programs;
