/* SPDX-License-Identifier: MIT */
/*
 * test_cancel_kinds.c - cancel a fiber in every kind of wait that the tools have a name for
 *
 * Each fiber is first observed in that kind of wait, as the tools see it. Then it is cancelled: its
 * call returns -ECANCELED, and the object is as if the fiber had never waited.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static struct fiber_mutex mutex, cond_mutex;
static struct fiber_rwlock read_lock, written_lock;
static struct fiber_cond cond;
static struct fiber_sem sem;
static struct fiber_event event, hold_once;
static struct fiber_barrier barrier;
static struct fiber_once once;
static struct fiber_waitgroup waitgroup;
static struct fiber_chan *full, *empty;
static struct fiber_timer *timer;
static struct fiber_runtime *other;
static struct fiber *parked; /* in the other runtime, during the whole test */
static int pipe_ends[2];
static _Atomic bool offload_over;

static int in_sleep(void)
{
	return fiber_sleep_until(fiber_after(3600 * 1000 * MS));
}

static int in_park(void)
{
	return fiber_park(FIBER_FOREVER);
}

static int in_predicate(void)
{
	return fiber_wait_until(harness_never, NULL, FIBER_FOREVER);
}

static int in_join(void)
{
	return fiber_join(parked, NULL, FIBER_FOREVER);
}

static int in_mutex(void)
{
	return fiber_mutex_lock(&mutex, FIBER_FOREVER);
}

static int in_rdlock(void)
{
	return fiber_rwlock_rdlock(&written_lock, FIBER_FOREVER);
}

static int in_wrlock(void)
{
	return fiber_rwlock_wrlock(&read_lock, FIBER_FOREVER);
}

static int in_cond(void)
{
	int rc;

	fiber_mutex_lock(&cond_mutex, FIBER_FOREVER);
	rc = fiber_cond_wait(&cond, &cond_mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&cond_mutex); /* aborts if the mutex is not held */
	return rc;
}

static int in_sem(void)
{
	return fiber_sem_wait(&sem, FIBER_FOREVER);
}

static int in_event(void)
{
	return fiber_event_wait(&event, FIBER_FOREVER);
}

static int in_barrier(void)
{
	return fiber_barrier_wait(&barrier, FIBER_FOREVER);
}

static void wait_in_once(void *arg)
{
	(void)arg;
	fiber_event_wait(&hold_once, FIBER_FOREVER);
}

static int in_once(void)
{
	return fiber_once(&once, wait_in_once, NULL);
}

static int in_waitgroup(void)
{
	return fiber_waitgroup_wait(&waitgroup, FIBER_FOREVER);
}

static int in_group(void)
{
	struct fiber_group group;

	fiber_group_init(&group);
	fiber_group_spawn(&group, harness_park, NULL);
	return fiber_group_wait(&group, FIBER_FOREVER);
}

static int in_send(void)
{
	const int value = 2;

	return fiber_chan_send(full, &value, FIBER_FOREVER);
}

static int in_recv(void)
{
	int value;

	return fiber_chan_recv(empty, &value, FIBER_FOREVER);
}

static int in_select(void)
{
	int value;
	struct fiber_select_case cases[2] = {
		{.op = FIBER_SELECT_RECV, .chan = empty, .elem = &value},
		{.op = FIBER_SELECT_FD, .fd = pipe_ends[0], .events = POLLIN},
	};

	return fiber_select(cases, 2, FIBER_FOREVER);
}

static int in_fd(void)
{
	char byte;

	return (int)fiber_read(pipe_ends[0], &byte, 1, FIBER_FOREVER);
}

static int in_timer(void)
{
	return fiber_timer_wait(timer, NULL, FIBER_FOREVER);
}

static void *wait_on_a_thread(void *arg)
{
	while (!offload_over)
		usleep(100);
	return arg;
}

static int in_offload(void)
{
	return fiber_block(wait_on_a_thread, NULL, NULL, FIBER_FOREVER);
}

static int in_finish(void)
{
	return fiber_runtime_finish(other, FIBER_FOREVER);
}

static const struct wait {
	const char *kind;
	int (*begin)(void);
} waits[] = {
	{"sleep", in_sleep},	     {"park", in_park},	      {"predicate", in_predicate},
	{"join", in_join},	     {"mutex", in_mutex},     {"rwlock-read", in_rdlock},
	{"rwlock-write", in_wrlock}, {"cond", in_cond},	      {"sem", in_sem},
	{"event", in_event},	     {"barrier", in_barrier}, {"once", in_once},
	{"waitgroup", in_waitgroup}, {"group", in_group},     {"chan-send", in_send},
	{"chan-recv", in_recv},	     {"select", in_select},   {"fd", in_fd},
	{"timer", in_timer},	     {"offload", in_offload}, {"op", in_finish},
};

static void *begin(void *arg)
{
	return (void *)(intptr_t)((const struct wait *)arg)->begin();
}

