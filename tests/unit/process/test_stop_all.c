/* SPDX-License-Identifier: MIT */
/* test_stop_all.c - no thread of a process runs while a function looks at it */
#include "inspect/process/stop_all.h"
#include "inspect/model/source.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"

#define THREADS 5

/* Shared with the child: each of its threads counts. */
static _Atomic unsigned long *counts;
static pid_t child;

static void *count(void *arg)
{
	_Atomic unsigned long *mine = arg;

	for (;;)
		++*mine;
	return NULL;
}

static int start(void **state)
{
	pthread_t thread;

	(void)state;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 1; i < THREADS; i++)
			pthread_create(&thread, NULL, count, (void *)&counts[i]);
		count((void *)&counts[0]);
	}
	for (size_t i = 0; i < THREADS; i++)
		while (!counts[i])
			usleep(1000);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return munmap((void *)counts, 4096);
}

/* What look() saw. It runs on another thread, which must not assert. */
static struct {
	size_t n;
	bool still, registers;
} seen;

static int look(void *context, const struct ins_thread_state *threads, size_t n)
{
	unsigned long before[THREADS];

	(void)context;
	seen.n = n;
	seen.still = seen.registers = true;
	for (size_t i = 0; i < THREADS; i++)
		before[i] = counts[i];
	usleep(20000);
	for (size_t i = 0; i < THREADS; i++)
		seen.still &= counts[i] == before[i];
	for (size_t i = 0; i < n; i++)
		seen.registers &= threads[i].registers.pc && threads[i].registers.sp;
	return 42;
}

static void test_all_threads_stand_still_and_go_on_afterwards(void **state)
{
	struct ins_pauses pauses = {0};
	unsigned long before[THREADS];

	(void)state;
	assert_int_equal(ins_stop_all(child, look, NULL, &pauses), 42);
	assert_int_equal(seen.n, THREADS);
	assert_true(seen.still);
	assert_true(seen.registers);
	assert_int_equal(pauses.threads, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		before[i] = counts[i];
	for (size_t i = 0; i < THREADS; i++)
		while (counts[i] == before[i])
			usleep(1000);
}

static void test_a_process_that_does_not_exist_is_an_error(void **state)
{
	(void)state;
	seen.n = 1;
	assert_int_equal(ins_stop_all(0x7ffffffe, look, NULL, NULL), -ESRCH);
	assert_int_equal(seen.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_threads_stand_still_and_go_on_afterwards),
		cmocka_unit_test(test_a_process_that_does_not_exist_is_an_error),
	};

	return HEAD_RUN(tests, start, stop);
}
