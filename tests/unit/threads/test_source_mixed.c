/* SPDX-License-Identifier: MIT */
/* test_source_mixed.c - threads of the test itself beside fibers that the test makes up */
#include <errno.h>
#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "inspect/threads/threads.h"
#include "tests/harness/inspect/asleep.h"
#include "tests/harness/inspect/rows.h"

#define MOST 8

static struct ins_source *source;
static struct ins_source_ops ops;
static struct asleep waiter, idler;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int hole[2];
static struct ins_fiber fiber; /* the only one of the source */
static struct ins_fiber found[MOST];
static size_t count;

static int give_fiber(struct ins_source *from, const struct ins_request *request, ins_fiber_fn *fn,
		      void *context, struct ins_summary *ret, struct ins_error *error)
{
	(void)from;
	(void)request;
	(void)error;
	ret->total = ret->shown = 1;
	return fn(context, &fiber);
}

static uint64_t inner_of; /* what is added to a number in the pid namespace of the process */
static const struct ins_source_ops *live;

static int give_thread(struct ins_source *from, uint64_t tid, enum ins_thread_ask ask,
		       struct ins_thread_at *ret)
{
	const int rc = live->thread_at(from, tid, ask, ret);

	ret->inner += inner_of;
	return rc;
}

static void lock(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
}

static void idle(void *arg)
{
	char byte;

	(void)!read(*(int *)arg, &byte, 1);
}

/* One thread waits for what this one holds, another one for nothing of interest. */
static int begin(void **state)
{
	struct ins_error error = {""};

	(void)state;
	assert_int_equal(ins_source_open_process(getpid(), &error, &source), 0);
	inner_of = 0;
	live = source->ops;
	ops = *source->ops;
	ops.read = give_fiber;
	ops.thread_at = give_thread;
	source->ops = &ops;
	assert_int_equal(ins_threads_mix(source), 0);
	assert_false(ins_threads_shown(source));
	assert_int_equal(pipe(hole), 0);
	pthread_mutex_lock(&mutex);
	asleep_start(&waiter, lock, &mutex, SYS_futex);
	asleep_start(&idler, idle, &hole[0], SYS_read);
	fiber = rows_fiber(1, "one");
	fiber.row.carrier = FIB_ROW_CARRIER_NONE;
	fiber.row.wait_kind = FIB_WAIT_NONE;
	fiber.row.holder = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	pthread_mutex_unlock(&mutex);
	close(hole[1]);
	asleep_end(&waiter);
	asleep_end(&idler);
	close(hole[0]);
	ins_source_close(source);
	return 0;
}

static int take(void *context, const struct ins_fiber *row)
{
	(void)context;
	assert_true(count < MOST);
	found[count++] = *row;
	return 0;
}

static int read_rows(uint64_t id, bool threads)
{
	const struct ins_request request = {.id = id, .threads = threads};
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc;

	count = 0;
	rc = ins_source_read(source, &request, take, NULL, &summary, &error);
	if (rc == 0)
		assert_int_equal(summary.shown, 1);
	return rc;
}

static const struct ins_fiber *thread_row(uint64_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (found[i].row.id == (FIB_HOLDER_THREAD | tid))
			return &found[i];
	return NULL;
}

/* Put the fiber on a carrier: its stack is that of a thread. */
static void run_on(const struct asleep *thread)
{
	struct fib_sleeper_place place;

	assert_int_equal(ins_thread_place(getpid(), thread->tid, &place), 1);
	fiber.row.carrier = 0;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.stack_low = place.sp - 64;
	fiber.row.stack_size = 4096;
}

static void test_threads_that_wait_for_a_lock_and_its_holder_follow_the_fibers(void **state)
{
	(void)state;
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(count, 3);
	assert_int_equal(found[0].row.id, 1);
	assert_int_equal(thread_row(waiter.tid)->row.holder,
			 FIB_HOLDER_THREAD | (uint64_t)getpid());
	assert_non_null(thread_row((uint64_t)getpid()));
	assert_null(thread_row(idler.tid));
}

