/* SPDX-License-Identifier: MIT */
/*
 * test_rare.c - a wait for urgent data, an end or an error sleeps while ordinary data lies unread
 *
 * The descriptors are not known to be new, so each wait makes the poller report again what is
 * there.
 */
#include "inside.h"

#include <netinet/in.h>
#include <sys/resource.h>

/* Long enough to notice a fiber that does not sleep. */
#define WHILE (200 * MS)

/* A connection made without libfiber. */
static int ours = -1, peer = -1;

static int connect_both(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	socklen_t size = sizeof to;
	const int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ours = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&to, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&to, &size) < 0 ||
	    connect(ours, (struct sockaddr *)&to, size) < 0)
		return -1;
	peer = accept(listener, NULL, NULL);
	close(listener);
	return peer < 0 ? -1 : 0;
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static int disconnect_both(void **state)
{
	(void)state;
	if (peer >= 0)
		close(peer);
	return (int)inside(do_close, &ours);
}

/* CPU time of the process so far, in ns. */
static int64_t computed(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * INT64_C(1000);
}

struct watch {
	short events;
	int64_t deadline;
};

static void *do_wait(void *arg)
{
	struct watch *w = arg;

	return (void *)(intptr_t)fiber_wait_fd(ours, w->events, w->deadline);
}

static void *do_poll(void *arg)
{
	struct watch *w = arg;
	struct pollfd p = {.fd = ours, .events = w->events};
	const int rc = fiber_poll(&p, 1, w->deadline);

	return (void *)(intptr_t)(rc == 1 ? p.revents : rc);
}

static void *do_select(void *arg)
{
	struct watch *w = arg;
	struct fiber_select_case c = {.op = FIBER_SELECT_FD, .fd = ours, .events = w->events};
	const int rc = fiber_select(&c, 1, w->deadline);

	return (void *)(intptr_t)(rc == 0 ? c.result : rc);
}

static fiber_fn *const waits[] = {do_wait, do_poll, do_select};
#define WAITS (sizeof waits / sizeof waits[0])

/* Without the awaited event, the wait sleeps until its deadline. */
static void sleeps(fiber_fn *wait, short events)
{
	const int64_t before = computed();
	struct watch w = {events, fiber_after(WHILE)};

	assert_int_equal(inside(wait, &w), -ETIMEDOUT);
	assert_true(computed() - before < WHILE / 4);
}

static void say_something(void)
{
	struct watch w = {POLLIN, FIBER_FOREVER};

	assert_int_equal(send(peer, "unread", 6, 0), 6);
	assert_int_equal(inside(do_wait, &w), POLLIN);
}

static void test_rare_events_are_waited_for_asleep(void **state)
{
	size_t i;

	(void)state;
	say_something();
	for (i = 0; i < WAITS; i++) {
		sleeps(waits[i], POLLPRI);
		sleeps(waits[i], POLLRDHUP);
	}
	sleeps(do_poll, 0);
}

static void test_rare_events_are_waited_for_asleep_where_there_is_no_room(void **state)
{
	static const char much[1 << 16];
	size_t i;

	(void)state;
	while (send(ours, much, sizeof much, MSG_DONTWAIT) > 0)
		;
	say_something();
	for (i = 0; i < WAITS; i++)
		sleeps(waits[i], POLLPRI | POLLOUT);
}

static void *do_receive(void *arg)
{
	char byte;

	return (void *)(intptr_t)fiber_recv(ours, &byte, 1, MSG_ERRQUEUE, *(int64_t *)arg);
}

static void test_rare_events_of_an_empty_queue_of_errors_are_waited_for_asleep(void **state)
{
	const int64_t before = computed();
	int64_t deadline = fiber_after(WHILE);

	(void)state;
	say_something();
	assert_int_equal(inside(do_receive, &deadline), -ETIMEDOUT);
	assert_true(computed() - before < WHILE / 4);
}

static void test_rare_events_end_the_wait(void **state)
{
	struct watch urgent = {POLLPRI, FIBER_FOREVER}, end = {POLLRDHUP, FIBER_FOREVER};
	struct fiber *first, *last;
	char byte;
	size_t i;

	(void)state;
	say_something();
	for (i = 0; i < WAITS; i++) {
		first = inside_suspended(waits[i], &urgent);
		assert_int_equal(send(peer, "!", 1, MSG_OOB), 1);
		assert_int_equal(inside_join(first), POLLPRI);
		assert_int_equal(recv(ours, &byte, 1, MSG_OOB), 1);
	}
	first = inside_spawn(do_wait, &urgent);
	last = inside_spawn(do_wait, &end);
	harness_await_suspended(first);
	harness_await_suspended(last);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	assert_int_equal(inside_join(last), POLLRDHUP);
	/* Both directions are shut down then, which is a hang-up for all waiters. */
	assert_int_equal(shutdown(ours, SHUT_WR), 0);
	assert_true(inside_join(first) & POLLHUP);
}

/* Several fibers wait for one descriptor, in this order and in reverse. */
static void beside(const short events[3])
{
	struct watch w[3];
	struct fiber *f[3];
	char bytes[16];
	int i;

	for (i = 0; i < 3; i++) {
		w[i] = (struct watch){events[i], FIBER_FOREVER};
		f[i] = inside_suspended(waits[i], &w[i]);
	}
	assert_int_equal(send(peer, "more", 4, 0), 4);
	for (i = 0; i < 3; i++)
		if (events[i] == POLLIN)
			assert_int_equal(inside_join(f[i]), POLLIN);
	assert_int_equal(recv(ours, bytes, sizeof bytes, 0), 4);
	assert_int_equal(send(peer, "!", 1, MSG_OOB), 1);
	for (i = 0; i < 3; i++)
		if (events[i] == POLLPRI)
			assert_int_equal(inside_join(f[i]), POLLPRI);
	assert_int_equal(recv(ours, bytes, 1, MSG_OOB), 1);
}

static void test_rare_events_and_ordinary_ones_are_waited_for_side_by_side(void **state)
{
	static const short orders[][3] = {
		{POLLIN, POLLPRI, POLLPRI}, {POLLPRI, POLLIN, POLLPRI}, {POLLPRI, POLLPRI, POLLIN},
		{POLLIN, POLLIN, POLLPRI},  {POLLIN, POLLPRI, POLLIN},	{POLLPRI, POLLIN, POLLIN},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof orders / sizeof orders[0]; i++)
		beside(orders[i]);
}

static void test_rare_events_are_no_longer_waited_for_when_it_is_closed(void **state)
{
	size_t i;

	(void)state;
	say_something();
	for (i = 0; i < WAITS; i++) {
		struct watch w = {POLLPRI, FIBER_FOREVER};
		struct fiber *fiber = inside_suspended(waits[i], &w);

		assert_int_equal(inside(do_close, &ours), 0);
		assert_in_set(inside_join(fiber), ((const unsigned long[]){-EBADF, POLLNVAL}), 2);
		close(peer);
		assert_int_equal(connect_both(NULL), 0);
	}
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, connect_both, disconnect_both)
	const struct CMUnitTest tests[] = {
		EACH(test_rare_events_are_waited_for_asleep),
		EACH(test_rare_events_are_waited_for_asleep_where_there_is_no_room),
		EACH(test_rare_events_of_an_empty_queue_of_errors_are_waited_for_asleep),
		EACH(test_rare_events_end_the_wait),
		EACH(test_rare_events_and_ordinary_ones_are_waited_for_side_by_side),
		EACH(test_rare_events_are_no_longer_waited_for_when_it_is_closed),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
