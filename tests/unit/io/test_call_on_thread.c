/* SPDX-License-Identifier: MIT */
/* test_call_on_thread.c - a call on its own thread happened or never will; its thread exits */
#include "inside.h"

#include <dirent.h>

#include "io/call_on_thread.h"

struct call {
	int fds[2];
	int64_t deadline;
	int got; /* bytes read so far */
};

static void read_one(void *arg)
{
	struct call *c = arg;
	char byte;

	c->got = (int)read(c->fds[0], &byte, 1);
}

static void *read_aside(void *arg)
{
	struct call *c = arg;

	return (void *)(intptr_t)fib_call_on_thread("a byte", read_one, c, c->deadline);
}

static void call_init(struct call *c, int64_t deadline)
{
	assert_int_equal(pipe(c->fds), 0);
	c->deadline = deadline;
	c->got = -1;
}

static void call_free(struct call *c)
{
	close(c->fds[0]);
	close(c->fds[1]);
}

static unsigned threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static void await_suspended(struct fiber *f)
{
	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
}

static void test_aside_parks_the_fiber_until_the_call_returns(void **state)
{
	struct call c;
	struct fiber *f;

	(void)state;
	call_init(&c, FIBER_FOREVER);
	f = inside_spawn(read_aside, &c);
	await_suspended(f);
	assert_int_equal(write(c.fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 0);
	assert_int_equal(c.got, 1);
	assert_int_equal(write(c.fds[1], "x", 1), 1);
	assert_int_equal(on_a_thread(read_aside, &c), 0);
	call_free(&c);
}

static void test_aside_ends_the_call_with_the_wait(void **state)
{
	unsigned before = threads();
	struct call c;
	char byte = 0;

	(void)state;
	call_init(&c, fiber_after(3 * MS));
	assert_int_equal(inside(read_aside, &c), -ETIMEDOUT);
	assert_true(fiber_now() >= c.deadline);
	c.deadline = fiber_after(3 * MS);
	assert_int_equal(on_a_thread(read_aside, &c), -ETIMEDOUT);
	/*
	 * No thread reads the pipe any more, so the byte is still there. Joined threads leave the
	 * list a moment later.
	 */
	assert_int_equal(write(c.fds[1], "y", 1), 1);
	assert_int_equal(read(c.fds[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	assert_int_equal(c.got, -1);
	while (threads() > before)
		sched_yield();
	call_free(&c);
}

static void test_aside_ends_the_call_of_a_cancelled_fiber(void **state)
{
	struct call c;
	struct fiber *f;

	(void)state;
	call_init(&c, FIBER_FOREVER);
	f = inside_spawn(read_aside, &c);
	await_suspended(f);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	assert_int_equal(c.got, -1);
	call_free(&c);
}

static void *cancelled_before(void *arg)
{
	return as_cancelled(read_aside, arg);
}

static void test_aside_without_time_makes_no_call(void **state)
{
	struct call c;

	(void)state;
	call_init(&c, 0);
	assert_int_equal(write(c.fds[1], "x", 1), 1);
	assert_int_equal(inside(read_aside, &c), -ETIMEDOUT);
	assert_int_equal(on_a_thread(read_aside, &c), -ETIMEDOUT);
	c.deadline = FIBER_FOREVER;
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_before, &c)), -ECANCELED);
	assert_int_equal(c.got, -1);
	call_free(&c);
}

/* The deadline and the byte at the same time: the result says what really happened. */
static void test_aside_says_whether_the_call_has_happened(void **state)
{
	int happened = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct call c;
		struct fiber *f;
		intptr_t rc;
		char byte;

		call_init(&c, fiber_after(i % 20 * 20000 + 1000));
		f = inside_spawn(read_aside, &c);
		while (fiber_now() < c.deadline)
			;
		assert_int_equal(write(c.fds[1], "x", 1), 1);
		rc = inside_join(f);
		assert_true(rc == 0 || rc == -ETIMEDOUT);
		assert_int_equal(c.got, rc == 0 ? 1 : -1);
		happened += rc == 0;
		close(c.fds[1]);
		(void)!read(c.fds[0], &byte, 1);
		close(c.fds[0]);
	}
	print_message("# %d of 200 calls happened\n", happened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aside_parks_the_fiber_until_the_call_returns),
		cmocka_unit_test(test_aside_ends_the_call_with_the_wait),
		cmocka_unit_test(test_aside_ends_the_call_of_a_cancelled_fiber),
		cmocka_unit_test(test_aside_without_time_makes_no_call),
		cmocka_unit_test(test_aside_says_whether_the_call_has_happened),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
