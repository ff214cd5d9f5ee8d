/* SPDX-License-Identifier: MIT */
/* test_cancel.c - a cancelled fiber waits no more, and nothing that was under way to it is lost. */
#include "carriers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* -- every kind of wait -- */

static struct {
	struct fiber_mutex mutex, cond_mutex;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_rwlock rwlock;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_waitgroup group;
	struct fiber_timer *timer;
	struct fiber_chan *empty, *meeting;
	struct fiber *sleeper;
	int pipe[2], listener;
} all;

static int in_sleep(void)
{
	return fiber_sleep(INT64_C(3600000000000));
}

static int in_sleep_until(void)
{
	return fiber_sleep_until(FIBER_FOREVER);
}

static int in_park(void)
{
	return fiber_park(FIBER_FOREVER);
}

static int in_park_with_a_deadline(void)
{
	return fiber_park(fiber_after(INT64_C(3600000000000)));
}

static int in_join(void)
{
	return fiber_join(all.sleeper, NULL, FIBER_FOREVER);
}

static int in_mutex(void)
{
	return fiber_mutex_lock(&all.mutex, FIBER_FOREVER);
}

static int in_rdlock(void)
{
	return fiber_rwlock_rdlock(&all.rwlock, FIBER_FOREVER);
}

static int in_wrlock(void)
{
	return fiber_rwlock_wrlock(&all.rwlock, FIBER_FOREVER);
}

/* The mutex is held again: unlocking it aborts otherwise. */
static int in_cond(void)
{
	int rc = fiber_mutex_lock(&all.cond_mutex, FIBER_FOREVER);

	if (rc == 0) {
		rc = fiber_cond_wait(&all.cond, &all.cond_mutex, FIBER_FOREVER);
		fiber_mutex_unlock(&all.cond_mutex);
	}
	return rc;
}

static int in_sem(void)
{
	return fiber_sem_wait(&all.sem, FIBER_FOREVER);
}

static int in_event(void)
{
	return fiber_event_wait(&all.event, FIBER_FOREVER);
}

static int in_barrier(void)
{
	return fiber_barrier_wait(&all.barrier, FIBER_FOREVER);
}

static int in_waitgroup(void)
{
	return fiber_waitgroup_wait(&all.group, FIBER_FOREVER);
}

static int in_timer(void)
{
	return fiber_timer_wait(all.timer, NULL, FIBER_FOREVER);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static int in_predicate(void)
{
	return fiber_wait_until(never, NULL, FIBER_FOREVER);
}

static int in_send(void)
{
	char c = 'x';

	return fiber_chan_send(all.meeting, &c, FIBER_FOREVER);
}

static int in_recv(void)
{
	char c;

	return fiber_chan_recv(all.empty, &c, FIBER_FOREVER);
}

static int in_select(void)
{
	char c;
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = all.empty, .elem = &c},
		{.op = FIBER_SELECT_TIMER, .at = FIBER_FOREVER},
	};

	return fiber_select(cases, COUNT(cases), FIBER_FOREVER);
}

static int in_read(void)
{
	char c;

	return (int)fiber_read(all.pipe[0], &c, 1, FIBER_FOREVER);
}

static int in_write(void)
{
	static char bytes[1 << 16];
	ssize_t n;

	/* Somebody may be reading what an earlier turn left: until it is full and stays so. */
	do {
		n = fiber_write(all.pipe[1], bytes, sizeof bytes, FIBER_FOREVER);
	} while (n > 0);
	return (int)n;
}

static int in_accept(void)
{
	return fiber_accept(all.listener, NULL, NULL, FIBER_FOREVER);
}

static int in_wait_fd(void)
{
	return fiber_wait_fd(all.pipe[0], POLLIN, FIBER_FOREVER);
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{"sleep", in_sleep},	     {"sleep_until", in_sleep_until},
	{"park", in_park},	     {"park with a deadline", in_park_with_a_deadline},
	{"join", in_join},	     {"mutex", in_mutex},
	{"rdlock", in_rdlock},	     {"wrlock", in_wrlock},
	{"cond", in_cond},	     {"sem", in_sem},
	{"event", in_event},	     {"barrier", in_barrier},
	{"waitgroup", in_waitgroup}, {"timer", in_timer},
	{"predicate", in_predicate}, {"send", in_send},
	{"recv", in_recv},	     {"select", in_select},
	{"accept", in_accept},	     {"wait_fd", in_wait_fd},
	{"read", in_read},	     {"write", in_write}, /* the last: it fills the pipe */
};

struct turn {
	int (*wait)(void);
	int first, second;
	_Atomic bool began;
};

