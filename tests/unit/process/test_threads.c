/* SPDX-License-Identifier: MIT */
/* test_threads.c - list the threads of a process, and which of them wait where */
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/threads.h"

static _Atomic pid_t tids[3];
static _Atomic bool over;

static void *sleep_main(void *arg)
{
	const struct timespec t = {1000, 0};

	pthread_setname_np(pthread_self(), "sleeper");
	tids[0] = gettid();
	nanosleep(&t, NULL);
	return arg;
}

static void *epoll_main(void *arg)
{
	struct epoll_event event;

	tids[1] = gettid();
	epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1);
	return arg;
}

static void *spin_main(void *arg)
{
	tids[2] = gettid();
	while (!over)
		continue;
	return arg;
}

static int start(void **state)
{
	static void *(*const mains[])(void *) = {sleep_main, epoll_main, spin_main};
	pthread_t thread;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, mains[i], NULL) != 0)
			return -1;
		while (!tids[i])
			usleep(1000);
	}
	return 0;
}

static enum ins_sight wait_for(pid_t tid, enum ins_sight wanted, uint64_t *sp, uint64_t *pc)
{
	enum ins_sight sight = ins_threads_look(getpid(), tid, sp, pc);

	for (int i = 0; i < 10000 && sight != wanted; i++) {
		usleep(1000);
		sight = ins_threads_look(getpid(), tid, sp, pc);
	}
	return sight;
}

static void test_all_threads_are_listed_with_their_names(void **state)
{
	struct ins_threads threads = {0};
	unsigned found = 0, named = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		found = named = 0;
		ins_threads_list(getpid(), &threads);
		assert_true(threads.count >= 4);
		for (size_t i = 0; i < threads.count; i++) {
			assert_int_equal(threads.at[i].sp, 0);
			for (size_t k = 0; k < 3; k++)
				found += threads.at[i].tid == tids[k];
			named += !strcmp(threads.at[i].name, "sleeper");
		}
		assert_int_equal(found, 3);
		assert_int_equal(named, 1);
	}
	ins_threads_free(&threads);
	assert_int_equal(threads.count, 0);
}

static void test_who_waits_has_a_stack_pointer_and_who_runs_has_none(void **state)
{
	uint64_t sp, pc;

	(void)state;
	assert_int_equal(wait_for(tids[0], INS_SIGHT_WAITS, &sp, &pc), INS_SIGHT_WAITS);
	assert_true(sp != 0 && pc != 0);
	assert_int_equal(wait_for(tids[2], INS_SIGHT_RUNS, &sp, &pc), INS_SIGHT_RUNS);
	assert_true(sp == 0 && pc == 0);
}

static void test_a_system_call_that_a_stop_would_end_is_told_apart(void **state)
{
	uint64_t sp, pc;

	(void)state;
	assert_int_equal(wait_for(tids[1], INS_SIGHT_FRAGILE, &sp, &pc), INS_SIGHT_FRAGILE);
	assert_true(sp != 0 && pc != 0);
}

static void test_threads_are_counted(void **state)
{
	struct ins_threads threads = {0};

	(void)state;
	ins_threads_list(getpid(), &threads);
	assert_true(threads.count >= 4); /* that of main(), and three */
	assert_int_equal(ins_threads_count(getpid()), threads.count);
	ins_threads_free(&threads);
	assert_int_equal(ins_threads_count(0), 0);
}

static void test_no_process_has_no_threads(void **state)
{
	struct ins_threads threads = {0};
	uint64_t sp, pc;

	(void)state;
	ins_threads_list(0, &threads);
	assert_int_equal(threads.count, 0);
	assert_int_equal(ins_threads_look(getpid(), 0, &sp, &pc), INS_SIGHT_RUNS);
	ins_threads_free(&threads);
}

static int stop(void **state)
{
	(void)state;
	over = true;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_threads_are_listed_with_their_names),
		cmocka_unit_test(test_who_waits_has_a_stack_pointer_and_who_runs_has_none),
		cmocka_unit_test(test_a_system_call_that_a_stop_would_end_is_told_apart),
		cmocka_unit_test(test_threads_are_counted),
		cmocka_unit_test(test_no_process_has_no_threads),
	};

	return HEAD_RUN(tests, start, stop);
}
