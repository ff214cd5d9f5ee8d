/* SPDX-License-Identifier: MIT */
/* test_thread_rows.c - rows of the test's own threads, alone and beside fibers */
#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "inspect/threads/thread_rows.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source *source;
static struct ins_thread_rows *rows;
static struct asleep thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ins_fiber found;

static void lock(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
}

static int take(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	found = *fiber;
	return 7;
}

/* Look at a thread that waits for what this one holds. */
static void look(bool mixed)
{
	static const struct ins_request request;
	struct ins_error error = {""};
	bool there = false, listed = false;
	size_t i;

	assert_int_equal(ins_source_open_process(getpid(), &error, &source), 0);
	assert_int_equal(ins_thread_rows_new(source, source->ops, mixed, &rows), 0);
	pthread_mutex_lock(&mutex);
	asleep_start(&thread, lock, &mutex, SYS_futex);
	assert_int_equal(ins_thread_rows_begin(rows, &request, &error), 0);
	for (i = 0; i < ins_thread_rows_count(rows); i++)
		listed |= ins_thread_rows_tid(rows, i) == thread.tid;
	assert_true(listed);
	assert_int_equal(ins_thread_rows_look(rows, thread.tid, take, NULL, &there), 7);
	assert_true(there);
	pthread_mutex_unlock(&mutex);
	asleep_end(&thread);
	assert_int_equal(ins_thread_rows_look(rows, thread.tid, take, NULL, &there), 0);
	assert_false(there);
	ins_thread_rows_end(rows);
	ins_thread_rows_free(rows);
	ins_source_close(source);
	assert_int_equal(found.row.wait_kind, FIB_WAIT_MUTEX);
	assert_true(found.flags & INS_FIBER_THREAD);
}

static void test_numbers_are_plain_where_there_are_threads_only(void **state)
{
	(void)state;
	look(false);
	assert_int_equal(found.row.id, thread.tid);
	assert_int_equal(found.row.holder, getpid());
}

static void test_numbers_have_a_mark_beside_fibers(void **state)
{
	(void)state;
	look(true);
	assert_int_equal(found.row.id, FIB_HOLDER_THREAD | thread.tid);
	assert_int_equal(found.row.holder, FIB_HOLDER_THREAD | (uint64_t)getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_plain_where_there_are_threads_only),
		cmocka_unit_test(test_numbers_have_a_mark_beside_fibers),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
