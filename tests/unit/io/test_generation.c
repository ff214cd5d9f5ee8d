/* SPDX-License-Identifier: MIT */
/*
 * test_generation.c - a descriptor is closed while another thread gives it to the poller
 *
 * The waiter is notified of the close and does not get the error of its late system call. The
 * poller does not keep the file, so the peer is notified too. The test delays the poller's steps
 * and close(2) in the middle, until another thread has got as far as it can.
 */
#include "inside.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"
#include "tests/harness/paths.h"

#define PATIENCE (100 * MS)

static const struct fib_poller_ops *real;
static struct fib_poller_ops held;
static int near, far;		     /* the two ends; a fiber waits for `near`, which is closed */
static _Atomic int holding, held_up; /* delay the next call of the poller; a call is delayed */
static bool after;		     /* delay it after the real call, not before */
static _Atomic int let_go;	     /* the poller has dropped `near` */
static struct fiber *_Atomic late;   /* starts its wait during close(2); NULL: no fiber does */
static _Atomic int closing;

static void hold_up(void)
{
	const int64_t until = fiber_after(PATIENCE);

	if (!holding)
		return;
	holding = 0;
	held_up = 1;
	while (fiber_now() < until && !let_go)
		sched_yield();
}

static int watch_held_up(struct fib_poller *p, int fd, uint64_t token)
{
	int rc;

	if (fd == near && !after)
		hold_up();
	rc = real->watch(p, fd, token);
	if (fd == near && after)
		hold_up();
	return rc;
}

static int want_held_up(struct fib_poller *p, int fd, uint64_t token, short events)
{
	int rc;

	if (fd == near && !after)
		hold_up();
	rc = real->want(p, fd, token, events);
	if (fd == near && after)
		hold_up();
	return rc;
}

static int forget_and_tell(struct fib_poller *p, int fd)
{
	const int rc = real->forget(p, fd);

	if (fd == near)
		let_go = 1;
	return rc;
}

/* The second of the two calls of epoll's watch is delayed. */
int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	long rc;

	if (op == EPOLL_CTL_MOD && fd == near)
		hold_up();
	rc = syscall(SYS_epoll_ctl, epoll, op, fd, event);
	if (op == EPOLL_CTL_DEL && fd == near)
		let_go = 1;
	return (int)rc;
}

int close(int fd)
{
	const int64_t until = fiber_after(20000 * MS);

	if (closing && fd == near) {
		closing = 0;
		while (!held_up && fiber_state(late) != FIBER_SUSPENDED && fiber_now() < until)
			sched_yield();
	}
	return (int)syscall(SYS_close, fd);
}

static void *wait_readable(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_wait_fd(near, POLLIN, FIBER_FOREVER);
}

static void *await_one(void *arg)
{
	const short in = POLLIN;

	(void)arg;
	return (void *)(intptr_t)fiber_await_fds(&near, &in, 1, FIBER_FOREVER);
}

static void *wait_when_it_is_being_closed(void *arg)
{
	while (closing)
		fiber_yield();
	return wait_readable(arg);
}

static void connect_ends(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	near = fds[0];
	far = fds[1];
	held_up = let_go = 0;
}

static void hold_up_the_poller(bool when_told)
{
	struct fib_poller *const p = rt->sched.poller;

	real = p->ops;
	held = *real;
	held.watch = watch_held_up;
	held.want = real->want ? want_held_up : NULL;
	held.forget = forget_and_tell;
	p->ops = &held;
	after = when_told;
	holding = 1;
}