static void test_a_thread_that_a_fiber_waits_for_is_there(void **state)
{
	(void)state;
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	fiber.row.holder = FIB_HOLDER_THREAD | idler.tid;
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(count, 4);
	assert_int_equal(thread_row(idler.tid)->row.wait_kind, FIB_WAIT_FD);
}

static void test_a_holder_has_its_number_of_our_pid_namespace_or_none(void **state)
{
	(void)state;
	inner_of = 100000000;
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	fiber.row.holder = FIB_HOLDER_THREAD | (idler.tid + inner_of);
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.holder, FIB_HOLDER_THREAD | idler.tid);
	assert_non_null(thread_row(idler.tid));
	/* The row alone is the same. */
	assert_int_equal(read_rows(1, false), 0);
	assert_int_equal(found[0].row.holder, FIB_HOLDER_THREAD | idler.tid);
	/* In the namespace of the process this is no thread. In ours it is another one. */
	fiber.row.holder = FIB_HOLDER_THREAD | idler.tid;
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.holder, 0);
	assert_null(thread_row(idler.tid));
}

static void test_a_reading_of_all_without_threads_forgets_the_pairs(void **state)
{
	(void)state;
	run_on(&waiter);
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.wait_kind, FIB_WAIT_PINNED);
	assert_int_equal(read_rows(0, false), 0);
	assert_int_equal(found[0].row.wait_kind, FIB_WAIT_NONE);
}

static void test_only_fibers_are_there_unless_threads_are_wanted(void **state)
{
	(void)state;
	assert_int_equal(read_rows(0, false), 0);
	assert_int_equal(count, 1);
}

static void test_a_fiber_that_sleeps_in_a_lock_of_the_system_waits_for_its_thread(void **state)
{
	(void)state;
	run_on(&waiter);
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.wait_kind, FIB_WAIT_PINNED);
	assert_int_equal(found[0].row.holder, FIB_HOLDER_THREAD | waiter.tid);
	assert_int_equal(thread_row(waiter.tid)->row.wait_kind, FIB_WAIT_MUTEX);
	/* The row alone is the same. */
	assert_int_equal(read_rows(1, false), 0);
	assert_int_equal(found[0].row.holder, FIB_HOLDER_THREAD | waiter.tid);
}

static void test_a_fiber_in_another_call_waits_for_nothing(void **state)
{
	(void)state;
	run_on(&idler);
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.wait_kind, FIB_WAIT_NONE);
	assert_null(thread_row(idler.tid));
}

static void test_the_thread_of_a_pinned_fiber_that_waits_waits_for_it(void **state)
{
	(void)state;
	run_on(&idler);
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	fiber.row.holder = FIB_HOLDER_THREAD | idler.tid;
	assert_int_equal(read_rows(0, true), 0);
	assert_int_equal(found[0].row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(thread_row(idler.tid)->row.wait_kind, FIB_WAIT_PINNED);
	assert_int_equal(thread_row(idler.tid)->row.holder, 1);
	assert_int_equal(read_rows(FIB_HOLDER_THREAD | idler.tid, false), 0);
	assert_int_equal(found[0].row.holder, 1);
}

static void test_a_thread_that_does_not_exist_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(read_rows(FIB_HOLDER_THREAD | 4000000, false), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(test_threads_that_wait_for_a_lock_and_its_holder_follow_the_fibers),
		TEST(test_a_thread_that_a_fiber_waits_for_is_there),
		TEST(test_a_holder_has_its_number_of_our_pid_namespace_or_none),
		TEST(test_a_reading_of_all_without_threads_forgets_the_pairs),
		TEST(test_only_fibers_are_there_unless_threads_are_wanted),
		TEST(test_a_fiber_that_sleeps_in_a_lock_of_the_system_waits_for_its_thread),
		TEST(test_a_fiber_in_another_call_waits_for_nothing),
		TEST(test_the_thread_of_a_pinned_fiber_that_waits_waits_for_it),
		TEST(test_a_thread_that_does_not_exist_is_an_error),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
