/* SPDX-License-Identifier: MIT */
/*
 * test_ops.c - an abandoned operation has one owner, and a runtime that finishes waits for it
 *
 * Operations that are awaited, or released before they start, are tested in tests/system/test_op.c.
 */
#include "inside.h"

#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stdio.h>

#include "io/op.h"

static struct {
	_Atomic unsigned called;
	_Atomic int result;
} end;

static void note(void *arg, int result)
{
	end.result = result;
	if (arg == &end)
		end.called++;
}

struct leaving {
	struct __kernel_timespec lasts;
	int64_t deadline;
	int rc;
	bool left;
};

static void leave_one(struct leaving *l)
{
	struct io_uring_sqe *sqe;
	struct fiber_op *op;

	l->rc = fiber_op_prepare(&op, &sqe);
	if (l->rc < 0)
		return;
	sqe->opcode = IORING_OP_TIMEOUT;
	sqe->fd = -1;
	sqe->addr = (uint64_t)(uintptr_t)&l->lasts;
	sqe->len = 1;
	l->rc = fib_op_await_or_leave(op, l->deadline, note, &end, &l->left);
}

static void *leaves(void *arg)
{
	leave_one(arg);
	return NULL;
}

static void *leaves_cancelled(void *arg)
{
	fiber_cancel(fiber_self());
	leave_one(arg);
	return NULL;
}

static void test_ops_that_end_in_time_are_not_left(void **state)
{
	struct leaving l = {.lasts.tv_nsec = MS, .deadline = FIBER_FOREVER};

	(void)state;
	end.called = 0;
	inside(leaves, &l);
	assert_int_equal(l.rc, -ETIME);
	assert_false(l.left);
	assert_int_equal(end.called, 0);
}

static void test_ops_of_a_cancelled_fiber_do_not_begin(void **state)
{
	struct leaving l = {.lasts.tv_sec = 1000, .deadline = FIBER_FOREVER};

	(void)state;
	end.called = 0;
	inside_join_cancelled(inside_spawn(leaves_cancelled, &l));
	assert_int_equal(l.rc, -ECANCELED);
	assert_false(l.left);
	assert_int_equal(end.called, 0);
}

static void test_ops_that_are_left_are_cancelled_and_tell_their_end_once(void **state)
{
	struct leaving l = {.lasts.tv_sec = 1000, .deadline = FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	end.called = 0;
	l.deadline = fiber_after(2 * MS);
	inside(leaves, &l);
	assert_int_equal(l.rc, -ETIMEDOUT);
	assert_true(l.left);
	while (!end.called)
		sched_yield();
	assert_int_equal(end.result, -ECANCELED);
	l.deadline = FIBER_FOREVER;
	f = inside_suspended(leaves, &l);
	assert_int_equal(fiber_cancel(f), 0);
	inside_join_cancelled(f);
	assert_int_equal(l.rc, -ECANCELED);
	assert_true(l.left);
	while (end.called < 2)
		sched_yield();
}

enum { RACES = 300 };

/* The operations end at about the time when they are abandoned. */
static void *races(void *arg)
{
	unsigned *left = arg;

	for (int i = 0; i < RACES; i++) {
		struct leaving l = {.lasts.tv_nsec = 50000 + i % 7 * 1000};

		l.deadline = fiber_after(50000);
		leave_one(&l);
		if (l.left)
			++*left;
		else if (l.rc != -ETIME && l.rc != -ETIMEDOUT)
			return arg;
	}
	return NULL;
}

static void test_ops_have_one_owner_when_they_end_as_they_are_left(void **state)
{
	unsigned left = 0;

	(void)state;
	end.called = 0;
	assert_int_equal(inside(races, &left), 0);
	while (end.called < left)
		sched_yield();
	usleep(1000);
	assert_int_equal(end.called, left);
}

static void test_ops_that_were_left_have_ended_when_the_runtime_has_finished(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct leaving l = {.lasts.tv_sec = 1000};

	(void)state;
	end.called = 0;
	l.deadline = fiber_after(MS);
	assert_int_equal(fiber_run(leaves, &l, &options, NULL), 0);
	assert_true(l.left);
	assert_int_equal(end.called, 1);
}

static void *tries(void *arg)
{
	struct leaving l = {.lasts.tv_nsec = 1, .deadline = FIBER_FOREVER};

	(void)arg;
	leave_one(&l);
	return (void *)(intptr_t)(l.rc == -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ops_that_end_in_time_are_not_left),
		cmocka_unit_test(test_ops_of_a_cancelled_fiber_do_not_begin),
		cmocka_unit_test(test_ops_that_are_left_are_cancelled_and_tell_their_end_once),
		cmocka_unit_test(test_ops_have_one_owner_when_they_end_as_they_are_left),
		cmocka_unit_test(test_ops_that_were_left_have_ended_when_the_runtime_has_finished),
	};
	struct fiber_result result = {NULL, 1};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fiber_run(tries, NULL, NULL, &result) < 0 || !result.value) {
		puts("1..0 # SKIP no io_uring here");
		return 0;
	}
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
