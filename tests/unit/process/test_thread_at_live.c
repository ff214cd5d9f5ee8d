/* SPDX-License-Identifier: MIT */
/* test_thread_at_live.c - list the test's own threads, and where one of them sleeps */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "inspect/model/thread_at.h"
#include "inspect/process/thread_at_live.h"
#include "layout/row.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source source;
static struct asleep thread;
static int ends[2];

static void wait_byte(void *arg)
{
	char byte;

	prctl(PR_SET_NAME, "reads a byte");
	assert_int_equal(read(*(int *)arg, &byte, 1), 1);
}

static void start(void)
{
	source.pid = getpid();
	assert_int_equal(pipe(ends), 0);
	asleep_start(&thread, wait_byte, &ends[0], SYS_read);
}

static void end(void)
{
	assert_int_equal(write(ends[1], "x", 1), 1);
	asleep_end(&thread);
	close(ends[0]);
	close(ends[1]);
}

static void test_every_thread_is_listed(void **state)
{
	struct ins_thread_ids ids;
	size_t i, found = 0;

	(void)state;
	start();
	assert_int_equal(ins_thread_ids_live(&source, &ids), 0);
	/* The test, its watchdog and the thread. */
	assert_int_equal(ids.count, 3);
	for (i = 0; i < ids.count; i++)
		found += ids.tid[i] == thread.tid || ids.tid[i] == (uint64_t)getpid();
	assert_int_equal(found, 2);
	free(ids.tid);
	end();
}

static void test_a_sleeping_thread_has_a_call_and_its_arguments(void **state)
{
	struct ins_thread_at at;

	(void)state;
	start();
	assert_int_equal(ins_thread_at_live(&source, thread.tid, INS_THREAD_ALL, &at), 0);
	assert_int_equal(at.tid, thread.tid);
	assert_int_equal(at.inner, thread.tid);
	assert_string_equal(at.name, "reads a byte");
	assert_false(at.runs);
	assert_int_equal(at.call, SYS_read);
	assert_int_equal(at.argument[0], ends[0]);
	assert_int_equal(at.argument[2], 1);
	assert_true(at.registers.pc && at.registers.sp);
	assert_true(at.switches > 0);
	assert_true(at.cpu != FIB_ROW_UNKNOWN && at.cpu > 0);
	end();
}

static void test_of_a_thread_only_what_moves_is_read_if_that_is_asked(void **state)
{
	struct ins_thread_at at;

	(void)state;
	start();
	assert_int_equal(ins_thread_at_live(&source, thread.tid, INS_THREAD_MOVES, &at), 0);
	assert_string_equal(at.name, "");
	assert_true(at.cpu == FIB_ROW_UNKNOWN && at.runnable == FIB_ROW_UNKNOWN);
	assert_int_equal(at.call, SYS_read);
	assert_true(at.registers.pc && at.registers.sp);
	assert_true(at.switches > 0);
	end();
}

static _Atomic bool stop;
static _Atomic uint64_t spinner;

static void *spin(void *arg)
{
	while (!stop)
		spinner = (uint64_t)syscall(SYS_gettid);
	return arg;
}

static void test_a_thread_that_runs_is_nowhere(void **state)
{
	struct ins_thread_at at;
	pthread_t other;

	(void)state;
	source.pid = getpid();
	assert_int_equal(pthread_create(&other, NULL, spin, NULL), 0);
	while (!spinner)
		sched_yield();
	assert_int_equal(ins_thread_at_live(&source, spinner, INS_THREAD_ALL, &at), 0);
	assert_true(at.runs);
	assert_int_equal(at.call, -1);
	assert_int_equal(at.registers.pc, 0);
	stop = true;
	pthread_join(other, NULL);
}

static void test_a_thread_that_has_exited_is_no_thread(void **state)
{
	struct ins_thread_at at;

	(void)state;
	start();
	end();
	assert_int_equal(ins_thread_at_live(&source, thread.tid, INS_THREAD_ALL, &at), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_thread_is_listed),
		cmocka_unit_test(test_a_sleeping_thread_has_a_call_and_its_arguments),
		cmocka_unit_test(test_of_a_thread_only_what_moves_is_read_if_that_is_asked),
		cmocka_unit_test(test_a_thread_that_runs_is_nowhere),
		cmocka_unit_test(test_a_thread_that_has_exited_is_no_thread),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