static void assert_far_end_hears(void)
{
	struct pollfd p = {.fd = far, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_true(p.revents & POLLHUP);
	close(far);
}

static void until_held_up(void)
{
	while (!held_up)
		sched_yield();
}

static void test_close_while_the_poller_is_told_is_heard_at_both_ends(void **state)
{
	struct fiber *f;

	(void)state;
	/* ThreadSanitizer: the carriers read the operations that the test exchanges. */
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	connect_ends();
	hold_up_the_poller(false);
	f = inside_spawn(wait_readable, NULL);
	until_held_up();
	assert_int_equal(fiber_close(near), 0);
	assert_int_equal(inside_join(f), -EBADF);
	assert_far_end_hears();
	rt->sched.poller->ops = real;
}

/* The second fiber finds the file registered; when it changes the registration, the file is
 * gone. Other pollers are not delayed. */
static void test_close_between_two_steps_of_the_poller_is_no_other_error(void **state)
{
	struct fiber *f, *g;

	(void)state;
	connect_ends();
	f = inside_suspended(await_one, NULL);
	holding = !strcmp(rt->sched.poller->ops->name, "epoll");
	held_up = !holding;
	g = inside_spawn(await_one, NULL);
	until_held_up();
	assert_int_equal(fiber_close(near), 0);
	assert_int_equal(inside_join(f), -EBADF);
	assert_int_equal(inside_join(g), -EBADF);
	assert_far_end_hears();
}

static void test_close_that_somebody_comes_to_wait_in_is_heard_at_both_ends(void **state)
{
	struct fiber *f;

	(void)state;
	connect_ends();
	f = inside_suspended(wait_readable, NULL);
	closing = 1;
	late = inside_spawn(wait_when_it_is_being_closed, NULL);
	assert_int_equal(fiber_close(near), 0);
	assert_int_equal(inside_join(f), -EBADF);
	assert_int_equal(inside_join(late), -EBADF);
	assert_far_end_hears();
}

/* The poller has the file, but the library has not noted that yet. */
static void test_close_that_somebody_tells_the_poller_in_is_heard_at_both_ends(void **state)
{
	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	connect_ends();
	hold_up_the_poller(true);
	closing = 1;
	late = inside_spawn(wait_when_it_is_being_closed, NULL);
	assert_int_equal(fiber_close(near), 0);
	assert_int_equal(inside_join(late), -EBADF);
	assert_far_end_hears();
	rt->sched.poller->ops = real;
}

/* The close comes at any place in the calls of both fibers. */
static void test_close_of_what_others_come_to_wait_for_is_heard_at_both_ends(void **state)
{
	struct fiber *f, *g;
	int i;

	(void)state;
	for (i = 0; i < 300; i++) {
		connect_ends();
		f = inside_suspended(i % 2 ? await_one : wait_readable, NULL);
		g = inside_spawn(await_one, NULL);
		while (i % 4 < 3 && fiber_state(g) != FIBER_SUSPENDED)
			sched_yield();
		assert_int_equal(fiber_close(near), 0);
		assert_int_equal(inside_join(f), -EBADF);
		assert_int_equal(inside_join(g), -EBADF);
		assert_far_end_hears();
	}
}

static void test_forgotten_descriptor_wakes_its_waiters_and_may_be_waited_for_again(void **state)
{
	struct fiber *f;

	(void)state;
	connect_ends();
	f = inside_suspended(wait_readable, NULL);
	assert_int_equal(fiber_forget_fd(near), 0);
	assert_int_equal(inside_join(f), -EBADF);
	f = inside_suspended(wait_readable, NULL);
	assert_int_equal(write(far, "x", 1), 1);
	assert_int_equal(inside_join(f), POLLIN);
	assert_int_equal(fiber_forget_fd(-1), -EBADF);
	fiber_close(near);
	fiber_close(far);
}

/* A new number that is closed as promised comes back as another file, and is waited for again. */
static void test_descriptor_reported_as_new_is_waited_for_each_time_it_comes(void **state)
{
	int i;

	(void)state;
	assert_int_equal(fiber_new_fd(-1), -EBADF);
	for (i = 0; i < 20; i++) {
		struct fiber *f;

		connect_ends();
		assert_int_equal(fiber_new_fd(near), 0);
		f = inside_suspended(wait_readable, NULL);
		assert_int_equal(write(far, "x", 1), 1);
		assert_int_equal(inside_join(f), POLLIN);
		if (i % 2) {
			fiber_forget_fd(near);
			close(near);
		} else {
			fiber_close(near);
		}
		fiber_close(far);
	}
}

static void *read_one(void *arg)
{
	char c = 0;

	(void)arg;
	return (void *)(intptr_t)(fiber_read(near, &c, 1, FIBER_FOREVER) == 1 ? c : 0);
}

/* dup2(2) puts another socket under the number of one that is known to be watched. */
static void test_replaced_descriptor_is_watched_again(void **state)
{
	int other[2];
	struct fiber *f;

	(void)state;
	connect_ends();
	f = inside_suspended(wait_readable, NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	fiber_forget_fd(near);
	assert_int_equal(dup2(other[0], near), near);
	fiber_forget_fd(near);
	assert_int_equal(inside_join(f), -EBADF);
	f = inside_suspended(read_one, NULL);
	assert_int_equal(write(other[1], "y", 1), 1);
	assert_int_equal(inside_join(f), 'y');
	close(other[0]);
	close(other[1]);
	fiber_close(near);
	fiber_close(far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_while_the_poller_is_told_is_heard_at_both_ends),
		cmocka_unit_test(test_close_between_two_steps_of_the_poller_is_no_other_error),
		cmocka_unit_test(test_close_that_somebody_comes_to_wait_in_is_heard_at_both_ends),
		cmocka_unit_test(
			test_close_that_somebody_tells_the_poller_in_is_heard_at_both_ends),
		cmocka_unit_test(test_close_of_what_others_come_to_wait_for_is_heard_at_both_ends),
		cmocka_unit_test(
			test_forgotten_descriptor_wakes_its_waiters_and_may_be_waited_for_again),
		cmocka_unit_test(test_replaced_descriptor_is_watched_again),
		cmocka_unit_test(test_descriptor_reported_as_new_is_waited_for_each_time_it_comes),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