struct seen {
	uint64_t id;
	const char *kind;
	bool so;
};

static int look(const struct fiber_info *info, void *arg)
{
	struct seen *s = arg;

	if (info->id != s->id)
		return 0;
	s->so = info->state == FIBER_SUSPENDED && !strcmp(info->wait_kind, s->kind);
	return 1;
}

static void await_kind(const struct fiber *fiber, const char *kind)
{
	struct seen s = {.id = fiber_id(fiber), .kind = kind};

	while (!s.so) {
		fiber_foreach(NULL, look, &s);
		sched_yield();
	}
}

static void *run_once(void *arg)
{
	in_once();
	return arg;
}

/* Every object is held, full, empty or unset, so each wait blocks. */
static struct fiber *prepare(struct fiber_runtime *rt)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber *runner = NULL;
	const int value = 1;

	fiber_mutex_lock(&mutex, 0);
	fiber_rwlock_rdlock(&read_lock, 0);
	fiber_rwlock_wrlock(&written_lock, 0);
	fiber_barrier_init(&barrier, 2);
	fiber_waitgroup_add(&waitgroup, 1);
	assert_int_equal(fiber_chan_new(sizeof(int), 1, &full), 0);
	assert_int_equal(fiber_chan_new(sizeof(int), 1, &empty), 0);
	assert_int_equal(fiber_chan_send(full, &value, 0), 0);
	assert_int_equal(fiber_timer_new(&timer), 0);
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(fiber_runtime_start(&options, &other), 0);
	assert_int_equal(fiber_runtime_spawn(other, NULL, harness_park, NULL, &parked), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, run_once, NULL, &runner), 0);
	await_kind(runner, "event");
	return runner;
}

/* Each object is usable, with no trace of a waiter. */
static void all_is_whole(void)
{
	const int value = 3;
	int got = 0;

	fiber_mutex_unlock(&mutex);
	assert_int_equal(fiber_mutex_lock(&mutex, 0), 0);
	fiber_mutex_unlock(&mutex);
	assert_int_equal(fiber_mutex_lock(&cond_mutex, 0), 0);
	fiber_mutex_unlock(&cond_mutex);
	fiber_rwlock_unlock(&read_lock);
	assert_int_equal(fiber_rwlock_wrlock(&read_lock, 0), 0);
	fiber_rwlock_unlock(&written_lock);
	assert_int_equal(fiber_rwlock_wrlock(&written_lock, 0), 0);
	fiber_cond_broadcast(&cond);
	fiber_sem_post(&sem);
	assert_int_equal(fiber_sem_wait(&sem, 0), 0);
	fiber_event_set(&event);
	assert_int_equal(fiber_barrier_wait(&barrier, 0), -ETIMEDOUT);
	fiber_waitgroup_done(&waitgroup);
	assert_int_equal(fiber_waitgroup_wait(&waitgroup, 0), 0);
	assert_int_equal(fiber_chan_recv(full, &got, 0), 0);
	assert_int_equal(got, 1);
	assert_int_equal(fiber_chan_recv(full, &got, 0), -ETIMEDOUT);
	assert_int_equal(fiber_chan_send(empty, &value, 0), 0);
	assert_int_equal(fiber_chan_recv(empty, &got, 0), 0);
	assert_int_equal(got, 3);
	fiber_timer_arm(timer, 1, 0);
	assert_int_equal(fiber_timer_wait(timer, NULL, 0), 0);
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	assert_int_equal(fiber_read(pipe_ends[0], &(char){0}, 1, 0), 1);
}

static void test_cancel_ends_a_wait_of_every_kind_there_is(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber *runner = prepare(rt), *fiber;
	struct fiber_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(waits); i++) {
		r = (struct fiber_result){NULL, 1};
		assert_int_equal(
			fiber_runtime_spawn(rt, NULL, begin, (void *)(uintptr_t)&waits[i], &fiber),
			0);
		await_kind(fiber, waits[i].kind);
		fiber_cancel(fiber);
		assert_int_equal(fiber_join(fiber, &r, FIBER_FOREVER), 0);
		if ((intptr_t)r.value != -ECANCELED)
			print_error("# %s: %d\n", waits[i].kind, (int)(intptr_t)r.value);
		assert_int_equal((intptr_t)r.value, -ECANCELED);
		assert_int_equal(r.error, -ECANCELED);
	}
	all_is_whole();
	offload_over = true;
	fiber_event_set(&hold_once);
	assert_int_equal(fiber_join(runner, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_once(&once, wait_in_once, NULL), 0);
	fiber_unpark(parked);
	assert_int_equal(fiber_join(parked, NULL, FIBER_FOREVER), 0);
	carriers_finish(other);
	carriers_finish(rt);
	fiber_timer_free(timer);
	fiber_chan_unref(full);
	fiber_chan_unref(empty);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_ends_a_wait_of_every_kind_there_is),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("cancel: kinds", tests, NULL, NULL);
}
