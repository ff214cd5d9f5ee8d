/* SPDX-License-Identifier: MIT */
/*
 * test_race_reuse.c - a number is reused while its old descriptor is being given to the poller
 *
 * The test delays the poller's watch between taking its token and its system call, as if the
 * carrier had lost its CPU there. Meanwhile other fibers close the descriptor, get a new one with
 * its number and wait for it. If the delayed watch blocks them, it continues after a while.
 */
#include "inside.h"

#include <stdlib.h>

#include "io/descriptor.h"
#include "runtime/runtime.h"
#include "tests/harness/paths.h"

#define NUMBER	 200
#define PATIENCE (300 * MS)

static const struct fib_poller_ops *real;
static struct fib_poller_ops held;
static pthread_t other;
static int fresh[2];		    /* the new file for NUMBER; the end that is written to */
static struct fiber *_Atomic owner; /* waits for the new file; NULL: not yet */
static _Atomic int holding;	    /* delay the next watch */

static void *wait_readable(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_wait_fd(NUMBER, POLLIN, fiber_after(5000 * MS));
}

static void *use_again(void *arg)
{
	(void)arg;
	if (dup2(fresh[0], NUMBER) < 0)
		abort();
	fib_descriptor_opened(NUMBER);
	owner = inside_spawn(wait_readable, NULL);
	return NULL;
}

static void hold_up(int fd)
{
	const int64_t until = fiber_after(PATIENCE);

	if (fd == NUMBER && holding) {
		holding = 0;
		pthread_create(&other, NULL, use_again, NULL);
		while (fiber_now() < until && !(owner && fiber_state(owner) == FIBER_SUSPENDED))
			sched_yield();
	}
}

static int watch_held_up(struct fib_poller *p, int fd, uint64_t token)
{
	hold_up(fd);
	return real->watch(p, fd, token);
}

static int want_held_up(struct fib_poller *p, int fd, uint64_t token, short events)
{
	hold_up(fd);
	return real->want(p, fd, token, events);
}

static void *wait_for_the_old_one(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_wait_fd(NUMBER, POLLIN, FIBER_FOREVER);
}

static void test_descriptor_given_late_to_the_poller_keeps_nothing_from_its_next_owner(void **state)
{
	struct fib_poller *const p = rt->sched.poller;
	int old[2];

	(void)state;
	/* ThreadSanitizer: the carriers read the operations that the test exchanges. */
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, old), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fresh), 0);
	assert_int_equal(dup2(old[0], NUMBER), NUMBER);
	real = p->ops;
	held = *real;
	held.watch = watch_held_up;
	held.want = real->want ? want_held_up : NULL;
	p->ops = &held;
	holding = 1;
	assert_int_equal(inside(wait_for_the_old_one, NULL), -EBADF);
	assert_int_equal(pthread_join(other, NULL), 0);
	while (fiber_state(owner) != FIBER_SUSPENDED)
		sched_yield();
	assert_int_equal(write(fresh[1], "x", 1), 1);
	assert_int_equal(inside_join(owner), POLLIN);
	fiber_close(NUMBER);
	close(old[0]);
	close(old[1]);
	close(fresh[0]);
	close(fresh[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_descriptor_given_late_to_the_poller_keeps_nothing_from_its_next_owner),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("race: reuse", tests, inside_start, inside_stop);
}
