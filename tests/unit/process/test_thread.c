/* SPDX-License-Identifier: MIT */
/* test_thread.c - threads that exist, that have exited, and that are unknown */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/thread.h"
#include "tests/harness/process.h"

static char name[INS_THREAD_NAME];

static void *named(void *arg)
{
	pthread_setname_np(pthread_self(), "a\"b\x1b");
	*(pid_t *)arg = gettid();
	return NULL;
}

static void *look_at_itself(void *arg)
{
	named(arg);
	return (void *)(uintptr_t)ins_thread_look(getpid(), (uint64_t)gettid(), name);
}

static void test_a_thread_that_is_there_has_its_name(void **state)
{
	pthread_t thread;
	void *result;
	pid_t tid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, look_at_itself, &tid), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((uintptr_t)result, INS_THREAD_ALIVE);
	/* The raw name: the code that prints it escapes it. */
	assert_string_equal(name, "a\"b\x1b");
}

static void test_a_thread_that_has_ended_is_known_to_have(void **state)
{
	pthread_t thread;
	pid_t tid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, named, &tid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* pthread_join() may return before the kernel has removed the thread. */
	while (ins_thread_look(getpid(), (uint64_t)tid, name) == INS_THREAD_ALIVE)
		usleep(1000);
	assert_int_equal(ins_thread_look(getpid(), (uint64_t)tid, name), INS_THREAD_ENDED);
	assert_string_equal(name, "");
	assert_int_equal(ins_thread_look(getpid(), UINT64_MAX >> 1, name), INS_THREAD_ENDED);
}

static void test_nothing_is_known_without_the_process(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(ins_thread_look(0, (uint64_t)gettid(), name), INS_THREAD_UNKNOWN);
	assert_int_equal(ins_thread_look(-1, (uint64_t)gettid(), name), INS_THREAD_UNKNOWN);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ins_thread_look(child, (uint64_t)child, name), INS_THREAD_UNKNOWN);
	assert_string_equal(name, "");
}

static bool sleeps(void *child)
{
	struct fib_sleeper_place sleeper = {.call = -7};

	return ins_thread_place(*(pid_t *)child, (uint64_t) * (pid_t *)child, &sleeper) == 1 &&
	       sleeper.call >= 0 && sleeper.sp && sleeper.pc;
}

static void test_a_thread_that_sleeps_is_somewhere_and_one_that_has_ended_nowhere(void **state)
{
	struct fib_sleeper_place sleeper;
	pid_t child = fork();

	(void)state;
	while (!child)
		pause();
	assert_true(child > 0);
	assert_true(harness_until(sleeps, &child, 60));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(ins_thread_place(child, (uint64_t)child, &sleeper) < 0);
	assert_true(ins_thread_place(getpid(), 0, &sleeper) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_is_there_has_its_name),
		cmocka_unit_test(test_a_thread_that_has_ended_is_known_to_have),
		cmocka_unit_test(test_nothing_is_known_without_the_process),
		cmocka_unit_test(
			test_a_thread_that_sleeps_is_somewhere_and_one_that_has_ended_nowhere),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