static void *wait_twice(void *arg)
{
	struct turn *t = arg;

	atomic_store(&t->began, true);
	t->first = t->wait();
	/* It is asked for good. */
	t->second = fiber_cancelled() ? fiber_park(FIBER_FOREVER) : 0;
	return t;
}

static void *sleep_for_ever(void *arg)
{
	fiber_sleep_until(FIBER_FOREVER);
	return arg;
}

static void make_all(struct fiber_runtime *rt)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	fiber_mutex_lock(&all.mutex, 0);
	fiber_rwlock_wrlock(&all.rwlock, 0);
	fiber_barrier_init(&all.barrier, 2);
	fiber_waitgroup_add(&all.group, 1);
	assert_int_equal(fiber_timer_new(&all.timer), 0);
	assert_int_equal(fiber_chan_new(1, 1, &all.empty), 0);
	assert_int_equal(fiber_chan_new(1, 0, &all.meeting), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sleep_for_ever, NULL, &all.sleeper), 0);
	assert_int_equal(pipe(all.pipe), 0);
	all.listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(all.listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(all.listener, 5), 0);
}

static void release_all(void)
{
	fiber_mutex_unlock(&all.mutex);
	fiber_rwlock_unlock(&all.rwlock);
	fiber_timer_free(all.timer);
	fiber_chan_unref(all.empty);
	fiber_chan_unref(all.meeting);
	fiber_cancel(all.sleeper);
	fiber_join(all.sleeper, NULL, FIBER_FOREVER);
	fiber_close(all.pipe[0]);
	fiber_close(all.pipe[1]);
	fiber_close(all.listener);
}

/* How often it is cancelled while it waits, while it is about to wait, and before it runs. */
static int cancel_at_each_moment(struct fiber_runtime *rt, int (*wait)(void))
{
	int bad = 0;

	for (int i = 0; i < 30; i++) {
		struct turn t = {wait, 1, 1, false};
		struct fiber_result r = {NULL, 1};
		struct fiber *fiber;

		if (fiber_runtime_spawn(rt, NULL, wait_twice, &t, &fiber) < 0)
			return -1;
		if (i % 3 == 0)
			carriers_await_suspended(fiber);
		else if (i % 3 == 1)
			while (!atomic_load(&t.began))
				carriers_pause();
		fiber_cancel(fiber);
		fiber_join(fiber, &r, FIBER_FOREVER);
		bad += t.first != -ECANCELED || t.second != -ECANCELED || r.value != &t ||
		       r.error != -ECANCELED;
	}
	return bad;
}

static void test_cancel_ends_every_kind_of_wait_at_every_moment(void **state)
{
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	make_all(rt);
	for (size_t i = 0; i < COUNT(waits); i++) {
		int bad = cancel_at_each_moment(rt, waits[i].wait);

		if (bad)
			print_message("# %s: %d\n", waits[i].name, bad);
		assert_int_equal(bad, 0);
	}
	release_all();
	carriers_finish(rt);
}

/* -- nothing is lost -- */

static void *read_three_times(void *arg)
{
	static char bytes[16];
	ssize_t *n = arg;

	fiber_cancel(fiber_self());
	for (int i = 0; i < 3; i++)
		n[i] = fiber_read(all.pipe[0], bytes, 4, FIBER_FOREVER);
	return NULL;
}

static void test_cancel_returns_the_bytes_that_are_there_first(void **state)
{
	ssize_t n[3] = {1, 1, 1};

	(void)state;
	assert_int_equal(pipe(all.pipe), 0);
	assert_int_equal(write(all.pipe[1], "abcdef", 6), 6);
	assert_int_equal(carriers_run(read_three_times, n).error, -ECANCELED);
	assert_int_equal(n[0], 4);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], -ECANCELED);
	close(all.pipe[0]);
	close(all.pipe[1]);
}

/* -- many -- */

static void test_cancel_ends_thousands_of_sleepers(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	size_t n = carriers_scale(20000), cancelled = 0;
	struct fiber **fibers = calloc(n, sizeof *fibers);

	(void)state;
	assert_non_null(fibers);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, sleep_for_ever, NULL, &fibers[i]),
				 0);
	for (size_t i = 0; i < n; i++)
		fiber_cancel(fibers[i]);
	for (size_t i = 0; i < n; i++) {
		struct fiber_result r = {NULL, 1};

		assert_int_equal(fiber_join(fibers[i], &r, FIBER_FOREVER), 0);
		cancelled += r.error == -ECANCELED;
	}
	assert_int_equal(cancelled, n);
	free(fibers);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_ends_every_kind_of_wait_at_every_moment),
		cmocka_unit_test(test_cancel_returns_the_bytes_that_are_there_first),
		cmocka_unit_test(test_cancel_ends_thousands_of_sleepers),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
