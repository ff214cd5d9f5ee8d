/* SPDX-License-Identifier: MIT */
/* test_source_threads.c - the threads of the test itself as rows of a source */
#include <errno.h>
#include <fiber/fiber.h>
#include <sched.h>

#include "inspect/source/source.h"
#include "inspect/threads/threads.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source *source;
static struct asleep thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int begin(void **state)
{
	struct ins_error error = {""};

	(void)state;
	assert_int_equal(ins_source_open_process(getpid(), &error, &source), 0);
	assert_false(ins_threads_shown(source));
	assert_int_equal(ins_threads_show(source, true), 0);
	assert_true(ins_threads_shown(source));
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_source_close(source);
	return 0;
}

static void lock(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
}

static bool ascending;

static int take(void *context, const struct ins_fiber *fiber)
{
	struct ins_fiber *last = context;

	ascending = ascending && last->row.id < fiber->row.id;
	*last = *fiber;
	return 0;
}

/* Read thread tid; 0: all, and *ret is the last. */
static int read_one(uint64_t tid, bool stacks, struct ins_fiber *ret, struct ins_summary *summary)
{
	const struct ins_request request = {.id = tid, .stacks = stacks};
	struct ins_error error = {""};

	return ins_source_read(source, &request, take, ret, summary, &error);
}

static void test_a_thread_that_waits_is_a_row_with_its_holder(void **state)
{
	const uint64_t self = (uint64_t)syscall(SYS_gettid);
	struct ins_summary summary;
	struct ins_fiber row;

	(void)state;
	pthread_mutex_lock(&mutex);
	asleep_start(&thread, lock, &mutex, SYS_futex);
	assert_int_equal(read_one(thread.tid, true, &row, &summary), 0);
	assert_true(summary.threads);
	assert_int_equal(summary.shown, 1);
	assert_int_equal(row.row.id, thread.tid);
	assert_int_equal(row.flags & INS_FIBER_THREAD, INS_FIBER_THREAD);
	assert_int_equal(row.row.state, FIBER_SUSPENDED);
	assert_int_equal(row.row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(row.row.wait_object, (uint64_t)(uintptr_t)&mutex);
	assert_int_equal(row.row.holder, self);
	assert_int_equal(row.row.deadline, INT64_MAX);
	pthread_mutex_unlock(&mutex);
	asleep_end(&thread);
}

static void test_its_count_of_switches_changes_only_when_it_runs(void **state)
{
	struct ins_summary summary;
	struct ins_fiber first, second;

	(void)state;
	pthread_mutex_lock(&mutex);
	asleep_start(&thread, lock, &mutex, SYS_futex);
	read_one(thread.tid, false, &first, &summary);
	read_one(thread.tid, false, &second, &summary);
	assert_int_equal(first.row.seq, second.row.seq);
	assert_int_equal(first.row.seq % 2, 0);
	pthread_mutex_unlock(&mutex);
	asleep_end(&thread);
}

static _Atomic bool spins, stop;
static _Atomic uint64_t spinner;

static void *spin(void *arg)
{
	spinner = (uint64_t)syscall(SYS_gettid);
	while (!stop)
		spins = true;
	return arg;
}

static void test_a_thread_that_runs_has_no_wait_and_no_stack(void **state)
{
	struct ins_summary summary;
	struct ins_fiber row;
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, spin, NULL), 0);
	while (!spins)
		sched_yield();
	assert_int_equal(read_one(spinner, true, &row, &summary), 0);
	assert_int_equal(row.row.state, FIBER_RUNNING);
	assert_int_equal(row.row.wait_kind, FIB_WAIT_NONE);
	assert_null(row.stack);
	stop = true;
	pthread_join(other, NULL);
}

static void test_all_threads_are_read_in_the_order_of_their_numbers(void **state)
{
	struct ins_summary summary;
	struct ins_fiber row;

	(void)state;
	pthread_mutex_lock(&mutex);
	asleep_start(&thread, lock, &mutex, SYS_futex);
	row.row.id = 0;
	ascending = true;
	assert_int_equal(read_one(0, false, &row, &summary), 0);
	assert_true(ascending);
	/* The test, its watchdog and the thread. */
	assert_int_equal(summary.total, 3);
	assert_int_equal(summary.shown, 3);
	assert_true(summary.fiberless);
	pthread_mutex_unlock(&mutex);
	asleep_end(&thread);
}

static void test_a_thread_that_does_not_exist_is_an_error(void **state)
{
	struct ins_summary summary;
	struct ins_fiber row;

	(void)state;
	assert_int_equal(read_one(1, false, &row, &summary), -ESRCH);
}

static void test_a_source_without_threads_is_refused(void **state)
{
	static const struct ins_source_ops ops = {0};
	struct ins_source other = {.kind = "control", .ops = &ops};

	(void)state;
	assert_int_equal(ins_threads_show(&other, false), -EOPNOTSUPP);
	assert_ptr_equal(other.ops, &ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_waits_is_a_row_with_its_holder),
		cmocka_unit_test(test_its_count_of_switches_changes_only_when_it_runs),
		cmocka_unit_test(test_a_thread_that_runs_has_no_wait_and_no_stack),
		cmocka_unit_test(test_all_threads_are_read_in_the_order_of_their_numbers),
		cmocka_unit_test(test_a_thread_that_does_not_exist_is_an_error),
		cmocka_unit_test(test_a_source_without_threads_is_refused),
	};

	return HEAD_RUN(tests, begin, end);
}
