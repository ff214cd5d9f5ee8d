/* SPDX-License-Identifier: MIT */
/* test_core_thread_at.c - where each thread of a core was, from its registers */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "inspect/corefile/core_thread_at.h"
#include "tests/harness/inspect/head.h"

static struct ins_core core;
static struct ins_core_status threads[2];

static int begin(void **state)
{
	static const unsigned rdi = 5, rsi = 4, rdx = 1, r10 = 10, r8 = 8, r9 = 9;
	struct ins_registers *r = &threads[0].registers;

	(void)state;
	memset(threads, 0, sizeof threads);
	threads[0].tid = 70;
	threads[0].call = SYS_futex;
	r->pc = 1;
	r->sp = 2;
	ins_registers_set(r, rdi, 11);
	ins_registers_set(r, rsi, 12);
	ins_registers_set(r, rdx, 13);
	ins_registers_set(r, r10, 14);
	ins_registers_set(r, r8, 15);
	ins_registers_set(r, r9, 16);
	threads[1] = threads[0];
	threads[1].tid = 71;
	core = (struct ins_core){.pid = 70, .program = "it", .thread = threads, .threads = 2};
	return 0;
}

static void test_all_threads_are_listed(void **state)
{
	struct ins_thread_ids ids;

	(void)state;
	assert_int_equal(ins_core_thread_ids(&core, &ids), 0);
	assert_int_equal(ids.count, 2);
	assert_int_equal(ids.tid[1], 71);
	free(ids.tid);
}

static void test_a_thread_in_a_call_has_its_arguments(void **state)
{
	struct ins_thread_at at;
	unsigned i;

	(void)state;
	assert_int_equal(ins_core_thread_at(&core, 70, &at), 0);
	assert_int_equal(at.call, SYS_futex);
	assert_false(at.runs);
	for (i = 0; i < FIB_SLEEPER_ARGUMENTS; i++)
		assert_int_equal(at.argument[i], 11 + i);
	assert_string_equal(at.name, "it");
	assert_int_equal(at.inner, 70);
	/* A core has the name of the process only. */
	assert_int_equal(ins_core_thread_at(&core, 71, &at), 0);
	assert_string_equal(at.name, "");
}

static void test_a_thread_in_no_call_and_the_one_that_failed_ran(void **state)
{
	struct ins_thread_at at;

	(void)state;
	threads[0].call = -1;
	assert_int_equal(ins_core_thread_at(&core, 70, &at), 0);
	assert_true(at.runs);
	core.crash.signal = SIGABRT;
	core.crash.thread = 71;
	assert_int_equal(ins_core_thread_at(&core, 71, &at), 0);
	assert_true(at.runs);
	assert_int_equal(at.call, -1);
}

static void test_a_thread_that_is_not_in_the_core_is_an_error(void **state)
{
	struct ins_thread_at at;

	(void)state;
	assert_int_equal(ins_core_thread_at(&core, 72, &at), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_threads_are_listed, begin),
		cmocka_unit_test_setup(test_a_thread_in_a_call_has_its_arguments, begin),
		cmocka_unit_test_setup(test_a_thread_in_no_call_and_the_one_that_failed_ran, begin),
		cmocka_unit_test_setup(test_a_thread_that_is_not_in_the_core_is_an_error, begin),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
